#include "base/err.h"
#include "protocol/schema/schema.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>

/* 0 or -EINVAL; the message and the pointer ("" when there is none) are copied out. */
static int check(const char *schema, const char *value, char message[512],
                 char pointer[256]) {
    struct schema *s = NULL;
    struct err err = {0};
    autofree char *path = NULL;
    autofree char *copy = strdup(value);
    cr_assert(zero(int, schema_new(schema, &s, &err)), "%s: %s", schema, err.msg);
    autojson *json = json_parse(copy, strlen(copy), &err);
    cr_assert_not_null(json, "%s: %s", value, err.msg);
    err = (struct err){0};
    int rc = schema_check(s, json, &path, &err);
    snprintf(message, 512, "%s", err.msg);
    snprintf(pointer, 256, "%s", path ? path : "");
    schema_free(s);
    return rc;
}

/* Expectations: the JSON Schema 2020-12 vocabulary, read by hand. */
Test(schema, each_keyword_decides_as_the_specification_says) {
    static const struct {
        const char *schema, *good, *bad;
    } rows[] = {
        {"{\"type\":\"integer\"}", "3", "\"3\""},
        {"{\"type\":\"integer\"}", "-9223372036854775808", "3.5"},
        {"{\"type\":\"number\"}", "3", "\"3\""},
        {"{\"type\":\"number\"}", "3.5", "null"},
        {"{\"type\":[\"string\",\"null\"]}", "null", "1"},
        {"{\"type\":\"boolean\"}", "false", "0"},
        {"{\"type\":\"array\"}", "[]", "{}"},
        {"{\"type\":\"object\"}", "{}", "[]"},
        {"{\"enum\":[1,\"a\",null]}", "\"a\"", "\"b\""},
        {"{\"const\":{\"a\":[1]}}", "{\"a\":[1]}", "{\"a\":[2]}"},
        {"{\"minimum\":2}", "2", "1"},
        {"{\"maximum\":2}", "2", "2.5"},
        {"{\"minimum\":9007199254740993}", "9007199254740993", "9007199254740992"},
        {"{\"exclusiveMinimum\":0}", "0.001", "0"},
        {"{\"exclusiveMaximum\":0}", "-1", "0"},
        {"{\"minimum\":2}", "\"not a number\"", "0"},
        {"{\"minLength\":2}", "\"äö\"", "\"ä\""},
        {"{\"maxLength\":2}", "\"\\ud83d\\ude00x\"", "\"abc\""},
        {"{\"pattern\":\"^sm_[0-9]+a?$\"}", "\"sm_90a\"", "\"sm_90a\\n\""},
        {"{\"pattern\":\"b\"}", "\"abc\"", "\"ac\""},
        {"{\"minItems\":1,\"maxItems\":2}", "[1,2]", "[1,2,3]"},
        {"{\"minItems\":1}", "[1]", "[]"},
        {"{\"uniqueItems\":true}", "[1,\"1\",[1],{\"a\":1,\"b\":2}]", "[1,2,1]"},
        {"{\"uniqueItems\":true}", "[]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]"},
        {"{\"items\":{\"type\":\"integer\"}}", "[1,2]", "[1,\"x\"]"},
        {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":{\"type\":\"integer\"}}",
         "[\"a\",1]", "[\"a\",\"b\"]"},
        {"{\"prefixItems\":[{}],\"items\":false}", "[1]", "[1,2]"},
        {"{\"required\":[\"a\"]}", "{\"a\":null}", "{}"},
        {"{\"properties\":{\"a\":{\"type\":\"integer\"}}}", "{\"b\":1}", "{\"a\":\"x\"}"},
        {"{\"properties\":{\"a\":true},\"additionalProperties\":false}", "{\"a\":1}",
         "{\"b\":1}"},
        {"{\"additionalProperties\":{\"type\":\"string\"}}", "{\"x\":\"y\"}",
         "{\"x\":1}"},
        {"{\"minProperties\":1,\"maxProperties\":1}", "{\"a\":1}", "{}"},
        {"{\"maxProperties\":1}", "{\"a\":1}", "{\"a\":1,\"b\":2}"},
        {"{\"propertyNames\":{\"pattern\":\"^[a-z]+$\"}}", "{\"abc\":1}", "{\"A\":1}"},
        {"{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\"}]}", "\"a\"", "true"},
        {"{\"oneOf\":[{\"minimum\":2},{\"maximum\":5}]}", "1", "3"},
        {"{\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"null\"}]}", "null", "\"x\""},
        {"{\"allOf\":[{\"minimum\":2},{\"maximum\":5}]}", "3", "6"},
        {"{\"not\":{\"type\":\"string\"}}", "1", "\"x\""},
        {"{\"title\":\"t\",\"description\":\"d\",\"default\":1,\"examples\":[1],"
         "\"deprecated\":true,\"format\":\"uri\",\"type\":\"string\"}",
         "\"anything\"", "1"},
    };
    char message[512], pointer[256];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int good = check(rows[i].schema, rows[i].good, message, pointer);
        cr_assert(zero(int, good), "%s %s: %s", rows[i].schema, rows[i].good, message);
        int bad = check(rows[i].schema, rows[i].bad, message, pointer);
        cr_assert(eq(int, bad, -EINVAL), "%s %s", rows[i].schema, rows[i].bad);
        cr_assert(ne(chr, *message, '\0'));
    }
}

