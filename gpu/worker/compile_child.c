#include "gpu/worker/compile_child.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "gpu/compile/compile.h"
#include "gpu/compile/cubin_text.h"
#include "gpu/compile/toolkit.h"
#include "gpu/facts/compiler_log.h"
#include "gpu/facts/kernel_facts.h"
#include "gpu/facts/ptx_files.h"
#include "gpu/facts/ptx_lines.h"
#include "gpu/source/ptx_text.h"
#include "gpu/source/shims.h"
#include "gpu/worker/child_io.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/nvrtc.h"
#include "gpu/worker/ptx_unit.h"
#include "protocol/finding.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- one run of the compiler --- */

struct option_words {
    const char **items;
    size_t count;
};

static void words_add(struct option_words *w, const char *item) {
    w->items = xreallocarray(w->items, w->count + 2, sizeof *w->items);
    w->items[w->count++] = item;
    w->items[w->count] = NULL;
}

/* The cheapest optimisation came with 12.9; before, quick is simply not quicker. */
static bool is_understood(const struct compile_room *room, const char *option) {
    int major, minor;
    nvrtc_version(room->nvrtc, &major, &minor);
    bool has_fast = major > 12 || (major == 12 && minor >= 9);
    return has_fast || strncmp(option, "--Ofast-compile", 15) != 0;
}

static bool job_quotes(const struct compile_job *job, const char *name) {
    autofree char *quoted = xasprintf("\"%s\"", name);
    return list_any(f, job->sources.files, job->sources.count,
                    memmem(f->text, f->len, quoted, strlen(quoted)));
}

static bool is_in_include_dirs(const struct compile_job *job, const char *name) {
    for (char **dir = job->include_dirs; dir && *dir; dir++) {
        autofree char *path = path_join(*dir, name);
        if (source_set_find(&job->sources, path)) {
            return true;
        }
    }
    return false;
}

/* Whether the job has its own file of this name, for <name> or, beside the including
 * file, for "name". Then it must be used instead of ours. */
static bool job_has(const struct compile_job *job, const char *name) {
    if (is_in_include_dirs(job, name)) {
        return true;
    }
    size_t len = strlen(name);
    for (size_t i = 1; i < job->sources.count; i++) {
        const char *path = job->sources.files[i].path;
        size_t path_len = strlen(path);
        if (path_len > len && path[path_len - len - 1] == '/' &&
            !strcmp(path + path_len - len, name)) {
            return job_quotes(job, name);
        }
    }
    return false;
}

static void headers_list(const struct compile_job *job, struct option_words *names,
                         struct option_words *texts) {
    for (size_t i = 0; i < shim_count; i++) {
        if (!job_has(job, shims[i].name)) {
            words_add(names, shims[i].name);
            words_add(texts, shims[i].text);
        }
    }
}

static void argv_add(char ***argv, size_t *count, char *word) {
    *argv = xreallocarray(*argv, *count + 2, sizeof **argv);
    (*argv)[(*count)++] = word;
    (*argv)[*count] = NULL;
}

/* The job's folders come before CUDA's. Freed with strings_free. */
static char **argv_new(const struct compile_room *room, const struct compile_job *job,
                       const char *const *extra, size_t *ret_count) {
    char **argv = NULL;
    size_t count = 0;
    autoptr(strings_free) char **options = compile_options_argv(&job->options);
    for (char **option = options; *option; option++) {
        if (is_understood(room, *option)) {
            argv_add(&argv, &count, xstrdup(*option));
        }
    }
    argv_add(&argv, &count, xstrdup("--device-int128")); /* nvcc's default */
    argv_add(&argv, &count, xstrdup("--pre-include=" SHIM_AS_NVCC));
    for (char **dir = job->include_dirs; dir && *dir; dir++) {
        argv_add(&argv, &count, xasprintf("-I%s", *dir));
    }
    for (char **dir = room->toolkit->include_dirs; *dir; dir++) {
        argv_add(&argv, &count, xasprintf("-I%s", *dir));
    }
    for (; extra && *extra; extra++) {
        argv_add(&argv, &count, xstrdup(*extra));
    }
    *ret_count = count;
    return argv;
}

