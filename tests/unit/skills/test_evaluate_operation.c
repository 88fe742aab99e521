/* skill/evaluate from the params to the record, with models that are played. Expected
 * values are counted by hand. */
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/evaluation/evaluation.h"
#include "tests/unit/skills/evaluate_room.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(evaluate_operation, .timeout = 120);

static json_t *read_json(const char *folder, const char *name) {
    autofree char *path = path_join(folder, name);
    return json_load_file(path, 0, NULL);
}

static const char *text_at(const json_t *object, const char *key) {
    return json_get_string(object, key, "");
}

/* --- what is asked --- */

Test(evaluate_operation, every_test_is_asked_in_both_arms_in_every_run) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *result = evaluate_room_result(
        &r, evaluate_room_params(7, "{\"runs\":2,\"concurrency\":3,\"fresh\":true}"));
    cr_expect_eq(r.count, 7 * 2 * 2);
    cr_expect_leq(r.most_in_flight, 3);
    size_t with = 0, runs[2] = {0};
    for (size_t i = 0; i < r.count; i++) {
        const struct question *q = &r.questions[i];
        with += strstr(q->system, "marigold") != NULL;
        cr_assert_lt(q->run, 2);
        runs[q->run]++;
        cr_expect(q->no_cache && q->at_once == 3);
        cr_expect_str_eq(q->model, "generic.m");
    }
    cr_expect_eq(with, 14);
    cr_expect(runs[0] == 14 && runs[1] == 14);
    cr_expect_str_eq(text_at(result, "verdict"), "helps");
    cr_expect_str_eq(text_at(result, "ended_by"), "complete");
    for (size_t arm = 0; arm < 2; arm++) {
        const json_t *one = evaluate_arm(result, 0, arm);
        cr_expect_str_eq(text_at(one, "name"), arm ? "skill" : "baseline");
        cr_expect_eq(json_get_integer(one, "tests", 0), 7);
        cr_expect_eq(json_get_integer(one, "runs", 0), 14);
        cr_expect_eq(json_get_integer(one, "passed", -1), arm ? 14 : 0);
        cr_expect_eq(json_get_integer(json_object_get(one, "tokens"), "output", 0), 140);
    }
    cr_expect(r.done == 28 && r.total == 28, "%g of %g", r.done, r.total);
    evaluate_room_close(&r);
}

Test(evaluate_operation, without_a_word_about_it_there_are_three_runs_and_a_cache) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    json_decref(evaluate_room_result(&r, evaluate_room_params(6, "{\"runs\":null}")));
    cr_expect_eq(r.count, 6 * 2 * 3);
    cr_expect(!r.questions[0].no_cache && !r.questions[0].at_once);
    evaluate_room_close(&r);
}

static char *order_of(struct evaluate_room *r, const char *more) {
    size_t before = r->count;
    json_t *params = evaluate_room_params(8, more);
    json_object_set_new(params, "concurrency", json_integer(1));
    autojson *result = evaluate_room_result(r, params);
    autobuf text = BUF_INIT(1u << 16);
    for (size_t i = before; i < r->count; i++) {
        buf_addf(&text, "%.12s%d ", r->questions[i].text,
                 strstr(r->questions[i].system, "marigold") != NULL);
    }
    const json_t *provenance = json_object_get(result, "provenance");
    buf_addf(&text, "seed %d", (int)json_get_integer(provenance, "seed", -1));
    return buf_detach(&text);
}

Test(evaluate_operation, the_seed_decides_the_order) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autofree char *usual = order_of(&r, "");
    autofree char *one = order_of(&r, "{\"seed\":1}");
    autofree char *two = order_of(&r, "{\"seed\":2}");
    autofree char *again = order_of(&r, "{\"seed\":2}");
    cr_expect_str_eq(usual, one);
    cr_expect_str_eq(two, again);
    cr_expect(strncmp(one, two, strlen(one) - 6) != 0, "%s\n%s", one, two);
    cr_expect(strstr(one, "seed 1") && strstr(two, "seed 2"));
    evaluate_room_close(&r);
}

/* --- arms --- */

