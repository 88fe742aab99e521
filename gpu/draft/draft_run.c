#include "gpu/draft/draft_run.h"

#include "base/buf.h"

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
        if (!name && !strcmp(json_get_string(one, "code", ""), "undefined")) {
            name = json_get_string(one, "message", NULL);
        }
    }
    return name;
}

/* "csr.cu:5: ": where a finding is; nothing of one without a place. */
static void add_place(const json_t *finding, struct buf *out) {
    const char *file = json_get_string(finding, "file", NULL);
    json_int_t line = json_get_integer(finding, "line", 0);
    if (file && line) {
        buf_addf(out, "%.200s:%lld: ", file, line);
    }
}

bool draft_run_error(const json_t *answer, struct buf *out) {
    const json_t *found = NULL;
    json_each(json_object_get(answer, "findings"), i, one) {
        bool error = !strcmp(json_get_string(one, "severity", ""), "error");
        found = error && !found ? one : found;
    }
    const char *kernel = json_get_string(found, "kernel", NULL);
    const char *message = json_get_string(found, "message", "");
    if (kernel) {
        buf_addf(out, "when the program ran, its kernel %.100s had an error, ", kernel);
        add_place(found, out);
        buf_addf(out, "%.160s", message);
    } else if (found) {
        buf_adds(out, "the program has errors of its own up to there, ");
        add_place(found, out);
        buf_addf(out, "%.160s: does it have its files and arguments?", message);
    }
    return found != NULL;
}

void draft_run_failure(const json_t *answer, const char *kernel, struct buf *out) {
    const json_t *error = json_object_get(answer, "error");
    const char *hint = json_get_string(error, "hint", NULL);
    const json_t *first = json_array_get(json_object_get(answer, "diagnostics"), 0);
    if (error) {
        buf_addf(out, "%s%s%s", json_get_string(error, "message", "it failed"),
                 hint ? ": " : "", hint ? hint : "");
        buf_addf(out, "%s%.200s", first ? ": " : "",
                 json_get_string(first, "message", ""));
    } else {
        const char *said = json_get_string(answer, "stderr", "");
        said = *said ? said : json_get_string(answer, "stdout", "");
        int line = (int)strcspn(said, "\n");
        const char *missing = missing_function(answer);
        buf_addf(out, "it ended without launching %s%s%.*s", kernel,
                 line ? ": " : "", line < 100 ? line : 100, said);
        autobuf wrong = BUF_INIT(1024);
        if (!missing && draft_run_error(answer, &wrong)) {
            buf_addf(out, "; %s", wrong.data);
        }
        buf_addf(out, "%s%.100s",
                 missing ? "; it may have called a missing function: " : "",
                 missing ? missing : "");
    }
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
