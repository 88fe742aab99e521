/* What an evaluation leaves: its result, its record, its words, and what is known of it
 * while it runs. The models are played; expected values are counted by hand. */
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "tests/unit/skills/evaluate_room.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

TestSuite(evaluation_answer, .timeout = 120);

static const char *text_at(const json_t *object, const char *key) {
    return json_get_string(object, key, "");
}

static const json_t *student_of(const json_t *result, size_t i) {
    return json_array_get(json_object_get(result, "students"), i);
}

static double number_at(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

/* --- the result --- */

Test(evaluation_answer, provenance_names_what_was_asked_of_whom) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *result = evaluate_room_result(&r, evaluate_room_params(6, "{\"runs\":2}"));
    const json_t *p = json_object_get(result, "provenance");
    const json_t *model = json_array_get(json_object_get(p, "models"), 0);
    cr_expect_str_eq(text_at(p, "skill"), "words");
    cr_expect_eq(json_get_integer(p, "requests", -1), 24);
    cr_expect_eq(json_get_integer(p, "cache_hits", -1), 0);
    cr_expect_eq(json_get_integer(p, "runs", -1), 2);
    cr_expect_str_eq(text_at(p, "mode"), "inject");
    cr_expect_str_eq(
        json_string_value(json_array_get(json_object_get(model, "served"), 0)), "m-2026");
    const json_t *prompts = json_object_get(p, "prompts");
    cr_expect_eq(json_array_size(prompts), 2);
    cr_expect_eq(json_get_integer(json_array_get(prompts, 0), "added_tokens", -1), 0);
    cr_expect_gt(json_get_integer(json_array_get(prompts, 1), "added_tokens", -1), 300);
    cr_expect(strcmp(text_at(p, "started"), text_at(p, "ended")) <= 0);
    evaluate_room_close(&r);
}

/* Every pair is listed by its test and run, and the skill's tokens are told against the
 * baseline's. */
Test(evaluation_answer, a_student_has_its_pairs_and_its_ratio) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *result = evaluate_room_result(&r, evaluate_room_params(6, "{\"runs\":2}"));
    const json_t *student = student_of(result, 0),
                 *tests = json_object_get(student, "tests");
    cr_assert_eq(json_array_size(tests), 6);
    for (size_t i = 0; i < 6; i++) {
        const json_t *pairs = json_object_get(json_array_get(tests, i), "pairs");
        cr_assert_eq(json_array_size(pairs), 2);
        for (size_t k = 0; k < 2; k++) {
            const json_t *pair = json_array_get(pairs, k);
            cr_expect_eq(json_get_integer(pair, "run", 0), (json_int_t)k + 1);
            cr_expect(json_is_false(json_object_get(pair, "baseline")) &&
                      json_is_true(json_object_get(pair, "skill")));
        }
    }
    const json_t *base = evaluate_arm(result, 0, 0), *skill = evaluate_arm(result, 0, 1);
    double ratio = number_at(json_object_get(skill, "tokens"), "total") /
                   number_at(json_object_get(base, "tokens"), "total");
    const json_t *told = json_object_get(student, "token_ratio");
    cr_expect(fabs(number_at(told, "estimate") - ratio) < 0.02 * ratio, "%g, %g",
              number_at(told, "estimate"), ratio);
    cr_expect(json_is_null(json_object_get(student, "activation")));
    const json_t *lift = json_object_get(student, "lift");
    cr_expect(number_at(lift, "estimate") == 1 && number_at(lift, "p_adjusted") <= 0.05);
    cr_expect_eq(json_get_integer(lift, "n_tests", 0), 6);
    cr_expect_null(json_object_get(student, "lifts"), "there are no further arms");
    evaluate_room_close(&r);
}

static void play_ratios(const struct evaluate_room *r, const struct question *q,
                        struct played *ret) {
    play_helped(r, q, ret);
    bool skill = strstr(q->system, "marigold") != NULL;
    ret->input = !skill ? 990 : strstr(q->text, "Question 0") ? 1990 : 7990;
}

