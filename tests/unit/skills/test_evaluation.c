/* The engine's pure parts: the grid of cells, injection, standing, reused baselines,
 * and what agents' programs print. Expected values are counted by hand here. */
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/evaluation/agent_student.h"
#include "skills/evaluation/arms.h"
#include "skills/evaluation/baseline.h"
#include "skills/evaluation/cells.h"
#include "skills/evaluation/standing.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- the grid --- */

static void check_order(const struct cell_grid *g) {
    for (size_t i = 0; i < g->count; i += g->arms) {
        const struct cell *first = &g->cells[i];
        unsigned arms = 0;
        for (size_t k = 0; k < g->arms; k++) {
            const struct cell *c = &g->cells[i + k];
            cr_assert(c->student == first->student && c->test == first->test &&
                      c->run == first->run);
            arms |= 1u << c->arm;
        }
        cr_assert(arms == (1u << g->arms) - 1, "each arm once");
        cr_assert(i == 0 || first->run >= g->cells[i - 1].run, "run by run");
    }
}

Test(cells, are_found_by_their_names_and_pairs_stand_together) {
    static const size_t shapes[][4] = {
        {1, 2, 6, 1}, {3, 2, 7, 4}, {2, 5, 11, 3}, {16, 3, 1, 2}};
    for (size_t s = 0; s < ARRAY_LEN(shapes); s++) {
        const size_t *n = shapes[s];
        struct cell_grid g;
        cr_assert(cell_grid_init(&g, n[0], n[1], n[2], n[3], s) == 0);
        cr_assert(g.count == n[0] * n[1] * n[2] * n[3]);
        check_order(&g);
        for (size_t i = 0; i < g.count; i++) {
            const struct cell *c = &g.cells[i];
            cr_assert(cell_at(&g, c->student, c->arm, c->test, c->run) == c);
            cr_assert(c->cost < 0 && !c->requests, "nothing was asked");
        }
        cell_grid_finish(&g);
    }
    struct cell_grid g;
    cr_assert(cell_grid_init(&g, 16, 5, 1000, 50, 1) == -E2BIG);
    cr_assert(cell_grid_init(&g, 1, 2, 500, CELLS_MAX / 1000, 1) == 0, "just as many");
    cell_grid_finish(&g);
    cr_assert(cell_grid_init(&g, 1, 2, 500, CELLS_MAX / 1000 + 1, 1) == -E2BIG);
    cr_assert(cell_grid_init(&g, 1, 1, 1, SIZE_MAX, 1) == -E2BIG);
}

Test(cells, the_first_arm_of_a_pair_turns) {
    struct cell_grid g;
    size_t first[2] = {0};
    cell_grid_init(&g, 1, 2, 10, 2, 7);
    for (size_t i = 0; i < g.count; i += 2) {
        first[g.cells[i].arm]++;
    }
    cr_assert(first[0] == 10 && first[1] == 10);
    cell_grid_finish(&g);
}

static void set(struct cell_grid *g, size_t arm, size_t test, size_t run, char what) {
    struct cell *c = cell_at(g, 0, arm, test, run);
    c->state = what == 'P'   ? CELL_PASSED
               : what == 'F' ? CELL_FAILED
               : what == 'E' ? CELL_ERRORED
               : what == 'R' ? CELL_REFUSED
                             : CELL_SKIPPED;
    c->input = 100 + 50 * arm;
    c->output = 10;
    c->reported = true;
    c->cost = 0.5;
    c->requests = 3;
    c->cached = what == 'F';
    c->assertions_total = 2;
    c->assertions_passed = what == 'P' ? 2 : 1;
}

/* Two arms, four tests, three runs; a column of letters per test. */
static void fill(struct cell_grid *g) {
    static const char *const base[] = {"PFF", "EEP", "FFS", "RRR"};
    static const char *const skill[] = {"PPF", "PPE", "PES", "PPP"};
    cell_grid_init(g, 1, 2, 4, 3, 3);
    for (size_t t = 0; t < 4; t++) {
        for (size_t r = 0; r < 3; r++) {
            set(g, 0, t, r, base[t][r]);
            set(g, 1, t, r, skill[t][r]);
        }
    }
}

Test(cells, pairs_leave_out_what_was_not_graded_in_both_arms) {
    struct cell_grid g;
    double a[4], b[4];
    size_t test[4];
    unsigned runs;
    fill(&g);
    cr_assert(cell_pairs(&g, 0, 0, 1, a, b, test, &runs) == 2);
    cr_assert(test[0] == 0 && test[1] == 2 && runs == 1);
    cr_assert(fabs(a[0] - 1.0 / 3) < 1e-12 && fabs(b[0] - 2.0 / 3) < 1e-12);
    cr_assert(a[1] == 0 && b[1] == 1);
    cell_grid_finish(&g);
}

