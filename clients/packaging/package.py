"""What every package says of itself, in one place: the version is meson's, the texts are here."""
import os
import re
import subprocess

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NAME = "upskilld"
CLIENT = os.path.join(REPOSITORY, "clients/python/upskilld")
SUMMARY = "Checks and runs CUDA kernels for the H100 without a GPU; finds, checks and makes agent skills. MCP and LSP."
TAGLINE = "CUDA kernels for the H100 checked and run without a GPU; agent skills made and measured."  # 100 at most
AUTHOR = "upskilld's developers"
MAINTAINER = AUTHOR.replace("'", "") + " <upskilld@users.noreply.github.com>"
PROGRAMS = ["upskilld", "upskillctl", "upskilld-worker"]
# All that is linked into the programs and into libcurl; THIRD_PARTY_NOTICES has the texts.
LICENSES = ("Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND curl AND ISC AND LGPL-2.0-or-later AND LGPL-2.1-only "
            "AND LGPL-3.0-or-later AND MIT AND Zlib")


def version():
    with open(os.path.join(REPOSITORY, "meson.build")) as file:
        return re.search(r"\bversion: '([0-9][^']*)'", file.read())[1]


def registry_name(owner):
    """The name in the MCP registry, which proves itself by standing in the text of the package on PyPI."""
    return f"io.github.{owner}/{NAME}"


def machine(stage):
    """What the programs are for, from the ELF header of the first."""
    with open(os.path.join(stage, "bin", PROGRAMS[0]), "rb") as file:
        return {0x3E: "x86_64", 0xB7: "aarch64"}[int.from_bytes(file.read(20)[18:20], "little")]


def source_date():
    """Seconds since 1970 that every file of a package gets: SOURCE_DATE_EPOCH, else the commit's."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return int(given)
    return int(subprocess.check_output(["git", "-C", REPOSITORY, "log", "-1", "--format=%ct"]))


def files_beneath(folder):
    """Relative paths of all files, in a fixed order."""
    found = []
    for parent, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(parent, name), folder) for name in names]
    return sorted(found)
