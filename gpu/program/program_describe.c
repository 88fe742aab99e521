/* program_describe: kernel/run's result in the words of compute-sanitizer's reports, for
 * models and for the lens of an editor. */
#include "base/buf.h"
#include "base/text.h"
#include "gpu/program/kernel_run.h"
#include "protocol/finding.h"

enum { MAX_ROWS = 8, MAX_FINDINGS = 20, MAX_SHOWN = 1500, MAX_TEXT = 6000, MAX_WHY = 160 };

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
    const char *why =
        json_get_string(json_object_get(result, "error"), "message", NULL);
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

/* " (k.cu:12)" */
static void tell_place(const json_t *item, struct buf *out) {
    const char *file = json_get_string(item, "file", NULL);
    if (file) {
        buf_addf(out, " (%.200s:%lld)", file,
                 (long long)json_get_integer(item, "line", 0));
    }
}

static void tell_finding(const json_t *f, struct buf *out) {
    const char *file = json_get_string(f, "file", NULL);
    json_int_t line = json_get_integer(f, "line", 0);
    if (file) {
        buf_addf(out, "%.200s:", file);
    }
    if (file && line) {
        buf_addf(out, "%lld:", (long long)line);
    }
    buf_addf(out, "%s%s: %.700s", file ? " " : "",
             json_get_string(f, "severity", "error"), json_get_string(f, "message", ""));
    buf_addf(out, " [%.60s]", json_get_string(f, "code", "?"));
    json_int_t count = json_get_integer(f, "count", 1);
    if (count > 1) {
        buf_addf(out, ", %lld times", (long long)count);
    }
    buf_addc(out, '\n');
    json_each(json_object_get(f, "related"), i, related) {
        if (i < MAX_ROWS) {
            buf_addf(out, "  %.200s", json_get_string(related, "message", ""));
            tell_place(related, out);
            buf_addc(out, '\n');
        }
    }
}

static void tell_findings(const json_t *findings, struct buf *out) {
    json_each(findings, i, finding) {
        if (i < MAX_FINDINGS) {
            tell_finding(finding, out);
        }
    }
    size_t all = json_array_size(findings);
    if (all > MAX_FINDINGS) {
        buf_addf(out, "and %zu more findings\n", all - MAX_FINDINGS);
    }
}

static void tell_hint(const json_t *of, struct buf *out) {
    const char *hint = json_get_string(of, "hint", NULL);
    if (hint) {
        buf_addf(out, "hint: %s\n", hint);
    }
}

static void tell_error(const json_t *result, struct buf *out) {
    const json_t *error = json_object_get(result, "error");
    if (error) {
        buf_addf(out, "%s: %s\n", json_get_string(error, "stage", ""),
                 json_get_string(error, "message", ""));
    }
    tell_hint(error, out);
    json_each(json_object_get(result, "unsupported"), i, one) {
        if (i < 4 * MAX_ROWS) {
            const char *what = json_get_string(one, "what", "?");
            buf_addf(out, "  %.100s", json_get_string(one, "function", what));
            tell_place(one, out);
            buf_addc(out, '\n');
        }
    }
}

static const char *checked_words(const json_t *looked_at) {
    return json_is_true(looked_at)    ? ""
           : json_is_false(looked_at) ? " and the program did not check"
                                      : " (whether the program checked is not known)";
}

static void tell_api_errors(const json_t *result, struct buf *out) {
    json_each(json_object_get(result, "api_errors"), i, one) {
        if (i < MAX_ROWS) {
            json_int_t count = json_get_integer(one, "count", 1);
            buf_addf(out, "%.80s failed with %.80s%s",
                     json_get_string(one, "function", "?"),
                     json_get_string(one, "error", "?"),
                     checked_words(json_object_get(one, "looked_at")));
            if (count > 1) {
                buf_addf(out, ", %lld times", (long long)count);
            }
            tell_place(one, out);
            const char *why = json_get_string(one, "message", NULL);
            json_int_t later = json_get_integer(one, "later", 0);
            buf_addf(out, "%s%.300s\n", why ? ": " : "", why ? why : "");
            if (later) {
                buf_addf(out, "  and so did %lld later calls\n", (long long)later);
            }
        }
    }
}

