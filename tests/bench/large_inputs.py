"""Large and hostile inputs for bench.py: what a client sends at once, sources, open documents."""


def floods():
    """What a hostile or careless client may send at once: name, bytes."""
    def many(count, text):
        return b"".join(text % i + b"\n" for i in range(count))
    return (("100,000 lookups of a job", many(100000, b'{"id":%d,"method":"job/status","params":{"job":"x"}}')),
            ("10,000 questions for the status", many(10000, b'{"id":%d,"method":"daemon/status"}')),
            ("100,000 notifications", b'{"method":"notifications/x"}\n' * 100000),
            ("100,000 broken messages", b"{]\n" * 100000),
            ("100,000 lines of junk", b"xyz\n" * 100000),
            ("one text of 16 MiB", b'{"id":1,"method":"skill/check","params":{"text":"%s"}}\n' % (b"a" * (16 << 20))),
            ("8 million numbers in one message", b'{"id":1,"method":"job/list","x":[%s1]}\n' % (b"1," * (8 << 20))),
            ("8 million numbers in its params", b'{"id":1,"method":"job/list","params":{"x":[%s1]}}\n' % (b"1," * (8 << 20))),
            ("16 MiB of brackets", b"[" * (16 << 20) + b"\n"))


def large_sources():
    """CUDA sources of 4 MB, as kernel/check gets them: name, text."""
    def repeated(text, size=4 << 20):
        return "".join(text.replace("@", str(i)) for i in range(size // len(text)))
    kernel = "__global__ void k@(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] = x[i] * 2.0f + 1.0f; }\n"
    host = "void h@(float *x, int n) { std::vector<float> v(n); k0<<<n / 256, 256>>>(x, n); }\n"
    return (("a 4 MB kernel", "__global__ void k(float *x) {\n%s}\n" % repeated("  x[1] = x[2] + x[3]; // one more\n")),
            ("4 MB of host code and a kernel", kernel.replace("@", "0") + repeated(host)),
            ("4 MB with an error", "#error stop\n" + repeated(kernel + host)),
            ("4 MB with an error to cure", repeated(host) + "__global__ void k0(int *x) { *x = 1 }\n"),
            ("16 MB of host code and a kernel", kernel.replace("@", "0") + repeated(host, 16 << 20)),
            ("600 kernels", repeated(kernel, 600 * len(kernel))))


def large_documents():
    """What an editor may have open: file, language, text."""
    kernel = "__global__ void k@(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] = y[i]; }\n"
    host = "void h@(float *x, int n) { std::vector<float> v(n); k0<<<n / 256, 256>>>(x, n); }\n"
    skill = "---\nname: large\ndescription: Use when something is large.\n---\n# Large\n"
    def repeated(text, count):
        return "".join(text.replace("@", str(i)) for i in range(count))
    return (("k.cu", "cuda-cpp", repeated(kernel, 10000)),
            ("h.cu", "cuda-cpp", kernel + repeated(host, 40000)),
            ("large/SKILL.md", "markdown", skill + repeated("# H @\n`x` [a](b.md) some words\n", 20000)),
            ("build.toml", "toml", repeated("[kernel.k@]\nbackend = \"cuda\"\nsrc = [\"k@.cu\"]\n", 5000)))
