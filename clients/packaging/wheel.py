#!/usr/bin/env python3
"""Make a wheel from a staged tree (clients/packaging/stage): the same tree gives the same bytes.

usage: wheel.py STAGE OUTPUT [--tag TAG] [--owner NAME]

The programs lie in the wheel as scripts, themselves, so that no Python starts before them; the bundled skills and
libcurl go beside them, and clients/python is what `import upskilld` finds. NVIDIA's compiler comes as a dependency, whose folder in the environment the programs know.
"""
import argparse
import base64
import hashlib
import io
import os
import time
import zipfile

import package

TAG = "py3-none-manylinux_2_34_"  # and the programs' machine
LISTS = [os.path.join(package.REPOSITORY, "gpu", name) for name in ["cuda-wheels.txt", "nvcc-wheels.txt"]]
LICENSES = ["LICENSE", "THIRD_PARTY_NOTICES"]
BILL_OF_MATERIALS = "upskilld.cdx.json"


def dependencies():
    """NVIDIA's wheels, and those that whole programs need besides: upskilld[programs]. Not one version: PyTorch asks for
    its own, and both must fit into one environment."""
    always, programs = ([line.split("==")[0] + " (>=13.0,<14)" for line in open(name) if line.startswith("nvidia-")]
                        for name in LISTS)
    return always + [f"{name}; extra == 'programs'" for name in programs if name not in always]


def metadata(licenses, owner):
    lines = ["Metadata-Version: 2.4", f"Name: {package.NAME}", f"Version: {package.version()}",
             f"Summary: {package.SUMMARY}", "Keywords: cuda,h100,kernel,agents,skills,mcp,lsp",
             f"License-Expression: {package.LICENSES}", *[f"License-File: {name}" for name in licenses],
             "Classifier: Operating System :: POSIX :: Linux", "Requires-Python: >=3.9",
             "Provides-Extra: programs", *[f"Requires-Dist: {name}" for name in dependencies()],
             "Description-Content-Type: text/markdown"]
    with open(os.path.join(package.REPOSITORY, "README.md"), encoding="utf-8") as file:
        proof = f"\n<!-- mcp-name: {package.registry_name(owner)} -->\n" if owner else ""
        return "\n".join(lines) + "\n\n" + file.read() + proof


class Wheel:
    """Files by name, each with its line of RECORD."""

    def __init__(self, tag):
        self.tag = tag
        self.base = f"{package.NAME}-{package.version()}"
        self.bytes = io.BytesIO()
        self.zip = zipfile.ZipFile(self.bytes, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        # The zip format begins in 1980.
        self.time = time.gmtime(max(package.source_date(), 315532800))[:6]
        self.record = []

    def add(self, name, content, mode=0o644):
        content = content.encode() if isinstance(content, str) else content
        entry = zipfile.ZipInfo(name, self.time)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.create_system = 3
        self.zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}")

    def add_file(self, name, path, mode=0o644):
        with open(path, "rb") as file:
            self.add(name, file.read(), mode)

    def add_programs(self, stage):
        for name in package.PROGRAMS:
            self.add_file(f"{self.base}.data/scripts/{name}", os.path.join(stage, "bin", name), 0o755)

    def add_client(self):
        for name in package.files_beneath(package.CLIENT):
            if not name.endswith(".pyc"):
                self.add_file(f"{package.NAME}/{name}", os.path.join(package.CLIENT, name))
        self.add(f"{self.base}.dist-info/entry_points.txt", "[pytest11]\nupskilld = upskilld.pytest_plugin\n")

    def add_data(self, stage):
        """What the programs look for beside themselves; licences go to where wheels have them."""
        for name in package.files_beneath(stage):
            if name.startswith(("lib/upskilld/", "share/upskilld/")):
                self.add_file(f"{self.base}.data/data/{name}", os.path.join(stage, name))

    def add_information(self, stage, owner):
        documents = os.path.join(stage, "share/doc/upskilld")
        info = f"{self.base}.dist-info"
        licenses = [name for name in LICENSES if os.path.exists(os.path.join(documents, name))]
        for name in licenses:
            self.add_file(f"{info}/licenses/{name}", os.path.join(documents, name))
        if os.path.exists(os.path.join(documents, BILL_OF_MATERIALS)):
            self.add_file(f"{info}/sboms/{BILL_OF_MATERIALS}", os.path.join(documents, BILL_OF_MATERIALS))
        self.add(f"{info}/METADATA", metadata(licenses, owner))
        self.add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: {package.NAME}\nRoot-Is-Purelib: false\n"
                                  f"Tag: {self.tag}\n")
        self.add(f"{info}/RECORD", "\n".join([*self.record, f"{info}/RECORD,,"]) + "\n")

    def save(self, folder):
        self.zip.close()
        path = os.path.join(folder, f"{self.base}-{self.tag}.whl")
        with open(path, "wb") as file:
            file.write(self.bytes.getvalue())
        return path


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("stage")
    options.add_argument("output")
    options.add_argument("--tag", help=f"by default {TAG}MACHINE")
    options.add_argument("--owner", help="the GitHub account that the MCP registry's entry is under")
    given = options.parse_args()
    os.makedirs(given.output, exist_ok=True)
    wheel = Wheel(given.tag or TAG + package.machine(given.stage))
    wheel.add_client()
    wheel.add_programs(given.stage)
    wheel.add_data(given.stage)
    wheel.add_information(given.stage, given.owner)
    print(wheel.save(given.output))


if __name__ == "__main__":
    main()
