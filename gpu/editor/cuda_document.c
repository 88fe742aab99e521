#include "gpu/editor/cuda_document.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/words.h"
#include "gpu/check/kernel_check.h"
#include "gpu/editor/cuda_lens.h"
#include "gpu/fixes/cuda_builtins.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/source/device_templates.h"
#include "gpu/source/kernel_name.h"
#include "protocol/finding.h"

#define MAX_SAME_NAME 4 /* instantiations of one template that are shown */
#define USUAL_BLOCK 256

/* --- checking --- */

/* What findings call a document without a file: the end of its URI. */
static char *unsaved_name(const char *uri) {
    const char *name = strrchr(uri, '/');
    name = name ? name + 1 : uri;
    const char *colon = strrchr(name, ':');
    name = colon ? colon + 1 : name;
    return *name && strlen(name) < 256 ? xstrdup(name) : xstrdup("untitled.cu");
}

static json_t *check_params(const struct document_check *check) {
    const struct document *d = check->document;
    json_t *params = json_object();
    json_object_set_new(params, "source", json_text(d->text, d->len));
    if (d->path) {
        json_object_set_new(params, "path", json_text(d->path, strlen(d->path)));
    } else {
        autofree char *name = unsaved_name(d->uri);
        json_object_set_new(params, "name", json_text(name, strlen(name)));
    }
    if (check->unsaved) {
        json_object_set(params, "headers", check->unsaved);
    }
    if (check->depth == DOCUMENT_QUICK) {
        json_object_set_new(params, "quick", json_true());
    }
    return params;
}

/* --- beside clangd --- */

#define WITH_CLANGD "with_clangd"

/* The editor says that clangd serves the document too. Nothing else can show it: a
 * .clangd file or a compilation database is no sign that it runs, for this file. */
static bool with_clangd(const struct document *d) {
    return json_is_true(json_object_get(d->settings, WITH_CLANGD));
}

/* clangd says most of what the compiler's front end says, but not all, and which it says
 * only the editor sees: errors become hints, so that none is lost. What is found behind
 * the front end stays. */
static json_t *hints_beside_clangd(const json_t *findings) {
    json_t *list = json_array();
    json_each(findings, i, finding) {
        bool front = json_says(finding, "source", "nvrtc") &&
                     json_says(finding, "severity", "error");
        json_t *told = front ? json_copy(finding) : json_incref(finding);
        if (front) {
            json_object_set_new(told, "severity", json_string("hint"));
        }
        json_array_append_new(list, told);
    }
    return list;
}

/* A new reference to what the document's editor is told; NULL of NULL. */
static json_t *told_findings(const struct document *d, json_t *findings) {
    const json_t *set = json_object_get(d->settings, WITH_CLANGD);
    if (!findings || !set || json_is_false(set)) {
        return json_incref(findings);
    }
    if (with_clangd(d)) {
        return hints_beside_clangd(findings);
    }
    json_t *list = json_copy(findings);
    json_array_append_new(list, finding_new("upskilld", "project_flags", FINDING_WARNING,
                                            "the editor's settings: " WITH_CLANGD
                                            " is not used: true or false is expected",
                                            NULL, &(struct finding_span){0}));
    return list;
}

/* A check that could not be made is told once, at the first line. */
static json_t *failure_findings(const struct document *d,
                                const struct check_refusal *failure) {
    autofree char *message = *failure->hint
                                 ? xasprintf("%s: %s", failure->message, failure->hint)
                                 : xstrdup(failure->message);
    autofree char *name = d->path ? NULL : unsaved_name(d->uri);
    const struct finding_span start = {1, 1, 1, 1};
    return json_pack("[o]", finding_new("upskilld", failure->reason, FINDING_INFO,
                                        message, d->path ? d->path : name, &start));
}

/* Without a compiler no document will be checked; NULL for other failures. */
static char *failure_notice(const struct check_refusal *failure) {
    return failure->reason && strcmp(failure->reason, "no_compiler") == 0
               ? xasprintf("upskilld cannot check CUDA files: %s. To get one, %s.",
                           failure->message, failure->hint)
               : NULL;
}

static void checked(json_t *result, const struct check_refusal *failure, void *data) {
    struct document_check *check = data;
    check->kind_data = NULL;
    if (failure) {
        autofree char *notice = failure_notice(failure);
        check->notice = notice;
        document_check_done(check, failure_findings(check->document, failure), NULL);
        return;
    }
    json_t *findings =
        told_findings(check->document, json_object_get(result, "diagnostics"));
    if (result && check->depth == DOCUMENT_QUICK) {
        json_decref(result); /* the last full one says more */
        result = NULL;
    }
    document_check_done(check, findings, result);
}

