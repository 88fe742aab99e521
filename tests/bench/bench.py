#!/usr/bin/env python3
"""Figures and ratios against a peer measured in the same run. Prints; never judges.

usage: bench.py BUILD_FOLDER [SECTION …]
sections: start latency exit check heavy cached parallel edit document models emulator tensor_cores sizes machines programs turns
"""
import json, os, re, shutil, signal, statistics, subprocess, sys, tempfile, time

from large_inputs import floods, large_documents, large_sources

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else ""
DAEMON = BUILD + "/daemon/upskilld"
KERNELS = REPOSITORY + "/tests/kernels"
INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
              "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                         "clientInfo": {"name": "bench", "version": "1"}}}
LSP_INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
                  "params": {"processId": None, "rootUri": None, "capabilities": {}}}


def median(values):
    return statistics.median(values)


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def row(what, figure, peer="", ratio=""):
    print("  %-44s %-26s %-34s %s" % (what, figure, peer, ratio), flush=True)


class Server:
    """A server on pipes, by lines (MCP, plain) or Content-Length headers (LSP)."""

    def __init__(self, argv, headers=False, cwd=None, env=None):
        self.headers, self.next = headers, 100
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=cwd,
                                        env=dict(os.environ, **(env or {})))

    def send(self, message):
        body = json.dumps(message).encode()
        frame = b"Content-Length: %d\r\n\r\n" % len(body) + body if self.headers else body + b"\n"
        self.process.stdin.write(frame)
        self.process.stdin.flush()

    def read(self):
        out = self.process.stdout
        if not self.headers:
            return json.loads(out.readline())
        size = 0
        while True:
            line = out.readline()
            if line in (b"\r\n", b""):
                return json.loads(out.read(size)) if size else None
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])

    def ask(self, method, params=None, id=None):
        self.next += 1
        message = {"jsonrpc": "2.0", "id": id or self.next, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        while True:
            answer = self.read()
            if answer.get("id") == message["id"] and "method" not in answer:
                return answer

    def resident_mib(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1)) / 1024

    def close(self):
        start = time.perf_counter()
        self.process.stdin.close()
        self.process.wait(10)
        return (time.perf_counter() - start) * 1000


def start_once(argv, first, headers=False):
    start = time.perf_counter()
    server = Server(argv, headers)
    server.send(first)
    server.read()
    elapsed = (time.perf_counter() - start) * 1000
    time.sleep(0.05)
    resident = server.resident_mib()
    return elapsed, resident, server


def measure_start(argv, first, count, headers=False):
    times, residents, exits = [], [], []
    for _ in range(count):
        elapsed, resident, server = start_once(argv, first, headers)
        times.append(elapsed)
        residents.append(resident)
        exits.append(server.close())
    return times, residents, exits


def peers():
    found = {}
    node = HERE + "/peer_mcp.mjs"
    modules = REPOSITORY + "/tests/clients/node_modules"
    if shutil.which("node") and os.path.isdir(modules + "/@modelcontextprotocol/sdk"):
        found["node MCP server"] = (["node", node], INITIALIZE, False)
    clangd = shutil.which("clangd") or shutil.which("clangd-14")
    if clangd:
        found["clangd"] = ([clangd], LSP_INITIALIZE, True)
    for name, package in (("node MCP server", "npm ci in tests/clients"), ("clangd", "clangd")):
        if name not in found:
            print("  (no peer: %s; install %s)" % (name, package))
    return found


def bench_start():
    print("start to first reply, idle memory, end of input to exit")
    times, residents, exits = measure_start([DAEMON], INITIALIZE, 40)
    row("upskilld (MCP)", "p50 %.1f ms, p90 %.1f ms" % (median(times), percentile(times, .9)),
        "%.1f MiB" % median(residents), "exit p50 %.1f ms" % median(exits))
    lsp, lsp_memory, _ = measure_start([DAEMON], LSP_INITIALIZE, 20, True)
    row("upskilld (LSP)", "p50 %.1f ms" % median(lsp), "%.1f MiB" % median(lsp_memory))
    for name, (argv, first, headers) in peers().items():
        t, r, e = measure_start(argv, first, 8, headers)
        row(name, "p50 %.1f ms" % median(t), "%.1f MiB" % median(r), "%.0fx the time, %.0fx the memory"
            % (median(t) / median(times), median(r) / median(residents)))


