/* Integer arithmetic against cases written from the text of PTX ISA 9.0. */
#include "alu_room.h"

#include <criterion/criterion.h>

static const struct {
    const char *spelling, *widths;
    uint64_t a, b, c, result;
} cases[] = {
    {"add.s32", "www", 0x7fffffff, 1, 0, 0x80000000},
    {"add.sat.s32", "www", 0x7fffffff, 1, 0, 0x7fffffff},
    {"sub.sat.s32", "www", 0x80000000, 1, 0, 0x80000000},
    {"mul.hi.s64", "ddd", UINT64_C(0x8000000000000000), 2, 0, UINT64_MAX},
    {"mul.wide.s32", "dww", 0xffffffff, 2, 0, UINT64_C(0xfffffffffffffffe)},
    {"mad.lo.s32", "wwww", 3, 5, 7, 22},
    {"div.s32", "www", 0x80000000, 0xffffffff, 0, 0x80000000},
    {"rem.s32", "www", 0x80000000, 0xffffffff, 0, 0},
    {"div.u32", "www", 0xffffffff, 1, 0, 0xffffffff},
    {"shl.b32", "www", 1, 32, 0, 0},
    {"shr.s32", "www", 0x80000000, 99, 0, 0xffffffff},
    {"setp.lt.s32", "pww", 0xffffffff, 0, 0, 1},
    {"setp.ltu.f32", "pww", 0x7fc00000, 0, 0, 1},
    {"selp.b32", "wwwp", 4, 5, 1, 4},
    {"cvt.rzi.s32.f32", "ww", 0xc0200000, 0, 0, 0xfffffffe},
    {"cvt.rn.f32.s32", "ww", 16777217, 0, 0, 0x4b800000},
    {"fma.rn.f32", "wwww", 0x40000000, 0x40400000, 0x3f800000, 0x40e00000},
    {"fma.rm.f32", "wwww", 0x3f800001, 0x3f800001, 0, 0x3f800002},
    {"fma.rp.f32", "wwww", 0x3f800001, 0x3f800001, 0, 0x3f800003},
};

Test(ptx_alu_integer, first_cases) {
    static const char *const extensions[] = {"avx512", "avx2", "baseline", "neon"};
    unsigned ran = 0;
    for (unsigned e = 0; e < 4; e++) {
        if (bind_force_extension(extensions[e]) < 0) {
            continue;
        }
        for (unsigned k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
            struct alu_room room;
            cr_assert(alu_room_bind(&room, cases[k].spelling, cases[k].widths, false));
            cr_assert(room.run != NULL, "%s is refused", cases[k].spelling);
            for (unsigned l = 0; l < ALU_LANES; l++) {
                room.in[0][l] = cases[k].a;
                room.in[1][l] = cases[k].b;
                room.in[2][l] = cases[k].c;
            }
            alu_room_run(&room, UINT32_MAX);
            for (unsigned l = 0; l < ALU_LANES; l++) {
                cr_expect(room.out[l] == cases[k].result, "%s %s: %llx, not %llx",
                          extensions[e], cases[k].spelling,
                          (unsigned long long)room.out[l],
                          (unsigned long long)cases[k].result);
            }
            ran++;
        }
    }
    cr_assert(ran > 0);
}
