"""PTX kernels for single elements of tensor-core products, run by ptx_run.

A case is one element of d: k elements of a, of b, and c. Each block of a launch puts one
case into row 0 of the first factor and column 0 of the second; the rest is zero. The
layouts are those of the PTX ISA ("Matrix fragments", "Matrix descriptor"). Of a sparse
product, mma.sp.m16n8k32.f32.f16.f16.f32, a holds what is kept, and one place of every
chunk is kept in all of them: `nibble` of the metadata.
"""
import pathlib
import struct
import subprocess
import tempfile

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "f64": 64, "f32": 32}


class Form:
    """An instruction by its short name: mma.m16n8k16.f32.bf16.bf16.f32, mma.m8n8k4.f64,
    wmma.m16n16k8.tf32, wgmma.m64n8k32.f16.e4m3.e5m2."""

    def __init__(self, name):
        self.name = name
        self.sparse = ".sp." in name
        family, shape, *types = name.replace(".sp.", ".").split(".")
        self.family = family
        self.m, rest = shape[1:].split("n")
        self.m = int(self.m)
        self.n, self.k = (int(x) for x in rest.split("k"))
        if types == ["f64"]:
            types = ["f64"] * 4
        if types == ["tf32"]:
            types = ["f32", "tf32", "tf32", "f32"]
        self.d, self.a, self.b = types[:3]
        self.c = types[3] if len(types) > 3 else self.d
        self.shape = shape
        self.kept = self.k // (2 if self.sparse else 1)

    @property
    def quad(self):
        """Four products of eight lanes each; the first lane has all of the case."""
        return self.shape == "m8n8k4" and self.a == "f16"

    @property
    def wide(self):
        return self.a == "f64"

    @property
    def warps(self):
        return 4 if self.family == "wgmma" else 1

    def counts(self):
        """Registers of d, a, b (in registers), c."""
        if self.quad:
            return 4 if self.d == "f16" else 8, 2, 2, 4 if self.c == "f16" else 8
        size = 8 if self.wide else 4
        rows = 16 if self.family == "wgmma" else self.m
        words = self.kept * BITS[self.a] // 8 // size
        def sums(t):
            return rows * self.n // 32 // (2 if t == "f16" else 1)
        a, b = rows // 8 * max(words // 4, 1), self.n // 8 * max(words // 4, 1) * self.k // self.kept
        if self.family == "wmma" and self.a == "f16":
            a = b = 8
        return sums(self.d), a, 0 if self.family == "wgmma" else b, sums(self.c)

    def instruction(self):
        sp = ".sp" if self.sparse else ""
        if self.family == "mma":
            return f"mma{sp}.sync.aligned.{self.shape}.row.col.{self.d}.{self.a}.{self.b}.{self.c}"
        if self.family == "wmma":
            types = f"{self.d}.{self.c}" if self.a == "f16" else f"{self.d}.{self.a}.{self.b}.{self.c}"
            return f"wmma.mma.sync.aligned.row.col.{self.shape}.{types}"
        return f"wgmma.mma_async{sp}.sync.aligned.{self.shape}.{self.d}.{self.a}.{self.b}"

    def text(self):
        d, a, b, c = self.counts()
        bits = 64 if self.wide else 32
        size = bits // 8
        group = self.family == "wgmma"
        vector = lambda letter, count: "{" + ", ".join(f"%{letter}{k}" for k in range(count)) + "}"
        load = lambda letter, count, first: "".join(
            f"ld.global.b{bits} %{letter}{k}, [%from+{(first + k) * size}];\n" for k in range(count))
        lines = [
            ".version 9.0\n.target sm_90a\n.address_size 64\n",
            ".visible .entry k(.param .u64 in, .param .u64 operand, .param .u64 out, .param .u32 metadata)\n{\n",
            f".reg .b{bits} %d<9>, %a<9>, %b<9>, %c<9>; .reg .b32 %w, %n, %l, %e; .reg .pred %p;\n",
            ".reg .b64 %from, %to, %at;\n.shared .align 1024 .b8 image[1024];\n",
            "mov.u32 %w, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %l, %tid.x; mad.lo.u32 %w, %w, %n, %l;\n",
            "ld.param.u64 %from, [in]; ld.param.u64 %to, [out]; ld.param.u64 %at, [operand];\n",
            f"mad.wide.u32 %from, %w, {(a + b + c) * size}, %from; mad.wide.u32 %to, %w, {d * size}, %to;\n",
            "ld.param.u32 %e, [metadata];\n" if self.sparse else "",
            load("a", a, 0), load("b", b, a), load("d" if group else "c", c, a + b)]
        sparse = ", %e, 0" if self.sparse else ""
        if group:  # b: eight rows of 32 or 64 bytes, as columns of core matrices
            lines += [
                "mov.u32 %n, %ctaid.x; mad.wide.u32 %at, %n, 512, %at; mov.u32 %n, image;\n",
                "mad.lo.u32 %n, %l, 4, %n; mad.wide.u32 %at, %l, 4, %at;\n",
                "ld.global.b32 %w, [%at]; st.shared.b32 [%n], %w;\n",
                "fence.proxy.async.shared::cta; bar.sync 0; wgmma.fence.sync.aligned;\n",
                "setp.eq.u32 %p, 0, 0;\n",
                f"{self.instruction()} {vector('d', d)}, {vector('a', a)}, 0x0000000800080000"
                f"{sparse}, %p, 1, 1",
                ", 0" if BITS[self.a] == 16 else "",
                ";\nwgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"]
        else:
            lines.append(f"{self.instruction()} {vector('d', d)}, {vector('a', a)}, {vector('b', b)}, "
                         f"{vector('c', c)}{sparse};\n")
        lines += ["".join(f"st.global.b{bits} [%to+{k * size}], %d{k};\n" for k in range(d)), "ret;\n}\n"]
        return "".join(lines)


