/* The bundled skill's own tests: a good answer passes each of them, a bad one fails, and
 * none proves nothing. Code counts as compiling here whatever it is; tests/e2e/bundled.py
 * compiles the good answers for the test's architecture. */
#include "skills/check/skill_check.h"
#include "skills/format/skill.h"
#include "tests/unit/skills/grading.h"

#include "base/buf.h"
#include "base/file.h"

#include <ctype.h>

#define SKILL_NAME "h100-cuda-kernels"

/* Whatever stands before a bracket may be a kernel's name. */
static json_t *names_of(const char *source) {
    json_t *kernels = json_array();
    for (const char *open = strchr(source, '('); open; open = strchr(open + 1, '(')) {
        const char *name = open;
        while (name > source && (name[-1] == '_' || isalnum((unsigned char)name[-1]))) {
            name--;
        }
        json_array_append_new(kernels, json_pack("{s:s%}", "name", name, open - name));
    }
    return kernels;
}

static void *compile(const struct call_origin *origin, const char *name,
                     const char *source, const char *arch, skill_kernel_done *done,
                     void *data) {
    (void)origin;
    (void)name;
    (void)arch;
    cr_expect(source[0] != '\0');
    autojson *kernels = names_of(source);
    done(data, json_array(), kernels, NULL);
    return NULL;
}

static void cancel(void *handle) {
    (void)handle;
}

static const struct skill_grader compiler = {compile, cancel};

struct bundled {
    uv_loop_t loop;
    struct call_origin origin;
    struct grade_room room;
    struct skill skill;
    struct suite suite;
    struct graded result;
    json_t *marks;
};

static void bundled_init(struct bundled *b) {
    *b = (struct bundled){0};
    struct err err = {0};
    int rc = skill_open(&b->skill, BUNDLED "/" SKILL_NAME, false, &err);
    cr_assert(eq(int, rc, 0), "%s", err.msg);
    rc = suite_of_skill(&b->suite, &b->skill, &err);
    cr_assert(eq(int, rc, 0), "%s", err.msg);
    cr_assert(uv_loop_init(&b->loop) == 0);
    b->origin.loop = &b->loop;
    b->origin.lend = fixture_lend;
    b->room = (struct grade_room){.loop = &b->loop, .origin = &b->origin};
    lent_grader = &compiler;
}

static void bundled_finish(struct bundled *b) {
    cr_expect(eq(int, uv_loop_close(&b->loop), 0));
    suite_finish(&b->suite);
    skill_finish(&b->skill);
    lent_grader = NULL;
}

static enum grade_outcome outcome_of(struct bundled *b, size_t test, const char *kind,
                                     char **ret_told) {
    autofree char *path =
        xasprintf("%s/bundled_answers/%s%s.md", TEST_DATA, b->suite.tests[test].id, kind);
    autobuf answer = BUF_INIT(1u << 20);
    struct err err = {0};
    cr_assert(file_read(path, &answer, &err) == 0, "%s", err.msg);
    b->result = (struct graded){0};
    grading_start(&b->room, &b->suite.tests[test], answer.data, answer.len, fixture_done,
                  &b->result);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    cr_assert(eq(int, b->result.ends, 1));
    *ret_told = json_dumps(b->result.assertions, JSON_COMPACT);
    json_decref(b->result.assertions);
    free(b->result.why);
    return b->result.outcome;
}

Test(bundled_tests, a_good_answer_passes_and_a_bad_one_fails) {
    struct bundled b;
    bundled_init(&b);
    for (size_t i = 0; i < b.suite.count; i++) {
        autofree char *good = NULL;
        autofree char *bad = NULL;
        int outcome = (int)outcome_of(&b, i, "", &good);
        cr_expect(eq(int, outcome, GRADE_PASSED), "%s: %s", b.suite.tests[i].id, good);
        outcome = (int)outcome_of(&b, i, ".bad", &bad);
        cr_expect(eq(int, outcome, GRADE_FAILED), "%s: %s", b.suite.tests[i].id, bad);
    }
    bundled_finish(&b);
}

static void on_marks(struct quality *q, json_t *marks, void *data) {
    (void)q;
    *(json_t **)data = marks;
}

/* SKILL.md alone, and with every reference behind it. */
static void expect_no_marks(struct bundled *b, const char *text, size_t len) {
    quality_start(&b->room, &b->suite, text, len, on_marks, &b->marks);
    uv_run(&b->loop, UV_RUN_DEFAULT);
    autofree char *told = json_dumps(b->marks, JSON_COMPACT);
    cr_expect(eq(int, (int)json_array_size(b->marks), 0), "%s", told);
    json_decref(b->marks);
}

Test(bundled_tests, none_passes_by_saying_nothing_or_quoting) {
    struct bundled b;
    bundled_init(&b);
    autobuf text = BUF_INIT(1u << 20);
    buf_add(&text, b.skill.text.text, b.skill.text.len);
    expect_no_marks(&b, text.data, text.len);
    for (size_t i = 0; i < b.skill.file_count; i++) {
        const char *path = b.skill.files[i].path;
        if (strncmp(path, "references/", 11) == 0) {
            autobuf one = BUF_INIT(1u << 20);
            cr_assert(skill_read_file(b.skill.folder, path, &one, NULL) == 0);
            expect_no_marks(&b, one.data, one.len);
            buf_add(&text, one.data, one.len);
        }
    }
    cr_expect(text.len > 30000);
    expect_no_marks(&b, text.data, text.len);
    bundled_finish(&b);
}

Test(bundled_tests, they_are_24_in_three_equal_splits) {
    struct bundled b;
    bundled_init(&b);
    int counts[4] = {0};
    for (size_t i = 0; i < b.suite.count; i++) {
        counts[b.suite.tests[i].split]++;
    }
    cr_expect(eq(int, (int)b.suite.count, 24));
    cr_expect(counts[SPLIT_REFINE] == 8 && counts[SPLIT_GATE] == 8);
    cr_expect(eq(int, counts[SPLIT_REPORT], 8));
    bundled_finish(&b);
}
