#include "skills/triggers/trigger_result.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/words.h"
#include "skills/evaluation/evaluation_sentence.h"
#include "skills/evaluation/evaluation_state.h"
#include "skills/refinement/refinement.h"
#include "skills/statistics/statistics.h"
#include "skills/triggers/trigger_queries.h"

#define WORDS 4096u
#define SHOWN_QUERIES 12u

/* --- loads --- */

json_t *trigger_loads_new(size_t students, size_t tests) {
    json_t *loads = json_array();
    for (size_t s = 0; s < students; s++) {
        json_t *row = json_list(t, 0, tests, json_object());
        json_array_append_new(loads, row);
    }
    return loads;
}

void trigger_loads_add(json_t *loads, size_t student, size_t test, const json_t *answer) {
    const char *name = json_get_string(answer, "loaded", NULL);
    json_t *counts = json_array_get(json_array_get(loads, student), test);
    if (name && counts) {
        json_object_set_new(counts, name,
                            json_integer(json_get_integer(counts, name, 0) + 1));
    }
}

/* --- counting --- */

/* One query with one student. */
struct seen {
    unsigned runs, loaded;
    bool wanted, right; /* `right` is undefined without runs */
};

static struct seen look(const struct evaluation *e, size_t student, size_t test) {
    struct seen q = {.wanted = trigger_wanted(e->o.tests[test])};
    for (size_t run = 0; run < e->grid.runs; run++) {
        const struct cell *c = cell_at(&e->grid, student, 0, test, run);
        q.runs += cell_counts(c);
        q.loaded += cell_counts(c) && (c->state == CELL_PASSED) == q.wanted;
    }
    q.right = (2 * q.loaded >= q.runs) == q.wanted;
    return q;
}

struct tally {
    unsigned control_loaded, control_runs; /* answers */
    unsigned wanted, hits;                 /* queries that must load it; and do */
    unsigned unwanted, spared;             /* that must not; and do not */
};

static void count(const struct evaluation *e, size_t student, struct tally *t) {
    *t = (struct tally){0};
    for (size_t i = 0; i < e->o.test_count; i++) {
        struct seen q = look(e, student, i);
        if (trigger_is_control(e->o.tests[i])) {
            t->control_loaded += q.loaded;
            t->control_runs += q.runs;
        } else if (q.runs && q.wanted) {
            t->wanted++;
            t->hits += q.right;
        } else if (q.runs) {
            t->unwanted++;
            t->spared += q.right;
        }
    }
}

enum trigger_outcome { PASS, FAIL, NOT_MEASURABLE };
static const char *const outcomes[] = {"pass", "fail", "not_measurable"};

static enum trigger_outcome judge(const struct tally *t) {
    bool loads = t->control_runs && 2 * t->control_loaded >= t->control_runs;
    return !loads || !(t->wanted + t->unwanted)               ? NOT_MEASURABLE
           : t->hits == t->wanted && t->spared == t->unwanted ? PASS
                                                              : FAIL;
}

/* --- a student --- */

static json_t *rate_json(unsigned right, unsigned of) {
    struct interval i = wilson_interval(right, of);
    return json_pack("{s:i,s:i,s:o,s:o,s:o}", "right", (int)right, "of", (int)of,
                     "estimate", json_finite(i.estimate), "low", json_finite(i.low),
                     "high", json_finite(i.high));
}

/* Of what was loaded, without the skill itself. */
static json_t *others_of(const json_t *loads, size_t student, size_t test,
                         const char *skill) {
    json_t *others = json_copy(json_array_get(json_array_get(loads, student), test));
    json_object_del(others, skill);
    if (json_object_size(others)) {
        return others;
    }
    json_decref(others);
    return NULL;
}

static json_t *queries_json(const struct evaluation *e, size_t student,
                            const json_t *loads, const char *skill) {
    json_t *list = json_array();
    for (size_t i = 0; i < e->o.test_count; i++) {
        const struct test_case *t = e->o.tests[i];
        struct seen q = look(e, student, i);
        if (!trigger_is_control(t)) {
            json_array_append_new(
                list, json_pack("{s:s,s:o,s:b,s:s,s:i,s:i,s:o,s:o*}", "id", t->id,
                                "query", json_clean_z(t->input), "should_trigger",
                                q.wanted, "split", test_split_name(t->split), "runs",
                                (int)q.runs, "loaded", (int)q.loaded, "right",
                                q.runs ? json_boolean(q.right) : json_null(), "others",
                                others_of(loads, student, i, skill)));
        }
    }
    return list;
}

#define RATE(member, what)                                                               \
    "{" member ".right} of {" member ".of} queries that " what " (95 % interval {" member    \
    ".low%.0p} to {" member ".high%.0p} %)"
static const char sentence_words[] =
    "[{model} could not be asked: {!asked}{problem|no answer came}."
    "|{model} says nothing about the description: it loaded a skill that plainly fits in "
    "only {control.loaded} of {control.of} answers, so it hardly loads any. Ask another "
    "model.{!loads}"
    "|{model} answered no query.{!needed.of}{!spared.of}"
    "|{model} loads the skill for [" RATE("needed", "need it") "{?needed.of}]"
    "[ and for {?needed.of}{?spared.of}][" RATE("spared", "do not") "{?spared.of}]."
    "[{!spared.of} No query tests when it must not be loaded, so a description that fits "
    "everything would pass as well."
    "|{!needed.of} No query tests when it must be loaded, so a description that fits nothing "
    "would pass as well.]]";