/* Of ratios 2, 8, 8, 8, 8 and 8 the geometric mean is the sixth root of 2^16. */
Test(evaluation_answer, the_ratio_of_tokens_is_the_geometric_mean) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_ratios;
    autojson *result = evaluate_room_result(&r, evaluate_room_params(6, ""));
    const json_t *ratio = json_object_get(student_of(result, 0), "token_ratio");
    cr_expect_float_eq(number_at(ratio, "estimate"), 6.349604207872798, 1e-9);
    cr_expect(number_at(ratio, "low") >= 2 && number_at(ratio, "low") < 6.35);
    cr_expect(number_at(ratio, "high") > 6.35 && number_at(ratio, "high") < 8.0001);
    evaluate_room_close(&r);
}

Test(evaluation_answer, a_refined_skill_is_measured_on_its_report_tests) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    static const struct {
        const char *meta, *split;
    } cases[] = {{"{\"provenance\":{\"refined\":true}}", "report"},
                 {"{\"provenance\":{\"refinement\":{\"rounds\":1}}}", "report"},
                 {"{\"provenance\":{\"refinement\":{}}}", "all"},
                 {"{\"provenance\":{\"refined\":false}}", "all"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        evaluate_room_write(&r, "skills/words/skill_meta.json", cases[i].meta);
        autojson *result = evaluate_room_result(&r, evaluate_room_params(24, ""));
        const json_t *p = json_object_get(result, "provenance");
        cr_expect_str_eq(text_at(p, "split"), cases[i].split, "%s", cases[i].meta);
        bool all = !strcmp(cases[i].split, "all");
        cr_expect_eq(json_get_integer(evaluate_arm(result, 0, 0), "tests", 0),
                     all ? 24 : 8);
    }
    json_t *params = evaluate_room_params(1, "{\"split\":\"refine\"}");
    json_object_set_new(json_array_get(json_object_get(params, "tests"), 0), "split",
                        json_string("gate"));
    evaluate_room_fails(&r, params, "no_tests", "no tests in the refine split");
    evaluate_room_close(&r);
}

/* Tests from a file, and what is wrong with one is said with the file's name. */
Test(evaluation_answer, tests_may_stand_in_a_file_or_in_the_skill) {
    static const char good[] = "[{\"input\":\"Which word?\",\"expected\":\"marigold\"}]";
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    evaluate_room_write(&r, "good.json", good);
    evaluate_room_write(&r, "bad.json", "[{\"input\":\"Which word?\"}]");
    autojson *file =
        evaluate_room_result(&r, evaluate_room_params(1, "{\"tests\":\"good.json\"}"));
    cr_expect_eq(r.count, 2);
    cr_expect_str_eq(r.questions[0].text, "Which word?");
    evaluate_room_fails(&r, evaluate_room_params(1, "{\"tests\":\"bad.json\"}"), "/tests",
                        "bad.json: ");
    autofree char *meta = xasprintf("{\"tests\":%s}", good);
    evaluate_room_write(&r, "skills/words/skill_meta.json", meta);
    autojson *own = evaluate_room_result(&r, evaluate_room_params(1, "{\"tests\":null}"));
    cr_expect_eq(r.count, 4);
    cr_expect_str_eq(text_at(json_object_get(own, "provenance"), "tests_digest"),
                     text_at(json_object_get(file, "provenance"), "tests_digest"));
    cr_expect_str_eq(text_at(json_object_get(own, "provenance"), "skill_digest"),
                     text_at(json_object_get(file, "provenance"), "skill_digest"),
                     "tests are no part of what a student sees");
    evaluate_room_close(&r);
}

/* --- while it runs --- */

