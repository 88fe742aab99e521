/* What is known of blocks: against a table of every block's clocks; and the objects that
 * hand it on. */
#include "base/mem.h"
#include "gpu/ptx/race/race_internal.h"

#include <criterion/criterion.h>
#include <string.h>

enum { KNOWERS = 5, STEPS = 4000 };

/* Neighbours and strangers in a tree of three levels. */
static const uint32_t blocks[] = {0, 1, 15, 16, 31, 255, 256, 257, 511, 4080, 4095};

struct room {
    struct race_run run;
    struct race_know *know[KNOWERS];
    uint32_t table[KNOWERS][ARRAY_LEN(blocks)][RACE_AGENTS];
    uint64_t state;
};

static unsigned below(struct room *r, unsigned n) {
    r->state = r->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(r->state >> 33) % n;
}

static void check(const struct room *r, unsigned who, unsigned b) {
    const struct race_clocks *c = race_know_find(&r->run, r->know[who], blocks[b]);
    for (unsigned a = 0; a < RACE_AGENTS; a++) {
        cr_assert_eq(c ? c->t[a] : 0, r->table[who][b][a], "block %u, agent %u",
                     blocks[b], a);
    }
}

static void check_all(const struct room *r) {
    for (unsigned who = 0; who < KNOWERS; who++) {
        for (unsigned b = 0; b < ARRAY_LEN(blocks); b++) {
            check(r, who, b);
        }
    }
}

static void later(uint32_t *to, const uint32_t *from) {
    for (unsigned a = 0; a < RACE_AGENTS; a++) {
        to[a] = from[a] > to[a] ? from[a] : to[a];
    }
}

static void add(struct room *r, unsigned who, unsigned b) {
    uint32_t t[RACE_AGENTS] = {0};
    for (unsigned n = 0; n < 3; n++) {
        t[below(r, RACE_AGENTS)] = 1 + below(r, 5);
    }
    race_know_add(&r->run, &r->know[who], blocks[b], t);
    later(r->table[who][b], t);
}

static void join(struct room *r, unsigned who, unsigned other) {
    race_know_join(&r->run, &r->know[who], r->know[other]);
    for (unsigned b = 0; b < ARRAY_LEN(blocks); b++) {
        later(r->table[who][b], r->table[other][b]);
    }
}

static void forget(struct room *r, unsigned who) {
    race_know_unref(&r->run, &r->know[who]);
    memset(r->table[who], 0, sizeof r->table[who]);
}

static struct room *room_open(void) {
    struct room *r = xcalloc(1, sizeof *r);
    r->run.levels = 3;
    return r;
}

static void room_close(struct room *r) {
    for (unsigned who = 0; who < KNOWERS; who++) {
        forget(r, who);
    }
    cr_expect_eq(r->run.know_bytes, 0);
    free(r);
}

Test(ptx_race_know, each_knows_the_latest_that_it_was_told) {
    struct room *r = room_open();
    for (unsigned n = 0; n < STEPS; n++) {
        unsigned who = below(r, KNOWERS), what = below(r, 16);
        if (what == 0) {
            forget(r, who);
        } else if (what < 5) {
            join(r, who, below(r, KNOWERS));
        } else {
            add(r, who, below(r, ARRAY_LEN(blocks)));
        }
        check(r, who, below(r, ARRAY_LEN(blocks)));
        if (n % 64 == 0) {
            check_all(r);
        }
    }
    check_all(r);
    room_close(r);
}

/* A look-back chain: each block knows all before it and adds itself. */
Test(ptx_race_know, knowledge_that_is_the_same_is_kept_once) {
    struct room *r = room_open();
    for (unsigned b = 0; b < ARRAY_LEN(blocks); b++) {
        add(r, 0, b);
    }
    join(r, 1, 0);
    cr_expect_eq(r->know[1], r->know[0]);
    uint64_t bytes = r->run.know_bytes;
    add(r, 2, 3);
    join(r, 2, 0); /* all but its own clocks is there already */
    check(r, 2, 3);
    cr_expect_lt(r->run.know_bytes, 2 * bytes);
    join(r, 0, 2);
    cr_expect_eq(r->know[0], r->know[2], "the one that knows more has all of the other");
    check_all(r);
    bytes = r->run.know_bytes;
    join(r, 0, 1); /* knows less */
    cr_expect_eq(r->know[0], r->know[2]);
    cr_expect_eq(r->run.know_bytes, bytes);
    race_know_add(&r->run, &r->know[0], blocks[5], r->table[0][5]); /* nothing new */
    cr_expect_eq(r->know[0], r->know[2]);
    cr_expect_eq(r->run.know_bytes, bytes);
    room_close(r);
}

