#!/usr/bin/env python3
"""kernel/validate with .npy files: as inputs and as what is expected, and files that are not what they should be.

usage: validate_files.py UPSKILLD   (TAP on standard output)
"""
import json, os, struct, sys, time

from validate_support import Daemon, Tap, short

SCALE = """extern "C" __global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.f * x[i];
}
"""


def npy(shape, body, descr="<f4", order="False"):
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (descr, order, "".join("%d, " % n for n in shape))
    head = head.encode() + b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def write(daemon, name, data):
    path = os.path.join(daemon.home, "work", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def spec(x="x.npy", shape=("n",), n=6, expect=None, **more):
    shape = list(shape)
    return dict({"source": SCALE, "sizes": [{"n": n}], "launch": {"grid": ["ceil_div(n, 64)"], "block": [64]}, "trials": 1,
                 "args": [{"name": "y", "type": "float32", "shape": shape, "output": True},
                          {"name": "x", "type": "float32", "shape": shape, "init": {"file": x}},
                          {"name": "n", "type": "int32", "value": "n"}],
                 "expect": expect or {"files": {"y": "y.npy"}}}, **more)


def passes(daemon, params):
    result = daemon.ask("kernel/validate", params).get("result", {})
    assert result.get("verdict") == "pass", short(result)


def fails(daemon, params, index):
    result = daemon.ask("kernel/validate", params).get("result", {})
    assert result.get("verdict") == "fail", short(result)
    mismatch = result["cases"][0]["outputs"][0]["first_mismatch"]
    assert mismatch["index"] == index, mismatch


def refused(daemon, params, reason, *words):
    error = daemon.ask("kernel/validate", params).get("error", {})
    assert error.get("data", {}).get("reason") == reason, error
    assert all(w in error["message"] for w in words), error["message"]
    return error["message"][:100].replace("#", "")


def good_files(daemon, tap):
    x = (1.5, -2, 0, 4, 1e-3, 6)
    write(daemon, "x.npy", npy([6], floats(*x)))
    write(daemon, "y.npy", npy([6], floats(*(2 * v for v in x))))
    write(daemon, "wide.npy", npy([6], struct.pack(">6d", *(2 * v for v in x)), ">f8"))
    write(daemon, "wrong.npy", npy([6], floats(3, -4, 0, 8, 2e-3, 13)))
    write(daemon, "rows.npy", npy([2, 3], floats(1.5, 4, -2, 1e-3, 0, 6), order="True"))
    tap.run("a file in, a file expected", passes, daemon, spec())
    tap.run("a wider, big-endian expectation", passes, daemon, spec(expect={"files": {"y": "wide.npy"}}))
    tap.run("a file that differs", fails, daemon, spec(expect={"files": {"y": "wrong.npy"}}), [5])
    tap.run("columns first", passes, daemon, spec("rows.npy", (2, 3), expect={"expression": {
        "y": "2 * (i == 0 ? 1.5 : i == 1 ? -2 : i == 2 ? 0 : i == 3 ? 4 : i == 4 ? 0.001 : 6)"}}))
    write(daemon, "a/scale.cu", SCALE.encode())
    write(daemon, "a/x.npy", npy([6], floats(*(v + 1 for v in x))))
    write(daemon, "a/y.npy", npy([6], floats(*(2 * v + 2 for v in x))))
    write(daemon, "a/scale.check.json", json.dumps({k: v for k, v in spec().items() if k != "source"}).encode())
    tap.run("beside the spec's own file", passes, daemon, {"path": "a/scale.cu"})
    whole = open(os.path.join(daemon.home, "work", "a/scale.check.json")).read()
    for key, twice in (("trials", whole.replace('"trials": 1', '"trials": 1, "trials": 2')),
                       ("n", whole.replace('{"n": 6}', '{"n": 6, "n": 7}'))):
        write(daemon, "a/twice.cu", SCALE.encode())
        write(daemon, "a/twice.check.json", twice.encode())
        tap.run("the key %s stands twice" % key, refused, daemon, {"path": "a/twice.cu"}, "bad_spec", "a/twice.check.json", '"%s"' % key)


def bad_files(daemon, tap):
    write(daemon, "short.npy", npy([6], floats(1, 2, 3)))
    write(daemon, "ints.npy", npy([6], struct.pack("<6i", *range(6)), "<i4"))
    write(daemon, "text.npy", b"no numbers here, and long enough for a header\n" * 3)
    write(daemon, "huge.npy", npy([1 << 40], b""))
    write(daemon, "empty.npy", b"")
    with open(daemon.home + "/outside.npy", "wb") as f:
        f.write(npy([6], floats(*range(6))))
    os.symlink(daemon.home + "/outside.npy", daemon.home + "/work/link.npy")
    os.symlink("x.npy", daemon.home + "/work/inner.npy")
    os.mkfifo(daemon.home + "/work/pipe.npy")
    for name, reason, words in (
            ("none.npy", "bad_file", ("x.init.file 'none.npy'", "No such file")),
            ("short.npy", "bad_file", ("x.init.file 'short.npy'", "takes 24 bytes of <f4, 12 follow")),
            ("ints.npy", "bad_file", ("elements are int32, the buffer's float32",)),
            ("text.npy", "bad_file", ("this is no .npy file",)),
            ("huge.npy", "bad_file", ("takes 4398046511104 bytes",)),
            ("empty.npy", "bad_file", ("this is no .npy file",)),
            ("link.npy", "bad_file", ("link.npy",)),
            ("pipe.npy", "bad_file", ("pipe.npy",)),
            ("../outside.npy", "bad_file", ("outside the folders",)),
            (daemon.home + "/outside.npy", "bad_file", ("outside the folders",)),
            ("x.txt", "bad_spec", ("args[1].init.file",))):
        tap.run("the file " + os.path.basename(name), refused, daemon, spec(name), reason, *words)
    tap.run("a link within the folder", passes, daemon, spec("inner.npy"))
    tap.run("a shape that does not fit", refused, daemon, spec(n=7), "bad_file", "shape is [6], case 0 needs [7]")
    tap.run("an expectation of another shape", refused, daemon, spec("a/x.npy", expect={"files": {"y": "rows.npy"}}),
            "bad_file", "expect.files.y 'rows.npy'", "[2, 3]")


def large_files(daemon, tap):
    """The daemon answers others while it reads."""
    n = 9 << 20  # 36 MiB
    write(daemon, "large.npy", npy([n], struct.pack("<f", 0.5) * n))

    def meanwhile():
        number, slowest, asked = daemon.send("kernel/validate", spec("large.npy", n=n, expect={"expression": {"y": "1"}},
                                                                     instructions=1000, timeout_s=60)), 0, 0
        while number not in daemon.answers:
            began = time.monotonic()
            assert "result" in daemon.ask("daemon/status")
            slowest, asked = max(slowest, time.monotonic() - began), asked + 1
            time.sleep(0.01)
        result = daemon.receive(number).get("result", {})
        assert result.get("verdict") == "timeout", short(result)  # the budget: it came as far as the kernel
        return "slowest of %d answers %d ms" % (asked, slowest * 1000)

    def two():
        """More than may wait for a worker as copies."""
        params = spec("large.npy", n=n, expect={"expression": {"y": "1"}}, instructions=1000, timeout_s=60)
        for number in [daemon.send("kernel/validate", params) for _ in range(2)]:
            result = daemon.receive(number).get("result", {})
            assert result.get("verdict") == "timeout", short(result)

    def cancelled(pings):
        """However far it has come: it ends, and the daemon goes on."""
        number = daemon.send("kernel/validate", spec("large.npy", n=n, expect={"expression": {"y": "1"}},
                                                     instructions=1000, timeout_s=60))
        for _ in range(pings):
            assert "result" in daemon.ask("daemon/status")
        daemon.process.stdin.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % number)
        daemon.process.stdin.flush()
        answer = daemon.receive(number)
        was_faster = pings and answer.get("result", {}).get("verdict") == "timeout"
        assert was_faster or answer.get("error", {}).get("code") == -32800, short(answer)

    tap.run("36 MiB are read and sent beside the loop", meanwhile)
    tap.run("two at once", two)
    for pings in (0, 60, 150):
        tap.run("cancelled after %d answers to others" % pings, cancelled, pings)


