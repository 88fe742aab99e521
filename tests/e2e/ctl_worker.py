#!/usr/bin/env python3
"""upskillctl worker pack and worker check, and the workers in upskillctl status, as a person sees them.

usage: ctl_worker.py UPSKILLCTL UPSKILLD WORKER [--standin libcuda-standin.so]"""
import json, os, shutil, subprocess, sys, tarfile

from standin import StandIn
import scratch

CTL, DAEMON, WORKER = map(os.path.abspath, sys.argv[1:4])
GREETING = '{"jsonrpc":"2.0","method":"worker/hello","params":{"protocol":4,"version":"0","host":"far","machine":"x",' \
           '"toolkits":[],"cuda":%s}}'

EVERYWHERE = {"libc", "libm", "libdl", "libpthread", "librt"}


class Room:
    def __init__(self):
        self.home = scratch.folder("ctl-worker-")

    def run(self, *words, workers=None):
        with open(self.home + "/config.yaml", "w") as f:
            json.dump({"workers": workers} if workers else {}, f)
        env = dict(os.environ, UPSKILLD=DAEMON, UPSKILLD_CONFIG=self.home + "/config.yaml", XDG_STATE_HOME=self.home,
                   TMPDIR=self.home, UPSKILLD_WORKER=WORKER, NO_COLOR="1")
        done = subprocess.run([CTL] + list(words), capture_output=True, text=True, env=env, cwd=self.home, timeout=300)
        return done.returncode, done.stdout, done.stderr

    def script(self, name, text):
        path = os.path.join(self.home, name)
        with open(path, "w") as f:
            f.write("#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def left(self):
        """Folders of commands that are over."""
        return [n for n in os.listdir(self.home) if n.startswith(("upskilld-pack", "upskillctl-"))]


def needed(program):
    """What readelf reads: libraries, and glibc's newest version."""
    text = subprocess.run(["readelf", "-d", "-V", "-W", program], capture_output=True, text=True, check=True).stdout
    libraries = [line.split("[")[1].split("]")[0] for line in text.splitlines() if "(NEEDED)" in line]
    versions = [tuple(map(int, w[6:].split("."))) for w in text.replace("\n", " ").split() if w.startswith("GLIBC_2")]
    return libraries, max(versions)


def packs_what_travels(room):
    """one archive, with what readelf says of the program; one that would not travel is refused"""
    libraries, newest = needed(WORKER)
    code, out, err = room.run("worker", "pack", "--output", "w.tar.gz")
    if not all(name.split(".so")[0] in EVERYWHERE or name.startswith("ld-linux") for name in libraries):
        assert code == 2 and "which other machines lack" in err, (code, err)  # built with sanitizers
        return
    if newest > (2, 34):
        assert code == 2 and "glibc %d.%d" % newest in err, (code, err)  # built on a younger system
        return
    assert code == 0, err
    assert "glibc %d.%d or newer" % newest in out, (out, newest)
    assert ("needs of the machine: " + " ".join(libraries)) in out, (out, libraries)
    with tarfile.open(room.home + "/w.tar.gz") as archive:
        members = {m.name.split("/", 1)[1]: m for m in archive.getmembers() if "/" in m.name}
        assert sorted(members) == ["README", "start", "upskilld-worker"], members
        assert all(m.isfile() and m.uid == 0 for m in members.values())
        assert members["start"].mode & 0o111 and members["upskilld-worker"].mode & 0o111
        with open(WORKER, "rb") as f:
            assert archive.extractfile(members["upskilld-worker"]).read() == f.read()
        archive.extractall(room.home + "/far")
    start = [os.path.join(room.home, "far", n, "start") for n in os.listdir(room.home + "/far")][0]
    done = subprocess.run([start, "--version"], capture_output=True, text=True)
    assert done.stdout.startswith("upskilld-worker "), done
    code, out, err = room.run("worker", "pack", "--json")
    told = json.loads(out)
    assert told["glibc"] == "%d.%d" % newest and told["bytes"] > 1000 and told["compiler"] is False, told
    assert os.path.getsize(os.path.join(room.home, told["archive"])) == told["bytes"]
    code, out, err = room.run("worker", "pack", "--output", "/nonexistent/w.tar.gz")
    assert code == 2 and "tar" in err, (code, err)
    assert not room.left(), room.left()


def refuses_what_is_no_program(room):
    """cut, changed and foreign programs are refused in words"""
    with open(WORKER, "rb") as f:
        whole = f.read()
    path = os.path.join(room.home, "upskilld-worker")
    pieces = [b"", b"#!/bin/sh\n", whole[:20], whole[:64], whole[:800], whole[:5000],
              whole[:18] + b"\xf3\x00" + whole[20:5000],                                      # another machine
              whole[:32] + b"\xff" * 8 + whole[40:90000], whole[:56] + b"\xff\xff" + whole[58:90000]]  # lost headers
    for i, piece in enumerate(pieces):
        with open(path, "wb") as f:
            f.write(piece)
        os.chmod(path, 0o755)
        code, out, err = room.run("worker", "pack", "--output", "w.tar.gz", workers=[{"argv": [path]}])
        if code == 0:  # cut behind all that is read
            assert i in (5, 8), (i, out)
        else:
            assert code == 2 and err.startswith("error: "), (i, code, out, err)


def tries_a_worker(room):
    """a good worker by name and by command line; others in words, with the exit status that fits"""
    code, out, err = room.run("worker", "check", "local")
    assert code in (0, 1) and "greeting" in out, (code, out, err)
    if code == 0:
        assert "nvrtc" in out and "run (CPU)" in out and "pass" in out, out
        code, out, err = room.run("worker", "check", "--json", "--", "env", WORKER)
        told = json.loads(out)
        assert told["ok"] and told["run_cpu"]["verdict"] == "pass" and told["warm_check_ms"] > 0, told
        assert told["host"] == os.uname().nodename and told["protocol"] == 4, told
    else:
        assert "no CUDA compiler" in err, err
    far = room.script("far", "echo '%s'; exec cat >/dev/null\n" % (GREETING % "false"))
    code, out, err = room.run("worker", "check", far)
    assert code == 1 and "far (x)" in out and "no CUDA compiler and no NVIDIA driver" in err, (code, out, err)
    if "--standin" in sys.argv:
        tries_a_gpu_without_compiler(room, sys.argv[sys.argv.index("--standin") + 1])
    cases = [((room.script("bad", "echo no such host >&2; exit 9\n"),), "ended with status 9: no such host"),
             (("nosuch",), 'no worker is called "nosuch"'),
             (("/nonexistent/worker",), "could not be started"),
             ((), "give a name")]
    for words, says in cases:
        code, out, err = room.run("worker", "check", *words)
        assert code == 2 and says in err, (words, code, out, err)
    for words in ((), ("fly",)):
        code, out, err = room.run("worker", *words)
        assert code == 2 and "usage:" in err, (code, err)
    code, out, err = room.run("worker", "--help")
    assert code == 0 and "worker pack" in out, out


def tries_a_gpu_without_compiler(room, library):
    """The compiler is here, the device there."""
    standin = StandIn(library)
    try:
        words = ["env", "UPSKILLD_CUDA=/nowhere", "HOME=/nowhere", "XDG_DATA_HOME=/nowhere", "CUDA_HOME=/nowhere"]
        words += ["%s=%s" % item for item in standin.env.items()] + [WORKER]
        probe = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if json.loads(probe.stdout.splitlines()[0])["params"].get("toolkits") or room.run("worker", "check", "local")[0]:
            print("# not tried: " + probe.stdout[:200])
            return  # a compiler in a folder of the system's, or none here
        code, out, err = room.run("worker", "check", "--json", "--", *words)
        told = json.loads(out)
        assert code == 0 and told["ok"] and told["compiled_here"] and "compiler" not in told, (code, out, err)
        assert told["run_gpu"]["verdict"] == "pass" and told["run_gpu"]["worker"] == "checked", told
        standin.set("fail cuMemAlloc_v2 * 2\n")
        code, out, err = room.run("worker", "check", "--", *words)
        assert code == 1 and "none there" in out and "error on" in out, (code, out, err)
    finally:
        standin.close()


def shows_workers(room):
    """status has a row for each worker"""
    code, out, err = room.run("status", workers=[{"argv": ["ssh", "-T", "gpu1", "upskilld-worker"], "name": "h100"}])
    rows = [line.split() for line in out.splitlines()]
    assert ["local", "idle"] in [row[:2] for row in rows], out
    assert [row for row in rows if row[:2] == ["h100", "idle"] and row[-3:] == ["-T", "gpu1", "upskilld-worker"]], out


def main():
    tests = [packs_what_travels, refuses_what_is_no_program, tries_a_worker, shows_workers]
    print("1..%d" % len(tests))
    for i, test in enumerate(tests, 1):
        room = Room()
        try:
            test(room)
            print("ok %d - %s" % (i, test.__doc__), flush=True)
        except Exception as e:  # noqa: BLE001: the others shall run
            print("not ok %d - %s\n  # %s" % (i, test.__doc__, repr(e)[:3000].replace("\n", "\n  # ")), flush=True)
        finally:
            shutil.rmtree(room.home, ignore_errors=True)


main()
