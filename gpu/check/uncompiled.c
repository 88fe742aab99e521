#include "gpu/check/uncompiled.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/words.h"
#include "gpu/source/device_templates.h"
#include "gpu/source/kernel_name.h"
#include "gpu/source/kernel_template.h"
#include "protocol/finding.h"

#define LEFT_NAMED 8   /* kernels that one note names */
#define NAME_SHOWN 200 /* characters of a name */

/* The kernels of one file that are not among the compiled ones. */
struct left {
    const struct source_file *file;
    const json_t *compiled;
    struct host_code code;
    bool templates; /* which are meant: templates, or all others */
    const struct kernel_place *first;
    size_t count;
    struct buf names; /* of those after the first */
};

static bool is_template(const struct source_file *file,
                        const struct kernel_place *kernel) {
    return strncmp(file->text + kernel->signature, "template", 8) == 0;
}

static bool is_left(const struct left *left, const struct kernel_place *kernel) {
    json_each(left->compiled, i, compiled) {
        /* scopes that have no name in the source are left out */
        if (kernel_same_plain_name(json_get_string(compiled, "name", ""), kernel->name)) {
            return false;
        }
    }
    return is_template(left->file, kernel) == left->templates;
}

static void left_add(struct left *left, const struct kernel_place *kernel) {
    if (!left->first) {
        left->first = kernel;
    } else if (left->count <= LEFT_NAMED) {
        buf_addf(&left->names, "%s%.*s", left->count > 1 ? ", " : "", NAME_SHOWN,
                 kernel->name);
    }
    left->count++;
}

/* False: none. Finish it in either case. */
static bool left_find(struct left *left, const struct source_file *file,
                      const json_t *compiled, bool templates) {
    *left = (struct left){.file = file, .compiled = compiled, .templates = templates};
    left->names = (struct buf)BUF_INIT(2048);
    if (memmem(file->text, file->len, "global", 6)) {
        host_code_scan(file->text, file->len, &left->code);
    }
    for (size_t i = 0; i < left->code.kernel_count; i++) {
        if (is_left(left, &left->code.kernels[i])) {
            left_add(left, &left->code.kernels[i]);
        }
    }
    return left->first != NULL;
}

static void left_finish(struct left *left) {
    host_code_finish(&left->code);
    buf_finish(&left->names);
}

/* --- what is told of them --- */

static const char explained_words[] =
    "[{?templates}\"{name~200}\" is a template that nothing instantiates, so it was not "
    "compiled, and mistakes in it stay hidden: add an explicit instantiation, for example "
    "`template __global__ void {name~200}<{example~200}>(…);` with the kernel's parameters, "
    "name one in a check spec (\"kernel\"), or check the file that launches it"
    "|\"{name~200}\" was not compiled, because an #if leaves it out: set the macros that it "
    "asks for (defines), or the architecture (arch)]"
    "[. The same holds for {more} more: {names}[ …{?cut}]]";

/* "the 2 kernel templates of k.cuh are not instantiated" */
static const char summary_words[] =
    "the [{?more}{count} kernel[{?templates} template]s|kernel[{?templates} template] "
    "{name~200}][ of {elsewhere~200}] [{?more}are|is] "
    "[{?templates}not instantiated|left out by an #if]";

static json_t *told_of(const struct left *left, bool elsewhere) {
    const struct kernel_place *kernel = left->first;
    autofree char *example =
        left->templates
            ? kernel_template_example(left->file->text + kernel->signature,
                                      kernel->signature_end - kernel->signature)
            : NULL;
    return json_pack("{s:b,s:o,s:s*,s:I,s:o*,s:o,s:b,s:o*}", "templates", left->templates,
                     "name", json_clean_z(kernel->name), "example", example, "count",
                     (json_int_t)left->count, "more",
                     left->count > 1 ? json_integer((json_int_t)left->count - 1) : NULL,
                     "names", json_clean(left->names.data, left->names.len), "cut",
                     left->count - 1 > LEFT_NAMED, "elsewhere",
                     elsewhere ? json_clean_z(left->file->display) : NULL);
}

static void append(json_t *findings, const struct left *left) {
    autobuf words = BUF_INIT(8192);
    const struct finding_span span = finding_span_in(
        left->file->text, left->file->len, left->first->offset, left->first->end);
    autojson *told = told_of(left, false);
    words_add(&words, explained_words, told);
    json_array_append_new(findings, finding_new("upskilld", "not_compiled", FINDING_INFO,
                                                words.data, left->file->display, &span));
}

/* --- the cases --- */

/* Of the first file that has such; what a file that has kernels includes is not its own.
 */
static bool tell_left(const struct check_input *input, const json_t *compiled,
                      bool templates, json_t *findings, struct buf *summary) {
    const struct source_set *sources = &input->closure.sources;
    bool none = !json_array_size(compiled), found = false;
    size_t unit = source_set_unit(sources), end = none ? sources->count : unit + 1;
    for (size_t i = unit; i < end && !found; i++) {
        struct left left;
        found = left_find(&left, &sources->files[i], compiled, templates);
        if (found && findings) {
            append(findings, &left);
        }
        if (found && none) {
            autojson *told = told_of(&left, i > unit);
            words_add(summary, summary_words, told);
        }
        left_finish(&left);
    }
    return found;
}