static void cancel(struct document_check *check) {
    if (check->kind_data) {
        kernel_check_cancel(check->kind_data);
    }
}

static void spec_document(struct document_check *check) {
    struct gpu *gpu = gpu_of(check->origin);
    if (!gpu) {
        document_check_done(check, NULL, NULL);
        return;
    }
    autojson *params = check_params(check);
    check->cancel = cancel;
    check->kind_data = kernel_check_start(gpu, params, check->origin, checked, check);
}

/* --- kernels in the text and in the last result --- */

/* The result's kernels by their names without namespaces and arguments: {name: [kernel,
 * …]}. */
static json_t *facts_of(const json_t *result) {
    json_t *facts = json_object();
    json_each(json_object_get(result, "kernels"), i, kernel) {
        size_t len;
        const char *name = kernel_plain_name(json_get_string(kernel, "name", ""), &len);
        json_t *same = json_object_getn(facts, name, len);
        if (!same) {
            same = json_array();
            json_object_setn_new(facts, name, len, same);
        }
        json_array_append(same, (json_t *)(uintptr_t)kernel);
    }
    return facts;
}

/* --- lenses --- */

/* The source's own launch, else the usual block size's entry, else the best one. */
static const json_t *telling_occupancy(const json_t *kernel) {
    const json_t *best = NULL;
    json_each(json_object_get(kernel, "occupancy"), i, entry) {
        if (json_get_bool(entry, "source_launch", 0) ||
            json_get_integer(entry, "block_threads", 0) == USUAL_BLOCK) {
            return entry;
        }
        double percent = json_number_value(json_object_get(entry, "percent"));
        if (!best || percent > json_number_value(json_object_get(best, "percent"))) {
            best = entry;
        }
    }
    return best;
}

static void add_bytes(struct buf *out, const json_t *value, const void *) {
    json_int_t bytes = json_integer_value(value);
    if (bytes >= 1024 && bytes % 1024 == 0) {
        buf_addf(out, "%lld KB", (long long)(bytes / 1024));
    } else if (bytes >= 10240) {
        buf_addf(out, "%.1f KB", (double)bytes / 1024);
    } else {
        buf_addf(out, "%lld B", (long long)bytes);
    }
}

static void add_spill(struct buf *out, const json_t *kernel, const void *) {
    autojson *sum = json_integer(json_get_integer(kernel, "spill_store_bytes", 0) +
                                 json_get_integer(kernel, "spill_load_bytes", 0));
    add_bytes(out, sum, NULL);
}

static const struct words_part parts[] = {
    {"bytes", add_bytes}, {"spill", add_spill}, {0}};
static const struct words_manner manner = {.parts = parts};

/* "sm_90a · 40 regs · 0 spill · 4 KB shared · 75 % occupancy @256" */
static const char lens_words[] =
    "[{name~200} · ]{arch|} · {kernel.registers|0} regs · "
    "[{?kernel.spill_store_bytes}{kernel#spill}|{?kernel.spill_load_bytes}{kernel#spill}|0] "
    "spill · "
    "[{kernel.static_shared_bytes#bytes}|0 B] shared"
    "[ · {occupancy.percent%.0f} % occupancy @{occupancy.block_threads|0}]";

/* Why the last full check has no figures of a kernel; NULL: nobody knows, since there was
 * none, the source has errors, or the kernel is newer. */
static const char *why_not_compiled(const struct document *d,
                                    const struct kernel_place *place,
                                    const json_t *result) {
    const json_t *findings = json_object_get(result, "diagnostics");
    const char *outcome = json_get_string(result, "outcome", "");
    bool nothing = strcmp(outcome, "nothing_compiled") == 0;
    if (!result || findings_count(findings, FINDING_ERROR) || (*outcome && !nothing)) {
        return NULL;
    }
    return strncmp(d->text + place->signature, "template", 8) == 0
               ? "not compiled: nothing instantiates this template"
           : nothing ? "not compiled: an #if leaves it out"
                     : NULL;
}

static void add_lens(json_t *lenses, const struct kernel_place *place, const char *title,
                     size_t len) {
    json_array_append_new(
        lenses, json_pack("{s:I, s:I, s:o}", "start", (json_int_t)place->offset, "end",
                          (json_int_t)place->end, "title", json_text(title, len)));
}