Test(cells, are_counted_by_what_became_of_them) {
    struct cell_grid g;
    struct cell_tally t;
    fill(&g);
    cell_tally(&g, 0, 0, &t);
    cr_assert(t.tests == 3 && t.done == 12 && t.passed == 2 && t.failed == 4);
    cr_assert(t.errored == 2 && t.refused == 3 && t.skipped == 1);
    cr_assert(fabs(t.rate_sum - (1.0 / 3 + 1 + 0)) < 1e-12);
    cr_assert(t.input == 1200 && t.output == 120 && fabs(t.cost - 5.5) < 1e-12);
    cr_assert(t.assertions_total == 24 && t.assertions_passed == 14);
    cell_at(&g, 0, 0, 0, 0)->cost = 0;
    cell_tally(&g, 0, 0, &t);
    cr_assert(fabs(t.cost - 5) < 1e-12, "what costs nothing has a price");
    cell_at(&g, 0, 0, 0, 0)->cost = -1;
    cell_tally(&g, 0, 0, &t);
    cr_assert(t.cost < 0, "one unknown price makes the sum unknown");
    cell_grid_finish(&g);
}

Test(injection, wants_half_of_what_is_expected) {
    struct cell_grid g;
    struct injection seen;
    fill(&g); /* grows by 50 */
    injection_check(&g, 0, 1, 100, &seen);
    cr_assert(seen.known && seen.ok && seen.seen_tokens == 50);
    injection_check(&g, 0, 1, 101, &seen);
    cr_assert(seen.known && seen.ok == false);
    cell_at(&g, 0, 1, 0, 0)->input = 100000; /* one retried answer was billed twice */
    injection_check(&g, 0, 1, 101, &seen);
    cr_assert(seen.ok == false, "the median counts");
    for (size_t i = 0; i < g.count; i++) {
        g.cells[i].reported = false;
    }
    injection_check(&g, 0, 1, 101, &seen);
    cr_assert(seen.known == false && seen.ok && isnan(seen.seen_tokens));
    cell_grid_finish(&g);
}

/* Two tests and two runs: the growth of the prompt is the middle one, or between two. */
Test(injection, the_median_of_an_even_number_lies_between_two) {
    static const uint64_t grown[4] = {30, 1000, 10, 20};
    struct cell_grid g;
    struct injection seen;
    cell_grid_init(&g, 1, 2, 2, 2, 1);
    for (size_t i = 0; i < 4; i++) {
        set(&g, 0, i / 2, i % 2, 'P');
        set(&g, 1, i / 2, i % 2, 'F');
        cell_at(&g, 0, 1, i / 2, i % 2)->input = 100 + grown[i];
    }
    injection_check(&g, 0, 1, 50, &seen);
    cr_assert(seen.known && seen.ok && seen.seen_tokens == 25);
    injection_check(&g, 0, 1, 51, &seen);
    cr_assert(seen.ok == false && seen.expected_tokens == 51);
    injection_check(&g, 0, 1, 0, &seen);
    cr_assert(seen.known && seen.ok, "nothing was to be seen");
    cell_at(&g, 0, 1, 0, 1)->state = CELL_ERRORED; /* the 1000 */
    injection_check(&g, 0, 1, 0, &seen);
    cr_assert(seen.seen_tokens == 20);
    cell_at(&g, 0, 0, 0, 0)->reported = false; /* the 30 */
    injection_check(&g, 0, 1, 0, &seen);
    cr_assert(seen.seen_tokens == 15);
    cell_grid_finish(&g);
}

/* --- when a student is given up --- */

