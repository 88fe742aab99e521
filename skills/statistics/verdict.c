/* The judgement that statistics.c's figures support, and its words. */
#include "base/json.h"
#include "base/words.h"
#include "skills/statistics/statistics.h"

#include <math.h>

const char *const verdict_names[] = {"helps", "hurts", "no_evidence", "not_measurable",
                                     "pass",  "fail",  NULL};

#define CEILING 0.95
#define FLOOR 0.05
#define ALPHA 0.05
#define ROUNDING 1e-9

const char *verdict_name(enum verdict v) {
    return verdict_names[v];
}

/* --- judging --- */

/* The interval on the lift. Equal differences have no spread, but that is luck, not
 * certainty: they get the interval of two unpaired rates. */
static void lift_interval(struct lift *ret, const double *d,
                          const struct paired_results *r) {
    double n = (double)r->n;
    ret->lift = paired_lift(d, r->n);
    if (r->n < 2) {
        return;
    }
    if (ret->lift.low == ret->lift.high) {
        ret->lift = newcombe_interval(ret->baseline * n, r->n, ret->skill * n, r->n);
        ret->method = r->n <= SIGN_FLIP_EXACT
                          ? "Newcombe interval (no spread), exact sign-flip test"
                          : "Newcombe interval (no spread), sampled sign-flip test";
    }
    ret->lift.low = fmax(ret->lift.low, -1);
    ret->lift.high = fmin(ret->lift.high, 1);
}

static enum verdict verdict_of(struct lift *lift, size_t n) {
    if (n < VERDICT_MIN_TESTS) {
        return VERDICT_NO_EVIDENCE;
    }
    lift->ceiling = fmin(lift->baseline, lift->skill) >= CEILING - ROUNDING;
    lift->floor = fmax(lift->baseline, lift->skill) <= FLOOR + ROUNDING;
    if (lift->ceiling || lift->floor) {
        return VERDICT_NOT_MEASURABLE;
    }
    bool significant = lift->p <= ALPHA;
    lift->disagree = significant != (lift->lift.low > 0 || lift->lift.high < 0);
    if (!significant || lift->disagree) {
        return VERDICT_NO_EVIDENCE;
    }
    return lift->lift.estimate > 0 ? VERDICT_HELPS : VERDICT_HURTS;
}

void lift_judge(struct lift *ret, const struct paired_results *r) {
    autofree double *d = xreallocarray(NULL, r->n, sizeof *d);
    for (size_t i = 0; i < r->n; i++) {
        d[i] = r->skill[i] - r->baseline[i];
        d[i] = fabs(d[i]) < ROUNDING ? 0 : d[i];
    }
    *ret = (struct lift){
        .baseline = mean_of(r->baseline, r->n),
        .skill = mean_of(r->skill, r->n),
        .p = r->n < 2 ? NAN : sign_flip_p(d, r->n, r->seed),
        .smallest_detectable = smallest_detectable(d, r->n),
        .more_tests_needed = more_tests_needed(d, r->n),
        .method = r->n <= SIGN_FLIP_EXACT ? "paired t-interval, exact sign-flip test"
                                          : "paired t-interval, sampled sign-flip test",
    };
    lift_interval(ret, d, r);
    if (fabs(ret->lift.estimate) < ROUNDING) {
        ret->lift.estimate = 0;
    }
    ret->verdict = verdict_of(ret, r->n);
    if (ret->verdict == VERDICT_HELPS || ret->verdict == VERDICT_HURTS) {
        ret->more_tests_needed = 0;
    } else if (ret->more_tests_needed == 0) {
        ret->more_tests_needed = 1; /* a near miss: at least one more */
    }
}

/* --- saying --- */

#define COUNTS "{n} test[{!n=1}s][ x {runs} runs{?runs>1}]"
#define FIGURES                                                                          \
    "it solves {skill%.0p} % of the tests instead of {baseline%.0p} % ({lift%+.0p} "      \
    "points[, 95 % interval {low%+.0p} to {high%+.0p}]"                                   \
    "[, p {?p=*}[{?p>0.0999}= {p%.2f}|{?p>0.00099}= {p%.3f}|< 0.001]], " COUNTS ")."
#define FOUND                                                                            \
    "[{?few} So few tests cannot distinguish anything from chance."                       \
    "|{?disagree} The test and the interval disagree."                                    \
    "|{!findable} Even a skill that solved all of them would not count as helping: too "  \
    "few of them fail without it."                                                        \
    "|{?smallest>greatest} Only a lift near the greatest possible, {greatest%+.0p} "      \
    "points, would be found."                                                             \
    "| These tests find lifts of about {smallest%.0p} points or more.]"
#define MORE                                                                             \
    "[{?few} At least {more} more [{?more=1}test is|tests are] needed."                   \
    "|{!lift} Since no difference was seen, it is unknown how many more tests would "     \
    "show one."                                                                           \
    "|{?more>999} A lift as small as this one would take over 1,000 more tests to "       \
    "settle."                                                                             \
    "|{?more} About {more} more test[{!more=1}s] would settle a lift of this size.]"

static const char sentence_words[] =
    "[{?verdict=not_measurable}Not measurable with {model}: it solves {baseline%.0p} % of "
    "the tests without the skill and {skill%.0p} % with it (" COUNTS
    "). The tests are too [{?ceiling}easy|hard] for this model: [{?ceiling}harder|easier] "
    "ones, or a [{?ceiling}weaker|stronger] model, would show a difference."
    "|{?verdict=no_evidence}{!n}No evidence for {model}: no test was answered in both arms."
    "|{?verdict=no_evidence}No evidence that the skill helps or hurts {model}: " FIGURES FOUND
    MORE
    "|The skill {verdict} {model}: " FIGURES "]";

/* Whether a skill that solved every test would have been found to help. */
static bool finds_the_greatest(const struct paired_results *r) {
    autofree double *all = xreallocarray(NULL, r->n, sizeof *all);
    struct paired_results best = *r;
    struct lift lift;
    for (size_t i = 0; i < r->n; i++) {
        all[i] = 1;
    }
    best.skill = all;
    lift_judge(&lift, &best);
    return lift.verdict == VERDICT_HELPS;
}

void lift_sentence(struct buf *out, const struct lift *lift, const char *model,
                   const struct paired_results *r) {
    size_t least = r->n < VERDICT_MIN_TESTS ? VERDICT_MIN_TESTS - r->n : 0,
           more = lift->more_tests_needed;
    bool unknown = least && (more == SIZE_MAX || more < least);
    autojson *told = json_pack(
        "{s:s,s:o,s:I,s:i,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:I,s:b,s:b,s:b,s:b}", "verdict",
        verdict_name(lift->verdict), "model", json_clean(model, strnlen(model, 256)), "n",
        (json_int_t)r->n, "runs", (int)r->runs, "baseline", json_finite(lift->baseline),
        "skill", json_finite(lift->skill), "lift", json_finite(lift->lift.estimate), "low",
        json_finite(lift->lift.low), "high", json_finite(lift->lift.high), "p",
        json_finite(lift->p), "greatest", json_finite(1 - lift->baseline), "smallest",
        fmin(lift->smallest_detectable, 9), "more",
        (json_int_t)(unknown ? least : more < 1000 ? more : 1000), "few", least > 0,
        "disagree", lift->disagree, "ceiling", lift->ceiling, "findable",
        lift->verdict == VERDICT_NO_EVIDENCE && !least && !lift->disagree &&
            finds_the_greatest(r));
    words_add(out, sentence_words, told);
}
