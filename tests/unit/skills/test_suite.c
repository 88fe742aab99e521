#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/format/markdown.h"
#include "skills/format/skill.h"
#include "skills/grading/regex.h"
#include "skills/grading/suite.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static json_t *json(const char *text) {
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    cr_assert(value != NULL, "%s in %s", error.text, text);
    return value;
}

static void read_suite(struct suite *s, const char *text) {
    autojson *value = json(text);
    struct err err = {0};
    int rc = suite_from_json(s, value, &err);
    cr_assert(eq(int, rc, 0), "%s", err.msg);
}

#define ONE(expected) "[{\"input\":\"i\",\"expected\":" expected "}]"

/* The shapes are upskill's models.py, skill-creator's schemas.md and our own. */
Test(suite, every_shape_becomes_the_same_tests) {
    static const struct {
        const char *given, *want;
    } table[] = {
        {"[{\"input\":\"i\",\"expected\":\"x\"}]",
         "[{\"id\":\"test-1\",\"input\":\"i\",\"expected\":{\"contains\":[\"x\"]}}]"},
        {"{\"cases\":[{\"input\":\"i\",\"context\":{\"files\":{\"f\":\"t\"}},"
         "\"expected\":{\"contains\":\"x\"},\"output_file\":null}]}",
         "[{\"id\":\"test-1\",\"input\":\"i\",\"files\":{\"f\":\"t\"},\"expected\":"
         "{\"contains\":[\"x\"]},\"output_file\":null}]"},
        {"[{\"input\":\"i\",\"context\":null,\"expected\":[\"x\",\"y\"]}]",
         "[{\"id\":\"test-1\",\"input\":\"i\",\"expected\":{\"contains\":[\"x\",\"y\"]}}"
         "]"},
        {"{\"skill_name\":\"s\",\"evals\":[{\"id\":7,\"prompt\":\"p\",\"files\":[],"
         "\"expected_output\":\"o\",\"expectations\":[\"a\",{\"text\":\"b\"}]}]}",
         "[{\"id\":\"eval-7\",\"input\":\"p\",\"expected_output\":\"o\",\"expected\":"
         "{\"judge\":{\"criteria\":[\"a\",\"b\"]}}}]"},
        {"{\"evals\":[{\"prompt\":\"p\",\"expected_output\":\"o\"}]}",
         "[{\"id\":\"test-1\",\"input\":\"p\",\"expected_output\":\"o\",\"expected\":"
         "{\"judge\":{\"criteria\":[\"The answer is what this describes: o\"]}}}]"},
        {"[{\"prompt\":\"p\",\"expected\":{\"contains\":[\"x\"]}}]",
         "[{\"id\":\"test-1\",\"input\":\"p\",\"expected\":{\"contains\":[\"x\"]}}]"},
        {ONE("{\"regex\":\"a+\",\"not_regex\":[{\"pattern\":\"b\",\"flags\":\"im\"}]}"),
         "[{\"id\":\"test-1\",\"input\":\"i\",\"expected\":{\"regex\":[{\"pattern\":"
         "\"a+\",\"flags\":\"\"}],\"not_regex\":[{\"pattern\":\"b\",\"flags\":\"im\"}]}}"
         "]"},
        {ONE("{\"equals\":42,\"build_toml\":true,\"kernel_project\":{},"
             "\"kernel_compiles\":true,\"judge\":\"c\"}"),
         "[{\"id\":\"test-1\",\"input\":\"i\",\"expected\":{\"equals\":{\"number\":42,"
         "\"tolerance\":0.0},\"build_toml\":{\"valid\":true},\"kernel_project\":"
         "{\"valid\":true,\"with_files\":false},\"kernel_compiles\":{},\"judge\":"
         "{\"criteria\":[\"c\"]}}}]"},
        {"{\"tests\":[{\"id\":3,\"input\":\"i\",\"expected\":\"x\",\"split\":\"gate\","
         "\"marks\":[\"quotes_skill\"],\"mine\":1}]}",
         "[{\"id\":\"3\",\"input\":\"i\",\"expected\":{\"contains\":[\"x\"]},\"split\":"
         "\"gate\",\"marks\":[\"quotes_skill\"],\"mine\":1}]"},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct suite s;
        read_suite(&s, table[i].given);
        autojson *want = json(table[i].want);
        autofree char *got = json_dumps(s.json, JSON_COMPACT);
        bool same = json_equal(want, s.json);
        cr_expect(same, "%s gives %s", table[i].given, got);

        struct suite again; /* the canonical form reads as itself */
        cr_assert(suite_from_json(&again, s.json, NULL) == 0);
        bool fixed = json_equal(again.json, s.json);
        cr_expect(fixed, "%s", got);
        cr_expect(eq(str, again.digest, s.digest));
        suite_finish(&again);
        suite_finish(&s);
    }
}

