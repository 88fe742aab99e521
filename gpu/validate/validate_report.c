/* kernel/validate's result in words. */
#include "base/buf.h"
#include "base/file.h"
#include "base/text.h"
#include "gpu/check/check_result.h"
#include "gpu/validate/kernel_validate.h"
#include "gpu/validate/validate_verdict.h"

enum {
    MAX_FINDINGS = 30,
    MAX_CASES = 16,
    MAX_FILES = 12,
    MAX_RELATED = 6
};
#define MAX_TEXT (24u << 10)

static void tell_list(const json_t *list, const char *separator, struct buf *out) {
    json_each(list, i, item) {
        buf_adds(out, i ? separator : "");
        json_tell(out, item);
    }
}

static void tell_sizes(const json_t *sizes, struct buf *out) {
    const char *separator = "";
    json_each_member(sizes, name, value) {
        buf_addf(out, "%s%s=%lld", separator, name, (long long)json_integer_value(value));
        separator = " ";
    }
}

/* --- cases --- */

/* Why a large relative error passes. */
static void tell_absolute(const json_t *output, struct buf *out) {
    const json_t *tolerance = json_object_get(output, "tolerance");
    const char *allowed = json_get_string(tolerance, "allowed", NULL);
    if (allowed && json_get_number(output, "max_rel_error", 0) >
                       json_get_number(tolerance, "rtol", 0)) {
        buf_addf(out, ", of a small value: each may be off by %s", allowed);
    }
}

static void tell_output(const json_t *output, struct buf *out) {
    json_int_t wrong = json_get_integer(output, "mismatches", 0);
    json_int_t elements = json_get_integer(output, "elements", 0);
    json_int_t judged = json_get_integer(output, "judged", elements);
    buf_addf(out, "  %s: ", json_get_string(output, "name", "?"));
    if (judged < elements) {
        buf_addf(out, "judged %lld of %lld, ", (long long)judged, (long long)elements);
    }
    if (wrong) {
        buf_addf(out, "%lld of %lld elements are wrong\n", (long long)wrong,
                 (long long)judged);
    } else if (!strcmp(json_get_string(output, "verdict", ""), "unjudged")) {
        buf_addf(out, "not judged, because its %lld elements have no expected values\n",
                 (long long)elements);
    } else {
        buf_adds(out, "largest error ");
        json_tell(out, json_object_get(output, "max_abs_error"));
        buf_adds(out, " absolute, ");
        json_tell(out, json_object_get(output, "max_rel_error"));
        buf_adds(out, " relative");
        tell_absolute(output, out);
        buf_addc(out, '\n');
    }
    json_each(json_object_get(output, "samples"), i, sample) {
        buf_adds(out, "    ");
        validate_tell_element(sample, out);
        buf_addc(out, '\n');
    }
}

static void tell_case(const json_t *item, struct buf *out) {
    buf_addf(out, "%s: ", json_get_string(item, "verdict", "?"));
    tell_sizes(json_object_get(item, "sizes"), out);
    buf_addf(out, " (trial %lld, seed %s)\n",
             (long long)json_get_integer(item, "trial", 0),
             json_get_string(item, "seed", "?"));
    json_each(json_object_get(item, "outputs"), i, output) {
        tell_output(output, out);
    }
}

