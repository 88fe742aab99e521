/* Skills of the builtin teacher, measured with students whose knowledge is known:
 * sessions are made of random mistakes, their lessons and tests are the teacher's, and
 * the verdict is the evaluation's. What a student answers comes from the session's maker
 * alone. */
#include "base/mem.h"
#include "skills/statistics/statistics.h"
#include "skills/generation/builtin_tests.h"
#include "skills/grading/grade.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SUITES 100
#define MISTAKES 12
#define WAYS 3 /* in which a truth is worded */

/* --- random words: SplitMix64 --- */

static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool happens(uint64_t *state, unsigned percent) {
    return draw(state) % 100 < percent;
}

static void word(uint64_t *state, char ret[static 16]) {
    static const char consonants[] = "bdfgklmnprstvz", vowels[] = "aeiou";
    size_t n = 0;
    for (int i = 0; i < 4; i++) {
        ret[n++] = consonants[draw(state) % (sizeof consonants - 1)];
        ret[n++] = vowels[draw(state) % (sizeof vowels - 1)];
    }
    ret[n] = '\0';
}

/* --- a session of mistakes that were mended --- */

struct mistake {
    char key[16]; /* a word that only its error has */
    char *wrong, *right[WAYS];
};
struct session {
    struct trace trace;
    struct mistake mistakes[MISTAKES];
    unsigned calls;
};

static struct trace_event *add(struct session *s, enum trace_event_kind kind) {
    struct trace *t = &s->trace;
    t->events = xreallocarray(t->events, t->count + 1, sizeof *t->events);
    struct trace_event *e = &t->events[t->count++];
    *e = (struct trace_event){.kind = kind, .number = (uint32_t)t->count};
    return e;
}

/* text is taken. */
static void set_text(struct trace_event *e, char *text) {
    e->text = text;
    e->text_len = e->text_full = strlen(text);
}

static void run(struct session *s, char *command, int exit, char *output) {
    struct trace_event *e = add(s, EVENT_CALL);
    e->call = xasprintf("c%u", ++s->calls);
    e->command = command;
    e = add(s, EVENT_RESULT);
    e->call = xasprintf("c%u", s->calls);
    e->has_exit = true;
    e->exit = exit;
    set_text(e, output);
}

/* A misspelt function: the file is edited, and the build that passes then also runs what
 * it built. */
static void misspell(struct session *s, struct mistake *m, uint64_t *state) {
    char name[16], file[16];
    word(state, name);
    word(state, file);
    m->wrong = xasprintf("  int n = %s(x);", m->key);
    m->right[0] = xasprintf("  int n = %s(x);", name);
    m->right[1] = xasprintf("```c\nint n = %s(x);\n```", name);
    m->right[2] = xasprintf("auto count = %s(x);", name);
    run(s, xasprintf("cmake --build %s", file), 1,
        xasprintf("%s.cu(3): error: identifier \"%s\" is undefined", file, m->key));
    struct trace_event *e = add(s, EVENT_EDIT);
    e->path = xasprintf("%s.cu", file);
    e->is_diff = true;
    set_text(e, xasprintf("@@\n-  int n = %s(x);\n+  int n = %s(x);\n", m->key, name));
    run(s, xasprintf("cmake --build %s && ./%s/run_test", file, file), 0, xstrdup("ok"));
}

/* A value that an option does not take. */
static void mistype(struct session *s, struct mistake *m, uint64_t *state) {
    char value[16], file[16];
    word(state, value);
    word(state, file);
    m->wrong = xasprintf("nvcc --level=%s %s.cu", m->key, file);
    m->right[0] = xasprintf("nvcc --level=%s %s.cu", value, file);
    m->right[1] = xasprintf("```sh\nnvcc %s.cu --level %s\n```", file, value);
    m->right[2] = xasprintf("/usr/local/cuda/bin/nvcc --level=%s -O2 %s.cu", value, file);
    run(s, xstrdup(m->wrong), 1, xasprintf("error: level '%s' is not known", m->key));
    run(s, xstrdup(m->right[0]), 0, xstrdup(""));
}

/* A package that is not there. */
static void lack(struct session *s, struct mistake *m, uint64_t *state) {
    char file[16];
    word(state, file);
    m->wrong = xasprintf("pytest %s", file);
    m->right[0] = xasprintf("pip install %s==1.4", m->key);
    m->right[1] = xasprintf("python3 -m pip install %s", m->key);
    m->right[2] = xasprintf("pip3 install --upgrade %s", m->key);
    run(s, xstrdup(m->wrong), 1,
        xasprintf("E   ModuleNotFoundError: No module named '%s'", m->key));
    run(s, xstrdup(m->right[0]), 0, xasprintf("Successfully installed %s", m->key));
    run(s, xstrdup(m->wrong), 0, xstrdup("3 passed"));
}

static void make_session(struct session *s, uint64_t *state) {
    *s = (struct session){0};
    for (size_t i = 0; i < MISTAKES; i++) {
        struct mistake *m = &s->mistakes[i];
        word(state, m->key);
        (i % 3 == 0 ? misspell : i % 3 == 1 ? mistype : lack)(s, m, state);
    }
}

