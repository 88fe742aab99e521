/* How often luck or harm passes for a gain, and how often a gain is seen:
 *     bench_refinement [REFINEMENTS]
 * Drives the refinement engine with played students, whose true chances are known, and a
 * teacher whose edits change them by a known amount. Deterministic. */
#include "base/mem.h"
#include "tests/unit/skills/played_students.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What one edit does to the students' chance. */
struct world {
    const char *name;
    double level, spread; /* of the tests' chances at the start */
    double effect;        /* that one edit adds to each test's */
    double share;         /* of the tests that it reaches */
};

static unsigned edits_in(const char *text) {
    unsigned n = 0;
    while ((text = strstr(text, "Word "))) {
        n++;
        text++;
    }
    return n;
}

static double true_chance(const struct play *p, enum test_split split, size_t test,
                          const char *text) {
    const struct world *w = p->data;
    uint64_t which = p->seed * 1000003 + (uint64_t)split * 1009 + test;
    double base = w->level + w->spread * (2 * play_dice(which) - 1);
    bool reached = play_dice(which * 31 + 7) < w->share;
    double chance = base + (reached ? w->effect * edits_in(text) : 0);
    return chance < 0 ? 0 : chance > 1 ? 1 : chance;
}

static json_t *say_something(struct play *p, unsigned n, const char *prompt) {
    (void)p;
    (void)prompt;
    autofree char *text = xasprintf("Word %u.", n);
    return json_pack("{s:[{s:s,s:s}]}", "edits", "section", "", "append", text);
}

static double mean_chance(const struct play *p, const char *text) {
    double sum = 0;
    for (size_t i = 0; i < p->tests[SPLIT_REPORT]; i++) {
        sum += true_chance(p, SPLIT_REPORT, i, text);
    }
    return sum / (double)p->tests[SPLIT_REPORT];
}

static void simulate(const struct world *w, unsigned count, size_t tests, unsigned runs,
                     unsigned students) {
    static const char start[] =
        "---\nname: a\ndescription: b\n---\n\n# A\n\nAs it was.\n";
    unsigned rounds = 0, kept = 0, worse = 0, ever = 0, helps = 0, hurts = 0;
    double gain = 0;
    uint64_t answers = 0;
    for (unsigned i = 0; i < count; i++) {
        struct play p = {.chance = true_chance,
                         .answer = say_something,
                         .tests = {0, tests, tests, tests},
                         .students = students,
                         .seed = i + 1,
                         .data = (void *)(uintptr_t)w};
        struct refinement *r = play(&p, start, 4, runs);
        autojson *result = refinement_result(r);
        double lift = mean_chance(&p, refinement_text(r)) - mean_chance(&p, start);
        const char *verdict =
            json_get_string(json_object_get(result, "verdict"), "verdict", "");
        rounds += (unsigned)json_array_size(json_object_get(result, "rounds"));
        kept += (unsigned)json_get_integer(result, "kept", 0);
        ever += json_get_integer(result, "kept", 0) > 0;
        worse += lift < -1e-9;
        helps += strcmp(verdict, "helps") == 0;
        hurts += strcmp(verdict, "hurts") == 0;
        gain += lift;
        answers += p.answers;
        refinement_free(r);
    }
    printf("%-34s %2zu %u %u | %5.2f | %5.2f %5.2f | %5.2f %5.2f | %+6.1f | %4llu\n",
           w->name, tests, runs, students, 100.0 * kept / rounds, 100.0 * ever / count,
           100.0 * worse / count, 100.0 * helps / count, 100.0 * hurts / count,
           100 * gain / count, (unsigned long long)(answers / count));
    fflush(stdout);
}

int main(int argc, char **argv) {
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
    static const struct world worlds[] = {
        {"no effect, 50 %", 0.5, 0, 0, 0},
        {"no effect, 10 to 90 %", 0.5, 0.4, 0, 0},
        {"no effect, 10 %", 0.1, 0, 0, 0},
        {"each edit -5 points", 0.5, 0.3, -0.05, 1},
        {"each edit -15 points", 0.5, 0.3, -0.15, 1},
        {"each edit +5 points", 0.4, 0.3, 0.05, 1},
        {"each edit +15 points", 0.4, 0.3, 0.15, 1},
        {"each edit +30 points", 0.3, 0.3, 0.30, 1},
        {"the first edit solves a quarter", 0.05, 0.05, 1, 0.25},
    };
    printf("%-34s tests runs students | %% of rounds taken | %% of refinements: any "
           "taken, ended worse | verdict helps, hurts | true gain in points | answers\n",
           "world");
    for (size_t i = 0; i < ARRAY_LEN(worlds); i++) {
        simulate(&worlds[i], count, 8, 3, 1);
    }
    simulate(&worlds[0], count, 8, 1, 1);
    simulate(&worlds[0], count, 8, 3, 3);
    simulate(&worlds[0], count, 24, 3, 1);
    simulate(&worlds[5], count, 24, 3, 1);
    simulate(&worlds[6], count, 8, 3, 3);
    simulate(&worlds[6], count, 8, 1, 1);
    return 0;
}
