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

/* Without the ends of its last lines. */
static void add_edit_text(struct buf *out, const json_t *text, const void *) {
    const char *at = json_string_value(text);
    size_t len = json_string_length(text);
    while (len && at[len - 1] == '\n') {
        len--;
    }
    size_t cut = text_cut(at, len, MAX_EDIT_TEXT);
    buf_add(out, at, cut);
    buf_adds(out, cut < len ? "…" : "");
}

/* Edits in the words of a patch: "12:5 insert `x`". */
#define EDIT                                                                             \
    "{line|0}:{column|0}[{?line=end_line}{?column=end_column} insert"                     \
    "|-{end_line|0}:{end_column|0}[{?text} becomes| delete]][ `{text#edit}`]"
static const char fix_words[] = "  fix: {title~200}[ ({edits/; /:" EDIT "})]\n";

static void tell_finding(const json_t *findings, const json_t *finding, struct buf *out) {
    static const struct words_part parts[] = {{"edit", add_edit_text}, {0}};
    words_add(out, finding_words, finding);
    json_each(json_object_get(finding, "fixes"), i, fix) {
        if (finding_fix_is_new(findings, finding, fix)) {
            words_add_as(out, &(struct words_manner){.parts = parts}, fix_words, fix);
        }
    }
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

static const char kernel_words[] =
    "{name%-28.60s} [{registers%4d}|   -] {spilled%6d} [{stack_bytes%6d}|     -] "
    "[{static_shared_bytes%7d}|      -] [{barriers%4d}|   -]  "
    "[{best.percent%.0f}% @{best.block_threads} ([{best.limited_by/+/:{.}}])]\n";

static void tell_kernel(const json_t *kernel, struct buf *out) {
    autojson *told = json_copy((json_t *)(uintptr_t)kernel);
    json_int_t spilled = json_get_integer(kernel, "spill_store_bytes", 0) +
                         json_get_integer(kernel, "spill_load_bytes", 0);
    json_object_set_new(told, "spilled", json_integer(spilled));
    json_object_set(told, "best", (json_t *)(uintptr_t)best_occupancy(kernel));
    words_add(out, kernel_words, told);
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
