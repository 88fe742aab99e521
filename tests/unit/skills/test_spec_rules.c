#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/check/skill_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Skills live in a folder "my-skill" of their own room. */
static char room[64], *folder;

static void make_room(void) {
    strcpy(room, "/tmp/test-spec-XXXXXX");
    cr_assert(mkdtemp(room) != NULL);
    folder = path_join(room, "my-skill");
}

static void remove_room(void) {
    cr_assert(dir_remove(room, NULL) == 0);
    free(folder);
}

TestSuite(spec_rules, .init = make_room, .fini = remove_room);

static void put(const char *path, const char *text) {
    struct root root;
    cr_assert(dir_make(folder, 0755, NULL) == 0 && root_open(&root, folder, NULL) == 0);
    cr_assert(root_write(&root, path, text, strlen(text), 0644, NULL) == 0, "%s", path);
    root_close(&root);
}

static json_t *check_folder(enum skill_check_mode mode) {
    struct skill s;
    cr_assert(skill_open(&s, folder, false, NULL) == 0);
    json_t *findings = json_array();
    spec_rules_check(&s, mode, findings);
    skill_finish(&s);
    return findings;
}

static json_t *check_text(const char *text, enum skill_check_mode mode) {
    put("SKILL.md", text);
    return check_folder(mode);
}

static json_t *find(json_t *findings, const char *code) {
    size_t i;
    json_t *f;
    json_array_foreach(findings, i, f) {
        if (strcmp(json_get_string(f, "code", ""), code) == 0) {
            return f;
        }
    }
    return NULL;
}

static size_t offset_of(const char *text, json_int_t line, json_int_t column) {
    const char *at = text;
    for (; line > 1; line--) {
        at = strchr(at, '\n') + 1;
    }
    return (size_t)(at - text) + (size_t)column - 1;
}

/* The text after a finding's first fix; edits are in order and do not overlap. */
static char *fixed(const char *text, const json_t *finding) {
    json_t *fix = json_array_get(json_object_get(finding, "fixes"), 0);
    autobuf out = BUF_INIT(1u << 20);
    size_t done = 0, i;
    json_t *edit;
    json_array_foreach(json_object_get(fix, "edits"), i, edit) {
        size_t at = offset_of(text, json_get_integer(edit, "line", 0),
                              json_get_integer(edit, "column", 0));
        buf_add(&out, text + done, at - done);
        buf_adds(&out, json_get_string(edit, "text", ""));
        done = offset_of(text, json_get_integer(edit, "end_line", 0),
                         json_get_integer(edit, "end_column", 0));
    }
    buf_adds(&out, text + done);
    return buf_detach(&out);
}

#define GOOD                                                                             \
    "---\nname: my-skill\ndescription: Does x. Use when y.\n---\n\n# Do\n\nText.\n"

Test(spec_rules, a_good_skill_has_no_findings) {
    autojson *findings = check_text(GOOD, SKILL_CHECK_STRICT);
    autofree char *all = json_dumps(findings, 0);
    cr_expect(eq(sz, json_array_size(findings), 0), "%s", all);
    autojson *more =
        check_text("---\nname: my-skill\ndescription: >-\n  Does x.\n  Use when "
                   "y.\nlicense: Apache-2.0\ncompatibility: Needs git\nmetadata:"
                   "\n  version: \"1.0\"\nallowed-tools: Bash(git add:*, x) Read\n"
                   "---\nText [web](https://x.y) [top](#do) <a@b.c>\n",
                   SKILL_CHECK_STRICT);
    autofree char *rest = json_dumps(more, 0);
    cr_expect(eq(sz, json_array_size(more), 0), "%s", rest);
}

#define D "description: d\n"
#define N "name: my-skill\n"