static const char KERNEL[] =
    "{\"type\":\"object\",\"required\":[\"source\"],\"additionalProperties\":false,"
    "\"properties\":{\"source\":{\"type\":\"string\"},"
    "\"arch\":{\"enum\":[\"sm_90\",\"sm_90a\"]},"
    "\"launch\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":["
    "\"block\"],"
    "\"properties\":{\"block\":{\"type\":\"array\",\"maxItems\":3,"
    "\"items\":{\"type\":\"integer\",\"minimum\":1}}}},"
    "\"size\":{\"anyOf\":[{\"type\":\"integer\"},{\"type\":\"string\",\"minLength\":1}]},"
    "\"any\":{},\"which\":{\"type\":\"object\",\"anyOf\":[{\"required\":[\"name\"]},{"
    "\"required\":[\"path\"]}]}}}";

Test(schema, a_refusal_says_where_what_and_what_was_meant) {
    static const struct {
        const char *value, *message, *pointer;
    } rows[] = {
        {"{\"source\":\"\",\"launch\":{\"block\":[1,\"x\"]}}",
         "launch.block[1]: expected an integer, got the string \"x\"", "/launch/block/1"},
        {"{\"source\":\"\",\"launch\":{\"block\":[1,0]}}",
         "launch.block[1]: must be at least 1, got 0", "/launch/block/1"},
        {"{\"source\":\"\",\"launch\":{\"block\":[1,1,1,1]}}",
         "launch.block: may have at most 3 items, has 4", "/launch/block"},
        {"{\"sourc\":\"\"}", "unknown parameter \"sourc\"; did you mean \"source\"?",
         "/sourc"},
        {"{\"source\":\"\",\"launch\":{\"blocks\":[]}}",
         "launch: unknown parameter \"blocks\"; did you mean \"block\"?",
         "/launch/blocks"},
        {"{\"source\":\"\",\"a/b~c\":1}",
         "unknown parameter \"a/b~c\"; known: source, arch, launch, size, any, which",
         "/a~1b~0c"},
        {"{}", "missing parameter \"source\"", ""},
        {"{\"source\":\"\",\"which\":{}}",
         "which: missing parameter: one of \"name\", \"path\"", "/which"},
        {"{\"source\":\"\",\"launch\":{}}", "launch: missing parameter \"block\"",
         "/launch"},
        {"{\"source\":\"\",\"arch\":\"sm_80\"}",
         "arch: expected one of \"sm_90\", \"sm_90a\", got the string \"sm_80\"",
         "/arch"},
        {"{\"source\":1.5}", "source: expected a string, got the number 1.5", "/source"},
        {"{\"source\":null}", "source: expected a string, got null", "/source"},
        {"{\"source\":\"\",\"size\":true}",
         "size: expected an integer or a string, got true", "/size"},
        {"{\"source\":\"\",\"size\":\"\"}", "size: needs at least 1 character, has 0",
         "/size"},
        {"{\"source\":\"a\\u0000b\"}", "source: holds the character U+0000", "/source"},
        {"{\"source\":\"\",\"any\":[{\"k\":\"\\u0000\"}]}",
         "any[0].k: holds the character U+0000", "/any/0/k"},
        {"[]", "expected an object, got an array", ""},
        {"{\"source\":[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"]}",
         "source: expected a string, got an array", "/source"},
    };
    char message[512], pointer[256];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        cr_assert(eq(int, check(KERNEL, rows[i].value, message, pointer), -EINVAL));
        cr_assert_str_eq(message, rows[i].message, "%s gave %s", rows[i].value, message);
        cr_assert_str_eq(pointer, rows[i].pointer, "%s gave %s", rows[i].value, pointer);
    }
}

