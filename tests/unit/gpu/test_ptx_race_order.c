/* Races in kernels made at random, against happens-before worked out access by access
 * (PTX ISA 9.0, "Memory Consistency Model"): what a thread did is known to all who meet
 * it at a barrier of their block, a barrier that some warps of the block pass, or a
 * bar.warp.sync, and to who takes a flag that was given behind a fence; who only arrives
 * hears nothing; and who knows tells on. Two accesses
 * conflict when they share a byte, one of them writes and not both are strong. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <string.h>

enum { BLOCKS = 2, WARPS = 3, LANES_OF = 32, THREADS = WARPS * LANES_OF };
enum {
    PROGRAMS = 1000,
    MOST_OPS = 12,
    MOST_ACCESSES = MOST_OPS * LANES_OF,
    MOST_ORDERS = MOST_OPS * BLOCKS
};

typedef uint32_t threads_made[BLOCKS * WARPS]; /* by warp, the lanes */

struct order_made {
    unsigned op; /* behind it */
    threads_made who, hear;
};

struct access_made {
    unsigned op, lane, warp, block;
    unsigned first, end; /* bytes */
    bool global, writes, strong;
};

struct program_made {
    struct buf text;
    struct access_made all[MOST_ACCESSES];
    unsigned count;
    struct order_made orders[MOST_ORDERS];
    unsigned order_count;
    unsigned favourite; /* the warp that does most */
    bool plain;         /* no strong accesses */
    bool turns;         /* one access after the other */
    bool exact;         /* no race of it is missed */
    uint32_t some;      /* lanes of a warp that met; 0: none yet */
};

static uint64_t state;
static unsigned below(unsigned n) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(state >> 33) % n;
}

static unsigned any_warp(const struct program_made *p) {
    return below(2) ? p->favourite : below(BLOCKS * WARPS);
}

static const char head[] =
    ".visible .entry k(.param .u64 out)\n"
    "{ .shared .align 16 .b8 s[4096]; .reg .b32 %r<9>, %t, %b, %a, %l, %w, %who;\n"
    ".reg .b16 %h<2>; .reg .b64 %rd<9>, %o, %s<4>; .reg .pred %p, %q;\n"
    "mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %a, s; mov.u32 %l, %laneid;\n"
    "mad.lo.u32 %who, %b, 96, %t; shr.u32 %w, %who, 5; ld.param.u64 %o, [out];\n"
    "shl.b32 %r0, %l, 2; cvt.u64.u32 %rd0, %r0; cvt.u64.u32 %rd1, %l; mov.u16 %h0, 7;\n"
    "add.u32 %r4, %a, %r0; add.u64 %rd4, %o, %rd0;\n"    /* a word of each lane */
    "add.u32 %r1, %a, %l; add.u64 %rd2, %o, %rd1;\n"     /* a byte of each lane */
    "add.u32 %r5, %r4, %r0; add.u64 %rd6, %rd4, %rd0;\n" /* two words of each lane */
    "mov.u64 %rd7, 7; cvt.u64.u32 %s0, %a; cvta.shared.u64 %s0, %s0;\n" /* generic */
    "add.u64 %s1, %s0, %rd1; add.u64 %s2, %s0, %rd0; add.u64 %s3, %s2, %rd0;\n";

enum how { LOAD, STORE, LOAD_VOLATILE, STORE_VOLATILE, ADD, HOWS };

/* The text's order in time, which orders no memory: each waits for its number. */
static void turn_begin(struct program_made *p, unsigned op) {
    if (p->turns) {
        buf_addf(&p->text,
                 "@!%%p bra S%u;\nW%u: ld.relaxed.gpu.global.u32 %%r6, [%%o+4092];\n"
                 "setp.ne.u32 %%q, %%r6, %u; @%%q bra W%u;\n",
                 op, op, op, op);
    }
}

static void turn_end(struct program_made *p, unsigned op, unsigned lane) {
    if (p->turns) {
        buf_addf(&p->text,
                 "setp.eq.u32 %%q, %%l, %u; @%%q red.relaxed.gpu.global.add.u32 "
                 "[%%o+4092], 1;\nS%u:\n",
                 lane, op);
    }
}