Test(evaluation_answer, what_is_known_so_far_is_told) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    struct call *call = evaluate_room_ask(&r, evaluate_room_params(6, ""));
    const json_t *table = json_object_get(call_partial(call), "students"), *row;
    const json_t *result = call_result(call);
    size_t i;
    cr_assert_eq(json_array_size(table), 2);
    json_array_foreach(table, i, row) {
        cr_expect_str_eq(text_at(row, "student"), "generic.m");
        cr_expect_str_eq(text_at(row, "arm"), i ? "skill" : "baseline");
        cr_expect(json_get_integer(row, "done", 0) == 6 &&
                  json_get_integer(row, "total", 0) == 6);
        cr_expect_eq(json_get_integer(row, "passed", -1), i ? 6 : 0);
        cr_expect_eq(json_get_integer(row, "failed", -1), i ? 0 : 6);
        cr_expect_eq(number_at(row, "eta_s"), 0);
        const json_t *arm = evaluate_arm(result, 0, i);
        cr_expect_eq(json_get_integer(row, "tokens", -1),
                     json_get_integer(json_object_get(arm, "tokens"), "total", 0));
    }
    cr_expect_str_eq(text_at(call_partial(call), "run"), text_at(result, "run"));
    call_unref(call);
    evaluate_room_close(&r);
}

static void play_half(const struct evaluate_room *r, const struct question *q,
                      struct played *ret) {
    play_helped(r, q, ret);
    ret->delay_ms = r->count > 6 ? 2500 : 0;
}

/* Half of it took almost no time; the other half is told to take no longer, after a
 * second in which nothing came. */
Test(evaluation_answer, the_rest_takes_as_long_as_what_was) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_half;
    r.keep_partial_at = 6;
    json_decref(evaluate_room_result(
        &r, evaluate_room_params(6, "{\"concurrency\":6,\"seed\":3}")));
    const json_t *rows = json_object_get(r.partial, "students"), *row;
    double elapsed = 0;
    size_t i, done = 0;
    json_array_foreach(rows, i, row) {
        double ended = number_at(row, "done");
        done += (size_t)ended;
        double took = number_at(row, "eta_s") * ended / (6 - ended);
        elapsed = i ? elapsed : took;
        cr_expect(fabs(took - elapsed) < 0.01 && took > 0.5 && took < 30, "%g s", took);
    }
    cr_expect_eq(done, 6);
    json_decref(take(r.partial));
    evaluate_room_close(&r);
}

/* --- the record --- */

static void play_one_refused(const struct evaluate_room *r, const struct question *q,
                             struct played *ret) {
    play_helped(r, q, ret);
    if (strstr(q->text, "Question 2")) {
        ret->outcome = MODEL_REFUSED;
        ret->message = "I may not";
        ret->text = "";
    }
}

static json_t *cells_of(const struct evaluate_room *r, const json_t *result) {
    autofree char *path =
        xasprintf("%s/runs/%s/cells.jsonl", r->work, text_at(result, "run"));
    FILE *f = fopen(path, "re");
    cr_assert_not_null(f, "%s", path);
    json_t *cells = json_array(), *cell;
    while ((cell = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL))) {
        json_array_append_new(cells, cell);
    }
    fclose(f);
    return cells;
}