def round_trips(server, method, count):
    """us from the request to its answer's line; what it costs to parse is the client's."""
    times = []
    for i in range(count * 2):
        start = time.perf_counter()
        server.send({"jsonrpc": "2.0", "id": i + 1, "method": method})
        line = server.process.stdout.readline()
        if i >= count:
            times.append((time.perf_counter() - start) * 1e6)
        assert json.loads(line).get("id") == i + 1, line[:200]
    return times


def bench_latency():
    print("request latency, the Python client's own cost included")
    echo = Server([sys.executable, "-c", "import sys\nfor l in sys.stdin.buffer:\n"
                   " sys.stdout.buffer.write(l.replace(b'\"method\"', b'\"result\"'))\n"
                   " sys.stdout.buffer.flush()"])
    floor = round_trips(echo, "ping", 3000)
    echo.close()
    server = Server([DAEMON])
    server.send(INITIALIZE)
    server.read()
    for method in ("ping", "tools/list", "job/list"):
        t = round_trips(server, method, 3000)
        row("upskilld " + method, "p50 %.0f us, p99 %.0f us" % (median(t), percentile(t, .99)),
            "an echo in Python: p50 %.0f us" % median(floor))
    server.close()
    for name, (argv, first, headers) in peers().items():
        if headers:
            continue
        peer = Server(argv)
        peer.send(first)
        peer.read()
        for method in ("ping", "tools/list"):
            t = round_trips(peer, method, 2000)
            row(name + " " + method, "p50 %.0f us, p99 %.0f us" % (median(t), percentile(t, .99)))
        peer.close()


def bench_exit():
    print("exit while a compile runs")
    slow = KERNELS + "/20_cuda_barrier_pipeline.cu"
    for how in ("end of input", "SIGTERM", "SIGINT"):
        times, left = [], 0
        for i in range(5):
            server = Server([DAEMON], cwd=KERNELS)
            server.send({"jsonrpc": "2.0", "id": 1, "method": "kernel/check",
                         "params": {"path": slow, "defines": {"RUN": str(i)}}})
            time.sleep(0.8)
            start = time.perf_counter()
            if how == "end of input":
                server.process.stdin.close()
            else:
                server.process.send_signal(getattr(signal, how))
            server.process.wait(10)
            times.append((time.perf_counter() - start) * 1000)
        time.sleep(0.5)
        left = int(subprocess.run(["pgrep", "-c", "-f", BUILD + "/gpu/upskilld-worker"],
                                  capture_output=True, text=True).stdout or 0)
        row("upskilld, " + how, "p50 %.1f ms, max %.1f ms" % (median(times), max(times)),
            "%d workers left after 0.5 s" % left)


def nvrtc_library():
    status = Server([DAEMON])
    answer = status.ask("daemon/status")["result"]
    status.close()
    toolkits = json.dumps(answer)
    match = re.search(r'"nvrtc": "([^"]+)"', toolkits)
    root = re.search(r'"root": "([^"]+)"', toolkits)
    return (match.group(1), root.group(1) + "/include") if match and root else (None, None)


def nvrtc_alone(path, count):
    library, include = nvrtc_library()
    if not library:
        return None
    out = subprocess.run([BUILD + "/tests/bench/nvrtc_alone", library, include, path, str(count)],
                         capture_output=True, text=True,
                         env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(library)))
    return [float(x) for x in out.stdout.split()] or None


def check(server, path, number, **more):
    start = time.perf_counter()
    params = dict(path=path, defines={"RUN_NUMBER": str(number)}, **more)
    answer = server.ask("kernel/check", params)
    elapsed = (time.perf_counter() - start) * 1000
    if "result" not in answer or not answer["result"]["ok"]:
        sys.exit("check failed: %s" % json.dumps(answer)[:1000])
    return elapsed, answer["result"]


