#include "gpu/run/race_trial.h"

#include "base/find.h"

/* Instructions of single threads: about a second, on the one thread that looks for races.
 */
#define CHEAP_ENOUGH 400000000u
enum {
    MANY_TIMES = 4
}; /* what the trial may take of its first run; faults end earlier */

static bool is_cheap(const struct course *run, size_t i) {
    return run->cost[i] && run->cost[i] <= CHEAP_ENOUGH &&
           run->cost[i] <= course_budget_left(run);
}

static size_t chosen_case(const struct course *run) {
    size_t best = SIZE_MAX;
    if (run->suspect != SIZE_MAX) {
        return is_cheap(run, run->suspect) ? run->suspect : SIZE_MAX;
    }
    for (size_t i = 0; i < run->case_count; i++) {
        if (is_cheap(run, i) && (best == SIZE_MAX || run->cost[i] > run->cost[best])) {
            best = i;
        }
    }
    return best;
}

static bool is_wanted(const struct course *run) {
    const char *verdict = json_get_string(run->result, "verdict", "fail");
    return run->spec.default_checks && (run->class->checks & SPEC_CHECK_RACE) &&
           !strcmp(verdict, "fail") && !trials_stopped();
}

bool race_trial_finds(const json_t *finding) {
    static const char *const codes[] = {"race", "global_race", "missing_fence"};
    const char *code = json_get_string(finding, "code", "");
    return any_of(i, 0, ARRAY_LEN(codes), !strcmp(code, codes[i]));
}

static void keep_races(struct run_report *to, const struct run_report *from) {
    json_each(from->findings, i, finding) {
        if (race_trial_finds(finding) && !json_says(finding, "severity", "info")) {
            run_report_finding(to, finding);
        }
    }
}

/* One more trial of the case, with the check; false: it did not come to its end. */
static bool look(struct course *run, size_t i) {
    struct course_aside aside;
    struct trial t = {0};
    course_aside_begin(run, &aside, MANY_TIMES * run->cost[i] + CHEAP_ENOUGH / 100);
    bool made = course_kernel(run, &t, i, 0) == 0 || t.end == BACKEND_FAULT ||
                t.end == BACKEND_DEADLOCK;
    trial_finish(&t);
    struct run_report own = course_aside_end(run, &aside);
    keep_races(&run->report, &own);
    run_report_finish(&own);
    return made;
}

void race_trial(struct course *run) {
    size_t i = is_wanted(run) ? chosen_case(run) : SIZE_MAX;
    if (i == SIZE_MAX) {
        return;
    }
    run->spec.checks |= SPEC_CHECK_RACE;
    if (!look(run, i) || run->race_left) {
        run->spec.checks &= ~(unsigned)SPEC_CHECK_RACE;
        run->race_left = false;
    }
}

bool race_trial_fails(struct course *run, size_t i) {
    if (run->spec.default_checks && is_cheap(run, i)) {
        (void)look(run, i);
    }
    return run->report.error_finding;
}
