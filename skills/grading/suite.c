#include "skills/grading/suite.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/hash.h"
#include "skills/format/skill.h"
#include "skills/grading/expected.h"

#define MAX_PROMPT ((SUITE_MAX_FILES + 1) * (SUITE_MAX_TEXT + 4096u))

static json_t *loose(const json_t *value) { /* jansson's functions take no const */
    return (json_t *)(uintptr_t)value;
}

const char *test_split_name(enum test_split split) {
    static const char *const names[] = {"", "refine", "gate", "report"};
    return names[split];
}

static enum test_split split_of(const char *name) {
    for (int split = SPLIT_REPORT; name && split > SPLIT_NONE; split--) {
        if (strcmp(name, test_split_name((enum test_split)split)) == 0) {
            return (enum test_split)split;
        }
    }
    return SPLIT_NONE;
}

/* --- one test --- */

/* A test being read: its canonical form grows from what was given. */
struct reading {
    const char *path; /* "tests[3]" */
    json_t *test;
    struct err *err;
};

static int wrong(const struct reading *r, const char *member, const char *why) {
    return err_set(r->err, -EINVAL, "%s.%s: %s", r->path, member, why);
}

/* The criteria for a judge, from what other formats say about a good answer. */
static json_t *criteria_of(const json_t *eval) {
    const json_t *given = json_object_get(eval, "expectations");
    given = given ? given : json_object_get(eval, "assertions");
    const json_t *output = json_object_get(eval, "expected_output");
    json_t *criteria = json_array();
    json_each(given, i, item) {
        json_t *text = json_is_object(item) ? json_object_get(item, "text") : item;
        if (json_is_string(text)) {
            json_array_append(criteria, text);
        }
    }
    if (!json_array_size(criteria) && json_string_length(output)) {
        autofree char *text =
            xasprintf("The answer is what this describes: %s", json_string_value(output));
        json_array_append_new(criteria, json_string(text));
    }
    return criteria;
}

/* {"prompt", "expectations" | "assertions" | "expected_output"} as a test of ours; one
 * without these may hold checks of ours. */
static json_t *of_skill_creator(const json_t *eval) {
    json_t *test = json_copy(loose(eval));
    const json_t *id = json_object_get(eval, "id");
    json_object_set(test, "input", json_object_get(eval, "prompt"));
    if (json_is_integer(id)) { /* as skill_meta_read names it */
        autofree char *name = xasprintf("eval-%lld", (long long)json_integer_value(id));
        json_object_set_new(test, "id", json_string(name));
    }
    autojson *criteria = criteria_of(eval);
    if (json_array_size(criteria)) {
        json_object_set_new(test, "expected", json_pack("{s:O}", "judge", criteria));
    }
    static const char *const read[] = {"prompt", "expectations", "assertions"};
    for (size_t i = 0; i < ARRAY_LEN(read); i++) {
        if (json_object_get(test, read[i])) {
            json_object_del(test, read[i]);
        }
    }
    if (json_is_array(json_object_get(test, "files")) &&
        !json_array_size(json_object_get(test, "files"))) {
        json_object_del(test, "files");
    }
    return test;
}

/* upskill's context.files; skill_meta.c leaves expected_output among the checks. */
static void move_members(json_t *test) {
    json_t *context = json_object_get(test, "context");
    json_t *files = json_object_get(context, "files");
    if (files && !json_object_get(test, "files")) {
        json_object_set(test, "files", files);
    }
    if (context) {
        json_object_del(test, "context");
    }
    json_t *expected = json_object_get(test, "expected");
    json_t *output = json_object_get(expected, "expected_output");
    if (output) {
        autojson *checks = json_copy(expected);
        json_object_del(checks, "expected_output");
        json_object_set(test, "expected_output", output);
        if (!json_object_size(checks)) {
            json_object_set_new(checks, "judge", criteria_of(test));
        }
        json_object_set(test, "expected", checks);
    }
}

static int read_input(struct reading *r) {
    const json_t *input = json_object_get(r->test, "input");
    if (!json_is_string(input)) {
        return wrong(r, "input", "expected a text (what the student is asked)");
    }
    size_t len = json_string_length(input);
    if (len == 0 || len > SUITE_MAX_TEXT || memchr(json_string_value(input), 0, len)) {
        return wrong(r, "input", "expected 1 byte to 256 KiB without U+0000");
    }
    return 0;
}

