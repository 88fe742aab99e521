#include "skills/evaluation/evaluation_result.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/words.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/evaluation_sentence.h"
#include "skills/evaluation/evaluation_state.h"
#include "skills/evaluation/standing.h"
#include "skills/grading/quality.h"
#include "skills/skill_operations.h"
#include "skills/statistics/statistics.h"

#include <math.h>

#define TEXT_MAX (16u << 10)

struct result_work {
    const struct evaluation *e;
    const struct evaluation_facts *facts;
    double *a, *b; /* room for a value per test */
    size_t *test;
};

/* --- lifts --- */

static size_t compare(const struct result_work *w, size_t student, size_t from, size_t to,
                      struct lift *lift, struct paired_results *pairs) {
    unsigned runs;
    size_t n = cell_pairs(&w->e->grid, student, from, to, w->a, w->b, w->test, &runs);
    autofree const char **lessons = xcalloc(n + 1, sizeof *lessons);
    for (size_t i = 0; i < n; i++) {
        lessons[i] = w->e->o.tests[w->test[i]]->lesson;
    }
    n = join_lessons(w->a, w->b, lessons, n);
    *pairs = (struct paired_results){
        .baseline = w->a, .skill = w->b, .n = n, .runs = runs, .seed = w->e->o.seed};
    lift_judge(lift, pairs);
    return n;
}

static json_t *lift_json(const struct lift *l, size_t n) {
    return json_pack("{s:o,s:o,s:o,s:s,s:o,s:I,s:o,s:o}", "estimate",
                     json_finite(l->lift.estimate), "low", json_finite(l->lift.low),
                     "high", json_finite(l->lift.high), "method", l->method, "p",
                     json_finite(l->p), "n_tests", (json_int_t)n, "smallest_detectable",
                     json_finite(l->smallest_detectable), "more_tests_needed",
                     l->more_tests_needed == SIZE_MAX
                         ? json_null()
                         : json_integer((json_int_t)l->more_tests_needed));
}

static void add_lift(const struct result_work *w, size_t student, size_t arm,
                     size_t against, json_t *lifts) {
    struct lift lift;
    struct paired_results pairs;
    size_t n = compare(w, student, against, arm, &lift, &pairs);
    json_t *one = lift_json(&lift, n);
    autojson *whose = json_pack("{s:s,s:s,s:s}", "arm", arm_name(w->e->o.arms[arm].kind),
                                "vs", arm_name(w->e->o.arms[against].kind), "verdict",
                                verdict_name(lift.verdict));
    json_object_update(one, whose);
    json_array_append_new(lifts, one);
}

/* Each further arm against the baseline, and the skill against it. */
static json_t *further_lifts(const struct result_work *w, size_t student) {
    json_t *lifts = json_array();
    for (size_t arm = 2; arm < w->e->o.arm_count; arm++) {
        add_lift(w, student, arm, 0, lifts);
        add_lift(w, student, 1, arm, lifts);
    }
    return lifts;
}

/* --- tables --- */

static json_t *arm_json(const struct result_work *w, size_t student, size_t arm) {
    struct cell_tally t;
    cell_tally(&w->e->grid, student, arm, &t);
    struct interval rate = wilson_interval(t.rate_sum, t.tests);
    return json_pack(
        "{s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:I,s:I,s:{s:I,s:I,s:I},s:o,s:o*,s:o*}",
        "name", arm_name(w->e->o.arms[arm].kind), "tests", (json_int_t)t.tests, "runs",
        (json_int_t)(t.passed + t.failed), "passed", (json_int_t)t.passed, "errored",
        (json_int_t)t.errored, "refused", (json_int_t)t.refused, "skipped",
        (json_int_t)t.skipped, "pass_rate", json_finite(rate.estimate), "low",
        json_finite(rate.low), "high", json_finite(rate.high), "assertions_passed",
        (json_int_t)t.assertions_passed, "assertions_total",
        (json_int_t)t.assertions_total, "tokens", "input", (json_int_t)t.input, "output",
        (json_int_t)t.output, "total", (json_int_t)(t.input + t.output), "cost",
        t.cost < 0 ? json_null() : json_real(t.cost), "truncated",
        t.truncated ? json_integer((json_int_t)t.truncated) : NULL, "reused",
        t.reused ? json_integer((json_int_t)t.reused) : NULL);
}

static json_t *outcome(const struct cell *c) {
    return cell_counts(c) ? json_boolean(c->state == CELL_PASSED) : json_null();
}