Test(standing, a_student_is_given_up_when_asking_again_is_of_no_use) {
    static const struct {
        const char *reason;
        unsigned answered, given_up_at; /* 0: never */
        bool again;
    } cases[] = {
        {"unreachable", 0, 6, true},   {"unreachable", 1, 0, true},
        {"timeout", 0, 12, true},      {"timeout", 1, 0, true},
        {"unauthorized", 0, 1, false}, {"unauthorized", 1, 1, false},
        {"forbidden", 0, 1, false},    {"forbidden", 1, 0, false},
        {"not_found", 0, 1, false},    {"not_found", 3, 0, false},
        {"context_cut", 0, 12, false}, {"bad_request", 1, 0, false},
        {"out_of_money", 5, 1, false}, {"answer_too_large", 1, 0, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct standing s = {.answered = cases[i].answered};
        unsigned at = 0;
        for (unsigned n = 1; n <= 20; n++) {
            autofree char *message = xasprintf("failure %u", n);
            bool again = standing_note_failure(&s, cases[i].reason, message, NULL);
            cr_assert(again == cases[i].again, "%s", cases[i].reason);
            at = at || !s.problem ? at : n;
        }
        autofree char *first = xasprintf("failure %u", at);
        cr_assert(at == cases[i].given_up_at, "%s: %u", cases[i].reason, at);
        cr_assert(at ? !strcmp(s.problem, first) : !s.problem, "what was said first");
        standing_finish(&s);
    }
}

Test(standing, sentences_are_cut_and_the_last_hint_is_kept) {
    struct standing s = {0};
    char longest[400];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    standing_note_failure(&s, "timeout", "m", "one");
    standing_note_failure(&s, "timeout", "m", "");
    standing_note_failure(&s, "timeout", "m", NULL);
    cr_assert(!strcmp(s.hint, "one"));
    standing_note_failure(&s, "unauthorized", longest, longest);
    cr_assert(strlen(s.problem) == 300 && strlen(s.hint) == 300);
    standing_finish(&s);
    s = (struct standing){0};
    standing_note_failure(&s, "no_http", NULL, NULL);
    cr_assert(!strcmp(s.problem, "no_http"), "the reason where nothing was said");
    standing_finish(&s);
}

Test(standing, models_that_answered_are_named_once_and_sixteen_at_most) {
    autojson *served = json_object();
    standing_note_served(served, "a", "");
    cr_assert(json_array_size(json_object_get(served, "a")) == 0);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 20; i++) {
            autofree char *model = xasprintf("m%d", i);
            standing_note_served(served, "a", model);
        }
    }
    standing_note_served(served, "b", "m1");
    const json_t *a = json_object_get(served, "a"), *b = json_object_get(served, "b");
    cr_assert(json_array_size(a) == 16 && json_array_size(b) == 1);
    cr_assert(!strcmp(json_string_value(json_array_get(a, 15)), "m15"));
}

/* --- a reused baseline --- */

#define CELL(arm, test, run, outcome, digest)                                            \
    "{\"model\":\"m\",\"arm\":\"" arm "\",\"test\":\"" test "\",\"run\":" run            \
    ",\"outcome\":\"" outcome "\",\"prompt_digest\":\"" digest                           \
    "\",\"tokens\":{\"input\":7,\"output\":2,\"reported\":true},\"cost\":0.25}\n"

static void write_file(const char *folder, const char *name, const char *text) {
    struct root root;
    cr_assert(root_open(&root, folder, NULL) == 0);
    cr_assert(root_write(&root, name, text, strlen(text), 0644, NULL) == 0);
    root_close(&root);
}

Test(baseline, is_taken_only_where_everything_agrees) {
    char dir[] = "/tmp/test-baseline-XXXXXX";
    cr_assert(mkdtemp(dir) != NULL);
    write_file(dir, "b1/meta.json", "{\"tests_digest\":\"d\",\"runs\":2}");
    write_file(dir, "b1/cells.jsonl",
               CELL("baseline", "t1", "1", "passed", "p")
                   CELL("baseline", "t1", "2", "failed", "p")
                       CELL("skill", "t2", "1", "passed", "p") CELL("baseline", "t2", "1",
                                                                    "errored", "p")
                           CELL("baseline", "t3", "1", "passed", "q") "{\"model\": cut");
    json_t *cells = NULL;
    struct err err = {0};
    cr_assert(baseline_load(&cells, dir, "b1", "other", "p", 2, &err) == -EINVAL);
    cr_assert(baseline_load(&cells, dir, "b1", "d", "p", 3, &err) == -EINVAL);
    cr_assert(baseline_load(&cells, dir, "b1", "d", "another prompt", 2, &err) ==
              -EINVAL);
    cr_assert(baseline_load(&cells, dir, "b2", "d", "p", 2, &err) == -ENOENT);
    cr_assert(baseline_load(&cells, dir, "../b1", "d", "p", 2, &err) == -EINVAL);
    cr_assert(baseline_load(&cells, dir, "b1", "d", "p", 2, &err) == 0, "%s", err.msg);
    struct cell c = {.run = 0};
    cr_assert(baseline_take(cells, "m", "t1", "p", &c) && c.state == CELL_PASSED);
    cr_assert(c.reused && c.input == 7 && c.output == 2 && c.reported && c.cost == 0.25);
    c.run = 1;
    cr_assert(baseline_take(cells, "m", "t1", "p", &c) && c.state == CELL_FAILED);
    cr_assert(baseline_take(cells, "n", "t1", "p", &c) == false);
    c.run = 0;
    cr_assert(baseline_take(cells, "m", "t2", "p", &c) == false, "errored");
    cr_assert(baseline_take(cells, "m", "t3", "p", &c) == false, "another prompt");
    json_decref(cells);
    dir_remove(dir, NULL);
}