Test(evaluation_answer, each_answer_is_a_cell_of_the_record) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_one_refused;
    autojson *result =
        evaluate_room_result(&r, evaluate_room_params(6, "{\"runs_dir\":\"runs\"}"));
    autojson *cells = cells_of(&r, result);
    const json_t *cell, *p = json_object_get(result, "provenance");
    size_t i, refused = 0;
    cr_assert_eq(json_array_size(cells), 12);
    json_array_foreach(cells, i, cell) {
        bool skill = !strcmp(text_at(cell, "arm"), "skill");
        bool is_refused = !strcmp(text_at(cell, "test"), "q2");
        const json_t *tokens = json_object_get(cell, "tokens");
        refused += is_refused;
        cr_expect_str_eq(text_at(cell, "outcome"), is_refused ? "refused"
                                                   : skill    ? "passed"
                                                              : "failed");
        cr_expect_str_eq(text_at(cell, "output"), is_refused ? ""
                                                  : skill    ? "It is marigold."
                                                             : "I do not know.");
        cr_expect_str_eq(text_at(cell, "why"), is_refused ? "I may not" : "");
        cr_expect_eq(json_get_integer(cell, "run", 0), 1);
        cr_expect_eq(json_get_integer(cell, "attempts", 0), 1);
        cr_expect_eq(json_get_integer(cell, "requests", 0), 1);
        cr_expect_eq(json_get_integer(cell, "assertions_total", -1), is_refused ? 0 : 1);
        cr_expect_eq(json_get_integer(tokens, "output", 0), 10);
        cr_expect_eq(json_get_integer(tokens, "total", 0),
                     json_get_integer(tokens, "input", 0) + 10);
        cr_expect_str_eq(text_at(cell, "base_url"), "http://127.0.0.1:9/v1");
        cr_expect_str_eq(text_at(cell, "served_model"), "m-2026");
        const json_t *prompt = json_array_get(json_object_get(p, "prompts"), skill);
        cr_expect_str_eq(text_at(cell, "prompt_digest"), text_at(prompt, "digest"));
    }
    cr_expect_eq(refused, 2);
    evaluate_room_close(&r);
}

static char long_answer[(64u << 10) + 100];

static void play_long(const struct evaluate_room *r, const struct question *q,
                      struct played *ret) {
    play_helped(r, q, ret);
    ret->text = long_answer;
}

/* On a character: "ä" takes the last byte that is kept and one more. */
Test(evaluation_answer, a_long_answer_is_cut_in_the_record) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    memset(long_answer, 'x', sizeof long_answer - 1);
    memcpy(long_answer + (64u << 10) - 1, "ä", 2);
    r.play = play_long;
    autojson *result =
        evaluate_room_result(&r, evaluate_room_params(1, "{\"runs_dir\":\"runs\"}"));
    autojson *cells = cells_of(&r, result);
    const json_t *cell = json_array_get(cells, 0);
    cr_expect_eq(strlen(text_at(cell, "output")), (64u << 10) - 1);
    cr_expect_eq(json_get_integer(cell, "output_bytes", 0), sizeof long_answer - 1);
    evaluate_room_close(&r);
}

/* --- agents --- */

/* It reads the skill where its agent looks for it; without one it knows nothing. */
#define AGENT                                                                            \
    "{\"mine\":{\"cli\":\"custom\",\"agent\":\"claude-code\",\"format\":\"text\","       \
    "\"argv\":[\"/bin/sh\",\"-c\",\"cat .claude/skills/*/SKILL.md || echo nothing\"]}}"

Test(evaluation_answer, an_agent_finds_the_skill_on_its_disk) {
    autojson *students = json_loads(AGENT, 0, NULL);
    struct evaluate_room r;
    signal(SIGPIPE, SIG_IGN); /* as the daemon does */
    autojson *settings = json_pack("{s:O}", "students", students);
    evaluate_room_open(&r, settings);
    autojson *result = evaluate_room_result(
        &r, evaluate_room_params(6, "{\"students\":[\"mine\"],\"base_url\":null,\"mode\":"
                                    "\"installed\",\"runs_dir\":\"runs\"}"));
    const json_t *student = student_of(result, 0);
    cr_expect_eq(r.count, 0, "no model was asked");
    cr_expect_str_eq(text_at(student, "model"), "mine");
    cr_expect_str_eq(text_at(student, "verdict"), "helps");
    cr_expect(json_is_null(json_object_get(student, "injection")));
    const json_t *activation = json_object_get(student, "activation");
    cr_expect_eq(json_get_integer(activation, "of", 0), 6);
    cr_expect_eq(json_get_integer(activation, "activated", -1), 0, "text tells nothing");
    cr_expect(strstr(text_at(student, "sentence"),
                     " The agent opened the skill in 0 of 6 answers."),
              "%s", text_at(student, "sentence"));
    const json_t *p = json_object_get(result, "provenance");
    cr_expect_str_eq(text_at(p, "mode"), "installed");
    const json_t *model = json_array_get(json_object_get(p, "models"), 0);
    cr_expect_str_eq(text_at(model, "name"), "mine");
    cr_expect_str_eq(text_at(model, "agent"), "claude-code");
    autojson *cells = cells_of(&r, result);
    const json_t *cell = json_array_get(cells, 0);
    cr_expect_eq(json_array_size(cells), 12);
    cr_expect_eq(json_get_integer(cell, "requests", 0), 1);
    cr_expect(json_is_false(json_object_get(cell, "activated")));
    cr_expect_null(json_object_get(cell, "base_url"));
    cr_expect(json_is_null(json_object_get(cell, "cost")), "unknown");
    evaluate_room_close(&r);
}