Test(ptx_race_know, a_level_alone_tells_sixteen_blocks_apart) {
    struct race_run run = {.levels = 1};
    struct race_know *k = NULL;
    for (uint32_t b = 0; b < RACE_FAN; b++) {
        race_know_add(&run, &k, b, (uint32_t[RACE_AGENTS]){b + 1});
    }
    for (uint32_t b = 0; b < RACE_FAN; b++) {
        cr_expect_eq(race_know_find(&run, k, b)->t[0], b + 1);
    }
    cr_expect_null(race_know_find(&run, NULL, 3));
    race_know_unref(&run, &k);
    cr_expect_null(k);
    cr_expect_eq(run.know_bytes, 0);
}

Test(ptx_race_know, what_takes_too_much_memory_is_told) {
    struct race_run run = {.levels = 3, .know_bytes = UINT64_C(255) << 20};
    struct race_know *k = NULL;
    race_know_add(&run, &k, 7, (uint32_t[RACE_AGENTS]){1});
    cr_expect(!run.coarse && !*run.limits);
    uint64_t one = run.know_bytes - (UINT64_C(255) << 20);
    cr_expect_gt(one, sizeof(uint32_t) * RACE_AGENTS);
    for (uint32_t b = 0; !run.coarse && b < 4096; b++) {
        race_know_add(&run, &k, b, (uint32_t[RACE_AGENTS]){1});
    }
    cr_expect(run.coarse);
    cr_expect(strstr(run.limits, "races between blocks"), "%s", run.limits);
    cr_expect_lt(run.know_bytes, UINT64_C(257) << 20);
    uint64_t before = run.know_bytes;
    struct race_know *other = NULL;
    race_know_add(&run, &other, 8, (uint32_t[RACE_AGENTS]){1});
    race_know_join(&run, &other, k);
    cr_expect(!other && run.know_bytes == before);
    race_know_unref(&run, &k);
    cr_expect_eq(run.know_bytes, UINT64_C(255) << 20);
    for (unsigned more = 0; more < 2; more++) { /* 256 MiB may be full */
        struct race_run full = {.levels = 3,
                                .know_bytes = (UINT64_C(256) << 20) - one + more};
        race_know_add(&full, &k, 7, (uint32_t[RACE_AGENTS]){1});
        cr_expect_eq(full.coarse, more == 1);
        race_know_unref(&full, &k);
    }
}

/* ---- objects ---- */

Test(ptx_race_know, objects_are_found_by_their_address) {
    enum { COUNT = 3000 };
    struct race_run run = {.levels = 1};
    struct race_objects o = {.count = 0};
    cr_expect_null(race_object_find(&o, 64));
    for (uint32_t n = 0; n < COUNT; n++) {
        struct race_object *x = race_object_add(&o, UINT64_C(0x700000000) + 4 * n);
        race_know_add(&run, n % 2 ? &x->all : &x->block, n % RACE_FAN,
                      (uint32_t[RACE_AGENTS]){n + 1});
    }
    for (uint32_t n = 0; n < COUNT; n++) {
        uint64_t address = UINT64_C(0x700000000) + 4 * n;
        struct race_object *x = race_object_find(&o, address);
        cr_assert(x && x->address == address);
        cr_assert_eq(race_object_add(&o, address), x);
        struct race_know *k = n % 2 ? x->all : x->block;
        cr_assert_eq(race_know_find(&run, k, n % RACE_FAN)->t[0], n + 1);
        cr_assert_null(n % 2 ? x->block : x->all);
    }
    cr_expect_null(race_object_find(&o, UINT64_C(0x700000000) + 4 * COUNT));
    cr_expect_null(race_object_find(&o, UINT64_C(0x700000002)));
    race_objects_clear(&run, &o);
    cr_expect_eq(run.know_bytes, 0);
    cr_expect_null(race_object_find(&o, UINT64_C(0x700000000)));
}

Test(ptx_race_know, objects_beyond_a_million_are_refused) {
    struct race_run run = {.levels = 1};
    struct race_objects o = {.count = 0};
    uint32_t added = 0;
    while (added < 1100000 && race_object_add(&o, 8 * (uint64_t)added)) {
        added++;
    }
    cr_expect_eq(added, 1048576);
    cr_expect(race_object_add(&o, 800), "one that is there is found");
    race_objects_clear(&run, &o);
    cr_expect(race_object_add(&o, 800));
    race_objects_clear(&run, &o);
}