static const struct {
    const char *given, *want;
} wrong_suites[] = {
    {"3", "tests: expected a list of tests"},
    {"{}", "tests: expected a list of tests"},
    {"[]", "tests: 0 tests"},
    {"{\"cases\":[{\"input\":1}]}", "cases[0].input: expected a text"},
    {"[{\"expected\":\"x\"}]", "tests[0].input: expected a text"},
    {"[{\"query\":\"x\",\"should_trigger\":true}]", "tests[0].input"},
    {"[{\"input\":\"\",\"expected\":\"x\"}]", "tests[0].input: expected 1 byte"},
    {"[{\"input\":\"a\\u0000\",\"expected\":\"x\"}]", "tests[0].input"},
    {"[1]", "tests[0]: expected a test"},
    {"[{\"input\":\"i\"}]", "tests[0].expected: expected checks"},
    {ONE("{}"), "tests[0].expected: expected checks"},
    {ONE("{\"contain\":[\"x\"]}"), "tests[0].expected.contain: no such check"},
    {ONE("{\"files\":{}}"), "tests[0].expected.files: expected 1 to 64"},
    {ONE("{\"files\":[\"a\"]}"), "tests[0].expected.files: expected 1 to 64"},
    {ONE("{\"files\":{\"../a\":true}}"),
     "tests[0].expected.files[\"../a\"]: a path is relative"},
    {ONE("{\"files\":{\"/etc/passwd\":true}}"),
     "tests[0].expected.files[\"/etc/passwd\"]: a path"},
    {ONE("{\"files\":{\"a/./b\":true}}"), "tests[0].expected.files[\"a/./b\"]: a path"},
    {ONE("{\"files\":{\"a\":{\"judge\":[\"x\"]}}}"),
     "tests[0].expected.files[\"a\"].judge: not a check of a file"},
    {ONE("{\"files\":{\"a\":{\"files\":{\"b\":true}}}}"),
     "tests[0].expected.files[\"a\"].files: not a check of a file"},
    {ONE("{\"files\":{\"a\":{}}}"), "tests[0].expected.files[\"a\"]: expected checks"},
    {ONE("{\"contains\":[]}"), "tests[0].expected.contains: an empty list"},
    {ONE("{\"contains\":[\"\"]}"), "tests[0].expected.contains[0]: a text to look"},
    {ONE("{\"contains\":[\"a\",1]}"), "tests[0].expected.contains[1]: expected a text"},
    {ONE("{\"regex\":[\"a\",\"(b\"]}"), "tests[0].expected.regex[1]: missing closing"},
    {ONE("{\"regex\":{\"pattern\":\"a\",\"flags\":\"iq\"}}"),
     "tests[0].expected.regex[0]: flags are"},
    {ONE("{\"regex\":{\"pattern\":\"a\",\"flags\":\"ii\"}}"),
     "tests[0].expected.regex[0]: flags are"},
    {ONE("{\"regex\":{\"patern\":\"a\"}}"), "tests[0].expected.regex[0]: expected"},
    {ONE("{\"not_regex\":\"\\\\C\"}"), "tests[0].expected.not_regex[0]: using \\C"},
    {ONE("{\"json_schema\":true}"), "tests[0].expected.json_schema: expected a JSON"},
    {ONE("{\"json_schema\":{\"type\":\"object\",\"$ref\":\"#\"}}"),
     "tests[0].expected.json_schema: "},
    {ONE("{\"json_schema\":{\"type\":\"objekt\"}}"), "tests[0].expected.json_schema: "},
    {ONE("{\"equals\":null}"), "tests[0].expected.equals: expected a text, a number"},
    {ONE("{\"equals\":{\"number\":1,\"tolerance\":-1}}"), "tests[0].expected.equals"},
    {ONE("{\"equals\":{\"number\":1,\"tol\":1}}"), "tests[0].expected.equals"},
    {ONE("{\"build_toml\":{\"valid\":false}}"),
     "tests[0].expected.build_toml.valid: only true"},
    {ONE("{\"build_toml\":{\"values\":{\"general\":1}}}"),
     "tests[0].expected.build_toml.values: expected up to 64"},
    {ONE("{\"kernel_project\":false}"),
     "tests[0].expected.kernel_project: expected true or an object"},
    {ONE("{\"kernel_compiles\":{\"entry\":\"\"}}"),
     "tests[0].expected.kernel_compiles.entry: expected a text"},
    {ONE("{\"kernel_compiles\":{\"arc\":\"sm_90a\"}}"),
     "tests[0].expected.kernel_compiles.arc: unknown"},
    {ONE("{\"kernel_passes\":true}"), "tests[0].expected.kernel_passes.spec"},
    {ONE("{\"judge\":[]}"), "tests[0].expected.judge: an empty list"},
    {ONE("{\"judge\":{\"criteria\":[\"c\"],\"model\":{}}}"),
     "tests[0].expected.judge: expected criteria"},
    {ONE("{\"judge\":{\"criteria\":[\"\"]}}"), "tests[0].expected.judge[0]"},
    {"[{\"input\":\"i\",\"expected\":\"x\",\"files\":{\"f\":1}}]",
     "tests[0].files[\"f\"]: expected the file's text"},
    {"{\"evals\":[{\"prompt\":\"p\",\"files\":[\"a.txt\"],\"assertions\":[\"c\"]}]}",
     "evals[0].files: paths can be read from a skill's folder only"},
    {"{\"evals\":[{\"prompt\":\"p\"}]}", "evals[0].expected: expected checks"},
    {"[{\"input\":\"i\",\"expected\":\"x\",\"split\":\"train\"}]",
     "tests[0].split: expected refine, gate or report"},
    {"[{\"id\":\"a\",\"input\":\"i\",\"expected\":\"x\"},"
     "{\"id\":\"a\",\"input\":\"j\",\"expected\":\"x\"}]",
     "tests[1].id: \"a\" is tests[0]'s already"},
    {"[{\"id\":\"a\\nb\",\"input\":\"i\",\"expected\":\"x\"}]", "tests[0].id"},
    {"[{\"id\":[],\"input\":\"i\",\"expected\":\"x\"}]", "tests[0].id"},
};

