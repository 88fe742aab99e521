/* Races in kernels made at random, against happens-before worked out access by access:
 * two accesses of different threads are in order when a barrier of their block lies
 * between them, or a bar.warp.sync where they are of one warp (PTX ISA 9.0, "Memory
 * Consistency Model"); they conflict when they share a byte, one of them writes and not
 * both are strong. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BLOCKS = 2, WARPS = 3, LANES_OF = 32, THREADS = WARPS * LANES_OF };
enum { PROGRAMS = 1600, MOST_OPS = 9, MOST_ACCESSES = MOST_OPS * LANES_OF };

struct access_made {
    unsigned op, thread, warp, block, barriers, meetings;
    unsigned first, end; /* bytes */
    bool global, writes, strong;
};

struct program_made {
    struct buf text;
    struct access_made all[MOST_ACCESSES];
    unsigned count, barriers, meetings[BLOCKS * WARPS];
    bool plain; /* no strong accesses */
};

static uint64_t state;
static unsigned below(unsigned n) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(state >> 33) % n;
}

static const char head[] =
    ".visible .entry k(.param .u64 out)\n"
    "{ .shared .align 16 .b8 s[4096]; .reg .b32 %r<9>, %t, %b, %a, %l, %w, %who;\n"
    ".reg .b16 %h<2>; .reg .b64 %rd<9>, %o; .reg .pred %p;\n"
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %a, s; mov.u32 %l, %laneid;\n"
    "mad.lo.u32 %who, %b, 96, %t; shr.u32 %w, %who, 5; ld.param.u64 %o, [out];\n"
    "shl.b32 %r0, %l, 2; cvt.u64.u32 %rd0, %r0; cvt.u64.u32 %rd1, %l; mov.u16 %h0, 7;\n"
    "add.u32 %r4, %a, %r0; add.u64 %rd4, %o, %rd0;\n"    /* a word of each lane */
    "add.u32 %r1, %a, %l; add.u64 %rd2, %o, %rd1;\n"     /* a byte of each lane */
    "add.u32 %r5, %r4, %r0; add.u64 %rd6, %rd4, %rd0;\n" /* two words of each lane */
    "mov.u64 %rd7, 7;\n";

enum how { LOAD, STORE, LOAD_VOLATILE, STORE_VOLATILE, ADD, HOWS };

/* Lanes of one warp access; stride 0: all of them one place. */
static void add_op(struct program_made *p, unsigned op) {
    static const char *const words[HOWS] = {"ld", "st", "ld.volatile", "st.volatile",
                                            "red"};
    enum how how = (enum how)below(p->plain ? 2 : HOWS);
    bool global = below(2), one_lane = below(2), byte = how != ADD && below(4) == 0;
    unsigned size = byte ? 1 : how < ADD && below(3) == 0 ? 8 : 4;
    unsigned stride = one_lane ? 0 : below(2) * size;
    unsigned warp = below(BLOCKS * WARPS), lane = below(3);
    unsigned at = size == 8 ? 0 : (below(4) ? 0 : 4) + (byte ? below(4) : 0);
    unsigned who = one_lane ? warp * LANES_OF + lane : warp;
    buf_addf(&p->text, "setp.eq.u32 %%p, %s, %u; @%%p %s.%s%s.%s ",
             one_lane ? "%who" : "%w", who, words[how], global ? "global" : "shared",
             how == ADD ? ".add" : "",
             size == 1   ? "u8"
             : size == 4 ? "u32"
                         : "u64");
    static const char *const shared[] = {"%a", "%r1", "%r4", "%r5"},
                             *const in_global[] = {"%o", "%rd2", "%rd4", "%rd6"};
    unsigned base = stride == 0 ? 0 : stride == 1 ? 1 : stride == 4 ? 2 : 3;
    autofree char *place = xasprintf("[%s+%u]", (global ? in_global : shared)[base], at);
    const char *value = size == 1 ? "%h0" : size == 4 ? "%b" : "%rd7";
    const char *to = size == 1 ? "%h1" : size == 4 ? "%r8" : "%rd8";
    bool loads = how == LOAD || how == LOAD_VOLATILE;
    buf_addf(&p->text, "%s, %s;\n", loads ? to : place, loads ? place : value);
    for (unsigned l = one_lane ? lane : 0; l < (one_lane ? lane + 1 : LANES_OF); l++) {
        unsigned first = at + l * stride;
        p->all[p->count++] = (struct access_made){.op = op,
                                                  .thread = warp * LANES_OF + l,
                                                  .warp = warp,
                                                  .block = warp / WARPS,
                                                  .barriers = p->barriers,
                                                  .meetings = p->meetings[warp],
                                                  .first = first,
                                                  .end = first + size,
                                                  .global = global,
                                                  .writes = !loads,
                                                  .strong = how > STORE};
    }
}

