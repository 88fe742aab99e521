/* The course of an evaluation: what is asked again, what counts, and what ends it. The
 * models are played; expected values are counted by hand. */
#include "base/mem.h"
#include "tests/unit/skills/evaluate_room.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

TestSuite(evaluation_course, .timeout = 120);

static const char *text_at(const json_t *object, const char *key) {
    return json_get_string(object, key, "");
}

static const json_t *student_of(const json_t *result, size_t i) {
    return json_array_get(json_object_get(result, "students"), i);
}

static json_int_t of_arm(const json_t *result, size_t arm, const char *key) {
    return json_get_integer(evaluate_arm(result, 0, arm), key, -1);
}

static bool has_skill(const struct question *q) {
    return strstr(q->system, "marigold") != NULL;
}

/* How often this question was asked, itself included. */
static unsigned times_asked(const struct evaluate_room *r, const struct question *q) {
    unsigned count = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct question *other = &r->questions[i];
        count += !strcmp(other->text, q->text) && !strcmp(other->system, q->system) &&
                 other->run == q->run;
    }
    return count;
}

/* --- errors --- */

static void play_first_fails(const struct evaluate_room *r, const struct question *q,
                             struct played *ret) {
    play_helped(r, q, ret);
    if (times_asked(r, q) == 1 && strstr(q->text, "Question 3")) {
        *ret = (struct played){.outcome = MODEL_FAILED,
                               .reason = "timeout",
                               .message = "it took too long",
                               .hint = "wait"};
    }
}

Test(evaluation_course, what_errored_is_asked_once_more_after_all_others) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_first_fails;
    autojson *result =
        evaluate_room_result(&r, evaluate_room_params(6, "{\"concurrency\":1}"));
    cr_expect_eq(r.count, 14);
    for (size_t i = 12; i < 14; i++) {
        cr_expect(strstr(r.questions[i].text, "Question 3"));
    }
    cr_expect_eq(of_arm(result, 0, "errored"), 0);
    cr_expect_eq(of_arm(result, 1, "passed"), 6);
    cr_expect_eq(json_get_integer(json_object_get(result, "provenance"), "requests", 0),
                 14);
    cr_expect_null(json_object_get(student_of(result, 0), "error"));
    evaluate_room_close(&r);
}

static void play_skill_fails(const struct evaluate_room *r, const struct question *q,
                             struct played *ret) {
    play_helped(r, q, ret);
    if (has_skill(q) &&
        (strstr(q->text, "Question 3") || strstr(q->text, "Question 5"))) {
        *ret = (struct played){.outcome = MODEL_FAILED,
                               .reason = "timeout",
                               .message = "it took too long",
                               .hint = "raise its limit."};
    }
}

Test(evaluation_course, what_errors_twice_counts_for_no_arm) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_skill_fails;
    autojson *result = evaluate_room_result(&r, evaluate_room_params(8, ""));
    cr_expect_eq(r.count, 16 + 2);
    cr_expect_eq(of_arm(result, 1, "errored"), 2);
    cr_expect_eq(of_arm(result, 1, "passed"), 6);
    cr_expect_eq(of_arm(result, 0, "errored"), 0);
    const json_t *student = student_of(result, 0);
    const json_t *lift = json_object_get(student, "lift");
    cr_expect_eq(json_get_integer(lift, "n_tests", 0), 6, "pairs that are whole");
    cr_expect(strstr(text_at(student, "sentence"),
                     " 2 answers errored (2 of them with the skill) and do not count: "
                     "raise its limit."),
              "%s", text_at(student, "sentence"));
    const json_t *error = json_object_get(student, "error");
    cr_expect_str_eq(text_at(error, "message"), "it took too long");
    cr_expect_str_eq(text_at(error, "hint"), "raise its limit.");
    const char *test = text_at(error, "test");
    cr_expect(!strcmp(test, "q3") || !strcmp(test, "q5"), "%s", test);
    evaluate_room_close(&r);
}

static void play_no_key(const struct evaluate_room *r, const struct question *q,
                        struct played *ret) {
    play_helped(r, q, ret);
    if (!strcmp(q->model, "generic.a")) {
        *ret = (struct played){.outcome = MODEL_FAILED,
                               .reason = "unauthorized",
                               .message = "the key is refused"};
    }
}

/* A refused key is refused a hundred times; the other student is not held up. */
Test(evaluation_course, a_student_that_cannot_be_asked_is_given_up) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_no_key;
    autojson *result = evaluate_room_result(
        &r, evaluate_room_params(12, "{\"concurrency\":1,\"students\":[\"generic.a\","
                                     "\"generic.b\"]}"));
    cr_expect_eq(r.count, 1 + 24);
    cr_expect(strstr(text_at(student_of(result, 0), "sentence"),
                     "generic.a could not be asked: the key is refused."),
              "%s", text_at(student_of(result, 0), "sentence"));
    cr_expect_str_eq(text_at(student_of(result, 0), "verdict"), "no_evidence");
    cr_expect_str_eq(text_at(student_of(result, 1), "verdict"), "helps");
    cr_expect_str_eq(text_at(result, "verdict"), "helps");
    cr_expect(strstr(text_at(result, "sentence"),
                     "Of 2 students the skill helps 1 and hurts 0"),
              "%s", text_at(result, "sentence"));
    evaluate_room_close(&r);
}