/* Lanes of one warp access; stride 0: all of them one place. */
static void add_op(struct program_made *p, unsigned op) {
    static const char *const words[HOWS] = {"ld", "st", "ld.volatile", "st.volatile",
                                            "red"};
    enum how how = (enum how)below(p->plain ? 2 : HOWS);
    bool global = below(2), one_lane = below(2), byte = how != ADD && below(4) == 0;
    bool generic = below(3) == 0;
    unsigned size = byte ? 1 : how < ADD && below(3) == 0 ? 8 : 4;
    unsigned stride = one_lane ? 0 : below(2) * size;
    unsigned warp = any_warp(p), lane = below(3);
    unsigned at = size == 8 ? 0 : (below(4) ? 0 : 4) + (byte ? below(4) : 0);
    unsigned who = one_lane ? warp * LANES_OF + lane : warp;
    buf_addf(&p->text, "setp.eq.u32 %%p, %s, %u;\n", one_lane ? "%who" : "%w", who);
    turn_begin(p, op);
    buf_addf(&p->text, "@%%p %s%s%s.%s ", words[how],
             generic  ? ""
             : global ? ".global"
                      : ".shared",
             how == ADD ? ".add" : "",
             size == 1   ? "u8"
             : size == 4 ? "u32"
                         : "u64");
    static const char *const shared[] = {"%a", "%r1", "%r4", "%r5"},
                             *const by_generic[] = {"%s0", "%s1", "%s2", "%s3"},
                             *const in_global[] = {"%o", "%rd2", "%rd4", "%rd6"};
    unsigned base = stride == 0 ? 0 : stride == 1 ? 1 : stride == 4 ? 2 : 3;
    autofree char *place = xasprintf("[%s+%u]",
                                     (global    ? in_global
                                      : generic ? by_generic
                                                : shared)[base],
                                     at);
    const char *value = size == 1 ? "%h0" : size == 4 ? "%b" : "%rd7";
    const char *to = size == 1 ? "%h1" : size == 4 ? "%r8" : "%rd8";
    bool loads = how == LOAD || how == LOAD_VOLATILE;
    buf_addf(&p->text, "%s, %s;\n", loads ? to : place, loads ? place : value);
    turn_end(p, op, one_lane ? lane : 0);
    for (unsigned l = one_lane ? lane : 0; l < (one_lane ? lane + 1 : LANES_OF); l++) {
        unsigned first = at + l * stride;
        p->all[p->count++] = (struct access_made){.op = op,
                                                  .lane = l,
                                                  .warp = warp,
                                                  .block = warp / WARPS,
                                                  .first = first,
                                                  .end = first + size,
                                                  .global = global,
                                                  .writes = !loads,
                                                  .strong = how > STORE};
    }
}

/* ---- what orders ---- */

static struct order_made *order(struct program_made *p, unsigned op) {
    struct order_made *x = &p->orders[p->order_count++];
    *x = (struct order_made){.op = op};
    return x;
}

/* Every block for itself. */
static void add_barrier(struct program_made *p, unsigned op) {
    buf_adds(&p->text, below(2) ? "bar.sync 0;\n" : "bar.sync 2, 96;\n");
    for (unsigned block = 0; block < BLOCKS; block++) {
        struct order_made *x = order(p, op);
        for (unsigned w = 0; w < WARPS; w++) {
            x->who[block * WARPS + w] = x->hear[block * WARPS + w] = UINT32_MAX;
        }
    }
}

/* Two warps of a block, of which one may only arrive. */
static void add_pair(struct program_made *p, unsigned op) {
    unsigned one = any_warp(p);
    unsigned two = one / WARPS * WARPS + (one + 1 + below(WARPS - 1)) % WARPS;
    bool arrives = below(2);
    struct order_made *x = order(p, op);
    x->who[one] = x->who[two] = x->hear[two] = UINT32_MAX;
    x->hear[one] = arrives ? 0 : UINT32_MAX;
    buf_addf(&p->text,
             "setp.eq.u32 %%p, %%w, %u; @%%p bar.%s %u, 64;\n"
             "setp.eq.u32 %%p, %%w, %u; @%%p bar.sync %u, 64;\n",
             one, arrives ? "arrive" : "sync", 3 + op, two, 3 + op);
}

/* Some lanes of a warp, or all. */
static void add_meeting(struct program_made *p, unsigned op) {
    unsigned warp = any_warp(p);
    uint32_t lanes = below(2) ? UINT32_MAX : 1 + below(15);
    if (lanes != UINT32_MAX) { /* other lanes than before are taken to know more */
        p->exact &= !p->some || p->some == lanes;
        p->some = lanes;
    }
    struct order_made *x = order(p, op);
    x->who[warp] = x->hear[warp] = lanes;
    buf_addf(&p->text,
             "setp.eq.u32 %%p, %%w, %u; shr.u32 %%r7, %u, %%l; and.b32 %%r7, %%r7, 1;\n"
             "setp.ne.and.u32 %%p, %%r7, 0, %%p; @%%p bar.warp.sync %u;\n",
             warp, lanes, lanes);
}