static void tell_leaks(const json_t *result, struct buf *out) {
    json_each(json_object_get(result, "leaks"), i, one) {
        if (i < MAX_ROWS) {
            json_int_t count = json_get_integer(one, "count", 1);
            buf_addf(out, "not freed at the end: %lld bytes of %.20s memory",
                     (long long)json_get_integer(one, "bytes", 0),
                     json_get_string(one, "kind", "device"));
            if (count > 1) {
                buf_addf(out, ", %lld times", (long long)count);
            }
            tell_place(one, out);
            buf_addc(out, '\n');
        }
    }
}

static void tell_extent(const json_t *extent, struct buf *out) {
    json_each(extent, i, n) {
        buf_addf(out, "%s%lld", i ? "," : "", (long long)json_integer_value(n));
    }
}

static void tell_launches(const json_t *result, struct buf *out) {
    json_each(json_object_get(result, "launches"), i, one) {
        if (i < MAX_ROWS) {
            buf_addf(out, "launched %.120s<<<", json_get_string(one, "kernel", "?"));
            tell_extent(json_object_get(one, "grid"), out);
            buf_adds(out, " / ");
            tell_extent(json_object_get(one, "block"), out);
            buf_addf(out, ">>> %lld times", (long long)json_get_integer(one, "times", 1));
            tell_place(one, out);
            buf_addc(out, '\n');
        }
    }
    const json_t *skipped = json_object_get(result, "skipped_launches");
    if (json_get_integer(skipped, "launches", 0)) {
        buf_addf(out,
                 "%lld of these were skipped, because their outcome was known "
                 "(run_all_launches runs them)\n",
                 (long long)json_get_integer(skipped, "launches", 0));
    }
}

static void tell_stream(const json_t *result, const char *name, struct buf *out) {
    const char *text = json_get_string(result, name, "");
    size_t len = strlen(text), cut = text_cut(text, len, MAX_SHOWN);
    if (len) {
        buf_addf(out, "%s:\n", name);
        buf_add(out, text, cut);
        buf_adds(out, cut < len ? "…\n" : text[len - 1] == '\n' ? "" : "\n");
    }
}

static void tell_written(const json_t *result, struct buf *out) {
    json_each(json_object_get(result, "files"), i, one) {
        if (i < MAX_ROWS) {
            buf_addf(out, "wrote %.200s, %lld bytes\n", json_get_string(one, "name", "?"),
                     (long long)json_get_integer(one, "bytes", 0));
        }
    }
}

static void tell_saved(const json_t *result, struct buf *out) {
    const json_t *saved = json_object_get(result, "saved");
    const char *error = json_get_string(saved, "error", NULL);
    if (saved) {
        json_int_t count = json_get_integer(saved, "files", 0);
        buf_addf(out, "%lld file%s in %.400s\n", (long long)count, count == 1 ? "" : "s",
                 json_get_string(saved, "dir", "?"));
    }
    if (error) {
        buf_addf(out, "not all was saved: %.400s\n", error);
    }
}

void program_describe(const json_t *result, struct buf *out) {
    autobuf text = BUF_INIT((size_t)4 * MAX_TEXT);
    bool ran = json_object_get(result, "launches") != NULL;
    buf_addf(&text, "%s\n", json_get_string(result, "summary", "?"));
    tell_error(result, &text);
    tell_hint(result, &text);
    tell_findings(json_object_get(result, "findings"), &text);
    if (!ran) {
        tell_findings(json_object_get(result, "diagnostics"), &text);
    }
    tell_api_errors(result, &text);
    tell_leaks(result, &text);
    tell_launches(result, &text);
    tell_stream(result, "stdout", &text);
    tell_stream(result, "stderr", &text);
    tell_written(result, &text);
    tell_saved(result, &text);
    buf_add(out, text.data, text_cut(text.data, text.len, MAX_TEXT));
}