static size_t asked_with(const struct evaluate_room *r, const char *words) {
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        count +=
            strstr(r->questions[i].system, words) || strstr(r->questions[i].text, words);
    }
    return count;
}

Test(evaluate_operation, further_arms_are_what_they_are_made_of) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    evaluate_room_write(&r, "skills/older/SKILL.md",
                        "---\nname: words\ndescription: d\n---\nThe word is tulip.\n");
    evaluate_room_write(&r, "trace.txt", "Somebody said daffodil.");
    autojson *result = evaluate_room_result(
        &r, evaluate_room_params(
                6, "{\"arms\":[\"placebo\",\"previous\",\"trace\"],\"previous\":"
                   "\"skills/older\",\"trace\":\"trace.txt\"}"));
    cr_expect_eq(r.count, 6 * 5);
    cr_expect_eq(asked_with(&r, "marigold"), 6);
    cr_expect_eq(asked_with(&r, "tulip"), 6);
    cr_expect_eq(asked_with(&r, "daffodil"), 6);
    static const char *const names[] = {"baseline", "skill", "placebo", "previous",
                                        "trace"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        cr_expect_str_eq(text_at(evaluate_arm(result, 0, i), "name"), names[i]);
        cr_expect_eq(json_get_integer(evaluate_arm(result, 0, i), "passed", -1),
                     i == 1 ? 6 : 0);
    }
    /* Each further arm against the baseline, and the skill against it. */
    const json_t *student = json_array_get(json_object_get(result, "students"), 0);
    const json_t *lifts = json_object_get(student, "lifts");
    cr_assert_eq(json_array_size(lifts), 6);
    for (size_t i = 0; i < 6; i++) {
        const json_t *one = json_array_get(lifts, i);
        const char *arm = names[2 + i / 2];
        cr_expect_str_eq(text_at(one, "arm"), i % 2 ? "skill" : arm);
        cr_expect_str_eq(text_at(one, "vs"), i % 2 ? arm : "baseline");
        cr_expect_eq(json_number_value(json_object_get(one, "estimate")), i % 2);
    }
    evaluate_room_close(&r);
}

/* The same prompt twice: two draws, whose difference is noise and is called so. */
Test(evaluate_operation, an_aa_evaluation_says_what_it_is) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *result = evaluate_room_result(&r, evaluate_room_params(6, "{\"aa\":true}"));
    cr_expect_eq(r.count, 12);
    cr_expect_eq(asked_with(&r, "marigold"), 0, "the skill is in neither arm");
    size_t zero = 0;
    for (size_t i = 0; i < r.count; i++) {
        zero += r.questions[i].run == 0;
    }
    cr_expect_eq(zero, 6, "the other arm's answers are other draws");
    cr_expect_eq(strncmp(text_at(result, "sentence"),
                         "Both arms were the same (A/A): two equal measurements of "
                         "generic.m over 6 tests differ by +0 points",
                         90),
                 0, "%s", text_at(result, "sentence"));
    cr_expect(json_get_bool(result, "aa", 0));
    evaluate_room_close(&r);
}

Test(evaluate_operation, a_split_of_the_tests_is_asked) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    json_t *params = evaluate_room_params(9, "{\"split\":\"report\"}");
    json_t *tests = json_object_get(params, "tests");
    for (size_t i = 0; i < 9; i++) {
        json_object_set_new(json_array_get(tests, i), "split",
                            json_string(i < 6 ? "report" : "gate"));
    }
    autojson *result = evaluate_room_result(&r, params);
    cr_expect_eq(r.count, 12);
    cr_expect_str_eq(text_at(json_object_get(result, "provenance"), "split"), "report");
    const json_t *student = json_array_get(json_object_get(result, "students"), 0), *test;
    size_t k;
    json_array_foreach(json_object_get(student, "tests"), k, test) {
        cr_expect_str_eq(text_at(test, "split"), "report");
    }
    cr_expect_eq(k, 6);
    evaluate_room_close(&r);
}

/* --- what is refused --- */

#define STUDENTS "{\"students\":"

