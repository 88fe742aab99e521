/* program_hint: the next step where a program failed and nothing was found in it. */
#include "base/buf.h"
#include "base/text.h"
#include "base/words.h"
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

#define CALL "{call.function~80}[ ({call.file~200}:{call.line|0})]"
static const char hint_words[] =
    "[{?call}{!checked}begin with the failed call " CALL ": what follows may come of it"
    "|{!exit_status=0}no check says why: the program itself ended "
    "[with status {exit_status}|by {signal|a signal}][, after printing \"{said}\"]"
    "[{!launches}, and launched no kernel[{!args}; if it wants arguments, give them as `args`]"
    "|{?races_left}; races were not looked for (`checks` all)]"
    "[{?skipped_launches.launches}; some launches were skipped (`run_all_launches` executes "
    "all)]"
    "[; it had checked a call that failed, which may be why: {?call}" CALL "]"
    "|only `strict` makes this fail: see the warnings and leaks]";

void program_set_hint(json_t *result, const json_t *params) {
    bool checked = false;
    const json_t *call = call_to_tell(result, &checked);
    bool late = json_says(result, "verdict", "timeout") && call && !checked;
    if ((!json_says(result, "verdict", "fail") && !late) ||
        findings_count(json_object_get(result, "findings"), FINDING_ERROR)) {
        return;
    }
    autobuf out = BUF_INIT(MAX_HINT);
    autofree char *error = last_line(json_get_string(result, "stderr", ""));
    autofree char *said = last_line(json_get_string(result, "stdout", ""));
    bool races_left = strstr(json_get_string(result, "note", ""), "races") != NULL;
    autojson *told = json_copy(result);
    autojson *more = json_pack("{s:o,s:b,s:b,s:O*,s:O*}", "said",
                               json_clean_z(*error ? error : said), "checked", checked,
                               "races_left", races_left, "call", call, "args",
                               json_object_get(params, "args"));
    json_object_update(told, more);
    words_add(&out, hint_words, told);
    json_object_set_new(result, "hint", json_clean(out.data, out.len));
}
