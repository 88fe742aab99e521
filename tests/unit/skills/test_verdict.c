/* Verdicts: the rules, the words, and how often they are wrong. */
#include "base/buf.h"
#include "skills/statistics/statistics.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct lift judge(const double *baseline, const double *skill, size_t n) {
    struct lift lift;
    const struct paired_results r = {baseline, skill, n, 1, 1};
    lift_judge(&lift, &r);
    return lift;
}

Test(verdict, rules_apply_in_their_order) {
    static const struct {
        const char *what;
        double baseline[12], skill[12];
        size_t n;
        enum verdict verdict;
    } cases[] = {
        {"nothing", {0}, {0}, 0, VERDICT_NO_EVIDENCE},
        {"five of five", {0}, {1, 1, 1, 1, 1}, 5, VERDICT_NO_EVIDENCE},
        {"six of six", {0}, {1, 1, 1, 1, 1, 1}, 6, VERDICT_HELPS},
        {"all lost", {1, 1, 1, 1, 1, 1}, {0}, 6, VERDICT_HURTS},
        {"always right",
         {1, 1, 1, 1, 1, 1},
         {1, 1, 1, 1, 1, 1},
         6,
         VERDICT_NOT_MEASURABLE},
        {"few and always right",
         {1, 1, 1, 1, 1},
         {1, 1, 1, 1, 1},
         5,
         VERDICT_NO_EVIDENCE},
        {"never right", {0}, {0}, 12, VERDICT_NOT_MEASURABLE},
        {"same half", {1, 1, 1}, {1, 1, 1}, 6, VERDICT_NO_EVIDENCE},
        {"five of twelve", {0}, {1, 1, 1, 1, 1}, 12, VERDICT_NO_EVIDENCE},
        {"ceiling is both arms'",
         {0, 0, 0, 0, 0, 0, 1},
         {1, 1, 1, 1, 1, 1, 1},
         7,
         VERDICT_HELPS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lift lift = judge(cases[i].baseline, cases[i].skill, cases[i].n);
        cr_assert(eq(int, (int)lift.verdict, (int)cases[i].verdict), "%s: %s",
                  cases[i].what, verdict_name(lift.verdict));
    }
    const double zero[6] = {0}, one[6] = {1, 1, 1, 1, 1, 1};
    struct lift sure = judge(zero, one, 6);
    cr_assert(sure.lift.low > 0.3 && sure.lift.low < 0.6); /* equal is not certain */
    cr_assert(strstr(sure.method, "Newcombe") != NULL);
    cr_assert(eq(sz, sure.more_tests_needed, 0));
    cr_assert(judge(one, one, 6).ceiling && judge(zero, zero, 6).floor);
}

/* Sums of thirds differ in their last bit: that is no lift, six times or twice. */
Test(verdict, what_rounding_makes_is_no_difference) {
    const double third = 1.0 / 3;
    double baseline[8], skill[8];
    for (size_t i = 0; i < 8; i++) {
        baseline[i] = 0.3;
        skill[i] = 0.1 + 0.2;
    }
    cr_assert(skill[0] > baseline[0]);
    struct lift lift = judge(baseline, skill, 8);
    cr_assert(eq(int, (int)lift.verdict, (int)VERDICT_NO_EVIDENCE));
    cr_assert(lift.p == 1 && lift.lift.estimate == 0, "p = %g", lift.p);
    baseline[0] = third;
    skill[0] = 1;
    lift = judge(baseline, skill, 8);
    cr_assert(lift.p == 1, "one of eight changed: p = %g", lift.p);
}

/* A twentieth of the tests is the floor, and all but a twentieth the ceiling. */
Test(verdict, at_the_floor_and_the_ceiling_nothing_is_measurable) {
    double low[20] = {1}, high[20], more[20] = {1, 1};
    for (size_t i = 0; i < 20; i++) {
        high[i] = i > 0;
    }
    cr_assert(judge(low, low, 20).floor && judge(high, high, 20).ceiling);
    cr_assert(judge(low, more, 20).floor == false);
    more[0] = 0.5; /* the rate is 0.075 */
    cr_assert(judge(low, more, 20).floor == false &&
              judge(low, more, 20).ceiling == false);
}

/* Two of two have p = 1/2, and an interval; of one there is neither. */
Test(verdict, two_tests_have_an_interval) {
    const double zero[2] = {0}, one[2] = {1, 1}, some[2] = {1, 0.5};
    cr_assert(judge(zero, one, 2).p == 0.5 && isfinite(judge(zero, one, 2).lift.low));
    struct lift lift = judge(zero, some, 2);
    cr_assert(lift.p == 0.5 && lift.lift.low == -1 && lift.lift.high == 1);
    cr_assert(isnan(judge(zero, one, 1).p) && isnan(judge(zero, one, 1).lift.low));
}

/* Ten tests of twelve a little better, two much worse: the test and the interval need not
 * say the same. */
Test(verdict, a_verdict_needs_the_test_and_the_interval) {
    size_t disagreed = 0;
    for (int worse = 1; worse <= 40; worse++) {
        double baseline[12], skill[12];
        for (size_t i = 0; i < 12; i++) {
            baseline[i] = 0.5;
            skill[i] = i < 11 ? 0.6 + 0.01 * (double)i : 0.5 - worse / 80.0;
        }
        struct lift lift = judge(baseline, skill, 12);
        bool significant = lift.p <= 0.05, outside = lift.lift.low > 0;
        disagreed += lift.disagree;
        cr_assert(lift.disagree == (significant != outside));
        bool both = significant && outside;
        cr_assert(both == (lift.verdict == VERDICT_HELPS));
    }
    cr_assert(gt(sz, disagreed, 0));
}

static void says(const double *baseline, const double *skill, size_t n, unsigned runs,
                 const char *expected) {
    struct lift lift;
    const struct paired_results r = {baseline, skill, n, runs, 1};
    lift_judge(&lift, &r);
    autobuf text = BUF_INIT(4096);
    lift_sentence(&text, &lift, "qwen\x1b[31m3", &r);
    cr_assert(eq(str, text.data, (char *)(uintptr_t)expected));
}

Test(verdict, sentences_say_what_was_found) {
    const double zero[12] = {0}, one[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double some[12] = {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double half[12] = {1, 1, 1, 1, 1, 0, 1};
    says(zero, some, 12, 3,
         "The skill helps qwen3: it solves 75 % of the tests instead of 0 % (+75 points, "
         "95 % interval +46 to +100, p = 0.004, 12 tests x 3 runs).");
    says(some, zero, 12, 1,
         "The skill hurts qwen3: it solves 0 % of the tests instead of 75 % (-75 points, "
         "95 % interval -100 to -46, p = 0.004, 12 tests).");
    says(one, one, 12, 1,
         "Not measurable with qwen3: it solves 100 % of the tests without the skill and "
         "100 % with it (12 tests). The tests are too easy for this model: harder ones, "
         "or "
         "a weaker model, would show a difference.");
    says(
        zero, zero, 6, 2,
        "Not measurable with qwen3: it solves 0 % of the tests without the skill and 0 % "
        "with it (6 tests x 2 runs). The tests are too hard for this model: easier ones, "
        "or a stronger model, would show a difference.");
    says(zero, one, 1, 1,
         "No evidence that the skill helps or hurts qwen3: it solves 100 % of the tests "
         "instead of 0 % (+100 points, 1 test). So few tests cannot distinguish anything "
         "from chance. At least 5 more tests are needed.");
    says(zero, zero, 0, 0, "No evidence for qwen3: no test was answered in both arms.");
    says(half, half, 12, 1,
         "No evidence that the skill helps or hurts qwen3: it solves 50 % of the tests "
         "instead of 50 % (+0 points, 95 % interval -35 to +35, p = 1.00, 12 tests). Only "
         "a lift near the greatest possible, +50 points, would be found. Since no "
         "difference was seen, it is unknown how many more tests would show one.");
    double little[12];
    memcpy(little, half, sizeof little);
    little[0] = 0.5;
    little[5] = 0.46;
    says(little, half, 12, 10,
         "No evidence that the skill helps or hurts qwen3: it solves 50 % of the tests "
         "instead of 50 % (+0 points, 95 % interval -13 to +13, p = 1.00, 12 tests x 10 "
         "runs). These tests find lifts of about 27 points or more. A lift as small as "
         "this one would take over 1,000 more tests to settle.");
}

/* Half of sixteen tests are failed without the skill. With it six more are solved and
 * three fewer: 9 changes, of whose 512 patterns 130 have 6 or more of one sign and are as
 * far from none: p = .51. A skill that solved all 16 would have changed 8, all one way:
 * p = 2/256, so "too few for the greatest lift" would be false. Of twelve tests with ten
 * solved it is true: two changes have p = 1/2 at the least. */
Test(verdict, too_few_is_said_only_where_nothing_could_be_found) {
    const double half[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    const double mixed[16] = {1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    const double ten[12] = {0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double eleven[12] = {1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    says(half, mixed, 16, 1,
         "No evidence that the skill helps or hurts qwen3: it solves 69 % of the tests "
         "instead of 50 % (+19 points, 95 % interval -21 to +59, p = 0.51, 16 tests). "
         "Only a lift near the greatest possible, +50 points, would be found. About 118 "
         "more tests would settle a lift of this size.");
    says(
        ten, eleven, 12, 1,
        "No evidence that the skill helps or hurts qwen3: it solves 92 % of the tests "
        "instead of 83 % (+8 points, 95 % interval -10 to +27, p = 1.00, 12 tests). Even "
        "a skill that solved all of them would not count as helping: too few of them fail "
        "without it. About 90 more tests would settle a lift of this size.");
}

/* --- how often a verdict is wrong --- */

static uint64_t state;

static double uniform(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-53;
}

static double mean_of_runs(double p, unsigned runs) {
    unsigned passed = 0;
    for (unsigned i = 0; i < runs; i++) {
        passed += uniform() < p;
    }
    return (double)passed / runs;
}

/* Thousands of evaluations, which are arithmetic: the sanitizers see the first kind only.
 */
#if defined __SANITIZE_ADDRESS__
#define INSTRUMENTED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define INSTRUMENTED 1
#endif
#endif
#ifdef INSTRUMENTED
#define KINDS(cases) 1
#else
#define KINDS(cases) (sizeof(cases) / sizeof *(cases))
#endif

struct experiment {
    double baseline, skill, varied; /* varied: ± this much difficulty per test */
    size_t tests;
    unsigned runs;
};

/* Of a thousand evaluations, how many end so? */
static void repeat(const struct experiment *e, unsigned count[4]) {
    memset(count, 0, 4 * sizeof *count);
    for (unsigned k = 0; k < 1000; k++) {
        double baseline[32], skill[32];
        for (size_t i = 0; i < e->tests; i++) {
            double shift = e->varied * (2 * uniform() - 1);
            baseline[i] = mean_of_runs(e->baseline + shift, e->runs);
            skill[i] = mean_of_runs(e->skill + shift, e->runs);
        }
        struct lift lift;
        const struct paired_results r = {baseline, skill, e->tests, e->runs, k};
        lift_judge(&lift, &r);
        count[lift.verdict]++;
    }
}

Test(verdict, equal_arms_are_told_apart_in_five_of_a_hundred_at_most) {
    static const struct experiment cases[] = {
        {0.2, 0.2, 0, 12, 3},   {0.5, 0.5, 0, 12, 3},    {0.8, 0.8, 0, 12, 3},
        {0.2, 0.2, 0.2, 12, 3}, {0.5, 0.5, 0.45, 12, 3}, {0.8, 0.8, 0.2, 12, 3},
        {0.5, 0.5, 0.45, 6, 3}, {0.5, 0.5, 0.3, 8, 1},   {0.5, 0.5, 0.3, 24, 3},
        {0.05, 0.05, 0, 12, 3}, {0.95, 0.95, 0, 12, 1},
    };
    state = 2026;
    for (size_t i = 0; i < KINDS(cases); i++) {
        unsigned count[4];
        repeat(&cases[i], count);
        unsigned wrong = count[VERDICT_HELPS] + count[VERDICT_HURTS];
        cr_assert(le(uint, wrong, 50), "case %zu", i);
        cr_log_info("A/A case %zu: %u helps, %u hurts of 1000\n", i, count[VERDICT_HELPS],
                    count[VERDICT_HURTS]);
    }
}

Test(verdict, a_great_lift_is_found_in_nine_of_ten) {
    static const struct experiment cases[] = {
        {0.4, 0.85, 0, 12, 3}, {0.4, 0.85, 0.15, 12, 3}, {0.85, 0.4, 0, 12, 3}};
    state = 7;
    for (size_t i = 0; i < KINDS(cases); i++) {
        unsigned count[4];
        repeat(&cases[i], count);
        bool better = cases[i].skill > cases[i].baseline;
        unsigned right = count[better ? VERDICT_HELPS : VERDICT_HURTS];
        cr_assert(ge(uint, right, 900), "case %zu", i);
        cr_assert(zero(uint, count[better ? VERDICT_HURTS : VERDICT_HELPS]));
        cr_log_info("40/85 case %zu: found in %u of 1000\n", i, right);
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* At the lift that is said to be the smallest detectable, 80 % are found: between 70 and
 * 90 when the median of what is said is put in. */
Test(verdict, the_smallest_detectable_lift_is_found_in_eight_of_ten) {
    static const struct experiment cases[] = {
        {0.3, 0.68, 0.1, 12, 3}, {0.3, 0.55, 0.1, 24, 3}, {0.2, 0.70, 0.1, 16, 1}};
    state = 99;
    for (size_t i = 0; i < KINDS(cases); i++) {
        struct experiment e = cases[i];
        double said[1000];
        for (unsigned k = 0; k < 1000; k++) {
            double d[32];
            for (size_t t = 0; t < e.tests; t++) {
                double shift = e.varied * (2 * uniform() - 1);
                d[t] = mean_of_runs(e.skill + shift, e.runs) -
                       mean_of_runs(e.baseline + shift, e.runs);
            }
            said[k] = smallest_detectable(d, e.tests);
        }
        qsort(said, 1000, sizeof *said, compare);
        e.skill = e.baseline + said[500];
        unsigned count[4];
        repeat(&e, count);
        cr_log_info("case %zu: %.2f is said, found in %u of 1000\n", i, said[500],
                    count[VERDICT_HELPS]);
        cr_assert(count[VERDICT_HELPS] >= 700 && count[VERDICT_HELPS] <= 900,
                  "case %zu: %.3f found in %u", i, said[500], count[VERDICT_HELPS]);
    }
}
