#include "skills/grading/grade.h"

#include "base/work.h"
#include "skills/grading/grade_check.h"

static grade_check grade_files;

/* What is done on a thread, in this order; the rest are steps on the loop. */
static const struct {
    const char *name;
    grade_check *check;
} checks[] = {
    {"contains", grade_search},       {"not_contains", grade_search},
    {"regex", grade_search},          {"not_regex", grade_search},
    {"equals", grade_equals},         {"json_schema", grade_json_schema},
    {"build_toml", grade_build_toml}, {"kernel_project", grade_kernel_project},
    {"files", grade_files},
};

/* Returns how many there were. */
static size_t run_checks(const json_t *expected, struct answer *answer,
                         const struct test_case *test, struct assertions *out) {
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(checks) && !work_is_stopped(); i++) {
        const json_t *one = json_object_get(expected, checks[i].name);
        if (one) {
            checks[i].check(answer, test, checks[i].name, one, out);
            count++;
        }
    }
    return count;
}

/* The checks of one file's text, told with its path. */
static void grade_file(const char *path, const char *text, const json_t *wish,
                       const struct test_case *test, struct assertions *out) {
    struct answer file;
    struct assertions own = {0};
    answer_init(&file, text, strlen(text));
    run_checks(wish, &file, test, &own);
    json_each(own.list, i, one) {
        autofree char *check =
            xasprintf("%s: %s", path, json_get_string(one, "check", ""));
        json_object_set_new(one, "check", json_clean_z(check));
    }
    out->list = out->list ? out->list : json_array();
    json_array_extend(out->list, own.list);
    out->passed += own.passed;
    out->total += own.total;
    out->failed |= own.failed;
    out->why = out->why ? out->why : take(own.why);
    assertions_finish(&own);
    answer_finish(&file);
}

static void grade_files(struct answer *answer, const struct test_case *test,
                        const char *check, const json_t *expected,
                        struct assertions *out) {
    json_each_member(expected, path, wish) {
        const char *text = NULL;
        bool there = answer_file(answer, path, &text);
        if (there && text && json_is_object(wish)) {
            grade_file(path, text, wish, test, out);
            continue;
        }
        autojson *one = json_pack("{s:O}", path, wish);
        if (!there && json_object_get(answer->written, "")) {
            assertion_add(out, check, GRADE_ERRORED, one, NULL,
                          "%.200s: the agent left more files than are checked", path);
            continue;
        }
        bool passed = json_is_boolean(wish) && there == json_is_true(wish);
        assertion_add(out, check, passed ? GRADE_PASSED : GRADE_FAILED, one, NULL,
                      "%.200s %s", path,
                      !there                 ? "is not there"
                      : json_is_object(wish) ? "is not a text of at most 1 MiB"
                                             : "is there");
    }
}

bool grade_text_passes(const json_t *expected, const char *text) {
    const struct test_case test = {.id = "", .input = "", .expected = expected};
    struct answer answer;
    struct assertions assertions = {0};
    answer_init(&answer, text, strlen(text));
    size_t known = run_checks(expected, &answer, &test, &assertions);
    bool passed =
        known == json_object_size(expected) && !assertions.failed && !assertions.why;
    assertions_finish(&assertions);
    answer_finish(&answer);
    return passed;
}

enum grading_step { STEP_COMPILE, STEP_VALIDATE, STEP_JUDGE, STEP_END };

struct grading {
    struct work *work; /* or NULL */
    struct grade_room room;
    struct test_case test; /* `expected` is our own: counting references to a shared one
                              on several threads is a race */
    json_t *expected, *written, *files; /* our own: so are the answer's */
    char *given;
    size_t given_len;
    grade_done *done;
    void *data;

    struct answer answer;
    struct assertions assertions;
    char *sources[STEP_JUDGE]; /* of STEP_COMPILE and STEP_VALIDATE */
    struct grade_step *waiting;
    enum grading_step next;
    bool cancelled;
};

static const json_t *check_of(const struct grading *g, const char *name) {
    return json_object_get(g->expected, name);
}

/* --- on a thread --- */

static void find_source(struct grading *g, const char *check, enum grading_step step) {
    const json_t *expected = check_of(g, check);
    if (expected) {
        g->sources[step] =
            grade_kernel_source(&g->answer, check, expected, &g->assertions);
    }
}

