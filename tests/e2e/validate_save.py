#!/usr/bin/env python3
"""kernel/validate on its way: arrays saved as .npy files, where they may go, and progress.

usage: validate_save.py UPSKILLD [--all] [FUNCTION]...   (TAP on standard output; --all also fills 256 MiB)
"""
import ast, json, os, struct, sys

from validate_support import Daemon, Tap, short

RELU = """extern "C" __global__ void relu(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = %s;
}
"""
GOOD, BAD = RELU % "x[i] > 0 ? x[i] : 0", RELU % "i == 7 ? 9 : x[i] > 0 ? x[i] : 0"
COPY = """#include <cstdint>
extern "C" __global__ void copy(%s *y, const %s *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""
# One launch of many blocks, as long as ROUNDS says.
SLOW = """extern "C" __global__ void slow(int *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
    for (int k = 0; k < ROUNDS; k++) v = v * v ^ k;
    y[i] = v;
}
"""


def spec(source=GOOD, n=(100,), expect=None, init=None, **more):
    return dict({"source": source, "sizes": [{"n": k} for k in n], "trials": 2, "seed": "0x5eed", "backend": "emulator",
                 "launch": {"grid": ["ceil_div(n, 64)"], "block": [64]},
                 "args": [{"name": "y", "type": "float32", "shape": ["n"], "output": True},
                          {"name": "x", "type": "float32", "shape": ["n"], "init": init or {"normal": [0, 1]}},
                          {"name": "n", "type": "int32", "value": "n"}],
                 "expect": expect or {"expression": {"y": "max(x[i], 0)"}}}, **more)


def read_npy(path):
    """(descr, shape, bytes) by numpy's description of its format; by numpy itself where it is installed."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    size, = struct.unpack("<H", data[8:10])
    assert (10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n"
    head = ast.literal_eval(data[10:10 + size].decode("latin1"))
    assert set(head) == {"descr", "fortran_order", "shape"} and head["fortran_order"] is False, head
    try:
        import numpy
    except ImportError:
        return head["descr"], head["shape"], data[10 + size:]
    array = numpy.load(path, allow_pickle=False)
    assert array.tobytes() == data[10 + size:] and array.shape == head["shape"], path
    return head["descr"], head["shape"], data[10 + size:]


def validate(daemon, params):
    answer = daemon.ask("kernel/validate", params)
    assert "result" in answer, json.dumps(answer)[:600]
    return answer["result"]


def files_of(result):
    """{(case, trial, what, name): file}, each file looked at."""
    found, sizes = {}, []
    for c in result["cases"]:
        if c["sizes"] not in sizes:
            sizes.append(c["sizes"])
        for f in c.get("files", []):
            with open(f["path"], "rb") as opened:
                data = opened.read()
            assert f["bytes"] == len(data), f
            assert os.path.dirname(f["path"]) == result["saved"]["dir"], f
            descr, shape, _ = read_npy(f["path"])
            assert descr == f["dtype"] and list(shape) == f["shape"], (f, descr, shape)
            found[sizes.index(c["sizes"]), c["trial"], f["what"], f["name"]] = f
    assert result["saved"]["files"] == len(found), (result["saved"], sorted(found))
    return found


def contents(daemon):
    result = validate(daemon, spec(n=(100, 1), save="out/deep"))
    assert result["verdict"] == "pass" and result["saved"]["dir"] == os.path.realpath(daemon.home + "/work/out/deep"), short(result)
    found = files_of(result)
    assert sorted(found) == sorted((c, 0, w, n) for c in (0, 1) for w, n in (("output", "y"), ("expected", "y"), ("input", "x")))
    x = struct.unpack("<100f", read_npy(found[0, 0, "input", "x"]["path"])[2])
    assert len(set(x)) == 100
    assert read_npy(found[0, 0, "output", "y"]["path"])[2] == struct.pack("<100f", *(max(v, 0) for v in x))
    assert read_npy(found[0, 0, "expected", "y"]["path"])[2] == struct.pack("<100d", *(max(v, 0) for v in x))
    assert not [n for n in os.listdir(result["saved"]["dir"]) if not n.endswith(".npy")]
    return "%d bytes" % result["saved"]["bytes"]


def again(daemon):
    """What was saved says the same when it is given again: for a kernel that is right, and for one that is not."""
    for source, verdict in ((GOOD, "pass"), (BAD, "fail")):
        first = validate(daemon, spec(source, save={"dir": "again"}))
        found = files_of(first)
        x, y = (os.path.relpath(found[0, 0, what, name]["path"], daemon.home + "/work")
                for what, name in (("input", "x"), ("expected", "y")))
        second = validate(daemon, spec(source, init={"file": x}, expect={"files": {"y": y}}, trials=1))
        assert first["verdict"] == second["verdict"] == verdict, (short(first), short(second))
        one, two = (r["cases"][0]["outputs"][0] for r in (first, second))
        assert all(one[k] == two[k] for k in ("mismatches", "max_abs_error", "elements")), (one, two)
        assert one.get("first_mismatch") == two.get("first_mismatch")


def choices(daemon):
    def names(params):
        return sorted(k[:3] for k in files_of(validate(daemon, params)))
    assert names(spec(BAD, n=(5, 100), save={"dir": "c", "what": ["outputs"], "cases": "failed"})) == [
        (1, 0, "output"), (1, 1, "output")]
    assert names(spec(BAD, n=(5, 100), save={"dir": "c", "what": ["expected"], "cases": "all"})) == [
        (c, t, "expected") for c in (0, 1) for t in (0, 1)]
    assert names(spec(GOOD, save={"dir": "c", "what": ["inputs"], "cases": "failed"})) == []
    out_of_bounds = RELU % "x[i + n]"  # ends the run: inputs, and the output as far as it came
    assert names(spec(out_of_bounds, save={"dir": "c"})) == [(0, 0, "input"), (0, 0, "output")]


def types(daemon):
    """Every type's bytes: an input saved is a file that the same type takes again."""
    for name, c, descr in (("bfloat16", "uint16_t", "<u2"), ("float16", "uint16_t", "<f2"), ("float8_e4m3", "uint8_t", "|u1"),
                           ("bool", "bool", "|b1"), ("int64", "long long", "<i8"), ("uint32", "unsigned", "<u4")):
        def params(init, expect, **more):
            return dict({"source": COPY % (c, c), "sizes": {"n": 60}, "trials": 1, "backend": "emulator", "launch": {"grid": 1, "block": 64},
                         "args": [{"name": "y", "type": name, "shape": [3, 20], "output": True},
                                  {"name": "x", "type": name, "shape": [3, 20], "init": init},
                                  {"name": "n", "type": "int32", "value": "n"}], "expect": expect}, **more)
        first = validate(daemon, params({"integers": [0, 2 if name == "bool" else 100]}, {"expression": {"y": "x[i]"}}, save=name))
        assert first["verdict"] == "pass", (name, short(first))
        found = files_of(first)
        x = found[0, 0, "input", "x"]
        assert x["dtype"] == descr and x["shape"] == [3, 20] and ("note" in x) == (name in ("bfloat16", "float8_e4m3")), x
        assert read_npy(x["path"])[2] == read_npy(found[0, 0, "output", "y"]["path"])[2]
        second = validate(daemon, params({"file": x["path"]}, {"files": {"y": found[0, 0, "expected", "y"]["path"]}}))
        assert second["verdict"] == "pass", (name, short(second))


def refused(daemon, save, reason, *words, **more):
    error = daemon.ask("kernel/validate", spec(save=save, **more)).get("error", {})
    assert error.get("data", {}).get("reason") == reason and all(w in error["message"] for w in words), error


def places(daemon):
    outside, work = daemon.home + "/outside", daemon.home + "/work"
    os.mkdir(outside)
    os.symlink(outside, work + "/way")
    os.makedirs(work + "/out", exist_ok=True)
    os.symlink("out", work + "/inside")
    with open(work + "/plain", "w") as f:
        f.write("a file")
    for save in ("../outside", outside, "/", "a/../../outside"):
        refused(daemon, save, "bad_folder", "outside the folders")
    refused(daemon, "way", "bad_folder", "leads out")
    refused(daemon, "way/deeper", "bad_folder", "leads out")
    refused(daemon, "plain", "bad_folder", "Not a directory")
    refused(daemon, "", "bad_spec", "save")
    refused(daemon, {"dir": "d", "what": ["output"]}, "bad_params", "save.what[0]")
    refused(daemon, {"dir": "d", "cases": "some"}, "bad_params", "save.cases")
    assert os.listdir(outside) == []
    assert validate(daemon, spec(save="inside"))["saved"]["files"] == 3  # a link that stays beneath is a way


def links_and_old_files(daemon):
    """A name that is a link is replaced itself; what it led to stays."""
    kept = daemon.home + "/kept.npy"
    with open(kept, "w") as f:
        f.write("mine")
    os.makedirs(daemon.home + "/work/l")
    path = daemon.home + "/work/l/case0.trial0.y.output.npy"
    os.symlink(kept, path)
    for _ in range(2):
        files_of(validate(daemon, spec(save="l")))
        assert not os.path.islink(path) and open(kept).read() == "mine"


def from_a_spec_file(daemon):
    """A check spec may come from anywhere: it says nothing of where files go."""
    for name, data in (("k.cu", GOOD), ("k.check.json", json.dumps(dict(spec(save="theirs"), source=None)))):
        with open(daemon.home + "/work/" + name, "w") as f:
            f.write(data)
    error = daemon.ask("kernel/validate", {"path": "k.cu"}).get("error", {})
    assert "save" in error.get("message", "") and not os.path.exists(daemon.home + "/work/theirs"), error


def full_folder(daemon):
    """A folder that takes nothing: told in `saved`, beside the verdict."""
    os.makedirs(daemon.home + "/work/shut/case0.trial0.x.input.npy")
    result = validate(daemon, spec(save="shut"))
    assert result["verdict"] == "pass" and "error" in result["saved"], result.get("saved")
    assert not [f for c in result["cases"] for f in c.get("files", []) if f["what"] == "input"]
    assert sorted(os.listdir(daemon.home + "/work/shut"))[0] == "case0.trial0.x.input.npy"
    return result["saved"]["error"][-40:]


def assertion(daemon):
    """People's names, not the job's."""
    source = "#include <cassert>\n" + RELU % "0; assert(x[i] < 100)"
    result = validate(daemon, spec(source, init={"fill": 200}, name="mine.cu", trials=1))
    found = [f for f in result["findings"] if f["code"] == "assert"]
    assert len(found) == 1 and found[0]["message"] == "assertion `x[i] < 100` failed", result["findings"]
    assert found[0]["file"] == "mine.cu" and found[0]["line"] == 4, found


def too_much(daemon):
    n = 30 << 20  # 120 MiB each
    result = validate(daemon, spec(n=(n,), trials=1, timeout_s=300, instructions=1 << 40, init={"fill": 1}, odd_sizes=False,
                                   save={"dir": "much", "what": ["outputs", "inputs", "expected"]}))
    assert result["verdict"] == "pass" and result["saved"]["omitted"] == 1, (short(result), result["saved"])
    files_of(result)
    return "%d MiB" % (result["saved"]["bytes"] >> 20)


def call_tool(daemon, rounds):
    """The notes of one call."""
    daemon.notes.clear()
    answer = daemon.ask("tools/call", {"name": "kernel_validate", "_meta": {"progressToken": rounds}, "arguments": {
        "source": SLOW.replace("ROUNDS", str(rounds)), "sizes": [{"b": 20}, {"b": 3000}], "trials": 1, "backend": "emulator",
        "odd_sizes": False, "timeout_s": 600, "instructions": 1 << 40, "launch": {"grid": ["b"], "block": [64]},
        "args": [{"name": "y", "type": "int32", "shape": ["64 * b"], "output": True}]}})
    assert not answer["result"].get("isError"), answer
    return [n["params"] for n in daemon.notes if n.get("method") == "notifications/progress"]


def progress(program):
    """A launch, as an MCP client sees it: what is done rises, and the words say where it is. Longer and longer, until
    this machine takes long enough for it."""
    daemon = Daemon(program)
    daemon.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
    for rounds in (800, 12000, 100000, 800000):
        notes = call_tool(daemon, rounds)
        done = [n["progress"] for n in notes]
        assert all(a < b for a, b in zip(done, done[1:])) and all(n["total"] == 3 for n in notes), notes
        running = [n for n in notes if "case 2 of 2 (b 3000), trial 1 of 1: running, block" in n.get("message", "")]
        if running:
            break
    assert running and 2 < running[-1]["progress"] < 3, notes
    assert daemon.close() == 0
    return "%d notes, %s" % (len(notes), running[-1]["message"])


def main():
    names = [word for word in sys.argv[2:] if word != "--all"]
    wanted = lambda test: not names or test.__name__ in sys.argv[2:]
    tap, daemon = Tap(), Daemon(os.path.abspath(sys.argv[1]))
    for what, test in (("what is saved is what was there", contents), ("what was saved can be given again", again),
                       ("which arrays, which trials", choices), ("types that numpy has, and those that it has not", types),
                       ("folders that are refused", places), ("links and older files", links_and_old_files),
                       ("not from a spec's file", from_a_spec_file), ("a name that cannot be written", full_folder),
                       ("an assertion's words", assertion)):
        if wanted(test):
            tap.run(what, test, daemon)
    if "--all" in sys.argv:
        tap.run("256 MiB and no more", too_much, daemon)
    code = daemon.close()
    if wanted(progress):
        tap.run("progress of a long launch", progress, os.path.abspath(sys.argv[1]))
    tap.run("the daemon ends", lambda: None if code == 0 else 1 / 0)
    return tap.end()


sys.exit(main())