Test(evaluate_operation, params_that_cannot_be_are_refused_with_their_place) {
    static const struct {
        const char *more, *reason, *words;
    } cases[] = {
        {"{\"students\":null}", "/students", "name the models"},
        {STUDENTS "[{\"api\":\"openai\"}]}", "/students/0", "model"},
        {STUDENTS "[\"generic.a\",\"generic.a\"]}", "/students/1",
         "generic.a appears twice"},
        {STUDENTS "[\"generic.a\",\"codex\"]}", "/students/1",
         "codex is an agent, not a model"},
        {STUDENTS "[\"claude-code\"]}", "/students/0",
         "claude-code is an agent, not a model"},
        {STUDENTS "[\"opencode\"]}", "/students/0", "opencode is an agent, not a model"},
        {STUDENTS "[{\"cli\":\"codex\"}]}", "/students/0", "codex is an agent: say"},
        {STUDENTS "[{\"cli\":\"bash\"}],\"mode\":\"installed\"}", "/students/0",
         "claude-code, codex, opencode or custom"},
        {STUDENTS "[{\"cli\":\"codex\",\"argv\":[\"sh\"]}],\"mode\":\"installed\"}",
         "untrusted", "may not say which program"},
        {"{\"mode\":\"installed\"}", "/students/0", "generic.m is a model"},
        {STUDENTS "[\"openai.x\"],\"base_url\":null}", "no_key", "OPENAI_API_KEY"},
        {"{\"judge\":\"nobody\"}", "/judge", "nobody"},
        {"{\"arms\":[\"previous\"]}", "/arms", "the previous arm needs `previous`"},
        {"{\"arms\":[\"trace\"]}", "/arms", "the trace arm needs `trace`"},
        {"{\"arms\":[\"placebo\"],\"mode\":\"installed\",\"students\":[{\"cli\":"
         "\"codex\"}]}",
         "/arms", "mode inject alone"},
        {"{\"aa\":true,\"arms\":[\"placebo\"]}", "/aa", "no further arms"},
        {"{\"aa\":true,\"previous\":\"skills/words\"}", "/aa", "no further arms"},
        {"{\"aa\":true,\"trace\":\"trace.txt\"}", "/aa", "no further arms"},
        {"{\"skill\":\"nothing\"}", "unknown_skill", "nothing"},
        {"{\"previous\":\"skills/none\"}", "unknown_skill", "none"},
        {"{\"trace\":\"none.txt\"}", "/trace", "none.txt"},
        {"{\"trace\":\"/etc/passwd\"}", "outside_roots", "/etc/passwd"},
        {"{\"tests\":\"none.json\"}", "/tests", "none.json"},
        {"{\"tests\":\"trace.txt\"}", "unreadable", "trace.txt: line 1"},
        {"{\"tests\":[{\"input\":\"x\",\"expected\":{\"rhymes\":1}}]}", "/tests",
         "rhymes"},
        {"{\"tests\":null}", "no_tests", ""},
        {"{\"runs_dir\":\"trace.txt\"}", "/runs_dir", "trace.txt is not a folder"},
        {"{\"runs_dir\":\"none/deeper\"}", "/runs_dir", "none"},
        {"{\"runs_dir\":\"..\"}", "outside_roots", ".."},
        {"{\"runs_dir\":\"/etc/x\"}", "outside_roots", "/etc"},
        {"{\"runs_dir\":\"/none\"}", "outside_roots", "/"},
        {"{\"baseline_from\":\"20260101-000000-none\"}", "/baseline_from", "no record"},
        {"{\"budget\":{\"cost\":1}}", "/budget/cost", "is unknown"},
        {"{\"budget\":{\"tokens\":100}}", "budget_too_small",
         "the 6 tests that a verdict"},
    };
    struct evaluate_room r;
    unsetenv("OPENAI_API_KEY");
    evaluate_room_open(&r, NULL);
    evaluate_room_write(&r, "trace.txt", "a trace");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        evaluate_room_fails(&r, evaluate_room_params(6, cases[i].more), cases[i].reason,
                            cases[i].words);
    }
    cr_expect_eq(r.count, 0, "nobody was asked");
    evaluate_room_close(&r);
}

