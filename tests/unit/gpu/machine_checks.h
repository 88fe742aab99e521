#pragma once
/* machine_checks: one launch of a body of PTX, and the one finding that it must give. */
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>

#define HEAD ".visible .entry k(.param .u64 out)\n" ENTRY
#define ENTRY                                                                            \
    "{ .reg .b32 %r<40>, %i; .reg .b64 %rd<20>, %at; .reg .pred %p<10>;\n"               \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;\n"                \
    "mad.lo.s32 %i, %r0, %r1, %r2; mul.wide.u32 %rd0, %i, 4;\n"                          \
    "ld.param.u64 %rd1, [out]; add.s64 %at, %rd1, %rd0;\n"
#define END "ret; }\n"

/* One launch of 64 threads over a buffer of 256 bytes. */
static inline struct machine_room *run(const char *body, unsigned flags) {
    struct machine_room *r = room_new(body, NULL);
    room_buffer(r, "out", 256, flags);
    room_launch(r, 1, 64);
    return r;
}

static inline void expect_finding(struct machine_room *r, enum machine_end end, const char *code,
                           long count, const char *buffer, long offset, unsigned thread) {
    json_t *first = NULL;
    long found = room_found(r, code, &first);
    char *all = room_findings(r);
    cr_expect_eq(r->end, end, "end %d: %s", r->end, all);
    cr_expect_eq(found, count, "%ld %s: %s", found, code, all);
    if (first) {
        json_t *t = json_object_get(first, "thread");
        cr_expect_eq(json_integer_value(json_array_get(t, 0)), thread, "%s", all);
        if (buffer) {
            cr_expect_str_eq(json_get_string(first, "buffer", ""), buffer);
            cr_expect_eq(json_get_integer(first, "offset", -999), offset, "%s", all);
        }
    }
    json_decref(first);
    free(all);
    room_free(r);
}