Test(schema, a_refusal_of_a_number_or_form_says_what_it_must_be) {
#define NUMBERS                                                                          \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\",\"minimum\":2,"     \
    "\"maximum\":5.5},\"x\":{\"type\":\"number\",\"exclusiveMinimum\":2,"                \
    "\"exclusiveMaximum\":5.5}}}"
/* The form that a value comes nearest to speaks. */
#define LISTS                                                                            \
    "{\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"                 \
    "{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}" \
    "}},"                                                                                \
    "{\"type\":\"string\"}]}"
    static const struct {
        const char *schema, *value, *message;
    } rows[] = {
        {NUMBERS, "{\"n\":1}", "n: must be at least 2, got 1"},
        {NUMBERS, "{\"n\":6.25}", "n: must be at most 5.5, got 6.25"},
        {NUMBERS, "{\"x\":1}", "x: must be more than 2, got 1"},
        {NUMBERS, "{\"x\":2}", "x: must be more than 2, got 2"},
        {NUMBERS, "{\"x\":7}", "x: must be less than 5.5, got 7"},
        {NUMBERS, "{\"x\":5.5}", "x: must be less than 5.5, got 5.5"},
        {LISTS, "[[\"x\"]]", "[0][0]: expected an integer, got the string \"x\""},
        {LISTS, "[\"x\"]", "[0]: expected an array, got the string \"x\""},
        {LISTS, "7", "expected a string or an array, got the number 7"},
    };
    char message[512], pointer[256];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        cr_assert(
            eq(int, check(rows[i].schema, rows[i].value, message, pointer), -EINVAL));
        cr_expect_str_eq(message, rows[i].message, "%s gave %s", rows[i].value, message);
    }
    cr_expect(zero(int, check(NUMBERS, "{\"n\":2,\"x\":2.5}", message, pointer)));
    cr_expect(zero(int, check(NUMBERS, "{\"n\":5.5,\"x\":5}", message, pointer)));
}

Test(schema, what_a_message_repeats_is_cut_and_cleaned) {
    char message[512], pointer[256];
    check("{\"type\":\"integer\"}", "\"\\u001b[31mred\\u202e\"", message, pointer);
    cr_assert_str_eq(message, "expected an integer, got the string \"red\"");
    autofree char *lengthy = malloc(200000);
    memset(lengthy, 'x', 200000);
    lengthy[0] = lengthy[199998] = '"';
    lengthy[199999] = '\0';
    check("{\"type\":\"integer\"}", lengthy, message, pointer);
    cr_assert(lt(sz, strlen(message), (size_t)120), "%s", message);
}