/* A folder is no skill, neither now nor as it was. */
Test(evaluate_operation, a_folder_without_a_skill_is_refused) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    evaluate_room_write(&r, "skills/empty/notes.txt", "none");
    evaluate_room_fails(&r, evaluate_room_params(6, "{\"skill\":\"skills/empty\"}"),
                        "unknown_skill", "SKILL.md");
    evaluate_room_fails(&r, evaluate_room_params(6, "{\"previous\":\"skills/empty\"}"),
                        "unknown_skill", "SKILL.md");
    cr_expect_eq(r.count, 0);
    evaluate_room_close(&r);
}

Test(evaluate_operation, more_answers_than_there_may_be_are_refused) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    evaluate_room_fails(&r,
                        evaluate_room_params(1000, "{\"runs\":50,\"students\":["
                                                   "\"generic.a\",\"generic.b\"]}"),
                        "/tests", "answers: take fewer");
    evaluate_room_close(&r);
}

/* What status tells: no endpoint before anybody was asked, and then the client's. */
Test(evaluate_operation, the_status_lists_endpoints) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *none = json_object(), *listed = json_pack("{s:[]}", "endpoints");
    autojson *nowhere = evaluation_room_status(NULL);
    cr_expect(json_equal(nowhere, none));
    for (int i = 0; i < 2; i++) {
        autojson *status = evaluation_room_status(r.room);
        cr_expect(json_equal(status, listed), "%d", i);
        json_decref(i ? NULL : evaluate_room_result(&r, evaluate_room_params(6, "")));
    }
    evaluate_room_close(&r);
}

Test(evaluate_operation, where_there_is_no_room_nothing_is_evaluated) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    evaluation_room_close(take(r.room));
    evaluate_room_fails(&r, evaluate_room_params(6, ""), "closing",
                        "the daemon is ending");
    evaluate_room_close(&r);
}

/* --- the configuration --- */

Test(evaluate_operation, students_and_judge_come_from_the_configuration) {
    autojson *defaults = json_loads("[\"small\"]", 0, NULL);
    autojson *models =
        json_loads("{\"small\":{\"api\":\"generic\",\"model\":\"tiny\",\"base_url\":"
                   "\"http://127.0.0.1:9/"
                   "v1\",\"price\":{\"input\":1,\"output\":2},\"max_tokens\":77}}",
                   0, NULL);
    struct evaluate_room r;
    autojson *settings = json_pack("{s:O,s:O,s:s}", "models", models, "default_students",
                                   defaults, "judge", "small");
    evaluate_room_open(&r, settings);
    autojson *result = evaluate_room_result(
        &r, evaluate_room_params(6, "{\"students\":null,\"base_url\":null}"));
    cr_expect_str_eq(r.questions[0].model, "small");
    cr_expect_eq(r.questions[0].max_tokens, 77);
    /* 12 answers of 10 tokens at 2 in a million, and their prompts at 1. */
    const json_t *base = evaluate_arm(result, 0, 0);
    double input = (double)json_get_integer(json_object_get(base, "tokens"), "input", 0);
    double cost = json_number_value(json_object_get(base, "cost"));
    cr_expect_float_eq(cost, (input + 60 * 2) / 1e6, 1e-12, "%g", cost);
    cr_expect(strstr(r.first, "12 answers, about ") &&
                  strstr(r.first, " in money (estimated)"),
              "%s", r.first);
    evaluate_room_close(&r);
    autojson *nobody = json_pack("{s:s}", "judge", "nobody");
    evaluate_room_open(&r, nobody);
    evaluate_room_fails(&r, evaluate_room_params(6, ""), "/judge", "nobody");
    evaluate_room_close(&r);
}

/* --- what is spent --- */

/* An answer counts as 400 tokens before anything is asked; so twelve of six tests count
 * 4800, and the prompts come on top. */