/* Places counted by hand; the fixed text is what a person would write. */
static const struct {
    const char *yaml, *code, *lenient, *strict;
    int line, column, end_line, end_column;
    const char *fixed; /* the YAML after the first fix; NULL: none is offered */
} rules[] = {
    {D, "name_missing", "error", "error", 2, 1, 2, 1, "name: my-skill\n" D},
    {"name:\n" D, "name_missing", "error", "error", 2, 6, 2, 6, "name: my-skill\n" D},
    {"Name: my-skill\n" D, "name_missing", "error", "error", 2, 1, 2, 5,
     "name: my-skill\n" D},
    {N "Description: d\n", "description_missing", "error", "error", 3, 1, 3, 12, N D},
    {"name: \"\"\n" D, "name_missing", "error", "error", 2, 7, 2, 9,
     "name: my-skill\n" D},
    {"name: 12\n" D, "name_form", "warning", "error", 2, 7, 2, 9, "name: \"12\"\n" D},
    {"name: [a]\n" D, "name_form", "warning", "error", 2, 7, 2, 10, NULL},
    {"name: My-Skill\n" D, "name_not_lowercase", "warning", "error", 2, 7, 2, 15,
     "name: my-skill\n" D},
    {"name: -my--skill-\n" D, "name_hyphens", "warning", "error", 2, 7, 2, 18,
     "name: my-skill\n" D},
    {"name: my_skill!\n" D, "name_characters", "warning", "error", 2, 7, 2, 16,
     "name: my-skill\n" D},
    {"name: My Skill\n" D, "name_characters", "warning", "error", 2, 7, 2, 15,
     "name: my-skill\n" D},
    {"name: ../x\n" D, "name_characters", "warning", "error", 2, 7, 2, 11, "name: x\n" D},
    {"name: my\xE2\x80\x8B-skill\n" D, "name_characters", "warning", "error", 2, 7, 2, 18,
     "name: my-skill\n" D},
    {"name: caf\xC3\xA9\n" D, "name_not_ascii", "info", "warning", 2, 7, 2, 12,
     "name: caf\n" D},
    {"name: other # c\n" D, "name_differs_from_folder", "warning", "error", 2, 7, 2, 12,
     "name: my-skill # c\n" D},
    {"name: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggggg\n" D,
     "name_too_long", "warning", "error", 2, 7, 2, 72,
     "name: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg\n" D},
    {N, "description_missing", "error", "error", 2, 1, 2, 1, NULL},
    {N "description: \"  \"\n", "description_missing", "error", "error", 3, 14, 3, 18,
     NULL},
    {N "description: 1.50\n", "description_form", "warning", "error", 3, 14, 3, 18,
     N "description: \"1.50\"\n"},
    {N "description: Patterns of server management.\n", "description_without_when",
     "info", "info", 3, 14, 3, 44, NULL},
    {N "description: use <x>\n", "description_angle_brackets", "warning", "warning", 3,
     14, 3, 21, NULL},
    {N D "compatibility: 3\n", "compatibility_form", "warning", "error", 4, 16, 4, 17,
     N D "compatibility: \"3\"\n"},
    {N D "compatibility:\nlicense: MIT\n", "compatibility_form", "warning", "error", 4,
     15, 4, 15, N D "license: MIT\n"},
    {N D "license: [MIT]\n", "license_form", "warning", "error", 4, 10, 4, 15, NULL},
    {N D "metadata: x\n", "metadata_form", "warning", "error", 4, 11, 4, 12, NULL},
    {N D "metadata:\n  a: b\n  version: 1.0\n", "metadata_not_strings", "info", "error",
     6, 12, 6, 15, N D "metadata:\n  a: b\n  version: \"1.0\"\n"},
    {N D "allowed-tools: Read, Bash(a, b), Write\n", "allowed_tools_form", "info",
     "error", 4, 16, 4, 39, N D "allowed-tools: Read Bash(a, b) Write\n"},
    {N D "allowed-tools:\n  - Read\n  - Bash(git:*)\n", "allowed_tools_form", "info",
     "error", 5, 3, 6, 16, N D "allowed-tools:\n  Read Bash(git:*)\n"},
    {N D "argument-hint: x # c\n", "field_unknown", "info", "error", 4, 1, 4, 14, N D},
    {N D "allowed_tools: Read\n", "field_unknown", "info", "error", 4, 1, 4, 14,
     N D "allowed-tools: Read\n"},
    {N D "Licence: MIT\n", "field_unknown", "info", "error", 4, 1, 4, 8,
     N D "license: MIT\n"},
    {N "description: Use when: a \"b\"\n", "yaml_unquoted", "warning", "error", 3, 1, 3,
     29, N "description: \"Use when: a \\\"b\\\"\"\n"},
    {N "description: \"Do\" it\n", "yaml_unquoted", "warning", "error", 3, 1, 3, 21,
     N "description: \"\\\"Do\\\" it\"\n"},
    {N "description: 'It's it'\n", "yaml_unquoted", "warning", "error", 3, 1, 3, 23,
     N "description: 'It''s it'\n"},
    {N "description: \"Say \"hi\" \\\" x\"\n", "yaml_unquoted", "warning", "error", 3, 1,
     3, 29, N "description: \"Say \\\"hi\\\" \\\" x\"\n"},
    {N "description: *Do* it\n", "yaml_unquoted", "warning", "error", 3, 1, 3, 21,
     N "description: \"*Do* it\"\n"},
    {N "description: \"Do it\n", "yaml_unquoted", "warning", "error", 3, 1, 3, 20,
     N "description: \"Do it\"\n"},
    {N "x: [1\n" D, "yaml_invalid", "error", "error", 3, 4, 3, 6, NULL},
    {N D N, "yaml_duplicate_key", "error", "error", 4, 1, 4, 15, NULL},
};