static int read_file(const struct reading *r, const char *name, const json_t *text) {
    autofree char *member = xasprintf("files[\"%.64s\"]", name);
    if (!json_is_string(text)) {
        return wrong(r, member, "expected the file's text");
    }
    if (json_string_length(text) > SUITE_MAX_TEXT ||
        strlen(json_string_value(text)) != json_string_length(text)) {
        return wrong(r, member, "more than 256 KiB, or no text");
    }
    return name[0] && strlen(name) <= 200 ? 0
                                          : wrong(r, member, "a name has 1 to 200 bytes");
}

static int read_files(struct reading *r) {
    json_t *files = json_object_get(r->test, "files");
    bool none = json_is_object(files) && json_object_size(files) == 0;
    if (!files || json_is_null(files) || none) {
        return files ? json_object_del(r->test, "files") : 0;
    }
    if (!json_is_object(files)) {
        return wrong(
            r, "files",
            json_is_array(files)
                ? "paths can be read from a skill's folder only; give {name: text}"
                : "expected {name: text}");
    }
    int rc = json_object_size(files) > SUITE_MAX_FILES
                 ? wrong(r, "files", "more than 64 files")
                 : 0;
    json_each_member(files, name, text) {
        rc = rc < 0 ? rc : read_file(r, name, text);
    }
    return rc;
}

static int read_expected(struct reading *r) {
    autofree char *path = xasprintf("%s.expected", r->path);
    json_t *full = NULL;
    int rc = expected_read(&full, json_object_get(r->test, "expected"), path, r->err);
    if (rc == 0) {
        json_object_set_new(r->test, "expected", full);
    }
    return rc;
}

static int read_split(struct reading *r) {
    const json_t *split = json_object_get(r->test, "split");
    const char *name = json_string_value(split);
    if (!split || json_is_null(split) || (name && !*name)) {
        return split ? json_object_del(r->test, "split") : 0;
    }
    return split_of(name) ? 0 : wrong(r, "split", "expected refine, gate or report");
}

/* A missing id is made from the place in the list. */
static int read_id(struct reading *r, size_t i) {
    const json_t *id = json_object_get(r->test, "id");
    autofree char *made = json_is_integer(id)
                              ? xasprintf("%lld", (long long)json_integer_value(id))
                              : xasprintf("test-%zu", i + 1);
    if (!id || json_is_null(id) || json_is_integer(id)) {
        json_object_set_new(r->test, "id", json_string(made));
        return 0;
    }
    const char *text = json_string_value(id);
    size_t len = json_string_length(id);
    bool good = text && len > 0 && len <= SUITE_MAX_ID;
    for (size_t at = 0; good && at < len; at++) {
        good = (unsigned char)text[at] > 0x1f && text[at] != 0x7f;
    }
    return good ? 0 : wrong(r, "id", "expected 1 to 128 printable bytes");
}

static int read_test(json_t *tests, const json_t *given, const char *list, size_t i,
                     struct err *err) {
    autofree char *path = xasprintf("%s[%zu]", list, i);
    struct reading r = {.path = path, .err = err};
    if (!json_is_object(given)) {
        return err_set(err, -EINVAL, "%s: expected a test, an object", path);
    }
    bool eval = !json_object_get(given, "input") && json_object_get(given, "prompt");
    autojson *test = eval ? of_skill_creator(given) : json_copy(loose(given));
    r.test = test;
    move_members(test);
    int (*const steps[])(struct reading *) = {read_input, read_files, read_expected,
                                              read_split};
    int rc = read_id(&r, i);
    for (size_t s = 0; rc == 0 && s < ARRAY_LEN(steps); s++) {
        rc = steps[s](&r);
    }
    if (rc == 0) {
        json_array_append(tests, test);
    }
    return rc;
}

/* --- the list --- */