Test(suite, what_is_wrong_is_named_with_its_place) {
    for (size_t i = 0; i < ARRAY_LEN(wrong_suites); i++) {
        autojson *value = json(wrong_suites[i].given);
        struct suite s = {0};
        struct err err = {0};
        int rc = suite_from_json(&s, value, &err);
        bool told = strstr(err.msg, wrong_suites[i].want) == err.msg;
        cr_expect(rc == -EINVAL && told, "%s: %d %s", wrong_suites[i].given, rc, err.msg);
        cr_expect(s.json == NULL);
    }
}

Test(suite, limits_are_errors) {
    autojson *many = json_array();
    for (int i = 0; i <= SUITE_MAX_TESTS; i++) {
        json_array_append_new(many,
                              json_pack("{s:s,s:s}", "input", "i", "expected", "x"));
    }
    struct suite s;
    cr_expect(suite_from_json(&s, many, NULL) == -EINVAL);
    json_array_remove(many, 0);
    cr_assert(suite_from_json(&s, many, NULL) == 0);
    suite_finish(&s);

    autofree char *long_text = xmalloc(SUITE_MAX_TEXT + 2);
    memset(long_text, 'a', SUITE_MAX_TEXT + 1);
    long_text[SUITE_MAX_TEXT + 1] = '\0';
    autojson *one = json_pack("[{s:s,s:s}]", "input", long_text, "expected", "x");
    cr_expect(suite_from_json(&s, one, NULL) == -EINVAL);
    long_text[REGEX_MAX_LITERAL] = '\0';
    autojson *needle = json_pack("[{s:s,s:s}]", "input", "i", "expected", long_text);
    cr_assert(suite_from_json(&s, needle, NULL) == 0);
    suite_finish(&s);
    long_text[REGEX_MAX_LITERAL] = 'a';
    long_text[REGEX_MAX_LITERAL + 1] = '\0';
    autojson *longer = json_pack("[{s:s,s:s}]", "input", "i", "expected", long_text);
    cr_expect(suite_from_json(&s, longer, NULL) == -EINVAL);
}

