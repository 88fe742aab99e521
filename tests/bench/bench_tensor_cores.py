#!/usr/bin/env python3
"""Tensor cores on the emulator: an H100's sums against ideal ones, whole instructions.

usage: bench_tensor_cores.py BUILD_FOLDER [EXTENSION]

Each row is a kernel of one block that repeats one instruction on random data, on one thread: nanoseconds of
processor time per product, the least of several runs that take turns, and their ratio."""
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kernels/tensor_cores"))
from case_kernels import BITS, Form  # noqa: E402

FORMS = ["wgmma.m64n256k16.f32.f16.f16", "wgmma.m64n256k16.f32.bf16.bf16", "wgmma.m64n256k32.f32.e4m3.e4m3",
         "wgmma.m64n256k8.f32.tf32.tf32", "wgmma.m64n256k16.f16.f16.f16", "wgmma.m64n64k16.f32.bf16.bf16",
         "mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k16.f32.bf16.bf16.f32", "mma.m16n8k8.f32.tf32.tf32.f32",
         "mma.m16n8k16.f16.f16.f16.f16", "mma.m16n8k32.f32.e4m3.e4m3.f32", "wmma.m16n16k16.f32.f16.f16.f32",
         "wgmma.sp.m64n128k32.f32.f16.f16"]
ROUNDS, RUNS = 200, 7


def text(form, rounds):
    d, a, b, c = form.counts()
    group = form.family == "wgmma"
    vector = lambda letter, count: "{" + ", ".join(f"%{letter}{k}" for k in range(count)) + "}"
    loads = "".join(f"ld.global.b32 %{letter}{k}, [%at+{(k * 7 + ord(letter)) * 128}];\n"
                    for letter, count in (("a", a), ("b", b)) for k in range(count))
    operands = "0x4000004000800000" if form.b_rows == 64 else "0x4000004000010000"
    sparse = ", %e, 0" if form.sparse else ""
    if group:
        product = (f"{form.instruction()} {vector('d', d)}, {vector('a', a)}, {operands}{sparse}, %p, 1, 1"
                   + (", 0" if BITS[form.a] == 16 else "") + ";\nwgmma.commit_group.sync.aligned;\n"
                   "wgmma.wait_group.sync.aligned 0;\n")
    else:
        product = f"{form.instruction()} {vector('d', d)}, {vector('a', a)}, {vector('b', b)}, {vector('d', c)}{sparse};\n" * 8
    return f""".version 9.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{{
.reg .b32 %d<130>, %a<9>, %b<17>, %n, %l, %w, %s, %e; .reg .pred %p, %q; .reg .b64 %at, %to, %next;
.shared .align 1024 .b8 image[40960];
mov.u32 %e, 0x44444444; setp.eq.u32 %p, 0, 0; mov.u32 %l, %tid.x;
ld.param.u64 %at, [in]; ld.param.u64 %to, [out]; mad.wide.u32 %at, %l, 4, %at; mad.wide.u32 %to, %l, 4, %to;
mov.u32 %n, 0; mov.u64 %next, %at; mov.u32 %s, image; mad.lo.u32 %s, %l, 4, %s;
fill: ld.global.b32 %w, [%next]; st.shared.b32 [%s], %w; add.u64 %next, %next, 512; add.u32 %s, %s, 512; add.u32 %n, %n, 1;
setp.lt.u32 %q, %n, 80; @%q bra fill;
{"fence.proxy.async.shared::cta;" if group else ""} bar.sync 0; {"wgmma.fence.sync.aligned;" if group else ""}
{loads}{"".join(f"mov.b32 %d{k}, 0;" for k in range(max(d, c)))}
mov.u32 %n, 0;
again: {product}add.u32 %n, %n, 1; setp.lt.u32 %q, %n, {rounds}; @%q bra again;
{"".join(f"xor.b32 %d0, %d0, %d{k};" for k in range(1, d))}
st.global.b32 [%to], %d0; ret;
}}
"""


def data(name):
    """About normal: exponents near that of 1."""
    r = random.Random(7)
    out = bytearray()
    bits = BITS[name]
    exponent, fraction = {"f16": (5, 10), "bf16": (8, 7), "tf32": (8, 23), "e4m3": (4, 3), "e5m2": (5, 2)}[name]
    for _ in range(49152 * 8 // bits):
        e = (1 << exponent - 1) - 1 - min(int(r.expovariate(0.7)), 6)
        out += (r.getrandbits(1) << bits - 1 | e << fraction | r.getrandbits(fraction)).to_bytes(bits // 8, "little")
    return bytes(out)


def run(program, folder, form, ideal, extension):
    threads = 32 * form.warps
    done = subprocess.run(
        [program, folder / "k.ptx", *(["--ideal-sums"] if ideal else []), *(["--extension", extension] if extension else []),
         "--threads", "1", "--checks", "memory", "--repeat", "3", "--block", str(threads),
         f"in:u8:49152:file={folder / 'in'}:in", f"out:u32:{threads}:zero:out"], capture_output=True, text=True)
    took = re.search(r"done ([0-9.]+) ms", done.stdout)
    if not took:
        sys.exit(f"{form.name}: {done.stdout}{done.stderr}")
    return float(took[1])


def main():
    program = os.path.join(sys.argv[1], "tests/unit/gpu/ptx_run")
    extension = sys.argv[2] if len(sys.argv) > 2 else None
    print(f"{'instruction':36} {'ideal ns':>9} {'H100 ns':>9} {'ratio':>6}")
    for name in FORMS:
        form = Form(name)
        form.b_rows = 32 * form.k // form.kept
        rounds = ROUNDS if form.family == "wgmma" else 10 * ROUNDS
        products = form.m * form.n * form.kept * rounds * (1 if form.family == "wgmma" else 8)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "k.ptx").write_text(text(form, rounds))
            (folder / "in").write_bytes(data(form.a))
            best = [min(times) for times in zip(*((run(program, folder, form, True, extension),
                                                   run(program, folder, form, False, extension)) for _ in range(RUNS)))]
        ideal, h100 = (t * 1e6 / products for t in best)
        print(f"{name:36} {ideal:9.4f} {h100:9.4f} {h100 / ideal:6.2f}", flush=True)


if __name__ == "__main__":
    main()