static int check_ids(const json_t *tests, const char *list, struct err *err) {
    autojson *seen = json_object();
    json_each(tests, i, test) {
        const char *id = json_get_string(test, "id", "");
        json_int_t before = json_get_integer(seen, id, -1);
        if (before >= 0) {
            return err_set(err, -EINVAL, "%s[%zu].id: \"%.128s\" is %s[%lld]'s already",
                           list, i, id, list, (long long)before);
        }
        json_object_set_new(seen, id, json_integer((json_int_t)i));
    }
    return 0;
}

/* The list of tests in any of the shapes, and what it is called there. */
static const json_t *list_of(const json_t *value, const char **ret_name) {
    static const char *const names[] = {"tests", "cases", "evals"};
    *ret_name = "tests";
    for (size_t i = 0; json_is_object(value) && i < ARRAY_LEN(names); i++) {
        const json_t *list = json_object_get(value, names[i]);
        if (list) {
            *ret_name = names[i];
            return list;
        }
    }
    return value;
}

static struct test_case case_of(const json_t *test) {
    const char *id = json_get_string(test, "id", "");
    return (struct test_case){.id = id,
                              .lesson = json_get_string(test, "lesson", id),
                              .input = json_get_string(test, "input", ""),
                              .files = json_object_get(test, "files"),
                              .expected = json_object_get(test, "expected"),
                              .split = split_of(json_get_string(test, "split", NULL)),
                              .json = test};
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

static void test_digest(const json_t *test, char ret[static HASH_HEX_SIZE]) {
    static const char *const members[] = {"id", "input", "files", "expected"};
    struct hash hash;
    hash_init(&hash);
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        autofree char *text = json_dumps(json_object_get(test, members[i]),
                                         JSON_SORT_KEYS | JSON_COMPACT | JSON_ENCODE_ANY);
        hash_add_field(&hash, text ? text : "", text ? strlen(text) : 0);
    }
    hash_hex(&hash, ret);
}

static void set_digest(struct suite *s) {
    char(*digests)[HASH_HEX_SIZE] = xcalloc(s->count + 1, sizeof *digests);
    struct hash hash;
    char hex[HASH_HEX_SIZE];
    for (size_t i = 0; i < s->count; i++) {
        test_digest(s->tests[i].json, digests[i]);
    }
    qsort(digests, s->count, sizeof *digests, by_text);
    hash_init(&hash);
    for (size_t i = 0; i < s->count; i++) {
        hash_add(&hash, digests[i], HASH_HEX_SIZE);
    }
    hash_hex(&hash, hex);
    snprintf(s->digest, sizeof s->digest, "sha256:%s", hex);
    free(digests);
}

int suite_from_json(struct suite *ret, const json_t *value, struct err *err) {
    const char *name;
    const json_t *list = list_of(value, &name);
    autojson *tests = json_array();
    if (!json_is_array(list)) {
        return err_set(err, -EINVAL,
                       "%s: expected a list of tests, {\"tests\": [...]}, upskill's "
                       "{\"cases\": [...]} or skill-creator's {\"evals\": [...]}",
                       name);
    }
    if (json_array_size(list) == 0 || json_array_size(list) > SUITE_MAX_TESTS) {
        return err_set(err, -EINVAL, "%s: %zu tests; a suite has 1 to %d", name,
                       json_array_size(list), SUITE_MAX_TESTS);
    }
    json_each(list, i, given) {
        int rc = read_test(tests, given, name, i, err);
        if (rc < 0) {
            return rc;
        }
    }
    int rc = check_ids(tests, name, err);
    if (rc < 0) {
        return rc;
    }
    size_t count = json_array_size(tests);
    *ret = (struct suite){.json = take(tests), .count = count};
    ret->tests = xcalloc(count, sizeof *ret->tests);
    for (size_t i = 0; i < count; i++) {
        ret->tests[i] = case_of(json_array_get(ret->json, i));
    }
    set_digest(ret);
    return 0;
}

int suite_of_skill(struct suite *ret, const struct skill *skill, struct err *err) {
    autojson *meta = skill_meta_tests(skill);
    const json_t *problem = json_array_get(json_object_get(meta, "problems"), 0);
    const json_t *tests = json_object_get(meta, "tests");
    if (problem) {
        return err_set(err, -EINVAL, "%s: %s", json_get_string(problem, "file", ""),
                       json_get_string(problem, "message", ""));
    }
    if (json_array_size(tests) == 0) {
        return err_set(err, -ENOENT, "the skill has no tests of its own");
    }
    return suite_from_json(ret, tests, err);
}

