#!/usr/bin/env python3
"""The archive, the Debian package, the .mcpb file and the registry's entry, made from this build's programs: what is
in them, that they are the same twice, and that they work where they are unpacked. No network.

usage: archives.py BUILD_FOLDER   (TAP on standard output)"""
import json, os, re, shutil, subprocess, sys, tempfile, zipfile

BUILD = os.path.abspath(sys.argv[1])
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGING = os.path.join(REPOSITORY, "clients/packaging")
DEMO = os.path.join(REPOSITORY, "tests/kernels/demo")
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}}


class Room:
    def __init__(self, folder):
        self.folder = folder
        self.stage = os.path.join(folder, "stage")
        subprocess.run([os.path.join(PACKAGING, "stage"), self.stage, "--from", BUILD], check=True)
        self.first = self.make("first")
        self.version = json.loads(subprocess.run(["meson", "introspect", BUILD, "--projectinfo"], check=True,
                                                 capture_output=True, text=True).stdout)["version"]

    def make(self, name):
        folder = os.path.join(self.folder, name)
        subprocess.run([sys.executable, os.path.join(PACKAGING, "archives.py"), self.stage, folder, "--owner", "someone"],
                       check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"))
        return folder

    def path(self, name):
        return os.path.join(self.first, name)

    def unpacked(self, name, *command):
        folder = os.path.join(self.folder, name)
        os.makedirs(folder)
        subprocess.run([*command, folder], check=True)
        return folder


def works(room, prefix):
    """The programs in PREFIX/bin check and run a kernel, and know their skills."""
    env = dict(os.environ, XDG_STATE_HOME=room.folder, NO_COLOR="1")
    for name in ("UPSKILLD", "UPSKILLD_WORKER"):
        env.pop(name, None)

    def ctl(*words):
        return subprocess.run([os.path.join(prefix, "bin/upskillctl"), *words], cwd=work, env=env, capture_output=True,
                              text=True, timeout=120)
    work = os.path.join(prefix, "work")
    os.makedirs(work)
    for name in ["rms_norm.cu", "rms_norm.check.json"]:
        shutil.copy(os.path.join(DEMO, name), work)
    done = ctl("kernel", "validate", "rms_norm.cu")
    assert done.returncode == 0 and "pass" in done.stdout, (done.stdout, done.stderr)
    done = ctl("skill", "get", "h100-cuda-kernels", "--json")
    assert prefix + "/share/upskilld/skills" in done.stdout, done.stdout[:400]


def are_the_same_twice(room):
    """one stage, one date: the same bytes"""
    again = room.make("second")
    assert len(os.listdir(again)) == 4 and sorted(os.listdir(again)) == sorted(os.listdir(room.first))
    for name in os.listdir(again):
        with open(room.path(name), "rb") as one, open(os.path.join(again, name), "rb") as other:
            assert one.read() == other.read(), name


def archive_works_anywhere(room):
    """the archive's programs work where they are unpacked"""
    name = next(n for n in os.listdir(room.first) if n.endswith("-linux.tar.xz"))
    folder = room.unpacked("tar", "tar", "-xJf", room.path(name), "-C")
    assert os.listdir(folder) == ["upskilld-" + room.version]
    works(room, os.path.join(folder, "upskilld-" + room.version))


def debian_package_is_clean(room):
    """lintian finds no error in the Debian package, and its programs work"""
    name = next(n for n in os.listdir(room.first) if n.endswith(".deb"))
    if not shutil.which("dpkg-deb"):
        return "no dpkg-deb"
    folder = room.unpacked("deb", "dpkg-deb", "-x", room.path(name))
    for page in ("upskilld", "upskillctl", "upskilld-worker"):
        assert os.path.exists(f"{folder}/usr/share/man/man1/{page}.1.gz"), page
    fields = subprocess.run(["dpkg-deb", "-f", room.path(name), "Version"], check=True, capture_output=True, text=True)
    assert fields.stdout.strip() == room.version
    works(room, os.path.join(folder, "usr"))
    if shutil.which("lintian"):
        said = subprocess.run(["lintian", "--no-cfg", room.path(name)], capture_output=True, text=True).stdout
        assert not re.search(r"^[EW]: ", said, re.M), said


def mcpb_starts(room):
    """the .mcpb file's entry point answers initialize"""
    folder = os.path.join(room.folder, "mcpb")
    with zipfile.ZipFile(room.path(f"upskilld-{room.version}-{os.uname().machine}.mcpb")) as archive:
        archive.extractall(folder)
        modes = {e.filename: e.external_attr >> 16 for e in archive.infolist()}
    manifest = json.load(open(os.path.join(folder, "manifest.json")))
    command = manifest["server"]["mcp_config"]["command"]
    assert command == "${__dirname}/" + manifest["server"]["entry_point"] and manifest["version"] == room.version
    assert modes[manifest["server"]["entry_point"]] == 0o100755
    program = os.path.join(folder, manifest["server"]["entry_point"])
    os.chmod(program, 0o755)
    done = subprocess.run([program], input=json.dumps(INITIALIZE) + "\n", capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout.split("\n")[0])["result"]["serverInfo"]["version"] == room.version, done


def registry_entry_is_as_it_asks(room):
    """server.json keeps the registry's limits, and the wheel proves its name"""
    entry = json.load(open(room.path("server.json")))
    assert set(entry) <= {"$schema", "name", "title", "description", "version", "repository", "packages"}, entry
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"]) and 3 <= len(entry["name"]) <= 200
    assert 1 <= len(entry["description"]) <= 100 and 1 <= len(entry["title"]) <= 100
    assert set(entry["repository"]) == {"url", "source"}
    assert set(entry["packages"][0]) == {"registryType", "identifier", "version", "runtimeHint", "transport"}
    assert entry["packages"][0]["transport"] == {"type": "stdio"}
    assert entry["version"] == entry["packages"][0]["version"] == room.version
    wheel = subprocess.run([sys.executable, os.path.join(PACKAGING, "wheel.py"), room.stage, room.folder, "--owner",
                            "someone"], check=True, capture_output=True, text=True).stdout.strip()
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"upskilld-{room.version}.dist-info/METADATA").decode()
    assert f"<!-- mcp-name: {entry['name']} -->\n" in text
    bad = subprocess.run([sys.executable, os.path.join(PACKAGING, "archives.py"), room.stage, room.folder, "--owner",
                          "a/b"], capture_output=True, text=True)
    assert bad.returncode != 0 and "no GitHub account" in bad.stderr


def main():
    tests = [are_the_same_twice, archive_works_anywhere, debian_package_is_clean, mcpb_starts,
             registry_entry_is_as_it_asks]
    print(f"1..{len(tests)}")
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        room = Room(folder)
        for number, test in enumerate(tests, 1):
            try:
                skipped = test(room)
                print(f"ok {number} - {test.__doc__}" + (f" # SKIP {skipped}" if skipped else ""))
            except AssertionError as wrong:
                failed += 1
                print(f"not ok {number} - {test.__doc__}\n# " + str(wrong).replace("\n", "\n# "))
    sys.exit(1 if failed else 0)


main()
