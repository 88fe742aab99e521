/* The machine: control flow, calls, warp operations, barriers. PTX is written here. */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

Test(ptx_machine, a_kernel_writes_what_it_computes) {
    struct machine_room *r =
        room_new(".visible .entry k(.param .u64 out, .param .u32 n)\n"
                 "{ .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p;\n"
                 "ld.param.u64 %rd1, [out];\n"
                 "ld.param.u32 %r1, [n];\n"
                 "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                 "mov.u32 %r4, %tid.x;\n"
                 "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
                 "setp.ge.u32 %p, %r5, %r1;\n"
                 "@%p bra DONE;\n"
                 "mul.wide.u32 %rd2, %r5, 4;\n"
                 "add.s64 %rd3, %rd1, %rd2;\n"
                 "mul.lo.s32 %r6, %r5, 3;\n"
                 "st.global.u32 [%rd3], %r6;\n"
                 "DONE: ret; }\n",
                 NULL);
    uint32_t *out =
        room_buffer(r, "out", 1000 * 4, MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
    room_u32(r, 990);
    cr_assert_eq(room_launch(r, 8, 128), MACHINE_DONE);
    for (uint32_t k = 0; k < 990; k++) {
        cr_assert_eq(out[k], 3 * k);
    }
    uint64_t first = 0;
    cr_assert_eq(machine_unwritten(r->machine, r->address[0], &first), 40);
    cr_assert_eq(first, 990 * 4);
    char *found = room_findings(r);
    cr_assert_str_eq(found, "[]");
    free(found);
    room_free(r);
}
