#include "gpu/editor/spec_document.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/work.h"
#include "gpu/editor/spec_completion.h"
#include "gpu/editor/spec_lens.h"
#include "gpu/editor/spec_members.h"
#include "gpu/source/host_code.h"
#include "gpu/source/kernel_name.h"
#include "gpu/source/kernel_parameters.h"
#include "gpu/spec/rounded_args.h"
#include "gpu/validate/argument_order.h"
#include "gpu/validate/kernel_validate.h"
#include "protocol/finding.h"
#include "protocol/schema/schema.h"

#define MAX_FINDINGS 100
#define MAX_SYMBOLS 1000
#define MAX_SOURCE (4u << 20)

/* A text that is judged. */
struct judge {
    const char *text, *name;
    size_t len;
    struct json_places places;
    struct lines lines;
    json_t *findings; /* borrowed */
};

/* --- places --- */

static void tell(struct judge *j, enum finding_severity severity, const char *code,
                 size_t start, size_t end, const char *message) {
    const struct finding_span span = finding_span_of(&j->lines, start, end);
    json_array_append_new(
        j->findings, finding_new("upskilld", code, severity, message, j->name, &span));
}

/* A container is told by its name, or else by its bracket: it may have many lines. */
static void tell_at(struct judge *j, enum finding_severity severity, const char *code,
                    size_t place, bool key, const char *message) {
    const struct json_place none = {.end = j->len > 0}, *p = &none;
    if (place == SIZE_MAX && j->places.count) {
        place = 0;
    }
    if (place != SIZE_MAX && j->places.count) {
        p = &j->places.list[place];
    }
    bool container = p->kind == '{' || p->kind == '[';
    if (p->key_end && (key || container || !p->kind)) {
        tell(j, severity, code, p->key, p->key_end, message);
    } else {
        tell(j, severity, code, p->start, container ? p->start + 1 : p->end, message);
    }
}

/* What begins with the path of its field: "args[2].shape[0]: unknown size". */
static void tell_field(struct judge *j, enum finding_severity severity, const char *code,
                       const char *message) {
    const char *path = message, *colon;
    if (!strncmp(path, "case ", 5) && (colon = strstr(path, ": "))) {
        path = colon + 2;
    }
    size_t len = strcspn(path, ": ");
    bool whole = false;
    size_t place = json_places_find(&j->places, path, len, &whole);
    place = whole || path[len] == ':' ? place : SIZE_MAX;
    bool key = whole && !strncmp(path + len, ": unknown;", 10);
    tell_at(j, severity, code, place, key, message);
}

static void tell_error(struct judge *j, const char *code, const char *message) {
    tell_field(j, FINDING_ERROR, code, message);
}

/* --- JSON --- */

/* The start of the token that ends here: a string, a word, or one character. */
static size_t token_start(const char *text, size_t end) {
    size_t start = end;
    if (end > 1 && text[end - 1] == '"') {
        const char *quote = memrchr(text, '"', end - 1);
        size_t line = quote ? (size_t)(quote - text) : 0;
        return quote && !memchr(text + line, '\n', end - line) ? line : end - 1;
    }
    while (start > 0 && end - start < 64 && !strchr("{}[],:\" \t\r\n", text[start - 1])) {
        start--;
    }
    return start == end && start > 0 ? start - 1 : start;
}

/* jansson tells where it stopped: behind the token that it did not expect. */
static void tell_syntax(struct judge *j, const char *code, const json_error_t *error) {
    size_t end = error->position > 0 ? (size_t)error->position : 0;
    end = end > j->len ? j->len : end;
    while (end > 0 && strchr(" \t\r\n", j->text[end - 1])) {
        end--;
    }
    size_t start = token_start(j->text, end);
    while (start > 0 && ((unsigned char)j->text[start] & 0xc0) == 0x80) {
        start--;
    }
    tell(j, FINDING_ERROR, code, start, end, error->text);
}

static json_t *parse(struct judge *j) {
    json_error_t error;
    json_t *spec = json_loadb(j->text, j->len, JSON_REJECT_DUPLICATES, &error);
    if (!spec && json_error_code(&error) == json_error_duplicate_key) {
        tell_syntax(j, "duplicate_member", &error);
        spec = json_loadb(j->text, j->len, 0, &error);
    }
    if (!spec) {
        tell_syntax(j, "json", &error);
    } else if (!json_is_object(spec)) {
        json_decref(spec);
        spec = NULL;
        tell_at(j, FINDING_ERROR, "bad_spec", SIZE_MAX, false,
                "a check spec is a JSON object");
    }
    return spec;
}

