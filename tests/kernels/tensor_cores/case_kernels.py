"""PTX kernels for single elements of tensor-core products, run by ptx_run.

A case is one element of d: k elements of a, of b, and c. Each block of a launch makes one
product of eight cases (Tile). The layouts are those of the PTX ISA ("Matrix fragments", "Matrix descriptor"). Of a sparse
product, mma.sp.m16n8k32.f32.f16.f16.f32, a holds what is kept, and one place of every
chunk is kept in all of them: `nibble` of the metadata.
"""
import pathlib
import re
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
    def side(self):
        """Cases of one product."""
        return 1 if self.quad else 8

    @property
    def rows(self):
        return 64 if self.family == "wgmma" else self.m

    @property
    def row_tiles(self):
        """Of a warp."""
        return 2 if self.family == "wgmma" else self.m // 8

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


class Tile:
    """Up to eight cases as one product: case j has column j of b and a row of a. All other rows have a's of those
    cases, too, and the other elements of c their c's, so that every lane computes and none may disturb another."""

    def __init__(self, form, cases, first):
        self.form, self.cases = form, cases[first:first + form.side]
        self.size = 8 if form.wide else 4
        self.at = [(0, 0)] if form.quad else [((5 * j + 3 * (first // 8)) % form.rows, j) for j in range(len(self.cases))]
        d, a, b, c = form.counts()
        self.regs = a + b + c
        self.words, self.operand = bytearray(32 * form.warps * self.regs * self.size), bytearray(512)
        case_of = {row: j for j, (row, _) in enumerate(self.at)}
        for row in range(1 if form.quad else form.rows):
            x, _, z = self.cases[case_of.get(row, row % len(self.cases))]
            self.put_row(row, packed(x, BITS[form.a]))
            for column in range(form.side):
                self.put_sum(row, column, z.to_bytes(BITS[form.c] // 8, "little"), a + b)
        for column, (_, y, _) in enumerate(self.cases):
            self.put_column(column, packed(y, BITS[form.b]), a, bool(b))

    def put(self, lane, register, value, byte=0):
        first = (lane * self.regs + register) * self.size + byte
        self.words[first:first + len(value)] = value

    def put_row(self, row, x):
        warp, row, tiles = row // 16 if self.form.warps > 1 else 0, row % 16 if self.form.warps > 1 else row, self.form.row_tiles
        for word in range(len(x) // self.size):
            lane = 0 if self.form.quad else 32 * warp + row % 8 * 4 + word % 4
            register = word if self.form.quad else word // 4 * tiles + row // 8
            self.put(lane, register, x[word * self.size:][:self.size])

    def put_column(self, column, y, first, in_registers):
        for word in range(len(y) // self.size if in_registers else 0):
            lane, register = (0, word) if self.form.quad else (4 * column + word % 4, word // 4)
            self.put(lane, first + register, y[word * self.size:][:self.size])
        for piece in range(0 if in_registers else len(y) // 16):
            at = piece * 128 + column * 16
            self.operand[at:at + 16] = y[piece * 16:][:16]

    def sum_place(self, row, column, bits):
        """Lane, register and byte of an accumulator's element."""
        warp, row = (row // 16, row % 16) if self.form.warps > 1 else (0, row)
        tile, lane = row // 8, 32 * warp + 4 * (row % 8) + column // 2
        return (lane, tile, column % 2 * 2) if bits == 16 else (lane, 2 * tile + column % 2, 0)

    def put_sum(self, row, column, value, first):
        lane, register, byte = self.sum_place(row, column, 8 * len(value))
        self.put(lane, first + register, value, byte)

    def sums(self, out):
        bits, count = BITS[self.form.d], self.form.counts()[0]
        for row, column in self.at:
            lane, register, byte = self.sum_place(row, column, bits)
            yield int.from_bytes(out[(lane * count + register) * self.size + byte:][:bits // 8], "little")


class Runner:
    def __init__(self, ptx_run, extension=None):
        self.ptx_run, self.extension = ptx_run, extension

    def run(self, form, cases, nibble=0):
        """cases: (a, b, c) of integers. The d of each, as integers."""
        tiles = [Tile(form, cases, first) for first in range(0, len(cases), form.side)]
        words, operand = (b"".join(getattr(t, part) for t in tiles) for part in ("words", "operand"))
        threads, sums = 32 * form.warps, form.counts()[0] * (8 if form.wide else 4)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "k.ptx").write_text(form.text())
            (folder / "in").write_bytes(words)
            (folder / "operand").write_bytes(operand)
            extension = ["--extension", self.extension] if self.extension else []
            done = subprocess.run(
                [self.ptx_run, folder / "k.ptx", *extension, "--findings", "--threads", "1",
                 "--grid", str(len(tiles)), "--block", str(threads), "--dump", folder,
                 f"in:u8:{len(words)}:file={folder / 'in'}:in",
                 f"operand:u8:{len(operand)}:file={folder / 'operand'}:in",
                 f"out:u8:{len(tiles) * threads * sums}:poison:out",
                 f"u32:{nibble * 0x11111111}"],
                capture_output=True, text=True, timeout=300)
            told = re.findall(r'"code": "(\w+)"', done.stdout)
            if done.returncode or told != ["unconfirmed_sums"] * form.sparse:  # of floats, all of them
                raise RuntimeError(f"{form.name}: {done.returncode} {done.stdout[:2000]} {done.stderr}")
            out = (folder / "out.bin").read_bytes()
        return [d for t, first in zip(tiles, range(0, len(out), threads * sums)) for d in t.sums(out[first:])]


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
