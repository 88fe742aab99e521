#include "skills/evaluation/evaluation_sentence.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/words.h"
#include "skills/evaluation/evaluation_result.h"
#include "skills/evaluation/evaluation_state.h"
#include "skills/evaluation/standing.h"
#include "skills/statistics/statistics.h"

/* Without its full stop, cleaned. */
static json_t *clause(const char *text) {
    size_t len = strlen(text);
    return json_clean(text, len && text[len - 1] == '.' ? len - 1 : len);
}

void sentence_add(struct buf *out, const char *text) {
    autojson *words = clause(text);
    buf_addf(out, "%s.", json_string_value(words));
}

const struct cell *sentence_first_problem(const struct evaluation *e, size_t student) {
    return list_find(c, e->grid.cells, e->grid.count,
                     c->student == student && c->why && !cell_counts(c));
}

/* If only one arm lost answers, the missing ones might have changed the verdict, so the
 * sentence says how many each arm lost. No answer came in time: messages from the endpoint
 * are quoted, although they do not count as errors. */
#define LOST(member)                                                                     \
    "[ ({" member ".skill} of them with the skill){?" member ".uneven}] and do not count"
static const char sentence_words[] =
    "[{!arrived}The skill never reached {model}: its prompts grew by [{seen%.0f}|0] tokens "
    "where the skill has about {expected}, so nothing was measured. Check what is between upskilld "
    "and the model (a proxy, a template without a system message, a context that is too "
    "small)."
    "|{?again}Both arms were the same (A/A): two equal measurements of {model} over {tests} "
    "tests differ by [{lift%+.0p}|0] points[ (95 % interval {low%+.0p} to {high%+.0p})]. A "
    "skill has to do more than this noise."
    "|{!tests}{model} could not be asked: {problem}."
    "|{judged}[{?agent} The agent opened the skill in {activated} of {answered} answers."
    "{?answered}]]"
    "[{?errored.all} {errored.all} answers errored" LOST("errored") "[: {why}].]"
    "[{?refused.all} {refused.all} were refused" LOST("refused") ".]"
    "[{?truncated} {truncated} answers were cut off at their length limit and graded as they "
    "were: give the model a larger max_tokens.]"
    "[{!tests} The last message was: {heard}.]";

static json_t *lost(size_t baseline, size_t skill) {
    return json_pack("{s:I,s:I,s:b}", "all", (json_int_t)(baseline + skill), "skill",
                     (json_int_t)skill, "uneven", baseline != skill);
}

/* Why answers errored: the hint for the student's own errors, or else the first error's
 * message (a judge that did not answer is not the student's error). */
static json_t *why_of(const struct sentence_subject *s, const struct cell *first) {
    const char *hint = s->evaluation->standings[s->student].hint;
    return hint || first ? clause(hint ? hint : first->why) : NULL;
}

void sentence_of_student(struct buf *out, const struct sentence_subject *s,
                         const struct lift *lift, const struct paired_results *pairs,
                         const struct injection *seen) {
    struct cell_tally base, skill;
    const struct student *student = &s->evaluation->o.students[s->student];
    const char *problem = evaluation_student_problem(s->evaluation, s->student);
    const struct cell *first = sentence_first_problem(s->evaluation, s->student);
    autobuf judged = BUF_INIT(64u << 10);
    cell_tally(&s->evaluation->grid, s->student, 0, &base);
    cell_tally(&s->evaluation->grid, s->student, 1, &skill);
    lift_sentence(&judged, lift, student->name, pairs);
    bool heard = first && first->state == CELL_SKIPPED;
    autojson *told = json_pack(
        "{s:b,s:o,s:o,s:I,s:b,s:I,s:o,s:o,s:o,s:o*,s:o,s:b,s:I,s:I,s:o,s:o*,s:o,s:I,s:o*}",
        "arrived", seen->ok, "model", json_clean_z(student->name), "seen",
        json_finite(seen->seen_tokens), "expected", (json_int_t)seen->expected_tokens, "again",
        s->facts->again, "tests", (json_int_t)pairs->n, "lift", json_finite(lift->lift.estimate), "low",
        json_finite(lift->lift.low), "high", json_finite(lift->lift.high), "problem",
        problem ? clause(problem) : NULL, "judged", json_text(judged.data, judged.len),
        "agent", student->agent != NULL, "activated", (json_int_t)skill.activated,
        "answered", (json_int_t)(skill.passed + skill.failed), "errored",
        lost(base.errored, skill.errored), "why", why_of(s, first), "refused",
        lost(base.refused, skill.refused), "truncated",
        (json_int_t)(base.truncated + skill.truncated), "heard",
        heard ? clause(first->why) : NULL);
    words_add(out, sentence_words, told);
}
