#include "gpu/worker/program_build.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "gpu/program_headers.h"
#include "gpu/worker/program_cache.h"
#include "gpu/worker/program_stage.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOOL_WALL_MS = 20000, CPU_PER_WALL = 4 };
#define MAX_LOG (4u << 20)
#define MAX_FILE ((size_t)512 << 20) /* of any that a compiler writes */

#define MISSING_HEADER "missing.h"
#define HOST_HINT "install the host's C++ compiler: apt install g++"

/* --- the room of the compiler --- */

static char *parent_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash > path ? xstrndup(path, (size_t)(slash - path)) : xstrdup("/");
}

/* NVCC_CCBIN names another host compiler: its folder's parent, else NULL. */
static char *host_root(void) {
    const char *named = getenv("NVCC_CCBIN");
    if (!named || named[0] != '/') {
        return NULL;
    }
    autofree char *folder = parent_of(named);
    return parent_of(folder);
}

static void tool_paths(struct strings *paths, const char *nvcc) {
    static const char *const system[] = {"/usr", "/lib64",           "/lib",
                                         "/bin", "/etc/ld.so.cache", "/etc/alternatives"};
    for (size_t i = 0; i < ARRAY_LEN(system); i++) {
        strings_add(paths, xstrdup(system[i]));
    }
    autofree char *real = realpath(nvcc, NULL);
    autofree char *bin = parent_of(real ? real : nvcc);
    char *host = host_root();
    strings_add(paths, parent_of(bin));
    if (host) {
        strings_add(paths, host);
    }
}

static void tool_environment(struct strings *list, const struct build_job *job) {
    const char *host = getenv("NVCC_CCBIN");
    autofree char *bin = parent_of(job->nvcc);
    strings_add(list, xasprintf("PATH=%s:/usr/local/bin:/usr/bin:/bin", bin));
    strings_add(list, xasprintf("TMPDIR=%s/tmp", job->folder));
    strings_add(list, xasprintf("HOME=%s/tmp", job->folder));
    strings_add(list, xstrdup("LC_ALL=C.UTF-8"));
    if (host && host[0] == '/') {
        strings_add(list, xasprintf("NVCC_CCBIN=%s", host));
    }
}

struct tool {
    const char *const *argv;
    const char *input;
    struct buf *out, *error;
    unsigned wall_ms;
};

static void tool_run(const struct build_job *job, const struct tool *tool,
                     struct program_end *end) {
    autostrings paths = {0}, environment = {0};
    autofree char *src = path_join(job->folder, "src"),
                  *lib = path_join(job->folder, "lib");
    autofree char *tmp = path_join(job->folder, "tmp"),
                  *out = path_join(job->folder, "out");
    autofree char *runtime = parent_of(job->runtime);
    const char *reads[] = {src, lib, runtime, NULL}, *writes[] = {tmp, out, NULL};
    static const char *const devices[] = {"/dev/null", NULL};
    tool_paths(&paths, job->nvcc);
    tool_environment(&environment, job);
    const struct confine_rules rules = {
        .read_paths = reads,
        .write_paths = writes,
        .exec_paths = (const char *const *)paths.list,
        .device_paths = devices,
        .may_start = true,
        .cpu_s = CPU_PER_WALL * (tool->wall_ms / 1000 + 1),
        .memory_bytes = job->memory_bytes,
        .file_bytes = MAX_FILE,
    };
    const struct program_stage stage = {
        .argv = tool->argv,
        .environment = (const char *const *)environment.list,
        .folder = src,
        .rules = &rules,
        .input = tool->input,
        .input_len = tool->input ? strlen(tool->input) : 0,
        .out = tool->out,
        .error = tool->error,
        .wall_ms = tool->wall_ms,
        .quota_folder = job->folder,
        .quota_bytes = 2 * MAX_FILE,
    };
    program_stage_run(&stage, end);
}

bool program_tool_run(const struct build_job *job, const char *const *argv,
                      const char *input, struct buf *out) {
    struct program_end end;
    autobuf error = BUF_INIT(65536);
    const struct tool tool = {argv, input, out, &error, TOOL_WALL_MS};
    tool_run(job, &tool, &end);
    return !end.failure && !end.over && WIFEXITED(end.status) &&
           !WEXITSTATUS(end.status);
}

/* --- its folder --- */