static void check_rule(size_t i) {
    autofree char *text = xasprintf("---\n%s---\nText\n", rules[i].yaml);
    for (int strict = 0; strict < 2; strict++) {
        autojson *findings =
            check_text(text, strict ? SKILL_CHECK_STRICT : SKILL_CHECK_LENIENT);
        autofree char *all = json_dumps(findings, 0);
        json_t *f = find(findings, rules[i].code);
        cr_assert(f != NULL, "case %zu: %s", i, all);
        cr_expect(eq(str, (char *)json_get_string(f, "severity", ""),
                     (char *)(strict ? rules[i].strict : rules[i].lenient)),
                  "case %zu", i);
        int place[] = {(int)json_get_integer(f, "line", 0),
                       (int)json_get_integer(f, "column", 0),
                       (int)json_get_integer(f, "end_line", 0),
                       (int)json_get_integer(f, "end_column", 0)};
        cr_expect(place[0] == rules[i].line && place[1] == rules[i].column &&
                      place[2] == rules[i].end_line && place[3] == rules[i].end_column,
                  "case %zu %s: %d:%d-%d:%d", i, rules[i].code, place[0], place[1],
                  place[2], place[3]);
        cr_expect(rules[i].fixed ? json_object_get(f, "fixes") != NULL
                                 : json_object_get(f, "fixes") == NULL,
                  "case %zu: %s", i, all);
        if (rules[i].fixed && json_object_get(f, "fixes")) {
            autofree char *want = xasprintf("---\n%s---\nText\n", rules[i].fixed);
            autofree char *got = fixed(text, f);
            cr_expect(eq(str, got, want), "case %zu", i);
            autojson *again = check_text(got, SKILL_CHECK_STRICT);
            cr_expect(find(again, rules[i].code) == NULL, "case %zu: not cured", i);
        }
    }
}

Test(spec_rules, every_rule_has_its_code_place_severity_and_cure) {
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        check_rule(i);
    }
}

