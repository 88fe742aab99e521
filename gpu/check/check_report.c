/* kernel/check's result as the text that agents read. */
#include "base/buf.h"
#include "base/text.h"
#include "gpu/check/check_result.h"
#include "protocol/finding.h"

#define MAX_SHOWN 40 /* diagnostics in full */
#define MAX_KERNELS 32
#define MAX_MESSAGE 600      /* bytes of one message */
#define MAX_TEXT (30u << 10) /* bytes of a report: below some 10 000 tokens */
#define MAX_RELATED 3
#define MAX_EDIT_TEXT 120

static void tell_compiler(const json_t *result, struct buf *out) {
    const json_t *compiler = json_object_get(result, "compiler");
    buf_addf(out, " (%s", json_get_string(result, "arch", "?"));
    if (json_is_object(compiler)) {
        buf_addf(out, ", %s %s", json_get_string(compiler, "name", "?"),
                 json_get_string(compiler, "version", "?"));
    }
    if (json_get_bool(result, "cached", 0)) {
        buf_adds(out, ", from the cache");
    } else {
        buf_addf(out, ", %.0f ms",
                 json_number_value(json_object_get(result, "compile_ms")));
    }
    buf_adds(out, ")\n");
}

/* Whose flags it was compiled with, where the project has some. */
static void tell_flags(const json_t *result, struct buf *out) {
    const json_t *from = json_object_get(json_object_get(result, "flags"), "from");
    for (size_t i = 0; i < json_array_size(from); i++) {
        buf_adds(out, i ? ", " : "flags from ");
        buf_adds(out, json_string_value(json_array_get(from, i)));
    }
    if (from) {
        buf_addc(out, '\n');
    }
}

static void tell_verdict(const json_t *result, struct buf *out) {
    buf_adds(out, json_get_string(result, "summary", "?"));
    tell_compiler(result, out);
    tell_flags(result, out);
}

static void tell_place(const json_t *place, struct buf *out) {
    const char *file = json_get_string(place, "file", NULL);
    json_int_t line = json_get_integer(place, "line", 0);
    json_int_t column = json_get_integer(place, "column", 0);
    if (file) {
        buf_addf(out, "%.200s:", file);
    }
    if (file && line) {
        buf_addf(out, "%lld:", (long long)line);
    }
    if (file && line && column) {
        buf_addf(out, "%lld:", (long long)column);
    }
    if (file) {
        buf_addc(out, ' ');
    }
}

static void tell_text(const char *text, size_t max, struct buf *out) {
    size_t len = strlen(text);
    size_t cut = text_cut(text, len, max);
    buf_add(out, text, cut);
    if (cut < len) {
        buf_adds(out, "…");
    }
}

/* One edit as "12:5 insert `x`", in the words of a patch. */
static void tell_edit(const json_t *edit, struct buf *out) {
    const char *text = json_get_string(edit, "text", "");
    json_int_t line = json_get_integer(edit, "line", 0);
    json_int_t column = json_get_integer(edit, "column", 0);
    json_int_t end_line = json_get_integer(edit, "end_line", 0);
    json_int_t end_column = json_get_integer(edit, "end_column", 0);
    bool inserts = line == end_line && column == end_column;
    buf_addf(out, "%lld:%lld", (long long)line, (long long)column);
    if (!inserts) {
        buf_addf(out, "-%lld:%lld", (long long)end_line, (long long)end_column);
    }
    buf_adds(out, inserts ? " insert `" : *text ? " becomes `" : " delete");
    if (*text) {
        size_t len = strlen(text);
        while (len && text[len - 1] == '\n') {
            len--;
        }
        autofree char *trimmed = xstrndup(text, len);
        tell_text(trimmed, MAX_EDIT_TEXT, out);
        buf_addc(out, '`');
    }
}

static void tell_fixes(const json_t *findings, const json_t *finding, struct buf *out) {
    json_each(json_object_get(finding, "fixes"), i, fix) {
        if (!finding_fix_is_new(findings, finding, fix)) {
            continue;
        }
        buf_adds(out, "  fix: ");
        tell_text(json_get_string(fix, "title", ""), 200, out);
        json_each(json_object_get(fix, "edits"), k, edit) {
            buf_adds(out, k ? "; " : " (");
            tell_edit(edit, out);
        }
        buf_adds(out, json_array_size(json_object_get(fix, "edits")) ? ")\n" : "\n");
    }
}

static void tell_related(const json_t *finding, struct buf *out) {
    const json_t *list = json_object_get(finding, "related");
    json_each(list, i, related) {
        if (i == MAX_RELATED) {
            buf_addf(out, "  … and %zu more notes\n", json_array_size(list) - i);
            return;
        }
        buf_adds(out, "  ");
        tell_place(related, out);
        buf_adds(out, "note: ");
        tell_text(json_get_string(related, "message", ""), MAX_MESSAGE / 2, out);
        buf_addc(out, '\n');
    }
}

