/* The tests that are saved with a generated skill: earlier ones are kept, the rest comes
 * from the teacher in batches and from the traces, and passes the quality gates. */
#include "base/buf.h"
#include "base/find.h"
#include "skills/generation/generate_flow.h"

#include "skills/generation/builtin_tests.h"
#include "skills/generation/teacher_tests.h"
#include "skills/grading/grade.h"
#include "skills/models/structured.h"
#include "skills/traces/redaction.h"

#include <stdio.h>

#define SPARE_ASKS 3u /* beyond what would do if every test were good */
#define MAX_IDLE 3u    /* answers in a row of which no test is good */
#define MAX_REFUSED 8u
#define TOLD_REFUSED 3u
#define MIN_ANSWER 200u /* bytes that an answer may have where its test does not say */
#define MAX_ANSWER 1500u

struct testing {
    const struct redaction *redaction; /* the material's */
    json_t *kept;                      /* earlier ones, then those taken */
    size_t earlier, wanted;
    size_t number; /* of the last id */
    json_t *batch; /* candidates in canonical form */
    struct suite suite;
    struct quality *quality;
    json_t *refused; /* [{"input", "why"}] of the last batch */
    unsigned asks, max_asks, idle, draws;
    unsigned requests; /* of them: 0 while all answers were kept ones */
    size_t seen, marked, repeated, broken;
    char *reason;     /* why there are fewer than wanted */
    bool from_traces; /* the last source was asked */
};

/* --- life --- */

static void testing_new(struct generating *g) {
    struct testing *t = xcalloc(1, sizeof *t);
    t->redaction = g->material.redaction;
    t->kept = g->material.has_base ? json_copy(g->material.base_tests) : json_array();
    t->earlier = json_array_size(t->kept);
    t->wanted = g->request.tests > t->earlier ? g->request.tests : t->earlier;
    t->refused = json_array();
    t->max_asks = (unsigned)(t->wanted - t->earlier + TEACHER_BATCH - 1) / TEACHER_BATCH +
                  SPARE_ASKS;
    g->testing = t;
}

void generate_test_free(struct generating *g) {
    struct testing *t = g->testing;
    if (t) {
        suite_finish(&t->suite);
        json_decref(t->kept);
        json_decref(t->batch);
        json_decref(t->refused);
        free(t->reason);
        free(take(g->testing));
    }
}

void generate_test_stop(struct generating *g) {
    if (g->testing->quality) {
        quality_cancel(g->testing->quality);
    }
}

static size_t missing(const struct testing *t) {
    return t->wanted - json_array_size(t->kept);
}

static void next_source(struct generating *g);

/* --- the end --- */

static json_t *report(const struct testing *t) {
    const char *reason = t->reason ? t->reason : "the material is not enough for more";
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o*}", "wanted",
                     (json_int_t)t->wanted, "kept", (json_int_t)t->earlier, "taken",
                     (json_int_t)(json_array_size(t->kept) - t->earlier), "seen",
                     (json_int_t)t->seen, "marked", (json_int_t)t->marked, "repeated",
                     (json_int_t)t->repeated, "broken", (json_int_t)t->broken, "reason",
                     missing(t) ? json_clean_z(reason) : NULL);
}

/* Tests of others that cannot be read stay as they are, without a split. */
static void finish(struct generating *g) {
    struct testing *t = g->testing;
    struct suite suite;
    if (suite_from_json(&suite, t->kept, NULL) == 0) {
        suite_split(&suite);
        g->tests = json_incref(suite.json);
        suite_finish(&suite);
    } else {
        g->tests = json_incref(t->kept);
    }
    g->tests_report = report(t);
    generate_report(g, GENERATE_TESTING, "%zu tests, %zu requested",
                    json_array_size(g->tests), t->wanted);
    generate_test_free(g);
    generate_refine(g, generate_save);
}

/* --- the gates --- */

static void refuse(struct testing *t, const json_t *test, const char *why) {
    if (json_array_size(t->refused) < MAX_REFUSED) {
        const char *given = json_get_string(test, "input", "");
        autobuf text = BUF_INIT(64u << 10);
        redaction_apply(t->redaction, &text, given, strlen(given));
        const char *input = text.data;
        json_array_append_new(t->refused,
                              json_pack("{s:o,s:o}", "input", json_clean_z(input), "why",
                                        json_clean_z(why)));
    }
}

static const json_t *mark_of(const json_t *marks, const char *id) {
    return json_find(marks, mark, json_says(mark, "id", id));
}

/* Of a test that says what is right, but that the whole skill as an answer passes: the
 * same with a limit to the answer's length. False where another mark is against it. */
