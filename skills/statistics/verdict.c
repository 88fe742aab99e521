/* The judgement that statistics.c's figures support, and its words. */
#include "base/buf.h"
#include "base/text.h"
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

static long points(double share) {
    return lround(100 * share);
}

static void add_p(struct buf *out, double p) {
    if (isnan(p)) {
        return;
    }
    buf_addf(out, p < 0.001 ? ", p < 0.001" : p < 0.1 ? ", p = %.3f" : ", p = %.2f", p);
}

static void add_counts(struct buf *out, const struct paired_results *r) {
    buf_addf(out, "%zu test%s", r->n, r->n == 1 ? "" : "s");
    if (r->runs > 1) {
        buf_addf(out, " x %u runs", r->runs);
    }
}

static void add_figures(struct buf *out, const struct lift *lift,
                        const struct paired_results *r) {
    buf_addf(out, "it solves %ld %% of the tests instead of %ld %% (%+ld points",
             points(lift->skill), points(lift->baseline), points(lift->lift.estimate));
    if (!isnan(lift->lift.low)) {
        buf_addf(out, ", 95 %% interval %+ld to %+ld", points(lift->lift.low),
                 points(lift->lift.high));
    }
    add_p(out, lift->p);
    buf_adds(out, ", ");
    add_counts(out, r);
    buf_adds(out, ").");
}

static void add_more_tests(struct buf *out, const struct lift *lift, size_t n) {
    size_t more = lift->more_tests_needed;
    if (n < VERDICT_MIN_TESTS) {
        size_t least = VERDICT_MIN_TESTS - n;
        more = more == SIZE_MAX || more < least ? least : more;
        buf_addf(out, " At least %zu more %s needed.", more,
                 more == 1 ? "test is" : "tests are");
    } else if (lift->lift.estimate == 0) {
        buf_adds(out, " Since no difference was seen, it is unknown how many more tests "
                      "would show one.");
    } else if (more >= 1000) {
        buf_adds(out, " A lift as small as this one would take over 1,000 more tests to "
                      "settle.");
    } else if (more > 0) {
        buf_addf(out, " About %zu more test%s would settle a lift of this size.", more,
                 more == 1 ? "" : "s");
    }
}

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

static void say_what_is_found(struct buf *out, const struct lift *lift,
                              const struct paired_results *r) {
    double greatest = 1 - lift->baseline;
    if (!finds_the_greatest(r)) {
        buf_adds(out, " Even a skill that solved all of them would not count as helping: "
                      "too few of them fail without it.");
    } else if (lift->smallest_detectable > greatest) {
        buf_addf(out,
                 " Only a lift near the greatest possible, %+ld points, would be found.",
                 points(greatest));
    } else {
        buf_addf(out, " These tests find lifts of about %ld points or more.",
                 points(lift->smallest_detectable));
    }
}

static void say_no_evidence(struct buf *out, const char *model, const struct lift *lift,
                            const struct paired_results *r) {
    if (r->n == 0) {
        buf_addf(out, "No evidence for %s: no test was answered in both arms.", model);
        return;
    }
    buf_addf(out, "No evidence that the skill helps or hurts %s: ", model);
    add_figures(out, lift, r);
    if (r->n < VERDICT_MIN_TESTS) {
        buf_adds(out, " So few tests cannot distinguish anything from chance.");
    } else if (lift->disagree) {
        buf_adds(out, " The test and the interval disagree.");
    } else {
        say_what_is_found(out, lift, r);
    }
    add_more_tests(out, lift, r->n);
}

static void say_not_measurable(struct buf *out, const char *model,
                               const struct lift *lift, const struct paired_results *r) {
    buf_addf(out,
             "Not measurable with %s: it solves %ld %% of the tests without the "
             "skill and %ld %% with it (",
             model, points(lift->baseline), points(lift->skill));
    add_counts(out, r);
    buf_adds(out, lift->ceiling
                      ? "). The tests are too easy for this model: harder ones, or a "
                        "weaker model, would show a difference."
                      : "). The tests are too hard for this model: easier ones, or a "
                        "stronger model, would show a difference.");
}

void lift_sentence(struct buf *out, const struct lift *lift, const char *model,
                   const struct paired_results *r) {
    autobuf name = BUF_INIT(512);
    text_clean(&name, model, strnlen(model, 256));
    switch (lift->verdict) {
    case VERDICT_NO_EVIDENCE:
        say_no_evidence(out, name.data, lift, r);
        break;
    case VERDICT_NOT_MEASURABLE:
        say_not_measurable(out, name.data, lift, r);
        break;
    case VERDICT_HELPS:
    case VERDICT_HURTS:
        buf_addf(out, "The skill %s %s: ", verdict_name(lift->verdict), name.data);
        add_figures(out, lift, r);
        break;
    }
}