static bool source_write(const struct root *root, const struct source_file *source) {
    struct root_file file;
    return root_file_begin(&file, root, source->path, 0600, NULL) == 0 &&
           (root_file_add(&file, source->text, source->len) == 0
                ? root_file_end(&file, false) == 0
                : (root_file_drop(&file), false));
}

static bool sources_write(const struct build_job *job, const char *folder) {
    struct root root;
    if (root_open(&root, folder, NULL) < 0) {
        return false;
    }
    bool good =
        all_of(i, 0, job->sources.count, source_write(&root, &job->sources.files[i]));
    root_close(&root);
    return good;
}

static bool header_write(const char *folder, const char *name, const char *text) {
    autofree char *path = path_join(folder, name);
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd >= 0 && !file_write_all(fd, text, strlen(text));
}

/* They are searched after the toolkit's own. */
static bool headers_write(const char *folder) {
    static const struct {
        const char *name, *text;
    } headers[] = {{"cublas_v2.h", HEADER_CUBLAS_V2},
                   {"cublasLt.h", HEADER_CUBLASLT},
                   {"before_cuda13.h", HEADER_BEFORE_CUDA13}};
    return all_of(i, 0, ARRAY_LEN(headers),
                  header_write(folder, headers[i].name, headers[i].text));
}

/* lib/libcudart.so is what the linker looks for. */
static bool folder_fill(const struct build_job *job) {
    static const char *const folders[] = {"src", "lib", "tmp", "out"};
    for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
        autofree char *folder = path_join(job->folder, folders[i]);
        if (mkdir(folder, 0700)) {
            return false;
        }
    }
    autofree char *link = path_join(job->folder, "lib/libcudart.so");
    autofree char *src = path_join(job->folder, "src");
    autofree char *lib = path_join(job->folder, "lib");
    return !symlink(job->runtime, link) && headers_write(lib) && sources_write(job, src);
}

/* --- the command --- */

static void add(struct strings *argv, const char *word) {
    strings_add(argv, xstrdup(word));
}

/* NVIDIA's wheels have libcudadevrt, which -rdc wants, where nvcc does not look. */
static void add_library_folder(struct strings *argv, const char *nvcc) {
    autofree char *bin = parent_of(nvcc), *root = parent_of(bin);
    autofree char *folder = path_join(root, "lib"),
                  *probe = path_join(folder, "libcudadevrt.a");
    if (access(probe, R_OK) == 0) {
        strings_add(argv, xasprintf("-L%s", folder));
    }
}

/* Whether a source names a member that cudaDeviceProp has no longer in CUDA 13: only those
 * get a structure of another name. */
static bool has_older_properties(const struct build_job *job) {
    static const char *const members[] = {
        "clockRate",       "deviceOverlap",
        "computeMode",     "kernelExecTimeoutEnabled",
        "memoryClockRate", "maxTexture1DLinear",
        "singleToDoublePrecisionPerfRatio", "cooperativeMultiDeviceLaunch"};
    for (size_t i = 0; i < job->sources.count * ARRAY_LEN(members); i++) {
        const struct source_file *f = &job->sources.files[i / ARRAY_LEN(members)];
        const char *name = members[i % ARRAY_LEN(members)], *end = f->text + f->len;
        for (const char *at = f->text;
             (at = memmem(at, (size_t)(end - at), name, strlen(name))); at++) {
            if (at > f->text && (at[-1] == '.' || at[-1] == '>')) {
                return true;
            }
        }
    }
    return false;
}

static bool includes(const struct build_job *job, const char *header) {
    return any_of(i, 0, job->sources.count,
                  memmem(job->sources.files[i].text, job->sources.files[i].len, header,
                         strlen(header)));
}

/* __FILE__ is the name that the user knows: "k.cu", not "r0/k.cu". */
static void add_file_names(struct strings *argv, const struct source_set *sources) {
    list_each(i, file, sources->files, sources->count) {
        int root = (int)strcspn(file->path, "/") + 1;
        autofree char *map = xasprintf("-fmacro-prefix-map=%.*s=", root, file->path);
        if (!any_of(k, 0, argv->count, strcmp(argv->list[k], map) == 0)) {
            add(argv, "-Xcompiler");
            add(argv, map);
        }
    }
}

/* PTX for the H100 as text, with lines; host code with lines; our library for NVIDIA's.
 */