static void tell_finding(const json_t *findings, const json_t *finding,
                         struct buf *out) {
    const char *code = json_get_string(finding, "code", "");
    tell_place(finding, out);
    buf_addf(out, "%s: ", json_get_string(finding, "severity", "error"));
    tell_text(json_get_string(finding, "message", ""), MAX_MESSAGE, out);
    buf_addf(out, " [%s%s%.60s]\n", json_get_string(finding, "source", ""),
             *code ? " " : "", code);
    tell_related(finding, out);
    tell_fixes(findings, finding, out);
}

static void tell_findings(const json_t *result, struct buf *out) {
    const json_t *findings = json_object_get(result, "diagnostics");
    size_t count = json_array_size(findings), shown = 0;
    while (shown < count && shown < MAX_SHOWN && out->len < MAX_TEXT / 2) {
        tell_finding(findings, json_array_get(findings, shown++), out);
    }
    size_t left = count - shown + (size_t)json_get_integer(result, "omitted", 0);
    if (left) {
        buf_addf(out, "… and %zu more diagnostics\n", left);
    }
}

/* --- kernels --- */

/* The best entry; of equal ones the largest block up to the usual 256 threads. */
static const json_t *best_occupancy(const json_t *kernel) {
    const json_t *list = json_object_get(kernel, "occupancy");
    const json_t *best = NULL;
    double most = -1;
    json_each(list, i, at) {
        double percent = json_number_value(json_object_get(at, "percent"));
        bool usual = json_get_integer(at, "block_threads", 0) <= 256;
        if (percent > most || (percent >= most && usual)) {
            most = percent;
            best = at;
        }
    }
    return best;
}

static void tell_occupancy(const json_t *occupancy, struct buf *out) {
    const json_t *limits = json_object_get(occupancy, "limited_by");
    buf_addf(out, "%.0f%% @%lld (",
             json_number_value(json_object_get(occupancy, "percent")),
             (long long)json_get_integer(occupancy, "block_threads", 0));
    for (size_t i = 0; i < json_array_size(limits); i++) {
        const char *limit = json_string_value(json_array_get(limits, i));
        buf_addf(out, "%s%s", i ? "+" : "", limit ? limit : "?");
    }
    buf_adds(out, ")");
}

/* A table cell: "-" if the compiler did not state the number. */
static void tell_number(const json_t *kernel, const char *key, int width,
                        struct buf *out) {
    json_int_t n = json_get_integer(kernel, key, -1);
    if (n < 0) {
        buf_addf(out, " %*s", width, "-");
    } else {
        buf_addf(out, " %*lld", width, (long long)n);
    }
}

static void tell_kernel(const json_t *kernel, struct buf *out) {
    const char *name = json_get_string(kernel, "name", "?");
    size_t cut = text_cut(name, strlen(name), 60);
    buf_addf(out, "%-28.*s", (int)cut, name);
    tell_number(kernel, "registers", 4, out);
    json_int_t stores = json_get_integer(kernel, "spill_store_bytes", 0);
    json_int_t loads = json_get_integer(kernel, "spill_load_bytes", 0);
    buf_addf(out, " %6lld", (long long)(stores + loads));
    tell_number(kernel, "stack_bytes", 6, out);
    tell_number(kernel, "static_shared_bytes", 7, out);
    tell_number(kernel, "barriers", 4, out);
    buf_adds(out, "  ");
    const json_t *best = best_occupancy(kernel);
    if (best) {
        tell_occupancy(best, out);
    }
    buf_addc(out, '\n');
}

static void tell_kernels(const json_t *result, struct buf *out) {
    const json_t *kernels = json_object_get(result, "kernels");
    size_t count = json_array_size(kernels), shown = 0;
    if (!count) {
        return;
    }
    buf_addf(out, "%-28s %4s %6s %6s %7s %4s  %s\n", "kernel", "regs", "spillB", "stackB",
             "sharedB", "bars", "best occupancy @block threads (limit)");
    while (shown < count && shown < MAX_KERNELS && out->len < MAX_TEXT) {
        tell_kernel(json_array_get(kernels, shown++), out);
    }
    if (shown < count) {
        buf_addf(out, "… and %zu more kernels\n", count - shown);
    }
}

void check_result_describe(const json_t *result, struct buf *out) {
    autobuf text = BUF_INIT((size_t)4 * MAX_TEXT);
    tell_verdict(result, &text);
    tell_findings(result, &text);
    tell_kernels(result, &text);
    buf_add(out, text.data, text.len);
}
