/* program_hint: the next step where a program failed and nothing was found in it. */
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "gpu/program/kernel_run.h"
#include "protocol/finding.h"

enum { MAX_LINE = 120, MAX_HINT = 1024 };

/* The last line of a text that is not empty. */
static char *last_line(const char *text) {
    size_t end = strlen(text);
    while (end && strchr(" \t\r\n", text[end - 1])) {
        end--;
    }
    size_t begin = end;
    while (begin && text[begin - 1] != '\n') {
        begin--;
    }
    return xstrndup(text + begin, text_cut(text + begin, end - begin, MAX_LINE));
}

/* "The program itself ended with status 1, after printing \"FAILED\"" */
static void tell_end(const json_t *result, struct buf *out) {
    const json_t *status = json_object_get(result, "exit_status");
    autofree char *error = last_line(json_get_string(result, "stderr", ""));
    autofree char *said = last_line(json_get_string(result, "stdout", ""));
    const char *line = *error ? error : said;
    buf_adds(out, "no check says why: the program itself ended");
    if (json_is_integer(status)) {
        buf_addf(out, " with status %lld", (long long)json_integer_value(status));
    } else {
        buf_addf(out, " by %.20s", json_get_string(result, "signal", "a signal"));
    }
    if (*line) {
        buf_addf(out, ", after printing \"%s\"", line);
    }
}

static void tell_choices(const json_t *result, const json_t *params, struct buf *out) {
    bool launched = json_array_size(json_object_get(result, "launches"));
    const json_t *skipped = json_object_get(result, "skipped_launches");
    bool races = !strstr(json_get_string(result, "note", ""), "races");
    if (!launched) {
        buf_adds(out, ", and launched no kernel");
    }
    if (!launched && !json_array_size(json_object_get(params, "args"))) {
        buf_adds(out, "; if it wants arguments, give them as `args`");
    }
    if (launched && !races) {
        buf_adds(out, "; races were not looked for (`checks` all)");
    }
    if (json_get_integer(skipped, "launches", 0)) {
        buf_adds(out, "; some launches were skipped (`run_all_launches` executes all)");
    }
}

/* The first failed call that the program did not check, or else of those that it did the
 * last, on which it may have ended. */
static const json_t *call_to_tell(const json_t *result, bool *ret_checked) {
    const json_t *calls = json_object_get(result, "api_errors"), *last = NULL;
    json_each(calls, i, call) {
        *ret_checked = json_is_true(json_object_get(call, "looked_at"));
        last = call;
        if (!*ret_checked) {
            break;
        }
    }
    return last;
}

static void tell_call(const json_t *call, struct buf *out) {
    const char *file = json_get_string(call, "file", NULL);
    buf_addf(out, "%.80s", json_get_string(call, "function", "?"));
    if (file) {
        buf_addf(out, " (%.200s:%lld)", file,
                 (long long)json_get_integer(call, "line", 0));
    }
}

void program_set_hint(json_t *result, const json_t *params) {
    autobuf out = BUF_INIT(MAX_HINT);
    bool checked = false;
    const json_t *call = call_to_tell(result, &checked);
    bool late = json_says(result, "verdict", "timeout") && call && !checked;
    if ((!json_says(result, "verdict", "fail") && !late) ||
        findings_count(json_object_get(result, "findings"), FINDING_ERROR)) {
        return;
    }
    if (call && !checked) {
        buf_adds(&out, "begin with the failed call ");
        tell_call(call, &out);
        buf_adds(&out, ": what follows may come of it");
    } else if (json_get_integer(result, "exit_status", 1) != 0) {
        tell_end(result, &out);
        tell_choices(result, params, &out);
        if (call) {
            buf_adds(&out, "; it had checked a call that failed, which may be why: ");
            tell_call(call, &out);
        }
    } else {
        buf_adds(&out, "only `strict` makes this fail: see the warnings and leaks");
    }
    json_object_set_new(result, "hint", json_clean(out.data, out.len));
}
