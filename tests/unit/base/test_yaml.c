#include "base/err.h"
#include "base/yaml.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static char *dump(const char *text, enum yaml_scalars scalars, struct err *err) {
    json_t *value;
    if (yaml_parse(text, strlen(text), scalars, &value, err) < 0) {
        return NULL;
    }
    char *s = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
    return s;
}

/* Expected values: the YAML 1.2 core schema's tag resolution, by hand. */
Test(yaml, typed_scalars_follow_the_core_schema) {
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"a: 1", "{\"a\":1}"},
        {"a: -12", "{\"a\":-12}"},
        {"a: 1.5", "{\"a\":1.5}"},
        {"a: '1'", "{\"a\":\"1\"}"},
        {"a: \"1\"", "{\"a\":\"1\"}"},
        {"a: true\nb: False", "{\"a\":true,\"b\":false}"},
        {"a: yes", "{\"a\":\"yes\"}"},
        {"a:\nb: ~\nc: null", "{\"a\":null,\"b\":null,\"c\":null}"},
        {"a: 1.2.3", "{\"a\":\"1.2.3\"}"},
        {"a: sm_90a", "{\"a\":\"sm_90a\"}"},
        {"a: 99999999999999999999", "{\"a\":\"99999999999999999999\"}"},
        {"- a\n- [b, {c: d}]", "[\"a\",[\"b\",{\"c\":\"d\"}]]"},
        {"a: |\n  x\n  y\n", "{\"a\":\"x\\ny\\n\"}"},
        {"", "null"},
        {"# nothing\n", "null"},
        {"---\na: b\n...\n", "{\"a\":\"b\"}"},
        {"\xEF\xBB\xBF"
         "a: b\nc: d\n",
         "{\"a\":\"b\",\"c\":\"d\"}"},
        {"\xEF\xBB\xBF", "null"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char *got = dump(cases[i].text, YAML_TYPED, &err);
        cr_assert_not_null(got, "%s: %s", cases[i].text, err.msg);
        cr_assert_str_eq(got, cases[i].want, "%s gave %s", cases[i].text, got);
        free(got);
    }
}

Test(yaml, string_mode_keeps_every_scalar_as_text) {
    char *got = dump("a: no\nb: 1.0\nc: null\nd:", YAML_STRINGS, NULL);
    cr_assert_str_eq(got, "{\"a\":\"no\",\"b\":\"1.0\",\"c\":\"null\",\"d\":\"\"}");
    free(got);
}

Test(yaml, what_surprises_readers_is_refused_with_its_line) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"a: 1\na: 2\n", "line 2: the key \"a\" occurs twice"},
        {"a: &x 1\nb: *x\n", "line 1: anchors"},
        {"a: !!int 1\n", "line 1: tags"},
        {"a: b\n---\nc: d\n", "line 2: a second document"},
        {"description: use when: x\n", "must be quoted"},
        {"a: [1, 2\n", "line 1"},
        {"? [a]\n: b\n", "line 1: a key must be plain text"},
        {"\xff: 1\n", "not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        cr_assert_null(dump(cases[i].text, YAML_TYPED, &err), "%s", cases[i].text);
        cr_assert_not_null(strstr(err.msg, cases[i].says), "%s: %s", cases[i].text,
                           err.msg);
    }
}

Test(yaml, depth_nodes_and_size_are_bounded) {
    static char text[70000];
    struct err err = {0};
    memset(text, '[', 10000);
    cr_assert_null(dump(text, YAML_TYPED, &err));
    cr_assert_not_null(strstr(err.msg, "nested too deeply"));
    char *p = text;
    for (int i = 0; i < 5000; i++) {
        p += sprintf(p, "- %d\n", i);
    }
    cr_assert_null(dump(text, YAML_TYPED, &err));
    cr_assert_not_null(strstr(err.msg, "too many values"));
    memset(text, 'a', 66000);
    text[66000] = '\0';
    json_t *value;
    cr_assert_eq(yaml_parse(text, 66000, YAML_TYPED, &value, &err), -EFBIG);
}