static void work(void *data) {
    struct grading *g = data;
    answer_init(&g->answer, g->given, g->given_len);
    g->answer.written = g->written;
    g->answer.given = g->files;
    run_checks(g->expected, &g->answer, &g->test, &g->assertions);
    find_source(g, "kernel_compiles", STEP_COMPILE);
    find_source(g, "kernel_passes", STEP_VALIDATE);
}

/* --- on the loop --- */

static void finish(struct grading *g) {
    struct assertions *a = &g->assertions;
    const char *why = g->cancelled                      ? "cancelled"
                      : g->given_len > GRADE_MAX_ANSWER ? "the answer has more than 4 MiB"
                                                        : a->why;
    a->list = a->list ? a->list : json_array();
    struct grade grade = {.outcome = why         ? GRADE_ERRORED
                                     : a->failed ? GRADE_FAILED
                                                 : GRADE_PASSED,
                          .assertions_passed = a->passed,
                          .assertions_total = a->total,
                          .assertions = a->list,
                          .why = why};
    g->done(g, &grade, g->data);
    assertions_finish(a);
    answer_finish(&g->answer);
    for (size_t i = 0; i < ARRAY_LEN(g->sources); i++) {
        free(g->sources[i]);
    }
    json_decref(g->expected);
    json_decref(g->written);
    json_decref(g->files);
    free(g->given);
    free(g);
}

static void go_on(struct grading *g);

static void on_step(void *data) {
    struct grading *g = data;
    g->waiting = NULL;
    go_on(g);
}

/* A judge costs money, so it is not asked about an answer that already failed. But a
 * missing judge is reported for every answer. */
static struct grade_step *judge(struct grading *g, const struct grade_wait *wait) {
    if (g->room.unjudged || !wait->expected) {
        return NULL;
    }
    bool there =
        g->room.models && (g->room.judge || json_object_get(wait->expected, "model"));
    if (there && g->assertions.failed) {
        grade_judge_skip(wait->expected, &g->assertions,
                         "not asked: the answer failed already");
        return NULL;
    }
    return grade_judge_start(wait, &g->test, &g->answer);
}

/* Returns NULL if the step is finished at once. */
static struct grade_step *start_step(struct grading *g, enum grading_step step) {
    static const char *const names[] = {"kernel_compiles", "kernel_passes", "judge"};
    const struct grade_wait wait = {&g->room, check_of(g, names[step]), &g->assertions,
                                    on_step, g};
    if (step == STEP_JUDGE) {
        return judge(g, &wait);
    }
    char *source = take(g->sources[step]);
    return !source                ? NULL
           : step == STEP_COMPILE ? grade_compile_start(&wait, source)
                                  : grade_validate_start(&wait, source);
}

static void go_on(struct grading *g) {
    bool too_long = g->given_len > GRADE_MAX_ANSWER;
    while (!g->cancelled && !too_long && g->next < STEP_END && !g->waiting) {
        g->waiting = start_step(g, g->next++);
    }
    if (!g->waiting) {
        finish(g);
    }
}

static void after_work(void *data) {
    struct grading *g = data;
    g->work = NULL;
    go_on(g);
}

static void no_work(void *) {}

struct grading *grading_start(const struct grade_room *room, const struct test_case *test,
                              const char *answer, size_t len, grade_done *done,
                              void *data) {
    struct grading *g = xcalloc(1, sizeof *g);
    bool too_long = len > GRADE_MAX_ANSWER;
    g->room = *room;
    g->test = *test;
    g->expected = json_deep_copy(test->expected);
    g->test.expected = g->expected;
    g->written = json_deep_copy(room->written);
    g->files = g->written ? json_deep_copy(test->files) : NULL;
    g->given_len = len;
    g->given = xmalloc((too_long ? 0 : len) + 1);
    if (!too_long && len) {
        memcpy(g->given, answer, len);
    }
    g->done = done;
    g->data = data;
    g->work = work_start(room->loop, too_long ? no_work : work, after_work, g);
    return g;
}

void grading_cancel(struct grading *g) {
    if (g->cancelled) {
        return;
    }
    g->cancelled = true;
    work_cancel(g->work);
    if (g->waiting) {
        g->waiting->cancel(g->waiting);
    }
}