def bench_check():
    print("kernel/check over NVRTC alone (both warm; every check has a new define)")
    for name in ("01_vector_add.cu", "06_rmsnorm.cu", "16_wmma_fp16.cu"):
        path = KERNELS + "/" + name
        alone = nvrtc_alone(path, 15)
        server = Server([DAEMON], cwd=KERNELS)
        check(server, path, 0)
        pairs = [check(server, path, i) for i in range(1, 16)]
        whole, inside = [p[0] for p in pairs], [p[1]["compile_ms"] for p in pairs]
        server.close()
        peer = "NVRTC alone p50 %.1f ms" % median(alone) if alone else "(no NVRTC)"
        row(name, "p50 %.1f ms (in NVRTC %.1f)" % (median(whole), median(inside)), peer,
            "%+.1f ms, %+.1f over its own compile" % (median(whole) - median(alone),
            median([a - b for a, b in zip(whole, inside)])) if alone else "")


HEAVY = {
    "cooperative_groups": "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
        "__global__ void k(int *x) { auto g = cg::this_thread_block(); x[g.thread_rank()] = %d; g.sync(); }\n",
    "cuda::barrier": "#include <cuda/barrier>\n__global__ void k(int *x) {\n"
        "  __shared__ cuda::barrier<cuda::thread_scope_block> b;\n  if (!threadIdx.x) init(&b, blockDim.x);\n"
        "  __syncthreads(); b.arrive_and_wait(); x[threadIdx.x] = %d; }\n",
    "cub": "#include <cub/block/block_reduce.cuh>\n__global__ void k(int *x) {\n"
        "  using R = cub::BlockReduce<int, 128>; __shared__ R::TempStorage t;\n"
        "  int s = R(t).Sum(x[threadIdx.x]); if (!threadIdx.x) x[0] = s + %d; }\n",
}


def bench_heavy():
    print("heavy headers: the first check, later ones (sources differ, leading includes the same)")
    for name, text in HEAVY.items():
        folder = tempfile.mkdtemp()
        server = Server([DAEMON], cwd=folder)
        server.ask("kernel/check", {"source": "__global__ void w() {}"})
        times = []
        for i in range(6):
            start = time.perf_counter()
            result = server.ask("kernel/check", {"source": text % i})["result"]
            times.append(((time.perf_counter() - start) * 1000, result.get("precompiled")))
            if i == 0:
                time.sleep(6)  # a person thinks; the parent is made meanwhile
        server.close()
        later = [t for t, _ in times[1:]]
        row(name, "first %.0f ms" % times[0][0], "later p50 %.0f ms (%s)" % (median(later), times[-1][1]),
            "%.1fx faster" % (times[0][0] / median(later)))
        shutil.rmtree(folder)


def bench_cached():
    print("the same question again")
    path = KERNELS + "/demo/rms_norm.cu"
    server = Server([DAEMON], cwd=KERNELS)
    first, _ = check(server, path, 1)
    ping = median(round_trips(server, "no/such", 500))
    times = []
    for _ in range(300):
        elapsed, result = check(server, path, 1)
        times.append(elapsed)
        assert result["cached"]
    server.close()
    row("rms_norm.cu", "first %.1f ms" % first, "cached p50 %.2f ms, p99 %.2f ms"
        % (median(times), percentile(times, .99)), "an error reply: %.2f ms" % (ping / 1000))


def bench_parallel():
    print("two checks at once, each some seconds of the compiler's back end")
    lines = "".join("  v = sinf(v + %d.0f); if (v > x[%d]) v *= 0.5f;\n" % (k, k) for k in range(60))
    source = "#define RUN %d\n__global__ void k(float *x) {\n  float v = x[threadIdx.x];\n" + lines + "  x[0] = v;\n}\n"
    server = Server([DAEMON], cwd=tempfile.gettempdir())
    server.ask("kernel/check", {"source": "__global__ void w() {}"})
    start = time.perf_counter()
    server.ask("kernel/check", {"source": source % 1000})
    one = time.perf_counter() - start
    start = time.perf_counter()
    for i in (1001, 1002):
        server.send({"jsonrpc": "2.0", "id": i, "method": "kernel/check", "params": {"source": source % i}})
    seen = set()
    while seen != {1001, 1002}:
        answer = server.read()
        if "method" not in answer:
            seen.add(answer["id"])
    two = time.perf_counter() - start
    server.close()
    row("60 statements of sinf", "one %.0f ms" % (one * 1000), "two at once %.0f ms" % (two * 1000),
        "%.2fx of one" % (two / one))


