/* kernel/validate's result in words. */
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "base/words.h"
#include "gpu/check/check_result.h"
#include "gpu/validate/kernel_validate.h"
#include "gpu/validate/validate_verdict.h"

enum { MAX_FINDINGS = 30, MAX_CASES = 16, MAX_FILES = 12 };
#define MAX_TEXT (24u << 10)

#define SIZES "{sizes/ /:{@}={.}}"

/* The end of a pass tells why a large relative error is one. */
static const char case_words[] =
    "{verdict|?}: " SIZES " (trial {trial|0}, seed {seed|?})\n"
    "{outputs:  {name|?}: [{?elements>judged}judged {judged} of {elements}, ]"
    "[{?mismatches}" MISMATCH_WORDS "\n"
    "|{?verdict=unjudged}not judged, because its {elements|0} elements have no expected "
    "values\n"
    "|largest error {max_abs_error|0} absolute, {max_rel_error|0} relative"
    "[{?max_rel_error>tolerance.rtol}, of a small value: each may be off by "
    "{tolerance.allowed}]\n]"
    "{samples:    " ELEMENT_WORDS "\n}}";

/* What is related are calls, and the other side of what takes two: without it a race is
 * half told. */
static const char finding_words[] =
    "[{file~200}:{line|0}: ]{severity|error} \\[{code|}\\]: {message~600}"
    "[ (block {block/,/:{.}}, thread {thread/,/:{.}})][{?count>1}, {count} times]\n"
    "{related<6:[    {file~200}:{line|0}: {message~200}\n]}";

static const char error_words[] = "{summary|?}[ on {backend.device}]\n"
                                  "[{?error}{error.stage|}: {error.message|}\n]"
                                  "[hint: {error.hint}\n]"
                                  "{unsupported:  {opcode|?} at {file|?}:{line|0}\n}";

/* Why it is the CPU where a driver is there, and what was not looked for; how tensor
 * cores added, where that is not as usual; what compute-sanitizer looked at, or why it
 * did not. */
static const char course_words[] =
    "[not on a GPU: {backend.fallback}\n]"
    "[not checked here: {unchecked/, /:{.}}\n]"
    "[{?numerics=ideal}tensor cores: ideal sums, not an H100's\n]"
    "[{?ideal_trial}one trial again with ideal sums: {ideal_trial.verdict|?} "
    "({ideal_trial.ms|0} ms)\n]"
    "[{?unchecked=*}{sanitizer.absent~300}[: {sanitizer.hint~400}]\n]"
    "[compute-sanitizer: {sanitizer.tools/, /:{tool|?} {outcome|?}}\n]";

static const char measured_words[] =
    "[{?counters=*}{counters.instructions|0} warp instructions, "
    "{counters.lane_instructions|0} "
    "of single threads, {counters.global_sectors_per_request|0} sectors per global "
    "request, "
    "{counters.shared_bank_conflicts|0} shared bank conflicts, "
    "{counters.active_lanes_percent|0} % of lanes active\n]"
    "[{?timing}{timing.summary|?} ({timing.samples|0} samples, {timing.cache|?} cache, "
    "{timing.method|?}; [{timing.sizes/ /:{@}={.}}])[{?timing.throttled}; the GPU was "
    "throttled]\n"
    "[  the reference takes {timing.reference_median_us%.4g} us: {timing.speedup%.3g} "
    "times "
    "as long\n]]"
    "{timing.notes:  {.~200}\n}"
    "[{?roofline}at least {roofline.limit_us%.3g} us on an {roofline.device|?}, bound by "
    "[{?roofline.bound=compute}arithmetic|memory][; {roofline.percent%.3g} % of that was "
    "reached]\n]";

/* --- cases --- */

static size_t tell_cases_that(const json_t *cases, bool fail, size_t told,
                              struct buf *out) {
    json_each(cases, i, item) {
        const char *verdict = json_get_string(item, "verdict", "");
        bool fails = strcmp(verdict, "pass") != 0 && strcmp(verdict, "unjudged") != 0;
        if (fails == fail && (fails || !json_get_integer(item, "trial", 0)) &&
            told++ < MAX_CASES) {
            words_add(out, case_words, item);
        }
    }
    return told;
}

/* Cases that failed, then the first trial of those that did not. */
static void tell_cases(const json_t *cases, struct buf *out) {
    size_t told = tell_cases_that(cases, true, 0, out);
    told = tell_cases_that(cases, false, told, out);
    if (told > MAX_CASES) {
        buf_addf(out, "and %zu more cases\n", told - MAX_CASES);
    }
}

/* --- findings --- */

static void tell_findings(const json_t *result, struct buf *out) {
    const json_t *findings = json_object_get(result, "findings");
    size_t count = json_array_size(findings);
    json_each(findings, i, f) {
        if (i < MAX_FINDINGS) {
            words_add(out, finding_words, f);
        }
    }
    size_t left = count > MAX_FINDINGS ? count - MAX_FINDINGS : 0;
    left += (size_t)json_get_integer(result, "omitted", 0);
    if (left) {
        buf_addf(out, "and %zu more findings\n", left);
    }
}

/* --- the whole --- */

static void tell_saved(const json_t *result, struct buf *out) {
    const json_t *saved = json_object_get(result, "saved");
    const char *error = json_get_string(saved, "error", NULL);
    size_t told = 0;
    if (!saved) {
        return;
    }
    buf_addf(out, "%lld files in %.400s", (long long)json_get_integer(saved, "files", 0),
             json_get_string(saved, "dir", "?"));
    json_each(json_object_get(result, "cases"), i, of_case) {
        json_each(json_object_get(of_case, "files"), k, file) {
            if (told++ < MAX_FILES) {
                buf_addf(out, "%s %s", told > 1 ? "," : ":",
                         path_basename(json_get_string(file, "path", "")));
            }
        }
    }
    buf_adds(out, told > MAX_FILES ? ", …\n" : "\n");
    if (error) {
        buf_addf(out, "not all was saved: %.400s\n", error);
    }
}

void validate_result_describe(const json_t *result, struct buf *out) {
    autobuf text = BUF_INIT((size_t)4 * MAX_TEXT);
    const json_t *check = json_object_get(result, "check");
    words_add(&text, error_words, result);
    if (json_is_object(check) && !json_get_bool(check, "ok", 1)) {
        check_result_describe(check, &text);
    }
    tell_findings(result, &text);
    words_add(&text, course_words, result);
    tell_cases(json_object_get(result, "cases"), &text);
    words_add(&text, measured_words, result);
    tell_saved(result, &text);
    words_add(&text, "[the kernel printed:\n{printf~2000!}]", result);
    buf_add(out, text.data, text_cut(text.data, text.len, MAX_TEXT));
}
