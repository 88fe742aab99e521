/* program_describe: kernel/run's result in the words of compute-sanitizer's reports, for
 * models and for the lens of an editor. */
#include "base/buf.h"
#include "base/text.h"
#include "base/words.h"
#include "gpu/program/kernel_run.h"
#include "protocol/finding.h"

enum { MAX_TEXT = 6000, MAX_WHY = 160 };

static size_t count_of(const json_t *result, const char *name) {
    return json_array_size(json_object_get(result, name));
}

static json_int_t launches_of(const json_t *result) {
    json_int_t sum = 0;
    json_each(json_object_get(result, "launches"), i, launch) {
        sum += json_get_integer(launch, "times", 1);
    }
    return sum;
}

static void add_count(struct buf *out, size_t count, const char *word) {
    if (count) {
        buf_addf(out, ", %zu %s%s", count, word, count == 1 ? "" : "s");
    }
}

void program_set_summary(json_t *result) {
    autobuf out = BUF_INIT(1024);
    const char *signal = json_get_string(result, "signal", NULL);
    const json_t *status = json_object_get(result, "exit_status");
    const char *why = json_get_string(json_object_get(result, "error"), "message", NULL);
    buf_adds(&out, json_get_string(result, "verdict", "?"));
    if (why) {
        size_t len = strlen(why), cut = text_cut(why, len, MAX_WHY);
        buf_addf(&out, ": %.*s%s", (int)cut, why, cut < len ? "…" : "");
    } else if (signal) {
        buf_addf(&out, ": ended by %.20s", signal);
    } else if (json_is_integer(status)) {
        buf_addf(&out, ": exit status %lld", (long long)json_integer_value(status));
    }
    json_int_t launches = launches_of(result);
    if (launches) {
        buf_addf(&out, ", %lld launch%s", (long long)launches, launches == 1 ? "" : "es");
    }
    const json_t *findings = json_object_get(result, "findings");
    if (!json_object_get(result, "launches")) { /* it did not run */
        add_count(&out,
                  findings_count(json_object_get(result, "diagnostics"), FINDING_ERROR),
                  "error");
    }
    add_count(&out, findings_count(findings, FINDING_ERROR), "finding");
    add_count(&out, findings_count(findings, FINDING_WARNING), "warning");
    add_count(&out, count_of(result, "api_errors"), "failed call");
    add_count(&out, count_of(result, "leaks"), "leak");
    const char *note = json_get_string(result, "note", NULL);
    if (note) {
        buf_addf(&out, "; %.200s", note);
    }
    json_object_set_new(result, "summary", json_clean(out.data, out.len));
}

#define PLACE "[ ({file~200}:{line|0})]"
#define TIMES "[{?count>1}, {count} times]"
#define FINDING                                                                          \
    "[{file~200}:[{?line}{line}:] ]{severity|error}: {message~700} \\[{code|?}\\]" TIMES \
    "\n{related<8:  {message~200}" PLACE "\n}"

static const char result_words[] =
    "{summary|?}\n"
    "[{?error}{error.stage|}: {error.message|}\n]"
    "[hint: {error.hint}\n]"
    "{unsupported<32:  [{function}|{what}|?]" PLACE "\n}"
    "[hint: {hint}\n]"
    "{findings<20:" FINDING "}[and {findings-20} more findings\n]"
    "[{?launches=*}|{diagnostics<20:" FINDING "}[and {diagnostics-20} more findings\n]]"
    "{api_errors<8:{function|?} failed with {error|?}"
    "[{?looked_at}|{?looked_at=false} and the program did not check"
    "| (whether the program checked is not known)]" TIMES PLACE "[: {message~300}]\n"
    "[{?later}  and so did {later} later calls\n]}"
    "{leaks<8:not freed at the end: {bytes|0} bytes of {kind|device} memory" TIMES PLACE
    "\n}"
    "{launches<8:launched {kernel|?}<<<{grid/,/:{.}} / {block/,/:{.}}>>> {times|1} "
    "times" PLACE "\n}"
    "[{?skipped_launches.launches}{skipped_launches.launches} of these were skipped, "
    "because their outcome was known (run_all_launches runs them)\n]"
    "[stdout:\n{stdout~1500!}][stderr:\n{stderr~1500!}]"
    "{files<8:wrote {name|?}, {bytes|0} bytes\n}"
    "[{?saved}{saved.files|0} file[{!saved.files=1}s] in {saved.dir|?}\n]"
    "[not all was saved: {saved.error}\n]";

void program_describe(const json_t *result, struct buf *out) {
    autobuf text = BUF_INIT((size_t)4 * MAX_TEXT);
    words_add(&text, result_words, result);
    buf_add(out, text.data, text_cut(text.data, text.len, MAX_TEXT));
}
