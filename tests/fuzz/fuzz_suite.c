/* A list of tests (JSON) and, behind a 0xff byte, an answer: the tests are read, written
 * in other programs' words, read again, and the answer is graded by every check that runs
 * on a thread. */
#include "base/err.h"
#include "skills/grading/grade_check.h"
#include "skills/grading/suite.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static const struct {
    const char *name;
    grade_check *check;
} checks[] = {
    {"contains", grade_search},       {"not_contains", grade_search},
    {"regex", grade_search},          {"not_regex", grade_search},
    {"equals", grade_equals},         {"json_schema", grade_json_schema},
    {"build_toml", grade_build_toml},
};

/* A pattern may take a second: only a few are tried. */
static bool is_short(const json_t *expected) {
    return !json_is_array(expected) || json_array_size(expected) <= 2;
}

static void grade(const struct test_case *test, const char *text, size_t len) {
    struct answer answer;
    struct assertions out = {0};
    answer_init(&answer, text, len);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        const json_t *expected = json_object_get(test->expected, checks[i].name);
        if (expected && is_short(expected)) {
            checks[i].check(&answer, test, checks[i].name, expected, &out);
        }
    }
    const json_t *compiles = json_object_get(test->expected, "kernel_compiles");
    if (compiles) {
        free(grade_kernel_source(&answer, "kernel_compiles", compiles, &out));
    }
    answer_code_of(&answer);
    check(out.passed <= out.total && json_array_size(out.list) == out.total);
    autofree char *told = json_dumps(out.list ? out.list : json_true(), JSON_ENCODE_ANY);
    check(told != NULL);
    assertions_finish(&out);
    answer_finish(&answer);
}

/* Reading is a projection. */
static void read_again(struct suite *s) {
    struct suite again;
    check(suite_from_json(&again, s->json, NULL) == 0);
    check(json_equal(again.json, s->json) && strcmp(again.digest, s->digest) == 0);
    suite_split(&again);
    check(strcmp(again.digest, s->digest) == 0);
    for (size_t i = 0; i < again.count; i++) {
        check(again.tests[i].split != SPLIT_NONE);
    }
    suite_finish(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
    size_t len = cut ? (size_t)(cut - data) : size;
    const char *answer = cut ? (const char *)cut + 1 : "";
    size_t answer_len = cut ? size - len - 1 : 0;
    autofree char *text = xmalloc(len + 1);
    memcpy(text, size ? (const char *)data : "", len);
    text[len] = '\0';
    autojson *value = json_parse(text, len, NULL);
    struct suite s;
    struct err err = {0};
    if (!value || suite_from_json(&s, value, &err) < 0) {
        check(!value || err.msg[0]);
        return 0;
    }
    read_again(&s);
    for (size_t i = 0; i < s.count && i < 2; i++) {
        grade(&s.tests[i], answer, answer_len);
    }
    suite_finish(&s);
    return 0;
}
