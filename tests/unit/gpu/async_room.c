#include "tests/unit/gpu/async_room.h"

#include <criterion/criterion.h>
#include <string.h>

void no_findings(struct machine_room *r) {
    char *found = room_findings(r);
    cr_expect_str_eq(found, "[]");
    free(found);
}

void check_kernel(const char *body, uint32_t blocks, uint32_t threads,
                  uint32_t (*expect)(uint32_t), const struct machine_config *c) {
    struct machine_room *r = room_new(body, c);
    uint32_t *out = room_buffer(r, "out", (uint64_t)blocks * threads * 4, OUT_FLAGS);
    cr_expect_eq(room_launch(r, blocks, threads), MACHINE_DONE, "%s", r->refused);
    no_findings(r);
    for (uint32_t i = 0; i < blocks * threads; i++) {
        cr_assert_eq(out[i], expect(i), "thread %u: %u instead of %u", i, out[i],
                     expect(i));
    }
    room_free(r);
}

void check_all_ways(const char *body, uint32_t blocks, uint32_t threads,
                    uint32_t (*expect)(uint32_t)) {
    struct machine_config c = {.checks = ALL_CHECKS, .threads = 1};
    check_kernel(body, blocks, threads, expect, &c);
    c.one_lane = true;
    c.seed = 1;
    check_kernel(body, blocks, threads, expect, &c);
    c.one_lane = false;
    c.seed = 2;
    c.threads = 3;
    c.checks = MACHINE_CHECK_MEMORY;
    check_kernel(body, blocks, threads, expect, &c);
}

void check_finding(const char *body, uint32_t blocks, uint32_t threads,
                   enum machine_end end, const char *code, const char *words) {
    struct machine_config c = {.checks = MACHINE_CHECK_DEFAULT, .threads = 1};
    struct machine_room *r = room_new(body, &c);
    room_buffer(r, "out", (uint64_t)blocks * threads * 4, 0);
    cr_expect_eq(room_launch(r, blocks, threads), end, "%d for %s", r->end, words);
    char *all = room_findings(r);
    json_t *first = NULL;
    cr_expect(room_found(r, code, &first) > 0, "no %s in %s", code, all);
    const char *said = json_get_string(first, "message", "");
    cr_expect(strstr(said, words), "%s: not in %s", words, said);
    json_decref(first);
    free(all);
    room_free(r);
}