static void finish_session(struct session *s) {
    for (size_t i = 0; i < s->trace.count; i++) {
        free(s->trace.events[i].call);
        free(s->trace.events[i].command);
        free(s->trace.events[i].path);
        free(s->trace.events[i].text);
    }
    free(s->trace.events);
    for (size_t i = 0; i < MISTAKES; i++) {
        free(s->mistakes[i].wrong);
        for (size_t k = 0; k < WAYS; k++) {
            free(s->mistakes[i].right[k]);
        }
    }
}

/* --- students --- */

/* In percent: how often a question is answered with the truth in either arm. */
struct student {
    unsigned without, with;
};

static bool answers(const struct session *s, const json_t *test, unsigned percent,
                    uint64_t *state) {
    const char *input = json_get_string(test, "input", "");
    for (size_t i = 0; i < MISTAKES; i++) {
        const struct mistake *m = &s->mistakes[i];
        if (strstr(input, m->key)) {
            const char *right = m->right[draw(state) % WAYS];
            return grade_text_passes(json_object_get(test, "expected"),
                                     happens(state, percent) ? right : m->wrong);
        }
    }
    cr_fatal("whose question is this? %s", input);
}

static enum verdict measure(const struct session *s, const json_t *tests,
                            struct student student, uint64_t *state) {
    double without[64], with[64];
    const char *lessons[64];
    size_t n = json_array_size(tests);
    cr_assert(n <= 64);
    for (size_t i = 0; i < n; i++) {
        const json_t *test = json_array_get(tests, i);
        without[i] = answers(s, test, student.without, state);
        with[i] = answers(s, test, student.with, state);
        lessons[i] = json_get_string(test, "lesson", "");
    }
    const struct paired_results results = {.baseline = without,
                                           .skill = with,
                                           .n = join_lessons(without, with, lessons, n),
                                           .runs = 1,
                                           .seed = 1};
    struct lift lift;
    lift_judge(&lift, &results);
    return lift.verdict;
}

static int count_helps(struct student student, uint64_t seed) {
    int helps = 0;
    size_t tests_made = 0;
    for (int i = 0; i < SUITES; i++) {
        struct session s;
        struct lessons l;
        make_session(&s, &seed);
        lessons_extract(&l, &s.trace, 1, NULL);
        autojson *tests = builtin_tests(&l, "Build the tools", 24);
        tests_made += json_array_size(tests);
        helps += measure(&s, tests, student, &seed) == VERDICT_HELPS;
        lessons_finish(&l);
        finish_session(&s);
    }
    cr_expect(tests_made >= SUITES * MISTAKES * 9 / 10, "%zu tests", tests_made);
    return helps;
}

Test(taught, who_knows_the_fixes_is_not_helped) {
    int always = count_helps((struct student){100, 100}, 1);
    int mostly = count_helps((struct student){85, 85}, 2);
    int half = count_helps((struct student){50, 50}, 3);
    cr_log_info("helps: %d, %d and %d of %d", always, mostly, half, SUITES);
    cr_expect(always == 0, "%d", always);
    cr_expect(mostly <= 5, "%d", mostly);
    cr_expect(half <= 5, "%d", half);
}

Test(taught, who_repeats_mistakes_and_heeds_the_skill_is_helped) {
    int helps = count_helps((struct student){0, 95}, 4);
    int some = count_helps((struct student){10, 90}, 5);
    cr_log_info("helps: %d and %d of %d", helps, some, SUITES);
    cr_expect(helps >= 80, "%d", helps);
    cr_expect(some >= 80, "%d", some);
}

/* --- tests of one lesson --- */

Test(taught, looks_at_one_lesson_are_one_observation) {
    double a[] = {0, 0, 0, 1, 0, 0}, b[] = {1, 1, 0, 1, 1, 1};
    const char *const lessons[] = {"x", "x", "y", "x", "z", "y"};
    cr_assert(eq(sz, join_lessons(a, b, lessons, 6), 3));
    cr_expect(fabs(a[0] - 1.0 / 3) < 1e-12 && fabs(b[0] - 1) < 1e-12);
    cr_expect(fabs(a[1] - 0) < 1e-12 && fabs(b[1] - 0.5) < 1e-12);
    cr_expect(fabs(a[2] - 0) < 1e-12 && fabs(b[2] - 1) < 1e-12);
}

Test(taught, a_lesson_stays_in_one_split) {
    autojson *tests = json_array();
    for (int i = 0; i < 24; i++) {
        char id[16], lesson[16];
        snprintf(id, sizeof id, "t%d", i);
        snprintf(lesson, sizeof lesson, "l%d", i % 9);
        json_array_append_new(tests,
                              json_pack("{s:s,s:s,s:{s:[s]},s:s}", "id", id, "input", id,
                                        "expected", "contains", "x", "lesson", lesson));
    }
    struct suite suite;
    cr_assert(suite_from_json(&suite, tests, NULL) == 0);
    suite_split(&suite);
    size_t in[4] = {0};
    for (size_t i = 0; i < suite.count; i++) {
        in[suite.tests[i].split]++;
        for (size_t k = 0; k < i; k++) {
            cr_expect(strcmp(suite.tests[i].lesson, suite.tests[k].lesson) != 0 ||
                      suite.tests[i].split == suite.tests[k].split);
        }
    }
    cr_expect(in[SPLIT_NONE] == 0 && in[SPLIT_REPORT] >= 6 && in[SPLIT_GATE] >= 4 &&
              in[SPLIT_REFINE] >= 4);
    suite_finish(&suite);
}
