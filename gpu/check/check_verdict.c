#include "gpu/check/check_verdict.h"

#include "base/buf.h"
#include "base/words.h"
#include "protocol/finding.h"

static bool is_outcome(const json_t *result, const char *outcome) {
    return json_says(result, "outcome", outcome);
}

/* If nothing was compiled, uncompiled_tell has written the sentence. Of relocatable code
 * without a kernel the functions are told. */
static const char summary_words[] =
    "[{?failed}not ok: {found}|{?stopped}not ok: {found} (strict makes warnings fail)"
    "|{?outcome}{summary}"
    "|{?outcome}no verdict: the compiler ended with \"{outcome}\""
    "|[{?host_code=*}device code ok: |ok: ]"
    "[{kernels-0} kernel[{!kernels=1}s]|{functions} device function[{!functions=1}s]"
    "{?functions}|0 kernels][, {found}|{found_more}]"
    "[{?quick}; quick: registers and occupancy are those of unoptimized code]]"
    "[{!ended}{!failed}; {uncompiled-0} template[{?uncompiled=1} was|s were] not compiled: "
    "nothing instantiates [{?uncompiled=1}it|them]]"
    "[{!ended}{?host_code=*}; host code not checked]";

/* "2 errors and a warning, 3 more not shown" */
static char *findings_in_words(const json_t *result) {
    autobuf out = BUF_INIT(4096);
    findings_tell(json_object_get(result, "diagnostics"), &out);
    words_add(&out, "[, {omitted} more not shown{?omitted}]", result);
    return buf_detach(&out);
}

static char *summary_of(const json_t *result, bool failed, bool stopped, bool quick) {
    autobuf out = BUF_INIT(8192);
    autofree char *found = findings_in_words(result);
    bool any = json_array_size(json_object_get(result, "diagnostics"));
    bool ended = !failed && !stopped && json_object_get(result, "outcome") &&
                 !*json_get_string(result, "summary", "");
    autojson *told = json_copy((json_t *)(uintptr_t)result);
    autojson *more = json_pack("{s:b,s:b,s:b,s:b,s:o}", "failed", failed, "stopped", stopped,
                               "quick", quick, "ended", ended, any ? "found" : "found_more",
                               json_clean_z(found));
    json_object_update(told, more);
    words_add(&out, summary_words, told);
    return buf_detach(&out);
}

void check_verdict_set(json_t *result, bool strict, bool quick) {
    const json_t *findings = json_object_get(result, "diagnostics");
    bool failed = findings_count(findings, FINDING_ERROR) > 0;
    bool good = !json_object_get(result, "outcome") || is_outcome(result, "no_kernels");
    bool stopped = strict && good && !failed && findings_count(findings, FINDING_WARNING);
    bool verdict = good || is_outcome(result, "nothing_compiled");
    autofree char *summary = summary_of(result, failed && verdict, stopped, quick);
    json_object_set_new(result, "summary", json_text(summary, strlen(summary)));
    json_object_set_new(result, "ok", json_boolean(good && !failed && !stopped));
    if (stopped) {
        json_object_set_new(result, "strict", json_true());
    }
}

/* Compiled code may still have errors, of its launch or of an include. */
void check_verdict_explain(const json_t *result, struct buf *out) {
    autojson *told = json_copy((json_t *)(uintptr_t)result);
    const json_t *first = findings_first_error(json_object_get(result, "diagnostics"));
    json_object_set(told, "first", (json_t *)(uintptr_t)first);
    words_add(out,
              "[{?first}[{?kernels}the check found an error: |it does not compile: ]"
              "{first.message~1000}[ ({first.file|line}:{first.line}{?first.line})]"
              "|{summary|it was not compiled}]",
              told);
}
