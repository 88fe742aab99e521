#!/usr/bin/env python3
"""The wheel that clients/packaging makes, here from a build folder's programs: what is in it, that it is the same
twice, and that its programs work where pip would put them and find the compiler there. No network.

usage: wheel.py BUILD_FOLDER   (TAP on standard output)"""
import base64, csv, glob, hashlib, io, json, os, shutil, subprocess, sys, tempfile, zipfile

BUILD = os.path.abspath(sys.argv[1])
REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGING = os.path.join(REPOSITORY, "clients/packaging")
DEMO = os.path.join(REPOSITORY, "tests/kernels/demo")
PROGRAMS = {"upskilld", "upskillctl", "upskilld-worker"}


class Room:
    """The wheel, and an environment's folders with its files where the wheel format puts them."""

    def __init__(self, folder):
        self.folder = folder
        self.stage = os.path.join(folder, "stage")
        subprocess.run([os.path.join(PACKAGING, "stage"), self.stage, "--from", BUILD], check=True)
        self.path = self.make("first")
        self.zip = zipfile.ZipFile(self.path)
        self.base = "-".join(os.path.basename(self.path).split("-")[:2])
        self.environment = os.path.join(folder, "environment")

    def make(self, name):
        env = dict(os.environ, SOURCE_DATE_EPOCH="1700000000")
        return subprocess.run([sys.executable, os.path.join(PACKAGING, "wheel.py"), self.stage,
                               os.path.join(self.folder, name), "--tag", "py3-none-linux_x86_64"],
                              check=True, capture_output=True, text=True, env=env).stdout.strip()

    def install(self):
        """As the specification of the format says; pip itself is used where the whole is tried."""
        packages = os.path.join(self.environment, "lib/python3.11/site-packages")
        places = {f"{self.base}.data/scripts/": os.path.join(self.environment, "bin"),
                  f"{self.base}.data/data/": self.environment, "": packages}
        for entry in self.zip.infolist():
            prefix = next(p for p in places if entry.filename.startswith(p))
            path = os.path.join(places[prefix], entry.filename[len(prefix):])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(self.zip.read(entry))
            os.chmod(path, entry.external_attr >> 16 & 0o777)
        return packages

    def run(self, *words):
        """A program of the environment, for a user who has nothing else."""
        env = {"HOME": os.path.join(self.folder, "home"), "PATH": "/usr/bin:/bin", "NO_COLOR": "1"}
        os.makedirs(env["HOME"], exist_ok=True)
        done = subprocess.run([os.path.join(self.environment, "bin", words[0]), *words[1:]], capture_output=True,
                              text=True, env=env, cwd=self.folder, timeout=300)
        return done.returncode, done.stdout, done.stderr


def has_what_a_wheel_has(room):
    """names, modes and digests are what the format asks for"""
    names = room.zip.namelist()
    assert len(names) == len(set(names))
    info = f"{room.base}.dist-info/"
    rows = list(csv.reader(io.StringIO(room.zip.read(info + "RECORD").decode())))
    assert sorted(row[0] for row in rows) == sorted(names)
    for name, digest, size in rows:
        if name == info + "RECORD":
            assert (digest, size) == ("", "")
            continue
        content = room.zip.read(name)
        wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        assert digest == "sha256=" + wanted and int(size) == len(content), name
    scripts = {e.filename.rsplit("/", 1)[1]: e.external_attr >> 16 for e in room.zip.infolist()
               if e.filename.startswith(f"{room.base}.data/scripts/")}
    assert set(scripts) == PROGRAMS and all(mode == 0o100755 for mode in scripts.values()), scripts
    assert f"{room.base}.data/data/share/upskilld/skills/h100-cuda-kernels/SKILL.md" in names
    assert info + "licenses/LICENSE" in names
    assert "upskilld/__init__.py" in names and not any(name.endswith(".pyc") for name in names)
    assert room.zip.read(info + "entry_points.txt").decode() == "[pytest11]\nupskilld = upskilld.pytest_plugin\n"
    assert "Tag: py3-none-linux_x86_64\n" in room.zip.read(info + "WHEEL").decode()