def memory(daemon, tap):
    """What is too large for a message: it is mapped here, and a worker elsewhere says what it takes."""
    n = 16 << 20  # 64 MiB
    write(daemon, "larger.npy", npy([n], struct.pack("<f", 0.5) * n))
    params = spec("larger.npy", n=n, expect={"expression": {"y": "1"}}, checks=["memory"], timeout_s=300, odd_sizes=False)
    given = {"dir": "out", "what": ["outputs"]}

    def round_trip():
        result = daemon.ask("kernel/validate", dict(params, save=given)).get("result", {})
        assert result.get("verdict") == "pass", short(result)
        saved, = result["cases"][0]["files"]
        with open(saved["path"], "rb") as f:
            head, body = f.read(128), f.read()
        assert body == struct.pack("<f", 1) * n and saved["bytes"] == 128 + 4 * n, (head, len(body))

    def cut_short():
        """Its owner may do as he likes with his file, before it is mapped or after: the run ends, and the reason is told."""
        number = daemon.send("kernel/validate", dict(params, trials=16))
        time.sleep(2)
        os.truncate(os.path.join(daemon.home, "work", "larger.npy"), 4096)
        error = daemon.receive(number).get("result", {}).get("error", {})
        assert error.get("code") == "file_changed", error

    tap.run("64 MiB in, 64 MiB out", round_trip)
    tap.run("a file that is cut short meanwhile", cut_short)


