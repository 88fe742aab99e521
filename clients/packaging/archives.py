#!/usr/bin/env python3
"""Make the other packages from a staged tree (clients/packaging/stage): the same tree gives the same bytes.

usage: archives.py STAGE OUTPUT [--owner NAME]

  upskilld-VERSION-MACHINE-linux.tar.xz   bin, lib and share, which work wherever they are unpacked together
  upskilld_VERSION_ARCH.deb               the same beneath /usr, for Debian and Ubuntu
  upskilld-VERSION-MACHINE.mcpb           for desktop programs that install MCP servers from a file
  server.json                             the entry in the MCP registry, with --owner, the GitHub account it is under

NVIDIA's compiler is in none of them: its licence does not allow it.
"""
import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import time
import zipfile

import package

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
DESCRIPTION = """CUDA kernels checked and run without a GPU, and agent skills
 Compiles CUDA kernels for the H100 with NVIDIA's compiler, runs them on the
 CPU against a reference, and reports wrong elements, races and bad accesses
 with their lines. Makes, measures, finds, checks and installs skills of
 coding agents. Agents start it over MCP, editors over LSP.
 .
 NVIDIA's compiler library is not part of it: install a CUDA toolkit of 12 or
 13, or the wheels nvidia-cuda-nvrtc, -runtime, -crt and -cccl."""
# The programs contain their libraries on purpose, so that one build starts on every release.
OVERRIDES = """# One build for all releases of Debian and Ubuntu: what differs between them is linked in.
upskilld: embedded-library *
upskilld: initial-upload-closes-no-bugs *
"""
COPYRIGHT = """Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: upskilld

Files: *
Copyright: 2026 upskilld's developers
License: Apache-2.0
 On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.
Comment: THIRD_PARTY_NOTICES.gz, beside this file, has the licences of the
 libraries that are linked into the programs.
"""


def mode_of(name):
    return 0o755 if name.startswith("bin/") else 0o644


def tar_xz(stage, output):
    base = f"{package.NAME}-{package.version()}"
    path = os.path.join(output, f"{base}-{package.machine(stage)}-linux.tar.xz")
    with tarfile.open(path, "w:xz", preset=6, format=tarfile.GNU_FORMAT) as tar:
        for name in package.files_beneath(stage):
            entry = tar.gettarinfo(os.path.join(stage, name), f"{base}/{name}")
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            entry.mtime, entry.mode = package.source_date(), mode_of(name)
            with open(os.path.join(stage, name), "rb") as file:
                tar.addfile(entry, file)
    return path


def gzipped(path, text):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as packed:
        packed.write(text.encode())


def debian_tree(stage, root):
    """The files of the package. libcurl is a dependency there, and none of ours."""
    for name in package.files_beneath(stage):
        if name.startswith(("lib/upskilld/libcurl.", "share/doc/")):
            continue
        target = os.path.join(root, "usr", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if name.startswith("share/man/"):
            with open(os.path.join(stage, name), encoding="utf-8") as file:
                gzipped(target + ".gz", file.read())
        else:
            shutil.copyfile(os.path.join(stage, name), target)
            os.chmod(target, mode_of(name))
    documents = os.path.join(root, "usr/share/doc", package.NAME)
    os.makedirs(documents)
    with open(os.path.join(documents, "copyright"), "w", encoding="utf-8") as file:
        file.write(COPYRIGHT)
    notices = os.path.join(stage, "share/doc/upskilld/THIRD_PARTY_NOTICES")
    if os.path.exists(notices):
        with open(notices, encoding="utf-8") as file:
            gzipped(os.path.join(documents, "THIRD_PARTY_NOTICES.gz"), file.read())
    date = time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime(package.source_date()))
    gzipped(os.path.join(documents, "changelog.gz"),
            f"{package.NAME} ({package.version()}) stable; urgency=medium\n\n  * See docs/CHANGELOG.md in the sources.\n\n"
            f" -- {package.MAINTAINER}  {date}\n")
    overrides = os.path.join(root, "usr/share/lintian/overrides")
    os.makedirs(overrides)
    with open(os.path.join(overrides, package.NAME), "w", encoding="utf-8") as file:
        file.write(OVERRIDES)


