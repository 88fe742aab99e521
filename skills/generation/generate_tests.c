/* The tests that are saved with a generated skill, and skill_meta.json. */
#include "skills/generation/generate_flow.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "skills/generation/builtin_tests.h"

#include <string.h>

static const char *task_of(const struct generating *g) {
    return g->material.task ? g->material.task : g->material.lessons.task;
}

void generate_make_tests(struct generating *g) {
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

void generate_choose_tests(struct generating *g, json_t *marks) {
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

/* --- skill_meta.json --- */

static void set_metadata(json_t *meta, const struct generating *g, const char *now) {
    json_t *metadata = json_object_get(meta, "metadata");
    if (!json_is_object(metadata)) {
        metadata = json_pack("{s:s,s:n,s:n,s:n,s:n,s:n,s:n}", "version", "1.0",
                             "generated_by", "generated_at", "source_task",
                             "test_pass_rate", "license", "compatibility");
        json_object_set_new(meta, "metadata", metadata);
    }
    const char *task = task_of(g);
    task = task && builtin_is_safe(task) ? task : NULL;
    json_object_set_new(metadata, "generated_by",
                        json_string(g->request.teacher == TEACHER_HOST
                                        ? "upskilld host"
                                        : "upskilld builtin"));
    json_object_set_new(metadata, "generated_at", json_string(now));
    json_object_set_new(metadata, "source_task", task ? json_clean_z(task) : json_null());
}

static void set_provenance(json_t *meta, const struct generating *g, const char *now) {
    json_t *provenance = json_deep_copy(g->material.provenance);
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex(g->draft.text, strlen(g->draft.text), hex);
    autofree char *digest = xasprintf("sha256:%s", hex);
    json_object_set_new(
        provenance, "teacher",
        json_string(g->request.teacher == TEACHER_HOST ? "host" : "builtin"));
    json_object_set_new(provenance, "generated", json_string(now));
    json_object_set_new(provenance, "skill_md", json_string(digest));
    json_object_set(provenance, "evidence", g->draft.evidence);
    json_object_set_new(meta, "provenance", provenance);
}

json_t *generate_meta(struct generating *g) {
    char now[25];
    clock_iso8601(now);
    json_t *meta =
        g->material.has_base ? skill_meta_read(&g->material.base) : json_object();
    json_object_del(meta, "problems");
    set_metadata(meta, g, now);
    json_object_set(meta, "tests", g->tests);
    set_provenance(meta, g, now);
    return meta;
}