static json_t *test_json(const struct result_work *w, size_t student, size_t test) {
    json_t *pairs = json_array();
    for (size_t run = 0; run < w->e->grid.runs; run++) {
        json_t *pair = json_pack("{s:I}", "run", (json_int_t)run + 1);
        for (size_t arm = 0; arm < w->e->o.arm_count; arm++) {
            json_object_set_new(pair, arm_name(w->e->o.arms[arm].kind),
                                outcome(cell_at(&w->e->grid, student, arm, test, run)));
        }
        json_array_append_new(pairs, pair);
    }
    const struct test_case *t = w->e->o.tests[test];
    return json_pack("{s:s,s:o,s:s*}", "id", t->id, "pairs", pairs, "split",
                     t->split != SPLIT_NONE ? test_split_name(t->split) : NULL);
}

static json_t *tests_json(const struct result_work *w, size_t student) {
    return json_list(i, 0, w->e->grid.tests, test_json(w, student, i));
}

/* Mean tokens of a test's graded runs; 0 when there is none. */
static double tokens_of(const struct result_work *w, size_t student, size_t arm,
                        size_t test) {
    double sum = 0;
    unsigned n = 0;
    for (size_t run = 0; run < w->e->grid.runs; run++) {
        const struct cell *c = cell_at(&w->e->grid, student, arm, test, run);
        sum += cell_counts(c) ? (double)(c->input + c->output) : 0;
        n += cell_counts(c);
    }
    return n ? sum / n : 0;
}

/* Tokens with the skill over tokens without it: geometric mean over tests. */
static json_t *token_ratio(const struct result_work *w, size_t student) {
    for (size_t i = 0; i < w->e->grid.tests; i++) {
        w->a[i] = tokens_of(w, student, 1, i);
        w->b[i] = tokens_of(w, student, 0, i);
    }
    struct interval ratio =
        bootstrap_geometric_mean(w->a, w->b, w->e->grid.tests, w->e->o.seed);
    return json_pack("{s:o,s:o,s:o}", "estimate", json_finite(ratio.estimate), "low",
                     json_finite(ratio.low), "high", json_finite(ratio.high));
}

static json_t *activation_json(const struct result_work *w, size_t student) {
    struct cell_tally t;
    if (!w->e->o.students[student].agent) {
        return json_null();
    }
    cell_tally(&w->e->grid, student, 1, &t);
    return json_pack("{s:I,s:I}", "activated", (json_int_t)t.activated, "of",
                     (json_int_t)(t.passed + t.failed));
}

static json_t *injection_json(const struct injection *seen) {
    return json_pack("{s:I,s:o,s:o}", "expected_tokens",
                     (json_int_t)seen->expected_tokens, "seen_tokens",
                     seen->known ? json_integer((json_int_t)llround(seen->seen_tokens))
                                 : json_null(),
                     "ok", seen->known ? json_boolean(seen->ok) : json_null());
}

/* --- a student --- */

static json_t *error_json(const struct result_work *w, size_t student) {
    const char *hint = w->e->standings[student].hint;
    const struct cell *c = sentence_first_problem(w->e, student);
    return c ? json_pack("{s:o,s:s,s:o*}", "message", json_clean_z(c->why), "test",
                         w->e->o.tests[c->test]->id, "hint",
                         hint ? json_clean_z(hint) : NULL)
             : NULL;
}

static json_t *arms_json(const struct result_work *w, size_t student) {
    return json_list(arm, 0, w->e->o.arm_count, arm_json(w, student, arm));
}

static json_t *student_json(const struct result_work *w, size_t student,
                            struct lift *lift) {
    struct paired_results pairs;
    struct injection seen = {.ok = true};
    autobuf sentence = BUF_INIT(TEXT_MAX);
    size_t n = compare(w, student, 0, 1, lift, &pairs);
    bool checked = w->facts->measured_size && !w->e->o.students[student].agent;
    if (checked) {
        injection_check(&w->e->grid, student, 1, w->e->o.arms[1].added_tokens, &seen);
    }
    lift->verdict = seen.ok ? lift->verdict : VERDICT_NO_EVIDENCE;
    const struct sentence_subject subject = {w->e, w->facts, student};
    sentence_of_student(&sentence, &subject, lift, &pairs, &seen);
    return json_pack(
        "{s:s,s:s,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o*,s:o*}", "model",
        w->e->o.students[student].name, "verdict", verdict_name(lift->verdict),
        "sentence", json_clean(sentence.data, sentence.len), "lift", lift_json(lift, n),
        "arms", arms_json(w, student), "tests", tests_json(w, student), "injection",
        checked ? injection_json(&seen) : json_null(), "activation",
        activation_json(w, student), "token_ratio", token_ratio(w, student), "lifts",
        w->e->o.arm_count > 2 ? further_lifts(w, student) : NULL, "error",
        error_json(w, student));
}

