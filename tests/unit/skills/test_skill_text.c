#include "skills/format/skill.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static struct skill_text read_text(const char *text) {
    struct skill_text t;
    skill_text_read(&t, text, strlen(text));
    return t;
}

static char *dump(const json_t *value) {
    return value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("none");
}

/* Expected values by the YAML 1.2 core schema, by hand. */
Test(skill_text, frontmatter_and_body_are_taken_apart) {
    static const struct {
        const char *text, *frontmatter, *body;
        int body_line;
    } cases[] = {
        {"---\nname: a\ndescription: b\n---\nBody\n",
         "{\"name\":\"a\",\"description\":\"b\"}", "Body\n", 5},
        {"\xEF\xBB\xBF---\r\nname: a\r\n---\r\n\r\nBody\r\n", "{\"name\":\"a\"}",
         "\r\nBody\r\n", 4},
        {"--- \nname: a\n---\t\nx", "{\"name\":\"a\"}", "x", 4},
        {"---\nname: a\n---", "{\"name\":\"a\"}", "", 3},
        {"---\n---\nx", "{}", "x", 3},
        {"---\na: >\n  x\n  ---\n  y\n---\nz", "{\"a\":\"x --- y\\n\"}", "z", 7},
        {"---\na: \"x ---\n  y\"\n---\nz\n---\n", "{\"a\":\"x --- y\"}", "z\n---\n", 5},
        {"---\ndescription: >\n  folded\n  text\nmetadata:\n  version: \"1.0\"\n  n: "
         "2\n---\n",
         "{\"description\":\"folded "
         "text\\n\",\"metadata\":{\"version\":\"1.0\",\"n\":2}}",
         "", 9},
        {"---\nname: 12\nx: true\n---\n", "{\"name\":12,\"x\":true}", "", 5},
        {"---\n# only a comment\n---\nx", "{}", "x", 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct skill_text t = read_text(cases[i].text);
        char *got = dump(t.frontmatter);
        cr_expect(eq(str, got, (char *)cases[i].frontmatter), "case %zu", i);
        cr_expect(eq(str, t.text + t.body, (char *)cases[i].body), "case %zu", i);
        cr_expect(eq(int, t.problem.line, 0), "case %zu: %s", i, t.problem.message);
        if (*cases[i].body) {
            cr_expect(eq(int, t.body_line, cases[i].body_line), "case %zu", i);
        }
        free(got);
        skill_text_finish(&t);
    }
}

Test(skill_text, what_cannot_be_read_is_named_with_its_line) {
    static const struct {
        const char *text, *rule;
        int line, column;
    } cases[] = {
        {"", "frontmatter_missing", 1, 1},
        {"# Title\n", "frontmatter_missing", 1, 1},
        {"\n---\nname: a\n---\n", "frontmatter_missing", 1, 1},
        {"----\nname: a\n---\n", "frontmatter_missing", 1, 1},
        {"---\nname: a\n", "frontmatter_unclosed", 1, 1},
        {"---\nname: a\n ---\nbody\n", "frontmatter_unclosed", 1, 1},
        {"---\n- a\n---\n", "frontmatter_not_mapping", 2, 1},
        {"---\njust text\n---\n", "frontmatter_not_mapping", 2, 1},
        {"---\nname: a\nname: b\n---\n", "yaml_duplicate_key", 3, 1},
        {"---\nm:\n  k: 1\n  k: 2\n---\n", "yaml_duplicate_key", 4, 3},
        {"---\nname: &x a\n---\n", "yaml_unsupported", 2, 7},
        {"---\nname: *x\n---\n", "yaml_unsupported", 2, 7},
        {"---\nname: !!str a\n---\n", "yaml_unsupported", 2, 7},
        {"---\nname: a\nx: \"open \\\n---\n", "yaml_invalid", 3, 4},
        {"---\nname: a\nnonsense\n---\n", "yaml_invalid", 3, 1},
        {"---\nname = a\ndescription: b\n---\n", "yaml_invalid", 2, 1},
        {"---\nname\ndescription: b\n---\n", "yaml_invalid", 2, 1},
        {"---\ndescription: a\nand b\n---\n", "yaml_invalid", 3, 1},
        {"---\nname:a\ndescription: b\n---\n", "yaml_invalid", 2, 6},
        {"---\ndescription: b\nname:a\n---\n", "yaml_invalid", 3, 6},
        {"---\nname: a\n\tx: b\n---\n", "yaml_invalid", 3, 1},
        {"---\nname: a\x01\n---\n", "control_character", 2, 8},
        {"---\nname: \"a\\0b\"\n---\n", "control_character", 2, 7},
        {"---\nx: \xE9t\xE9\n---\n", "not_utf8", 2, 4},
        {"---\nx: [[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]\n---\n", "yaml_too_deep", 2, 19},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct skill_text t = read_text(cases[i].text);
        cr_expect(t.frontmatter == NULL, "case %zu", i);
        cr_assert(t.problem.rule != NULL, "case %zu", i);
        cr_expect(eq(str, (char *)t.problem.rule, (char *)cases[i].rule), "case %zu: %s",
                  i, t.problem.message);
        cr_expect(eq(int, t.problem.line, cases[i].line), "case %zu: %s", i,
                  t.problem.message);
        cr_expect(eq(int, t.problem.column, cases[i].column), "case %zu: %s", i,
                  t.problem.message);
        skill_text_finish(&t);
    }
}

Test(skill_text, duplicate_keys_name_both_lines) {
    struct skill_text t = read_text("---\nname: a\nx: 1\nname: b\n---\n");
    cr_assert(eq(int, t.problem.line, 4));
    cr_assert(eq(int, t.problem.first_line, 2));
    skill_text_finish(&t);
}

Test(skill_text, values_that_need_quotes_are_read_as_text) {
    static const struct {
        const char *yaml, *want;
        int line;
    } cases[] = {
        {"description: Use when: a, b\n", "{\"description\":\"Use when: a, b\"}", 2},
        {"name: n\ndescription: Say \"x\": y\\z\n",
         "{\"name\":\"n\",\"description\":\"Say \\\"x\\\": y\\\\z\"}", 3},
        {"description: one: two\n  three: four\nname: n\n",
         "{\"description\":\"one: two three: four\",\"name\":\"n\"}", 2},
        {"argument-hint: [issue] [pr]\n", "{\"argument-hint\":\"[issue] [pr]\"}", 2},
        {"a: `code` here\nb: @x\n", "{\"a\":\"`code` here\",\"b\":\"@x\"}", 2},
        {"m:\n  k: a: b\nt: |\n  x: y: z\n",
         "{\"m\":{\"k\":\"a: b\"},\"t\":\"x: y: z\\n\"}", 3},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[512];
        snprintf(text, sizeof text, "---\n%s---\nbody\n", cases[i].yaml);
        struct skill_text t = read_text(text);
        char *got = dump(t.frontmatter);
        cr_expect(eq(str, got, (char *)cases[i].want), "case %zu: %s", i,
                  t.problem.message);
        cr_expect(t.repaired && t.problem.line == 0, "case %zu", i);
        cr_expect(eq(int, t.repair.line, cases[i].line), "case %zu", i);
        free(got);
        skill_text_finish(&t);
    }
}

Test(skill_text, places_are_those_of_the_file) {
    const char *text = "\xEF\xBB\xBF---\r\n# note\r\nname: \xC3\xA9t\xC3\xA9 # c\r\n"
                       "metadata:\r\n  k: v\r\n  l: |\r\n    x\r\n    y\r\n\r\n# end\r\n"
                       "description: a: b\r\n---\r\nBody\r\n";
    struct skill_text t = read_text(text);
    static const struct {
        const char *name, *value;
        int line, end_line, column;
    } want[] = {
        {"name", "\xC3\xA9t\xC3\xA9", 3, 4, 7},
        {"metadata", "k: v\r\n  l: |\r\n    x\r\n    y", 4, 9, 3},
        {"description", "a: b", 11, 12, 14},
    };
    cr_assert(eq(sz, t.field_count, ARRAY_LEN(want)));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const struct skill_field *f = skill_text_field(&t, want[i].name);
        const struct yaml_pair *p = skill_text_pair(&t, want[i].name);
        cr_assert(f && p);
        cr_expect(eq(int, f->line, want[i].line), "%s", want[i].name);
        cr_expect(eq(int, f->end_line, want[i].end_line), "%s", want[i].name);
        cr_expect(eq(int, f->column, want[i].column), "%s", want[i].name);
        char *value = strndup(t.text + p->at, p->end - p->at);
        cr_expect(eq(str, value, (char *)want[i].value));
        free(value);
    }
    cr_expect(eq(int, t.body_line, 13));
    skill_text_finish(&t);
}

