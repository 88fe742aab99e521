#include "skills/refinement/refinement.h"

#include "base/buf.h"
#include "base/text.h"
#include "base/words.h"
#include "skills/refinement/patch.h"
#include "skills/refinement/refine_prompt.h"
#include "skills/statistics/statistics.h"

#include <math.h>

#define REFINE_SPLIT_RUNS 1u /* answers per test and student that failures come from */
/* round n takes its fresh answers from run n * SECOND_LOOK on */
#define SECOND_LOOK 100u
#define MAX_REASON 300

enum refinement_step {
    BEGINNING,     /* the gate, with the start */
    FAILING,       /* the refine split, with the best */
    TEACHING,      /* edits */
    CHECKING,      /* the candidate */
    LOOKING,       /* the gate, with the candidate */
    LOOKING_AGAIN, /* the gate, both, fresh answers */
    REPORTING,     /* the report split, start and best */
    OVER,
};

struct refinement {
    struct refinement_options o;
    enum refinement_step step;
    enum refinement_stop stop;
    bool cancelled;
    char *start, *best, *candidate;
    struct refine_score *gate, *seen; /* of the best; of the candidate's first look */
    size_t gate_tests;
    unsigned round, rejected, mends;
    json_t *failures; /* of `best`; NULL: not asked yet */
    json_t *edits;    /* that gave the candidate, or could not be applied */
    char *why;        /* the teacher's words for them */
    struct refine_history history;
    json_t *told, *verdict; /* the rounds; on the report split */
    unsigned kept;
    double start_rate, final_rate; /* of the gate; NaN before it was asked */
    const char *stopped;           /* a constant, or NULL while it runs */
    char *problem;
    bool nothing_fails; /* the refine split has no failure to learn from */
    char doing[208];
};

static void finish(struct refinement *r, enum refinement_stop stop);
static void next_round(struct refinement *r);
static void ask_teacher(struct refinement *r);

static const char *refinement_stop_name(enum refinement_stop stop) {
    static const char *const names[] = {"perfect", "plateau",     "rounds",
                                        "budget",  "unavailable", "cancelled"};
    return names[stop];
}

