#include "skills/evaluation/evaluation_sentence.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "skills/evaluation/evaluation_result.h"
#include "skills/evaluation/evaluation_state.h"
#include "skills/evaluation/standing.h"
#include "skills/statistics/statistics.h"

#include <math.h>

static void say_injection(struct buf *out, const struct sentence_subject *s,
                          const struct injection *seen) {
    buf_reset(out);
    buf_addf(
        out,
        "The skill never reached %s: its prompts grew by %.0f tokens where the skill has "
        "about %zu, so nothing was measured. Check what is between upskilld and the model "
        "(a proxy, a template without a system message, a context that is too small).",
        s->evaluation->o.students[s->student].name, seen->seen_tokens,
        seen->expected_tokens);
}

static void say_again(struct buf *out, const struct sentence_subject *s,
                      const struct lift *lift, size_t n) {
    buf_reset(out);
    buf_addf(
        out,
        "Both arms were the same (A/A): two equal measurements of %s over %zu tests "
        "differ by %+.0f points",
        s->evaluation->o.students[s->student].name, n, 100 * lift->lift.estimate);
    if (isfinite(lift->lift.low)) {
        buf_addf(out, " (95 %% interval %+.0f to %+.0f)", 100 * lift->lift.low,
                 100 * lift->lift.high);
    }
    buf_adds(out, ". A skill has to do more than this noise.");
}

static void say_activation(struct buf *out, const struct sentence_subject *s) {
    struct cell_tally t;
    cell_tally(&s->evaluation->grid, s->student, 1, &t);
    size_t of = t.passed + t.failed;
    if (s->evaluation->o.students[s->student].agent && of) {
        buf_addf(out, " The agent opened the skill in %zu of %zu answers.", t.activated,
                 of);
    }
}

void sentence_add(struct buf *out, const char *text) {
    size_t len = strlen(text);
    text_clean(out, text, len && text[len - 1] == '.' ? len - 1 : len);
    buf_addc(out, '.');
}

const struct cell *sentence_first_problem(const struct evaluation *e, size_t student) {
    return list_find(c, e->grid.cells, e->grid.count,
                     c->student == student && c->why && !cell_counts(c));
}

/* Why answers errored: the hint for the student's own errors, or else the first error's
 * message (a judge that did not answer is not the student's error). */
static void say_why(struct buf *out, const struct sentence_subject *s) {
    const char *hint = s->evaluation->standings[s->student].hint;
    const struct cell *first = sentence_first_problem(s->evaluation, s->student);
    if (hint || first) {
        buf_adds(out, ": ");
    }
    sentence_add(out, hint ? hint : first ? first->why : "");
}

/* If only one arm lost answers, the missing ones might have changed the verdict, so the
 * sentence says how many each arm lost. */
static void say_share(struct buf *out, size_t baseline, size_t skill) {
    if (baseline != skill) {
        buf_addf(out, " (%zu of them with the skill)", skill);
    }
}

static void say_errors(struct buf *out, const struct sentence_subject *s) {
    struct cell_tally base, skill;
    cell_tally(&s->evaluation->grid, s->student, 0, &base);
    cell_tally(&s->evaluation->grid, s->student, 1, &skill);
    size_t errored = base.errored + skill.errored, refused = base.refused + skill.refused,
           truncated = base.truncated + skill.truncated;
    if (errored) {
        buf_addf(out, " %zu answers errored", errored);
        say_share(out, base.errored, skill.errored);
        buf_adds(out, " and do not count");
        say_why(out, s);
    }
    if (refused) {
        buf_addf(out, " %zu were refused", refused);
        say_share(out, base.refused, skill.refused);
        buf_adds(out, " and do not count.");
    }
    if (truncated) {
        buf_addf(out,
                 " %zu answers were cut off at their length limit and graded as they "
                 "were: give the model a larger max_tokens.",
                 truncated);
    }
}

/* No answer came in time. Messages from the endpoint are quoted, although they do not
 * count as errors. */
static void say_heard(struct buf *out, const struct sentence_subject *s) {
    const struct cell *first = sentence_first_problem(s->evaluation, s->student);
    if (first && first->state == CELL_SKIPPED) {
        buf_adds(out, " The last message was: ");
        sentence_add(out, first->why);
    }
}

void sentence_of_student(struct buf *out, const struct sentence_subject *s,
                         const struct lift *lift, const struct paired_results *pairs,
                         const struct injection *seen) {
    const char *problem = evaluation_student_problem(s->evaluation, s->student);
    if (!seen->ok) {
        say_injection(out, s, seen);
    } else if (s->facts->again) {
        say_again(out, s, lift, pairs->n);
    } else if (problem && !pairs->n) {
        buf_addf(out,
                 "%s could not be asked: ", s->evaluation->o.students[s->student].name);
        sentence_add(out, problem);
    } else {
        lift_sentence(out, lift, s->evaluation->o.students[s->student].name, pairs);
        say_activation(out, s);
    }
    say_errors(out, s);
    if (!pairs->n) {
        say_heard(out, s);
    }
}
