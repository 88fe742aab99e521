#include "gpu/editor/spec_lens.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/words.h"
#include "gpu/editor/cuda_lens.h"
#include "gpu/editor/json_places.h"
#include "gpu/source/kernel_name.h"
#include "gpu/validate/validate_verdict.h"
#include "protocol/finding.h"

#include <unistd.h>

#define OPERATION "kernel/validate"
#define INIT "kernel/init"
#define SPEC_SUFFIX ".check.json"
#define MAX_SPEC (1u << 20) /* a lens reads no more of it */
#define MAX_MISMATCHES 8
#define MAX_KERNELS 64 /* that have a lens */

/* --- files --- */

static bool has_suffix(const char *path, const char *suffix) {
    size_t len = path ? strlen(path) : 0, tail = strlen(suffix);
    return len > tail && !strcmp(path + len - tail, suffix);
}

static char *with_suffix(const char *path, const char *old, const char *new) {
    return xasprintf("%.*s%s", (int)(strlen(path) - strlen(old)), path, new);
}

/* NULL: no .cu file on disk. */
static char *spec_path_of(const struct document *d) {
    return has_suffix(d->path, ".cu") ? with_suffix(d->path, ".cu", SPEC_SUFFIX) : NULL;
}

char *spec_lens_source_path(const char *spec_path, const json_t *spec) {
    const char *named = json_get_string(spec, "path", NULL);
    if (!has_suffix(spec_path, SPEC_SUFFIX) || json_object_get(spec, "source")) {
        return NULL;
    }
    if (!named) {
        autofree char *cuda = with_suffix(spec_path, SPEC_SUFFIX, ".cu"),
                      *ptx = with_suffix(spec_path, SPEC_SUFFIX, ".ptx");
        return access(cuda, F_OK) < 0 && access(ptx, F_OK) == 0 ? take(ptx) : take(cuda);
    }
    autofree char *folder =
        xstrndup(spec_path, (size_t)(path_basename(spec_path) - spec_path));
    return path_join(folder, named);
}

/* *ret: NULL when it is not a JSON object. False: there is no such file. */
static bool spec_load(const char *path, json_t **ret) {
    autobuf text = BUF_INIT(MAX_SPEC);
    int r = file_read(path, &text, NULL);
    *ret = r < 0 ? NULL : json_loadb(text.data, text.len, 0, NULL);
    return r != -ENOENT;
}

/* --- kernels --- */

/* Does the spec launch this kernel? One that names none is about whatever there is. */
static bool launches(const json_t *spec, const char *kernel) {
    const char *name = json_get_string(spec, "kernel", NULL);
    const json_t *list = json_object_get(spec, "launches");
    bool named = name != NULL, found = name && kernel_same_plain_name(name, kernel);
    json_each(list, i, launch) {
        name = json_get_string(launch, "kernel", NULL);
        named |= name != NULL;
        found |= name && kernel_same_plain_name(name, kernel);
    }
    return found || !named;
}

/* --- lenses --- */

static json_t *run_lens(const struct document *d, size_t start, size_t end) {
    const char *title = json_get_string(d->outcome, "title", "Validate");
    return json_pack("{s:I, s:I, s:s, s:s, s:{s:s}}", "start", (json_int_t)start, "end",
                     (json_int_t)end, "title", title, "operation", OPERATION, "params",
                     "path", d->path);
}

static json_t *init_lens(const struct kernel_place *kernel, const char *source,
                         const char *spec) {
    return json_pack("{s:I, s:I, s:o, s:s, s:{s:s, s:s}}", "start",
                     (json_int_t)kernel->offset, "end", (json_int_t)kernel->end, "title",
                     json_sprintf("Create %s", path_basename(spec)), "operation", INIT,
                     "params", "path", source, "kernel", kernel->name);
}

