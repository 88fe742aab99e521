#include "skills/generation/teacher_tests.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/strings.h"
#include "skills/generation/builtin_skill.h"
#include "skills/grading/suite.h"

#include <ctype.h>

#define MAX_INPUT (16u << 10)

/* --- a model's form --- */

/* A number where the text is one, else the text: equals takes both. */
static json_t *equals_of(const char *value) {
    autofree char *copy = xstrdup(value);
    json_t *number = json_parse(copy, strlen(copy), NULL);
    if (json_is_number(number)) {
        return number;
    }
    json_decref(number);
    return json_string(value);
}

static int add_check(json_t *expected, const char *kind, const char *value,
                     struct err *err) {
    static const char *const lists[] = {"contains",  "not_contains", "regex",
                                        "not_regex", "judge",        NULL};
    if (strings_have(lists, kind)) {
        json_t *list = json_object_get(expected, kind);
        if (!list) {
            list = json_array();
            json_object_set_new(expected, kind, list);
        }
        return json_array_append_new(list, json_string(value));
    }
    if (strcmp(kind, "equals") == 0) {
        return json_object_set_new(expected, kind, equals_of(value));
    }
    autofree char *copy = xstrdup(value);
    json_t *parsed = json_parse(copy, strlen(copy), NULL);
    if (!json_is_object(parsed)) {
        json_decref(parsed);
        return err_set(err, -EINVAL, "%.40s: the value is not a JSON object", kind);
    }
    return json_object_set_new(expected, kind, parsed);
}

json_t *teacher_test_read(const json_t *asked, struct err *err) {
    autojson *expected = json_object();
    json_object_update(expected, json_object_get(asked, "expected"));
    json_each(json_object_get(asked, "checks"), i, check) {
        const char *kind = json_get_string(check, "kind", "");
        if (add_check(expected, kind, json_get_string(check, "value", ""), err) < 0) {
            return NULL;
        }
    }
    if (!json_object_size(expected)) {
        err_set(err, -EINVAL, "it has no check");
        return NULL;
    }
    return json_pack("{s:O,s:O}", "input", json_object_get(asked, "input"), "expected",
                     expected);
}

/* --- sifting --- */

json_t *teacher_test_check(const json_t *test, const char *id, struct err *err) {
    const char *input = json_get_string(test, "input", "");
    if (strlen(input) > MAX_INPUT) {
        err_set(err, -EINVAL, "its question has more than %u KiB", MAX_INPUT >> 10);
        return NULL;
    }
    if (!input[strspn(input, " \t\r\n")]) {
        err_set(err, -EINVAL, "it asks nothing");
        return NULL;
    }
    if (!builtin_is_safe(input)) {
        err_set(err, -EINVAL, "its question contains what no skill may contain");
        return NULL;
    }
    autojson *copy = json_deep_copy(test);
    json_object_set_new(copy, "id", json_string(id));
    json_object_del(copy, "split");
    json_object_del(copy, "marks");
    autojson *list = json_pack("[O]", copy);
    struct suite suite;
    struct err why = {0};
    if (suite_from_json(&suite, list, &why) < 0) {
        const char *place = strncmp(why.msg, "tests[0].", 9) == 0 ? why.msg + 9 : why.msg;
        err_set(err, -EINVAL, "%s", place);
        return NULL;
    }
    json_t *canonical = json_deep_copy(suite.tests[0].json);
    suite_finish(&suite);
    return canonical;
}

static char *bare(const char *input) {
    struct buf out = BUF_INIT(1u << 20);
    for (const char *s = input; *s; s++) {
        if (isalnum((unsigned char)*s) || (unsigned char)*s >= 0x80) {
            buf_addc(&out, (char)tolower((unsigned char)*s));
        }
    }
    return buf_detach(&out);
}

bool teacher_test_is_there(const json_t *list, const json_t *test) {
    autofree char *asked = bare(json_get_string(test, "input", ""));
    json_each(list, i, other) {
        autofree char *there = bare(json_get_string(other, "input", ""));
        if (strcmp(asked, there) == 0 &&
            json_equal(json_object_get(test, "files"), json_object_get(other, "files")) ==
                (json_object_get(test, "files") != NULL)) {
            return true;
        }
    }
    return false;
}

/* --- counting --- */

static void count_one(json_t *counts, const char *key) {
    json_object_set_new(counts, key, json_integer(json_get_integer(counts, key, 0) + 1));
}

json_t *teacher_tests_kinds(const json_t *tests) {
    json_t *counts = json_object();
    json_each(tests, i, test) {
        json_each_member(json_object_get(test, "expected"), check, value) {
            count_one(counts, check);
        }
    }
    return counts;
}

json_t *teacher_tests_splits(const json_t *tests) {
    json_t *counts = json_object();
    json_each(tests, i, test) {
        count_one(counts, json_get_string(test, "split", "none"));
    }
    return counts;
}