def depends_on_the_compiler(room):
    """NVIDIA's wheels of CUDA 13, any version that another package may ask for"""
    metadata = room.zip.read(f"{room.base}.dist-info/METADATA").decode()
    head = metadata.split("\n\n")[0].splitlines()
    needed = sorted(line.split(": ")[1] for line in head if line.startswith("Requires-Dist"))
    def wheels(name):
        with open(os.path.join(REPOSITORY, "gpu", name)) as lines:
            return {line.split("==")[0] for line in lines if line.startswith("nvidia")}
    always, programs = wheels("cuda-wheels.txt"), wheels("nvcc-wheels.txt")
    assert needed == sorted([f"{name} (>=13.0,<14)" for name in always] +
                            [f"{name} (>=13.0,<14); extra == 'programs'" for name in programs - always]), needed
    version = json.loads(subprocess.run(["meson", "introspect", BUILD, "--projectinfo"], check=True,
                                        capture_output=True, text=True).stdout)["version"]
    assert f"Version: {version}" in head and room.base == f"upskilld-{version}"


def is_the_same_twice(room):
    """one stage, one date: the same bytes"""
    with open(room.path, "rb") as first, open(room.make("second"), "rb") as second:
        assert first.read() == second.read()


def a_stage_overwrites_nothing_else(room):
    """a folder with somebody's files is refused, and keeps them"""
    mine = os.path.join(room.folder, "mine")
    os.makedirs(mine)
    with open(os.path.join(mine, "file"), "w") as file:
        file.write("mine")
    done = subprocess.run([os.path.join(PACKAGING, "stage"), mine, "--from", BUILD], capture_output=True, text=True)
    assert done.returncode == 1 and "not empty" in done.stderr, done.stderr
    assert os.listdir(mine) == ["file"]


def compiler_of_this_machine():
    """The folder of NVIDIA's wheels that set-up made, or None."""
    data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return next(iter(glob.glob(os.path.join(data, "upskilld/cuda/nvidia/cu13"))), None)


def works_where_it_is_installed(room):
    """the environment's compiler, the worker and the bundled skills are found beside the program"""
    packages = room.install()
    compiler = compiler_of_this_machine()
    if compiler:
        os.makedirs(os.path.join(packages, "nvidia"))
        os.symlink(compiler, os.path.join(packages, "nvidia/cu13"))
    status = json.loads(room.run("upskillctl", "status", "--json")[1])
    assert room.environment + "/share/upskilld/skills" in json.dumps(status), status
    if not compiler:
        return "a CUDA toolkit is installed here, and NVIDIA's wheels are not"
    for name in ["rms_norm.cu", "rms_norm.check.json"]:
        shutil.copy(os.path.join(DEMO, name), room.folder)
    code, out, err = room.run("upskillctl", "status")
    assert f"CUDA 13 in {packages}/nvidia/cu13" in out, (out, err)
    code, out, err = room.run("upskillctl", "kernel", "check", "rms_norm.cu")
    assert code == 0 and "ok: 1 kernel" in out, (code, out, err)


def main():
    tests = [has_what_a_wheel_has, depends_on_the_compiler, is_the_same_twice, a_stage_overwrites_nothing_else,
             works_where_it_is_installed]
    print(f"1..{len(tests)}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="wheel-") as folder:
        room = Room(os.path.realpath(folder))
        for number, test in enumerate(tests, 1):
            try:
                skipped = test(room)
                print(f"ok {number} - {test.__doc__}" + (f" # SKIP {skipped}" if skipped else ""), flush=True)
            except Exception as e:
                failed += 1
                print(f"not ok {number} - {test.__doc__}\n# {type(e).__name__}: {e}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
