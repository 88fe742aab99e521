#include "gpu/draft/kernel_init.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/work.h"
#include "gpu/check/check_input.h"
#include "gpu/draft/ptx_draft.h"
#include "gpu/draft/spec_draft.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/kernel_init.operation.h"
#include "gpu/source/kernel_name.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { KERNELS_MAX = 256, NAMES_SHOWN = 12 };

struct init {
    struct call *call;
    struct work *work;
    const json_t *params;
    char **roots;
    json_t *result;
    struct check_refusal refusal;
    bool refused;
};

static bool refuse(struct init *s, enum call_fault fault, const char *reason,
                   const char *hint, const char *message) {
    s->refused = true;
    check_refuse(&s->refusal, 0, fault, reason, hint, "%s", message);
    return false;
}

/* --- which kernel --- */

static bool has_name(const struct host_program *p, const struct declaration *k,
                     const char *name) {
    autofree char *own = host_qualified_name(&p->b.tokens, &p->b.declarations, k);
    return kernel_name_ends_with(own, name);
}

static bool is_own(const struct host_program *p, const struct declaration *k) {
    return p->b.tokens.list[k->name].start >= p->own;
}

/* Those that the request may mean: by their name, or the file's own. */
static size_t candidates(const struct host_program *p, const char *name,
                         const struct declaration **list, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (name ? has_name(p, list[i], name) : is_own(p, list[i])) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* The names are freed. meant: how many of them the request may mean. */
static bool refuse_kernels(struct init *s, char **names, size_t count, size_t meant) {
    autobuf text = BUF_INIT(400);
    const char *name = json_get_string(s->params, "kernel", NULL);
    if (count == 0) {
        return refuse(s, CALL_BAD_PARAMS, "no_kernel",
                      "name a file that has a __global__ function with a body, or an "
                      ".entry of PTX",
                      "the source has no kernel");
    }
    if (name) {
        buf_addf(&text, "%s called %.100s",
                 meant ? "several kernels are" : "no kernel is", name);
    } else {
        buf_addf(&text, "the file has %zu kernels", count);
    }
    for (size_t i = 0; i < count && i < NAMES_SHOWN; i++) {
        buf_addf(&text, "%s%.60s", i ? ", " : ": ", names[i]);
    }
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    return refuse(s, CALL_BAD_PARAMS, "which_kernel", "name one of them as `kernel`",
                  text.data);
}

static const struct declaration *kernel_find(struct init *s, const struct host_program *p,
                                             bool *several) {
    const struct declaration *all[KERNELS_MAX], *list[KERNELS_MAX];
    const char *name = json_get_string(s->params, "kernel", NULL);
    size_t count = spec_draft_kernels(p, all, KERNELS_MAX);
    memcpy(list, all, sizeof list);
    size_t kept = candidates(p, name, list, count);
    *several = count > 1;
    if (kept == 0 || (kept > 1 && !name)) {
        char *names[KERNELS_MAX];
        size_t shown = kept ? kept : count;
        for (size_t i = 0; i < shown; i++) {
            names[i] = host_qualified_name(&p->b.tokens, &p->b.declarations,
                                           kept ? list[i] : all[i]);
        }
        refuse_kernels(s, names, shown, kept);
    } else {
        return list[0];
    }
    return NULL;
}

/* The entries of PTX are called by their symbols or as a source has them. */
static const struct ptx_function *entry_find(struct init *s, const struct ptx_module *m,
                                             char **ret_name, bool *several) {
    const char *name = json_get_string(s->params, "kernel", NULL);
    const struct ptx_function *found = NULL;
    char *names[KERNELS_MAX];
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < m->function_count && count < KERNELS_MAX; i++) {
        const struct ptx_function *f = &m->functions[i];
        if (f->is_entry && !f->is_declaration) {
            char *own = names[count++] = kernel_name_new(f->name);
            bool meant = !name || !strcmp(f->name, name) ||
                         kernel_spelt_alike(own, name) ||
                         kernel_name_ends_with(own, name);
            kept += meant;
            found = meant ? f : found;
        }
    }
    *several = count > 1;
    if (kept != 1) {
        refuse_kernels(s, names, count, kept);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        free(names[i]);
    }
    *ret_name = kernel_name_new(found->name);
    return found;
}

/* --- the file --- */

static char *spec_path(const char *path) {
    const char *base = path_basename(path), *dot = strrchr(base, '.');
    return xasprintf("%.*s.check.json", (int)(dot ? (size_t)(dot - path) : strlen(path)),
                     path);
}

static bool write_beneath(struct init *s, const char *root_path, const char *path,
                          const char *text) {
    struct root root;
    struct err err = {0};
    autobuf there = BUF_INIT(1);
    const char *rel = path + strlen(root_path);
    rel += *rel == '/';
    if (root_open(&root, root_path, &err) < 0) {
        return refuse(s, CALL_INTERNAL, "io", NULL, err.msg);
    }
    bool exists = root_read(&root, rel, &there, NULL) != -ENOENT;
    struct stat st = {.st_mode = 0644};
    if (exists) {
        (void)fstatat(root.fd, rel, &st, 0);
    }
    if (exists && !json_get_bool(s->params, "force", 0)) {
        autofree char *words = xasprintf("%.400s exists", path);
        refuse(s, CALL_REFUSED, "exists",
               "`force` replaces it, `print` shows the new one", words);
    } else if (root_write(&root, rel, text, strlen(text), st.st_mode & 0777, &err) < 0) {
        refuse(s, CALL_REFUSED, "io", NULL, err.msg);
    }
    root_close(&root);
    return !s->refused;
}