/* --- answers of other kinds --- */

static void play_kinds(const struct evaluate_room *r, const struct question *q,
                       struct played *ret) {
    play_helped(r, q, ret);
    if (strstr(q->text, "Question 1")) {
        ret->outcome = MODEL_REFUSED;
        ret->message = "I may not";
    } else if (strstr(q->text, "Question 2")) {
        ret->outcome = MODEL_TRUNCATED;
    } else if (strstr(q->text, "Question 3")) {
        ret->outcome = MODEL_CONTEXT_CUT;
        ret->reason = "context_cut";
        ret->message = "its context is too small";
    }
}

Test(evaluation_course, refused_cut_and_truncated_answers_are_told_apart) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_kinds;
    autojson *result = evaluate_room_result(&r, evaluate_room_params(9, ""));
    for (size_t arm = 0; arm < 2; arm++) {
        cr_expect_eq(of_arm(result, arm, "refused"), 1);
        cr_expect_eq(of_arm(result, arm, "truncated"), 1);
        cr_expect_eq(of_arm(result, arm, "errored"), 1);
        cr_expect_eq(of_arm(result, arm, "runs"), 7, "what was truncated is graded");
        cr_expect_eq(of_arm(result, arm, "passed"), arm ? 7 : 0);
    }
    cr_expect_eq(r.count, 18, "none of it is asked again");
    const char *sentence = text_at(student_of(result, 0), "sentence");
    cr_expect(strstr(sentence, " 2 answers errored and do not count: its context is too "
                               "small."),
              "%s", sentence);
    cr_expect(strstr(sentence, " 2 were refused and do not count."), "%s", sentence);
    cr_expect(strstr(sentence, " 2 answers were cut off at their length limit"), "%s",
              sentence);
    evaluate_room_close(&r);
}

static void play_without_system(const struct evaluate_room *r, const struct question *q,
                                struct played *ret) {
    play_helped(r, q, ret);
    ret->input = 30; /* whatever the prompt holds */
}

static void play_untold(const struct evaluate_room *r, const struct question *q,
                        struct played *ret) {
    play_helped(r, q, ret);
    ret->unreported = true;
}

/* A template that drops the system message measures nothing, whatever came of it. */
Test(evaluation_course, a_skill_that_never_arrives_is_noticed) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_without_system;
    autojson *result = evaluate_room_result(&r, evaluate_room_params(8, ""));
    cr_expect_str_eq(text_at(result, "verdict"), "no_evidence");
    cr_expect(strstr(text_at(result, "sentence"), "The skill never reached generic.m"));
    const json_t *seen = json_object_get(student_of(result, 0), "injection");
    cr_expect_eq(json_get_integer(seen, "seen_tokens", -1), 0);
    cr_expect(json_is_false(json_object_get(seen, "ok")));
    r.play = play_untold;
    autojson *untold = evaluate_room_result(&r, evaluate_room_params(8, ""));
    seen = json_object_get(student_of(untold, 0), "injection");
    cr_expect(json_is_null(json_object_get(seen, "ok")) &&
              json_is_null(json_object_get(seen, "seen_tokens")));
    cr_expect_str_eq(text_at(untold, "verdict"), "helps");
    evaluate_room_close(&r);
}

static void play_hurt(const struct evaluate_room *r, const struct question *q,
                      struct played *ret) {
    play_helped(r, q, ret);
    bool hurts = !strcmp(q->model, "generic.a");
    ret->text = has_skill(q) != hurts ? "marigold" : "no";
}

Test(evaluation_course, students_may_differ) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_hurt;
    autojson *mixed = evaluate_room_result(
        &r, evaluate_room_params(12, "{\"students\":[\"generic.a\",\"generic.b\"]}"));
    cr_expect_str_eq(text_at(mixed, "verdict"), "no_evidence");
    cr_expect_eq(strncmp(text_at(mixed, "sentence"),
                         "Mixed: of 2 students the skill helps 1 and hurts 1", 50),
                 0, "%s", text_at(mixed, "sentence"));
    cr_expect_str_eq(text_at(student_of(mixed, 0), "verdict"), "hurts");
    autojson *hurts = evaluate_room_result(
        &r, evaluate_room_params(12, "{\"students\":[\"generic.a\"]}"));
    cr_expect_str_eq(text_at(hurts, "verdict"), "hurts");
    /* In both arms alike: every test is marked. */
    const json_t *marks = json_object_get(mixed, "marks");
    cr_expect_eq(json_array_size(marks),
                 json_array_size(json_object_get(hurts, "marks")));
    evaluate_room_close(&r);
}

static void play_nothing(const struct evaluate_room *r, const struct question *q,
                         struct played *ret) {
    play_helped(r, q, ret);
    ret->text = strstr(q->text, "Question 4") ? "marigold" : "no";
}