Test(evaluate_operation, the_estimate_and_the_least_budget_agree) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    struct call *call =
        evaluate_room_ask(&r, evaluate_room_params(6, "{\"budget\":{\"tokens\":4800}}"));
    unsigned long long least = 0, told = 0;
    const char *message = call_failure(call)->message;
    cr_assert_eq(sscanf(strstr(message, "about"), "about %llu tokens", &least), 1, "%s",
                 message);
    call_unref(call);
    cr_expect(least > 4800 + 6 * 500 && least < 4800 + 6 * 1200, "%llu", least);
    autofree char *enough = xasprintf("{\"budget\":{\"tokens\":%llu}}", least);
    json_decref(evaluate_room_result(&r, evaluate_room_params(6, enough)));
    unsigned answers = 0;
    cr_assert_eq(
        sscanf(r.first, "%u answers, about %llu tokens (estimated)", &answers, &told), 2,
        "%s", r.first);
    cr_expect_eq(answers, 12);
    cr_expect_eq(told, least, "with six tests all of it is the least");
    /* Of twelve tests in two runs by two students it is still one run of six. */
    json_decref(evaluate_room_result(
        &r, evaluate_room_params(
                12, "{\"runs\":2,\"students\":[\"generic.a\",\"generic.b\"]}")));
    cr_assert_eq(sscanf(r.first, "%u answers, about %llu tokens", &answers, &told), 2);
    cr_expect_eq(answers, 96);
    cr_expect(told > 7 * least && told < 9 * least, "%llu of %llu", told, least);
    evaluate_room_close(&r);
}

/* The least that is of use is six tests: the six that cost the least. */
Test(evaluate_operation, the_least_budget_is_of_the_smallest_tests) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    unsigned long long least[2] = {0};
    static char large[4001];
    memset(large, 'w', sizeof large - 1);
    for (size_t i = 0; i < 2; i++) {
        json_t *params =
            evaluate_room_params(i ? 12 : 6, "{\"budget\":{\"tokens\":4800}}");
        json_t *tests = json_object_get(params, "tests");
        for (size_t k = 0; k < 6 * i; k++) { /* the first six are large ones */
            json_object_set_new(json_array_get(tests, k), "input", json_string(large));
        }
        struct call *call = evaluate_room_ask(&r, params);
        const char *message = call_failure(call)->message;
        cr_assert_eq(sscanf(strstr(message, "about"), "about %llu tokens", &least[i]), 1);
        cr_expect_null(strstr(message, "money"));
        call_unref(call);
    }
    cr_expect(least[1] >= least[0] && least[1] < least[0] + 20, "%llu, %llu", least[0],
              least[1]);
    evaluate_room_close(&r);
}

/* With prices the least is told in money too, and a budget of money holds. */
Test(evaluate_operation, a_budget_of_money_has_a_least) {
    autojson *models =
        json_loads("{\"small\":{\"api\":\"generic\",\"model\":\"tiny\",\"base_url\":"
                   "\"http://127.0.0.1:9/v1\",\"price\":{\"input\":0,\"output\":100}}}",
                   0, NULL);
    struct evaluate_room r;
    autojson *settings = json_pack("{s:O}", "models", models);
    evaluate_room_open(&r, settings);
    /* 4800 tokens of output at 100 in a million */
    evaluate_room_fails(&r,
                        evaluate_room_params(6, "{\"students\":[\"small\"],\"base_url\":"
                                                "null,\"budget\":{\"cost\":0.4}}"),
                        "budget_too_small", " and 0.48 in money");
    json_decref(evaluate_room_result(
        &r, evaluate_room_params(6, "{\"students\":[\"small\"],\"base_url\":null,"
                                    "\"budget\":{\"cost\":0.5}}")));
    cr_expect(strstr(r.first, "and 0.48 in money"), "%s", r.first);
    evaluate_room_close(&r);
    autojson *price = json_pack("{s:i, s:i}", "input", 0, "output", 0);
    json_object_set(json_object_get(models, "small"), "price", price);
    evaluate_room_open(&r, settings);
    evaluate_room_fails(
        &r,
        evaluate_room_params(6, "{\"students\":[\"small\"],\"base_url\":null,"
                                "\"budget\":{\"tokens\":9}}"),
        "budget_too_small", " tokens and 0 in money");
    evaluate_room_close(&r);
}

