#include "skills/grading/quality.h"
#include "tests/unit/skills/grading.h"

#include <math.h>

struct marked {
    uv_loop_t loop;
    struct grade_room room;
    struct suite suite;
    json_t *marks;
    int ends;
};

static void on_marks(struct quality *q, json_t *marks, void *data) {
    (void)q;
    struct marked *m = data;
    m->marks = marks;
    m->ends++;
}

static struct quality *mark_start(struct marked *m, const char *tests,
                                  const char *skill) {
    *m = (struct marked){0};
    cr_assert(uv_loop_init(&m->loop) == 0);
    m->room = (struct grade_room){.loop = &m->loop};
    autojson *value = json_loads(tests, 0, NULL);
    struct err err = {0};
    int rc = suite_from_json(&m->suite, value, &err);
    cr_assert(eq(int, rc, 0), "%s", err.msg);
    struct quality *q =
        quality_start(&m->room, &m->suite, skill, skill ? strlen(skill) : 0, on_marks, m);
    cr_expect(eq(int, m->ends, 0));
    return q;
}

static void mark_run(struct marked *m) {
    uv_run(&m->loop, UV_RUN_DEFAULT);
    cr_expect(eq(int, m->ends, 1));
    cr_expect(eq(int, uv_loop_close(&m->loop), 0));
    suite_finish(&m->suite);
}

static const char skill_text[] = "# Build\n\nWrite `cuda-capabilities`.\n\n```toml\n"
                                 "[general]\nname = \"silu\"\n```\n";

Test(quality, tests_that_prove_nothing_are_marked) {
    static const char tests[] =
        "["
        "{\"id\":\"absent\",\"input\":\"Write it.\",\"expected\":{\"not_contains\":"
        "\"pybind11\"}},"
        "{\"id\":\"quoted\",\"input\":\"Which key?\",\"expected\":\"cuda-capabilities\"},"
        "{\"id\":\"echoed\",\"input\":\"Is it cuda-flags?\",\"expected\":\"cuda-flags\"},"
        "{\"id\":\"in-file\",\"input\":\"Mend it.\",\"files\":{\"k.cu\":\"float x;\"},"
        "\"expected\":{\"regex\":\"float x\"}},"
        "{\"id\":\"judged\",\"input\":\"Say.\",\"expected\":{\"judge\":\"it says so\"}},"
        "{\"id\":\"half-judged\",\"input\":\"Say.\",\"expected\":{\"judge\":\"it says\","
        "\"not_contains\":\"never\"}},"
        "{\"id\":\"both\",\"input\":\"About cuda-capabilities?\",\"expected\":"
        "\"cuda-capabilities\"},"
        "{\"id\":\"good\",\"input\":\"Which key?\",\"expected\":{\"contains\":"
        "\"cuda-capabilities\",\"regex\":\"9\\\\.0a\"}},"
        "{\"id\":\"compiled\",\"input\":\"Write k.\",\"expected\":{\"kernel_compiles\":"
        "true}}"
        "]";
    struct marked m;
    mark_start(&m, tests, skill_text);
    mark_run(&m);
    static const struct {
        const char *id, *marks;
    } want[] = {
        {"absent", "[\"passes_empty\",\"quotes_skill\",\"echoes_input\"]"},
        {"quoted", "[\"quotes_skill\"]"},
        {"echoed", "[\"echoes_input\"]"},
        {"in-file", "[\"echoes_input\"]"},
        {"judged", "[\"judge_only\"]"},
        {"half-judged", "[\"passes_empty\",\"quotes_skill\",\"echoes_input\"]"},
        {"both", "[\"quotes_skill\",\"echoes_input\"]"},
    };
    autofree char *all = json_dumps(m.marks, 0);
    cr_assert(eq(int, (int)json_array_size(m.marks), ARRAY_LEN(want)), "%s", all);
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const json_t *one = json_array_get(m.marks, i);
        autojson *marks = json_loads(want[i].marks, 0, NULL);
        cr_expect(eq(str, (char *)json_get_string(one, "id", ""), (char *)want[i].id));
        cr_expect(json_equal(marks, json_object_get(one, "marks")) == 1, "%s",
                  want[i].id);
        cr_expect(strlen(json_get_string(one, "message", "")) > 20);
    }
    json_decref(m.marks);
}

Test(quality, without_a_skill_nothing_quotes_it) {
    struct marked m;
    mark_start(&m, "[{\"input\":\"Which?\",\"expected\":\"cuda-capabilities\"}]", NULL);
    mark_run(&m);
    cr_expect(eq(int, (int)json_array_size(m.marks), 0));
    json_decref(m.marks);
}

Test(quality, many_tests_are_all_looked_at) {
    autojson *tests = json_array();
    for (int i = 0; i < 100; i++) {
        json_array_append_new(tests, json_pack("{s:s,s:{s:s}}", "input", "i", "expected",
                                               "not_contains", "x"));
    }
    autofree char *text = json_dumps(tests, 0);
    struct marked m;
    mark_start(&m, text, "skill");
    mark_run(&m);
    cr_expect(eq(int, (int)json_array_size(m.marks), 100));
    json_decref(m.marks);
}

Test(quality, a_cancelled_look_ends_once_without_marks) {
    for (int late = 0; late < 2; late++) {
        struct marked m;
        struct quality *q =
            mark_start(&m, "[{\"input\":\"i\",\"expected\":\"x\"}]", "skill");
        if (late) {
            uv_run(&m.loop, UV_RUN_NOWAIT);
        }
        if (m.ends == 0) {
            quality_cancel(q);
            quality_cancel(q);
        }
        mark_run(&m);
        cr_expect(m.marks == NULL || late);
        json_decref(m.marks);
    }
}

Test(quality, results_mark_what_shows_no_difference) {
    cr_expect(eq(str, (char *)quality_of_results(1, 1), "always_passes"));
    cr_expect(eq(str, (char *)quality_of_results(0, 0), "never_passes"));
    cr_expect(quality_of_results(0, 1) == NULL);
    cr_expect(quality_of_results(0.5, 0.5) == NULL);
    cr_expect(quality_of_results((double)NAN, (double)NAN) == NULL);
    cr_expect(quality_mark_message("judge_only") != NULL);
    cr_expect(quality_mark_message("nonsense") == NULL);
}