Test(suite, the_digest_knows_the_tests_and_nothing_else) {
    static const char base[] =
        "[{\"id\":\"a\",\"input\":\"i\",\"files\":{\"f\":\"1\",\"g\":\"2\"},\"expected\":"
        "{\"contains\":[\"x\"],\"regex\":[\"y\"]}},"
        "{\"id\":\"b\",\"input\":\"j\",\"expected\":\"z\"}]";
    static const char *const same[] = {
        "[{\"expected\":{\"regex\":\"y\",\"contains\":\"x\"},\"files\":{\"g\":\"2\","
        "\"f\":\"1\"},\"input\":\"i\",\"id\":\"a\"},"
        "{\"id\":\"b\",\"input\":\"j\",\"expected\":[\"z\"]}]",
        "{\"tests\":[{\"id\":\"b\",\"input\":\"j\",\"expected\":\"z\",\"split\":\"gate\","
        "\"marks\":[\"judge_only\"],\"note\":\"n\"},"
        "{\"id\":\"a\",\"input\":\"i\",\"files\":{\"f\":\"1\",\"g\":\"2\"},\"expected\":"
        "{\"contains\":[\"x\"],\"regex\":[\"y\"]}}]}",
    };
    static const char *const other[] = {
        "[{\"id\":\"b\",\"input\":\"j\",\"expected\":\"z\"}]",
        "[{\"id\":\"a\",\"input\":\"i\",\"files\":{\"f\":\"1\",\"g\":\"3\"},\"expected\":"
        "{\"contains\":[\"x\"],\"regex\":[\"y\"]}},"
        "{\"id\":\"b\",\"input\":\"j\",\"expected\":\"z\"}]",
        "[{\"id\":\"a\",\"input\":\"i\",\"files\":{\"f\":\"1\",\"g\":\"2\"},\"expected\":"
        "{\"contains\":[\"x\"],\"regex\":[\"Y\"]}},"
        "{\"id\":\"b\",\"input\":\"j\",\"expected\":\"z\"}]",
    };
    struct suite s, t;
    read_suite(&s, base);
    cr_expect(strncmp(s.digest, "sha256:", 7) == 0 && strlen(s.digest) == 71);
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        read_suite(&t, same[i]);
        cr_expect(eq(str, t.digest, s.digest));
        suite_finish(&t);
    }
    for (size_t i = 0; i < ARRAY_LEN(other); i++) {
        read_suite(&t, other[i]);
        cr_expect(ne(str, t.digest, s.digest));
        suite_finish(&t);
    }
    suite_finish(&s);
}

/* n tests with the ids t0…; every `given`-th has a split already. */
static void make_tests(struct suite *s, int n, int given) {
    autojson *tests = json_array();
    for (int i = 0; i < n; i++) {
        char id[16];
        snprintf(id, sizeof id, "t%d", i);
        json_t *test =
            json_pack("{s:s,s:s,s:s}", "id", id, "input", "i", "expected", "x");
        if (given && i % given == 0) {
            json_object_set_new(test, "split", json_string("refine"));
        }
        json_array_append_new(tests, test);
    }
    cr_assert(suite_from_json(s, tests, NULL) == 0);
}

static void count_splits(const struct suite *s, int counts[static 4]) {
    memset(counts, 0, 4 * sizeof *counts);
    for (size_t i = 0; i < s->count; i++) {
        counts[s->tests[i].split]++;
        const char *name = test_split_name(s->tests[i].split);
        cr_expect(eq(str, (char *)json_get_string(s->tests[i].json, "split", ""),
                     (char *)name));
    }
}

