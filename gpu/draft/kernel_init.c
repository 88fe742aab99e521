#include "gpu/draft/kernel_init.h"

#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/work.h"
#include "gpu/draft/draft_arguments.h"
#include "gpu/draft/draft_flags.h"
#include "gpu/draft/draft_kernels.h"
#include "gpu/draft/draft_run.h"
#include "gpu/draft/ptx_draft.h"
#include "gpu/draft/run_draft.h"
#include "gpu/draft/spec_draft.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/kernel_init.operation.h"
#include "gpu/program/program_job.h"
#include "gpu/source/kernel_name.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { NAMES_SHOWN = 12, LONG_S = 600 };
enum { RUN_S = 300, FIRST_RUN_S = 180, FIRST_WORK_S = 60 }; /* the first of two */
#define MANY_THREADS 4e6 /* of a launch that may take the CPU minutes */

struct init {
    struct call *call;
    struct work *work;
    const json_t *params;
    char **roots;
    json_t *folders; /* for #include, of the request; or NULL */
    json_t *result;
    struct check_refusal refusal;
    bool refused;
    /* The program, where its text does not say all of a launch. */
    char *kernel;    /* to be recorded; NULL: no run is wanted */
    json_t *args;    /* of the program */
    json_t *round;   /* they are examples, and those are round ones; or NULL */
    char *odd_failed; /* why the round ones are used; NULL: they are not */
    json_t *request; /* kernel/run's params */
    struct program_job *job;
    json_t *answer; /* what came of it */
    json_t *smaller; /* arguments for another run; NULL: there is none */
    bool again;      /* it has those */
    bool ran;       /* it was asked for */
    bool cancelled;
    struct recorded_files files;
};

static bool refuse(struct init *s, enum call_fault fault, const char *reason,
                   const char *hint, const char *message) {
    s->refused = true;
    check_refuse(&s->refusal, 0, fault, reason, hint, "%s", message);
    return false;
}

/* --- which kernel --- */

static void refuse_empty(struct init *s) {
    const char *path = json_get_string(s->params, "path", NULL);
    const json_t *others = json_object_get(s->params, "paths");
    const char *other = json_string_value(json_array_get(others, 0));
    autofree char *words =
        xasprintf("%.400s has no kernel", path ? path_basename(path) : "the source");
    autofree char *hint =
        path && other
            ? xasprintf("put the file that has the kernel first: %.200s %.200s",
                        json_array_size(others) == 1 ? other : "KERNELS.cu", path)
            : xstrdup("name a file that has a __global__ function with a body, or an "
                      ".entry of PTX");
    refuse(s, CALL_BAD_PARAMS, "no_kernel", hint, words);
}

/* The index of the one that is meant, or of the first of several where `overloaded` ones
 * share a name; SIZE_MAX: the request is refused. */
static size_t choose(struct init *s, char *const *names, const bool *meant, size_t count,
                     bool overloaded) {
    autobuf text = BUF_INIT(400);
    const char *name = json_get_string(s->params, "kernel", NULL);
    size_t first = SIZE_MAX, kept = 0, shown = 0;
    for (size_t i = 0; i < count; i++) {
        first = meant[i] && !kept++ ? i : first;
    }
    if (kept == 1 || (kept && overloaded)) {
        return first;
    }
    if (count == 0) {
        refuse_empty(s);
        return SIZE_MAX;
    }
    if (name) {
        buf_addf(&text, "%s called %.100s", kept ? "several kernels are" : "no kernel is",
                 name);
    } else {
        buf_addf(&text, "the file has %zu kernels", kept ? kept : count);
    }
    for (size_t i = 0; i < count && shown < NAMES_SHOWN; i++) {
        if (meant[i] || !kept) {
            buf_addf(&text, "%s%.60s", shown++ ? ", " : ": ", names[i]);
        }
    }
    refuse(s, CALL_BAD_PARAMS, "which_kernel", "name one of them as `kernel`", text.data);
    return SIZE_MAX;
}