/* --- members --- */

static bool judge_members(struct judge *j, const json_t *spec) {
    const json_t *known = json_object_get(spec_members_schema(), "properties");
    bool good = true;
    json_each_member(spec, name, value) {
        if (json_array_size(j->findings) == MAX_FINDINGS) {
            break;
        }
        if (!json_object_get(known, name)) {
            autofree char *message =
                xasprintf("%.64s is not a member of a check spec", name);
            tell_at(j, FINDING_ERROR, "unknown_member",
                    json_place_member(&j->places, 0, name), true, message);
            good = false;
        }
    }
    return good;
}

/* The operation's own schema: what the reader of specs leaves to it. */
static bool judge_types(struct judge *j, const json_t *spec) {
    struct schema *schema = NULL;
    struct err err = {0};
    autofree char *pointer = NULL;
    autojson *params = json_copy((json_t *)(uintptr_t)spec);
    json_object_del(params, "$schema");
    json_object_del(params, "comment");
    if (!json_object_get(params, "path")) {
        json_object_set_new(params, "path", json_string("k.cu"));
    }
    if (schema_new(validate_operations[0].params_schema, &schema, &err) < 0) {
        return true;
    }
    int r = schema_check(schema, params, &pointer, &err);
    schema_free(schema);
    if (r < 0) {
        size_t place = pointer ? json_places_pointer(&j->places, pointer) : SIZE_MAX;
        tell_at(j, FINDING_ERROR, "bad_spec", place, false, err.msg);
    }
    return r >= 0;
}

static bool judge_cases(struct judge *j, const struct kernel_spec *spec) {
    char rounded[1024];
    bool told = false;
    for (size_t i = 0; i < spec->case_count; i++) {
        struct spec_case c;
        struct err err = {0};
        if (spec_case_resolve(&c, spec, i, &err) < 0) {
            tell_error(j, "bad_spec", err.msg);
            return false;
        }
        if (!told && case_rounded_argument(&c, rounded, sizeof rounded)) {
            tell_field(j, FINDING_WARNING, ROUNDED_ARGS_CODE, rounded);
            told = true;
        }
        spec_case_finish(&c);
    }
    return true;
}

/* --- against the kernel's source --- */

static const struct kernel_place *kernel_named(const struct host_code *code,
                                               const char *name) {
    for (size_t i = 0; name && i < code->kernel_count; i++) {
        if (kernel_same_plain_name(code->kernels[i].name, name)) {
            return &code->kernels[i];
        }
    }
    return !name && code->kernel_count == 1 ? code->kernels : NULL;
}

static void judge_order(struct judge *j, const struct kernel_spec *spec, size_t i,
                        const json_t *names) {
    char path[64];
    autofree char *words = argument_order_words(spec, i, names);
    snprintf(path, sizeof path, "%sargs", spec->launches[i].at);
    if (words) {
        tell_at(j, FINDING_WARNING, "argument_order",
                json_places_find(&j->places, path, strlen(path), NULL), true, words);
    }
}

/* (void) is none. */
static size_t parameter_count(const json_t *names) {
    const char *first = json_string_value(json_array_get(names, 0));
    size_t count = json_array_size(names);
    return count == 1 && !strcmp(first, "void") ? 0 : count;
}

static void judge_launch(struct judge *j, const struct kernel_spec *spec, size_t i,
                         const char *text, const struct host_code *code) {
    const struct spec_launch *launch = &spec->launches[i];
    const struct kernel_place *kernel = kernel_named(code, launch->kernel);
    char path[64];
    if (!kernel && (launch->kernel || code->kernel_count > 1)) {
        autofree char *message =
            launch->kernel
                ? xasprintf("the source has no kernel %.100s", launch->kernel)
                : xstrdup(
                      "the source has several kernels: choose one with \"kernel\"");
        snprintf(path, sizeof path, "%skernel", launch->at);
        tell_at(j, FINDING_WARNING, "unknown_kernel",
                json_places_find(&j->places, path, strlen(path), NULL), false, message);
        return;
    }
    autojson *names = kernel && kernel->signature_end > kernel->end
                          ? kernel_parameter_names(text + kernel->end,
                                                   kernel->signature_end - kernel->end)
                          : NULL;
    size_t count = parameter_count(names);
    if (names && count != launch->arg_count) {
        autofree char *message =
            xasprintf("%s takes %zu argument%s, this gives %zu", kernel->name, count,
                      count == 1 ? "" : "s", launch->arg_count);
        snprintf(path, sizeof path, "%sargs", launch->at);
        tell_at(j, FINDING_WARNING, "argument_count",
                json_places_find(&j->places, path, strlen(path), NULL), true, message);
    }
    if (names) {
        judge_order(j, spec, i, names);
    }
}