Test(spec_rules, a_frontmatter_that_cannot_be_found_is_one_finding) {
    static const struct {
        const char *text, *code, *fixed;
    } cases[] = {
        {"# Title\n", "frontmatter_missing",
         "---\nname: my-skill\ndescription:\n---\n\n# Title\n"},
        /* almost */
        {"----\nname: my-skill\ndescription: d\n----\nx\n", "frontmatter_missing",
         "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"\xE2\x80\x94-\nname: my-skill\ndescription: d\n\xE2\x80\x94-\nx\n",
         "frontmatter_missing", "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {" ---\nname: my-skill\ndescription: d\n---\nx\n", "frontmatter_missing",
         "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"```yaml\nname: my-skill\ndescription: d\n```\nx\n", "frontmatter_missing",
         "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"```markdown\n---\nname: my-skill\ndescription: d\n---\nx\n```\n",
         "frontmatter_missing", "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"---\nname: my-skill\ndescription: d\n...\nx\n", "frontmatter_unclosed",
         "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"----\n# Title\n", "frontmatter_missing",
         "---\nname: my-skill\ndescription:\n---\n\n----\n# Title\n"},
        {"---\nname: my-skill\ndescription: d\n\n# T\n", "frontmatter_unclosed",
         "---\nname: my-skill\ndescription: d\n---\n\n# T\n"},
        {"---\nname: a", "frontmatter_unclosed", "---\nname: a\n---\n"},
        {"\n \n---\nname: a\n---\n", "frontmatter_missing", "---\nname: a\n---\n"},
        {"\xEF\xBB\xBFT\n", "frontmatter_missing",
         "\xEF\xBB\xBF---\nname: my-skill\ndescription:\n---\n\nT\n"},
        {"---\nname:my-skill\ndescription: d\n---\nx\n", "yaml_invalid",
         "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"---\nname = my-skill\ndescription: d\n---\nx\n", "yaml_invalid",
         "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"---\nname: my-skill\ndescription\xEF\xBC\x9A"
         "d\n---\nx\n",
         "yaml_invalid", "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"---\nname: my-skill\ndescription: d\nmetadata:\n\tx: y\n---\nx\n",
         "yaml_invalid",
         "---\nname: my-skill\ndescription: d\nmetadata:\n  x: y\n---\nx\n"},
        {"---\n- a\n---\nx\n", "frontmatter_not_mapping", NULL},
        {"---\nname: a\x07\n---\nx\n", "control_character", NULL},
        {"---\nname: \xFF\n---\nx\n", "not_utf8", NULL},
        {"---\nname: \xE9\n---\n\xE9t\xE9\n", "not_utf8", NULL},
        {"---\nNAME: my-skill\ndescription: d\n---\nx\n", "name_missing",
         "---\nname: my-skill\ndescription: d\n---\nx\n"},
        {"---\na: &b c\n---\nx\n", "yaml_unsupported", NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autojson *findings = check_text(cases[i].text, SKILL_CHECK_LENIENT);
        autofree char *all = json_dumps(findings, 0);
        json_t *f = find(findings, cases[i].code);
        cr_assert(f && json_array_size(findings) == 1, "case %zu: %s", i, all);
        cr_expect(eq(str, (char *)json_get_string(f, "severity", ""), "error"));
        if (cases[i].fixed) {
            autofree char *got = fixed(cases[i].text, f);
            cr_expect(eq(str, got, (char *)cases[i].fixed), "case %zu", i);
        }
    }
}

Test(spec_rules, a_byte_order_mark_is_one_finding_and_line_ends_are_none) {
    static const char marked[] =
        "\xEF\xBB\xBF---\r\nname: my-skill\r\ndescription: d\r\n---\r\nText\r\n";
    autojson *findings = check_text(marked, SKILL_CHECK_LENIENT);
    json_t *f = find(findings, "byte_order_mark");
    cr_assert(f && json_array_size(findings) == 1);
    autofree char *cured = fixed(marked, f);
    cr_expect(eq(str, cured, (char *)marked + 3));
    autojson *none = check_text(cured, SKILL_CHECK_STRICT);
    cr_expect(eq(sz, json_array_size(none), 0));
}

/* As UTF-16, with a byte order mark or without one, in either order of bytes. */
Test(spec_rules, a_file_in_utf16_is_one_finding) {
    static const char text[] = "---\nname: my-skill\ndescription: d\n---\nText\n";
    for (int form = 0; form < 4; form++) {
        bool big = form & 1, mark = form & 2;
        autobuf wide = BUF_INIT(1024);
        if (mark) {
            buf_add(&wide, big ? "\xFE\xFF" : "\xFF\xFE", 2);
        }
        for (const char *c = text; *c; c++) {
            buf_addc(&wide, big ? '\0' : *c);
            buf_addc(&wide, big ? *c : '\0');
        }
        struct root root;
        cr_assert(dir_make(folder, 0755, NULL) == 0 &&
                  root_open(&root, folder, NULL) == 0);
        cr_assert(root_write(&root, "SKILL.md", wide.data, wide.len, 0644, NULL) == 0);
        root_close(&root);
        autojson *findings = check_folder(SKILL_CHECK_LENIENT);
        autofree char *all = json_dumps(findings, 0);
        json_t *f = find(findings, "not_utf8");
        cr_assert(f && json_array_size(findings) == 1, "form %d: %s", form, all);
        cr_expect(strstr(json_get_string(f, "message", ""), "UTF-16") != NULL);
    }
}

Test(spec_rules, short_forms_of_when_are_understood) {
    static const struct {
        const char *description;
        bool says;
    } cases[] = {
        {"Packs wheels. Use: release day", true},
        {"Packs wheels. Use [this] in CI", true},
        {"Packs wheels. Apply to setup.py", true},
        {"Packs wheels; best for releases", true},
        {"Useful for packing wheels", true},
        {"Packs wheels. Run on releases.", true},
        {"Packs wheels (for release engineers)", true},
        {"Triggered by errors of twine", true},
        {"Packs wheels any time they change", true},
        {"The use of wheels and their packing", false},
        {"A guide that runs through packing", false},
        {"Run the tests of wheels in a team", false},
        {"Packs wheels. Use `twine` carefully", false},
        {"Patterns for packing wheels", false},
        {"Builds, loads and applies wheels", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *text =
            xasprintf("---\n" N "description: \"%s\"\n---\nText\n", cases[i].description);
        autojson *findings = check_text(text, SKILL_CHECK_LENIENT);
        bool says = !find(findings, "description_without_when");
        cr_expect(says == cases[i].says, "%s", cases[i].description);
    }
}

Test(spec_rules, cures_fit_a_frontmatter_on_one_line) {
    const char *text =
        "---\n{name: my-skill, description: d, allowed-tools: [Read, 'Bash(a, "
        "b)'], x: 1}\n---\nText\n";
    autojson *f = check_text(text, SKILL_CHECK_STRICT);
    autofree char *got = fixed(text, find(f, "allowed_tools_form"));
    cr_expect(
        eq(str, got,
           "---\n{name: my-skill, description: d, allowed-tools: \"Read Bash(a, b)\", "
           "x: 1}\n---\nText\n"));
    cr_expect(json_object_get(find(f, "field_unknown"), "fixes") == NULL);
}

static char *with_body(const char *unit, size_t times) {
    autobuf text = BUF_INIT(SKILL_MAX_TEXT);
    buf_adds(&text, "---\n" N D "---\n");
    for (size_t i = 0; i < times; i++) {
        buf_adds(&text, unit);
    }
    return buf_detach(&text);
}

Test(spec_rules, budgets_are_counted) {
    static const struct {
        const char *unit;
        size_t times;
        const char *code;
    } cases[] = {
        {"", 0, "body_empty"},
        {"\n  \n", 3, "body_empty"},
        {"x\n", 501, "body_too_long"},
        {"word ", 4800, "body_too_long"},
        {"x\n", 500, NULL},
        {"word ", 4700, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *text = with_body(cases[i].unit, cases[i].times);
        autojson *findings = check_text(text, SKILL_CHECK_STRICT);
        cr_expect(eq(sz, json_array_size(findings), cases[i].code != NULL), "case %zu",
                  i);
        cr_expect(cases[i].code == NULL || find(findings, cases[i].code), "case %zu", i);
    }
    char long_text[2400] = "";
    for (int i = 0; i < 170; i++) {
        strcat(long_text, "aword ");
    }
    autofree char *fits = xasprintf("---\n" N "description: %sxxxx\n---\nx\n", long_text);
    autojson *catalogue = check_text(fits, SKILL_CHECK_LENIENT); /* 1024 characters */
    cr_expect(find(catalogue, "catalogue_too_long") != NULL);
    cr_expect(find(catalogue, "description_too_long") == NULL);
    autofree char *over =
        xasprintf("---\n" N "description: %sxxxxx\n---\nx\n", long_text);
    autojson *too_long = check_text(over, SKILL_CHECK_STRICT);
    cr_expect(find(too_long, "description_too_long") != NULL);
    autofree char *most =
        xasprintf("---\n" N D "compatibility: %.501s\n---\nx\n", long_text);
    autojson *compatibility = check_text(most, SKILL_CHECK_STRICT);
    cr_expect(find(compatibility, "compatibility_too_long") != NULL);
}

Test(spec_rules, limits_count_characters_and_not_bytes) {
    char text[4096] = "";
    for (int i = 0; i < SKILL_MAX_DESCRIPTION; i++) {
        strcat(text, "\xC3\xA9");
    }
    autofree char *fits = xasprintf("---\n" N "description: %s\n---\nx\n", text);
    autojson *good = check_text(fits, SKILL_CHECK_STRICT);
    cr_expect(find(good, "description_too_long") == NULL);
    autofree char *over = xasprintf("---\n" N "description: %se\n---\nx\n", text);
    autojson *bad = check_text(over, SKILL_CHECK_STRICT);
    cr_expect(find(bad, "description_too_long") != NULL);
}

static bool says(json_t *findings, const char *code, const char *file, int line,
                 int column) {
    size_t i;
    json_t *f;
    json_array_foreach(findings, i, f) {
        if (strcmp(json_get_string(f, "code", ""), code) == 0 &&
            strcmp(json_get_string(f, "file", ""), file) == 0 &&
            json_get_integer(f, "line", 0) == line &&
            (!column || json_get_integer(f, "column", 0) == column)) {
            return true;
        }
    }
    return false;
}

Test(spec_rules, links_are_followed_within_the_skill) {
    put("references/a.md", "[b](b.md) [gone](gone.md) [up](../SKILL.md)\n");
    put("references/b.md", "[a](a.md)\n");
    put("references/with space.md", "x\n");
    put("scripts/run.py", "x\n");
    put("scripts/lost.py", "x\n");
    put("LICENSE", "x\n");
    put("SKILL.md", "---\n" N D "---\n" /* lines 1 to 4 */
                    "[a](references/a.md#top) [s](references/with%20space.md)\n"   /* 5 */
                    "[no](none.md) and [out](../x.md) [abs](/etc/passwd)\n"        /* 6 */
                    "[dir](references/) ![i](img.png)\n"                           /* 7 */
                    "`scripts/run.py`, `scripts/nope.py`; again scripts/nope.py\n" /* 8 */
                    "Pattern scripts/<name>.py, see references/.\n"               /* 9 */
                    "`scripts/build.ts(20,3): error TS1: no`, scripts/x.py:4: no\n" /* 10: a compiler's words */
                    "Fix in `scripts/build.ts`:\n");
    autojson *f = check_folder(SKILL_CHECK_STRICT);
    autofree char *all = json_dumps(f, 0);
    cr_expect(says(f, "link_missing", "SKILL.md", 6, 6), "%s", all);
    cr_expect(says(f, "link_outside", "SKILL.md", 6, 25), "%s", all);
    cr_expect(says(f, "link_outside", "SKILL.md", 6, 40), "%s", all);
    cr_expect(says(f, "link_missing", "SKILL.md", 7, 25), "%s", all);
    cr_expect(says(f, "link_missing", "SKILL.md", 8, 20), "%s", all);
    cr_expect(says(f, "link_missing", "references/a.md", 1, 18), "%s", all);
    cr_expect(says(f, "reference_too_deep", "references/a.md", 1, 5), "%s", all);
    cr_expect(says(f, "file_not_mentioned", "scripts/lost.py", 1, 0), "%s", all);
    cr_expect(eq(sz, json_array_size(f), 8), "%s", all);
}

Test(spec_rules, problems_of_the_folder_and_of_saved_tests_are_findings) {
    put("SKILL.md", GOOD);
    put("skill_meta.json", "{");
    autofree char *link = path_join(folder, "link");
    cr_assert(symlink("/etc/passwd", link) == 0);
    autojson *f = check_folder(SKILL_CHECK_STRICT);
    cr_expect(find(f, "file_link") && find(f, "saved_tests_form"));
    cr_expect(eq(sz, json_array_size(f), 2));
}

Test(spec_rules, a_text_without_a_folder_is_checked_for_what_can_be_known) {
    const char *text = "---\nname: Any\ndescription: d\n---\n[x](missing.md) [y](../z)\n";
    struct skill s = {0};
    skill_text_read(&s.text, text, strlen(text));
    autojson *f = json_array();
    spec_rules_check(&s, SKILL_CHECK_STRICT, f);
    cr_expect(find(f, "name_not_lowercase") && find(f, "link_outside"));
    cr_expect(eq(sz, json_array_size(f), 2));
    skill_finish(&s);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

Test(spec_rules, hostile_bodies_take_bounded_time) {
    static const char *const units[] = {"# h\n",        "[a](b.md)\n", "scripts/x.py ",
                                        "references/ ", "[a](../b)\n", "\xFF",
                                        "\x01\n"};
    put("references/a.md", "x\n");
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        autofree char *text = with_body(units[i], 1000000 / strlen(units[i]));
        double start = seconds();
        autojson *f = check_text(text, SKILL_CHECK_STRICT);
        double took = seconds() - start;
        cr_expect(took < 4, "%s: %.2f s", units[i], took);
        cr_expect(json_array_size(f) < 300);
    }
}

Test(spec_rules, many_links_on_one_line_take_bounded_time) {
    autobuf top = BUF_INIT(1u << 16), page = BUF_INIT(1u << 20);
    buf_adds(&top, "---\nname: my-skill\ndescription: d\n---\n");
    for (int i = 0; i < 90000; i++) {
        buf_addf(&page, "[a](x\\_%c) ", 'a' + i % 26);
    }
    for (int i = 0; i < 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "references/f%d.md", i);
        buf_addf(&top, "%s\n", name);
        put(name, page.data);
    }
    struct timespec began, ended;
    put("SKILL.md", top.data);
    clock_gettime(CLOCK_MONOTONIC, &began);
    autojson *findings = check_folder(SKILL_CHECK_STRICT);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    cr_expect(find(findings, "link_missing") != NULL);
    cr_expect(ended.tv_sec - began.tv_sec < 60); /* was 9 s without sanitizers, 90 with */
}
