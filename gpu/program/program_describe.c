/* program_describe: kernel/run's result in the words of compute-sanitizer's reports, for
 * models and for the lens of an editor. */
#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "base/words.h"
#include "gpu/program/kernel_run.h"
#include "protocol/finding.h"

enum { MAX_TEXT = 6000 };

/* It did not run where it has no launches. */
static const char summary_words[] =
    "{verdict|?}[: {error.message~160}|: ended by {signal~20}|: exit status {exit_status}]"
    "[, {launched} launch[{!launched=1}es]{?launched}]"
    "[, {errors} error[{!errors=1}s]{?errors}{!launches=*}]"
    "[, {found} finding[{!found=1}s]{?found}][, {warned} warning[{!warned=1}s]{?warned}]"
    "[, {api_errors-0} failed call[{!api_errors=1}s]][, {leaks-0} leak[{!leaks=1}s]]"
    "[; {note~200}]";

void program_set_summary(json_t *result) {
    const json_t *findings = json_object_get(result, "findings");
    json_int_t launched = json_total(json_int_t, json_object_get(result, "launches"),
                                   launch, json_get_integer(launch, "times", 1));
    autobuf out = BUF_INIT(1024);
    autojson *told = json_copy(result);
    autojson *counts = json_pack(
        "{s:I,s:I,s:I,s:I}", "launched", launched, "errors",
        (json_int_t)findings_count(json_object_get(result, "diagnostics"), FINDING_ERROR),
        "found", (json_int_t)findings_count(findings, FINDING_ERROR), "warned",
        (json_int_t)findings_count(findings, FINDING_WARNING));
    json_object_update(told, counts);
    words_add(&out, summary_words, told);
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
    "{leaks<8:not freed at the end: {bytes|0} bytes of {kind|device} memory"
    "[{?count>1} in {count} allocations]" PLACE "\n}"
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