Test(schema, a_schema_with_a_mistake_is_refused_and_the_mistake_named) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{\"typ\":\"string\"}", "typ"},
        {"{\"$ref\":\"#/a\"}", "$ref"},
        {"{\"properties\":{\"a\":{\"minimun\":1}}}", "minimun"},
        {"{\"items\":{\"anyOf\":[{\"patternProperties\":{}}]}}", "patternProperties"},
        {"{\"type\":\"strin\"}", "type"},
        {"{\"type\":[]}", "type"},
        {"{\"type\":[\"string\",5]}", "names of types"},
        {"{\"required\":\"a\"}", "required"},
        {"{\"required\":[1]}", "required"},
        {"{\"enum\":[]}", "enum"},
        {"{\"pattern\":\"(\"}", "pattern"},
        {"{\"minLength\":-1}", "minLength"},
        {"{\"minimum\":\"1\"}", "minimum"},
        {"{\"properties\":[]}", "properties"},
        {"{\"additionalProperties\":1}", "additionalProperties"},
        {"{\"anyOf\":{}}", "anyOf"},
        {"[]", "object"},
        {"{", "line"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct schema *s = NULL;
        struct err err = {0};
        cr_assert(eq(int, schema_new(rows[i].text, &s, &err), -EINVAL), "%s",
                  rows[i].text);
        cr_assert_not_null(strstr(err.msg, rows[i].says), "%s: %s", rows[i].text,
                           err.msg);
        cr_assert(zero(ptr, s));
    }
}

Test(schema, the_schema_is_given_back_as_it_was) {
    struct schema *s;
    cr_assert(zero(int, schema_new(KERNEL, &s, NULL)));
    autojson *same = json_loads(KERNEL, 0, NULL);
    cr_assert(eq(int, json_equal(schema_json(s), same), 1));
    schema_free(s);
    schema_free(NULL);
}

/* Both would take minutes without a limit and without sorting. */
Test(schema, hostile_values_cost_bounded_time) {
    char message[512], pointer[256];
    struct timespec from, to;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
    int rc = check("{\"pattern\":\"^(a+)+$\"}",
                   "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"", message, pointer);
    cr_assert(eq(int, rc, -EINVAL));
    cr_assert_not_null(strstr(message, "too long or too complex"), "%s", message);
    size_t n = 200000;
    autofree char *list = malloc(n * 8 + 16);
    char *at = list;
    for (size_t i = 0; i < n; i++) {
        at += sprintf(at, "%c%zu", i ? ',' : '[', i);
    }
    strcpy(at, "]");
    cr_assert(zero(int, check("{\"uniqueItems\":true}", list, message, pointer)));
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &to);
    cr_assert(lt(dbl, (double)(to.tv_sec - from.tv_sec), 10.0));
}