/* findings may be NULL. */
static void append_plain(const struct check_input *input, const char *code,
                         const char *words, json_t *findings) {
    const struct source_set *sources = &input->closure.sources;
    const char *file = sources->files[source_set_unit(sources)].display;
    if (findings) {
        json_array_append_new(findings, finding_new("upskilld", code, FINDING_INFO, words,
                                                    file, &(struct finding_span){0}));
    }
}

static const char *tell_nothing(const struct check_input *input, const json_t *compiled,
                                json_t *findings, struct buf *summary) {
    buf_adds(summary, "nothing was compiled: ");
    if (tell_left(input, compiled, true, findings, summary) ||
        tell_left(input, compiled, false, findings, summary)) {
        return "nothing_compiled";
    }
    buf_adds(summary, "no kernel here uses the device code");
    append_plain(input, "not_compiled",
                 "the source has device code but no kernel that uses it, so it was not "
                 "compiled, and mistakes in it may stay hidden: check a .cu file that "
                 "uses it, add a kernel that does, or use the option -rdc=true to compile "
                 "what is neither inline nor a template",
                 findings);
    return "nothing_compiled";
}

/* What was blanked may have been a kernel that only the preprocessor sees. */
static const char *tell_hidden(const struct check_input *input, json_t *findings,
                               struct buf *summary) {
    buf_adds(summary,
             "nothing was compiled: no kernel was found, and macros may hide one");
    append_plain(
        input, "not_compiled",
        "no kernel was found, but macros here may produce __global__ or __device__. What "
        "they declare was treated as host code: write the words themselves",
        findings);
    return "nothing_compiled";
}

/* A header without device code is nothing to speak of. */
static const char *tell_no_kernels(const struct check_input *input, json_t *findings,
                                   struct buf *summary) {
    if (input->may_hide_device_code) {
        return tell_hidden(input, findings, summary);
    }
    buf_adds(summary, "there is no device code, so nothing was compiled");
    if (!source_set_unit(&input->closure.sources)) {
        append_plain(input, "no_kernels",
                     "the source defines no kernel and no device function, so there is "
                     "nothing to report on",
                     findings);
    }
    return "no_kernels";
}

/* --- templates beside what was compiled --- */

static bool is_compiled(const json_t *kernels, const struct device_template *one) {
    return json_any(
        kernels, kernel,
        kernel_same_plain_name(json_get_string(kernel, "name", ""), one->name));
}

/* A header may name what the file that includes it defines. */
static bool is_named_elsewhere(const struct source_set *sources, size_t unit,
                               const struct device_template *one) {
    size_t len = strlen(one->name);
    list_each(i, f, sources->files, sources->count) {
        if (i != unit && memmem(f->text, f->len, one->name, len)) {
            return true;
        }
    }
    return false;
}

static void note_functions(const struct source_file *file,
                           const struct device_template *first, const json_t *names,
                           json_t *findings) {
    const struct finding_span span =
        finding_span_in(file->text, file->len, first->offset, first->end);
    autobuf words = BUF_INIT(8192);
    autojson *others = json_copy((json_t *)(uintptr_t)names);
    json_array_remove(others, 0);
    autojson *told = json_pack("{s:o,s:O}", "first", json_clean_z(first->name), "others",
                               others);
    words_add(&words,
              "\"{first~200}\" is a template that no compiled code names, so it was not "
              "compiled, and mistakes in it stay hidden: use it in a kernel, or add an "
              "explicit instantiation"
              "[. The same holds for {others-0} more: {others<8/, /:{.~200}}]",
              told);
    json_array_append_new(findings, finding_new("upskilld", "not_compiled", FINDING_INFO,
                                                words.data, file->display, &span));
}

const char *uncompiled_tell(const struct check_input *input, const json_t *answer,
                            bool explain, json_t *findings, struct buf *summary) {
    const json_t *kernels = json_object_get(answer, "kernels");
    json_t *told = explain ? findings : NULL;
    if (!json_array_size(kernels) && json_get_integer(answer, "functions", 0) <= 0) {
        return input->has_device_code ? tell_nothing(input, kernels, told, summary)
                                      : tell_no_kernels(input, told, summary);
    }
    if (json_array_size(kernels) && !input->options.quick && told) {
        tell_left(input, kernels, true, told, summary);
    }
    return NULL;
}

json_t *uncompiled_templates(const struct check_input *input, const json_t *answer,
                             json_t *findings) {
    const struct source_set *sources = &input->closure.sources;
    const json_t *kernels = json_object_get(answer, "kernels");
    size_t unit = source_set_unit(sources);
    const struct source_file *file = &sources->files[unit];
    const struct device_template *first = NULL;
    struct device_templates t;
    json_t *names = json_array();
    autojson *functions = json_array();
    device_templates_read(&t, file->text, file->len);
    for (size_t i = 0; i < t.count; i++) {
        t.list[i].used = t.list[i].kernel && is_compiled(kernels, &t.list[i]);
    }
    device_templates_follow(&t, file->text, file->len);
    list_each(i, one, t.list, t.count) {
        if (!one->used && (one->kernel || !is_named_elsewhere(sources, unit, one))) {
            json_array_append_new(names, json_clean_z(one->name));
            first = first || one->kernel ? first : one;
            if (!one->kernel) {
                json_array_append(functions,
                                  json_array_get(names, json_array_size(names) - 1));
            }
        }
    }
    if (first && findings) {
        note_functions(file, first, functions, findings);
    }
    device_templates_finish(&t);
    return names;
}