/* --- what agents print --- */

struct print {
    enum agent_format format;
    const char *lines;
    int failure;
    const char *text, *why;
    uint64_t input, output;
    double cost;
    bool activated;
};

static const struct print prints[] = {
    {AGENT_CLAUDE,
     "{\"type\":\"system\",\"subtype\":\"init\",\"model\":\"claude-x\",\"skills\":[\"s\"]"
     "}\n"
     "{\"type\":\"assistant\",\"message\":{\"model\":\"claude-x\",\"content\":[{\"type\":"
     "\"tool_use\","
     "\"name\":\"Skill\",\"input\":{\"skill\":\"s\"}}]}}\n"
     "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
     "\"draft\"}]}}\n"
     "not json\n"
     "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":"
     "\"final\","
     "\"total_cost_usd\":0.5,\"usage\":{\"input_tokens\":10,\"cache_creation_input_"
     "tokens\":20,"
     "\"cache_read_input_tokens\":30,\"output_tokens\":4}}\n",
     0, "final", "", 60, 4, 0.5, true},
    {AGENT_CLAUDE,
     "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"name\":"
     "\"Read\","
     "\"input\":{\"file_path\":\"/w/.claude/skills/s/SKILL.md\"}}]}}\n"
     "{\"type\":\"result\",\"subtype\":\"error_max_turns\",\"is_error\":true,\"errors\":["
     "\"too many\"]}",
     -EIO, "", "too many", 0, 0, -1, true},
    {AGENT_CLAUDE,
     "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":"
     "\"x\"}]}}\n",
     -EIO, "x", "it ended without its closing record", 0, 0, -1, false},
    {AGENT_CODEX,
     "{\"type\":\"thread.started\",\"thread_id\":\"1\"}\n{\"type\":\"turn.started\"}\n"
     "{\"type\":\"error\",\"message\":\"reconnecting\"}\n"
     "{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\",\"command\":"
     "\"cat .agents/skills/s/SKILL.md\",\"exit_code\":0}}\n"
     "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":"
     "\"first\"}}\n"
     "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":"
     "\"last\"}}\n"
     "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":100,\"cached_input_"
     "tokens\":60,"
     "\"output_tokens\":9}}\n",
     0, "last", "", 100, 9, -1, true},
    {AGENT_CODEX, "{\"type\":\"turn.failed\",\"error\":{\"message\":\"no key\"}}\n", -EIO,
     "", "no key", 0, 0, -1, false},
    {AGENT_OPENCODE,
     "{\"type\":\"step_start\",\"part\":{}}\n{\"type\":\"text\",\"part\":{\"text\":"
     "\"thinking\"}}\n"
     "{\"type\":\"tool_use\",\"part\":{\"tool\":\"skill\",\"state\":{\"input\":{\"name\":"
     "\"s\"}}}}\n"
     "{\"type\":\"step_finish\",\"part\":{\"tokens\":{\"input\":5,\"output\":2,"
     "\"reasoning\":1,"
     "\"cache\":{\"read\":3,\"write\":1}},\"cost\":0.25}}\n"
     "{\"type\":\"step_start\",\"part\":{}}\n{\"type\":\"text\",\"part\":{\"text\":\"an "
     "\"}}\n"
     "{\"type\":\"text\",\"part\":{\"text\":\"answer\"}}\n"
     "{\"type\":\"step_finish\",\"part\":{\"tokens\":{\"input\":6,\"output\":2},\"cost\":"
     "0.25}}\n",
     0, "an answer", "", 15, 5, 0.5, true},
    {AGENT_OPENCODE,
     "{\"type\":\"error\",\"error\":{\"name\":\"APIError\",\"data\":{\"message\":"
     "\"denied\"}}}\n",
     -EIO, "", "denied", 0, 0, -1, false},
    {AGENT_TEXT, "just words\n", 0, "just words\n", "", 0, 0, -1, false},
    {AGENT_TEXT, "caf\xe9!", 0, "caf\xef\xbf\xbd!", "", 0, 0, -1, false},
    {AGENT_CODEX,
     "\xff\xfe garbage {{{\n[1,2]\n\"x\"\n{\"type\":7}\n{\"type\":\"item.completed\"}\n",
     -EIO, "", "it ended without its closing record", 0, 0, -1, false},
};