static char *write_text(const char *text, const char *changes, const char *body) {
    struct skill_text t = read_text(text);
    json_t *c = json_loads(changes, 0, NULL);
    cr_assert(c != NULL, "%s", changes);
    char *written = skill_text_write(&t, c, body);
    json_decref(c);
    skill_text_finish(&t);
    return written;
}

Test(skill_text, writing_changes_nothing_but_what_was_asked) {
    static const struct {
        const char *text, *changes, *body, *want;
    } cases[] = {
        {"---\n# c\nname:   'a'  # d\nx: [1,  2]\n---\nB\n", "{}", NULL,
         "---\n# c\nname:   'a'  # d\nx: [1,  2]\n---\nB\n"},
        {"---\n# c\nname:   'a'  # d\nx: [1,  2]\n---\nB\n", "{\"name\":\"b-c\"}", NULL,
         "---\n# c\nname: b-c  # d\nx: [1,  2]\n---\nB\n"},
        {"---\nname: a\ndescription: >\n  x\n  y\n\n# z\nlicense: MIT\n---\nB\n",
         "{\"description\":\"Use when: now\"}", NULL,
         "---\nname: a\ndescription: \"Use when: now\"\n\n# z\nlicense: MIT\n---\nB\n"},
        {"---\nname: a\n---\nB\n", "{\"metadata\":{\"version\":\"1.0\",\"k\":\"v\"}}",
         "New\n", "---\nname: a\nmetadata:\n  version: \"1.0\"\n  k: v\n---\nNew\n"},
        {"---\r\nname: a\r\nx: 1\r\n---\r\nB\r\n", "{\"name\":\"l1\\nl2\",\"x\":null}",
         NULL, "---\r\nname: |-\r\n  l1\r\n  l2\r\n---\r\nB\r\n"},
        {"---\nname: a # c\nx: y\n---\n", "{\"name\":\"1\\n2\\n\"}", NULL,
         "---\nname: |\n  1\n  2\nx: y\n---\n"},
        {"---\nname:\nx: y\n---\n", "{\"name\":\"nn\"}", NULL,
         "---\nname: nn\nx: y\n---\n"},
        {"---\n---\nB", "{\"name\":\"nn\"}", NULL, "---\nname: nn\n---\nB"},
        {"---\n{name: a, x: y}\n---\nB", "{\"name\":\"nn\"}", NULL,
         "---\nname: nn\nx: \"y\"\n---\nB"},
        {"---\ndescription: a: b\nname: n\n---\nB", "{\"name\":\"m\"}", NULL,
         "---\ndescription: \"a: b\"\nname: m\n---\nB"},
        {"no frontmatter\n", "{\"name\":\"nn\"}", NULL,
         "---\nname: nn\n---\nno frontmatter\n"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *got = write_text(cases[i].text, cases[i].changes, cases[i].body);
        cr_expect(eq(str, got, (char *)cases[i].want), "case %zu", i);
        free(got);
    }
}

static const char *const written_values[] = {
    "\"plain\"",
    "\"\"",
    "\"yes\"",
    "\"No\"",
    "\"null\"",
    "\"~\"",
    "\"1.0\"",
    "\"0x1F\"",
    "\"12:30:45\"",
    "\"2024-01-01\"",
    "\".inf\"",
    "\"- a\"",
    "\"-\"",
    "\"? x\"",
    "\"a: b\"",
    "\"a:\"",
    "\"a #b\"",
    "\"#a\"",
    "\"&a\"",
    "\"*a\"",
    "\"!a\"",
    "\"|\"",
    "\">\"",
    "\"'q'\"",
    "\"\\\"q\\\"\"",
    "\"%x\"",
    "\"@x\"",
    "\"`x`\"",
    "\"[a]\"",
    "\"{a}\"",
    "\"a, b\"",
    "\"---\"",
    "\"...\"",
    "\" lead\"",
    "\"trail \"",
    "\"tab\\tin\"",
    "\"a\\nb\"",
    "\"a\\nb\\n\"",
    "\"a\\n\\n\\nb\"",
    "\"a\\nb\\n\\n\"",
    "\"\\na\"",
    "\" a\\nb\"",
    "\"a\\n  b\\n c\"",
    "\"a\\n\\tb\"",
    "\"a\\n---\\nb\"",
    "\"a\\n# b\"",
    "\"a\\r\\nb\"",
    "\"\\u0085\\u2028\"",
    "\"\\ufeffx\"",
    "\"\\u00e9\"",
    "\"\\ud83d\\ude00\"",
    "\"\\u0007\"",
    "\"\\u007f\"",
    "\"\\\\n\"",
    "\"<b>\"",
    "\"\\n\"",
    "true",
    "false",
    "12",
    "-1",
    "1.5",
    "[]",
    "{}",
    "[1,[\"a\",{\"b\":null}],{\"c\":[]}]",
    "{\"k k\":\"v\",\"yes\":\"no\",\"\":1,\"a: b\":{\"x\":[\"a\\nb\"]}}",
};

/* Any text survives: what is written is read back as it was. */
Test(skill_text, every_value_comes_back_as_it_was_written) {
    for (size_t i = 0; i < ARRAY_LEN(written_values); i++) {
        json_t *frontmatter = json_object();
        json_object_set_new(frontmatter, "before", json_string("x"));
        json_object_set_new(frontmatter, "v",
                            json_loads(written_values[i], JSON_DECODE_ANY, NULL));
        json_object_set_new(frontmatter, "z", json_integer(1));
        char *text = skill_text_new(frontmatter, "# Body\n");
        struct skill_text t = read_text(text);
        cr_expect(json_equal(t.frontmatter, frontmatter) && !t.repaired,
                  "%s became\n%s %s", written_values[i], text, t.problem.message);
        cr_expect(eq(str, t.text + t.body, "\n# Body\n"));
        char *changed = skill_text_write(&t, frontmatter, NULL);
        struct skill_text again = read_text(changed);
        cr_expect(json_equal(again.frontmatter, frontmatter), "%s became\n%s",
                  written_values[i], changed);
        skill_text_finish(&again);
        skill_text_finish(&t);
        free(changed);
        free(text);
        json_decref(frontmatter);
    }
}

Test(skill_text, giant_frontmatter_is_refused_and_long_texts_are_cut) {
    size_t len = SKILL_MAX_TEXT + 100;
    char *text = malloc(len + 1);
    memset(text, 'a', len);
    text[len] = '\0';
    memcpy(text, "---\nname: ", 10);
    memcpy(text + 70000, "\n---\n", 5);
    struct skill_text t;
    skill_text_read(&t, text, len);
    cr_expect(eq(str, (char *)t.problem.rule, "frontmatter_too_long"));
    cr_expect(eq(sz, t.len, SKILL_MAX_TEXT));
    cr_expect(eq(int, t.body_line, 4));
    skill_text_finish(&t);
    free(text);
}
