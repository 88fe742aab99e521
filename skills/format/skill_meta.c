/* Tests and context beside a SKILL.md: skill_meta.json and evals/. */
#include "base/buf.h"
#include "base/err.h"
#include "skills/format/skill.h"

#define META_MAX (8u << 20)
#define CONTEXT_MAX (256u << 10) /* of one context file */
#define MAX_TESTS 1000
#define META_FILE "skill_meta.json"
#define EVALS_FOLDER "evals/"
#define EVALS_FILE EVALS_FOLDER "evals.json"

static void add_problem(json_t *meta, const char *file, const char *message) {
    json_t *list = json_object_get(meta, "problems");
    if (!list) {
        list = json_array();
        json_object_set_new(meta, "problems", list);
    }
    json_array_append_new(
        list, json_pack("{s:s, s:o}", "file", file, "message", json_clean_z(message)));
}

/* NULL without the file, or with a problem noted when it is not a JSON object. */
static json_t *read_json(const struct skill *s, const char *path, json_t *meta) {
    if (!skill_find_file(s, path)) {
        return NULL;
    }
    autobuf text = BUF_INIT(META_MAX);
    struct err err = {0};
    if (skill_read_file(s->folder, path, &text, &err) < 0) {
        add_problem(meta, path, err.msg);
        return NULL;
    }
    autojson *value = json_parse(text.data, text.len, &err);
    if (!json_is_object(value)) {
        add_problem(meta, path, value ? "not a JSON object" : err.msg);
        return NULL;
    }
    return take(value);
}

/* A string or a list of strings becomes a list; anything else is dropped. */
static json_t *string_list(const json_t *value) {
    json_t *list = json_array();
    if (json_is_string(value)) {
        json_array_append(list, (json_t *)(uintptr_t)value);
    }
    json_each(value, i, item) {
        if (json_is_string(item)) {
            json_array_append(list, item);
        }
    }
    return list;
}

/* upskill takes {"contains": "text"}, {"contains": ["text"]} and, in older files, the
 * text or list itself. */
static json_t *expected_of(const json_t *value) {
    if (!json_is_object(value)) {
        return json_pack("{s:o}", "contains", string_list(value));
    }
    json_t *expected = json_copy((json_t *)(uintptr_t)value);
    if (json_object_get(expected, "contains")) {
        json_object_set_new(expected, "contains",
                            string_list(json_object_get(value, "contains")));
    }
    return expected;
}

static void name_test(json_t *test, const json_t *id, const char *prefix, size_t i) {
    char text[64];
    if (json_is_string(id)) {
        json_object_set(test, "id", (json_t *)(uintptr_t)id);
        return;
    }
    long long number = json_is_integer(id) ? json_integer_value(id) : (long long)i + 1;
    snprintf(text, sizeof text, "%s-%lld", prefix, number);
    json_object_set_new(test, "id", json_string(text));
}

/* --- upskill --- */

static void add_test(json_t *tests, const json_t *given, size_t i) {
    autojson *test = json_copy((json_t *)(uintptr_t)given);
    name_test(test, json_object_get(given, "id"), "test", i);
    json_object_set_new(test, "expected",
                        expected_of(json_object_get(given, "expected")));
    json_t *context = json_object_get(given, "context");
    json_t *files = json_object_get(context, "files");
    if (json_is_object(files) && !json_object_get(test, "files")) {
        json_object_set(test, "files", files);
    }
    if (json_object_get(test, "context")) {
        json_object_del(test, "context");
    }
    json_array_append(tests, test);
}

static void read_upskill(const struct skill *s, json_t *meta, json_t *tests) {
    static const char *const kept[] = {"metadata", "evaluations", "provenance"};
    autojson *file = read_json(s, META_FILE, meta);
    for (size_t i = 0; file && i < ARRAY_LEN(kept); i++) {
        json_t *value = json_object_get(file, kept[i]);
        if (value && !json_is_null(value)) {
            json_object_set(meta, kept[i], value);
        }
    }
    json_each(json_object_get(file, "tests"), i, test) {
        if (!json_is_string(json_object_get(test, "input"))) {
            add_problem(meta, META_FILE, "a test has no \"input\"");
        } else if (json_array_size(tests) < MAX_TESTS) {
            add_test(tests, test, i);
        }
    }
}