static bool limit_answer(const struct generating *g, json_t *test, const json_t *mark) {
    const json_t *marks = json_object_get(mark, "marks");
    size_t most = strlen(g->draft.text) / 2;
    most = most < MAX_ANSWER ? most : MAX_ANSWER;
    if (json_array_size(marks) != 1 || !json_has_text(marks, "quotes_skill") ||
        most < MIN_ANSWER) {
        return false;
    }
    json_t *expected = json_object_get(test, "expected");
    json_t *list = json_object_get(expected, "regex");
    autofree char *regex = xasprintf("\\A[\\s\\S]{0,%zu}\\z", most);
    if (!list) {
        list = json_array();
        json_object_set_new(expected, "regex", list);
    }
    return json_array_append_new(list, json_pack("{s:s,s:s}", "pattern", regex, "flags",
                                                 "")) == 0;
}

static void on_quality(struct quality *, json_t *marks, void *data) {
    struct generating *g = data;
    struct testing *t = g->testing;
    t->quality = NULL;
    if (generate_is_over(g) || !marks) {
        json_decref(marks);
        generate_end(g);
        return;
    }
    for (size_t i = 0; i < t->suite.count && missing(t); i++) {
        json_t *test = (json_t *)(uintptr_t)t->suite.tests[i].json;
        const json_t *mark = mark_of(marks, t->suite.tests[i].id);
        if (mark && !limit_answer(g, test, mark)) {
            t->marked++;
            refuse(t, test, json_get_string(mark, "message", ""));
        } else {
            json_array_append(t->kept, test);
            t->idle = 0;
        }
    }
    json_decref(marks);
    suite_finish(&t->suite);
    t->suite = (struct suite){0};
    next_source(g);
}

static bool has_id(const json_t *list, const char *id) {
    return mark_of(list, id) != NULL;
}

/* own_id: the test brings an id that says what it asks for; another with it is the same.
 */
static void add_candidate(struct testing *t, const json_t *given, bool own_id,
                          const struct err *broken) {
    char id[32];
    struct err err = {0};
    const char *name = own_id ? json_get_string(given, "id", "") : id;
    do {
        snprintf(id, sizeof id, "t%zu", ++t->number);
    } while (!own_id && (has_id(t->kept, id) || has_id(t->batch, id)));
    t->seen++;
    json_t *test = broken->code ? NULL : teacher_test_check(given, name, &err);
    autofree char *words = test ? json_dumps(test, JSON_INDENT(1)) : NULL;
    if (words && skill_refuse_secret(t->redaction, NULL, "the test", words, strlen(words),
                                     &err) < 0) {
        json_decref(take(test));
    }
    if (!test) {
        t->broken++;
        refuse(t, given, broken->code ? broken->msg : err.msg);
    } else if (has_id(t->kept, name) || has_id(t->batch, name) ||
               teacher_test_is_there(t->kept, test) ||
               teacher_test_is_there(t->batch, test)) {
        t->repeated++;
        refuse(t, given, "it is there already");
        json_decref(test);
    } else {
        json_array_append_new(t->batch, test);
    }
}

static void new_batch(struct testing *t) {
    json_decref(t->batch);
    t->batch = json_array();
    json_array_clear(t->refused);
    t->idle++;
}

static void try_batch(struct generating *g) {
    struct testing *t = g->testing;
    struct grade_room room = {.loop = call_origin(g->call)->loop,
                              .origin = call_origin(g->call)};
    if (generate_is_over(g) || !json_array_size(t->batch) ||
        suite_from_json(&t->suite, t->batch, &g->err) < 0) { /* ours: cannot be wrong */
        next_source(g);
        return;
    }
    t->quality = quality_start(&room, &t->suite, g->draft.text, strlen(g->draft.text),
                               on_quality, g);
}

/* --- sources: the host --- */

static void try_given(struct generating *g) {
    struct testing *t = g->testing;
    autojson *given = take(g->given_tests);
    const struct err fine = {0};
    new_batch(t);
    json_each(given, i, test) {
        add_candidate(t, test, false, &fine);
    }
    try_batch(g);
}

/* "the question": why, of the first tests of the last batch that were refused. */
static void add_refused(struct buf *out, const struct testing *t, size_t most) {
    json_each(t->refused, i, one) {
        if (i < most) {
            buf_addf(out, "%s\"%.120s\": %.300s", i ? "; " : "",
                     json_get_string(one, "input", ""), json_get_string(one, "why", ""));
        }
    }
}

static bool ask_host_again(struct generating *g) {
    struct testing *t = g->testing;
    if (g->request.teacher != TEACHER_HOST || !json_array_size(t->refused) ||
        g->round >= GENERATE_ROUNDS) {
        return false;
    }
    autobuf text = BUF_INIT(32u << 10);
    add_refused(&text, t, MAX_REFUSED);
    json_array_clear(t->refused);
    generate_ask_host_tests(g, text.data, missing(t));
    return true;
}

void generate_test_given(struct generating *g) {
    next_source(g);
}

/* --- sources: the model --- */

/* In the form that was asked for, or in one that suites have: {"tests": […]} or the list
 * itself, of {"input", "expected": {…}}. New reference, or NULL. */
static json_t *tests_of(const struct model_answer *a) {
    autojson *found = a->json ? json_deep_copy(a->json)
                              : structured_find(a->text, strlen(a->text), NULL);
    return json_incref(json_is_array(found) ? found : json_object_get(found, "tests"));
}