/* --- the whole --- */

struct counts {
    size_t helps, hurts, not_measurable, students;
};

static enum verdict whole_verdict(const struct counts *c) {
    if (c->helps && !c->hurts) {
        return VERDICT_HELPS;
    }
    if (c->hurts && !c->helps) {
        return VERDICT_HURTS;
    }
    return c->not_measurable == c->students ? VERDICT_NOT_MEASURABLE
                                            : VERDICT_NO_EVIDENCE;
}

static void say_whole(struct buf *out, const struct result_work *w,
                      const struct counts *c, const json_t *students) {
    if (c->students == 1) {
        buf_adds(out, json_get_string(json_array_get(students, 0), "sentence", ""));
    } else if (c->helps && c->hurts) {
        buf_addf(out,
                 "Mixed: of %zu students the skill helps %zu and hurts %zu (p adjusted "
                 "for %zu comparisons); give it only to those that it helps.",
                 c->students, c->helps, c->hurts, c->students);
    } else {
        buf_addf(out,
                 "Of %zu students the skill helps %zu and hurts %zu (p adjusted for %zu "
                 "comparisons).",
                 c->students, c->helps, c->hurts, c->students);
    }
    if (w->e->stop == EVALUATION_BUDGET || w->e->stop == EVALUATION_TIME) {
        buf_addf(out,
                 " It ended early, when %s used up; the verdict rests on the pairs that "
                 "were complete by then.",
                 w->e->stop == EVALUATION_TIME ? "its time was" : "its budget was");
    }
    if (w->facts->record_problem) {
        buf_adds(out, " The record is incomplete: ");
        sentence_add(out, w->facts->record_problem);
    }
}

/* Holm's correction over the students that have a p; for the others it stays null. */
static void adjust(const struct lift *lifts, json_t *students, struct counts *c) {
    autofree double *p = xcalloc(c->students, sizeof *p);
    autofree size_t *who = xcalloc(c->students, sizeof *who);
    size_t m = 0;
    for (size_t i = 0; i < c->students; i++) {
        c->not_measurable += lifts[i].verdict == VERDICT_NOT_MEASURABLE;
        if (isfinite(lifts[i].p)) {
            who[m] = i;
            p[m++] = lifts[i].p;
        }
    }
    holm_adjust(p, m);
    for (size_t k = 0; k < m; k++) {
        json_t *lift = json_object_get(json_array_get(students, who[k]), "lift");
        json_object_set_new(lift, "p_adjusted", json_real(p[k]));
        c->helps += lifts[who[k]].verdict == VERDICT_HELPS && p[k] <= 0.05;
        c->hurts += lifts[who[k]].verdict == VERDICT_HURTS && p[k] <= 0.05;
    }
}

/* --- marks --- */

/* The mark that a test earns when every student fares alike with it in both arms. */
static const char *sameness(const struct result_work *w, size_t test) {
    size_t passed = 0, failed = 0;
    for (size_t k = 0; k < w->e->grid.students * w->e->grid.runs * 2; k++) {
        const struct cell *c = cell_at(&w->e->grid, k / (2 * w->e->grid.runs), k % 2,
                                       test, k / 2 % w->e->grid.runs);
        passed += c->state == CELL_PASSED;
        failed += c->state == CELL_FAILED;
    }
    double rate = (double)passed / (double)(passed + failed);
    return passed + failed < 2 ? NULL : quality_of_results(rate, rate);
}

static json_t *mark_of(json_t *marks, const char *id) {
    json_each(marks, i, one) {
        if (json_says(one, "id", id)) {
            return one;
        }
    }
    json_t *made = json_pack("{s:s,s:[]}", "id", id, "marks");
    json_array_append_new(marks, made);
    return made;
}

static json_t *marks_json(const struct result_work *w) {
    json_t *marks = w->facts->marks ? json_deep_copy(w->facts->marks) : json_array();
    for (size_t i = 0; i < w->e->grid.tests; i++) {
        const char *same = sameness(w, i);
        if (same) {
            json_t *one = mark_of(marks, w->e->o.tests[i]->id);
            json_array_append_new(json_object_get(one, "marks"), json_string(same));
            if (!json_object_get(one, "message") && quality_mark_message(same)) {
                json_object_set_new(one, "message",
                                    json_string(quality_mark_message(same)));
            }
        }
    }
    return marks;
}

/* --- provenance --- */

