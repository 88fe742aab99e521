#include "gpu/validate/validate_verdict.h"

#include "base/buf.h"
#include "base/text.h"
#include "gpu/spec/odd_sizes.h"
#include "protocol/finding.h"

#include <math.h>

#define SUMMARY_WORDS 160 /* bytes of an error's message */

static json_int_t wrong_elements(const json_t *item) {
    json_int_t wrong = 0;
    json_each(json_object_get(item, "outputs"), i, output) {
        wrong += json_get_integer(output, "mismatches", 0);
    }
    return wrong;
}

const json_t *validate_first_error(const json_t *result) {
    return findings_first_error(json_object_get(result, "findings"));
}

/* " with 2 warnings", or nothing. */
static void add_warnings(const json_t *result, struct buf *out) {
    json_int_t count = json_get_integer(result, "warnings", 0);
    if (count > 0) {
        buf_addf(out, " with %lld warning%s", (long long)count, count == 1 ? "" : "s");
    }
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

static char *pass_summary(const json_t *result) {
    const char *untried = sizes_untried(result);
    size_t cases = 0, outputs = 0;
    double largest = 0;
    json_each(json_object_get(result, "cases"), i, item) {
        cases += !json_get_integer(item, "trial", 0);
        json_each(json_object_get(item, "outputs"), k, output) {
            outputs++;
            largest = fmax(largest,
                           json_number_value(json_object_get(output, "max_abs_error")));
        }
    }
    autobuf text = BUF_INIT(256);
    buf_adds(&text, "pass");
    add_warnings(result, &text);
    buf_addf(&text, " (%zu case%s, ", cases, cases == 1 ? "" : "s");
    if (outputs) {
        buf_addf(&text, "max error %.2g", largest);
    } else {
        buf_adds(&text, "nothing was compared");
    }
    buf_addf(&text, "%s%s)", untried ? "; " : "", untried ? untried : "");
    return buf_detach(&text);
}

static char *fail_summary(const json_t *result) {
    const json_t *finding = validate_first_error(result);
    json_int_t warnings = json_get_integer(result, "warnings", 0);
    if (json_get_bool(result, "strict", 0)) {
        return xasprintf("fail: %lld warning%s, and strict allows none",
                         (long long)warnings, warnings == 1 ? "" : "s");
    }
    json_int_t wrong = 0;
    json_each(json_object_get(result, "cases"), i, item) {
        wrong = wrong ? wrong : wrong_elements(item);
    }
    const char *code = json_get_string(finding, "code", NULL);
    autofree char *words = !wrong ? xstrdup(code ? code : "see the findings")
                                  : xasprintf("%lld wrong element%s", (long long)wrong,
                                              wrong == 1 ? "" : "s");
    return wrong && code ? xasprintf("fail: %.60s, %s", code, words)
                         : xasprintf("fail: %.80s", words);
}

static char *summary_of(const json_t *result) {
    const char *verdict = json_get_string(result, "verdict", "?");
    const json_t *error = json_object_get(result, "error");
    if (!strcmp(verdict, "pass")) {
        return pass_summary(result);
    }
    if (!strcmp(verdict, "fail")) {
        return fail_summary(result);
    }
    const char *opcode = json_get_string(
        json_array_get(json_object_get(result, "unsupported"), 0), "opcode", NULL);
    const char *message = opcode ? opcode : json_get_string(error, "message", "");
    size_t len = strlen(message), cut = text_cut(message, len, SUMMARY_WORDS);
    return *message ? xasprintf("%s: %.*s%s", verdict, (int)cut, message,
                                cut < len ? "…" : "")
                    : xstrdup(verdict);
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