static void names_free(char **names, size_t count) {
    while (count-- > 0) {
        free(names[count]);
    }
}

static const struct declaration *kernel_find(struct init *s, const struct host_program *p,
                                             bool *several) {
    const struct declaration *list[DRAFT_KERNELS_MAX];
    const char *name = json_get_string(s->params, "kernel", NULL);
    char *names[DRAFT_KERNELS_MAX];
    bool meant[DRAFT_KERNELS_MAX];
    size_t count = draft_kernels(p, list, DRAFT_KERNELS_MAX);
    for (size_t i = 0; i < count; i++) {
        names[i] = host_qualified_name(&p->b.tokens, &p->b.declarations, list[i]);
        meant[i] = name ? kernel_name_ends_with(names[i], name)
                        : p->b.tokens.list[list[i]->name].start >= p->own;
    }
    size_t found = choose(s, names, meant, count, name != NULL);
    *several = count > 1;
    names_free(names, count);
    return found == SIZE_MAX ? NULL : list[found];
}

/* The entries of PTX are called by their symbols or as a source has them. */
static const struct ptx_function *entry_find(struct init *s, const struct ptx_module *m,
                                             char **ret_name, bool *several) {
    const char *name = json_get_string(s->params, "kernel", NULL);
    const struct ptx_function *list[DRAFT_KERNELS_MAX];
    char *names[DRAFT_KERNELS_MAX];
    bool meant[DRAFT_KERNELS_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < m->function_count && count < DRAFT_KERNELS_MAX; i++) {
        const struct ptx_function *f = &m->functions[i];
        if (f->is_entry && !f->is_declaration) {
            char *own = names[count] = kernel_name_new(f->name);
            meant[count] = !name || !strcmp(f->name, name) ||
                           kernel_spelt_alike(own, name) ||
                           kernel_name_ends_with(own, name);
            list[count++] = f;
        }
    }
    size_t found = choose(s, names, meant, count, false);
    *several = count > 1;
    *ret_name = found == SIZE_MAX ? NULL : xstrdup(names[found]);
    names_free(names, count);
    return found == SIZE_MAX ? NULL : list[found];
}

/* --- the file --- */

static char *spec_path(const char *path) {
    const char *base = path_basename(path), *dot = strrchr(base, '.');
    return xasprintf("%.*s.check.json", (int)(dot ? (size_t)(dot - path) : strlen(path)),
                     path);
}

/* One file beneath an open root, without replacing another unless that is allowed. */
static bool write_file(struct init *s, const struct root *root, const char *rel,
                       const void *bytes, size_t len) {
    struct err err = {0};
    struct stat st = {.st_mode = 0644};
    bool force = json_get_bool(s->params, "force", 0);
    if (force) {
        (void)fstatat(root->fd, rel, &st, 0);
    }
    int r = force ? root_write(root, rel, bytes, len, st.st_mode & 0777, &err)
                  : root_create(root, rel, bytes, len, &err);
    if (r == -EEXIST) {
        autofree char *words = xasprintf("%.400s/%.400s exists", root->path, rel);
        return refuse(s, CALL_REFUSED, "exists",
                      "`force` replaces it, `print` shows the new one", words);
    }
    return r == 0 || refuse(s, CALL_REFUSED, "io", NULL, err.msg);
}

/* The spec comes first: who has its name has those of its arrays. */
static bool write_beneath(struct init *s, const char *root_path, const char *path,
                          const char *text) {
    struct root root;
    struct err err = {0};
    const char *rel = path + strlen(root_path);
    rel += *rel == '/';
    if (root_open(&root, root_path, &err) < 0) {
        return refuse(s, CALL_INTERNAL, "io", NULL, err.msg);
    }
    bool good = write_file(s, &root, rel, text, strlen(text));
    autofree char *folder = xstrndup(rel, (size_t)(path_basename(rel) - rel));
    autojson *names = json_array();
    for (size_t i = 0; good && i < s->files.count; i++) {
        const struct recorded_file *f = &s->files.list[i];
        autofree char *name = path_join(folder, f->name);
        good = write_file(s, &root, name, f->bytes.data, f->bytes.len);
        json_array_append_new(names, json_clean_z(name));
    }
    if (json_array_size(names)) {
        json_object_set(s->result, "files", names);
    }
    root_close(&root);
    return good;
}