Test(agents, are_understood_however_their_bytes_are_cut) {
    for (size_t i = 0; i < ARRAY_LEN(prints); i++) {
        const struct print *p = &prints[i];
        for (size_t step = 1; step < 300; step = step * 3 + 1) {
            struct agent_events *e = agent_events_new(p->format);
            struct agent_answer a;
            size_t len = strlen(p->lines);
            for (size_t at = 0; at < len; at += step) {
                agent_events_add(e, p->lines + at, at + step < len ? step : len - at);
            }
            agent_events_end(e, &a);
            cr_assert(a.failure == p->failure, "%zu: %d", i, a.failure);
            cr_assert(strcmp(a.text, p->text) == 0, "%zu: %s", i, a.text);
            cr_assert(strcmp(a.why, p->why) == 0, "%zu: %s", i, a.why);
            cr_assert(a.input == p->input && a.output == p->output, "%zu", i);
            cr_assert(a.cost == p->cost && a.activated == p->activated, "%zu", i);
            agent_events_free(e);
        }
    }
}

Test(agents, a_line_without_end_is_bounded) {
    struct agent_events *e = agent_events_new(AGENT_CODEX);
    struct agent_answer a;
    autofree char *block = xmalloc(1 << 20);
    memset(block, 'x', 1 << 20);
    for (int i = 0; i < 40; i++) {
        agent_events_add(e, block, 1 << 20);
    }
    static const char rest[] = "\n{\"type\":\"item.completed\",\"item\":{\"type\":"
                               "\"agent_message\",\"text\":\"ok\"}}\n"
                               "{\"type\":\"turn.completed\",\"usage\":{}}\n";
    agent_events_add(e, rest, sizeof rest - 1);
    agent_events_end(e, &a);
    cr_assert(a.failure == 0 && strcmp(a.text, "ok") == 0);
    agent_events_free(e);
}

Test(agents, a_long_reason_is_cut) {
    struct agent_events *e = agent_events_new(AGENT_CODEX);
    struct agent_answer a;
    char words[402]; /* ä is of two bytes, the last that would fit and one more */
    memset(words, 'x', sizeof words);
    memcpy(words + 299, "ä", 2);
    autojson *event = json_pack("{s:s, s:o}", "type", "error", "message",
                                json_stringn(words, sizeof words));
    autofree char *line = json_dumps(event, JSON_COMPACT);
    agent_events_add(e, line, strlen(line));
    agent_events_end(e, &a);
    cr_assert(a.failure == -EIO && strlen(a.why) == 299 && strspn(a.why, "x") == 299);
    agent_events_free(e);
}

Test(agents, a_request_names_no_program) {
    static const struct {
        const char *json;
        bool trusted;
        int rc;
    } cases[] = {
        {"{\"cli\":\"claude-code\"}", false, 0},
        {"{\"cli\":\"codex\",\"model\":\"gpt-x\"}", false, 0},
        {"{\"cli\":\"bash\"}", false, -EINVAL},
        {"{\"cli\":\"claude-code\",\"argv\":[\"sh\",\"-c\",\"x\"]}", false, -EACCES},
        {"{\"cli\":\"claude-code\",\"env\":[\"HOME\"]}", false, -EACCES},
        {"{\"cli\":\"custom\",\"argv\":[\"x\"]}", false, -EACCES},
        {"{\"cli\":\"custom\",\"argv\":[\"x\"],\"format\":\"codex\"}", true, 0},
        {"{\"cli\":\"custom\",\"argv\":[\"x\"],\"format\":\"xml\"}", true, -EINVAL},
        {"{\"cli\":\"custom\"}", true, -EINVAL},
        {"{\"cli\":\"codex\",\"argv\":[]}", true, -EINVAL},
        {"{\"cli\":\"codex\",\"argv\":[7]}", true, -EINVAL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct agent_student a;
        struct err err = {0};
        autojson *value = json_loads(cases[i].json, 0, NULL);
        int rc = agent_student_read(&a, value, cases[i].trusted, &err);
        cr_assert(rc == cases[i].rc, "%zu: %d %s", i, rc, err.msg);
        if (rc == 0) {
            for (char **word = a.argv; *word; word++) {
                cr_assert(strcmp(*word, "{model}") != 0 &&
                          (a.model || strcmp(*word, "--model") != 0));
            }
            agent_student_finish(&a);
        }
    }
}
