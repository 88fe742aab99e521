#include "gpu/draft/draft_run.h"

#include "base/buf.h"
#include "base/words.h"
#include "protocol/finding.h"

static bool is_large(const char *text) {
    size_t digits = strspn(text, "0123456789");
    return digits && !text[digits] && strtoull(text, NULL, 10) > DRAFT_RUN_MOST;
}

json_t *draft_run_smaller(const json_t *args, unsigned count) {
    json_t *ret = json_array();
    size_t given = json_array_size(args);
    bool any = false;
    for (size_t i = 0; i < given || i < count; i++) {
        const char *text = json_string_value(json_array_get(args, i));
        bool replaced = i >= given || (text && is_large(text));
        any |= replaced;
        json_array_append_new(ret, replaced ? json_sprintf("%d", DRAFT_RUN_MOST)
                                            : json_string(text ? text : ""));
    }
    if (!any) {
        json_decref(ret);
        return NULL;
    }
    return ret;
}

bool draft_run_starved(const json_t *answer) {
    const json_t *record = json_object_get(answer, "record");
    const char *code = json_get_string(json_object_get(answer, "error"), "code", "");
    bool ended = !strcmp(code, "wall_time") || !strcmp(code, "memory") ||
                 !strcmp(code, "killed");
    return ended && !json_object_get(record, "us");
}

/* What the linker did not find, for programs are linked without; NULL: nothing. */
static const char *missing_function(const json_t *answer) {
    const json_t *first = json_array_get(json_object_get(answer, "unsupported"), 0);
    const char *name = json_get_string(first, "function", NULL);
    json_each(json_object_get(answer, "diagnostics"), i, one) {
        if (!name && json_says(one, "code", "undefined")) {
            name = json_get_string(one, "message", NULL);
        }
    }
    return name;
}

#define PLACE "[{file~200}:{line}{?line}: ]"
static const char error_words[] =
    "[{?kernel}when the program ran, its kernel {kernel~100} had an error, " PLACE
    "[{message~160}]|the program has errors of its own up to there, " PLACE
    "[{message~160}]: does it have its files and arguments?]";

bool draft_run_error(const json_t *answer, struct buf *out) {
    const json_t *found = findings_first_error(json_object_get(answer, "findings"));
    words_add(out, found ? error_words : "", found);
    return found != NULL;
}

static const char failure_words[] =
    "[{?error=*}{error.message|it failed}[: {error.hint}][: {first.message~200}]"
    "|it ended without launching {kernel}[: {said~100}]"
    "[; it may have called a missing function: {missing~100}|; {wrong}]]";

void draft_run_failure(const json_t *answer, const char *kernel, struct buf *out) {
    const char *said = json_get_string(answer, "stderr", "");
    said = *said ? said : json_get_string(answer, "stdout", "");
    autobuf wrong = BUF_INIT(1024);
    draft_run_error(answer, &wrong);
    autojson *told = json_pack(
        "{s:O*,s:O*,s:s,s:o,s:s*,s:o}", "error", json_object_get(answer, "error"), "first",
        json_array_get(json_object_get(answer, "diagnostics"), 0), "kernel", kernel, "said",
        json_text(said, strcspn(said, "\n")), "missing", missing_function(answer), "wrong",
        json_text(wrong.data, wrong.len));
    words_add(out, failure_words, told);
}

const char *draft_run_idle(const json_t *answer) {
    json_each(json_object_get(answer, "unsupported"), i, one) {
        const char *name = json_get_string(one, "function", "");
        if (!strncmp(name, "cublas", 6)) {
            return name;
        }
    }
    return NULL;
}

bool draft_run_wanted(const json_t *unknown) {
    json_each(unknown, i, one) {
        const char *member = json_get_string(one, "member", "");
        const char *dot = strrchr(member, '.');
        bool shrunk = !strncmp(member, "sizes.", 6) &&
                      !strstr(json_get_string(one, "why", ""), "is an example");
        if (strcmp(member, "expect") != 0 && !(dot && !strcmp(dot, ".output")) &&
            !shrunk) {
            return true;
        }
    }
    return false;
}

void draft_run_words(const json_t *args, struct buf *out) {
    json_each(args, i, arg) {
        buf_addf(out, " %s", json_string_value(arg));
    }
}

json_t *draft_run_comment(const json_t *args, const char *kernel) {
    autobuf text = BUF_INIT(1000);
    buf_addf(&text, "recorded from the first launch of %.200s when the program ran",
             kernel);
    buf_adds(&text, json_array_size(args) ? " with the arguments" : "");
    draft_run_words(args, &text);
    return json_clean(text.data, text.len);
}
