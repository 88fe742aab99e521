#!/usr/bin/env python3
"""clients/python, as a program that imports it sees it, against the build's daemon.

usage: client.py UPSKILLD   (TAP on standard output; numpy and pytest are used where they are installed)"""
import array, contextlib, glob, importlib.util, os, pty, re, subprocess, sys, tempfile, textwrap

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
os.environ["UPSKILLD"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(REPOSITORY, "clients/python"))
sys.dont_write_bytecode = True
import upskilld  # noqa: E402

RELU = """__global__ void relu(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] > 0 ? x[i] : 0;
}
"""
# Each block turns its part of x round; without the barrier it reads what others have not written yet.
REVERSE = """__global__ void reverse(float *y, const float *x) {
    __shared__ float part[64];
    part[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    y[blockIdx.x * 64 + threadIdx.x] = part[63 - threadIdx.x];
}
"""
LAUNCH = {"grid": [2], "block": [64]}
X = array.array("f", [k - 50 for k in range(128)])


def reversed_parts(x):
    """By Python, of what the kernel should write."""
    return array.array("f", [x[k // 64 * 64 + 63 - k % 64] for k in range(128)])


def raises(kind, call):
    try:
        call()
    except kind as e:
        return e
    raise AssertionError(f"{kind.__name__} was expected")


def checks(client):
    """check: typed, from a text and from a file; a mistake has its line"""
    good = client.check(RELU)
    assert good.ok and good.raise_for_findings() is good and [k.name for k in good.kernels] == ["relu"]
    assert good.kernels[0].registers > 0 and good.kernels[0].spill_bytes == 0
    with open("broken.cu", "w") as file:
        file.write(RELU.replace("blockDim", "blockDin"))
    bad = client.check("broken.cu")
    assert not bad.ok and bad.findings[0].line == 2 and bad.findings[0].severity == "error", bad
    failed = raises(upskilld.KernelFailed, bad.raise_for_findings)
    assert "broken.cu:2:" in str(failed) and failed.result is bad, failed


def validates(client):
    """validate: arrays in and out as files; the wrong element is named, and none of the files is left"""
    args = {"y": upskilld.output(128), "x": X, "n": 128}
    relu = array.array("f", [max(v, 0) for v in X])
    assert client.validate(RELU, launch=LAUNCH, args=args, expect={"y": relu}).verdict == "pass"
    wrong = client.validate(RELU.replace("x[i] : 0", "x[i] : i == 7"), launch=LAUNCH, args=args, expect={"y": relu})
    assert wrong.verdict == "fail" and wrong.outputs[0].mismatches == 1, wrong.text()
    assert wrong.outputs[0].first_mismatch["index"] == [7] and "at [7] 1.0 instead of 0.0" in wrong.text()
    unjudged = client.validate(RELU, launch=LAUNCH, args=args)
    assert unjudged.verdict == "unjudged" and not unjudged.ok
    assert not glob.glob(client.folder + "/*"), "files were left"


def finds_the_race(client):
    """validate: a missing barrier is found at its line, against a function called in this process"""
    args = {"y": upskilld.output(128), "x": X}
    called = []

    def expect(x):
        called.append(x is X)
        return reversed_parts(x)

    right = client.validate(REVERSE, launch=LAUNCH, args=args, expect=expect, checks=["race"])
    assert right.ok and called == [True], right.text()
    with open("reverse.cu", "w") as file:
        file.write(REVERSE.replace("    __syncthreads();\n", "\n"))
    wrong = client.validate("reverse.cu", launch=LAUNCH, args=args, expect=expect, checks=["race"])
    races = [f for f in wrong.findings if f.code == "race"]
    assert not wrong.ok and races and {f.line for f in races} <= {3, 5}, wrong.text()
    assert all(os.path.basename(f.file) == "reverse.cu" for f in races), races
    assert re.search(r"reverse\.cu:[35]:\d+: error: .*\n.*reverse\.cu:[35]:\d+: note: the earlier \w+ of 4 bytes", wrong.text()), wrong.text()


def numbers_have_the_parameters_type(client):
    """validate: an int for a float, a long or a half; where PTX alone knows the types (extern "C"); none that cannot hold it"""
    scale = """#include <cuda_fp16.h>
%s__global__ void scale(float *y, const float *x, %s a, %s n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (float)a;
}
"""
    for start, a_type, a in [("", "float", 2), ("", "double", 2), ("", "__half", 2), ("", "unsigned char", 200), ("", "unsigned", 3 << 30),
                             ("", "double", 0.5), ('extern "C" ', "float", 2), ('extern "C" ', "double", 0.5), ('extern "C" ', "short", -3)]:
        wanted = array.array("f", [v * a for v in X])
        result = client.validate(scale % (start, a_type, "size_t"), launch=LAUNCH, args={"y": upskilld.output(128), "x": X, "a": a, "n": 128},
                                 expect={"y": wanted})
        assert result.ok and not result.findings, (start, a_type, a, result.text())
    wrong = client.validate(scale % ("", "int", "int"), launch=LAUNCH, args={"y": upskilld.output(128), "x": X, "a": 1.5, "n": 128},
                            expect={"y": array.array("f", [v * 1.5 for v in X])})
    assert [f.code for f in wrong.findings] == ["argument_type"], wrong.text()


def arguments_replace_the_specs(client):
    """validate: the spec beside the file, with some arguments given as arrays"""
    with open("relu.cu", "w") as file:
        file.write(RELU)
    with open("relu.check.json", "w") as file:
        file.write("""{"launch": {"grid": [1], "block": [64]}, "args": [
            {"name": "y", "type": "float32", "shape": [40], "output": true},
            {"name": "x", "type": "float32", "shape": [40], "init": {"normal": [0, 1]}},
            {"name": "n", "type": "int32", "value": 40}], "expect": {"expression": {"y": "max(x[i], 0)"}},
            "$schema": "upskilld:schema", "comment": "as kernel init writes them"}""")
    assert client.validate("relu.cu").ok
    x = array.array("f", [-2, 5] * 20)
    result = client.validate("relu.cu", args={"x": x}, expect={"y": array.array("f", [0, 5] * 20)})
    assert result.ok, result.text()
    result = client.validate("relu.cu", args={"x": x, "y": array.array("f", [3] * 40)})  # an output stays one
    assert result.ok and result.outputs[0].name == "y", result.text()
    assert "no argument called z" in str(raises(ValueError, lambda: client.validate("relu.cu", args={"z": x})))


def sizes_follow_the_arrays(client):
    """validate: a size that is an array's extent is that of the array; arrays that contradict each other are refused"""
    spec = {"sizes": {"n": 64}, "launch": {"grid": ["ceil_div(n, 64)"], "block": [64]}, "args": [
        {"name": "y", "type": "float32", "shape": ["n"], "output": True},
        {"name": "x", "type": "float32", "shape": ["n"], "init": {"normal": [0, 1]}},
        {"name": "n", "type": "int32", "value": "n"}]}
    result = client.validate(RELU, spec, args={"x": X[:100]}, expect={"y": array.array("f", [max(v, 0) for v in X[:100]])})
    assert result.ok and result.outputs[0].elements == 100, result.text()
    e = raises(ValueError, lambda: client.validate(RELU, spec, args={"x": X[:100]}, expect={"y": X[:90]}))
    assert "its extent n is " in str(e) and "elsewhere" in str(e), e


def numpy_arrays(client):
    """validate: numpy's arrays and scalars, two dimensions, a function that uses numpy"""
    if not importlib.util.find_spec("numpy"):
        return "numpy is not installed"
    import numpy
    assert upskilld.output(numpy.int64(4), numpy.float16).buffer() == {"type": "float16", "shape": [4], "output": True}
    assert upskilld.output((2, 3), numpy.dtype("int8")).buffer() == {"type": "int8", "shape": [2, 3], "output": True}
    double = client.validate(RELU, launch=LAUNCH, args={"y": upskilld.output(128), "x": numpy.linspace(-1, 1, 128), "n": 128},
                             expect=lambda x: numpy.maximum(x, 0))
    assert not double.ok and double.findings[0].code == "argument_type", double.text()
    assert "'x' has elements of type float64, the kernel's parameter points to float32: give float32" in double.text(), double.text()
    x = numpy.random.default_rng(1).standard_normal((3, 50)).astype("float16")
    source = RELU.replace("float", "__half").replace("x[i] > 0", "x[i] > __half(0)").replace(": 0", ": __half(0)")
    result = client.validate("#include <cuda_fp16.h>\n" + source, launch={"grid": [3], "block": [64]},
                             args={"y": upskilld.output(x.shape, "float16"), "x": x, "n": numpy.int32(x.size)},
                             expect=lambda x: numpy.maximum(x, 0))
    assert result.ok, result.text()


# The form of a KernelBench problem, without PyTorch: a parameter, an input, and a size that follows from them.
PROBLEM = """
import array
class Model:
    def __init__(self, factor): self.scale = array.array("f", [factor])
    def state_dict(self): return {"layer.scale": self.scale}
    def forward(self, x): return array.array("f", [v * self.scale[0] for v in x])
def get_init_inputs(): return [FACTOR]
def get_inputs(): return [array.array("f", range(300))]
"""
SCALE = """__global__ void scale(float *out, const float *x, const float *layer_scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] * *layer_scale;
}
"""


def kernelbench_problems(client):
    """kernelbench: inputs, parameters and sizes are the problem's; a wrong kernel fails, what is missing is named"""
    for name, text in (("problem.py", PROBLEM.replace("FACTOR", "2.5")), ("scale.cu", SCALE),
                       ("no_model.py", "def get_inputs(): return []"), ("raises.py", "raise KeyError('mine')"),
                       ("two.py", PROBLEM.replace("FACTOR", "2").replace("return array", "return 1, array")),
                       ("none.py", PROBLEM.replace("FACTOR", "2").replace("return array", "return None and array"))):
        with open(name, "w") as file:
            file.write(text)
    spec = {"sizes": {"n": 8}, "launch": {"grid": ["ceil_div(n, 64)"], "block": [64]}, "args": [
        {"name": "out", "type": "float32", "shape": ["n"], "output": True},
        {"name": "x", "type": "float32", "shape": ["n"], "init": {"fill": 1}},
        {"name": "layer_scale", "type": "float32", "shape": [1], "init": {"fill": 1}},
        {"name": "n", "type": "int32", "value": "n"}]}
    result = client.kernelbench("problem.py", "scale.cu", spec)
    assert result.ok and result.outputs[0].elements == 300, result.text()
    wrong = client.kernelbench("problem.py", SCALE.replace("x[i] *", "x[i] +"), spec)
    assert wrong.verdict == "fail" and wrong.outputs[0].mismatches > 290, wrong.text()
    assert "upskillctl kernel init" in str(raises(ValueError, lambda: client.kernelbench("problem.py", SCALE)))
    spec["args"][1]["name"] = "data"
    assert "data: the problem has no value" in str(raises(ValueError, lambda: client.kernelbench("problem.py", SCALE, spec)))
    assert client.kernelbench("problem.py", SCALE, spec, {"data": "x"}).ok
    for problem, kind, words in (("no_model.py", ValueError, "Model is missing"), ("raises.py", KeyError, "mine"),
                                 ("two.py", ValueError, "returns 2 arrays"), ("none.py", ValueError, "gives NoneType for out, and an array")):
        e = raises(kind, lambda: client.kernelbench(problem, SCALE, spec, {"data": "x"}))
        assert words in str(e), e


def errors_are_exceptions(client):
    """a file that is not there, wrong arguments, a daemon that is gone"""
    missing = raises(upskilld.RequestError, lambda: client.check("missing.cu"))
    assert missing.reason == "no_file" and "missing.cu" in str(missing)
    args = {"y": upskilld.output(128), "x": X, "n": 128}
    for expect, words in [(lambda q: X, "asks for q"), (lambda x: (X, X), "returned 2 arrays")]:
        e = raises(ValueError, lambda: client.validate(RELU, launch=LAUNCH, args=args, expect=expect))
        assert words in str(e), e
    for given, words in ((object(), "not object"), (array.array, "not the function array"), ([1.5], "not list")):
        e = raises(upskilld.ArgumentError, lambda: client.validate(RELU, launch=LAUNCH, args={"y": given}))
        assert str(e).startswith("y: an array, ") and "output(shape, dtype) for what the kernel writes" in str(e) and words in str(e), e
    for shape in (X, 1.5, len, None):
        assert "a shape is an integer or several" in str(raises(upskilld.ArgumentError, lambda: upskilld.output(shape))), shape
    assert "complex64" in str(raises(upskilld.ArgumentError, lambda: upskilld.output(4, "complex64")))
    e = raises(upskilld.ArgumentError, lambda: client.validate(RELU, launch=LAUNCH, args={**args, "y": X}, expect=lambda x: x))
    assert "returned 1 array, and the outputs are none: give what the kernel writes as output(shape, dtype)" in str(e), e
    assert "not NoneType" in str(raises(upskilld.ArgumentError, lambda: client.check(None)))
    for wrong in ({"args": [X]}, {"spec": "relu.check.json"}):
        assert "a dict by name" in str(raises(upskilld.ArgumentError, lambda: client.validate(RELU, **wrong))), wrong
    assert "lambda" in str(raises(upskilld.ArgumentError, lambda: client.validate(RELU, launch=LAUNCH, args={**args, "z": X}, expect=max)))
    other = upskilld.Client()
    other.daemon.process.kill()
    assert "another Client" in str(raises(upskilld.DaemonError, lambda: other.check(RELU)))
    other.close()
    assert not os.path.exists(other.folder)
    assert "closed" in str(raises(upskilld.DaemonError, lambda: other.validate(RELU, launch=LAUNCH, args=args, expect=lambda x: x)))


# Interrupts itself as a terminal does: all of its process group, of which it is the leader.
INTERRUPTED = """
import array, os, signal, sys, threading, upskilld
def never(x):
    while True:
        pass
def ask(source, expect):
    return upskilld.validate(source, launch={"grid": [2], "block": [64]}, args=args, expect=expect, trials=1, timeout_s=90,
                             instructions=1 << 50).verdict
args = {"y": upskilld.output(128), "x": array.array("f", range(128)), "n": 128}
relu = sys.argv[1]
for source, expect in (relu, never), (relu.replace("if (i < n)", "for (volatile long k = 0; k >= 0; k = k + 1); if (i < n)"), lambda x: x):
    threading.Timer(3, os.killpg, (0, signal.SIGINT)).start()
    try:
        print("not interrupted:", ask(source, expect))
    except KeyboardInterrupt:
        print(ask(relu, lambda x: x))
"""


def interrupted_calls(client):
    """a function that never ends, and a kernel that takes long: Ctrl-C ends them, and the daemon goes on"""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, RELU], capture_output=True, text=True, timeout=120, start_new_session=True,
                          env=dict(os.environ, PYTHONPATH=os.path.join(REPOSITORY, "clients/python")))
    assert done.stdout == "pass\npass\n", done.stdout + done.stderr


def functions_that_go_wrong(client):
    """expect: what it raises is the caller's; what is no array of the output's shape is told; the daemon goes on"""
    args = {"y": upskilld.output(128), "x": X, "n": 128}

    def raiser(x):
        raise KeyError("mine")
    assert raises(KeyError, lambda: client.validate(RELU, launch=LAUNCH, args=args, expect=raiser)).args == ("mine",)
    for given, words in ((X[:100], "an array of shape [100] for y, whose shape is [128]"), (None, "NoneType for y, and an array is wanted"),
                         (1.5, "float for y"), ({"z": X}, "something for z, and the outputs are y")):
        e = raises(upskilld.ArgumentError, lambda: client.validate(RELU, launch=LAUNCH, args=args, expect=lambda x: given))
        assert str(e).startswith("expect returned " + words), e
    for given, words in (({"y": X[:100]}, "expect has an array of shape [100] for y"), ({"z": X}, "expect has something for z, and the outputs are y"),
                         ({"y": X, "z": 1}, "expect has something for z")):
        e = raises(upskilld.ArgumentError, lambda: client.validate(RELU, launch=LAUNCH, args=args, expect=given))
        assert str(e).startswith(words), e
    whole = array.array("i", range(128))
    e = raises(upskilld.RequestError, lambda: client.validate(RELU, launch=LAUNCH, args=args, expect={"y": whole}))
    assert str(e).startswith("expect.files.y: the file's elements are int32, the buffer's float32"), e
    assert client.validate(RELU, launch=LAUNCH, args=args, expect=lambda x: array.array("f", [max(v, 0) for v in x])).ok
    # A function of C does not tell its parameters' names: it gets the one array, as torch.relu wants it, here max.
    for more, words in (({}, "expect returned float for y"), ({"z": X}, "expect: the function max does not tell what its arguments are called")):
        e = raises(upskilld.ArgumentError, lambda: client.validate(RELU, launch=LAUNCH, args={**args, **more}, expect=max))
        assert str(e).startswith(words), e


def linked_folders(client):
    """temporary files in a folder that a link leads to; a child that `expect` forked takes none of them away"""
    def forks(x):
        if not os.fork():
            try:
                client.validate(RELU, launch=LAUNCH, args=args, expect=lambda x: x)
            except upskilld.DaemonError:
                os._exit(0)
        assert os.wait()[1] == 0
        return array.array("f", [max(v, 0) for v in x])
    args = {"y": upskilld.output(128), "x": X, "n": 128}
    assert client.validate(RELU, launch=LAUNCH, args=args, expect=forks).ok
    with tempfile.TemporaryDirectory() as real:
        os.mkdir(real + "/to")
        os.symlink(real + "/to", real + "/link")
        before, tempfile.tempdir = tempfile.tempdir, real + "/link"
        try:
            with upskilld.Client() as linked:
                assert linked.validate(RELU, launch=LAUNCH, args=args, expect=lambda x: array.array("f", [max(v, 0) for v in x])).ok
        finally:
            tempfile.tempdir = before


SLOW = """__global__ void slow(float *y) {
    float s = 0;
    for (int i = 0; i < 20000; i++) s += i * 1e-9f;
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
"""
SLOWLY = """import sys, upskilld
upskilld.validate(open(sys.argv[1]).read(), launch={"grid": [512], "block": [256]}, args={"y": upskilld.output(512 * 256)}, trials=3)
"""
# The compiler's time grows with the square of the kernels: three seconds.
MANY = """import upskilld
upskilld.check(".version 8.0\\n.target sm_90\\n.address_size 64\\n" + "".join(".visible .entry k%d() { ret; }\\n" % i for i in range(3200)))
"""


def on_a_terminal(words, env):
    ours, theirs = pty.openpty()
    child = subprocess.Popen(words, stderr=theirs, env=env)
    os.close(theirs)
    told = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while True:
            told += os.read(ours, 4096)
    os.close(ours)
    assert child.wait() == 0, told
    return told


def progress_is_shown(client):
    """a request that takes long tells a terminal how far it is, and takes the line away; a pipe gets nothing"""
    env = dict(os.environ, PYTHONPATH=sys.path[0])
    with open("slow.cu", "w") as file:
        file.write(SLOW)
    words = [sys.executable, "-c", SLOWLY, "slow.cu"]
    told = on_a_terminal(words, env)
    assert re.search(rb"\r *\d+% .*trial \d of 3", told) and re.search(rb"\r +\r$", told), told
    assert subprocess.run(words, stderr=subprocess.PIPE, env=env).stderr == b""
    told = on_a_terminal([sys.executable, "-c", MANY], env)
    assert re.search(rb"\rcompiling, \d+ s of at most 120 \(compile_timeout_s\)", told), told


def forked_processes(client):
    """a process that was forked has a daemon of its own, and takes nothing from its parent's; one that ended is started anew"""
    assert upskilld.check(RELU).ok
    shared = upskilld._client()
    child = os.fork()
    if not child:
        try:
            os._exit(raises(upskilld.DaemonError, lambda: shared.check(RELU)) is None or not upskilld.check(RELU).ok or shared.close() or 0)
        except BaseException:
            os._exit(9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 and upskilld._client() is shared and os.path.isdir(shared.folder)
    assert upskilld.check(RELU).ok
    shared.daemon.process.kill()
    shared.daemon.process.wait()
    assert upskilld.check(RELU).ok


def arrays_come_back(client):
    """save=True: what the kernel wrote in every trial, as the caller's memory, and no file is left"""
    if not importlib.util.find_spec("numpy"):
        return "numpy is not installed"
    import numpy
    x = numpy.arange(-50, 50, dtype="float32").reshape(4, 25)
    args = {"y": upskilld.output(x.shape), "x": x, "n": x.size}
    result = client.validate(RELU, launch=LAUNCH, args=args, expect=lambda x: numpy.maximum(x, 0), trials=2, save=True)
    assert len(result.outputs) == 2 and all((o.array == numpy.maximum(x, 0)).all() for o in result.outputs), result.outputs
    result.outputs[0].array[0] = 1
    assert result.outputs[1].array.max() == 49 and not glob.glob(client.folder + "/*")
    assert client.validate(RELU, launch=LAUNCH, args=args, expect=lambda x: numpy.maximum(x, 0)).outputs[0].array is None


SMALL = """#include <cuda_bf16.h>
#include <cuda_fp8.h>
__global__ void small(__nv_bfloat16 *b, unsigned char *e4m3, unsigned char *e5m2, const float *x) {
    int i = threadIdx.x;
    b[i] = __float2bfloat16(x[i]);
    e4m3[i] = e5m2[i] = i;
}
"""


def small_floats_come_back(client):
    """save=True: bfloat16 and FP8 come back as the float32 of the same value; each of the 256 FP8 numbers"""
    if not importlib.util.find_spec("numpy"):
        return "numpy is not installed"
    import numpy
    x = numpy.array([numpy.nan, -0.0, numpy.inf, -numpy.inf, 3.0e38, 1e-40, -1.5] + [0.5] * 249, dtype="float32")
    args = {"b": upskilld.output(256, "bfloat16"), "e4m3": upskilld.output(256, "float8_e4m3"),
            "e5m2": upskilld.output(256, "float8_e5m2"), "x": x}
    result = client.validate(SMALL, launch={"grid": [1], "block": [256]}, args=args, trials=1, save=True)
    got = {o.name: o.array for o in result.outputs}
    assert all(a.dtype == "float32" for a in got.values()), got
    assert numpy.isnan(got["b"][0]) and numpy.array_equal(got["b"][1:4], x[1:4]) and numpy.signbit(got["b"][1]), got["b"]
    assert (abs(got["b"][4:] - x[4:]) <= abs(x[4:]) / 256 + 1e-40).all(), got["b"][:8]
    # The Open Compute Project's table: largest, least normal, least subnormal, and what is special.
    for name, values in (("e4m3", {0x7e: 448, 0x08: 2.0 ** -6, 0x01: 2.0 ** -9, 0x38: 1, 0xb9: -1.125, 0x00: 0}),
                         ("e5m2", {0x7b: 57344, 0x04: 2.0 ** -14, 0x01: 2.0 ** -16, 0x3c: 1, 0xbd: -1.25, 0x7c: numpy.inf})):
        assert all(got[name][bits] == value for bits, value in values.items()), got[name]
        assert numpy.signbit(got[name][128:]).all() and not numpy.signbit(got[name][:126]).any()
    assert [i for i in range(256) if numpy.isnan(got["e4m3"][i])] == [0x7f, 0xff]
    assert [i for i in range(256) if numpy.isnan(got["e5m2"][i])] == [0x7d, 0x7e, 0x7f, 0xfd, 0xfe, 0xff]
    assert "filled" in str(raises(upskilld.ArgumentError, lambda: client.validate(SMALL, args={**args, "x": numpy.ma.masked_invalid(x)})))


def finds_skills(client):
    """find: the bundled skill for a task of its kind, none for another"""
    skills = client.find("tile a matrix multiply for the tensor cores of an H100")
    assert skills and skills[0].name == "h100-cuda-kernels" and 0 < skills[0].score <= 1, skills
    assert client.find("bake sourdough bread") == []


def pytest_fixture(client):
    """pytest's fixture: a missing barrier fails its test with the line, against a function of PyTorch where it is installed"""
    if not importlib.util.find_spec("pytest"):
        return "pytest is not installed"
    with open("reverse.cu", "w") as file:
        file.write(REVERSE.replace("    __syncthreads();\n", "\n"))
    torch = importlib.util.find_spec("torch")
    x, expect = ("torch.arange(128.)", "x.view(2, 64).flip(1).reshape(128)") if torch else (
        "array.array('f', range(128))", "array.array('f', [x[k // 64 * 64 + 63 - k % 64] for k in range(128)])")
    with open("test_kernels.py", "w") as file:
        file.write(textwrap.dedent(f"""
            import {"torch" if torch else "array"}, upskilld
            ARGS = {{"y": upskilld.output(128), "x": {x}}}
            def reversed_parts(x):
                return {expect}
            def test_right(kernel):
                kernel.validate({REVERSE!r}, launch={LAUNCH}, args=ARGS, expect=reversed_parts)
            def test_wrong(kernel):
                kernel.validate("reverse.cu", launch={LAUNCH}, args=ARGS, expect=reversed_parts)
            def test_mistaken(kernel):
                kernel.validate("reverse.cu", launch={LAUNCH}, args={{**ARGS, "y": len}}, expect=reversed_parts)
        """))
    env = dict(os.environ, PYTHONPATH=os.path.join(REPOSITORY, "clients/python"), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")  # of a wheel
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "upskilld.pytest_plugin", "test_kernels.py"],
                          capture_output=True, text=True, env=env)
    assert done.returncode == 1 and "2 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "wanted, not the function len\n" in done.stdout and "client.py" not in done.stdout, done.stdout
    assert re.search(r"reverse\.cu:[35]:\d+: error: .*[Rr]ace", done.stdout), done.stdout


def from_a_clone(client):
    """without a wheel: the package in a clone of the source finds the program that ./setup built there"""
    os.makedirs("clone/clients/python"), os.makedirs("clone/build/daemon")
    os.symlink(os.path.join(REPOSITORY, "clients/python/upskilld"), "clone/clients/python/upskilld")
    os.symlink(os.environ["UPSKILLD"], "clone/build/daemon/upskilld")
    env = {name: value for name, value in os.environ.items() if name != "UPSKILLD"}
    done = subprocess.run([sys.executable, "-B", "-c", f"import upskilld; print(upskilld.check({RELU!r}).ok)"], capture_output=True, text=True,
                          env=dict(env, PYTHONPATH=os.path.abspath("clone/clients/python"), PATH="/nonexistent"))
    assert done.stdout == "True\n", done.stdout + done.stderr
    os.remove("clone/build/daemon/upskilld")
    done = subprocess.run([sys.executable, "-B", "-c", "import upskilld; upskilld.check('')"], capture_output=True, text=True,
                          env=dict(env, PYTHONPATH=os.path.abspath("clone/clients/python"), PATH="/nonexistent"))
    assert "run ./setup in a clone" in done.stderr, done.stderr


FILL = "__global__ void fill(float *y, float s) { y[threadIdx.x] = s; }\n"


def what_is_no_json(client):
    """numbers that JSON has no word for are sent as arguments; a request that is no JSON is refused, and the next is answered"""
    for value in (float("nan"), float("inf"), float("-inf")):
        result = client.validate(FILL, launch={"grid": [1], "block": [4]}, args={"y": upskilld.output(4), "s": value},
                                 expect={"y": array.array("f", [1] * 4)}, trials=1)
        assert str(result.outputs[0].first_mismatch["actual"]).lower().startswith(str(value)[:2]), result.raw
    for value in (float("nan"), {1, 2}, object()):
        assert "no form in JSON" in str(raises(upskilld.ArgumentError, lambda: client.validate(RELU, sizes={"n": value})))
    assert client.check(RELU).ok


def out_of_range(client):
    """a number or an array that no request or no parameter holds is told with its name"""
    def ask(expect=None, **args):
        return client.validate(FILL, launch={"grid": [1], "block": [4]}, args={"y": upskilld.output(4), "s": 1.0, **args}, expect=expect, trials=1)

    def said(**given):
        return str(raises(upskilld.ArgumentError, lambda: ask(**given)))
    for n in (2 ** 70, 2 ** 63, -2 ** 63 - 1):
        assert str(raises(upskilld.ArgumentError, lambda: client.validate(RELU, sizes={"n": n}))).startswith(f"sizes.n: {n} is out of range"), n
        assert said(s=n).startswith(f"args.s.value: {n} is out of range"), n
    assert said(s={"type": "int64", "value": [1, 2 ** 64]}).startswith("args.s.value.1: ")
    for kernel, n in ((FILL, 1e39), (FILL.replace("float s", "int s"), 2 ** 31), (FILL.replace("float s", "int s"), -2 ** 31 - 1)):
        result = client.validate(kernel, launch={"grid": [1], "block": [4]}, args={"y": upskilld.output(4), "s": n}, trials=1)
        assert "args[1] s has 8 bytes, the kernel's parameter 4" in result.text(), n
    if importlib.util.find_spec("numpy"):
        import numpy
        z = numpy.zeros(4, dtype="complex64")
        assert said(s=z).startswith("s: no type of kernels is called complex64") and said(s=z[0]).startswith("s: no type")
        for expect in ({"y": z}, lambda s: z):
            assert said(expect=expect).startswith("expect of y: no type"), expect


def torn_requests(client):
    """a request that was interrupted while it was written leaves no answer to the next one"""
    with upskilld.Client(".") as own:
        pipe = own.daemon.process.stdin

        class Torn:
            closed = False

            def write(self, text):
                pipe.write(text[:30])
                pipe.flush()
                raise KeyboardInterrupt

        for _ in range(2):
            own.daemon.process.stdin = Torn()
            raises(KeyboardInterrupt, lambda: own.check(RELU))
            own.daemon.process.stdin = pipe
            assert own.check(RELU).ok
    raises(upskilld.DaemonError, lambda: own.check(RELU))


def main():
    tests = [checks, validates, finds_the_race, numbers_have_the_parameters_type, arguments_replace_the_specs, sizes_follow_the_arrays, numpy_arrays, arrays_come_back,
             small_floats_come_back, kernelbench_problems, errors_are_exceptions, functions_that_go_wrong, interrupted_calls,
             what_is_no_json, out_of_range, torn_requests, linked_folders, progress_is_shown, forked_processes, finds_skills, pytest_fixture, from_a_clone]
    print(f"1..{len(tests)}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="python-client-") as folder:
        os.chdir(folder)
        os.environ.update(XDG_STATE_HOME=folder, XDG_CONFIG_HOME=folder)
        with upskilld.Client() as client:
            for number, test in enumerate(tests, 1):
                try:
                    skipped = test(client)
                    print(f"ok {number} - {test.__doc__}" + (f" # SKIP {skipped}" if skipped else ""), flush=True)
                except Exception as e:
                    failed += 1
                    text = str(e).replace("\n", "\n# ")
                    print(f"not ok {number} - {test.__doc__}\n# {type(e).__name__}: {text}", flush=True)
        os.chdir("/")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