Test(suite, splits_are_thirds_with_report_first_served) {
    /* refine, gate, report; the sizes are DESIGN's */
    static const int table[][4] = {{24, 8, 8, 8}, {25, 8, 8, 9},    {1, 0, 0, 1},
                                   {6, 0, 0, 6},  {7, 1, 0, 6},     {10, 2, 2, 6},
                                   {18, 6, 6, 6}, {100, 33, 33, 34}};
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct suite s;
        int counts[4];
        make_tests(&s, table[i][0], 0);
        suite_split(&s);
        count_splits(&s, counts);
        bool right = counts[0] == 0 && counts[SPLIT_REFINE] == table[i][1] &&
                     counts[SPLIT_GATE] == table[i][2] &&
                     counts[SPLIT_REPORT] == table[i][3];
        cr_expect(right, "%d: %d %d %d", table[i][0], counts[SPLIT_REFINE],
                  counts[SPLIT_GATE], counts[SPLIT_REPORT]);
        suite_finish(&s);
    }
}

Test(suite, splits_are_kept_and_the_same_every_time) {
    struct suite s, t, longer;
    int counts[4];
    make_tests(&s, 24, 6);
    suite_split(&s);
    count_splits(&s, counts);
    cr_expect(counts[SPLIT_REFINE] == 8 && counts[SPLIT_GATE] == 8);
    for (size_t i = 0; i < s.count; i += 6) {
        cr_expect(eq(int, (int)s.tests[i].split, SPLIT_REFINE));
    }
    make_tests(&t, 24, 6);
    suite_split(&t);
    for (size_t i = 0; i < s.count; i++) {
        cr_expect(eq(int, (int)s.tests[i].split, (int)t.tests[i].split));
    }
    json_array_append_new(t.json,
                          json_pack("{s:s,s:s}", "input", "new", "expected", "x"));
    cr_assert(suite_from_json(&longer, t.json, NULL) == 0);
    suite_split(&longer);
    for (size_t i = 0; i < s.count; i++) {
        cr_expect(eq(int, (int)longer.tests[i].split, (int)s.tests[i].split));
    }
    cr_expect(longer.tests[24].split != SPLIT_NONE);
    suite_finish(&longer);
    suite_finish(&t);
    suite_finish(&s);
}

/* docs/guide/tests.md: every example is one. */
Test(suite, the_guides_examples_can_be_read) {
    autobuf text = BUF_INIT(1u << 20);
    cr_assert(file_read(GUIDE "/tests.md", &text, NULL) == 0);
    struct markdown guide;
    int examples = 0;
    markdown_read(&guide, text.data, text.len, 1);
    for (size_t i = 0; i < guide.code_count; i++) {
        struct suite s;
        struct err err = {0};
        if (strcmp(guide.codes[i].language, "json") != 0) {
            continue;
        }
        autojson *value = json(guide.codes[i].text);
        int rc = suite_from_json(&s, value, &err);
        cr_assert(eq(int, rc, 0), "line %d: %s", guide.codes[i].line, err.msg);
        suite_finish(&s);
        examples++;
    }
    cr_expect(eq(int, examples, 11));
    markdown_finish(&guide);
}

static void put(const char *folder, const char *name, const char *text) {
    struct root root;
    cr_assert(root_open(&root, folder, NULL) == 0);
    cr_assert(root_write(&root, name, text, strlen(text), 0644, NULL) == 0);
    root_close(&root);
}