static json_t *models_json(const struct result_work *w) {
    json_t *models = json_array();
    list_each(i, s, w->e->o.students, w->e->o.student_count) {
        json_t *one =
            s->model ? model_to_json(s->model)
                     : json_pack("{s:s,s:s}", "name", s->name, "agent", s->agent->agent);
        json_t *served = json_object_get(w->e->served, s->name);
        json_object_set_new(one, "served", served ? json_incref(served) : json_array());
        json_array_append_new(models, one);
    }
    return models;
}

static json_t *prompts_json(const struct result_work *w) {
    json_t *prompts = json_array();
    list_each(i, arm, w->e->o.arms, w->e->o.arm_count) {
        json_array_append_new(prompts,
                              json_pack("{s:s,s:s,s:I}", "arm", arm_name(arm->kind),
                                        "digest", arm->digest, "added_tokens",
                                        (json_int_t)arm->added_tokens));
    }
    return prompts;
}

static json_t *provenance(const struct result_work *w) {
    size_t hits = 0, requests = 0;
    for (size_t i = 0; i < w->e->grid.count; i++) {
        hits += w->e->grid.cells[i].cached;
        requests += w->e->grid.cells[i].requests;
    }
    json_t *all = json_copy((json_t *)(uintptr_t)w->facts->provenance);
    autojson *known = json_pack(
        "{s:o,s:o,s:I,s:I,s:i,s:I}", "models", models_json(w), "prompts", prompts_json(w),
        "cache_hits", (json_int_t)hits, "requests", (json_int_t)requests, "runs",
        (int)w->e->o.runs, "seed", (json_int_t)(w->e->o.seed & INT64_MAX));
    json_object_update(all, known);
    return all;
}

static const char *const stop_names[] = {"complete", "budget", "time", "cancelled"};

json_t *evaluation_result(const struct evaluation *e,
                          const struct evaluation_facts *facts) {
    const struct evaluation_options *o = &e->o;
    struct result_work w = {.e = e,
                            .facts = facts,
                            .a = xcalloc(o->test_count, sizeof(double)),
                            .b = xcalloc(o->test_count, sizeof(double)),
                            .test = xcalloc(o->test_count, sizeof(size_t))};
    autofree struct lift *lifts = xcalloc(o->student_count, sizeof *lifts);
    struct counts counts = {.students = o->student_count};
    autobuf sentence = BUF_INIT(TEXT_MAX);
    json_t *students = json_list(i, 0, o->student_count, student_json(&w, i, &lifts[i]));
    adjust(lifts, students, &counts);
    say_whole(&sentence, &w, &counts, students);
    json_t *result = json_pack(
        "{s:s,s:o,s:o,s:o,s:s,s:o,s:o*}", "verdict", verdict_name(whole_verdict(&counts)),
        "sentence", json_clean(sentence.data, sentence.len), "students", students,
        "marks", marks_json(&w), "ended_by", stop_names[e->stop], "provenance",
        provenance(&w), "aa", facts->again ? json_true() : NULL);
    free(w.a);
    free(w.b);
    free(w.test);
    return result;
}

/* --- in words --- */

static const char arm_words[] =
    "{verdict|}: {sentence|}\n"
    "{students:{model|}: {verdict|}\n"
    "{arms:  {name%-9s} [{pass_rate%3.0p} % (95 %: {low%.0p}-{high%.0p})|-], {tests|0} tests, "
    "{runs|0} answers, {errored|0} errored, {refused|0} refused, {tokens.total|0} tokens\n}}";

/* "never_passes: t1, t2": the tests of each mark on one line. */
static void describe_marks(const json_t *marks, struct buf *out) {
    autojson *tests = json_object();
    json_each(marks, i, mark) {
        json_each(json_object_get(mark, "marks"), k, name) {
            const char *key = json_string_value(name);
            if (!json_object_get(tests, key)) {
                json_object_set_new(tests, key, json_array());
            }
            json_array_append(json_object_get(tests, key), json_object_get(mark, "id"));
        }
    }
    json_each_member(tests, name, ids) {
        buf_addf(out, "%s:", name);
        json_each(ids, k, id) {
            buf_addf(out, "%s %.100s", k ? "," : "", json_string_value(id));
        }
        buf_adds(out, "\n");
    }
}

/* Which of the skills of one name was measured. */
static const char skill_words[] =
    "[{?source=*}skill: {path|} (" SKILL_SOURCE_WORDS ")\n" SKILL_NAME_WORDS("") "]";

void evaluation_describe(const json_t *result, struct buf *out) {
    words_add(out, arm_words, result);
    describe_marks(json_object_get(result, "marks"), out);
    words_add(out, skill_words, json_object_get(result, "provenance"));
    words_add(out, "[record: {run}\n]", result);
}
