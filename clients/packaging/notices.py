#!/usr/bin/env python3
"""Write the licences of the libraries that are linked into the programs.

usage: notices.py FOLDER PACKAGE …      (Debian packages that are installed)

FOLDER/THIRD_PARTY_NOTICES holds each package's copyright file and the licences that they name;
FOLDER/upskilld.cdx.json lists the libraries with their versions (CycloneDX).
"""
import json
import os
import re
import subprocess
import sys

import package

HEAD = """The programs upskilld, upskillctl and upskilld-worker and the libcurl that comes with them contain the libraries
below, in the versions of Debian's source packages. `clients/packaging/stage` in upskilld's sources builds the
programs from them: whoever wants another version of a library installs its development package and runs it again.
The word vectors in upskilld were made with the model all-MiniLM-L6-v2 (Apache License 2.0).
"""
COMMON = "/usr/share/common-licenses"


def described(binary):
    """A library: its source package's name and version, and Debian's copyright file."""
    source, version = subprocess.check_output(
        ["dpkg-query", "-W", "-f=${source:Package} ${source:Version}", binary], text=True).split()
    with open(f"/usr/share/doc/{binary.split(':')[0]}/copyright", encoding="utf-8") as file:
        return {"name": source, "version": version, "copyright": file.read().rstrip()}


def notices(libraries):
    parts = [HEAD]
    for library in libraries:
        title = f"{library['name']} {library['version']}"
        parts.append(f"{title}\n{'=' * len(title)}\n\n{library['copyright']}\n")
    named = {os.path.basename(os.path.realpath(os.path.join(COMMON, name.rstrip(".")))) for library in libraries
             for name in re.findall(COMMON + r"/([A-Za-z0-9.+-]+)", library["copyright"])}
    for name in sorted(named):
        with open(os.path.join(COMMON, name), encoding="utf-8") as file:
            parts.append(f"{name}\n{'=' * len(name)}\n\n{file.read().rstrip()}\n")
    return "\n".join(parts)


def bill_of_materials(libraries):
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
            "metadata": {"component": {"type": "application", "name": package.NAME, "version": package.version()}},
            "components": [{"type": "library", "name": library["name"], "version": library["version"],
                            "purl": f"pkg:deb/debian/{library['name']}@{library['version']}?arch=source"}
                           for library in libraries]}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    folder, libraries = sys.argv[1], [described(name) for name in sorted(sys.argv[2:])]
    with open(os.path.join(folder, "THIRD_PARTY_NOTICES"), "w", encoding="utf-8") as file:
        file.write(notices(libraries))
    with open(os.path.join(folder, "upskilld.cdx.json"), "w") as file:
        json.dump(bill_of_materials(libraries), file, indent=1)


if __name__ == "__main__":
    main()