static void add(const struct document *d, const struct host_code *code, json_t *lenses) {
    autofree char *path = spec_path_of(d);
    json_t *loaded = NULL;
    if (!path || !code->kernel_count) {
        return;
    }
    bool exists = spec_load(path, &loaded);
    autojson *spec = loaded;
    for (size_t i = 0; i < code->kernel_count && i < MAX_KERNELS; i++) {
        const struct kernel_place *k = &code->kernels[i];
        json_t *lens = !exists                   ? init_lens(k, d->path, path)
                       : launches(spec, k->name) ? run_lens(d, k->offset, k->end)
                                                 : NULL;
        if (lens) {
            json_array_append_new(lenses, lens);
        }
    }
}

json_t *spec_lens_of_spec(const struct document *d, const json_t *) {
    json_t *list = json_array();
    if (has_suffix(d->path, SPEC_SUFFIX)) {
        json_array_append_new(list, run_lens(d, 0, d->len > 0));
    }
    return list;
}

/* --- the operation --- */

/* The text as it is in the editor, saved or not. Of the spec: what it says; the kernel is
 * read from disk. */
json_t *spec_lens_params(const struct document *d, const char *operation,
                         const json_t *params) {
    if ((strcmp(operation, OPERATION) != 0 && strcmp(operation, INIT) != 0) || !d->path) {
        return NULL;
    }
    json_t *own = json_copy((json_t *)(uintptr_t)params);
    if (has_suffix(d->path, ".cu")) {
        json_object_set_new(own, "source", json_text(d->text, d->len));
    }
    return own;
}

/* --- the answer as findings --- */

/* Where what has no line of its own is told: the kernel, or the output in the spec. */
static void place_of(const struct document *d, const json_t *names, const char *output,
                     size_t *start, size_t *end) {
    *start = 0;
    *end = d->len > 0;
    if (!has_suffix(d->path, SPEC_SUFFIX)) {
        struct host_code code = {0};
        host_code_scan(d->text, d->len, &code);
        for (size_t i = code.kernel_count; i-- > 0;) {
            if (launches(names, code.kernels[i].name)) {
                *start = code.kernels[i].offset;
                *end = code.kernels[i].end;
            }
        }
        host_code_finish(&code);
        return;
    }
    struct json_places p;
    json_places_read(&p, d->text, d->len);
    for (size_t i = 0; output && i < p.count; i++) {
        size_t key_len, len;
        const char *key = json_place_key(&p, i, &key_len);
        const char *text = json_place_string(&p, i, &len);
        if (key_len == 4 && !memcmp(key, "name", 4) && len == strlen(output) &&
            !memcmp(text, output, len)) {
            *start = p.list[i].start;
            *end = p.list[i].end;
            break;
        }
    }
    json_places_finish(&p);
}

struct telling {
    const struct document *d;
    json_t *spec; /* the names of its kernels */
    json_t *findings;
};

static void tell(const struct telling *t, const char *output, const char *code,
                 enum finding_severity severity, const char *message) {
    const struct document *d = t->d;
    size_t start, end;
    place_of(d, t->spec, output, &start, &end);
    const struct finding_span span = finding_span_in(d->text, d->len, start, end);
    json_array_append_new(t->findings,
                          finding_new("run", code, severity, message, d->path, &span));
}

static const char case_words[] = " ([{sizes/ /:{@}={.}}, ]seed {seed|?})";

static void tell_mismatch(const struct telling *t, const json_t *item,
                          const json_t *output) {
    const json_t *first = json_object_get(output, "first_mismatch");
    const char *name = json_get_string(output, "name", "?");
    autobuf text = BUF_INIT(2048);
    buf_addf(&text, "%.64s%s", name,
             json_array_size(json_object_get(first, "index")) ? "" : " ");
    words_add(&text, ELEMENT_WORDS, first);
    words_add(&text, "; " MISMATCH_WORDS, output);
    words_add(&text, case_words, item);
    tell(t, name, "mismatch", FINDING_ERROR, text.data);
}

