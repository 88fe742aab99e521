/* The tests that are saved with a generated skill. */
#include "skills/generation/generate_flow.h"

#include "base/mem.h"
#include "skills/evaluation/grade.h"
#include "skills/generation/builtin_tests.h"

#include <string.h>

static const char *task_of(const struct generating *g) {
    return g->material.task ? g->material.task : g->material.lessons.task;
}

static void make_tests(struct generating *g) {
    g->wanted = g->request.tests;
    size_t count = g->wanted ? 2 * g->wanted + 8 : 0;
    autojson *tests = builtin_tests(&g->material.lessons, task_of(g), count);
    struct err err = {0};
    if (suite_from_json(&g->candidates, tests, &err) < 0) {
        g->err = err; /* ours: cannot be */
    }
}

static bool is_marked(const json_t *marks, const char *id) {
    size_t i;
    const json_t *mark;
    json_array_foreach(marks, i, mark) {
        if (strcmp(json_get_string(mark, "id", ""), id) == 0) {
            return true;
        }
    }
    return false;
}

/* What the improved skill was tested with stays. */
static json_t *earlier_tests(const struct generating *g) {
    if (!g->material.has_base) {
        return json_array();
    }
    autojson *meta = skill_meta_tests(&g->material.base);
    json_t *tests = json_object_get(meta, "tests");
    return json_is_array(tests) ? json_incref(tests) : json_array();
}

static bool has_id(const json_t *tests, const char *id) {
    return is_marked(tests, id);
}

static void choose_tests(struct generating *g, json_t *marks) {
    json_t *chosen = earlier_tests(g);
    size_t added = 0;
    g->marked = 0;
    for (size_t i = 0; i < g->candidates.count; i++) {
        const struct test_case *t = &g->candidates.tests[i];
        if (is_marked(marks, t->id)) {
            g->marked++;
            continue;
        }
        if (added == g->wanted || has_id(chosen, t->id)) {
            continue;
        }
        json_array_append(chosen, (json_t *)(uintptr_t)t->json);
        added++;
    }
    json_decref(marks);
    struct suite suite;
    if (suite_from_json(&suite, chosen, &g->err) == 0) {
        suite_split(&suite);
        g->tests = json_incref(suite.json);
        suite_finish(&suite);
    } else {
        g->err =
            (struct err){0}; /* tests of others that cannot be read stay as they are */
        g->tests = json_incref(chosen);
    }
    json_decref(chosen);
}

/* --- testing --- */

static void on_quality(struct quality *q, json_t *marks, void *data) {
    (void)q;
    struct generating *g = data;
    g->quality = NULL;
    if (generate_is_over(g)) {
        json_decref(marks);
        generate_end(g);
        return;
    }
    choose_tests(g, marks);
    generate_report(g, GENERATE_REFINING, "%zu tests", json_array_size(g->tests));
    generate_refine(g, generate_save);
}

static void start_quality(struct generating *g) {
    if (generate_is_over(g)) {
        generate_end(g);
        return;
    }
    struct grade_room room = {.loop = call_origin(g->call)->loop,
                              .origin = call_origin(g->call)};
    if (g->candidates.count == 0) {
        on_quality(NULL, json_array(), g);
        return;
    }
    g->quality = quality_start(&room, &g->candidates, g->draft.text,
                               strlen(g->draft.text), on_quality, g);
}

void generate_test(struct generating *g) {
    generate_report(g, GENERATE_TESTING, "making tests");
    generate_on_thread(g, make_tests, start_quality);
}