def elsewhere(program, tap):
    """The same bytes to a worker that shares no memory."""
    far = {"workers": [{"argv": ["env", os.path.join(os.path.dirname(program), "../gpu/upskilld-worker")], "name": "far", "local": False}],
           "local_worker": False}
    daemon = Daemon(program, config=json.dumps(far))
    for name, body in (("x.npy", floats(*range(6))), ("y.npy", floats(*range(0, 12, 2)))):
        write(daemon, name, npy([6], body))
    write(daemon, "large.npy", npy([11 << 20], bytes(44 << 20)))

    def refuses():
        params = spec("large.npy", n=11 << 20, expect={"expression": {"y": "1"}})
        message = daemon.ask("kernel/validate", params).get("error", {}).get("message", "")
        assert 'the worker "far" is elsewhere, and takes 40 MiB of arrays: these have 44' in message, message

    tap.run("a worker elsewhere gets the bytes", passes, daemon, spec())
    tap.run("a worker elsewhere: files that differ", fails, daemon, spec(expect={"files": {"y": "x.npy"}}), [1])
    tap.run("a worker elsewhere takes 40 MiB", refuses)
    tap.run("a worker elsewhere: saved", saves, daemon)
    tap.run("that daemon ends", lambda: ended(daemon.close()))


def saves(daemon):
    result = daemon.ask("kernel/validate", spec(save="out")).get("result", {})
    assert result.get("verdict") == "pass" and result["saved"]["files"] == 3 and "error" not in result["saved"], short(result)


def main():
    tap, daemon = Tap(), Daemon(os.path.abspath(sys.argv[1]))
    good_files(daemon, tap)
    bad_files(daemon, tap)
    large_files(daemon, tap)
    memory(daemon, tap)
    tap.run("a check afterwards", passes, daemon, spec())
    tap.run("the daemon ends", lambda: ended(daemon.close()))
    elsewhere(os.path.abspath(sys.argv[1]), tap)
    return tap.end()


def ended(code):
    assert code == 0, "it ended with %s" % code


sys.exit(main())
