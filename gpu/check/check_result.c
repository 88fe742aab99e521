#include "gpu/check/check_result.h"

#include "base/buf.h"
#include "base/lines.h"
#include "base/mem.h"
#include "gpu/facts/kernel_facts.h"
#include "gpu/fixes/consequences.h"
#include "gpu/fixes/fixes.h"
#include "gpu/source/kernel_template.h"
#include "protocol/finding.h"

#include <stdint.h>
#include <string.h>

#define MAX_STATIC_SHARED 49152 /* bytes per block: CUDA C++ Programming Guide */

static bool is_missing_include(const json_t *finding) {
    const char *message = json_get_string(finding, "message", "");
    return strstr(message, "cannot open source file") ||
           strstr(message, "could not open source file");
}

static bool same_line(const json_t *a, const json_t *b) {
    return json_get_integer(a, "line", 0) == json_get_integer(b, "line", -1) &&
           strcmp(json_get_string(a, "file", ""), json_get_string(b, "file", "")) == 0;
}

/* An include that was refused here is then missing for the compiler: one finding is
 * enough, the one that says why. */
static void drop_told(json_t *findings, const json_t *told) {
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        for (size_t k = 0; is_missing_include(finding) && k < json_array_size(told);
             k++) {
            if (same_line(finding, json_array_get(told, k))) {
                json_array_remove(findings, i);
                break;
            }
        }
    }
}

static struct finding_span span_in(const struct source_file *file, size_t start,
                                   size_t end) {
    struct lines lines;
    lines_init(&lines, file->text, file->len);
    size_t first = lines_at(&lines, start), last = lines_at(&lines, end);
    struct finding_span span = {
        .line = (int)first + 1,
        .column = (int)(start - lines.starts[first]) + 1,
        .end_line = (int)last + 1,
        .end_column = (int)(end - lines.starts[last]) + 1,
    };
    lines_finish(&lines);
    return span;
}

#define LEFT_NAMED 8   /* kernels that one note names */
#define NAME_SHOWN 200 /* characters of a name */

/* Whether the compiler's "ns::k<float>" is the template kernel k; scopes that have no
 * name in the source are left out, so the last part decides. */
static bool is_instance(const char *compiled, const char *kernel) {
    const char *scope = strrchr(kernel, ':');
    const char *name = scope ? scope + 1 : kernel;
    size_t len = strlen(name), base = strcspn(compiled, "<");
    return base >= len && memcmp(compiled + base - len, name, len) == 0 &&
           (base == len || compiled[base - len - 1] == ':');
}

static bool is_left(const struct source_file *file, const struct kernel_place *kernel,
                    const json_t *kernels) {
    const json_t *compiled;
    size_t i;
    json_array_foreach(kernels, i, compiled) {
        if (is_instance(json_get_string(compiled, "name", ""), kernel->name)) {
            return false;
        }
    }
    return !json_array_size(kernels) ||
           strncmp(file->text + kernel->signature, "template", 8) == 0;
}

/* The names of those after the first; how many there are. */
static size_t add_left(const struct source_file *file, const struct host_code *code,
                       size_t first, const json_t *kernels, struct buf *names) {
    size_t count = 0;
    for (size_t i = first + 1; i < code->kernel_count; i++) {
        if (is_left(file, &code->kernels[i], kernels)) {
            if (count < LEFT_NAMED) {
                buf_addf(names, "%s%.*s", count ? ", " : "", NAME_SHOWN,
                         code->kernels[i].name);
            }
            count++;
        }
    }
    return count;
}

static json_t *template_note(const struct source_file *file, const struct host_code *code,
                             size_t first, const json_t *kernels) {
    const struct kernel_place *kernel = &code->kernels[first];
    struct finding_span span = span_in(file, kernel->offset, kernel->end);
    autofree char *example = kernel_template_example(
        file->text + kernel->signature, kernel->signature_end - kernel->signature);
    autobuf names = BUF_INIT(2048), words = BUF_INIT(8192);
    size_t more = add_left(file, code, first, kernels, &names);
    buf_addf(&words,
             "\"%.*s\" is a template (or inside one) and nothing that the compiler sees "
             "instantiates it, so it was parsed but not compiled: add an explicit "
             "instantiation, for example `template __global__ void %.*s<%.*s>(…);` with "
             "the kernel's parameters, or name one in a check spec (\"kernel\")",
             NAME_SHOWN, kernel->name, NAME_SHOWN, kernel->name, NAME_SHOWN, example);
    if (more) {
        buf_addf(&words, ". So it is with %zu more: %s%s", more, names.data,
                 more > LEFT_NAMED ? " …" : "");
    }
    return finding_new("upskilld", "no_kernels", FINDING_INFO, words.data, file->display,
                       &span);
}

