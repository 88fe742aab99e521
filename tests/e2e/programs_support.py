"""What the tests of kernel/run share: a toolkit whose nvcc is gcc, and programs as nvcc would have translated them.

A program here is C. Where it launches a kernel, it holds what nvcc makes of one: PTX in a fat binary (the layout is that
of NVIDIA's cuobjdump and fatbinary_section.h) and the calls of `k<<<1, n>>>(…)`. So these tests need no toolkit.
"""
import os, shutil

import validate_support
from validate_support import Tap  # noqa: F401: for those who import this
import scratch

NVCC = """#!/bin/bash
# Units are C; of nvcc's own words only the host compiler's are passed on.
out= units=() words=()
while [ $# -gt 0 ]; do
    case $1 in
    -o) out=$2; shift ;;
    -Xcompiler) words+=("$2"); shift ;;
    -cudart) shift ;;
    -Xlinker=--warn-*) words+=("-Wl,${1#-Xlinker=}") ;;
    -arch=*|-code=*|-lineinfo|--no-compress|-l*|-L*|-std=*|-Xlinker=*) ;;
    -include) words+=(-include "$2"); shift ;;
    *.cu) units+=("$1") ;;
    -*) words+=("$1") ;;
    esac
    shift
done
exec gcc "${words[@]}" -x c "${units[@]}" -L../lib -lcudart -o "$out"
"""

# Writes x[i] = i for i < n, one block of as many threads as it is told. The PTX says line 7 of its own file.
KERNEL = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct { unsigned x, y, z; } dim3;
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaUnregisterFatBinary(void **);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
int __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMemcpy(void *, const void *, size_t, int);
int cudaDeviceSynchronize(void), cudaGetLastError(void);

static const char ptx[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry count(.param .u64 p0, .param .u32 p1)\n{\n"
    ".reg .b32 %r<4>;\n.reg .b64 %rd<5>;\n.reg .pred %p<2>;\n"
    ".loc 1 7 5\n"
    "ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p1];\nmov.u32 %r2, %tid.x;\n"
    "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra DONE;\n"
    "cvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "st.global.u32 [%rd4], %r2;\nDONE: ret;\n}\n"
    ".file 1 \"UNIT\"\n";
static struct { unsigned magic, version; const void *data; void *more; } wrapper = {0x466243b1, 1};
static char image[16 + 64 + sizeof ptx + 8];
static void **handle;
static void put(size_t at, unsigned long long value, size_t size) { memcpy(image + at, &value, size); }
static void stub(void *p, unsigned n);

__attribute__((constructor)) static void begin(void) {
    size_t len = (sizeof ptx + 7) / 8 * 8;
    put(0, 0xba55ed50, 4); put(4, 1, 2); put(6, 16, 2); put(8, 64 + len, 8);
    put(16, 1, 2); put(18, 0x101, 2); put(20, 64, 4); put(24, len, 8); put(44, 90, 4); put(56, 0x100011, 8);
    memcpy(image + 80, ptx, sizeof ptx);
    wrapper.data = image;
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)stub, "count", "count", -1, 0, 0, 0, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}
__attribute__((destructor)) static void end(void) { __cudaUnregisterFatBinary(handle); }
static void stub(void *p, unsigned n) {
    dim3 g, b; size_t s; void *stream, *args[] = {&p, &n};
    if (!__cudaPopCallConfiguration(&g, &b, &s, &stream)) cudaLaunchKernel((const void *)stub, g, b, args, s, stream);
}
#line 1 "UNIT"
int main(int argc, char **argv) {
    unsigned threads = argc > 1 ? atoi(argv[1]) : 4, bad = 0;
    int h[4] = {0}, *d;
    cudaMalloc((void **)&d, sizeof h);
    if (!__cudaPushCallConfiguration((dim3){1, 1, 1}, (dim3){threads, 1, 1}, 0, 0)) stub(d, threads); /* line 5 */
    cudaDeviceSynchronize();
    /* line 7: the kernel's, by its PTX */
    cudaMemcpy(h, d, sizeof h, 2);
    for (int i = 0; i < 4; i++) bad += h[i] != i;
    printf("%u wrong\n", bad);
    if (argc < 3) cudaFree(d);
    return 0;
}
"""


def kernel(unit="r0/count.cu"):
    return KERNEL.replace("UNIT", unit)


class Daemon(validate_support.Daemon):
    """With that toolkit and no other, and a folder for programs."""

    def __init__(self, program, nvcc=NVCC):
        self.toolkit = scratch.folder("programs-toolkit-")
        os.makedirs(self.toolkit + "/bin")
        if nvcc:
            with open(self.toolkit + "/bin/nvcc", "w") as f:
                f.write(nvcc)
            os.chmod(self.toolkit + "/bin/nvcc", 0o755)
        super().__init__(program, env={"CUDA_HOME": self.toolkit, "UPSKILLD_CUDA": "", "PATH": "/usr/bin:/bin",
                                       "XDG_DATA_HOME": self.toolkit + "/none"})
        self.work = self.home + "/work/"

    def put(self, name, text):
        os.makedirs(os.path.dirname(self.work + name), exist_ok=True)
        with open(self.work + name, "w") as f:
            f.write(text)
        return name

    def run(self, name, *args, **more):
        answer = self.ask("kernel/run", dict(more, path=name, args=[str(a) for a in args]))
        assert "result" in answer, answer
        return answer["result"]

    def run_text(self, text, *args, **more):
        return self.run(self.put("program.cu", text), *args, **more)

    def close(self):
        shutil.rmtree(self.toolkit, ignore_errors=True)
        return super().close()