def bench_edit():
    print("editing a 300-line kernel: last keystroke to its diagnostics")
    body = "".join("  y[i] = y[i] * %d.0f + x[(i + %d) %% n];\n" % (i % 7 + 1, i) for i in range(290))
    text = "extern \"C\" __global__ void k(const float *x, float *y, int n) {\n  int i = threadIdx.x;\n" + body + "}\n"
    folder = tempfile.mkdtemp()
    path = folder + "/k.cu"
    with open(path, "w") as f:
        f.write(text)
    uri = "file://" + path
    server = Server([DAEMON], True, cwd=folder)
    server.send(LSP_INITIALIZE)
    server.read()
    server.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    server.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": uri, "languageId": "cuda-cpp", "version": 1, "text": text}}})

    def diagnostics(version):
        while True:
            message = server.read()
            if message.get("method") == "textDocument/publishDiagnostics" and \
                    message["params"].get("version") == version:
                return message["params"]["diagnostics"]
            if "id" in message and "method" in message:
                server.send({"jsonrpc": "2.0", "id": message["id"], "result": None})

    diagnostics(1)
    times, version = [], 1
    for round_number in range(10):
        for key in range(5):  # a burst of typing
            version += 1
            server.send({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [{"range": {"start": {"line": 2, "character": 2},
                                              "end": {"line": 2, "character": 2}}, "text": "+"}]}})
            last = time.perf_counter()
            time.sleep(0.02)
        diagnostics(version)
        times.append((time.perf_counter() - last) * 1000)
    server.process.kill()
    plain = Server([DAEMON], cwd=folder)
    check(plain, path, 0, quick=True)
    alone = median([check(plain, path, i, quick=True)[1]["compile_ms"] for i in range(1, 8)])
    plain.close()
    row("300 lines", "p50 %.0f ms, max %.0f ms" % (median(times), max(times)),
        "NVRTC itself, quick: %.0f ms" % alone, "%+.0f ms" % (median(times) - alone))
    shutil.rmtree(folder)


def bench_document():
    print("a large document edited fast")
    text = ("// line of a large file with some text in it\n" * 40000) + "__global__ void k() {}\n"
    server = Server([DAEMON], True)
    server.send(LSP_INITIALIZE)
    server.read()
    server.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": "file:///tmp/large.txt.cu", "languageId": "cuda-cpp", "version": 1, "text": text}}})
    start = time.perf_counter()
    count = 2000
    for i in range(count):
        server.send({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": {"uri": "file:///tmp/large.txt.cu", "version": i + 2},
            "contentChanges": [{"range": {"start": {"line": i * 17 % 40000, "character": 3},
                                          "end": {"line": i * 17 % 40000, "character": 4}}, "text": "xy"}]}})
    server.ask("no/such")
    row("1.8 MB, 2000 edits", "%.0f us an edit" % ((time.perf_counter() - start) * 1e6 / count),
        "memory %.0f MiB" % server.resident_mib())
    server.process.kill()


def threads_alone(port, calls, limit):
    """The same questions by as many threads of Python's http.client, unstreamed: seconds."""
    import concurrent.futures
    import http.client
    import threading
    kept = threading.local()

    def question(i):
        if not hasattr(kept, "connection"):
            kept.connection = http.client.HTTPConnection("127.0.0.1", port)
        body = json.dumps({"model": "m:delay=200", "max_tokens": 99, "messages": [
            {"role": "user", "content": "question %d" % i}]})
        kept.connection.request("POST", "/v1/chat/completions", body)
        return json.load(kept.connection.getresponse())["choices"][0]["message"]["content"]

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(limit) as pool:
        assert list(pool.map(question, range(calls))) == ["pong"] * calls
    return time.perf_counter() - start


