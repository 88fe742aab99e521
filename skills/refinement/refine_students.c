#include "skills/refinement/refine_students.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/work.h"
#include "skills/check/skill_check.h"
#include "skills/refinement/refine_prompt.h"

/* --- the end of a look --- */

static void drop(struct refine_seen *seen) {
    for (size_t i = 0; i < seen->test_count; i++) {
        json_decref(seen->failures[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        arm_finish(&seen->arms[i]);
        free(seen->scores[i]);
    }
    free(seen->tests);
    free(seen->failures);
    free(seen->failed_at);
    *seen = (struct refine_seen){0};
}

/* Why no student said anything, or NULL when one did. */
static const char *nobody(const struct refine_students *s) {
    const char *why = NULL;
    for (size_t i = 0; i < s->seen.test_count; i++) {
        if (s->seen.scores[0][i].graded) {
            return NULL;
        }
    }
    for (size_t i = 0; i < s->options.student_count && !why; i++) {
        why = evaluation_student_problem(s->evaluation, i);
    }
    return why ? why
           : s->seen.test_count
               ? "no student's answer could be graded"
               : "there are too few tests: each split needs one (three in all at least)";
}

/* The worst first; tests that fail alike stay in their order. */
static json_t *take_failures(struct refine_students *s) {
    json_t *all = json_array();
    size_t asked = s->options.student_count * s->look.runs;
    for (size_t passed = 0; s->look.failures && passed <= asked; passed++) {
        for (size_t i = 0; i < s->seen.test_count; i++) {
            json_t *f = s->seen.failures[i];
            if (f && s->seen.scores[0][i].passed == passed) {
                json_object_set_new(f, "passed", json_integer((json_int_t)passed));
                json_object_set_new(
                    f, "asked", json_integer((json_int_t)s->seen.scores[0][i].graded));
                json_array_append(all, f);
            }
        }
    }
    return all;
}

static void end(struct refine_students *s, enum refine_lack lack, const char *why) {
    json_t *failures = lack == REFINE_FINE ? take_failures(s) : NULL;
    struct refine_seen seen = s->seen; /* the next look may begin from inside */
    autofree char *words = why ? xstrdup(why) : NULL;
    const struct refine_score *const scores[2] = {seen.scores[0], seen.scores[1]};
    if (s->evaluation) {
        evaluation_free(take(s->evaluation));
    }
    s->seen = (struct refine_seen){0};
    refinement_looked(s->refinement, lack, scores, seen.test_count, failures, words);
    drop(&seen);
}

static void on_evaluated(struct evaluation *, enum evaluation_stop stop, void *data) {
    struct refine_students *s = data;
    const char *why = stop == EVALUATION_COMPLETE ? nobody(s) : NULL;
    end(s,
        stop == EVALUATION_CANCELLED  ? REFINE_CANCELLED
        : stop != EVALUATION_COMPLETE ? REFINE_SPENT
        : why                         ? REFINE_NO_ANSWER
                                      : REFINE_FINE,
        why);
}

/* --- answers --- */

static void keep_failure(struct refine_students *s, const struct cell *c,
                         const json_t *answer) {
    const json_t *output = json_object_get(answer, "output");
    uint64_t at = (uint64_t)c->run * EVALUATION_MAX_STUDENTS + c->student;
    if (s->seen.failures[c->test] && s->seen.failed_at[c->test] < at) {
        return;
    }
    json_decref(s->seen.failures[c->test]);
    s->seen.failed_at[c->test] = at;
    s->seen.failures[c->test] = refine_failure(
        s->seen.tests[c->test], json_object_get(answer, "assertions"),
        output ? json_string_value(output) : "", json_string_length(output), 0, 0);
}

static void on_seen(const struct cell *c, const json_t *answer, void *data) {
    struct refine_students *s = data;
    if (!cell_counts(c)) {
        return;
    }
    struct refine_score *score = &s->seen.scores[c->arm][c->test];
    score->graded++;
    score->passed += c->state == CELL_PASSED;
    if (s->look.failures && c->arm == 0 && c->state == CELL_FAILED) {
        keep_failure(s, c, answer);
    }
}

/* --- asking --- */

static void choose_tests(struct refine_students *s) {
    s->seen.tests = xcalloc(s->suite->count + 1, sizeof *s->seen.tests);
    for (size_t i = 0; i < s->suite->count; i++) {
        if (s->suite->tests[i].split == s->look.split) {
            s->seen.tests[s->seen.test_count++] = &s->suite->tests[i];
        }
    }
    s->seen.failures = xcalloc(s->seen.test_count + 1, sizeof *s->seen.failures);
    s->seen.failed_at = xcalloc(s->seen.test_count + 1, sizeof *s->seen.failed_at);
    for (size_t i = 0; i < s->look.text_count; i++) {
        s->seen.scores[i] = xcalloc(s->seen.test_count + 1, sizeof *s->seen.scores[i]);
        for (size_t k = 0; k < s->seen.test_count; k++) {
            s->seen.scores[i][k].lesson = s->seen.tests[k]->lesson;
        }
    }
}

static void make_framed(struct refine_students *s, const char *text, struct arm *ret) {
    autobuf shown = BUF_INIT(ARM_MAX_TEXT);
    skill_text_finish(&s->skill->text);
    skill_text_read(&s->skill->text, text, strlen(text));
    arm_skill_text(s->skill, &shown);
    arm_framed(ret, ARM_SKILL, s->name, shown.data, shown.len);
}

/* References are read from the folder: not on the loop. */
static void make_arms(void *data) {
    struct refine_students *s = data;
    for (size_t i = 0; i < s->look.text_count; i++) {
        if (s->make_arm) {
            s->make_arm(s->host, s->look.texts[i], &s->seen.arms[i]);
        } else {
            make_framed(s, s->look.texts[i], &s->seen.arms[i]);
        }
    }
}

static void made_arms(void *data) {
    struct refine_students *s = data;
    struct evaluation_options o = s->options;
    struct err err = {0};
    uint64_t now = clock_ms();
    if (s->stopped || (s->deadline_ms && now >= s->deadline_ms)) {
        end(s, s->stopped ? REFINE_CANCELLED : REFINE_SPENT, NULL);
        return;
    }
    o.tests = s->seen.tests;
    o.test_count = s->seen.test_count;
    o.arms = s->seen.arms;
    o.arm_count = s->look.text_count;
    o.runs = s->look.runs;
    o.first_run = s->look.first_run;
    o.seed = s->look.first_run + 1;
    o.deadline_ms = s->deadline_ms ? (unsigned)(s->deadline_ms - now) : 0;
    o.seen = on_seen;
    o.done = on_evaluated;
    o.data = s;
    if (evaluation_start(&o, &s->evaluation, &err) < 0) {
        end(s, REFINE_NO_ANSWER, err.msg);
    }
}

void refine_students_look(struct refine_students *s, struct refinement *r,
                          const struct refine_look *look) {
    s->refinement = r;
    s->look = *look;
    choose_tests(s);
    work_start(s->options.loop, make_arms, made_arms, s);
}

void refine_students_stop(struct refine_students *s, struct model_call *asking,
                          struct skill_check *checking) {
    s->stopped = true;
    if (s->evaluation) {
        evaluation_cancel(s->evaluation);
    }
    if (asking) {
        model_call_cancel(asking);
    } else if (checking) {
        skill_check_cancel(checking);
    }
}

void refine_students_finish(struct refine_students *s) {
    drop(&s->seen);
}