def deb(stage, output):
    architecture = MACHINES[package.machine(stage)]
    path = os.path.join(output, f"{package.NAME}_{package.version()}_{architecture}.deb")
    with tempfile.TemporaryDirectory() as root:
        os.chmod(root, 0o755)
        debian_tree(stage, root)
        size = sum(os.path.getsize(os.path.join(root, name)) for name in package.files_beneath(root))
        os.mkdir(os.path.join(root, "DEBIAN"))
        with open(os.path.join(root, "DEBIAN/control"), "w", encoding="utf-8") as file:
            file.write(f"Package: {package.NAME}\nVersion: {package.version()}\nArchitecture: {architecture}\n"
                       f"Maintainer: {package.MAINTAINER}\nInstalled-Size: {size // 1024 + 1}\n"
                       "Depends: libc6 (>= 2.34), libcurl4 | libcurl4t64 | libcurl3-gnutls | libcurl3t64-gnutls, libstdc++6\n"
                       f"Section: devel\nPriority: optional\nDescription: {DESCRIPTION}\n")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", root, path], check=True,
                       stdout=subprocess.DEVNULL,
                       env=dict(os.environ, SOURCE_DATE_EPOCH=str(package.source_date())))
    return path


def mcpb(stage, output):
    """The form of manifest 0.3: a zip whose programs stay together."""
    path = os.path.join(output, f"{package.NAME}-{package.version()}-{package.machine(stage)}.mcpb")
    manifest = {"manifest_version": "0.3", "name": package.NAME, "display_name": package.NAME,
                "version": package.version(), "description": package.SUMMARY, "author": {"name": package.AUTHOR},
                "license": "Apache-2.0", "server": {
                    "type": "binary", "entry_point": "bin/upskilld",
                    "mcp_config": {"command": "${__dirname}/bin/upskilld", "args": [], "env": {}}},
                "tools_generated": True, "compatibility": {"platforms": ["linux"]}}
    date = time.gmtime(max(package.source_date(), 315532800))[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        contents = {"manifest.json": (json.dumps(manifest, indent=2) + "\n").encode()}
        for name in package.files_beneath(stage):
            if not name.startswith("share/man/"):
                with open(os.path.join(stage, name), "rb") as file:
                    contents[name] = file.read()
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, date)
            entry.external_attr = (0o100000 | mode_of(name)) << 16
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
            archive.writestr(entry, contents[name])
    return path


def server_json(output, owner):
    """As the registry's schema of 2025-12-11 has it: the wheel on PyPI, started by uvx."""
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,37}[A-Za-z0-9])?", owner):
        raise SystemExit(f"archives: {owner!r} is no GitHub account")
    path = os.path.join(output, "server.json")
    entry = {"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
             "name": package.registry_name(owner), "title": package.NAME, "description": package.TAGLINE,
             "version": package.version(),
             "repository": {"url": f"https://github.com/{owner}/{package.NAME}", "source": "github"},
             "packages": [{"registryType": "pypi", "identifier": package.NAME, "version": package.version(),
                           "runtimeHint": "uvx", "transport": {"type": "stdio"}}]}
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps(entry, indent=2) + "\n")
    return path


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("stage")
    options.add_argument("output")
    options.add_argument("--owner", help="the GitHub account that the registry's entry is under")
    given = options.parse_args()
    os.makedirs(given.output, exist_ok=True)
    for make in (tar_xz, deb, mcpb):
        print(make(given.stage, given.output))
    if given.owner:
        print(server_json(given.output, given.owner))


if __name__ == "__main__":
    main()