/* What clients were seen to send, and what they meant by it. */
Test(schema, what_a_weak_model_sends_is_read_as_it_is_meant) {
    static const char schema[] =
        "{\"type\":\"object\",\"required\":[\"task\"],\"additionalProperties\":false,"
        "\"properties\":{\"task\":{\"type\":\"string\",\"minLength\":1},"
        "\"note\":{\"type\":\"string\"},\"path\":{\"type\":\"string\",\"minLength\":1},"
        "\"launch\":{\"type\":\"object\",\"properties\":{\"block\":{\"anyOf\":[{\"type\":"
        "\"integer\"},{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}]},\"smem\":{"
        "\"type\":\"integer\"}}},"
        "\"options\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
        "\"checks\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":["
        "\"race\"]}},"
        "\"args\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"
        "\"defines\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}"
        ","
        "\"save\":{\"type\":[\"string\",\"object\"]},"
        "\"expect\":{\"type\":[\"object\",\"null\"]},\"fast\":{\"type\":\"boolean\"},"
        "\"source\":{\"type\":\"string\"},"
        "\"arch\":{\"type\":\"string\",\"default\":\"sm_90a\"},"
        "\"scope\":{\"type\":\"string\",\"enum\":[\"user\"]}},"
        "\"anyOf\":[{\"required\":[\"task\"]},{\"required\":[\"source\"]}]}";
    static const struct {
        const char *given, *meant; /* NULL: the same */
        int rc;                    /* of schema_check afterwards */
    } rows[] = {
        {"{\"task\":\"t\",\"launch\":\"{\\\"block\\\": 256}\"}",
         "{\"task\":\"t\",\"launch\":{\"block\":256}}", 0},
        {"{\"task\":\"t\",\"launch\":{\"block\":\"[16,16]\",\"smem\":null}}",
         "{\"task\":\"t\",\"launch\":{\"block\":[16,16]}}", 0},
        {"{\"task\":\"t\",\"options\":\"-use_fast_math\"}",
         "{\"task\":\"t\",\"options\":[\"-use_fast_math\"]}", 0},
        {"{\"task\":\"t\",\"options\":\"[\\\"-O3\\\"]\",\"checks\":\"race\"}",
         "{\"task\":\"t\",\"options\":[\"-O3\"],\"checks\":[\"race\"]}", 0},
        {"{\"task\":\"t\",\"args\":\"[{}]\",\"fast\":\"true\"}",
         "{\"task\":\"t\",\"args\":[{}],\"fast\":true}", 0},
        {"{\"task\":\"t\",\"args\":[\"{\\\"a\\\":1}\"]}",
         "{\"task\":\"t\",\"args\":[{\"a\":1}]}", 0},
        {"{\"task\":\"t\",\"path\":\"\",\"options\":\"\",\"scope\":\"\",\"launch\":\"\","
         "\"fast\":null,\"note\":null,\"args\":null,\"arch\":\"\",\"source\":\"\"}",
         "{\"task\":\"t\"}", 0},
        /* A text may stand there, empty or like JSON, and null may: they stay. */
        {"{\"task\":\"{}\",\"note\":\"\",\"save\":\"{}\",\"expect\":null}", NULL, 0},
        {"{\"task\":\"t\",\"defines\":{\"A\":\"\",\"B\":\"[1]\"}}", NULL, 0},
        /* Wrong calls stay wrong. */
        {"{\"task\":null}", NULL, -EINVAL},
        {"{\"task\":\"\"}", NULL, -EINVAL},
        {"{\"path\":null}", "{}", -EINVAL},
        {"{\"task\":\"t\",\"launch\":\"block 256\"}", NULL, -EINVAL},
        {"{\"task\":\"t\",\"launch\":\"[1]\"}", NULL, -EINVAL},
        {"{\"task\":\"t\",\"args\":\"a\"}", NULL, -EINVAL},
        {"{\"task\":\"t\",\"fast\":\"yes\"}", NULL, -EINVAL},
        {"{\"task\":\"t\",\"defines\":{\"A\":null}}", NULL, -EINVAL},
        {"{\"task\":\"t\",\"unknown\":null}", NULL, -EINVAL},
        {"{\"task\":\"t\",\"launch\":{\"block\":\"1e3x\"}}", NULL, -EINVAL},
    };
    struct schema *s = NULL;
    cr_assert(zero(int, schema_new(schema, &s, NULL)));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        autojson *given = json_loads(rows[i].given, 0, NULL);
        autojson *before = json_deep_copy(given), *read = schema_adapt(s, given);
        autojson *meant =
            json_loads(rows[i].meant ? rows[i].meant : rows[i].given, 0, NULL);
        autofree char *got = json_dumps(read, 0);
        cr_assert(meant && json_equal(read, meant), "%s gave %s", rows[i].given, got);
        cr_expect(json_equal(given, before), "%s was changed", rows[i].given);
        cr_expect(eq(int, schema_check(s, read, NULL, NULL), rows[i].rc), "%s", got);
    }
    schema_free(s);
}