/* The source lies beneath one of the roots, or it could not have been read. */
/* A path as the request means it. */
static char *whole_path(const struct init *s, const char *given) {
    return path_resolve(*s->roots ? *s->roots : "", given);
}

static bool write_spec(struct init *s, const char *given, const char *text) {
    const char *const *roots = (const char *const *)s->roots;
    autofree char *source = whole_path(s, given);
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

/* The include folders, as they are named from the spec's own. */
static void name_folders(json_t *spec, const struct init *s, const char *path) {
    autojson *own = json_array();
    autofree char *source = path ? whole_path(s, path) : NULL;
    char *slash = source && *source == '/' ? strrchr(source, '/') : NULL;
    if (slash) {
        slash[slash == source] = '\0';
    }
    json_each(s->folders, i, one) {
        autofree char *whole = whole_path(s, json_string_value(one));
        autofree char *name =
            slash && *whole == '/' ? path_relative(whole, source) : take(whole);
        json_array_append_new(own, json_clean_z(name));
    }
    json_object_set(spec, "include_roots", json_array_size(own) ? own : NULL);
}

static double product_of(const json_t *extents) {
    double ret = 1;
    json_each(extents, i, one) {
        ret *= json_number_value(one); /* 0: an expression */
    }
    return ret;
}

/* A launch that no size makes smaller is run once, and may take its time. */
static void allow_time(json_t *spec) {
    const json_t *launch = json_object_get(spec, "launch");
    double threads = product_of(json_object_get(launch, "grid")) *
                     product_of(json_object_get(launch, "block"));
    if (threads > MANY_THREADS && !json_object_get(spec, "timeout_s")) {
        json_object_set_new(spec, "trials", json_integer(1));
        json_object_set_new(spec, "timeout_s", json_integer(LONG_S));
    }
}

/* Consumes spec and unknown. */
static void answer(struct init *s, const char *name, json_t *spec, json_t *unknown) {
    const char *path = json_get_string(s->params, "path", NULL);
    name_source(spec, path);
    name_folders(spec, s, path);
    draft_name_flags(spec, s->params);
    autofree char *text = spec_draft_text(spec);
    s->result = json_pack("{s:o, s:o, s:o}", "kernel", json_clean_z(name), "spec", spec,
                          "unknown", unknown);
    if (!path || json_get_bool(s->params, "print", 0)) {
        json_object_set_new(s->result, "text", json_clean_z(text));
    } else {
        write_spec(s, path, text);
    }
}

/* --- what the text does not say --- */

static void tell_run(struct init *s, json_t *unknown) {
    autobuf why = BUF_INIT(240);
    draft_run_failure(s->answer, s->kernel, &why);
    draft_note(unknown, "launch", "running the program did not show it: %s", why.data);
}

/* Consumes both. */
static void kernel_answer(struct init *s, const char *name, bool from_run, json_t *spec,
                          json_t *unknown) {
    if (!from_run) { /* which knows how long it took */
        allow_time(spec);
    }
    answer(s, name, spec, unknown);
    json_object_set_new(s->result, "from", json_string(from_run ? "run" : "source"));
}

/* What was found while the program ran will be found in a validation, too. */
static void tell_findings(const struct init *s, json_t *unknown) {
    const char *idle = draft_run_idle(s->answer);
    if (idle) {
        draft_note(unknown, "launch",
                   "the program calls functions that are missing here and did nothing, "
                   "such as %.100s: if they write what the kernel reads, give its `init`",
                   idle);
    }
    autobuf words = BUF_INIT(400);
    draft_run_words(s->args, &words);
    if (s->odd_failed) {
        draft_note(unknown, "launch",
                   "the program needs arguments, so it ran with " DRAFT_ARGUMENT_ROUND
                   " as an example of each number, for with odd ones %s: give its own as "
                   "`args`",
                   s->odd_failed);
    } else if (s->round) {
        draft_note(unknown, "launch",
                   "the program needs arguments, so it ran with%s as examples: give its "
                   "own as `args`, also if it is made for round numbers alone",
                   words.data);
    }
    if (s->again) {
        draft_note(unknown, "launch",
                   "the program ran out of time or memory before the launch ended, so "
                   "each number over %d or left out among its arguments became %d",
                   DRAFT_RUN_MOST, DRAFT_RUN_MOST);
    }
    autobuf error = BUF_INIT(1024);
    if (draft_run_error(s->answer, &error)) {
        draft_note(unknown, "launch", "%s", error.data);
    }
}

static json_t *draft_of_run(struct init *s, struct host_program *p,
                            const struct declaration *kernel, bool several,
                            json_t **unknown) {
    const json_t *record = json_object_get(s->answer, "record");
    const char *path = json_get_string(s->params, "path", "kernel.cu");
    const char *base = path_basename(path), *dot = strrchr(base, '.');
    autofree char *stem = xstrndup(base, dot ? (size_t)(dot - base) : strlen(base));
    return record ? run_draft(p, kernel, several, record, stem, &s->files, unknown)
                  : NULL;
}

static void draft_kernel(struct init *s, struct host_program *p) {
    bool several;
    const struct declaration *kernel = kernel_find(s, p, &several);
    if (!kernel) {
        return;
    }
    autofree char *name = host_qualified_name(&p->b.tokens, &p->b.declarations, kernel);
    json_t *unknown = NULL, *spec = draft_of_run(s, p, kernel, several, &unknown);
    if (spec) {
        json_t *whole = json_pack("{s:o}", "comment", draft_run_comment(s->args, name));
        json_object_update(whole, spec);
        json_decref(spec);
        tell_findings(s, unknown);
        kernel_answer(s, name, true, whole, unknown);
        return;
    }
    json_decref(unknown);
    spec = spec_draft(p, kernel, several, &unknown);
    bool may = json_get_bool(s->params, "run", 1) && !s->ran &&
               (draft_has_main(p) || json_object_get(s->params, "paths"));
    bool given = json_array_size(json_object_get(s->params, "args")) > 0;
    if (spec && may && (given || draft_run_wanted(unknown))) {
        const char *asked = json_get_string(s->params, "kernel", "");
        s->kernel = xstrdup(strchr(asked, '(') ? asked : name);
        s->args = given ? json_incref(json_object_get(s->params, "args"))
                        : draft_arguments(p, kernel, &s->round);
        s->smaller = draft_run_smaller(s->round ? s->round : s->args,
                                       given ? 0 : draft_argument_numbers(p));
        json_decref(spec);
        json_decref(unknown);
        return;
    }
    if (spec) {
        if (s->answer) {
            tell_run(s, unknown);
        }
        kernel_answer(s, name, false, spec, unknown);
        return;
    }
    json_decref(unknown);
    refuse(s, CALL_BAD_PARAMS, "bad_kernel", NULL,
           "the kernel's parameters cannot be read");
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
    static const char *const members[] = {"path", "source", "include_roots", "options",
                                          NULL};
    json_copy_members(request, s->params, members);
    check_input_move_folders(request); /* the other options are of the host's compiler */
    json_object_del(request, "options");
    json_decref(s->folders);
    s->folders = json_incref(json_object_get(request, "include_roots"));
    s->refused = check_input_read(&input, request, NULL, (const char *const *)s->roots,
                                  &places, &s->refusal) < 0;
    if (s->refused) {
        return;
    }
    draft_source(s, &input);
    check_input_finish(&input);
}

/* --- the operation --- */

static void init_end(struct init *s) {
    call_on_cancel(s->call, NULL, NULL);
    gpu_call_end(s->refused ? NULL : take(s->result), s->refused ? &s->refusal : NULL,
                 s->call);
    json_decref(s->result);
    json_decref(s->request);
    json_decref(s->answer);
    json_decref(s->folders);
    recorded_files_finish(&s->files);
    strings_free(s->roots);
    free(s->kernel);
    json_decref(s->args);
    json_decref(s->smaller);
    json_decref(s->round);
    free(s->odd_failed);
    free(s);
}

static void init_done(void *data);
static void run_program(struct init *s);

/* Consumes args. */
static void run_with(struct init *s, json_t *args) {
    json_decref(s->args);
    s->args = args;
    run_program(s);
}

/* The program ended by itself before the launch. */
static bool is_refused(const json_t *answer) {
    bool ended =
        json_object_get(answer, "exit_status") || json_object_get(answer, "signal");
    return ended && !json_object_get(answer, "record") && !draft_run_starved(answer);
}

static void on_ran(const json_t *answer, json_t *worker,
                   const struct check_refusal *refusal, void *data) {
    struct init *s = data;
    s->job = NULL;
    json_decref(worker);
    if (!answer && !refusal) { /* cancelled */
        init_end(s);
        return;
    }
    if (s->smaller && draft_run_starved(answer)) {
        s->again = true;
        run_with(s, take(s->smaller));
        return;
    }
    if (s->round && !s->again && !s->odd_failed && is_refused(answer)) {
        autobuf why = BUF_INIT(400);
        draft_run_failure(answer, s->kernel, &why);
        s->odd_failed = buf_detach(&why);
        json_decref(s->smaller);
        s->smaller = NULL;
        run_with(s, json_incref(s->round));
        return;
    }
    s->answer = answer ? json_deep_copy(answer)
                       : json_pack("{s:{s:s}}", "error", "message", refusal->message);
    s->work = work_start(call_origin(s->call)->loop, init_run, init_done, s);
}

static json_t *run_params(const struct init *s, bool first) {
    static const char *const members[] = {"path",          "source", "paths", "options",
                                          "defines",       "files",  "stdin", "timeout_s",
                                          "include_roots", NULL};
    json_t *ret =
        json_pack("{s:{s:s}, s:[s, s], s:i}", "record", "kernel", s->kernel, "checks",
                  "memory", "initialized", "timeout_s", first ? FIRST_RUN_S : RUN_S);
    if (first) { /* a busy machine must not pass for a large program */
        json_object_set_new(ret, "work_s", json_integer(FIRST_WORK_S));
    }
    json_copy_members(ret, s->params, members);
    if (json_array_size(s->args)) {
        json_object_set(ret, "args", s->args);
    }
    return ret;
}

static void run_program(struct init *s) {
    json_decref(s->request);
    s->request = run_params(s, s->smaller != NULL);
    s->job = program_job_start(s->call, s->request, on_ran, s);
}

static void init_done(void *data) {
    struct init *s = data;
    s->work = NULL;
    if (s->kernel && !s->ran && !s->refused && !s->cancelled) {
        s->ran = true;
        run_program(s);
    } else {
        init_end(s);
    }
}

static void init_cancelled(struct call *, void *data) {
    struct init *s = data;
    s->cancelled = true;
    if (s->work) {
        work_cancel(s->work);
    } else if (s->job) {
        program_job_cancel(s->job);
    }
}

static void init_start(struct call *call, const json_t *params) {
    const struct call_origin *origin = call_origin(call);
    struct init *s = xcalloc(1, sizeof *s);
    s->call = call_ref(call);
    s->params = params;
    s->ran = !gpu_of(origin); /* nobody could run it */
    s->roots = strings_copy(origin->roots);
    s->work = work_start(origin->loop, init_run, init_done, s);
    call_on_cancel(call, init_cancelled, s);
}

const struct operation init_operations[] = {
    {KERNEL_INIT_OPERATION, .start = init_start},
};
const size_t init_operation_count = ARRAY_LEN(init_operations);
