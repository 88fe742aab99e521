/* Events, and the cells that point to them: against a note of every byte. */
#include "base/mem.h"
#include "gpu/ptx/race/race_internal.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/resource.h>

/* ---- events ---- */

static struct step steps[40];

static struct race_event event_of(unsigned n) {
    return (struct race_event){.step = &steps[n % 40],
                               .stamp = 1 + n / 40 % 3,
                               .block = n / 120 % 3,
                               .agent = (uint8_t)(n / 360 % 5),
                               .kind = RACE_READ};
}

static bool same(const struct race_event *a, const struct race_event *b) {
    return a->step == b->step && a->stamp == b->stamp && a->block == b->block &&
           a->agent == b->agent;
}

static void expect_held(const struct race_events *e, uint32_t id,
                        const struct race_event *event) {
    cr_assert(id >= e->first && id < e->next, "%u of %u to %u", id, e->first, e->next);
    cr_assert(same(&e->items[id - e->first], event), "id %u", id);
}

Test(ptx_race_shadow, an_event_is_held_under_its_number) {
    enum { COUNT = 1800, TURNS = 3 };
    static uint32_t ids[TURNS * COUNT];
    struct race_events e = RACE_EVENTS(1u << 20);
    bool forgot = false;
    for (unsigned n = 0; n < TURNS * COUNT; n++) {
        struct race_event x = event_of(n);
        ids[n] = race_events_add(&e, &x, false, &forgot);
        cr_assert_gt(ids[n], 0, "0 is no event");
        expect_held(&e, ids[n], &x);
        cr_assert_eq(race_events_add(&e, &x, false, &forgot), ids[n], "the same again");
    }
    for (unsigned n = 0; n < TURNS * COUNT; n++) {
        struct race_event x = event_of(n);
        expect_held(&e, ids[n], &x);
    }
    cr_expect(!forgot);
    uint32_t next = e.next;
    race_events_void(&e);
    for (unsigned n = 0; n < COUNT; n++) {
        struct race_event x = event_of(n);
        uint32_t id = race_events_add(&e, &x, false, &forgot);
        cr_assert_geq(id, next, "what is over is not given again");
        expect_held(&e, id, &x);
    }
    free(e.items);
}

Test(ptx_race_shadow, the_oldest_events_go_when_there_are_too_many) {
    enum { MOST = 300 };
    struct race_events e = RACE_EVENTS(MOST);
    bool forgot = false;
    for (unsigned n = 0; n < 2 * MOST + 10; n++) {
        struct race_event x = event_of(n);
        uint32_t id = race_events_add(&e, &x, false, &forgot);
        expect_held(&e, id, &x);
        cr_assert_leq(e.next - e.first, MOST);
        cr_assert_eq(forgot, n >= MOST, "after %u", n);
    }
    free(e.items);
}

/* A cell has 26 bits for a number. */
Test(ptx_race_shadow, numbers_begin_anew_before_they_are_too_large) {
    struct race_run run = {.levels = 1};
    struct race_shadow s = {.bytes = 64, .grain = 2};
    struct race_events e = RACE_EVENTS(1u << 20);
    bool forgot = false;
    struct race_event x = event_of(0), y = event_of(1);
    e.first = e.next = RACE_MAX_ID - 3;
    cr_assert(race_shadow_prepare(&run, &s, &e, 2, true));
    cr_assert(race_shadow_plane(&run, &s, &s.other));
    uint32_t old = race_events_add(&e, &x, false, &forgot);
    s.write[3] = s.read[0][4] = s.read[1][5] = s.other[6] = old << RACE_LANE_BITS;
    cr_assert(race_shadow_prepare(&run, &s, &e, 2, true));
    cr_expect(s.write[3] && s.read[0][4] && s.read[1][5] && s.other[6]);
    for (unsigned n = 1; n < 8; n++) {
        struct race_event z = event_of(n);
        uint32_t id = race_events_add(&e, &z, false, &forgot);
        cr_assert_lt(id, RACE_MAX_ID);
        expect_held(&e, id, &z);
    }
    cr_expect(forgot);
    cr_assert(race_shadow_prepare(&run, &s, &e, 2, true));
    cr_expect(!s.write[3] && !s.read[0][4] && !s.read[1][5] && !s.other[6],
              "a number of before is another event's now");
    /* An event of before has a new number too. */
    e.first = e.next = RACE_MAX_ID / 2 + 1;
    expect_held(&e, race_events_add(&e, &y, false, &forgot), &y);
    race_events_void(&e);
    cr_expect_lt(e.next, RACE_MAX_ID / 2);
    for (unsigned n = 0; n < 8; n++) {
        struct race_event z = event_of(n);
        expect_held(&e, race_events_add(&e, &z, false, &forgot), &z);
    }
    race_shadow_finish(&s);
    free(e.items);
}

Test(ptx_race_shadow, the_bytes_of_an_access_are_told) {
    static const unsigned bytes[] = {1, 2, 4, 16, 32767, 32768, 65536, 131072, 262144};
    for (unsigned n = 0; n < ARRAY_LEN(bytes); n++) {
        struct race_event e = {.size = race_size(bytes[n])};
        cr_expect_eq(race_bytes(&e), bytes[n]);
    }
}

/* ---- cells ---- */

enum { BYTES = 1000 };

static void expect_bytes(const uint32_t *plane, unsigned grain, const uint32_t *bytes) {
    for (unsigned k = 0; k < BYTES; k++) {
        cr_assert_eq(plane[k >> grain], bytes[k], "byte %u in cells of %u", k,
                     1u << grain);
    }
}