static void on_tests(struct generating *g, const struct model_answer *a) {
    struct testing *t = g->testing;
    if (a->outcome != MODEL_ANSWERED && a->outcome != MODEL_INVALID &&
        a->outcome != MODEL_TRUNCATED) {
        free(t->reason);
        t->reason = xasprintf("the teacher gave no more: %.300s", a->message);
        t->max_asks = 0;
        next_source(g);
        return;
    }
    t->requests += a->requests;
    new_batch(t);
    autojson *tests = tests_of(a);
    json_each(tests, i, asked) {
        struct err err = {0};
        autojson *test = i < 2u * TEACHER_BATCH ? teacher_test_read(asked, &err) : NULL;
        if (test || err.code) {
            add_candidate(t, test ? test : asked, false, &err);
        }
    }
    try_batch(g);
}

/* Kept answers of which no test is good were another call's: then it is asked. */
static bool has_asked_enough(struct testing *t) {
    if (t->max_asks && (t->asks < t->max_asks && t->idle < MAX_IDLE)) {
        return false;
    }
    if (!t->max_asks || t->requests || json_array_size(t->kept) > t->earlier ||
        t->draws >= GENERATE_DRAWS) {
        return true;
    }
    t->draws++;
    t->idle = 0;
    t->max_asks = t->asks + MAX_IDLE;
    return false;
}

static bool ask_model(struct generating *g) {
    struct testing *t = g->testing;
    if (g->request.teacher != TEACHER_MODEL || has_asked_enough(t)) {
        return false;
    }
    bool kernels =
        strcasestr(g->draft.text, "cuda") || strstr(g->draft.text, "__global__");
    size_t count = missing(t) < TEACHER_BATCH ? missing(t) : TEACHER_BATCH;
    struct teacher_material material = generate_teacher_material(g);
    autojson *there =
        g->material.has_base ? json_copy(g->material.asked_tests) : json_array();
    for (size_t i = t->earlier; i < json_array_size(t->kept); i++) {
        json_array_append(there, json_array_get(t->kept, i));
    }
    const struct teacher_tests wish = {.material = &material,
                                       .skill = g->keeps ? g->material.base_text
                                                         : g->draft.text,
                                       .count = count,
                                       .there = there,
                                       .refused = t->refused,
                                       .kernels = kernels};
    autobuf question = BUF_INIT(2 * TEACHER_MAX_PROMPT);
    autojson *schema = teacher_tests_schema(kernels);
    teacher_ask_tests(&question, &wish);
    generate_report(g, GENERATE_TESTING, "%zu of %zu tests; asking %s for %zu more",
                    json_array_size(t->kept), t->wanted, g->request.model.name, count);
    const struct teacher_question q = {.system = teacher_tests_system,
                                       .messages = {{"user", question.data}},
                                       .count = 1,
                                       .schema = schema,
                                       .schema_name = "tests",
                                       .run = t->asks++,
                                       .stage = GENERATE_TESTING,
                                       .what = "the teacher writes tests"};
    if (generate_ask_teacher(g, &q, on_tests) < 0) {
        t->reason = t->reason ? t->reason : xstrdup(g->err.msg);
        t->max_asks = 0;
        generate_forgive(g);
        return false;
    }
    return true;
}

/* --- sources: the traces --- */

static void make_from_traces(struct generating *g) {
    struct testing *t = g->testing;
    const struct err fine = {0};
    autojson *list = builtin_tests(&g->material.lessons, material_task(&g->material),
                                   2 * missing(t) + TEACHER_BATCH);
    new_batch(t);
    json_each(list, i, test) {
        add_candidate(t, test, true, &fine);
    }
}

/* Why there are fewer than wanted; of the last batch also which. */
static char *tell_rejected(const struct testing *t) {
    autobuf which = BUF_INIT(32u << 10);
    add_refused(&which, t, TOLD_REFUSED);
    size_t rejected = t->marked + t->repeated + t->broken;
    return !t->seen ? xstrdup("the teacher wrote none")
                    : xasprintf("tests rejected: %zu of the %zu that the teacher wrote%s%s",
                                rejected, t->seen, which.len ? ", such as " : "",
                                which.data ? which.data : "");
}

static void next_source(struct generating *g) {
    struct testing *t = g->testing;
    if (generate_is_over(g)) {
        generate_end(g);
    } else if (!missing(t)) {
        finish(g);
    } else if (g->given_tests) {
        try_given(g);
    } else if (ask_host_again(g) || ask_model(g)) {
        return;
    } else if (!t->from_traces) {
        t->from_traces = true;
        if (g->request.teacher != TEACHER_BUILTIN && !t->reason) {
            t->reason = tell_rejected(t);
        }
        generate_on_thread(g, make_from_traces, try_batch);
    } else {
        finish(g);
    }
}

void generate_test(struct generating *g) {
    generate_report(g, GENERATE_TESTING, "making tests");
    testing_new(g);
    next_source(g);
}
