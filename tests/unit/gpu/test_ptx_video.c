/* Video instructions on parts of a word. The parts of a are 01 fe 80 00, of b ff 01 80
 * 7f; results by hand from PTX ISA, "SIMD Video Instructions". */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const struct {
    const char *instruction;
    uint32_t want; /* c is 1000 */
} cases[] = {
    {"vabsdiff4.u32.u32.u32 %r0, %a, %b, %c", 0xfefd007f},
    {"vabsdiff4.u32.u32.u32.add %r0, %a, %b, %c", 1000 + 254 + 253 + 127},
    {"vabsdiff4.s32.s32.s32 %r0, %a, %b, %c", 0x0203007f},
    {"vabsdiff2.u32.u32.u32 %r0, %a, %b, %c", 0xfd03007f},
    {"vabsdiff2.u32.u32.u32.add %r0, %a, %b, %c", 1000 + 0xfd03 + 0x7f},
    {"vadd4.u32.u32.u32 %r0, %a, %b, %c", 0x00ff007f},
    {"vadd4.u32.u32.u32.sat %r0, %a, %b, %c", 0xffffff7f},
    {"vadd4.s32.s32.s32.sat %r0, %a, %b, %c", 0x00ff807f},
    {"vadd4.s32.s32.s32.add %r0, %a, %b, %c", 1000 + 0 - 1 - 256 + 127},
    {"vadd2.u32.u32.u32 %r0, %a, %b, %c", 0x00ff007f},
    {"vsub4.s32.u32.u32.sat %r0, %a, %b, %c", 0x807f0081},
    {"vsub2.u32.u32.u32.sat %r0, %a, %b, %c", 0},
    {"vmin2.s32.s32.s32 %r0, %a, %b, %c", 0xff018000},
    {"vmax4.u32.u32.u32 %r0, %a, %b, %c", 0xfffe807f},
    {"vmax2.s32.s32.u32 %r0, %a, %b, %c", 0xff01807f},
    {"vmin4.u32.u32.s32 %r0, %a, 0x7f7f7f7f, %c", 0x017f7f00},
};

Test(ptx_video, parts_are_apart) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char body[600];
        snprintf(body, sizeof body,
                 ".visible .entry k(.param .u64 out)\n"
                 "{ .reg .b32 %%r0, %%a, %%b, %%c; .reg .b64 %%at;\n"
                 "mov.u32 %%a, 0x01fe8000; mov.u32 %%b, 0xff01807f; mov.u32 %%c, 1000;\n"
                 "%s; ld.param.u64 %%at, [out]; st.u32 [%%at], %%r0; ret; }\n",
                 cases[k].instruction);
        struct machine_room *r = room_new(body, NULL);
        uint32_t *out = room_buffer(r, "out", 4, MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
        cr_expect_eq(room_launch(r, 1, 1), MACHINE_DONE);
        cr_expect_eq(*out, cases[k].want, "%s: %08x instead of %08x",
                     cases[k].instruction, *out, cases[k].want);
        room_free(r);
    }
}