void compile_unit(const struct compile_room *room, const struct compile_job *job,
                  const char *text, const char *const *extra, struct nvrtc_output *ret) {
    struct option_words names = {0}, texts = {0};
    size_t count;
    autoptr(strings_free) char **argv = argv_new(room, job, extra, &count);
    headers_list(job, &names, &texts);
    const struct nvrtc_input in = {
        .text = text,
        .name = job->sources.files[0].path,
        .argv = (const char *const *)argv,
        .argc = (int)count,
        .header_names = names.items,
        .header_texts = texts.items,
        .header_count = (int)names.count,
    };
    nvrtc_compile(room->nvrtc, &in, ret);
    free(names.items);
    free(texts.items);
}

/* --- from the compiler's outputs to an answer --- */

struct compile_answer {
    const struct compile_room *room;
    const struct compile_job *job;
    const struct source_file *ptx; /* the source, where it is PTX */
    char *unit;                    /* then: what is compiled */
    struct nvrtc_output out;       /* of the run that counts */
    double ms;                     /* of all runs */
    bool used_precompiled;
    struct compiler_log log;
    json_t *kernels;
    size_t functions;
    const char *outcome;
    const char *folder; /* the job's */
};

/* NVRTC says "Warning #629-D: … precompiled header …" (also 630, 2226, 20282), without a
 * place, when it could not use ours. That is no business of the job's. */
static bool log_drop_precompiled(struct nvrtc_output *out) {
    bool dropped = false;
    char *to = out->log;
    for (char *line = out->log; *line;) {
        size_t len = strcspn(line, "\n");
        size_t whole = len + (line[len] == '\n');
        char kept = line[len];
        line[len] = '\0';
        bool ours = !strncmp(line, "Warning #", 9) && strstr(line, "precompiled header");
        line[len] = kept;
        if (ours) {
            dropped = true;
        } else {
            memmove(to, line, whole);
            to += whole;
        }
        line += whole;
    }
    *to = '\0';
    out->log_len = (size_t)(to - out->log);
    return dropped;
}

static void run(struct compile_answer *a, const char *const *extra) {
    nvrtc_output_finish(&a->out);
    const char *text = a->unit ? a->unit : a->job->sources.files[0].text;
    compile_unit(a->room, a->job, text, extra, &a->out);
    a->ms += a->out.ms;
}

static void run_first(struct compile_answer *a) {
    autofree char *use = NULL;
    const char *extra[4] = {"--ptxas-options=-v"};
    if (a->room->precompiled) {
        use = xasprintf("-use-pch=%s", a->room->precompiled);
        extra[1] = use;
        extra[2] = "--pch-messages=false";
    }
    run(a, extra);
    a->used_precompiled = a->room->precompiled && !log_drop_precompiled(&a->out);
}

/* Which line of a source a line of the compiler's PTX came from; NULL: not known. */
static struct ptx_lines *lines_of(const struct compile_answer *a) {
    if (a->ptx) {
        return ptx_lines_copied(a->ptx->path, ptx_unit_lines_before(a->out.ptx));
    }
    return a->out.ptx ? ptx_lines_new(a->out.ptx, a->out.ptx_len) : NULL;
}

static void log_read(struct compile_answer *a, const struct ptx_lines *ptx) {
    compiler_log_finish(&a->log);
    compiler_log_read(&a->log, a->out.log, a->out.log_len, &a->job->sources,
                      (const char *const *)a->room->toolkit->include_dirs, ptx);
}

static void log_read_mapped(struct compile_answer *a) {
    struct ptx_lines *ptx = lines_of(a);
    log_read(a, ptx);
    ptx_lines_free(ptx);
}

/* The front end was content and ptxas was not. Its messages vanish beside -v and name
 * lines of the PTX: once more without -v and with line information, which NVRTC hands out
 * even so, to see the messages and to map them. */
static void explain_ptxas(struct compile_answer *a) {
    static const char *const extra[] = {"-lineinfo", NULL};
    run(a, a->job->options.line_info || a->ptx ? NULL : extra);
    log_read_mapped(a);
}

static void finding_add(struct compile_answer *a, const char *code, const char *message) {
    struct finding_span nowhere = {0};
    json_array_append_new(a->log.findings, finding_new("upskilld", code, FINDING_ERROR,
                                                       message, NULL, &nowhere));
}

static bool is_memory_failure(const struct nvrtc_output *out) {
    return out->code == NVRTC_OUT_OF_MEMORY || strstr(out->log, "out of memory") ||
           strstr(out->log, "std::bad_alloc");
}