static void command_make(struct strings *argv, const struct build_job *job) {
    static const char *const fixed[] = {"-arch=compute_90a",
                                        "-code=compute_90a",
                                        "-lineinfo",
                                        "-cudart",
                                        "shared",
                                        "--no-compress",
                                        "-g",
                                        "-Xcompiler",
                                        "-fno-omit-frame-pointer",
                                        "-Xcompiler",
                                        "-idirafter../lib",
                                        "-include",
                                        "../lib/before_cuda13.h"};
    add(argv, job->nvcc);
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        add(argv, fixed[i]);
    }
    add_file_names(argv, &job->sources);
    if (has_older_properties(job)) {
        add(argv, "-DUPSKILLD_OLDER_PROPERTIES");
    }
    if (includes(job, "<cuda.h>") || includes(job, "\"cuda.h\"")) {
        add(argv, "-DUPSKILLD_OLDER_DRIVER");
    }
    if (includes(job, "<omp.h>")) { /* its functions are linked */
        add(argv, "-Xcompiler");
        add(argv, "-fopenmp");
    }
    json_each(job->words, i, word) {
        add(argv, json_string_value(word));
    }
    json_each(job->include_dirs, i, dir) {
        strings_add(argv, xasprintf("-I%s", json_string_value(dir)));
    }
    json_each(job->units, i, unit) {
        add(argv, json_string_value(unit));
    }
    autofree char *runtime = parent_of(job->runtime);
    strings_add(argv, xasprintf("-Xlinker=-rpath-link=%s", runtime));
    add_library_folder(argv, job->nvcc);
    static const char *const lenient[] = {"-Xcompiler", "-no-pie",
                                          "-Xlinker=--warn-unresolved-symbols"};
    for (size_t i = 0; job->lenient && i < ARRAY_LEN(lenient); i++) {
        add(argv, lenient[i]);
    }
    static const char *const last[] = {"-L../lib", "-o", "../out/program"};
    for (size_t i = 0; i < ARRAY_LEN(last); i++) {
        add(argv, last[i]);
    }
}

/* --- the digest --- */

static void hash_text(struct hash *h, const char *text) {
    hash_add_field(h, text, strlen(text));
}