def bench_models():
    print("questions to a model that takes 200 ms")
    fake = subprocess.Popen([sys.executable, REPOSITORY + "/tests/models/fake_model.py"],
                            stdout=subprocess.PIPE)
    port = int(fake.stdout.readline())
    try:
        peer = threads_alone(port, 200, 64) * 1000
        for api in ("generic", "anthropic"):
            figures = json.loads(subprocess.run(
                [BUILD + "/tests/bench/bench_models", "http://127.0.0.1:%d/v1" % port,
                 api + ".m:delay=200", "200", "64"], stdout=subprocess.PIPE, check=True).stdout)
            row("200, 64 at once, %s" % api, "%d ms, %d MiB" % (
                figures["wall_ms"], figures["rss_peak_kb"] >> 10),
                "64 threads of Python: %.0f ms" % peer, "%.2f x" % (figures["wall_ms"] / peer))
    finally:
        fake.kill()
        fake.wait()


LAYERNORM = """
extern "C" __global__ void layernorm(const float *x, float *y, int cols) {
    __shared__ float part[2][32];
    const float *row = x + (size_t)blockIdx.x * cols;
    float s = 0, q = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        s += row[c];
        q += row[c] * row[c];
    }
    for (int o = 16; o; o >>= 1) {
        s += __shfl_xor_sync(~0u, s, o);
        q += __shfl_xor_sync(~0u, q, o);
    }
    if (threadIdx.x % 32 == 0) {
        part[0][threadIdx.x / 32] = s;
        part[1][threadIdx.x / 32] = q;
    }
    __syncthreads();
    s = q = 0;
    for (int w = 0; w < blockDim.x / 32; w++) {
        s += part[0][w];
        q += part[1][w];
    }
    float mean = s / cols, scale = rsqrtf(q / cols - mean * mean + 1e-5f);
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        y[(size_t)blockIdx.x * cols + c] = (row[c] - mean) * scale;
}
extern "C" __global__ void plain(const float *x, float *y, int cols) {
    const float *row = x + (size_t)threadIdx.x * cols;
    float s = 0, q = 0;
    for (int c = 0; c < cols; c++)
        s += row[c];
    float mean = s / cols;
    for (int c = 0; c < cols; c++)
        q += (row[c] - mean) * (row[c] - mean);
    for (int c = 0; c < cols; c++)
        y[(size_t)threadIdx.x * cols + c] = (row[c] - mean) / sqrtf(q / cols + 1e-5f);
}
"""


def bench_emulator():
    print("kernels on the CPU: the same code one lane at a time, and a plain loop in C, as peers")
    sys.path.insert(0, KERNELS)
    import pathlib
    import read_ptx
    toolkit = read_ptx.find_toolkit()
    text = read_ptx.compile_ptx(read_ptx.load(toolkit), toolkit, pathlib.Path(HERE, "emulator_kernels.cu"))
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as f:
        f.write(text)
        f.flush()
        subprocess.run([BUILD + "/tests/bench/bench_emulator", f.name], check=True)
    print("kernel/validate of a LayerNorm, 64 rows of 4096, the compiler's answer cached")
    server = Server([DAEMON], cwd=tempfile.gettempdir())
    matrix = {"type": "float32", "shape": ["rows", "cols"]}
    spec = {"source": LAYERNORM, "kernel": "layernorm", "sizes": [{"rows": 64, "cols": 4096}],
            "launch": {"grid": ["rows"], "block": [256]},
            "args": [dict(matrix, name="x", init={"normal": [0, 1]}), dict(matrix, name="y", output=True),
                     {"name": "cols", "type": "int32", "value": "cols"}]}
    plain = {"kernel": {"kernel": "plain", "launch": {"grid": [1], "block": ["rows"]}}}
    for what, more in (("no reference, 1 trial", {"trials": 1}), ("plain kernel, 1 trial", {"trials": 1, "expect": plain}),
                       ("plain kernel, 3 trials", {"expect": plain})):
        times = []
        for _ in range(8):
            start = time.perf_counter()
            answer = server.ask("kernel/validate", dict(spec, **more))
            times.append((time.perf_counter() - start) * 1000)
            assert answer["result"]["verdict"] == ("pass" if "expect" in more else "unjudged"), answer
        row(what, "%.0f ms" % median(times[1:]), "least %.0f ms" % min(times))
    server.close()