/* Offsets counted by hand; characters of several bytes before them. */
Test(yaml, places_are_byte_offsets) {
    const char *text =
        "\xC3\xA9: \"\xE2\x82\xAC\" # c\r\nm:\r\n  k: |\r\n    t\r\n\r\n# end\r\ns: "
        "[1, {z: 2}]\r\nn:\r\n";
    static const struct {
        const char *key;
        unsigned depth;
        const char *value;
    } want[] = {
        {"\xC3\xA9", 0, "\"\xE2\x82\xAC\""},
        {"m", 0, "k: |\r\n    t"},
        {"k", 1, "|\r\n    t"},
        {"s", 0, "[1, {z: 2}]"},
        {"z", 1, "2"},
        {"n", 0, ""},
    };
    struct yaml_map map;
    json_t *value;
    cr_assert_eq(yaml_parse_map(text, strlen(text), YAML_TYPED, &value, &map, NULL), 0);
    cr_assert_eq(map.count, ARRAY_LEN(want));
    for (size_t i = 0; i < map.count; i++) {
        const struct yaml_pair *p = &map.pairs[i];
        cr_expect_str_eq(p->key, want[i].key);
        cr_expect_eq(p->depth, want[i].depth, "%s", p->key);
        cr_expect(p->end - p->at == strlen(want[i].value) &&
                      memcmp(text + p->at, want[i].value, p->end - p->at) == 0,
                  "%s: %.*s", p->key, (int)(p->end - p->at), text + p->at);
        cr_expect(memcmp(text + p->key_at, p->key, p->key_end - p->key_at) == 0);
    }
    cr_expect_eq(map.flow, false);
    json_decref(value);
    yaml_map_finish(&map);
}

Test(yaml, problems_have_a_kind_and_a_place) {
    static const struct {
        const char *text;
        enum yaml_problem problem;
        size_t at;
        const char *says;
    } cases[] = {
        {"a: 1\nb: 2\na: 3\n", YAML_DUPLICATE, 10,
         "line 3: the key \"a\" occurs twice, first on line 1"},
        {"\xEF\xBB\xBF"
         "a: 1\na: 3\n",
         YAML_DUPLICATE, 8, "line 2: the key \"a\" occurs twice, first on line 1"},
        {"\xEF\xBB\xBF"
         "a: \x01",
         YAML_BAD_BYTES, 6, "line 1: control characters"},
        {"a: &x 1\n", YAML_UNSUPPORTED, 3, "line 1: anchors"},
        {"a: 1\r\nb: \"open\r\nc: d\r\n", YAML_SYNTAX, 9, "line 2: "},
        {"a: [1,\nb: 2\n", YAML_SYNTAX, 3, "line 1: "},
        {"a: 1\nb: \x01\n", YAML_BAD_BYTES, 8, "line 2: "},
        {"a: 1\nb: \xFF\n", YAML_BAD_BYTES, 8, "line 2: not UTF-8"},
        {"a: \"\\0\"\n", YAML_BAD_BYTES, 3, "line 1: a NUL"},
        {"[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]", YAML_TOO_DEEP, 16, "line 1: nested"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct yaml_map map;
        struct err err = {0};
        json_t *value;
        cr_assert_lt(yaml_parse_map(cases[i].text, strlen(cases[i].text), YAML_TYPED,
                                    &value, &map, &err),
                     0);
        cr_expect_eq(map.problem, cases[i].problem, "case %zu", i);
        cr_expect_eq(map.problem_at, cases[i].at, "case %zu: %zu", i, map.problem_at);
        cr_expect_not_null(strstr(err.msg, cases[i].says), "case %zu: %s", i, err.msg);
        yaml_map_finish(&map);
    }
}
