#include "gpu/check/check_verdict.h"

#include "base/buf.h"
#include "protocol/finding.h"

static bool is_outcome(const json_t *result, const char *outcome) {
    return strcmp(json_get_string(result, "outcome", ""), outcome) == 0;
}

static void add_count(struct buf *out, size_t n, const char *noun) {
    buf_addf(out, "%zu %s%s", n, noun, n == 1 ? "" : "s");
}

/* "3 kernels"; of relocatable code without a kernel "4 device functions". */
static void add_compiled(const json_t *result, struct buf *out) {
    size_t kernels = json_array_size(json_object_get(result, "kernels"));
    json_int_t functions = json_get_integer(result, "functions", 0);
    if (!kernels && functions > 0) {
        add_count(out, (size_t)functions, "device function");
    } else {
        add_count(out, kernels, "kernel");
    }
}

static void add_findings(const json_t *result, bool comma, struct buf *out) {
    const json_t *findings = json_object_get(result, "diagnostics");
    json_int_t omitted = json_get_integer(result, "omitted", 0);
    if (comma && json_array_size(findings)) {
        buf_adds(out, ", ");
    }
    findings_tell(findings, out);
    if (omitted > 0) {
        buf_addf(out, ", %lld more not shown", (long long)omitted);
    }
}

/* If nothing was compiled, uncompiled_tell has written the sentence. */
static void add_words(const json_t *result, bool failed, bool strict, bool quick,
                      struct buf *out) {
    const char *outcome = json_get_string(result, "outcome", NULL);
    const char *nothing = json_get_string(result, "summary", "");
    bool host = json_object_get(result, "host_code") != NULL;
    size_t left = json_array_size(json_object_get(result, "uncompiled"));
    if (failed || strict) {
        buf_adds(out, "not ok: ");
        add_findings(result, false, out);
        buf_adds(out, strict ? " (strict makes warnings fail)" : "");
    } else if (outcome && *nothing) {
        buf_adds(out, nothing);
    } else if (outcome) {
        buf_addf(out, "no verdict: the compiler ended with \"%s\"", outcome);
        return;
    } else {
        buf_adds(out, host ? "device code ok: " : "ok: ");
        add_compiled(result, out);
        add_findings(result, true, out);
        buf_adds(out, quick ? "; quick: registers and occupancy are those of "
                              "unoptimized code"
                            : "");
    }
    if (left && !failed) {
        buf_addf(out, "; %zu template%s not compiled: nothing instantiates %s", left,
                 left == 1 ? " was" : "s were", left == 1 ? "it" : "them");
    }
    buf_adds(out, host ? "; host code not checked" : "");
}

void check_verdict_set(json_t *result, bool strict, bool quick) {
    const json_t *findings = json_object_get(result, "diagnostics");
    bool failed = findings_count(findings, FINDING_ERROR) > 0;
    bool good = !json_object_get(result, "outcome") || is_outcome(result, "no_kernels");
    bool stopped = strict && good && !failed && findings_count(findings, FINDING_WARNING);
    autobuf words = BUF_INIT(4096);
    bool verdict = good || is_outcome(result, "nothing_compiled");
    add_words(result, failed && verdict, stopped, quick, &words);
    json_object_set_new(result, "summary", json_text(words.data, words.len));
    json_object_set_new(result, "ok", json_boolean(good && !failed && !stopped));
    if (stopped) {
        json_object_set_new(result, "strict", json_true());
    }
}

/* Compiled code may still have errors, of its launch or of an include. */
void check_verdict_explain(const json_t *result, struct buf *out) {
    const json_t *error = findings_first_error(json_object_get(result, "diagnostics"));
    bool compiled = json_array_size(json_object_get(result, "kernels")) > 0;
    json_int_t line = json_get_integer(error, "line", 0);
    if (!error) {
        buf_adds(out, json_get_string(result, "summary", "it was not compiled"));
        return;
    }
    buf_adds(out, compiled ? "the check found an error: " : "it does not compile: ");
    buf_addf(out, "%.1000s", json_get_string(error, "message", ""));
    if (line) {
        buf_addf(out, " (%.200s:%lld)", json_get_string(error, "file", "line"),
                 (long long)line);
    }
}