static bool has_mark(const json_t *result, const char *test, const char *mark) {
    const json_t *one, *word;
    size_t i, k;
    json_array_foreach(json_object_get(result, "marks"), i, one) {
        json_array_foreach(json_object_get(one, "marks"), k, word) {
            if (!strcmp(text_at(one, "id"), test) &&
                !strcmp(json_string_value(word), mark)) {
                return *text_at(one, "message") != 0;
            }
        }
    }
    return false;
}

Test(evaluation_course, tests_that_tell_nothing_are_marked) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_nothing;
    autojson *result = evaluate_room_result(&r, evaluate_room_params(6, ""));
    cr_expect(has_mark(result, "q3", "never_passes") &&
              has_mark(result, "q4", "always_passes"));
    cr_expect(!has_mark(result, "q4", "never_passes") &&
              !has_mark(result, "q3", "always_passes"));
    r.play = play_helped;
    autojson *helped = evaluate_room_result(&r, evaluate_room_params(6, ""));
    cr_expect(!has_mark(helped, "q3", "never_passes") &&
              !has_mark(helped, "q3", "always_passes"));
    evaluate_room_close(&r);
}

static void play_together(const struct evaluate_room *r, const struct question *q,
                          struct played *ret) {
    play_helped(r, q, ret);
    ret->delay_ms = 500;
}

/* As many as may be are on their way before the first has answered. */
Test(evaluation_course, questions_are_asked_side_by_side) {
    static const struct {
        const char *more;
        size_t most;
    } cases[] = {{"{\"concurrency\":40}", 40},
                 {"", 64},
                 {"{\"students\":[\"generic.a\",\"generic.b\"]}", 128}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct evaluate_room r;
        evaluate_room_open(&r, NULL);
        r.play = play_together;
        json_decref(evaluate_room_result(&r, evaluate_room_params(70, cases[i].more)));
        cr_expect_eq(r.most_in_flight, cases[i].most, "%zu", r.most_in_flight);
        evaluate_room_close(&r);
    }
}

/* --- early ends --- */

static void play_budget(const struct evaluate_room *r, const struct question *q,
                        struct played *ret) {
    play_helped(r, q, ret);
    if (r->count > 16) {
        *ret = (struct played){.outcome = MODEL_BUDGET, .reason = "budget_spent"};
    }
}

/* What is complete counts, and no further question is put. */
Test(evaluation_course, a_spent_budget_ends_it) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_budget;
    autojson *result =
        evaluate_room_result(&r, evaluate_room_params(20, "{\"concurrency\":1}"));
    cr_expect_eq(r.count, 17);
    cr_expect_str_eq(text_at(result, "ended_by"), "budget");
    cr_expect_eq(of_arm(result, 0, "runs") + of_arm(result, 1, "runs"), 16);
    cr_expect_eq(of_arm(result, 0, "skipped") + of_arm(result, 1, "skipped"), 24);
    cr_expect(strstr(text_at(result, "sentence"),
                     "It ended early, when its budget was used up"),
              "%s", text_at(result, "sentence"));
    cr_expect_str_eq(text_at(result, "verdict"), "helps", "of eight pairs");
    evaluate_room_close(&r);
}

static void play_later(const struct evaluate_room *r, const struct question *q,
                       struct played *ret) {
    play_helped(r, q, ret);
    ret->message = "it is slow";
    ret->delay_ms = r->count > 14 ? 600000 : 0;
}

Test(evaluation_course, its_time_ends_it) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_later;
    autojson *result = evaluate_room_result(
        &r,
        evaluate_room_params(20, "{\"concurrency\":2,\"budget\":{\"minutes\":0.01}}"));
    cr_expect_eq(r.count, 16);
    cr_expect_eq(r.in_flight, 0);
    cr_expect_str_eq(text_at(result, "ended_by"), "time");
    cr_expect_eq(of_arm(result, 0, "runs") + of_arm(result, 1, "runs"), 14);
    cr_expect(
        strstr(text_at(result, "sentence"), "It ended early, when its time was used up"));
    evaluate_room_close(&r);
}

static void play_never(const struct evaluate_room *r, const struct question *q,
                       struct played *ret) {
    play_helped(r, q, ret);
    ret->message = "the server is full.";
    ret->delay_ms = 600000;
}

/* Nothing came in time: what was heard instead is told. */
Test(evaluation_course, the_last_word_of_who_never_answered_is_told) {
    struct evaluate_room r;
    evaluate_room_open(&r, NULL);
    r.play = play_never;
    autojson *result = evaluate_room_result(
        &r, evaluate_room_params(6, "{\"budget\":{\"minutes\":0.01}}"));
    const char *sentence = text_at(student_of(result, 0), "sentence");
    cr_expect(strstr(sentence, " The last message was: the server is full."), "%s",
              sentence);
    cr_expect_null(strstr(sentence, "full.."));
    cr_expect_eq(of_arm(result, 0, "skipped"), 6);
    cr_expect_str_eq(text_at(result, "verdict"), "no_evidence");
    evaluate_room_close(&r);
}