def bench_tensor_cores():
    print("tensor cores on the CPU: an H100's sums, with ideal ones as peers")
    subprocess.run([sys.executable, os.path.join(HERE, "bench_tensor_cores.py"), BUILD], check=True)


def bench_sizes():
    print("whole validations at real sizes")
    subprocess.run([sys.executable, os.path.join(HERE, "bench_sizes.py"), BUILD], check=True)


def bench_machines():
    print("each kernel beside plain C, numba's CUDA simulator and Triton's interpreter (PEERS_PYTHON: a Python with both)")
    subprocess.run([sys.executable, os.path.join(HERE, "bench_peers.py"), BUILD, os.environ.get("PEERS_PYTHON", sys.executable)], check=True)


def bench_programs():
    print("a whole program, nothing kept: nvcc with the same words as peer")
    script = os.path.join(REPOSITORY, "tests/e2e/programs_nvcc.py")
    if subprocess.run([sys.executable, script, DAEMON, "--bench"]).returncode == 77:
        print("  skipped")


def ask_about(folder, env, name, language, text):
    """ms until codeLens and documentSymbol are answered."""
    uri = "file://%s/%s" % (folder, name)
    server = Server([DAEMON], True, cwd=folder, env=env)
    server.send(LSP_INITIALIZE)
    server.read()
    server.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": {
        "uri": uri, "languageId": language, "version": 1, "text": text}}})
    while server.read().get("method") != "textDocument/publishDiagnostics":
        pass
    start = time.perf_counter()
    for method in ("codeLens", "documentSymbol"):
        server.ask("textDocument/" + method, {"textDocument": {"uri": uri}})
    took = (time.perf_counter() - start) * 1000
    server.ask("shutdown")
    server.close()
    return took


def bench_turns():
    """The longest turns of the loop in processor time; what else would run waits for so long."""
    meter = BUILD + "/tests/bench/loop_turns.so"
    print("turns of the loop: the three longest while a client sends all at once (no peer)")
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, LD_PRELOAD=meter, LOOP_TURNS=folder + "/turns", XDG_STATE_HOME=folder)
        for name, data in floods():
            start = time.perf_counter()
            subprocess.run([DAEMON], input=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env,
                           cwd=folder, timeout=300)
            seconds = time.perf_counter() - start
            with open(folder + "/turns") as f:
                row(name, f.read().strip().replace(" ", ", ") + " ms", "%.2f s in all" % seconds)
        for name, text in large_sources():
            start = time.perf_counter()
            server = Server([DAEMON], cwd=folder, env=env)
            answer = server.ask("kernel/check", {"source": text, "quick": True})
            seconds = time.perf_counter() - start
            server.close()
            with open(folder + "/turns") as f:
                row(name, f.read().strip().replace(" ", ", ") + " ms", "%.2f s in all, %s" % (
                    seconds, answer["result"]["mode"] if "result" in answer else answer["error"]["message"]))
        for name, language, text in large_documents():
            took = ask_about(folder, env, name, language, text)
            with open(folder + "/turns") as f:
                row("%s of %d KB in an editor" % (name, len(text) >> 10), f.read().strip().replace(" ", ", ") + " ms",
                    "lenses and symbols %.0f ms" % took)


def main():
    sections = ["start", "latency", "exit", "check", "heavy", "cached", "parallel", "edit", "document", "models", "emulator", "tensor_cores", "sizes", "machines", "programs", "turns"]
    for name in sys.argv[2:] or sections:
        globals()["bench_" + name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