def packed(elements, bits):
    """Elements (integers) as bytes, the first one first."""
    return b"".join(x.to_bytes(bits // 8, "little") for x in elements)


class Runner:
    def __init__(self, ptx_run, extension=None):
        self.ptx_run, self.extension = ptx_run, extension

    def run(self, form, cases, nibble=0):
        """cases: (a, b, c) of integers. The d of each, as integers."""
        d, a, b, c = form.counts()
        size, threads = (8 if form.wide else 4), 32 * form.warps
        regs = a + b + c
        words = bytearray(len(cases) * threads * regs * size)
        operand = bytearray(len(cases) * 512)
        rows = max(form.m // 8 if form.family != "wgmma" else 2, 1)
        for at, (x, y, z) in enumerate(cases):
            def put(lane, register, value):
                first = ((at * threads + lane) * regs + register) * size
                words[first:first + len(value)] = value
            x, y = packed(x, BITS[form.a]), packed(y, BITS[form.b])
            for word in range(len(x) // size):
                put(*((0, word) if form.quad else (word % 4, word // 4 * rows)), x[word * size:][:size])
            for word in range(len(y) // size if b else 0):
                put(*((0, a + word) if form.quad else (word % 4, a + word // 4)), y[word * size:][:size])
            for piece in range(0 if b else len(y) // 16):
                first = at * 512 + piece * 128
                operand[first:first + 16] = y[piece * 16:][:16]
            put(0, a + b, z.to_bytes(BITS[form.c] // 8, "little"))
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "k.ptx").write_text(form.text())
            (folder / "in").write_bytes(words)
            (folder / "operand").write_bytes(operand)
            extension = ["--extension", self.extension] if self.extension else []
            done = subprocess.run(
                [self.ptx_run, folder / "k.ptx", *extension, "--findings", "--threads", "1",
                 "--grid", str(len(cases)), "--block", str(threads), "--dump", folder,
                 f"in:u8:{len(words)}:file={folder / 'in'}:in",
                 f"operand:u8:{len(operand)}:file={folder / 'operand'}:in",
                 f"out:u8:{len(cases) * threads * d * size}:poison:out",
                 f"u32:{nibble * 0x11111111}"],
                capture_output=True, text=True, timeout=300)
            if done.returncode or "findings []" not in done.stdout.replace("\n", ""):
                raise RuntimeError(f"{form.name}: {done.returncode} {done.stdout[:2000]} {done.stderr}")
            out = (folder / "out.bin").read_bytes()
        width = BITS[form.d] // 8
        return [int.from_bytes(out[at * threads * d * size:][:width], "little") for at in range(len(cases))]


def extensions(ptx_run):
    """The vector extensions of this machine's emulator."""
    found = []
    for name in ("baseline", "avx2", "avx512", "neon"):
        done = subprocess.run([ptx_run, "-", "--extension", name], capture_output=True, text=True)
        if "extension" not in done.stderr:
            found.append(name)
    return found


def hex_elements(text, bits):
    width = bits // 4
    return [int(text[k:k + width], 16) for k in range(0, len(text), width)]