/* --- the record --- */

static json_t *meta_of(const char *dir, const json_t *result) {
    autofree char *name = path_join(text_at(result, "run"), "meta.json");
    return read_json(dir, name);
}

Test(evaluate_operation, the_record_says_what_was_asked) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *result = evaluate_room_result(
        &r,
        evaluate_room_params(6, "{\"runs_dir\":\"runs\",\"seed\":5,\"runs\":2,\"arms\":["
                                "\"placebo\"]}"));
    autofree char *dir = path_join(r.work, "runs");
    autojson *meta = meta_of(dir, result);
    cr_assert_not_null(meta, "%s", text_at(result, "run"));
    cr_expect_eq(json_get_integer(meta, "seed", -1), 5);
    cr_expect_eq(json_get_integer(meta, "runs", -1), 2);
    cr_expect_str_eq(text_at(meta, "kind"), "evaluate");
    cr_expect_str_eq(text_at(meta, "mode"), "inject");
    cr_expect_str_eq(text_at(meta, "split"), "all");
    cr_expect_str_eq(text_at(json_object_get(meta, "skill"), "name"), "words");
    autojson *models = json_loads("[\"generic.m\"]", 0, NULL),
             *arms = json_loads("[\"baseline\",\"skill\",\"placebo\"]", 0, NULL);
    cr_expect(json_equal(json_object_get(meta, "models"), models));
    cr_expect(json_equal(json_object_get(meta, "arms"), arms));
    const json_t *provenance = json_object_get(result, "provenance");
    cr_expect_str_eq(text_at(provenance, "tests_digest"), text_at(meta, "tests_digest"));
    autofree char *folder = path_join(r.work, "skills/words");
    cr_expect_str_eq(text_at(provenance, "path"), folder);
    cr_expect_null(json_object_get(meta, "baseline_from"));
    evaluate_room_close(&r);
}

/* As many as there may be, each by its name and in their order. */
Test(evaluate_operation, the_record_names_every_student) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *students = json_array();
    for (size_t i = 0; i < EVALUATION_MAX_STUDENTS; i++) {
        autofree char *name = xasprintf("generic.m%zu", i);
        json_array_append_new(students, json_string(name));
    }
    json_t *params = evaluate_room_params(6, "{\"runs_dir\":\"runs\",\"runs\":1}");
    json_object_set(params, "students", students);
    autojson *result = evaluate_room_result(&r, params);
    autofree char *dir = path_join(r.work, "runs");
    autojson *meta = meta_of(dir, result);
    cr_expect(json_equal(json_object_get(meta, "models"), students));
    cr_expect_eq(json_array_size(json_object_get(result, "students")),
                 EVALUATION_MAX_STUDENTS);
    evaluate_room_close(&r);
}

/* The same answers count again; only the skill's are asked. */
Test(evaluate_operation, a_baseline_is_used_again) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autojson *first =
        evaluate_room_result(&r, evaluate_room_params(6, "{\"runs_dir\":\".\"}"));
    cr_expect_eq(r.count, 12);
    autofree char *more =
        xasprintf("{\"runs_dir\":\".\",\"baseline_from\":\"%s\"}", text_at(first, "run"));
    autojson *second = evaluate_room_result(&r, evaluate_room_params(6, more));
    cr_expect_eq(r.count, 18);
    const json_t *one = evaluate_arm(first, 0, 0), *two = evaluate_arm(second, 0, 0);
    cr_expect_eq(json_get_integer(two, "reused", 0), 6);
    cr_expect(json_equal(json_object_get(one, "tokens"), json_object_get(two, "tokens")));
    cr_expect_str_eq(text_at(second, "verdict"), "helps");
    autojson *meta = meta_of(r.work, second);
    cr_expect_str_eq(text_at(meta, "baseline_from"), text_at(first, "run"));
    /* Of other tests, or of another number of runs, it is no baseline. */
    evaluate_room_fails(&r, evaluate_room_params(7, more), "/baseline_from",
                        "other tests");
    json_t *params = evaluate_room_params(6, more);
    json_object_set_new(params, "runs", json_integer(2));
    evaluate_room_fails(&r, params, "/baseline_from", "had 1 runs of each test, not 2");
    evaluate_room_close(&r);
}

