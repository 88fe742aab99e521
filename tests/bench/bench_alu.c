/* bench_alu: nanoseconds per warp operation (32 lanes) of PTX arithmetic, for each vector
 * extension this CPU has, with all lanes and with half of them.
 *
 * usage: bench_alu. Prints a table; the best of several runs. */
#include "tests/unit/gpu/alu_room.h"

#include <stdio.h>
#include <time.h>

static const struct {
    const char *spelling, *widths;
} operations[] = {
    {"add.s32", "www"},
    {"mad.lo.s32", "wwww"},
    {"mul.wide.s32", "dww"},
    {"add.s64", "ddd"},
    {"mul.lo.s64", "ddd"},
    {"div.u32", "www"},
    {"rem.s32", "www"},
    {"div.s64", "ddd"},
    {"shl.b32", "www"},
    {"bfe.u32", "wwww"},
    {"prmt.b32", "wwww"},
    {"lop3.b32", "wwwww"},
    {"popc.b32", "ww"},
    {"dp4a.s32.s32", "wwww"},
    {"setp.lt.s32", "pww"},
    {"setp.lt.f32", "pww"},
    {"setp.lt.and.s64", "pddp"},
    {"selp.b32", "wwwp"},
    {"mov.b32", "ww"},
    {"add.f32", "www"},
    {"fma.rn.f32", "wwww"},
    {"fma.rm.f32", "wwww"},
    {"fma.rn.ftz.f32", "wwww"},
    {"div.rn.f32", "www"},
    {"max.f32", "www"},
    {"fma.rn.f64", "dddd"},
    {"fma.rn.f16x2", "wwww"},
    {"fma.rn.bf16x2", "wwww"},
    {"add.f16", "hhh"},
    {"ex2.approx.ftz.f32", "ww"},
    {"lg2.approx.f32", "ww"},
    {"sin.approx.f32", "ww"},
    {"tanh.approx.f32", "ww"},
    {"rsqrt.approx.f32", "ww"},
    {"cvt.rn.f32.s32", "ww"},
    {"cvt.rzi.s32.f32", "ww"},
    {"cvt.u64.u32", "dw"},
    {"cvt.f32.f16", "wh"},
    {"cvt.rn.f16.f32", "hw"},
    {"cvt.rn.bf16x2.f32", "www"},
    {"cvt.rn.satfinite.e4m3x2.f32", "hww"},
    {"cvt.rz.bf16.f32", "hw"},
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_of(struct alu_room *room, uint32_t mask) {
    double best = 1e30;
    for (unsigned run = 0; run < 7; run++) {
        const unsigned long times = 20000;
        double start = now();
        alu_room_repeat(room, mask, times);
        double each = (now() - start) / (double)times;
        best = each < best ? each : best;
    }
    return best;
}

/* Ordinary numbers of every type: floats between 1 and 2, small integers elsewhere. */
static void fill(struct alu_room *room) {
    for (unsigned k = 0; k < room->sources; k++) {
        for (unsigned l = 0; l < ALU_LANES; l++) {
            room->in[k][l] = room->source_bytes[k] == 8   ? 0x3ff0123000000000u + l
                             : room->source_bytes[k] == 4 ? 0x3f801230u + l
                                                          : 0x3c01u + l;
        }
    }
}

int main(void) {
    static const char *const extensions[] = {"avx512", "avx2", "baseline", "neon"};
    printf("%-30s", "ns per warp");
    for (unsigned e = 0; e < 4; e++) {
        printf(bind_force_extension(extensions[e]) == 0 ? "%10s      half" : "",
               extensions[e]);
    }
    printf("\n");
    for (unsigned k = 0; k < sizeof(operations) / sizeof(operations[0]); k++) {
        printf("%-30s", operations[k].spelling);
        for (unsigned e = 0; e < 4; e++) {
            struct alu_room room;
            if (bind_force_extension(extensions[e]) < 0 ||
                !alu_room_bind(&room, operations[k].spelling, operations[k].widths,
                               false) ||
                room.run == NULL) {
                continue;
            }
            fill(&room);
            alu_room_run(&room, UINT32_MAX);
            printf("%10.1f", best_of(&room, UINT32_MAX));
            alu_room_run(&room, 0x55555555);
            printf("%10.1f", best_of(&room, 0x55555555));
        }
        printf("\n");
    }
    return 0;
}