static void expect_counted(const struct race_run *run, unsigned planes, unsigned grain) {
    uint64_t least = (uint64_t)planes * (BYTES >> grain) * 4;
    cr_expect(run->shadow_bytes >= least && run->shadow_bytes < least + planes * 1024,
              "%lu bytes for %u planes", run->shadow_bytes, planes);
}

/* From words at once to bytes, and by halves of words. */
Test(ptx_race_shadow, smaller_cells_hold_what_the_larger_ones_did) {
    for (unsigned by = 1; by <= 2; by++) {
        static uint32_t bytes[4][BYTES];
        struct race_run run = {.levels = 1};
        struct race_shadow s = {.bytes = BYTES, .grain = 2};
        struct race_events e = RACE_EVENTS(100);
        cr_assert(race_shadow_prepare(&run, &s, &e, 2, false));
        expect_counted(&run, 1, 2);
        cr_assert(race_shadow_prepare(&run, &s, &e, 2, true));
        expect_counted(&run, 3, 2);
        cr_assert(race_shadow_plane(&run, &s, &s.other));
        expect_counted(&run, 4, 2);
        uint32_t *planes[] = {s.write, s.read[0], s.read[1], s.other};
        for (unsigned k = 0; k < BYTES; k++) {
            for (unsigned n = 0; n < 4; n++) {
                uint32_t cell = (k >> 2) % 3 ? 4 * (k >> 2) + n + 1 : 0;
                planes[n][k >> 2] = bytes[n][k] = cell;
            }
        }
        for (unsigned grain = 2; grain > 0;) {
            grain -= grain > by ? by : grain;
            cr_assert(race_shadow_prepare(&run, &s, &e, grain, true));
            cr_assert_eq(s.grain, grain);
            uint32_t *now[] = {s.write, s.read[0], s.read[1], s.other};
            for (unsigned n = 0; n < 4; n++) {
                expect_bytes(now[n], grain, bytes[n]);
            }
            expect_counted(&run, 4, grain);
        }
        cr_assert(race_shadow_prepare(&run, &s, &e, 2, true));
        cr_expect_eq(s.grain, 0, "bytes stay bytes");
        race_shadow_finish(&s);
        cr_expect_eq(run.shadow_bytes, 0);
    }
}

Test(ptx_race_shadow, cells_begin_as_small_as_the_first_access) {
    struct race_run run = {.levels = 1};
    struct race_shadow s = {.bytes = BYTES, .grain = 2};
    struct race_events e = RACE_EVENTS(100);
    cr_assert(race_shadow_prepare(&run, &s, &e, 0, false));
    expect_counted(&run, 1, 0);
    cr_expect(s.write && !s.read[0] && !s.other);
    for (unsigned k = 0; k < BYTES; k++) {
        cr_assert_eq(s.write[k], 0);
    }
    race_shadow_finish(&s);
    cr_expect_eq(run.shadow_bytes, 0);
}

#if defined __SANITIZE_ADDRESS__
#define INSTRUMENTED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#ifndef INSTRUMENTED
#define INSTRUMENTED 0 /* else the sanitizer itself ends for lack of memory */
#endif

/* Where the machine has none, with 160 MiB of cells in words. */
Test(ptx_race_shadow, cells_without_memory_are_refused, .disabled = INSTRUMENTED) {
    struct race_run run = {.levels = 1};
    struct race_events e = RACE_EVENTS(100);
    struct race_shadow s = {.bytes = UINT64_C(160) << 20, .grain = 2};
    cr_assert(race_shadow_prepare(&run, &s, &e, 2, false));
    const struct rlimit none = {64 << 20, 64 << 20}; /* less than is mapped already */
    cr_assert_eq(setrlimit(RLIMIT_AS, &none), 0);
    cr_expect(!race_shadow_plane(&run, &s, &s.other));
    cr_expect(!race_shadow_prepare(&run, &s, &e, 2, true), "of what was read");
    cr_expect(!race_shadow_prepare(&run, &s, &e, 1, false), "of halves of words");
}

/* 1 GiB for all together. */
Test(ptx_race_shadow, cells_of_too_much_memory_are_refused) {
    struct race_run run = {.levels = 1};
    struct race_events e = RACE_EVENTS(100);
    struct race_shadow large = {.bytes = UINT64_C(600) << 20, .grain = 2};
    struct race_shadow small = {.bytes = UINT64_C(300) << 20, .grain = 2};
    cr_expect(race_shadow_prepare(&run, &large, &e, 2, false));
    uint64_t held = run.shadow_bytes;
    cr_expect(!race_shadow_prepare(&run, &large, &e, 2, true),
              "2 GiB with what was read");
    cr_expect(!race_shadow_prepare(&run, &large, &e, 1, false),
              "2 GiB in halves of words");
    cr_expect(!race_shadow_prepare(&run, &small, &e, 0, false));
    cr_expect_eq(large.grain, 2);
    cr_expect_eq(run.shadow_bytes, held);
    cr_expect(race_shadow_prepare(&run, &large, &e, 2, false), "what is there stays");
    struct race_shadow third = {.bytes = UINT64_C(300) << 20, .grain = 2};
    cr_expect(race_shadow_prepare(&run, &third, &e, 2, false));
    cr_expect(!race_shadow_plane(&run, &third, &third.other), "the third of 300 MiB");
    cr_expect_null(third.other);
    race_shadow_finish(&large);
    cr_expect(race_shadow_plane(&run, &third, &third.other));
    race_shadow_finish(&third);
    race_shadow_finish(&small);
    cr_expect_eq(run.shadow_bytes, 0);
}
