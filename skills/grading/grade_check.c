#include "skills/grading/grade_check.h"

#include "base/buf.h"
#include "base/text.h"
#include "protocol/finding.h"

#define MAX_EVIDENCE 300

void answer_init(struct answer *a, const char *text, size_t len) {
    autobuf repaired = BUF_INIT(3 * (size_t)GRADE_MAX_ANSWER + 16);
    text_repair(&repaired, text, len);
    *a = (struct answer){.len = repaired.len};
    a->text = repaired.len ? buf_detach(&repaired) : xstrdup("");
}

void answer_finish(struct answer *a) {
    if (a->code_read) {
        answer_code_finish(&a->code);
    }
    free(a->text);
    *a = (struct answer){0};
}

static void add_written(struct answer *a) {
    json_each_member(a->written, path, text) {
        const json_t *before = json_object_get(a->given, path);
        if (json_is_string(text) &&
            !(before && json_equal(text, (json_t *)(uintptr_t)before))) {
            answer_code_add(&a->code, path, json_string_value(text));
        }
    }
}

const struct answer_code *answer_code_of(struct answer *a) {
    if (!a->code_read) {
        answer_code_read(&a->code, a->text, a->len);
        add_written(a);
        a->code_read = true;
    }
    return &a->code;
}

bool answer_file(struct answer *a, const char *path, const char **ret) {
    const json_t *file = json_object_get(a->written, path);
    *ret =
        a->written ? json_string_value(file) : answer_code_file(answer_code_of(a), path);
    return a->written ? file != NULL : *ret != NULL;
}

json_t *evidence(const char *text, size_t len) {
    autobuf out = BUF_INIT(4 * MAX_EVIDENCE + 64);
    size_t kept = text_cut(text, len, MAX_EVIDENCE);
    text_clean(&out, text, kept);
    if (kept < len) {
        buf_adds(&out, "\xE2\x80\xA6");
    }
    return json_text(out.data, out.len);
}

json_t *evidence_of_findings(const json_t *findings) {
    const json_t *error = findings_first_error(findings);
    if (error) {
        autofree char *text =
            xasprintf("%s:%lld: %s", json_get_string(error, "file", "code"),
                      (long long)json_get_integer(error, "line", 0),
                      json_get_string(error, "message", ""));
        return evidence(text, strlen(text));
    }
    return NULL;
}

void assertions_finish(struct assertions *a) {
    json_decref(a->list);
    free(a->why);
    *a = (struct assertions){0};
}

/* Long texts and lists of what was expected are cut too. Steals. */
static json_t *shortened(json_t *value) {
    if (json_is_string(value)) {
        json_t *cut = evidence(json_string_value(value), json_string_length(value));
        json_decref(value);
        return cut;
    }
    autofree char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text && strlen(text) > 2 * (size_t)MAX_EVIDENCE) {
        json_decref(value);
        return evidence(text, strlen(text));
    }
    return value;
}

static void add(struct assertions *a, const char *check, json_t *passed,
                const json_t *expected, json_t *found, const char *message) {
    json_t *one = json_pack("{s:s,s:o,s:o}", "check", check, "passed", passed, "expected",
                            shortened(json_incref((json_t *)(uintptr_t)expected)));
    if (found) {
        json_object_set_new(one, "found", shortened(found));
    }
    json_object_set_new(one, "message", evidence(message, strlen(message)));
    a->list = a->list ? a->list : json_array();
    json_array_append_new(a->list, one);
    a->total++;
}

void assertion_add(struct assertions *a, const char *check, enum grade_outcome outcome,
                   const json_t *expected, json_t *found, const char *fmt, ...) {
    char message[600];
    text_format(message, fmt);
    add(a, check,
        outcome == GRADE_ERRORED ? json_null() : json_boolean(outcome == GRADE_PASSED),
        expected, found, message);
    a->passed += outcome == GRADE_PASSED;
    a->failed |= outcome == GRADE_FAILED;
    if (outcome == GRADE_ERRORED && !a->why) {
        autobuf why = BUF_INIT(4096);
        text_clean(&why, message, strlen(message));
        a->why = xstrdup(why.data);
    }
}

void assertion_skip(struct assertions *a, const char *check, const json_t *expected,
                    const char *why) {
    add(a, check, json_null(), expected, NULL, why);
}