/* The source lies beneath one of the roots, or it could not have been read. */
static bool write_spec(struct init *s, const char *given, const char *text) {
    const char *const *roots = (const char *const *)s->roots;
    autofree char *joined =
        *given == '/' || !*roots ? xstrdup(given) : path_join(*roots, given);
    autofree char *source = path_normalize(joined);
    autofree char *path = spec_path(source);
    for (; *roots; roots++) {
        if (path_is_beneath(path, *roots)) {
            json_object_set_new(s->result, "path", json_clean_z(path));
            return write_beneath(s, *roots, path, text);
        }
    }
    return refuse(s, CALL_REFUSED, "outside_roots", NULL,
                  "the file is outside the folders this daemon may use");
}

/* --- on a thread --- */

static bool program_read(const struct source_set *sources, struct host_program *p) {
    const char *files[SOURCE_SET_MAX_FILES];
    size_t lens[SOURCE_SET_MAX_FILES], count = 0, unit = source_set_unit(sources);
    for (size_t n = sources->count; n-- > 0;) {
        const struct source_file *f = &sources->files[n];
        if (n >= unit) { /* the unit last */
            files[count] = f->original ? f->original : f->text;
            lens[count++] = f->len;
        }
    }
    return host_program_init(p, files, lens, count, false) ||
           (count > 1 &&
            host_program_init(p, files + count - 1, lens + count - 1, 1, false));
}

/* A spec knows NAME.cu by its own name alone. */
static void name_source(json_t *spec, const char *path) {
    size_t len = path ? strlen(path) : 0;
    if (path && (len < 3 || strcmp(path + len - 3, ".cu") != 0)) {
        json_object_set_new(spec, "path", json_clean_z(path_basename(path)));
    }
}

/* Consumes spec and unknown. */
static void answer(struct init *s, const char *name, json_t *spec, json_t *unknown) {
    const char *path = json_get_string(s->params, "path", NULL);
    name_source(spec, path);
    autofree char *text = spec_draft_text(spec);
    s->result = json_pack("{s:o, s:o, s:o}", "kernel", json_clean_z(name), "spec", spec,
                          "unknown", unknown);
    if (!path || json_get_bool(s->params, "print", 0)) {
        json_object_set_new(s->result, "text", json_clean_z(text));
    } else {
        write_spec(s, path, text);
    }
}

static void draft_kernel(struct init *s, struct host_program *p) {
    bool several;
    const struct declaration *kernel = kernel_find(s, p, &several);
    json_t *unknown = NULL,
           *spec = kernel ? spec_draft(p, kernel, several, &unknown) : NULL;
    if (spec) {
        autofree char *name =
            host_qualified_name(&p->b.tokens, &p->b.declarations, kernel);
        answer(s, name, spec, unknown);
        return;
    }
    json_decref(unknown);
    if (kernel) {
        refuse(s, CALL_BAD_PARAMS, "bad_kernel", NULL,
               "the kernel's parameters cannot be read");
    }
}

static void draft_ptx(struct init *s, const struct source_file *file) {
    struct ptx_module *m;
    struct err err = {0};
    bool several;
    autofree char *name = NULL;
    if (ptx_module_read(&m, file->text, file->len, &err) < 0) {
        refuse(s, CALL_BAD_PARAMS, "bad_source", NULL, err.msg);
        return;
    }
    const struct ptx_function *entry = entry_find(s, m, &name, &several);
    if (entry) {
        json_t *unknown, *spec = ptx_draft(m, entry, several ? name : NULL, &unknown);
        answer(s, name, spec, unknown);
    }
    ptx_module_free(m);
}

static void draft_source(struct init *s, const struct check_input *input) {
    struct host_program p;
    if (input->is_ptx) {
        draft_ptx(s, &input->closure.sources.files[0]);
    } else if (program_read(&input->closure.sources, &p)) {
        draft_kernel(s, &p);
        host_program_finish(&p);
    } else {
        refuse(s, CALL_BAD_PARAMS, "too_large", NULL,
               "the source is too large to be read");
    }
}

static void init_run(void *data) {
    struct init *s = data;
    const struct check_places places = {.default_arch = "sm_90a", .compiler = ""};
    struct check_input input;
    autojson *request = json_object();
    static const char *const members[] = {"path", "source", "include_roots"};
    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        json_t *value = json_object_get(s->params, members[i]);
        if (value) {
            json_object_set(request, members[i], value);
        }
    }
    s->refused = check_input_read(&input, request, NULL, (const char *const *)s->roots,
                                  &places, &s->refusal) < 0;
    if (s->refused) {
        return;
    }
    draft_source(s, &input);
    check_input_finish(&input);
}

/* --- the operation --- */

static void init_done(void *data) {
    struct init *s = data;
    call_on_cancel(s->call, NULL, NULL);
    gpu_call_end(s->refused ? NULL : take(s->result), s->refused ? &s->refusal : NULL,
                 s->call);
    json_decref(s->result);
    strings_free(s->roots);
    free(s);
}

static void init_cancelled(struct call *call, void *data) {
    (void)call;
    struct init *s = data;
    work_cancel(s->work);
}

static void init_start(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct init *s = xcalloc(1, sizeof *s);
    s->call = call_ref(call);
    s->params = params;
    s->roots = strings_copy(origin->roots);
    s->work = work_start(origin->loop, init_run, init_done, s);
    call_on_cancel(call, init_cancelled, s);
}

const struct operation init_operations[] = {
    {KERNEL_INIT_OPERATION, .start = init_start},
};
const size_t init_operation_count = ARRAY_LEN(init_operations);