static void say(struct refinement *r, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* "round 2 of 4 (gate 25 % → 50 %): " and what is being done. */
static void say(struct refinement *r, const char *fmt, ...) {
    char words[120], where[80] = "";
    text_format(words, fmt);
    if (r->round && r->step != REPORTING) {
        snprintf(where, sizeof where,
                 "round %u of %u (gate %.0f %% → %.0f %%): ", r->round, r->o.rounds,
                 100 * r->start_rate, 100 * r->final_rate);
    }
    snprintf(r->doing, sizeof r->doing, "%s%s", where, words);
    if (r->o.hooks->changed) {
        r->o.hooks->changed(r->o.host, r);
    }
}

/* With one text as the skill, or with two in turn. */
static void look(struct refinement *r, enum refinement_step step, enum test_split split,
                 const char *first, const char *second) {
    bool fails = step == FAILING;
    r->step = step;
    r->o.hooks->look(r->o.host, r,
                     &(struct refine_look){
                         .split = split,
                         .texts = {first, second},
                         .text_count = second ? 2 : 1,
                         .first_run = step == LOOKING_AGAIN ? SECOND_LOOK * r->round : 0,
                         .runs = fails ? REFINE_SPLIT_RUNS : r->o.runs,
                         .failures = fails});
}

/* --- the end --- */

static void finish(struct refinement *r, enum refinement_stop stop) {
    r->step = OVER;
    r->stop = stop;
    r->stopped = refinement_stop_name(stop);
    r->o.done(r, stop, r->o.data);
}

/* The held-out tests, once: what became of the start. */
static void report(struct refinement *r, enum refinement_stop stop) {
    r->stop = stop;
    if (!r->kept || stop == REFINEMENT_BUDGET || stop == REFINEMENT_UNAVAILABLE ||
        stop == REFINEMENT_CANCELLED) {
        finish(r, stop);
        return;
    }
    r->step = REPORTING;
    say(r, "comparing start and result on held-out tests");
    look(r, REPORTING, SPLIT_REPORT, r->start, r->best);
}

/* A hook has nothing: the best so far is what there is. */
static void give_up(struct refinement *r, enum refine_lack lack, const char *why) {
    r->problem = lack == REFINE_NO_ANSWER && why && !r->problem
                     ? xstrndup(why, text_cut(why, strlen(why), MAX_REASON))
                     : r->problem;
    finish(r, r->cancelled || lack == REFINE_CANCELLED ? REFINEMENT_CANCELLED
              : lack == REFINE_SPENT                   ? REFINEMENT_BUDGET
                                                       : REFINEMENT_UNAVAILABLE);
}

/* --- rounds --- */

static void drop_edits(struct refinement *r) {
    json_decref(take(r->edits));
    free(take(r->why));
    free(take(r->candidate));
}

static void end_round(struct refinement *r, bool accepted, double after, double p,
                      const char *reason) {
    /* A teacher's texts are outside bytes: cleaned before anybody sees them. */
    json_array_append_new(
        r->told,
        json_pack("{s:i,s:o,s:o,s:o,s:b,s:o,s:o*,s:o*}", "round", (int)r->round, "edits",
                  r->edits ? json_clean_all(r->edits) : json_array(), "gate_before",
                  json_finite(refine_rate(r->gate, r->gate_tests)), "gate_after",
                  json_finite(after), "accepted", accepted, "reason",
                  json_clean_z(reason), "p", isnan(p) ? NULL : json_real(p), "why",
                  r->why ? json_clean_z(r->why) : NULL));
    r->kept += accepted;
    r->rejected = accepted ? 0 : r->rejected + 1;
    if (!accepted) {
        refine_history_add(&r->history, r->edits, r->candidate, reason);
    }
    drop_edits(r);
}

static void reject(struct refinement *r, double after, double p, const char *reason) {
    end_round(r, false, after, p, reason);
    next_round(r);
}

/* Not even a candidate: once more with the reason, then the round is lost. */
static void mend(struct refinement *r, const char *reason) {
    autofree char *whole = xstrndup(reason, text_cut(reason, strlen(reason), 4000));
    if (r->mends++ == REFINE_MENDS) {
        reject(r, NAN, NAN, whole);
        return;
    }
    refine_history_add(&r->history, r->edits, r->candidate, whole);
    drop_edits(r);
    ask_teacher(r);
}

/* scores: the candidate's, of both looks. */
static void accept(struct refinement *r, const struct refine_score *scores, double after,
                   double p) {
    end_round(r, true, after, p, "the gate passes more, twice");
    memcpy(r->gate, scores, r->gate_tests * sizeof *scores);
    json_decref(take(r->failures));
    r->final_rate = refine_rate(r->gate, r->gate_tests);
}

static void next_round(struct refinement *r) {
    if (refine_is_perfect(r->gate, r->gate_tests)) {
        report(r, REFINEMENT_PERFECT);
    } else if (r->rejected == REFINE_PLATEAU) {
        report(r, REFINEMENT_PLATEAU);
    } else if (r->round == r->o.rounds) {
        report(r, REFINEMENT_ROUNDS);
    } else {
        r->round++;
        r->mends = 0;
        if (r->failures) {
            ask_teacher(r); /* the text is what it was, and so are its failures */
            return;
        }
        say(r, "looking for failures");
        look(r, FAILING, SPLIT_REFINE, r->best, NULL);
    }
}

/* --- edits --- */

static void ask_teacher(struct refinement *r) {
    autobuf prompt = BUF_INIT(REFINE_PROMPT_MAX);
    refine_prompt_write(&prompt, r->best, r->failures, &r->history, r->o.redaction,
                        r->o.answer_form);
    r->step = TEACHING;
    say(r, "asking the teacher about %zu failures", json_array_size(r->failures));
    r->o.hooks->teach(r->o.host, r, r->o.system ? r->o.system : refine_prompt_system(),
                      prompt.data);
}

static void join(const json_t *sentences, struct buf *out) {
    json_each(sentences, i, one) {
        buf_addf(out, "%s%s", i ? "; " : "", json_string_value(one));
    }
}

static void try_edits(struct refinement *r) {
    json_t *problems = NULL;
    if (patch_apply(r->edits, r->best, strlen(r->best), &r->candidate, &problems) < 0) {
        autobuf words = BUF_INIT(8192);
        join(problems, &words);
        json_decref(problems);
        mend(r, words.data);
        return;
    }
    const char *known = refine_history_knows(&r->history, r->candidate);
    if (known) {
        autofree char *reason = xasprintf("the same was tried before: %s", known);
        mend(r, reason);
        return;
    }
    r->step = CHECKING;
    say(r, "checking %zu edits", json_array_size(r->edits));
    r->o.hooks->check(r->o.host, r, r->candidate);
}

void refinement_taught(struct refinement *r, enum refine_lack lack, const json_t *answer,
                       const char *why) {
    if (r->cancelled || lack != REFINE_FINE) {
        give_up(r, lack, why);
        return;
    }
    const json_t *edits = json_object_get(answer, "edits");
    const char *words = json_get_string(answer, "why", NULL);
    r->edits = json_is_array(edits) ? json_incref((json_t *)(uintptr_t)edits) : NULL;
    r->why = words ? xstrndup(words, text_cut(words, strlen(words), MAX_REASON)) : NULL;
    if (!r->edits) {
        mend(r, why ? why : "the answer holds no edits");
    } else if (json_array_size(r->edits) == 0) {
        reject(r, NAN, NAN, "the teacher has no edit to make");
    } else {
        try_edits(r);
    }
}

void refinement_checked(struct refinement *r, enum refine_lack lack,
                        const char *problem) {
    if (r->cancelled || lack != REFINE_FINE) {
        give_up(r, lack, problem);
    } else if (problem) {
        autofree char *reason = xasprintf("the skill fails its check: %s", problem);
        mend(r, reason);
    } else {
        say(r, "asking the gate");
        look(r, LOOKING, SPLIT_GATE, r->candidate, NULL);
    }
}

/* --- what the students say --- */

static void begun(struct refinement *r, const struct refine_score *scores, size_t tests) {
    r->gate_tests = tests;
    r->gate = xcalloc(tests + 1, sizeof *r->gate);
    r->seen = xcalloc(tests + 1, sizeof *r->seen);
    memcpy(r->gate, scores, tests * sizeof *scores);
    double rate = refine_rate(r->gate, tests);
    if (isnan(rate)) {
        give_up(r, REFINE_NO_ANSWER, "no test of the gate split was answered");
        return;
    }
    r->start_rate = rate;
    r->final_rate = rate;
    next_round(r);
}

static void failed(struct refinement *r, json_t *failures) {
    if (json_array_size(failures) == 0) {
        json_decref(failures);
        r->round--; /* it never began */
        r->nothing_fails = true;
        report(r, REFINEMENT_PLATEAU);
        return;
    }
    r->failures = failures;
    ask_teacher(r);
}

static void looked_once(struct refinement *r, const struct refine_score *scores) {
    struct refine_comparison c;
    memcpy(r->seen, scores, r->gate_tests * sizeof *scores);
    refine_compare(&c, r->gate, r->seen, r->gate_tests);
    if (!refine_is_better(&c)) {
        reject(r, c.after, c.p,
               c.tests == 0         ? "the gate could not be asked"
               : c.after < c.before ? "the gate passes less"
                                    : "the gate passes as much as before");
        return;
    }
    say(r, "a gain on the gate (%.0f %% to %.0f %%), looking again", 100 * c.before,
        100 * c.after);
    look(r, LOOKING_AGAIN, SPLIT_GATE, r->best, r->candidate);
}

static void looked_twice(struct refinement *r, const struct refine_score *best,
                         const struct refine_score *candidate) {
    struct refine_comparison first, second, both;
    size_t n = r->gate_tests, bytes = (n + 1) * sizeof *best;
    autofree struct refine_score *before = xmalloc(bytes), *after = xmalloc(bytes);
    memcpy(before, r->gate, n * sizeof *best);
    memcpy(after, r->seen, n * sizeof *best);
    refine_compare(&first, before, after, n);
    refine_compare(&second, best, candidate, n);
    refine_add(before, best, n);
    refine_add(after, candidate, n);
    refine_compare(&both, before, after, n);
    if (refine_accepts(&first, &second, &both)) {
        char *text = take(r->candidate);
        accept(r, after, both.after, both.p);
        free(r->best);
        r->best = text;
        next_round(r);
        return;
    }
    reject(r, both.after, both.p,
           refine_is_better(&second) ? "the gain is too small to distinguish from luck"
                                     : "the gain did not repeat with fresh answers");
}

/* Start against final on the report split, by lessons as an evaluation counts. */
static void judge(struct refinement *r, const struct refine_score *start,
                  const struct refine_score *final, size_t tests) {
    autofree double *before = xcalloc(tests + 1, sizeof *before);
    autofree double *after = xcalloc(tests + 1, sizeof *after);
    autofree const char **lessons = xcalloc(tests + 1, sizeof *lessons);
    struct paired_results results = {
        .baseline = before, .skill = after, .runs = r->o.runs, .seed = 1};
    for (size_t i = 0; i < tests; i++) {
        if (start[i].graded && final[i].graded) {
            lessons[results.n] = start[i].lesson;
            before[results.n] = (double)start[i].passed / start[i].graded;
            after[results.n++] = (double) final[i].passed / final[i].graded;
        }
    }
    results.n = join_lessons(before, after, lessons, results.n);
    struct lift lift;
    lift_judge(&lift, &results);
    r->verdict = json_pack(
        "{s:s,s:o,s:o,s:{s:o,s:o,s:o,s:o,s:I}}", "verdict", verdict_name(lift.verdict),
        "start", json_finite(lift.baseline), "final", json_finite(lift.skill), "lift",
        "estimate", json_finite(lift.lift.estimate), "low", json_finite(lift.lift.low),
        "high", json_finite(lift.lift.high), "p", json_finite(lift.p), "n_tests",
        (json_int_t)results.n);
}

void refinement_looked(struct refinement *r, enum refine_lack lack,
                       const struct refine_score *const scores[2], size_t tests,
                       json_t *failures, const char *why) {
    enum refinement_step step = r->step;
    if (step != FAILING || r->cancelled || lack != REFINE_FINE) {
        json_decref(failures);
        failures = NULL;
    }
    if (step == REPORTING && !r->cancelled) {
        if (lack == REFINE_FINE) {
            judge(r, scores[0], scores[1], tests);
        }
        finish(r, r->stop); /* without its verdict, if it must be */
    } else if (r->cancelled || lack != REFINE_FINE) {
        give_up(r, lack, why);
    } else if (step == BEGINNING) {
        begun(r, scores[0], tests);
    } else if (step == FAILING) {
        failed(r, failures);
    } else if (step == LOOKING) {
        looked_once(r, scores[0]);
    } else {
        looked_twice(r, scores[0], scores[1]);
    }
}

/* --- life --- */

struct refinement *refinement_start(const struct refinement_options *options) {
    struct refinement *r = xcalloc(1, sizeof *r);
    r->o = *options;
    r->o.runs = options->runs ? options->runs : REFINE_RUNS;
    r->o.rounds =
        options->rounds > REFINE_MAX_ROUNDS ? REFINE_MAX_ROUNDS : options->rounds;
    r->start = xstrdup(options->text);
    r->best = xstrdup(options->text);
    r->told = json_array();
    r->start_rate = r->final_rate = NAN;
    say(r, "asking the gate with the skill as it is");
    look(r, BEGINNING, SPLIT_GATE, r->best, NULL);
    return r;
}

void refinement_cancel(struct refinement *r) {
    if (!r->cancelled && r->step != OVER) {
        r->cancelled = true;
        r->o.hooks->stop(r->o.host);
    }
}

void refinement_free(struct refinement *r) {
    drop_edits(r);
    free(r->start);
    free(r->best);
    free(r->gate);
    free(r->seen);
    json_decref(r->failures);
    refine_history_finish(&r->history);
    json_decref(r->told);
    json_decref(r->verdict);
    free(r->problem);
    free(r);
}

const char *refinement_text(const struct refinement *r) {
    return r->best;
}

json_t *refinement_result(const struct refinement *r) {
    const char *problem = r->problem         ? r->problem
                          : r->nothing_fails ? "the refine split holds no failure to "
                                               "learn from; write harder tests"
                                             : NULL;
    return json_pack("{s:o,s:i,s:{s:o,s:o},s:s*,s:o*,s:O*}", "rounds",
                     json_deep_copy(r->told), "kept", (int)r->kept, "gate", "start",
                     json_finite(r->start_rate), "final", json_finite(r->final_rate),
                     "stopped", r->stopped, "problem",
                     problem ? json_clean_z(problem) : NULL, "verdict", r->verdict);
}

const char *refinement_doing(const struct refinement *r) {
    return r->doing;
}

void refinement_describe(const json_t *refinement, struct buf *out) {
    if (refinement) {
        words_add(
            out,
            "Refinement: {kept|0} of [{rounds-0}|0] rounds kept; it ended by {stopped|?}"
            "[ ({problem})]"
            "[; the gate passes {gate.final%.0p} % instead of {gate.start%.0p} %].\n"
            "[{?verdict}On held-out tests: {verdict.final%.0p} % instead of "
            "{verdict.start%.0p} % ({verdict.verdict|?}).\n]",
            refinement);
    }
}