/* Of the first template kernel of a file that was not compiled; NULL: all were. */
static json_t *left_note(const struct source_file *file, const json_t *kernels) {
    json_t *note = NULL;
    struct host_code code = {0};
    host_code_scan(file->text, file->len, &code);
    for (size_t i = 0; i < code.kernel_count && !note; i++) {
        note = is_left(file, &code.kernels[i], kernels)
                   ? template_note(file, &code, i, kernels)
                   : NULL;
    }
    host_code_finish(&code);
    return note;
}

/* A source that compiled to nothing, or not to all of its kernels, looks like success;
 * say what is missing. A header without kernels is nothing to speak of, and what a file
 * that has some includes is not its own. */
static void note_no_kernels(const struct source_set *sources, const json_t *kernels,
                            json_t *findings) {
    json_t *note = NULL;
    size_t files = json_array_size(kernels) ? 1 : sources->count;
    for (size_t i = 0; i < files && !note; i++) {
        note = left_note(&sources->files[i], kernels);
    }
    const struct source_file *unit = &sources->files[0];
    bool header = sources->count > 1 && strcmp(unit[0].display, unit[1].display) == 0;
    if (!note && !header && !json_array_size(kernels)) {
        note = finding_new("upskilld", "no_kernels", FINDING_INFO,
                           "the source defines no __global__ function, so there is no "
                           "kernel to report on",
                           unit->display, &(struct finding_span){0});
    }
    if (note) {
        json_array_append_new(findings, note);
    }
}

/* ptxas rejects this for every target but sm_90a, whose cubins then hold what CUDA
 * documents as not launchable without the opt-in that only dynamic shared memory has. */
static void warn_static_shared(const json_t *kernels, json_t *findings) {
    const json_t *kernel;
    size_t i;
    json_array_foreach(kernels, i, kernel) {
        json_int_t bytes = json_get_integer(kernel, "static_shared_bytes", 0);
        if (bytes <= MAX_STATIC_SHARED) {
            continue;
        }
        int line = (int)json_get_integer(kernel, "line", 0);
        int column = (int)json_get_integer(kernel, "column", 0);
        const struct finding_span span = {line, column, line, column};
        autofree char *message = xasprintf(
            "%s declares %lld bytes of static shared memory, more than the %d a block "
            "gets "
            "unasked: make it dynamic (extern __shared__) and raise "
            "cudaFuncAttributeMaxDynamicSharedMemorySize, or the launch can fail",
            json_get_string(kernel, "name", "a kernel"), (long long)bytes,
            MAX_STATIC_SHARED);
        json_array_append_new(
            findings, finding_new("upskilld", "static_shared_too_large", FINDING_WARNING,
                                  message, json_get_string(kernel, "file", NULL), &span));
    }
}

/* What only the blanked host code used is not unused. */
static void drop_unused_functions(json_t *findings) {
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        if (strcmp(json_get_string(finding, "code", ""), "177") == 0 &&
            strncmp(json_get_string(finding, "message", ""), "function ", 9) == 0) {
            json_array_remove(findings, i);
        }
    }
}

/* The assembler's advice on speed is about code of the cheapest optimisation: full checks
 * give the true one. */
static void drop_speed_advice(json_t *findings) {
    for (size_t i = json_array_size(findings); i-- > 0;) {
        const json_t *finding = json_array_get(findings, i);
        if (strcmp(json_get_string(finding, "source", ""), "ptxas") == 0 &&
            strncmp(json_get_string(finding, "message", ""), "Potential Performance Loss",
                    26) == 0) {
            json_array_remove(findings, i);
        }
    }
}

static json_t *copied(const json_t *answer, const char *key, json_t *fallback) {
    json_t *value = json_object_get(answer, key);
    if (!value) {
        return fallback;
    }
    json_decref(fallback);
    return json_deep_copy(value);
}

/* More than an honest worker sends: what is done with them takes the square of time. */
#define MAX_ITEMS 5000