static void judge_failure(struct compile_answer *a) {
    if (is_memory_failure(&a->out)) {
        a->outcome = "memory";
        finding_add(a, "compile_memory",
                    "The compiler ran out of the memory it may use. Make large constant "
                    "tables, template recursion, unrolled loops or functions smaller.");
    } else if (a->log.errors) {
        a->outcome = "rejected";
    } else {
        a->outcome = "failed";
        autofree char *message =
            xasprintf("The compiler gave up without naming an error in the source (%s).",
                      a->out.message);
        finding_add(a, "compiler_failed", message);
    }
}

static void read_cubin(struct compile_answer *a) {
    struct cubin cubin = {0};
    struct err err = {0};
    if (!a->out.cubin || cubin_read(&cubin, a->out.cubin, a->out.cubin_len, &err) < 0) {
        a->outcome = "failed";
        autofree char *message = xasprintf("The compiler's output could not be read: %s.",
                                           a->out.cubin ? err.msg : "there is none");
        finding_add(a, "compiler_failed", message);
        return;
    }
    a->kernels = kernel_facts_new(&cubin, a->log.usage, &a->job->sources);
    if (a->ptx) {
        ptx_unit_drop_own(a->kernels);
    }
    a->functions = cubin.functions;
    a->outcome = "compiled";
    cubin_finish(&cubin);
}

static void take_ptx(struct compile_answer *a) {
    const struct source_file *file = &a->job->sources.files[0];
    if (ptx_text_is(file->text, file->len)) {
        a->ptx = file;
        a->unit = ptx_unit_new(file);
    }
}

static void explain_version(struct compile_answer *a) {
    json_t *note = a->ptx ? ptx_unit_version_note(a->ptx, a->out.ptx) : NULL;
    if (note) {
        json_array_append_new(a->log.findings, note);
    }
}

static void compile(struct compile_answer *a) {
    take_ptx(a);
    run_first(a);
    if (a->ptx) {
        log_read_mapped(a);
    } else {
        log_read(a, NULL);
    }
    if (a->out.code == NVRTC_OK) {
        read_cubin(a);
        explain_version(a);
        return;
    }
    bool ptxas = a->out.ptx || strstr(a->out.log, "ptxas ");
    if (a->out.code == NVRTC_COMPILATION_ERROR && ptxas) {
        explain_ptxas(a);
    }
    judge_failure(a);
    explain_version(a);
}

/* The answer has a limit; the PTX does as well, if more slowly. */
static void add_cubin(const struct compile_answer *a, json_t *json) {
    autojson *text = cubin_to_text(a->out.cubin, a->out.cubin_len);
    size_t ptx = json_string_length(json_object_get(json, "ptx"));
    if (text && json_string_length(text) + ptx < CHILD_MAX_ANSWER / 2) {
        json_object_set(json, "cubin", text);
    }
}

static json_t *answer_to_json(struct compile_answer *a, unsigned confinement) {
    const char *version = a->room->version;
    json_t *json = json_pack(
        "{s:s, s:{s:s, s:o}, s:o, s:O, s:I, s:o, s:I, s:o, s:s}", "outcome", a->outcome,
        "compiler", "name", "nvrtc", "version", json_text(version, strlen(version)),
        "compile_ms", json_double(a->ms), "diagnostics", a->log.findings, "omitted",
        (json_int_t)a->log.omitted, "kernels",
        a->kernels ? json_incref(a->kernels) : json_array(), "functions",
        (json_int_t)a->functions, "confinement", confinement_to_json(confinement),
        "precompiled", a->used_precompiled ? "used" : "none");
    if (a->job->options.want_ptx && a->kernels && a->out.ptx) {
        autofree char *ptx =
            a->ptx ? ptx_unit_text(a->ptx)
                   : ptx_files_rename(a->out.ptx, a->folder, &a->job->sources,
                                      a->room->toolkit->include_dirs);
        json_object_set_new(json, "ptx", json_text(ptx, strlen(ptx)));
    }
    if (a->job->options.want_cubin && a->kernels) {
        add_cubin(a, json);
    }
    return json;
}

/* --- the process --- */

/* Out of address space a C++ program dies by some signal; to tell that from a crash, ask
 * for a little memory at the moment of death. Async-signal-safe. */