static void add_order(struct program_made *p) {
    if (below(3) == 0) {
        buf_adds(&p->text, "bar.sync 0;\n");
        p->barriers++;
    } else if (below(2)) {
        unsigned warp = below(BLOCKS * WARPS);
        buf_addf(&p->text, "setp.eq.u32 %%p, %%w, %u; @%%p bar.warp.sync -1;\n", warp);
        p->meetings[warp]++;
    }
}

static void make(struct program_made *p, unsigned number) {
    *p = (struct program_made){.text = BUF_INIT(1 << 16), .plain = number % 2};
    state = number;
    unsigned ops = 2 + below(MOST_OPS - 1);
    buf_adds(&p->text, head);
    for (unsigned op = 0; op < ops; op++) {
        add_op(p, op);
        add_order(p);
    }
    buf_adds(&p->text, "ret; }\n");
}

static bool race(const struct access_made *a, const struct access_made *b) {
    bool same_place = a->global == b->global && (a->global || a->block == b->block) &&
                      a->first < b->end && b->first < a->end;
    bool conflict = (a->writes || b->writes) && !(a->strong && b->strong);
    bool ordered = a->thread == b->thread ||
                   (a->block == b->block && a->barriers != b->barriers) ||
                   (a->warp == b->warp && a->meetings != b->meetings);
    return a->op != b->op && same_place && conflict && !ordered;
}

static bool has_race(const struct program_made *p, bool global) {
    for (unsigned i = 0; i < p->count; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (p->all[i].global == global && race(&p->all[i], &p->all[k])) {
                return true;
            }
        }
    }
    return false;
}

/* What is strong hides nothing that is no race; among plain accesses none is missed. */
static void expect_as_worked_out(const struct program_made *p, const char *code,
                                 long found, bool global, const char *findings) {
    bool expected = has_race(p, global);
    cr_expect(p->plain ? (found > 0) == expected : !found || expected,
              "%s: %ld, but %d by hand in\n%s\n%s", code, found, expected, p->text.data,
              findings);
}

Test(ptx_race_order, kernels_made_at_random_race_where_nothing_orders_them) {
    static struct program_made p;
    unsigned racy = 0, quiet = 0;
    for (unsigned n = 0; n < PROGRAMS; n++) {
        make(&p, n);
        struct machine_config config = {.checks =
                                            MACHINE_CHECK_DEFAULT | MACHINE_CHECK_RACE,
                                        .threads = 1,
                                        .seed = n};
        struct machine_room *r = room_new(p.text.data, &config);
        room_buffer(r, "out", 4096, 0);
        cr_expect_eq(room_launch(r, BLOCKS, THREADS), MACHINE_DONE, "%s", r->refused);
        char *all = room_findings(r);
        expect_as_worked_out(&p, "race", room_found(r, "race", NULL), false, all);
        expect_as_worked_out(&p, "global_race", room_found(r, "global_race", NULL), true,
                             all);
        racy += has_race(&p, true) || has_race(&p, false);
        quiet += !has_race(&p, true) && !has_race(&p, false);
        free(all);
        room_free(r);
        buf_finish(&p.text);
    }
    cr_expect(racy > PROGRAMS / 4 && quiet > PROGRAMS / 4, "%u and %u", racy, quiet);
}