static bool answer_is_sound(const json_t *answer) {
    static const char *const lists[] = {"diagnostics", "kernels"};
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const json_t *list = json_object_get(answer, lists[i]);
        const json_t *item;
        size_t k;
        if (list && (!json_is_array(list) || json_array_size(list) > MAX_ITEMS)) {
            return false;
        }
        json_array_foreach(list, k, item) {
            if (!json_is_object(item)) {
                return false;
            }
        }
    }
    return json_is_string(json_object_get(answer, "outcome"));
}

/* By the worker, which may say anything. */
static json_int_t omitted_of(const json_t *answer) {
    json_int_t omitted = json_get_integer(answer, "omitted", 0);
    return omitted < 0 ? 0 : omitted > INT32_MAX ? INT32_MAX : omitted;
}

json_t *check_result_new(const struct check_input *input, const json_t *answer,
                         json_t *note, bool *keep) {
    if (!answer_is_sound(answer)) {
        return NULL;
    }
    const char *outcome = json_get_string(answer, "outcome", "");
    bool compiled = strcmp(outcome, "compiled") == 0;
    *keep = compiled || strcmp(outcome, "rejected") == 0;
    json_t *findings = copied(answer, "diagnostics", json_array());
    json_t *kernels = copied(answer, "kernels", json_array());
    drop_told(findings, input->closure.findings);
    if (input->host_stripped) {
        drop_unused_functions(findings);
    }
    if (input->options.quick) {
        drop_speed_advice(findings);
    }
    json_array_extend(findings, input->closure.findings);
    warn_static_shared(kernels, findings);
    fixes_add(findings, &input->closure.sources, input->options.arch);
    consequences_fold(findings);
    if (note) {
        json_array_append(findings, note);
    } else if (compiled && !input->options.quick) {
        note_no_kernels(&input->closure.sources, kernels, findings);
    }
    size_t more = findings_tidy(findings, CHECK_MAX_FINDINGS);
    json_t *result = json_pack(
        "{s:b, s:s, s:s, s:o, s:b, s:o, s:o, s:I, s:o, s:o}", "ok", 0, "arch",
        input->options.arch, "mode", input->host_stripped ? "host-stripped" : "device",
        "compiler", copied(answer, "compiler", json_null()), "cached", 0, "compile_ms",
        copied(answer, "compile_ms", json_real(0)), "diagnostics", findings, "omitted",
        omitted_of(answer) + (json_int_t)more, "confinement",
        copied(answer, "confinement", json_array()), "kernels", kernels);
    if (!*keep) {
        json_object_set_new(result, "outcome", json_text(outcome, strlen(outcome)));
    }
    json_object_set_new(result, "precompiled",
                        copied(answer, "precompiled", json_string("none")));
    if (input->options.want_ptx && json_is_string(json_object_get(answer, "ptx"))) {
        json_object_set(result, "ptx", json_object_get(answer, "ptx"));
    }
    if (input->options.want_cubin && json_is_string(json_object_get(answer, "cubin"))) {
        json_object_set(result, "cubin", json_object_get(answer, "cubin"));
    }
    return result;
}

static bool has_error(const json_t *findings) {
    const json_t *finding;
    size_t i;
    json_array_foreach(findings, i, finding) {
        if (strcmp(json_get_string(finding, "severity", ""), "error") == 0) {
            return true;
        }
    }
    return false;
}

json_t *check_result_complete(const json_t *base, const json_t *launch, bool cached) {
    json_t *findings = json_deep_copy(json_object_get(base, "diagnostics"));
    json_t *kernels = json_deep_copy(json_object_get(base, "kernels"));
    kernel_facts_judge(kernels, json_get_string(base, "arch", ""), launch, findings);
    size_t more = findings_tidy(findings, CHECK_MAX_FINDINGS);
    json_int_t omitted = json_get_integer(base, "omitted", 0) + (json_int_t)more;
    bool ok = !has_error(findings) && !json_object_get(base, "outcome");
    json_t *result = json_copy((json_t *)(uintptr_t)base); /* it changes nothing */
    json_object_set_new(result, "diagnostics", findings);
    json_object_set_new(result, "kernels", kernels);
    json_object_set_new(result, "omitted", json_integer(omitted));
    json_object_set_new(result, "ok", json_boolean(ok));
    json_object_set_new(result, "cached", json_boolean(cached));
    return result;
}

void check_result_judge_strictly(json_t *result) {
    const json_t *findings = json_object_get(result, "diagnostics");
    if (json_get_bool(result, "ok", 0) && findings_count(findings, FINDING_WARNING)) {
        json_object_set_new(result, "ok", json_false());
        json_object_set_new(result, "strict", json_true());
    }
}
