/* Whoever waits for the index is answered once, in turn, and when the catalog closes. */
#include "base/clock.h"
#include "tests/unit/skills/lookup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <unistd.h>

static const char *const all_scopes[] = {"bundled", "agent", "user", "project", NULL};
static const char *const user_scope[] = {"user", NULL};

/* Many ask at once, and each answer takes its millisecond. */
enum { CROWD = 60, ANSWER_US = 1000, TURN_ANSWERS = 3 };
struct crowd {
    struct fixture f;
    struct asker {
        struct crowd *crowd;
        int status;
        int skills; /* that it was answered about */
    } askers[CROWD];
    int order[CROWD], answered;
    bool closed;
};

static void crowd_ready(struct catalog *c, int status, void *data) {
    struct asker *a = data;
    struct crowd *all = a->crowd;
    cr_assert(zero(int, all->closed), "an answer after the end");
    cr_assert(lt(int, all->answered, CROWD), "somebody was answered twice");
    all->order[all->answered++] = (int)(a - all->askers);
    a->status = status;
    if (status == 0) {
        autojson *l = catalog_list(c, NULL, NULL);
        a->skills = (int)json_array_size(l);
    }
    for (uint64_t until = clock_us() + ANSWER_US; clock_us() < until;) {}
}

static void crowd_open(struct crowd *all) {
    memset(all, 0, sizeof *all);
    fixture_make(&all->f);
    fixture_skill(&all->f, "user", "one", "A skill.", "");
    fixture_skill(&all->f, "project", "two", "Another skill.", "");
    fixture_open(&all->f);
    fixture_folders(&all->f, user_scope);
    for (int i = 0; i < CROWD; i++) {
        all->askers[i].crowd = all;
        catalog_when_current(all->f.catalog, crowd_ready, &all->askers[i]);
    }
}

static void crowd_run(struct crowd *all, int count) {
    while (all->answered < count) {
        int before = all->answered;
        uv_run(&all->f.loop, UV_RUN_ONCE);
        cr_expect(le(int, all->answered - before, TURN_ANSWERS));
    }
}

static void crowd_closed(void *data) {
    ((struct crowd *)data)->closed = true;
}

/* Closes, and looks that everybody was answered, once and in the order they asked. */
static void crowd_end(struct crowd *all) {
    uv_close((uv_handle_t *)&all->f.tick, NULL);
    catalog_close(all->f.catalog, crowd_closed, all);
    uv_run(&all->f.loop, UV_RUN_DEFAULT);
    cr_expect(zero(int, uv_loop_close(&all->f.loop)));
    cr_expect(all->closed);
    cr_assert(eq(int, all->answered, CROWD));
    for (int i = 0; i < CROWD; i++) {
        cr_expect(eq(int, all->order[i], i));
    }
    fixture_drop(&all->f);
}

Test(catalog_waiting, answers_a_crowd_in_order_and_some_in_each_turn) {
    struct crowd all;
    crowd_open(&all);
    crowd_run(&all, CROWD);
    crowd_end(&all);
    for (int i = 0; i < CROWD; i++) {
        cr_expect(zero(int, all.askers[i].status));
        cr_expect(eq(int, all.askers[i].skills, 1));
    }
}

Test(catalog_waiting, a_crowd_that_is_half_answered_is_told_of_the_end) {
    struct crowd all;
    crowd_open(&all);
    crowd_run(&all, CROWD / 2);
    int answered = all.answered;
    cr_expect(lt(int, answered, CROWD));
    crowd_end(&all);
    for (int i = 0; i < CROWD; i++) {
        cr_expect(eq(int, all.askers[i].status, i < answered ? 0 : -ECANCELED));
    }
}

Test(catalog_waiting, a_crowd_that_is_half_answered_hears_of_other_folders) {
    struct crowd all;
    crowd_open(&all);
    crowd_run(&all, CROWD / 2);
    int answered = all.answered;
    fixture_folders(&all.f, all_scopes);
    crowd_run(&all, CROWD);
    crowd_end(&all);
    for (int i = 0; i < CROWD; i++) {
        cr_expect(zero(int, all.askers[i].status));
        cr_expect(eq(int, all.askers[i].skills, i < answered ? 1 : 2));
    }
}

Test(catalog_waiting, waits_for_other_folders_that_are_named_meanwhile) {
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "one", "A skill.", "");
    fixture_skill(&f, "project", "two", "Another skill.", "");
    fixture_open(&f);
    fixture_folders(&f, user_scope);
    catalog_when_current(f.catalog, fixture_ready, &f);
    fixture_folders(&f, all_scopes);
    while (!f.answers) {
        uv_run(&f.loop, UV_RUN_ONCE);
    }
    cr_expect(zero(int, f.status));
    autojson *l = catalog_list(f.catalog, NULL, NULL);
    cr_expect(eq(sz, json_array_size(l), 2));
    cr_expect(zero(int, fixture_close(&f)));
    fixture_drop(&f);
}

Test(catalog_waiting, waiting_ends_when_the_catalog_closes) {
    struct fixture f;
    fixture_make(&f);
    fixture_open(&f);
    fixture_folders(&f, user_scope);
    catalog_when_current(f.catalog, fixture_ready, &f);
    cr_expect(eq(int, f.answers, 0));
    cr_expect(zero(int, fixture_close(&f)));
    cr_expect(eq(int, f.answers, 1));
    cr_expect(eq(int, f.status, -ECANCELED));
    fixture_open(&f); /* and without anybody ever asking, no thread, no file */
    fixture_folders(&f, user_scope);
    cr_expect(zero(int, fixture_close(&f)));
    cr_expect(eq(int, access(f.db, F_OK), -1));
    fixture_drop(&f);
}
