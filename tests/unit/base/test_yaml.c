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
        {"a: 1\na: 2\n", "line 2: key \"a\" is there twice"},
        {"a: &x 1\nb: *x\n", "line 1: anchors"},
        {"a: !!int 1\n", "line 1: tags"},
        {"a: b\n---\nc: d\n", "line 2: a second document"},
        {"description: use when: x\n", "must be quoted"},
        {"a: [1, 2\n", "line 2"},
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