/* A program and which one it is. */
static void hash_file(struct hash *h, const char *path) {
    struct stat st = {0};
    (void)stat(path, &st);
    autofree char *text = xasprintf("%s %lld %lld.%ld", path, (long long)st.st_size,
                                    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    hash_text(h, text);
}

static void key_make(const struct build_job *job, char key[static HASH_HEX_SIZE]) {
    struct hash h;
    const char *host = getenv("NVCC_CCBIN");
    autostrings argv = {0};
    command_make(&argv, job);
    hash_init(&h);
    hash_text(&h, "kernel/run 2 " UPSKILLD_VERSION);
    hash_file(&h, job->nvcc);
    hash_file(&h, host ? host : "/usr/bin/g++");
    list_each(n, word, argv.list, argv.count) {
        hash_text(&h, *word);
    }
    list_each(i, file, job->sources.files, job->sources.count) {
        hash_text(&h, file->path);
        hash_text(&h, file->display);
        hash_add_field(&h, file->text, file->len);
    }
    hash_hex(&h, key);
}

/* --- the whole --- */

static void fail(struct program_built *ret, const char *code, const char *message,
                 const char *hint) {
    ret->code = code;
    ret->hint = hint;
    snprintf(ret->message, sizeof ret->message, "%s", message);
}

static bool lacks_main(const struct program_log *log) {
    return json_any(log->findings, finding,
                    strstr(json_get_string(finding, "message", ""), "`main'"));
}

/* Why there is no program. */
static void explain(const struct build_job *job, const struct program_end *end,
                    struct program_built *ret) {
    char text[160];
    if (end->failure) {
        snprintf(text, sizeof text, "nvcc could not be started: %s",
                 strerror(-end->failure));
        fail(ret, "no_nvcc", text, NULL);
    } else if (end->over == LIMIT_TIME || program_killed_by(end, SIGXCPU)) {
        snprintf(text, sizeof text, "nvcc was stopped after %.3g s", job->wall_ms / 1e3);
        fail(ret, "compile_timeout", text,
             "allow more time: compile_timeout_s in upskilld.yaml");
    } else if (end->over == LIMIT_FOLDER) {
        fail(ret, "compile_space", "nvcc wrote more than 1 GiB of temporary files", NULL);
    } else if (ret->log.errors) {
        fail(ret, "not_compiled", "",
             lacks_main(&ret->log) ? "kernel/run is for programs with main(); "
                                     "kernel/validate runs a kernel alone"
                                   : NULL);
    } else if (!json_array_size(ret->log.missing)) {
        snprintf(text, sizeof text, "nvcc ended without a program: %s",
                 ret->log.last ? ret->log.last : "it named no error");
        fail(ret, "compiler_failed", text, NULL);
    }
}

static bool has_host_compiler(void) {
    static const char *const places[] = {"/usr/bin/g++", "/usr/local/bin/g++",
                                         "/bin/g++"};
    const char *named = getenv("NVCC_CCBIN");
    return (named && access(named, X_OK) == 0) ||
           any_of(i, 0, ARRAY_LEN(places), access(places[i], X_OK) == 0);
}

/* Functions of cuBLAS that our header lacks: they do nothing, for any arguments. A program
 * that may call missing functions often has a reference computed by them before the launch
 * that is wanted. false: something else is missing. */
static bool define_missing(const struct build_job *job, const json_t *missing) {
    autofree char *lib = path_join(job->folder, "lib");
    autobuf text = BUF_INIT(1u << 16);
    buf_adds(&text, "#include <cublas_v2.h>\n");
    json_each(missing, i, one) {
        const char *name = json_get_string(one, "function", "");
        if (strncmp(name, "cublas", 6) != 0) {
            return false;
        }
        buf_addf(&text,
                 "template <class... A> cublasStatus_t %s(A...) {"
                 " return CUBLAS_STATUS_SUCCESS; }\n",
                 name);
    }
    return json_array_size(missing) && header_write(lib, MISSING_HEADER, text.data);
}

static bool ended_well(const struct program_end *end) {
    return !end->failure && WIFEXITED(end->status) && !WEXITSTATUS(end->status);
}

static void nvcc_run(const struct build_job *job, bool defined,
                     struct program_built *ret, struct program_end *end) {
    autostrings argv = {0};
    autobuf out = BUF_INIT(MAX_LOG);
    command_make(&argv, job);
    if (defined) {
        add(&argv, "-include");
        add(&argv, "../lib/" MISSING_HEADER);
    }
    const struct tool tool = {(const char *const *)argv.list, NULL, &out, &out,
                              job->wall_ms};
    tool_run(job, &tool, end);
    program_log_finish(&ret->log);
    program_log_read(&ret->log, out.data, out.len, &job->sources, job->nvcc);
    ret->ms += end->ms;
    ret->confinement = end->confinement;
}

static void compile(const struct build_job *job, struct program_built *ret,
                    const char *path) {
    struct program_end end;
    nvcc_run(job, false, ret, &end);
    bool good = ended_well(&end);
    if (!good && job->lenient && !ret->log.errors &&
        define_missing(job, ret->log.missing)) {
        autojson *missing = json_incref(ret->log.missing);
        nvcc_run(job, true, ret, &end);
        json_array_extend(ret->log.missing, missing);
        good = ended_well(&end);
    }
    if (good && access(path, X_OK) == 0) {
        ret->path = xstrdup(path);
    } else {
        explain(job, &end, ret);
    }
}

void program_build(const struct build_job *job, struct program_built *ret) {
    char key[HASH_HEX_SIZE];
    autofree char *path = path_join(job->folder, "out/program");
    json_t *findings = NULL;
    *ret = (struct program_built){
        .log = {.findings = json_array(), .missing = json_array()}};
    if (!folder_fill(job)) {
        fail(ret, "no_folder", "the program's folder could not be filled", NULL);
        return;
    }
    key_make(job, key);
    if (program_cache_take(key, path, &findings)) {
        ret->cached = true;
        ret->path = xstrdup(path);
        json_decref(ret->log.findings);
        ret->log.findings = findings;
        return;
    }
    json_decref(findings);
    if (!has_host_compiler()) {
        fail(ret, "no_host_compiler",
             "nvcc needs the host's C++ compiler, and there is no g++", HOST_HINT);
        return;
    }
    compile(job, ret, path);
    if (ret->path && !json_array_size(ret->log.missing)) { /* which nobody would tell */
        program_cache_put(key, path, ret->log.findings);
    }
}

void program_built_finish(struct program_built *built) {
    program_log_finish(&built->log);
    free(built->path);
}
