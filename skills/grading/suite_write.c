/* suite_write: tests in the words of other programs, and of a student. */
#include "base/buf.h"
#include "skills/grading/suite.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MAX_PROMPT ((SUITE_MAX_FILES + 1) * (SUITE_MAX_TEXT + 4096u))
#define MAX_SENTENCE (128u << 10)

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
    const char *name;
    json_t *text;
    buf_adds(&out, test->input);
    json_object_foreach((json_t *)(uintptr_t)test->files, name, text) {
        add_file(&out, name, json_string_value(text));
    }
    return buf_detach(&out);
}

/* --- upskill --- */

static json_t *upskill_case(const struct test_case *test) {
    json_t *contains = json_object_get(test->expected, "contains");
    json_t *one = json_pack("{s:s,s:{s:O}}", "input", test->input, "expected", "contains",
                            contains);
    if (test->files) {
        json_object_set_new(one, "context", json_pack("{s:O}", "files", test->files));
    }
    return one;
}

json_t *suite_to_upskill(const struct suite *s) {
    json_t *cases = json_array();
    for (size_t i = 0; i < s->count; i++) {
        if (json_object_get(s->tests[i].expected, "contains")) {
            json_array_append_new(cases, upskill_case(&s->tests[i]));
        }
    }
    return json_pack("{s:o}", "cases", cases);
}

/* --- skill-creator: checks as sentences --- */

static const struct {
    const char *check;
    const char *sentence; /* %s: the item or value */
} sentences[] = {
    {"contains", "The answer contains \"%s\" (in any case)"},
    {"not_contains", "The answer does not contain \"%s\" (in any case)"},
    {"regex", "The answer matches the regular expression %s"},
    {"not_regex", "Nothing in the answer matches the regular expression %s"},
    {"json_schema", "The answer is JSON that fits the schema %s"},
    {"equals", "The answer is %s"},
    {"build_toml", "The answer's build.toml is valid for kernel-builder: %s"},
    {"kernel_project",
     "The answer's build.toml is valid and the files that it names are there: %s"},
    {"kernel_compiles", "The answer's CUDA code compiles: %s"},
    {"kernel_passes", "The answer's CUDA kernel compiles and is right: %s"},
    {"criteria", "%s"},
};

static void add_sentence(json_t *list, const char *form, const json_t *item) {
    const json_t *pattern = json_object_get(item, "pattern");
    const json_t *said = json_string_length(pattern) ? pattern : item;
    autofree char *dumped =
        json_is_string(said)
            ? xstrdup(json_string_value(said))
            : json_dumps(said, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
    autobuf text = BUF_INIT(MAX_SENTENCE);
    size_t before = (size_t)(strstr(form, "%s") - form);
    buf_add(&text, form, before);
    buf_adds(&text, dumped ? dumped : "");
    buf_adds(&text, form + before + 2);
    const char *flags = json_get_string(item, "flags", "");
    if (flags[0]) {
        buf_addf(&text, " (flags %s)", flags);
    }
    json_array_append_new(list, json_text(text.data, text.len));
}

static const char *form_of(const char *check) {
    for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
        if (strcmp(sentences[i].check, check) == 0) {
            return sentences[i].sentence;
        }
    }
    return "%s";
}

static json_t *expectations_of(const json_t *expected) {
    json_t *list = json_array();
    const char *check;
    json_t *value, *item;
    json_object_foreach((json_t *)(uintptr_t)expected, check, value) {
        json_t *criteria = json_object_get(value, "criteria");
        bool judged = strcmp(check, "judge") == 0 && criteria;
        json_t *items = judged ? criteria : value;
        const char *form = form_of(judged ? "criteria" : check);
        size_t i;
        if (json_is_array(items)) {
            json_array_foreach(items, i, item) {
                add_sentence(list, form, item);
            }
        } else {
            add_sentence(list, form, items);
        }
    }
    return list;
}

json_t *suite_to_evals(const struct suite *s, const char *skill_name) {
    json_t *evals = json_array();
    for (size_t i = 0; i < s->count; i++) {
        const struct test_case *test = &s->tests[i];
        const char *output = json_get_string(test->json, "expected_output",
                                             "An answer that meets every expectation.");
        autofree char *prompt = test_case_prompt(test);
        json_array_append_new(evals, json_pack("{s:I,s:s,s:s,s:s,s:[],s:o}", "id",
                                               (json_int_t)(i + 1), "eval_name", test->id,
                                               "prompt", prompt, "expected_output",
                                               output, "files", "expectations",
                                               expectations_of(test->expected)));
    }
    return json_pack("{s:s,s:o}", "skill_name", skill_name, "evals", evals);
}
