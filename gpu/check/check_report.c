/* kernel/check's result as the text that agents read. */
#include "base/buf.h"
#include "base/text.h"
#include "base/words.h"
#include "gpu/check/check_result.h"
#include "protocol/finding.h"

#define MAX_SHOWN 40 /* diagnostics in full */
#define MAX_KERNELS 32
#define MAX_TEXT (30u << 10) /* bytes of a report: below some 10 000 tokens */
#define MAX_EDIT_TEXT 120

/* Behind it: whose flags it was compiled with, where the project has some. */
static const char verdict_words[] =
    "{summary|?} ({arch|?}[{?compiler}, {compiler.name|?} {compiler.version|?}]"
    "[{?cached}, from the cache|, {compile_ms%.0f} ms])\n"
    "[flags from {flags.from/, /:{.}}\n]";

#define PLACE "[{file~200}:[{?line}{line}:[{?column}{column}:]] ]"
static const char finding_words[] = PLACE
    "{severity|error}: {message~600} \\[{source|}[ {code}]\\]\n"
    "{related<3:  " PLACE "note: {message~300}\n}[  … and {related-3} more notes\n]";

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

static void tell_finding(const json_t *findings, const json_t *finding, struct buf *out) {
    words_add(out, finding_words, finding);
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

static void tell_kernel(const json_t *kernel, struct buf *out) {
    const char *name = json_get_string(kernel, "name", "?");
    size_t cut = text_cut(name, strlen(name), 60);
    buf_addf(out, "%-28.*s", (int)cut, name);
    words_add(out, " [{registers%4d}|   -]", kernel);
    json_int_t stores = json_get_integer(kernel, "spill_store_bytes", 0);
    json_int_t loads = json_get_integer(kernel, "spill_load_bytes", 0);
    buf_addf(out, " %6lld", (long long)(stores + loads));
    words_add(out,
              " [{stack_bytes%6d}|     -] [{static_shared_bytes%7d}|      -] "
              "[{barriers%4d}|   -]  ",
              kernel);
    words_add(
        out,
        "[{?block_threads=*}{percent%.0f}% @{block_threads} ([{limited_by/+/:{.}}])]\n",
        best_occupancy(kernel));
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
    words_add(&text, verdict_words, result);
    tell_findings(result, &text);
    tell_kernels(result, &text);
    buf_add(out, text.data, text.len);
}