void suite_finish(struct suite *s) {
    json_decref(s->json);
    free(s->tests);
    *s = (struct suite){0};
}

/* --- split --- */

struct turn {
    size_t test;
    char digest[HASH_HEX_SIZE];
};

static int by_digest(const void *a, const void *b) {
    return strcmp(((const struct turn *)a)->digest, ((const struct turn *)b)->digest);
}

/* How many more tests each split wants. */
static void count_wanted(const struct suite *s, long wanted[static 4]) {
    long count = (long)s->count;
    long report = (count + 2) / 3;
    report = report < 6 ? (count < 6 ? count : 6) : report;
    wanted[SPLIT_REPORT] = report;
    wanted[SPLIT_GATE] = (count - report) / 2;
    wanted[SPLIT_REFINE] = count - report - wanted[SPLIT_GATE];
    for (size_t i = 0; i < s->count; i++) {
        wanted[s->tests[i].split]--;
    }
}

static enum test_split neediest(const long wanted[static 4]) {
    enum test_split most = SPLIT_REPORT;
    most = wanted[SPLIT_GATE] > wanted[most] ? SPLIT_GATE : most;
    return wanted[SPLIT_REFINE] > wanted[most] ? SPLIT_REFINE : most;
}

/* The split of another test of the same lesson, or the split that lacks the most tests.
 */
static enum test_split split_for(const struct suite *s, const struct test_case *test,
                                 const long wanted[static 4]) {
    size_t at = first_of(i, 0, s->count,
                         s->tests[i].split != SPLIT_NONE &&
                             strcmp(s->tests[i].lesson, test->lesson) == 0);
    return at < s->count ? s->tests[at].split : neediest(wanted);
}

void suite_split(struct suite *s) {
    autofree struct turn *turns = xcalloc(s->count + 1, sizeof *turns);
    long wanted[4] = {0};
    size_t count = 0;
    count_wanted(s, wanted);
    for (size_t i = 0; i < s->count; i++) {
        if (s->tests[i].split == SPLIT_NONE) {
            turns[count].test = i;
            const char *lesson = s->tests[i].lesson;
            hash_bytes_hex(lesson, strlen(lesson), turns[count++].digest);
        }
    }
    qsort(turns, count, sizeof *turns, by_digest);
    for (size_t i = 0; i < count; i++) {
        struct test_case *test = &s->tests[turns[i].test];
        test->split = split_for(s, test, wanted);
        wanted[test->split]--;
        json_object_set_new(loose(test->json), "split",
                            json_string(test_split_name(test->split)));
    }
}

/* --- what a student is asked --- */

/* A fence longer than any run of backticks in the text. */
static size_t fence_for(const char *text) {
    size_t longest = 2, run = 0;
    for (const char *c = text; *c; c++) {
        run = *c == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

static void add_file(struct buf *out, const char *name, const char *text) {
    size_t fence = fence_for(text), len = strlen(text);
    buf_addf(out, "\n\n`%s`:\n\n", name);
    for (size_t i = 0; i < fence; i++) {
        buf_addc(out, '`');
    }
    buf_addf(out, "\n%s%s", text, len && text[len - 1] != '\n' ? "\n" : "");
    for (size_t i = 0; i < fence; i++) {
        buf_addc(out, '`');
    }
}

char *test_case_prompt(const struct test_case *test) {
    struct buf out = BUF_INIT(MAX_PROMPT);
    buf_adds(&out, test->input);
    json_each_member(test->files, name, text) {
        add_file(&out, name, json_string_value(text));
    }
    return buf_detach(&out);
}

int test_case_write(const struct test_case *test, const struct root *root,
                    struct err *err) {
    json_each_member(test->files, name, text) {
        int rc = root_write(root, name, json_string_value(text), json_string_length(text),
                            0600, err);
        if (rc < 0) {
            return err_wrap(err, "%.200s", name);
        }
    }
    return 0;
}
