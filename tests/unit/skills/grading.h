#pragma once
/* Grades answers on a loop of their own, for the tests of grades. */
#include "base/err.h"
#include "base/json.h"
#include "protocol/call.h"
#include "skills/check/skill_check.h"
#include "skills/grading/grade.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

struct graded {
    enum grade_outcome outcome;
    unsigned passed, total;
    json_t *assertions;
    char *why; /* "" without */
    int ends;
};

static const struct skill_grader *lent_grader;
static const struct kernel_validator *lent_validator;

static inline void *fixture_lend(void *host, const char *name) {
    (void)host;
    return strcmp(name, SKILL_GRADER_LENT) == 0       ? (void *)lent_grader
           : strcmp(name, KERNEL_VALIDATOR_LENT) == 0 ? (void *)lent_validator
                                                      : NULL;
}

struct grade_fixture {
    uv_loop_t loop;
    struct call_origin origin;
    struct grade_room room;
    struct suite suite;
    struct graded result;
};

static inline void fixture_done(struct grading *g, const struct grade *grade,
                                void *data) {
    (void)g;
    struct graded *r = data;
    r->outcome = grade->outcome;
    r->passed = grade->assertions_passed;
    r->total = grade->assertions_total;
    r->assertions = json_deep_copy(grade->assertions);
    r->why = xstrdup(grade->why ? grade->why : "");
    r->ends++;
}

/* expected: JSON; files: JSON or NULL. */
static inline void fixture_init(struct grade_fixture *f, const char *expected,
                                const char *files) {
    *f = (struct grade_fixture){0};
    cr_assert(uv_loop_init(&f->loop) == 0);
    f->origin.loop = &f->loop;
    f->origin.host = &f->loop;
    f->origin.lend = fixture_lend;
    f->room = (struct grade_room){.loop = &f->loop, .origin = &f->origin};
    autojson *checks = json_loads(expected, JSON_DECODE_ANY, NULL);
    cr_assert(checks != NULL, "%s", expected);
    autojson *tests =
        json_pack("[{s:s,s:O}]", "input", "the question", "expected", checks);
    if (files) {
        json_object_set_new(json_array_get(tests, 0), "files",
                            json_loads(files, 0, NULL));
    }
    struct err err = {0};
    int rc = suite_from_json(&f->suite, tests, &err);
    cr_assert(eq(int, rc, 0), "%s", err.msg);
}

static inline struct grading *fixture_start(struct grade_fixture *f, const char *answer,
                                            size_t len) {
    struct grading *g = grading_start(&f->room, &f->suite.tests[0], answer, len,
                                      fixture_done, &f->result);
    cr_expect(eq(int, f->result.ends, 0)); /* never from inside start */
    return g;
}

static inline void fixture_run(struct grade_fixture *f) {
    uv_run(&f->loop, UV_RUN_DEFAULT);
    cr_expect(eq(int, f->result.ends, 1));
    cr_expect(eq(int, uv_loop_close(&f->loop), 0));
}

static inline void fixture_finish(struct grade_fixture *f) {
    json_decref(f->result.assertions);
    free(f->result.why);
    suite_finish(&f->suite);
}

static inline const json_t *fixture_assertion(const struct grade_fixture *f, size_t i) {
    return json_array_get(f->result.assertions, i);
}

/* The outcome of one answer; what went otherwise is told. */
static inline void expect_grade(const char *expected, const char *files,
                                const char *answer, size_t len,
                                enum grade_outcome wanted) {
    struct grade_fixture f;
    fixture_init(&f, expected, files);
    fixture_start(&f, answer, len);
    fixture_run(&f);
    autofree char *told = json_dumps(f.result.assertions, JSON_COMPACT);
    cr_expect(eq(int, (int)f.result.outcome, (int)wanted), "%s on %.200s: %.600s %s",
              expected, answer, told, f.result.why);
    fixture_finish(&f);
}