Test(suite, a_skills_own_tests_are_read_once) {
    char folder[] = "/tmp/test-suite-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    put(folder, "SKILL.md", "---\nname: a\ndescription: b\n---\n");
    struct skill skill;
    struct suite s;
    struct err err = {0};
    cr_assert(skill_open(&skill, folder, false, NULL) == 0);
    cr_expect(eq(int, suite_of_skill(&s, &skill, &err), -ENOENT));
    skill_finish(&skill);

    put(folder, "evals/evals.json",
        "{\"evals\":[{\"id\":7,\"prompt\":\"p\",\"files\":[\"evals/f\"],\"assertions\":"
        "[\"c\"],\"expected_output\":\"o\"}]}");
    put(folder, "evals/f", "content");
    cr_assert(skill_open(&skill, folder, false, NULL) == 0);
    cr_assert(eq(int, suite_of_skill(&s, &skill, &err), 0), "%s", err.msg);
    cr_expect(s.count == 1 && strcmp(s.tests[0].id, "eval-7") == 0);
    cr_expect(strcmp(json_get_string(s.tests[0].files, "evals/f", ""), "content") == 0);
    cr_expect(json_object_get(s.tests[0].expected, "expected_output") == NULL);
    suite_finish(&s);
    skill_finish(&skill);

    put(folder, "skill_meta.json", "{\"tests\":[{\"input\":\"i\",\"expected\":\"x\"}]}");
    cr_assert(skill_open(&skill, folder, false, NULL) == 0);
    cr_assert(suite_of_skill(&s, &skill, NULL) == 0);
    cr_expect(s.count == 1 && strcmp(s.tests[0].input, "i") == 0);
    suite_finish(&s);
    skill_finish(&skill);

    put(folder, "skill_meta.json", "{\"tests\":[{\"input\":1,\"expected\":\"x\"}]}");
    cr_assert(skill_open(&skill, folder, false, NULL) == 0);
    cr_expect(eq(int, suite_of_skill(&s, &skill, &err), -EINVAL));
    cr_expect(strstr(err.msg, "skill_meta.json: a test has no") == err.msg);
    skill_finish(&skill);
    cr_expect(dir_remove(folder, NULL) == 0);
}

/* --- regular expressions --- */

static int find(const char *pattern, const char *flags, const char *text) {
    struct regex *r = NULL;
    struct err err = {0};
    int rc = regex_new(&r, pattern, strlen(pattern), flags, &err);
    cr_assert(eq(int, rc, 0), "%s: %s", pattern, err.msg);
    rc = regex_find(r, text, strlen(text), NULL, NULL);
    regex_free(r);
    return rc;
}

Test(suite, flags_mean_what_pcre2_says) {
    cr_expect(eq(int, find("^b", "", "a\nb"), 0));
    cr_expect(eq(int, find("^b", "m", "a\nb"), 1));
    cr_expect(eq(int, find("a.b", "", "a\nb"), 0));
    cr_expect(eq(int, find("a.b", "s", "a\nb"), 1));
    cr_expect(eq(int, find("A b", "", "ab"), 0));
    cr_expect(eq(int, find("A b", "ix", "ab"), 1));
    cr_expect(eq(int, find("^.$", "", "\xC3\xA9"), 1)); /* a character, not a byte */
}

/* Unicode's CaseFolding.txt, status C and S: U+00C9, U+03A3 and its final form, U+212A,
 * U+1E9E. Full foldings (ss) are not simple ones. */
Test(suite, literals_are_found_in_any_case) {
    static const struct {
        const char *needle, *text;
        int found;
    } table[] = {
        {"CUDA-Capabilities", "set cuda-capabilities here", 1},
        {"caf\xC3\x89", "CAF\xC3\xA9", 1},
        {"\xCE\xA3", "\xCF\x82", 1},
        {"k", "\xE2\x84\xAA", 1},
        {"\xC3\x9F", "\xE1\xBA\x9E", 1},
        {"\xC3\x9F", "SS", 0},
        {"a.b", "aXb", 0},
        {"[x", "y [X] z", 1},
        {"abc", "ab", 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct regex *r = NULL;
        cr_assert(regex_new_literal(&r, table[i].needle, strlen(table[i].needle), NULL) ==
                  0);
        int found = regex_find(r, table[i].text, strlen(table[i].text), NULL, NULL);
        cr_expect(eq(int, found, table[i].found), "%s in %s", table[i].needle,
                  table[i].text);
        regex_free(r);
    }
}

/* Each of these would run for hours: exponential, quadratic in one item, cubic, and one
 * that starts anew at every character; the last needs a frame a character. */
Test(suite, no_pattern_holds_up_a_thread) {
    static const char *const patterns[] = {"^(a+)+$", "\\w*+b", "a*a*a*a*c", "(?:a|aa)+$",
                                           "(a|b)*c"};
    size_t len = 4u << 20;
    autofree char *text = xmalloc(len + 1);
    memset(text, 'a', len);
    memcpy(text + len - 3, "bc!", 3);
    text[len] = '\0';
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        int rc = find(patterns[i], "", text);
        cr_expect(eq(int, rc, -ETIME), "%s", patterns[i]);
    }
    cr_expect(eq(int, find("!$", "", text), 1));
}