static void dying(int sig) {
    void *probe = mmap(NULL, 64u << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe == MAP_FAILED) {
        _exit(COMPILE_CHILD_OUT_OF_MEMORY);
    }
    signal(sig, SIG_DFL);
}

static void watch_death(void) {
    static char stack[16384];
    static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT};
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    const struct sigaction action = {.sa_handler = dying, .sa_flags = SA_ONSTACK};
    if (CONFINE_UNDER_ASAN) {
        return;
    }
    (void)sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        (void)sigaction(signals[i], &action, NULL);
    }
}

/* Write one of the job's files beneath the working directory, which is new and ours
 * alone; its path was checked by source_set. */
static bool file_write(const struct source_file *file) {
    autofree char *path = xstrdup(file->path);
    for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) && errno != EEXIST) {
            return false;
        }
        *slash = '/';
    }
    autofd int fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    (void)file_write_all(fd, file->text, file->len);
    struct stat st;
    return !fstat(fd, &st) && (size_t)st.st_size == file->len;
}

static bool files_write(const struct source_set *sources) {
    return all_of(i, 0, sources->count, file_write(&sources->files[i]));
}

/* The supervisor removes the folder; the memory of large files is freed here, so that it
 * spends no time on that. */
static void files_remove(const struct source_set *sources) {
    for (size_t i = 0; i < sources->count; i++) {
        (void)unlink(sources->files[i].path);
    }
}

/* The compiler takes a C string: a NUL would end it silently. */
static void unit_repair(struct source_file *unit) {
    for (char *nul = unit->text;
         (nul = memchr(nul, 0, unit->len - (size_t)(nul - unit->text)));) {
        *nul = ' ';
    }
}

#define MAX_TEMPORARY (256u << 20) /* bytes of a temporary file of the front end's */

/* The folder stays writable: with a precompiled header the front end needs a temporary
 * file. Nothing else is in it but the job's own files. */
static unsigned confine(const struct compile_room *room, const struct compile_job *job,
                        const char *folder) {
    const char *read_paths[8] = {room->toolkit->library_dir};
    size_t count = 1;
    for (char **dir = room->toolkit->include_dirs;
         *dir && count + 2 < ARRAY_LEN(read_paths); dir++) {
        read_paths[count++] = *dir;
    }
    read_paths[count] = room->precompiled;
    return confine_self(&(struct confine_rules){
        .read_paths = read_paths,
        .write_paths = (const char *const[]){folder, NULL},
        .cpu_s = job->limits.cpu_s,
        .memory_bytes = job->limits.memory_bytes,
        .file_bytes = MAX_TEMPORARY,
    });
}

static int job_take(int socket, struct compile_job *ret, char **ret_folder) {
    struct child_job job;
    struct err err;
    if (!child_job_take(&job, socket)) {
        return -EPIPE;
    }
    const char *folder = json_get_string(job.head, "folder", NULL);
    int r = folder ? compile_job_from_json(ret, json_object_get(job.head, "job"), &err)
                   : -EINVAL;
    autojson *sources = json_parse(job.attached, job.len, NULL);
    r = r < 0 ? r : source_set_from_json(&ret->sources, sources, &err);
    *ret_folder = r < 0 ? NULL : xstrdup(folder);
    child_job_finish(&job);
    return r;
}

_Noreturn void compile_child_run(const struct compile_room *room, int supervisor,
                                 int socket) {
    struct compile_job job;
    char *folder;
    confine_child_start(supervisor);
    watch_death();
    if (job_take(socket, &job, &folder) < 0 || chdir(folder) ||
        !files_write(&job.sources)) {
        _exit(COMPILE_CHILD_BAD_JOB);
    }
    unit_repair(&job.sources.files[0]);
    (void)setenv("TMPDIR", folder, 1);
    unsigned confinement = confine(room, &job, folder);
    struct compile_answer a = {.room = room, .job = &job, .folder = folder};
    compile(&a);
    autobuf text = BUF_INIT(CHILD_MAX_ANSWER);
    if (json_write(&text, answer_to_json(&a, confinement)) < 0) {
        _exit(COMPILE_CHILD_OUT_OF_MEMORY);
    }
    (void)file_write_all(socket, text.data, text.len);
    files_remove(&job.sources);
    _exit(0);
}