/* Macros may hide kernels and parameters from the scan, so these are warnings. */
static void judge_source(struct judge *j, const struct kernel_spec *spec,
                         const char *path) {
    autofree char *source_path = spec_lens_source_path(path, spec->json);
    autobuf text = BUF_INIT(MAX_SOURCE);
    if (!source_path || file_read(source_path, &text, NULL) < 0) {
        return;
    }
    struct host_code code = {0};
    host_code_scan(text.data, text.len, &code);
    for (size_t i = 0; i < spec->launch_count && code.kernel_count; i++) {
        judge_launch(j, spec, i, text.data, &code);
    }
    host_code_finish(&code);
}

static void judge_spec(struct judge *j, const json_t *spec, const char *path) {
    struct kernel_spec read;
    struct err err = {0};
    if (!judge_members(j, spec)) {
        return;
    }
    if (kernel_spec_read(&read, spec, &err) < 0) {
        tell_error(j, "bad_spec", err.msg);
        return;
    }
    if (judge_types(j, spec) && judge_cases(j, &read)) {
        if (path) {
            judge_source(j, &read, path);
        }
        if (read.expect == EXPECT_NONE) {
            tell_at(
                j, FINDING_INFO, "no_expectation",
                json_place_member(&j->places, 0, "expect"), true,
                "nothing says what the outputs should be, so the kernel will run but not "
                "be judged. \"expect\" takes {\"op\": …}, {\"expression\": {…}}, "
                "{\"kernel\": {…}}, {\"values\": {…}} or {\"files\": {…}}");
        }
    }
    kernel_spec_finish(&read);
}

void spec_document_judge(const char *text, size_t len, const char *path, const char *name,
                         json_t *findings) {
    struct judge j = {.text = text, .name = name, .len = len, .findings = findings};
    json_places_read(&j.places, text, len);
    lines_init(&j.lines, text, len);
    autojson *spec = parse(&j);
    if (spec) {
        judge_spec(&j, spec, path);
    }
    lines_finish(&j.lines);
    json_places_finish(&j.places);
}

/* --- the kind; judged on another thread, the document does not change meanwhile --- */

struct judging {
    struct document_check *check;
    json_t *findings;
};

static void judge_work(void *data) {
    struct judging *j = data;
    const struct document *d = j->check->document;
    j->findings = json_array();
    spec_document_judge(d->text, d->len, d->path,
                        d->path ? path_basename(d->path) : d->uri, j->findings);
    findings_tidy(j->findings, MAX_FINDINGS);
}

static void judge_done(void *data) {
    autofree struct judging *j = data;
    document_check_done(j->check, j->findings, NULL);
}

static void spec_document(struct document_check *check) {
    struct judging *j = xcalloc(1, sizeof *j);
    spec_members_schema(); /* made here, on the loop's thread */
    j->check = check;
    work_start(check->origin->loop, judge_work, judge_done, j);
}

static json_t *symbols(const struct document *d) {
    struct json_places p;
    json_t *list = json_array();
    json_places_read(&p, d->text, d->len);
    for (size_t i = 1; i < p.count && json_array_size(list) < MAX_SYMBOLS; i++) {
        const struct json_place *m = &p.list[i];
        size_t len;
        const char *key = json_place_key(&p, i, &len);
        if (m->parent == 0 && m->key_end) {
            json_array_append_new(
                list, json_pack("{s:o, s:s, s:s, s:I, s:I}", "name", json_clean(key, len),
                                "detail", "", "symbol", "key", "start",
                                (json_int_t)m->key, "end", (json_int_t)m->key_end));
        }
    }
    json_places_finish(&p);
    return list;
}

static const char *const patterns[] = {"*.check.json", NULL};
static const char *const languages[] = {NULL};

const struct document_kind spec_document_kind = {
    .name = "check",
    .patterns = patterns,
    .languages = languages,
    .check = spec_document,
    .hover = check_hover,
    .symbols = symbols,
    .completions = spec_completions,
    .lenses = spec_lens_of_spec,
    .operation_params = spec_lens_params,
    .operation_outcome = spec_lens_outcome,
};