/* Of each output the first case that is wrong. */
static void tell_mismatches(const struct telling *t, const json_t *result) {
    const char *told[MAX_MISMATCHES];
    size_t count = 0;
    json_each(json_object_get(result, "cases"), i, item) {
        json_each(json_object_get(item, "outputs"), k, output) {
            const char *name = json_get_string(output, "name", "?");
            bool known = !json_says(output, "verdict", "fail");
            for (size_t n = 0; n < count; n++) {
                known |= !strcmp(told[n], name);
            }
            if (!known && count < MAX_MISMATCHES) {
                told[count++] = name;
                tell_mismatch(t, item, output);
            }
        }
    }
}

/* What did not compile, the check of the document tells itself; what ended a run, its
 * findings. */
static void tell_error(const struct telling *t, const json_t *result) {
    const json_t *error = json_object_get(result, "error");
    const char *stage = json_get_string(error, "stage", ""),
               *hint = json_get_string(error, "hint", NULL);
    if (!error || (!strcmp(stage, "compile") && has_suffix(t->d->path, ".cu")) ||
        (!strcmp(stage, "run") && validate_first_error(result))) {
        return;
    }
    autofree char *message =
        xasprintf("%s: %s%s%s", stage, json_get_string(error, "message", ""),
                  hint ? "; " : "", hint ? hint : "");
    bool unjudged = json_says(result, "verdict", "unjudged");
    tell(t, NULL, json_get_string(error, "code", stage),
         unjudged ? FINDING_WARNING : FINDING_ERROR, message);
}

static void tell_unsupported(const struct telling *t, const json_t *result) {
    json_each(json_object_get(result, "unsupported"), i, one) {
        autofree char *message = xasprintf("the CPU backend does not run %.100s",
                                           json_get_string(one, "opcode", "?"));
        const struct finding_span span = {(int)json_get_integer(one, "line", 0), 0, 0, 0};
        json_array_append_new(
            t->findings, finding_new("run", "unsupported", FINDING_WARNING, message,
                                     json_get_string(one, "file", t->d->path), &span));
    }
}

/* The kernels that the check is about, for the place of what has none. */
static json_t *spec_of(const struct document *d) {
    json_t *spec = NULL;
    autofree char *path = spec_path_of(d);
    if (path) {
        spec_load(path, &spec);
    }
    return spec;
}

/* What is left to fill in, at the kernel, until the next edit. */
static void tell_unknown(const struct document *d, const json_t *answer,
                         json_t **ret_findings, json_t **ret_outcome) {
    autojson *spec = spec_of(d);
    const struct telling t = {.d = d, .spec = spec, .findings = json_array()};
    const char *path = json_get_string(answer, "path", "");
    json_each(json_object_get(answer, "unknown"), i, one) {
        autofree char *message = xasprintf("%s: %s: %s", path_basename(path),
                                           json_get_string(one, "member", "?"),
                                           json_get_string(one, "why", "?"));
        tell(&t, NULL, "unknown_member", FINDING_INFO, message);
    }
    *ret_findings = t.findings;
    *ret_outcome = json_pack("{s:s}", "title", "Validate");
}

void spec_lens_outcome(const struct document *d, const char *operation,
                       const json_t *answer, json_t **ret_findings,
                       json_t **ret_outcome) {
    if (!strcmp(operation, INIT) && d->path) {
        tell_unknown(d, answer, ret_findings, ret_outcome);
        return;
    }
    if (strcmp(operation, OPERATION) != 0 || !d->path) {
        return;
    }
    autojson *spec = spec_of(d);
    const struct telling t = {.d = d, .spec = spec, .findings = json_array()};
    json_array_extend(t.findings, json_object_get(answer, "findings"));
    tell_mismatches(&t, answer);
    tell_error(&t, answer);
    tell_unsupported(&t, answer);
    *ret_findings = t.findings;
    *ret_outcome = json_pack("{s:s}", "title", json_get_string(answer, "summary", "?"));
}

const struct cuda_lens spec_lens = {add, spec_lens_params, spec_lens_outcome};