Test(evaluate_operation, a_record_is_kept_where_it_is_wanted) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    autofree char *skill = path_join(r.work, "skills/words"),
                  *runs = path_join(r.work, "runs");
    autojson *none = evaluate_room_result(
        &r, evaluate_room_params(6, "{\"record\":false,\"runs_dir\":\"runs\"}"));
    cr_expect(json_is_null(json_object_get(none, "run")));
    cr_expect_neq(access(runs, F_OK), 0);
    autojson *usual = evaluate_room_result(&r, evaluate_room_params(6, ""));
    autojson *meta = read_json(skill, "skill_meta.json");
    cr_expect_null(meta);
    cr_expect(*text_at(usual, "run"));
    autojson *both =
        evaluate_room_result(&r, evaluate_room_params(6, "{\"record\":true}"));
    cr_expect_null(json_object_get(both, "record_problem"));
    autojson *noted = read_json(skill, "skill_meta.json");
    autofree char *said = json_dumps(noted, JSON_COMPACT | JSON_ENCODE_ANY);
    cr_expect(strstr(said, text_at(both, "run")), "%s", said);
    /* A skill that was installed is not the user's own to write in. */
    evaluate_room_write(&r, "skills/.upskilld-lock.json", "{}");
    autojson *installed =
        evaluate_room_result(&r, evaluate_room_params(6, "{\"record\":true}"));
    cr_expect(strstr(text_at(installed, "record_problem"), "was installed"), "%s",
              text_at(installed, "record_problem"));
    setenv("XDG_STATE_HOME", "/proc/none", 1);
    autojson *nowhere = evaluate_room_result(&r, evaluate_room_params(6, ""));
    cr_expect_str_eq(text_at(nowhere, "verdict"), "helps");
    cr_expect(strstr(text_at(nowhere, "sentence"), " The record is incomplete: "), "%s",
              text_at(nowhere, "sentence"));
    cr_expect(*text_at(nowhere, "record_problem"));
    cr_expect(json_is_null(json_object_get(nowhere, "run")));
    evaluate_room_close(&r);
}

/* --- cancelled --- */

Test(evaluate_operation, it_stops_when_its_caller_or_the_daemon_does) {
    static const size_t at[] = {1, 5, 12};
    for (size_t i = 0; i < 2 * ARRAY_LEN(at); i++) {
        struct evaluate_room r;
        evaluate_room_open(&r, NULL);
        r.cancel_at = at[i / 2];
        struct call *call = evaluate_room_ask(
            &r, evaluate_room_params(60, i % 2 ? "{\"concurrency\":2}" : ""));
        cr_expect_eq(call_state(call), CALL_CANCELLED);
        cr_expect_leq(r.count, at[i / 2] + 64);
        cr_expect_eq(r.in_flight, 0);
        call_unref(call);
        evaluate_room_close(&r);
    }
}

static void play_slowly(const struct evaluate_room *r, const struct question *q,
                        struct played *ret) {
    play_helped(r, q, ret);
    ret->delay_ms = 600000;
}

/* As soon as something is asked. */
static void close_room(uv_timer_t *timer) {
    struct evaluate_room *r = timer->data;
    if (r->in_flight) {
        evaluation_room_close(take(r->room));
        uv_close((uv_handle_t *)timer, NULL);
    }
}

Test(evaluate_operation, the_rooms_end_stops_it) {
    struct evaluate_room r;
    uv_timer_t timer;
    evaluate_room_open(&r, NULL);
    r.play = play_slowly;
    uv_timer_init(&r.loop, &timer);
    timer.data = &r;
    uv_timer_start(&timer, close_room, 10, 10);
    struct call *call = evaluate_room_ask(&r, evaluate_room_params(6, ""));
    cr_expect_eq(call_state(call), CALL_CANCELLED);
    cr_expect_eq(r.in_flight, 0);
    call_unref(call);
    evaluate_room_close(&r);
}