/* No agent finds a skill of such a name. */
Test(evaluation_answer, a_skill_that_cannot_be_copied_is_not_measured) {
    autojson *students = json_loads(AGENT, 0, NULL);
    struct evaluate_room r;
    autojson *settings = json_pack("{s:O}", "students", students);
    evaluate_room_open(&r, settings);
    evaluate_room_write(&r, "skills/words/SKILL.md",
                        "---\nname: Many Words\ndescription: Which.\n---\nmarigold\n");
    evaluate_room_fails(&r,
                        evaluate_room_params(6, "{\"students\":[\"mine\"],\"base_url\":"
                                                "null,\"mode\":\"installed\"}"),
                        "unreadable", "the skill could not be copied: name_invalid");
    evaluate_room_close(&r);
}

#define SPENDER                                                                          \
    "{\"mine\":{\"cli\":\"custom\",\"format\":\"codex\",\"argv\":[\"/bin/"               \
    "sh\",\"-c\",\"echo "                                                                \
    "'{\\\"type\\\":\\\"item.completed\\\",\\\"item\\\":{\\\"type\\\":"                  \
    "\\\"agent_message\\\",\\\"text\\\":\\\"marigold\\\"}}'; echo "                      \
    "'{\\\"type\\\":\\\"turn.completed\\\",\\\"usage\\\":{\\\"input_tokens\\\":1990,"    \
    "\\\"output_tokens\\\":10}}'\"]}}"

/* Twenty answers would take 40,000 tokens: of 9,000 the fifth uses up the rest. */
Test(evaluation_answer, what_agents_spend_counts_for_the_budget) {
    autojson *students = json_loads(SPENDER, 0, NULL);
    cr_assert_not_null(students);
    struct evaluate_room r;
    signal(SIGPIPE, SIG_IGN);
    autojson *settings = json_pack("{s:O}", "students", students);
    evaluate_room_open(&r, settings);
    autojson *result = evaluate_room_result(
        &r,
        evaluate_room_params(10, "{\"students\":[\"mine\"],\"base_url\":null,\"mode\":"
                                 "\"installed\",\"concurrency\":1,\"runs_dir\":\"runs\","
                                 "\"budget\":{\"tokens\":9000}}"));
    cr_expect_str_eq(text_at(result, "ended_by"), "budget");
    autojson *cells = cells_of(&r, result);
    cr_expect_eq(json_array_size(cells), 5);
    const json_t *tokens = json_object_get(json_array_get(cells, 0), "tokens");
    cr_expect_eq(json_get_integer(tokens, "total", 0), 2000);
    cr_expect_eq(json_get_integer(tokens, "input", 0), 1990);
    json_int_t skipped = 0;
    for (size_t arm = 0; arm < 2; arm++) {
        skipped += json_get_integer(evaluate_arm(result, 0, arm), "skipped", 0);
        cr_expect_eq(json_get_integer(evaluate_arm(result, 0, arm), "errored", -1), 0);
    }
    cr_expect_eq(skipped, 15);
    evaluate_room_close(&r);
}