/* --- skill-creator --- */

/* Paths are relative to the skill; what cannot be read is a problem. */
static json_t *context_files(const struct skill *s, const json_t *paths, json_t *meta) {
    json_t *files = json_object();
    json_each(paths, i, path) {
        autobuf text = BUF_INIT(CONTEXT_MAX);
        struct err err = {0};
        const char *name = json_string_value(path);
        if (name && skill_read_file(s->folder, name, &text, &err) == 0) {
            json_object_set_new(files, name, json_text(text.data, text.len));
        } else if (name) {
            add_problem(meta, EVALS_FILE, err.msg);
        }
    }
    return files;
}

/* The documents of the format say assertions, its tools write expectations; the entries
 * are texts, or objects with a text. */
static json_t *criteria_of(const json_t *eval) {
    json_t *given = json_object_get(eval, "assertions");
    given = given ? given : json_object_get(eval, "expectations");
    json_t *list = json_array();
    json_each(given, i, item) {
        json_t *text = json_is_object(item) ? json_object_get(item, "text") : item;
        if (json_is_string(text)) {
            json_array_append(list, text);
        }
    }
    return list;
}

static void add_eval(const struct skill *s, json_t *meta, json_t *tests,
                     const json_t *eval, size_t i) {
    json_t *prompt = json_object_get(eval, "prompt");
    if (!json_is_string(prompt)) {
        add_problem(meta, EVALS_FILE, "an entry of \"evals\" has no \"prompt\"");
        return;
    }
    json_t *expected = json_object();
    autojson *criteria = criteria_of(eval);
    if (json_array_size(criteria)) {
        json_object_set(expected, "judge", criteria);
    }
    json_t *output = json_object_get(eval, "expected_output");
    if (json_is_string(output)) {
        json_object_set(expected, "expected_output", output);
    }
    autojson *test = json_pack("{s:O, s:o}", "input", prompt, "expected", expected);
    name_test(test, json_object_get(eval, "id"), "eval", i);
    autojson *files = context_files(s, json_object_get(eval, "files"), meta);
    if (json_object_size(files)) {
        json_object_set(test, "files", files);
    }
    json_array_append(tests, test);
}

static void read_evals(const struct skill *s, json_t *meta, json_t *tests) {
    autojson *file = read_json(s, EVALS_FILE, meta);
    json_each(json_object_get(file, "evals"), i, eval) {
        if (json_array_size(tests) < MAX_TESTS) {
            add_eval(s, meta, tests, eval, i);
        }
    }
}

json_t *skill_meta_read(const struct skill *s) {
    json_t *meta = json_object();
    autojson *tests = json_array();
    read_upskill(s, meta, tests);
    read_evals(s, meta, tests);
    if (json_array_size(tests) || skill_find_file(s, META_FILE) ||
        skill_find_file(s, EVALS_FILE)) {
        json_object_set(meta, "tests", tests);
    }
    return meta;
}

json_t *skill_meta_tests(const struct skill *s) {
    json_t *meta = json_object();
    json_t *tests = json_array();
    read_upskill(s, meta, tests);
    if (json_array_size(tests) == 0) {
        read_evals(s, meta, tests);
    }
    json_object_set_new(meta, "tests", tests);
    return meta;
}

bool skill_holds_tests(const char *path) {
    return strcmp(path, META_FILE) == 0 ||
           strncmp(path, EVALS_FOLDER, strlen(EVALS_FOLDER)) == 0;
}

void skill_hide_tests(struct skill *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->file_count; i++) {
        struct skill_file *f = &s->files[i];
        if (skill_holds_tests(f->path)) {
            s->bytes -= f->size;
            free(f->path);
        } else {
            s->files[kept++] = *f;
        }
    }
    s->file_count = kept;
}
