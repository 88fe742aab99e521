#include "gpu/validate/validate_verdict.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/words.h"
#include "gpu/spec/odd_sizes.h"
#include "protocol/finding.h"

#include <math.h>

static json_int_t wrong_elements(const json_t *item) {
    return json_total(json_int_t, json_object_get(item, "outputs"), output,
                    json_get_integer(output, "mismatches", 0));
}

const json_t *validate_first_error(const json_t *result) {
    return findings_first_error(json_object_get(result, "findings"));
}

/* What sizes a pass says nothing about; NULL: it had one that leaves the last block partly
 * empty. */
static const char *sizes_untried(const json_t *result) {
    const char *ret = "other sizes were not tried";
    json_each(json_object_get(result, "added_cases"), i, added) {
        if (!json_says(added, "verdict", "skipped")) {
            return NULL;
        }
    }
    json_each(json_object_get(result, "cases"), k, item) {
        const json_t *sizes = json_object_get(item, "sizes");
        if (!odd_sizes_round(sizes)) {
            return NULL;
        }
        ret = json_object_size(sizes) ? "only round sizes were tried" : ret;
    }
    return ret;
}

static const char summary_words[] =
    "[{?verdict=pass}pass[ with {warnings} warning[{!warnings=1}s]{?warnings}] "
    "({tried} case[{!tried=1}s], [max error {largest%.2g}|nothing was compared]"
    "[; {untried}])"
    "|{?strict}fail: {warnings} warning[{!warnings=1}s], and strict allows none"
    "|{?verdict=fail}fail: [{code~60}[, {wrong} wrong element[{!wrong=1}s]{?wrong}]"
    "|{wrong} wrong element[{!wrong=1}s]{?wrong}|see the findings]"
    "|{verdict|?}[: {opcode~160}|: {error.message~160}]]";

static char *summary_of(const json_t *result) {
    size_t tried = 0, outputs = 0;
    json_int_t wrong = 0;
    double largest = 0;
    json_each(json_object_get(result, "cases"), i, item) {
        tried += !json_get_integer(item, "trial", 0);
        wrong = wrong ? wrong : wrong_elements(item);
        json_each(json_object_get(item, "outputs"), k, output) {
            outputs++;
            largest = fmax(largest,
                           json_number_value(json_object_get(output, "max_abs_error")));
        }
    }
    autobuf text = BUF_INIT(1024);
    autojson *told = json_copy((json_t *)(uintptr_t)result);
    const json_t *refused = json_array_get(json_object_get(result, "unsupported"), 0);
    autojson *more =
        json_pack("{s:I,s:I,s:s*,s:o*,s:O*,s:O*}", "tried", (json_int_t)tried, "wrong", wrong,
                  "untried", sizes_untried(result), "largest",
                  outputs ? json_finite(largest) : NULL, "opcode",
                  json_object_get(refused, "opcode"), "code",
                  json_object_get(validate_first_error(result), "code"));
    json_object_update(told, more);
    words_add(&text, summary_words, told);
    return buf_detach(&text);
}

/* Warnings of the compiler and of the run: they decide nothing unless `strict` asks. */
static void judge_warnings(json_t *result, bool strict) {
    const json_t *check = json_object_get(result, "check");
    size_t count = findings_count(json_object_get(result, "findings"), FINDING_WARNING) +
                   findings_count(json_object_get(check, "diagnostics"), FINDING_WARNING);
    json_object_set_new(result, "warnings", json_integer((json_int_t)count));
    if (strict && count && json_says(result, "verdict", "pass")) {
        json_object_set_new(result, "verdict", json_string("fail"));
        json_object_set_new(result, "strict", json_true());
    }
}

void validate_verdict_set(json_t *result, bool strict) {
    judge_warnings(result, strict);
    autofree char *summary = summary_of(result);
    json_object_set_new(result, "summary", json_clean_z(summary));
}