/* A question that is larger than any may be is nobody's answer. */
Test(evaluation_answer, a_question_that_is_too_large_is_an_error) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    static char text[250001];
    memset(text, 'w', sizeof text - 1);
    json_t *params = evaluate_room_params(2, ""), *files = json_object();
    for (int i = 0; i < 20; i++) { /* 5 MB */
        autofree char *name = xasprintf("f%d.txt", i);
        json_object_set_new(files, name, json_string(text));
    }
    json_t *first = json_array_get(json_object_get(params, "tests"), 0);
    json_object_set_new(first, "files", files);
    autojson *result = evaluate_room_result(&r, params);
    cr_expect_eq(r.count, 2, "of the other test");
    for (size_t arm = 0; arm < 2; arm++) {
        cr_expect_eq(json_get_integer(evaluate_arm(result, 0, arm), "errored", -1), 1);
        cr_expect_eq(json_get_integer(evaluate_arm(result, 0, arm), "skipped", -1), 0);
    }
    const json_t *error = json_object_get(student_of(result, 0), "error");
    cr_expect_str_eq(text_at(error, "message"),
                     "the test's input and files have more than 4 MiB");
    evaluate_room_close(&r);
}

/* A program that is not there is not started a second time. */
Test(evaluation_answer, an_agent_that_is_not_there_is_given_up) {
    autojson *students = json_loads(
        "{\"mine\":{\"cli\":\"custom\",\"argv\":[\"/no/such/agent\"]}}", 0, NULL);
    struct evaluate_room r;
    autojson *settings = json_pack("{s:O}", "students", students);
    evaluate_room_open(&r, settings);
    autojson *result = evaluate_room_result(
        &r,
        evaluate_room_params(20, "{\"students\":[\"mine\"],\"base_url\":null,\"mode\":"
                                 "\"installed\",\"concurrency\":1}"));
    cr_expect(strstr(text_at(result, "sentence"),
                     "mine could not be asked: /no/such/agent "
                     "cannot be started"),
              "%s", text_at(result, "sentence"));
    cr_expect_eq(json_get_integer(json_object_get(result, "provenance"), "requests", -1),
                 1);
    evaluate_room_close(&r);
}

/* --- in words --- */

Test(evaluation_answer, its_words_are_lines_of_arms_and_marks) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *result = json_loads(
        "{\"verdict\":\"helps\",\"sentence\":\"It "
        "helps.\",\"students\":[{\"model\":\"m\","
        "\"verdict\":\"helps\",\"arms\":[{\"name\":\"baseline\",\"pass_rate\":0.25,"
        "\"low\":"
        "0.1,\"high\":0.5,\"tests\":8,\"runs\":16,\"errored\":1,\"refused\":2,\"tokens\":"
        "{"
        "\"total\":900}},{\"name\":\"skill\",\"pass_rate\":null}]}],\"marks\":[{\"id\":"
        "\"a\",\"marks\":[\"never_passes\"]},{\"id\":\"b\",\"marks\":[\"odd\","
        "\"never_passes\"]}],\"provenance\":{},\"run\":\"2026_x\"}",
        0, NULL);
    autobuf text = BUF_INIT(1u << 16);
    evaluation_operations[0].describe(result, &text);
    cr_expect_str_eq(text.data,
                     "helps: It helps.\nm: helps\n"
                     "  baseline   25 % (95 %: 10-50), 8 tests, 16 answers, 1 errored, 2 "
                     "refused, 900 tokens\n"
                     "  skill     -, 0 tests, 0 answers, 0 errored, 0 refused, 0 tokens\n"
                     "never_passes: a, b\nodd: b\nrecord: 2026_x\n");
    evaluate_room_close(&r);
}