static size_t tell_cases_that(const json_t *cases, bool fail, size_t told,
                              struct buf *out) {
    json_each(cases, i, item) {
        const char *verdict = json_get_string(item, "verdict", "");
        bool fails = strcmp(verdict, "pass") != 0 && strcmp(verdict, "unjudged") != 0;
        if (fails == fail && (fails || !json_get_integer(item, "trial", 0)) &&
            told++ < MAX_CASES) {
            tell_case(item, out);
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

/* Calls, and the other side of what takes two: without it a race is half told. */
static void tell_related(const json_t *f, struct buf *out) {
    json_each(json_object_get(f, "related"), i, item) {
        const char *file = json_get_string(item, "file", NULL);
        if (file && i < MAX_RELATED) {
            buf_addf(out, "    %.200s:%lld: %.200s\n", file,
                     (long long)json_get_integer(item, "line", 0),
                     json_get_string(item, "message", ""));
        }
    }
}

static void tell_place(const json_t *f, struct buf *out) {
    const char *file = json_get_string(f, "file", NULL);
    const json_t *block = json_object_get(f, "block"),
                 *thread = json_object_get(f, "thread");
    if (file) {
        buf_addf(out, "%.200s:%lld: ", file, (long long)json_get_integer(f, "line", 0));
    }
    buf_addf(out, "%s [%s]: %.600s", json_get_string(f, "severity", "error"),
             json_get_string(f, "code", ""), json_get_string(f, "message", ""));
    if (block && thread) {
        buf_adds(out, " (block ");
        tell_list(block, ",", out);
        buf_adds(out, ", thread ");
        tell_list(thread, ",", out);
        buf_addc(out, ')');
    }
    json_int_t count = json_get_integer(f, "count", 1);
    if (count > 1) {
        buf_addf(out, ", %lld times", (long long)count);
    }
    buf_addc(out, '\n');
    tell_related(f, out);
}

static void tell_findings(const json_t *result, struct buf *out) {
    const json_t *findings = json_object_get(result, "findings");
    size_t count = json_array_size(findings);
    json_each(findings, i, f) {
        if (i < MAX_FINDINGS) {
            tell_place(f, out);
        }
    }
    size_t left = count > MAX_FINDINGS ? count - MAX_FINDINGS : 0;
    left += (size_t)json_get_integer(result, "omitted", 0);
    if (left) {
        buf_addf(out, "and %zu more findings\n", left);
    }
}

/* --- the whole --- */

static void tell_error(const json_t *result, struct buf *out) {
    const json_t *error = json_object_get(result, "error");
    const char *hint = json_get_string(error, "hint", NULL);
    if (error) {
        buf_addf(out, "%s: %s\n", json_get_string(error, "stage", ""),
                 json_get_string(error, "message", ""));
    }
    if (hint) {
        buf_addf(out, "hint: %s\n", hint);
    }
    json_each(json_object_get(result, "unsupported"), i, item) {
        buf_addf(out, "  %s at %s:%lld\n", json_get_string(item, "opcode", "?"),
                 json_get_string(item, "file", "?"),
                 (long long)json_get_integer(item, "line", 0));
    }
    const json_t *check = json_object_get(result, "check");
    if (json_is_object(check) && !json_get_bool(check, "ok", 1)) {
        check_result_describe(check, out);
    }
}

static void tell_counters(const json_t *counters, struct buf *out) {
    if (!json_is_object(counters)) {
        return;
    }
    buf_addf(out, "%lld warp instructions, %lld of single threads, ",
             (long long)json_get_integer(counters, "instructions", 0),
             (long long)json_get_integer(counters, "lane_instructions", 0));
    json_tell(out, json_object_get(counters, "global_sectors_per_request"));
    buf_addf(out, " sectors per global request, %lld shared bank conflicts, ",
             (long long)json_get_integer(counters, "shared_bank_conflicts", 0));
    json_tell(out, json_object_get(counters, "active_lanes_percent"));
    buf_adds(out, " % of lanes active\n");
}

static double time_of(const json_t *timing, const char *name) {
    return json_number_value(json_object_get(timing, name));
}

static void tell_timing(const json_t *timing, struct buf *out) {
    if (!json_is_object(timing)) {
        return;
    }
    buf_addf(out, "%s (%lld samples, %s cache, %s; ",
             json_get_string(timing, "summary", "?"),
             (long long)json_get_integer(timing, "samples", 0),
             json_get_string(timing, "cache", "?"),
             json_get_string(timing, "method", "?"));
    tell_sizes(json_object_get(timing, "sizes"), out);
    buf_adds(out, json_is_true(json_object_get(timing, "throttled"))
                      ? "); the GPU was throttled\n"
                      : ")\n");
    if (json_object_get(timing, "speedup")) {
        buf_addf(out, "  the reference takes %.4g us: %.3g times as long\n",
                 time_of(timing, "reference_median_us"), time_of(timing, "speedup"));
    }
    json_each(json_object_get(timing, "notes"), i, note) {
        buf_addf(out, "  %.200s\n", json_string_value(note));
    }
}

static void tell_roofline(const json_t *roofline, struct buf *out) {
    const json_t *percent = json_object_get(roofline, "percent");
    if (!json_is_object(roofline)) {
        return;
    }
    buf_addf(out, "at least %.3g us on an %.60s, bound by %s",
             time_of(roofline, "limit_us"), json_get_string(roofline, "device", "?"),
             strcmp(json_get_string(roofline, "bound", ""), "compute") ? "memory"
                                                                       : "arithmetic");
    if (percent) {
        buf_addf(out, "; %.3g %% of that was reached", json_number_value(percent));
    }
    buf_addc(out, '\n');
}

static void tell_printed(const char *text, struct buf *out) {
    size_t len = strlen(text), cut = text_cut(text, len, 2000);
    if (len) {
        buf_adds(out, "the kernel printed:\n");
        buf_add(out, text, cut);
        buf_adds(out, cut < len ? "…\n" : text[len - 1] == '\n' ? "" : "\n");
    }
}

/* How tensor cores added, where that is not as usual. */
static void tell_numerics(const json_t *result, struct buf *out) {
    const json_t *trial = json_object_get(result, "ideal_trial");
    if (!strcmp(json_get_string(result, "numerics", ""), "ideal")) {
        buf_adds(out, "tensor cores: ideal sums, not an H100's\n");
    }
    if (trial) {
        buf_addf(out, "one trial again with ideal sums: %s (%lld ms)\n",
                 json_get_string(trial, "verdict", "?"),
                 (long long)json_get_integer(trial, "ms", 0));
    }
}

/* Why it is the CPU where a driver is there, and what was not looked for. */
static void tell_backend(const json_t *result, struct buf *out) {
    const json_t *backend = json_object_get(result, "backend");
    const json_t *unchecked = json_object_get(result, "unchecked");
    const char *fallback = json_get_string(backend, "fallback", NULL);
    if (fallback) {
        buf_addf(out, "not on a GPU: %.400s\n", fallback);
    }
    json_each(unchecked, i, name) {
        buf_addf(out, "%s%s", i ? ", " : "not checked here: ", json_string_value(name));
    }
    buf_adds(out, json_array_size(unchecked) ? "\n" : "");
}

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

/* What compute-sanitizer looked at, or why it did not. Its findings are among the others.
 */
static void tell_sanitizer(const json_t *result, struct buf *out) {
    const json_t *report = json_object_get(result, "sanitizer");
    const char *absent = json_get_string(report, "absent", NULL);
    const char *hint = json_get_string(report, "hint", "");
    if (absent && json_object_get(result, "unchecked")) {
        buf_addf(out, "%.300s%s%.400s\n", absent, *hint ? ": " : "", hint);
    }
    json_each(json_object_get(report, "tools"), i, tool) {
        buf_addf(out, "%s%.20s %.20s",
                 i ? ", " : "compute-sanitizer: ", json_get_string(tool, "tool", "?"),
                 json_get_string(tool, "outcome", "?"));
    }
    buf_adds(out, json_array_size(json_object_get(report, "tools")) ? "\n" : "");
}

void validate_result_describe(const json_t *result, struct buf *out) {
    autobuf text = BUF_INIT((size_t)4 * MAX_TEXT);
    const json_t *backend = json_object_get(result, "backend");
    buf_adds(&text, json_get_string(result, "summary", "?"));
    if (json_object_get(backend, "device")) {
        buf_addf(&text, " on %s", json_get_string(backend, "device", "?"));
    }
    buf_addc(&text, '\n');
    tell_error(result, &text);
    tell_findings(result, &text);
    tell_backend(result, &text);
    tell_numerics(result, &text);
    tell_sanitizer(result, &text);
    tell_cases(json_object_get(result, "cases"), &text);
    tell_counters(json_object_get(result, "counters"), &text);
    tell_timing(json_object_get(result, "timing"), &text);
    tell_roofline(json_object_get(result, "roofline"), &text);
    tell_saved(result, &text);
    tell_printed(json_get_string(result, "printf", ""), &text);
    buf_add(out, text.data, text_cut(text.data, text.len, MAX_TEXT));
}