static void add_lenses(const struct document *d, json_t *lenses,
                       const struct kernel_place *place, const json_t *result,
                       const json_t *facts) {
    size_t len;
    const char *name = kernel_plain_name(place->name, &len);
    const json_t *same = json_object_getn(facts, name, len);
    size_t count = json_array_size(same);
    for (size_t i = 0; i < count && i < MAX_SAME_NAME; i++) {
        const json_t *kernel = json_array_get(same, i);
        autobuf title = BUF_INIT(1024);
        autojson *told = json_pack(
            "{s:O*,s:O,s:O*,s:O*}", "arch", json_object_get(result, "arch"), "kernel",
            kernel, "occupancy", telling_occupancy(kernel), "name",
            count > 1 ? json_object_get(kernel, "name") : NULL);
        words_add_as(&title, &manner, lens_words, told);
        add_lens(lenses, place, title.data, title.len);
    }
    const char *why = count ? NULL : why_not_compiled(d, place, result);
    if (why) {
        add_lens(lenses, place, why, strlen(why));
    }
}

static bool names(const json_t *list, const char *name) {
    return json_any(list, one, strcmp(json_string_value(one), name) == 0);
}

/* Over the templates that are no kernels. */
static void add_template_lenses(const struct document *d, const json_t *result,
                                json_t *list) {
    static const char why[] = "not compiled: nothing instantiates this template";
    const json_t *uncompiled = json_object_get(result, "uncompiled");
    struct device_templates t = {0};
    if (uncompiled) {
        device_templates_read(&t, d->text, d->len);
    }
    list_each(i, one, t.list, t.count) {
        const struct kernel_place place = {.offset = one->offset, .end = one->end};
        if (!one->kernel && names(uncompiled, one->name)) {
            add_lens(list, &place, why, strlen(why));
        }
    }
    device_templates_finish(&t);
}

#define CUDA_LENS(name) &name##_lens,
static const struct cuda_lens *const starters[] = {CUDA_LENSES(CUDA_LENS)};
#undef CUDA_LENS

static json_t *lenses(const struct document *d, const json_t *result) {
    json_t *list = json_array();
    autojson *facts = facts_of(result);
    struct host_code code = {0};
    host_code_scan(d->text, d->len, &code);
    for (size_t i = 0; i < code.kernel_count; i++) {
        add_lenses(d, list, &code.kernels[i], result, facts);
    }
    add_template_lenses(d, result, list);
    for (size_t i = 0; i < ARRAY_LEN(starters); i++) {
        starters[i]->add(d, &code, list);
    }
    host_code_finish(&code);
    return list;
}

/* --- hover --- */

static const char hover_words[] =
    "{kernels<4:**{name~200}** — {^arch|}\n\n"
    "\\| registers \\| spilled \\| stack \\| static shared \\| barriers \\| parameters "
    "\\| code \\|\n"
    "\\|--:\\|--:\\|--:\\|--:\\|--:\\|--:\\|--:\\|\n"
    "\\| {registers|0} \\| {.#spill} \\| [{stack_bytes#bytes}|0 B] \\| "
    "[{static_shared_bytes#bytes}|0 B] \\| {barriers|0} \\| [{param_bytes#bytes}|0 B] \\| "
    "[{code_bytes#bytes}|0 B] \\|\n\n"
    "[\\| threads per block \\| blocks per SM \\| occupancy \\| limited by \\|\n"
    "\\|--:\\|--:\\|--:\\|---\\|\n"
    "{occupancy:\\| {block_threads|0} \\| {blocks_per_sm|0} \\| {percent%.0f} % \\| "
    "{limited_by/, /:{.}} \\|\n}\n]}[… and {kernels-4} more instantiations\n]";

static char *hover_kernel(const char *name, const json_t *result) {
    autojson *facts = facts_of(result);
    autojson *told = json_pack("{s:O*,s:O*}", "arch", json_object_get(result, "arch"),
                               "kernels", json_object_get(facts, name));
    autobuf out = BUF_INIT(64u << 10);
    words_add_as(&out, &manner, hover_words, told);
    return out.len ? buf_detach(&out) : NULL;
}

/* A kernel that the last check has no figures of. */
static char *hover_left(const struct document *d, const struct cuda_token *token,
                        const json_t *result) {
    struct host_code code = {0};
    const char *why = NULL;
    host_code_scan(d->text, d->len, &code);
    for (size_t i = 0; i < code.kernel_count && !why; i++) {
        bool here =
            code.kernels[i].offset <= token->start && token->end <= code.kernels[i].end;
        why = here ? why_not_compiled(d, &code.kernels[i], result) : NULL;
    }
    host_code_finish(&code);
    return why ? xstrdup(why) : NULL;
}