/* A warp hands on what it knows by a flag of this op's own: behind a fence or by a
 * release, in the block behind the block's fence, too. */
static void add_handing(struct program_made *p, unsigned op) {
    static const char *const gives[] = {
        "fence.acq_rel.gpu; @%q st.relaxed.gpu.global.u32",
        "@%q st.release.gpu.global.u32", "membar.cta; @%q st.relaxed.gpu.global.u32"};
    static const char *const takes[][2] = {{"ld.acquire.gpu", ""},
                                           {"ld.volatile", "fence.acq_rel.gpu;"}};
    unsigned one = any_warp(p), way = below(2);
    unsigned two = (one + 1 + below(BLOCKS * WARPS - 1)) % (BLOCKS * WARPS);
    const char *give = gives[one / WARPS == two / WARPS && below(2) ? 2 : below(2)];
    struct order_made *x = order(p, op);
    x->who[one] = x->hear[one] = x->hear[two] = UINT32_MAX;
    buf_addf(&p->text,
             "setp.eq.u32 %%p, %%w, %u; @!%%p bra G%u; bar.warp.sync -1;\n"
             "setp.eq.u32 %%q, %%l, 0; %s [%%o+%u], 1; bar.warp.sync -1;\nG%u:\n"
             "setp.eq.u32 %%p, %%w, %u; @!%%p bra T%u;\n"
             "L%u: %s.global.u32 %%r6, [%%o+%u]; setp.eq.u32 %%q, %%r6, 0;\n"
             "@%%q bra L%u; %s\nT%u:\n",
             one, op, give, 3072 + 4 * op, op, two, op, op, takes[way][0], 3072 + 4 * op,
             op, takes[way][1], op);
    p->exact &= !p->turns; /* a number that is told behind a fence is a flag too */
}

static void add_order(struct program_made *p, unsigned op) {
    void (*const ways[])(struct program_made *,
                         unsigned) = {add_barrier, add_barrier, add_meeting, add_meeting,
                                      add_pair,    add_handing, add_handing, NULL};
    void (*way)(struct program_made *, unsigned) = ways[below(ARRAY_LEN(ways))];
    if (way) {
        way(p, op);
    }
}

static void make(struct program_made *p, unsigned number) {
    *p = (struct program_made){
        .text = BUF_INIT(1 << 16), .plain = number % 2, .exact = true};
    state = number;
    p->turns = number / 2 % 2;
    p->favourite = below(BLOCKS * WARPS);
    unsigned ops = 2 + below(MOST_OPS - 1);
    buf_adds(&p->text, head);
    for (unsigned op = 0; op < ops; op++) {
        add_op(p, op);
        add_order(p, op);
    }
    buf_adds(&p->text, "ret; }\n");
}

/* Does what `a` did reach `b`, which stands behind it in the text? */
static bool is_told(const struct program_made *p, const struct access_made *a,
                    const struct access_made *b) {
    threads_made know = {0};
    know[a->warp] = UINT32_C(1) << a->lane;
    for (unsigned k = 0; k < p->order_count; k++) {
        const struct order_made *x = &p->orders[k];
        bool comes = false;
        for (unsigned w = 0; w < BLOCKS * WARPS; w++) {
            comes |= x->op >= a->op && x->op < b->op && (x->who[w] & know[w]);
        }
        for (unsigned w = 0; comes && w < BLOCKS * WARPS; w++) {
            know[w] |= x->hear[w];
        }
    }
    return know[b->warp] >> b->lane & 1;
}

static bool race(const struct program_made *p, const struct access_made *a,
                 const struct access_made *b) {
    bool same_place = a->global == b->global && (a->global || a->block == b->block) &&
                      a->first < b->end && b->first < a->end;
    bool conflict = (a->writes || b->writes) && !(a->strong && b->strong);
    return a->op != b->op && same_place && conflict && !is_told(p, a, b);
}

static bool has_race(const struct program_made *p, bool global) {
    for (unsigned i = 0; i < p->count; i++) {
        for (unsigned k = 0; k < i; k++) {
            if (p->all[i].global == global && race(p, &p->all[k], &p->all[i])) {
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
    cr_expect(p->plain && p->exact ? (found > 0) == expected : !found || expected,
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