static void say_student(struct buf *out, const struct evaluation *e, size_t student,
                        const struct tally *t) {
    const char *problem = evaluation_student_problem(e, student);
    const struct cell *first = sentence_first_problem(e, student);
    problem = problem ? problem : first ? first->why : NULL;
    size_t len = problem ? strlen(problem) : 0;
    len -= len && problem[len - 1] == '.';
    autojson *told = json_pack(
        "{s:s,s:b,s:b,s:o*,s:{s:i,s:i},s:o,s:o}", "model", e->o.students[student].name,
        "asked", t->control_runs > 0, "loads", 2 * t->control_loaded >= t->control_runs,
        "problem", problem ? json_clean(problem, len) : NULL, "control", "loaded",
        (int)t->control_loaded, "of", (int)t->control_runs, "needed",
        rate_json(t->hits, t->wanted), "spared",
        rate_json(t->unwanted - t->spared, t->unwanted));
    words_add(out, sentence_words, told);
}

static json_t *student_json(const struct evaluation *e, size_t student,
                            const json_t *loads, const char *skill,
                            enum trigger_outcome *ret) {
    struct tally t;
    struct cell_tally cells;
    autobuf sentence = BUF_INIT(WORDS);
    count(e, student, &t);
    cell_tally(&e->grid, student, 0, &cells);
    say_student(&sentence, e, student, &t);
    *ret = judge(&t);
    unsigned false_hits = t.unwanted - t.spared;
    const char *problem = evaluation_student_problem(e, student);
    return json_pack("{s:s,s:s,s:o,s:{s:i,s:i},s:o,s:o,s:o,s:o,s:I,s:I,s:I,s:o,s:o*}",
                     "model", e->o.students[student].name, "verdict", outcomes[*ret],
                     "sentence", json_clean(sentence.data, sentence.len), "control",
                     "loaded", (int)t.control_loaded, "of", (int)t.control_runs, "recall",
                     rate_json(t.hits, t.wanted), "specificity",
                     rate_json(t.spared, t.unwanted), "precision",
                     rate_json(t.hits, t.hits + false_hits), "queries",
                     queries_json(e, student, loads, skill), "errored",
                     (json_int_t)cells.errored, "refused", (json_int_t)cells.refused,
                     "tokens", (json_int_t)(cells.input + cells.output), "cost",
                     cells.cost < 0 ? json_null() : json_real(cells.cost), "problem",
                     problem ? json_clean_z(problem) : NULL);
}

/* --- all of them --- */

static void say_all(struct buf *out, const json_t *students, const size_t counts[3]) {
    size_t n = json_array_size(students);
    if (n == 1) {
        buf_adds(out, json_get_string(json_array_get(students, 0), "sentence", ""));
        return;
    }
    buf_addf(out,
             "Of %zu models %zu load the skill for every query that needs it and for no "
             "other",
             n, counts[PASS]);
    buf_addf(out, counts[NOT_MEASURABLE] ? "; %zu could not be measured." : ".",
             counts[NOT_MEASURABLE]);
}

json_t *trigger_result(const struct evaluation *e, const json_t *loads,
                       const char *skill) {
    autobuf sentence = BUF_INIT(WORDS);
    json_t *students = json_array();
    size_t counts[3] = {0};
    for (size_t s = 0; s < e->o.student_count; s++) {
        enum trigger_outcome one;
        json_array_append_new(students, student_json(e, s, loads, skill, &one));
        counts[one]++;
    }
    enum trigger_outcome all = counts[FAIL]             ? FAIL
                               : counts[NOT_MEASURABLE] ? NOT_MEASURABLE
                                                        : PASS;
    say_all(&sentence, students, counts);
    if (e->stop == EVALUATION_BUDGET || e->stop == EVALUATION_TIME) {
        buf_addf(&sentence, " It ended early, when its %s was used up.",
                 e->stop == EVALUATION_TIME ? "time" : "budget");
    }
    return json_pack("{s:s,s:o,s:o}", "verdict", outcomes[all], "sentence",
                     json_clean(sentence.data, sentence.len), "students", students);
}

/* --- in words --- */

static const char student_words[] = "{model|}: {verdict|}. {sentence|}\n";
static const char query_words[] = "- [{?should_trigger}must load it|must not load it], "
                                  "loaded in {loaded|0} of {runs|0}: "
                                  "{query~200}\n";

void trigger_describe(const json_t *result, struct buf *out) {
    json_each(json_object_get(result, "students"), i, student) {
        size_t shown = 0;
        words_add(out, student_words, student);
        json_each(json_object_get(student, "queries"), k, q) {
            if (json_is_false(json_object_get(q, "right")) && shown++ < SHOWN_QUERIES) {
                words_add(out, query_words, q);
            }
        }
    }
    refinement_describe(json_object_get(result, "refinement"), out);
    words_add(out,
              "[{?proposal}[{?saved}The new description was saved:"
              "|A better description (not saved; `save` writes it):]\n{proposal.diff|}]",
              result);
}