static char *hover_builtin(const char *name, size_t len) {
    const struct cuda_builtin *b = cuda_builtin_find(name, len);
    if (!b || !b->doc) {
        return NULL;
    }
    return b->signature ? xasprintf("```cuda-cpp\n%s\n```\n%s", b->signature, b->doc)
                        : xasprintf("`%s`: %s", b->name, b->doc);
}

#define LIST(title, member) "[" title "{" member "/, /:`{.}`}  \n]"
static const char flags_words[] =
    LIST("Flags from ", "from") LIST("Include folders: ", "include_roots")
    "[Macros: {defines/, /:`{@}=[{.}|{?.=false}false|true]`}  \n]"
    LIST("Options: ", "options") "[Standard: `{std}`  \n]"
    LIST("Not searched, because they are outside the workspace: ", "outside");

/* On the first line: which flags of the project the last check had. */
static char *hover_flags(const json_t *result) {
    const json_t *flags = json_object_get(result, "flags");
    autobuf out = BUF_INIT(8192);
    words_add(&out, flags_words, flags);
    return flags ? buf_detach(&out) : NULL;
}

static char *hover_first_line(const struct document *d, const json_t *result,
                              size_t offset, size_t *start, size_t *end) {
    *start = 0;
    *end = strcspn(d->text, "\n");
    return offset <= *end ? hover_flags(result) : NULL;
}

/* The identifier at or right before the offset; kind CUDA_END when there is none. */
static struct cuda_token identifier_at(const struct document *d, size_t offset) {
    struct cuda_lexer lexer;
    struct cuda_token token, none = {.kind = CUDA_END};
    cuda_lexer_init(&lexer, d->text, d->len);
    while ((token = cuda_lexer_next(&lexer)).kind != CUDA_END && token.start <= offset) {
        if (token.kind == CUDA_IDENTIFIER && offset <= token.end) {
            return token;
        }
    }
    return none;
}

static char *hover(const struct document *d, const json_t *result, size_t offset,
                   size_t *start, size_t *end) {
    struct cuda_token token = identifier_at(d, offset);
    char *text = NULL;
    if (token.kind != CUDA_END) {
        *start = token.start;
        *end = token.end;
        autofree char *name = xstrndup(d->text + token.start, token.end - token.start);
        text = hover_kernel(name, result);
        text = text ? text : hover_left(d, &token, result);
        text = text || with_clangd(d) ? text : hover_builtin(name, strlen(name));
    }
    return text ? text : hover_first_line(d, result, offset, start, end);
}

/* --- symbols --- */

static json_t *symbols(const struct document *d) {
    json_t *list = json_array();
    struct host_code code = {0};
    if (with_clangd(d)) {
        return list;
    }
    host_code_scan(d->text, d->len, &code);
    list_each(i, k, code.kernels, code.kernel_count) {
        json_array_append_new(
            list, json_pack("{s:o, s:s, s:s, s:I, s:I, s:I, s:I}", "name",
                            json_clean_z(k->name), "detail", "__global__", "symbol",
                            "function", "start", (json_int_t)k->signature, "end",
                            (json_int_t)k->body_end, "name_start", (json_int_t)k->offset,
                            "name_end", (json_int_t)k->end));
    }
    host_code_finish(&code);
    return list;
}

/* --- what a lens starts --- */

static json_t *params_of(const struct document *d, const char *operation,
                         const json_t *params) {
    json_t *own = NULL;
    for (size_t i = 0; i < ARRAY_LEN(starters) && !own; i++) {
        own = starters[i]->operation_params(d, operation, params);
    }
    return own;
}

static void outcome_of(const struct document *d, const char *operation,
                       const json_t *answer, json_t **ret_findings,
                       json_t **ret_outcome) {
    for (size_t i = 0; i < ARRAY_LEN(starters); i++) {
        starters[i]->operation_outcome(d, operation, answer, ret_findings, ret_outcome);
    }
}

static const char *const patterns[] = {"*.cu", "*.cuh", "*.ptx", NULL};
static const char *const languages[] = {"cuda-cpp", "cuda", "ptx", NULL};

const struct document_kind cuda_document_kind = {
    .name = "cuda",
    .patterns = patterns,
    .languages = languages,
    .check = spec_document,
    .hover = hover,
    .lenses = lenses,
    .symbols = symbols,
    .operation_params = params_of,
    .operation_outcome = outcome_of,
};
