/* Video instructions: what they come to. Some by hand, where the parts of a are 01 fe 80
 * 00 and those of b ff 01 80 7f, from PTX ISA, "SIMD Video Instructions"; and the lines
 * of tests/kernels/ptx/video.txt, which make_video.py computes from its pseudocode. */
#include "base/buf.h"
#include "base/file.h"
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *instruction;
    uint32_t want; /* c is 1000 */
} cases[] = {
    {"vabsdiff4.u32.u32.u32 d, a, b, c", 0xfefd007f},
    {"vabsdiff4.u32.u32.u32.add d, a, b, c", 1000 + 254 + 253 + 127},
    {"vabsdiff4.s32.s32.s32 d, a, b, c", 0x0203007f},
    {"vabsdiff2.u32.u32.u32 d, a, b, c", 0xfd03007f},
    {"vabsdiff2.u32.u32.u32.add d, a, b, c", 1000 + 0xfd03 + 0x7f},
    {"vadd4.u32.u32.u32 d, a, b, c", 0x00ff007f},
    {"vadd4.u32.u32.u32.sat d, a, b, c", 0xffffff7f},
    {"vadd4.s32.s32.s32.sat d, a, b, c", 0x00ff807f},
    {"vadd4.s32.s32.s32.add d, a, b, c", 1000 + 0 - 1 - 256 + 127},
    {"vadd2.u32.u32.u32 d, a, b, c", 0x00ff007f},
    {"vsub4.s32.u32.u32.sat d, a, b, c", 0x807f0081},
    {"vsub2.u32.u32.u32.sat d, a, b, c", 0},
    {"vmin2.s32.s32.s32 d, a, b, c", 0xff018000},
    {"vmax4.u32.u32.u32 d, a, b, c", 0xfffe807f},
    {"vmax2.s32.s32.u32 d, a, b, c", 0xff01807f},
    {"vmin4.u32.u32.s32 d, a, 0x7f7f7f7f, c", 0x017f7f00},
    {"vavrg4.u32.u32.u32 d, a, b, c", 0x80808040},
    {"vset4.u32.u32.lt d, a, b, c", 0x01000001},
    {"vadd.s32.s32.s32.sat d.b1, a.b2, b.b1, c", 0x80e8},
    {"vmad.s32.s32.s32.shr7 d, a.h1, b.b0, -c", (0x1fe * 0x7f - 1000) / 128},
};

static void expect(const char *instruction, uint32_t a, uint32_t b, uint32_t c,
                   uint32_t want) {
    char body[600];
    snprintf(body, sizeof body,
             ".visible .entry k(.param .u64 out)\n"
             "{ .reg .b32 a, b, c, d; .reg .b64 at;\n"
             "mov.u32 a, %u; mov.u32 b, %u; mov.u32 c, %u;\n"
             "%s; ld.param.u64 at, [out]; st.u32 [at], d; ret; }\n",
             a, b, c, instruction);
    struct machine_room *r = room_new(body, NULL);
    uint32_t *out = room_buffer(r, "out", 4, MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
    cr_expect_eq(room_launch(r, 1, 1), MACHINE_DONE);
    cr_expect_eq(*out, want, "%s of %08x %08x %08x: %08x instead of %08x", instruction, a,
                 b, c, *out, want);
    room_free(r);
}

Test(ptx_video, parts_are_apart) {
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        expect(cases[k].instruction, 0x01fe8000, 0xff01807f, 1000, cases[k].want);
    }
}

Test(ptx_video, every_form_is_what_the_manual_says) {
    autobuf text = BUF_INIT(1 << 20);
    unsigned lines = 0;
    cr_assert_eq(file_read(TEST_PTX "/video.txt", &text, NULL), 0);
    for (char *line, *at = text.data; (line = strsep(&at, "\n")) && *line; lines++) {
        uint32_t want, a, b, c;
        int used = 0;
        cr_assert_eq(sscanf(line, "%8x %8x %8x %8x %n", &want, &a, &b, &c, &used), 4);
        expect(line + used, a, b, c, want);
    }
    cr_assert(lines > 500);
}
