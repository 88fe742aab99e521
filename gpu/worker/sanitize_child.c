#include "gpu/worker/sanitize_child.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "gpu/compile/toolkit.h"
#include "gpu/driver/cuda_output.h"
#include "gpu/driver/sanitizer.h"
#include "gpu/run/backend_cuda.h"
#include "gpu/run/sanitized_run.h"
#include "gpu/run/sanitizer_merge.h"
#include "gpu/run/validate_run.h"
#include "gpu/worker/child_io.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/cuda_child.h"
#include "gpu/worker/cuda_room.h"
#include "gpu/worker/validation.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    LEAST_MS = 1000,  /* a tool is not begun with less */
    EARLIER_MS = 400, /* the target stops before its tool is ended */
    ANSWER_MS = 200,
};
#define MAX_FILE ((size_t)(32u << 20)) /* of any that is written in the room */
#define MAX_RAN (1u << 20)

#define HINT                                                                             \
    "install the package cuda-sanitizer-13-0 (or -12-N) of NVIDIA's repository, or, in " \
    "a Python environment, nvidia-cuda-sanitizer-api from 13.4 on, and put its folder "  \
    "into PATH, CUDA_HOME or UPSKILLD_SANITIZER (compute-sanitizer's own path)"

/* --- where it is --- */

static json_t *absent(const char *why, const char *hint) {
    return json_pack("{s:s, s:s*}", "absent", why, "hint", hint);
}

static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash > path ? xstrndup(path, (size_t)(slash - path)) : NULL;
}

/* bin/compute-sanitizer is a script in newer packages: the program that it starts. */
static char *program_of(const char *path) {
    struct sanitizer found;
    autofree char *folder = folder_of(path), *parent = folder ? folder_of(folder) : NULL;
    const char *folders[] = {parent, NULL};
    bool is_script = folder && parent && !strcmp(folder + strlen(parent), "/bin") &&
                     sanitizer_locate(&found, folders, false) == 0;
    return xstrdup(is_script ? found.path : path);
}

char *sanitize_locate(json_t **ret_absent) {
    const char *own = getenv("UPSKILLD_SANITIZER");
    const char *folders[24] = {0};
    size_t count = 0, toolkit_count = 0;
    struct sanitizer found;
    if (own && !strcmp(own, "off")) {
        *ret_absent = absent("UPSKILLD_SANITIZER=off in the worker's environment", NULL);
        return NULL;
    }
    if (own && *own) {
        *ret_absent = own[0] == '/' && access(own, X_OK) == 0
                          ? NULL
                          : absent("UPSKILLD_SANITIZER does not name a program",
                                   "give the absolute path of compute-sanitizer");
        return *ret_absent ? NULL : program_of(own);
    }
    static const char *const usual[] = {"/usr/local/cuda", "/opt/cuda",
                                        "/usr/lib/nvidia-cuda-toolkit"};
    struct toolkit *toolkits = toolkits_find(&toolkit_count);
    const char *named[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH")};
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        if (named[i] && named[i][0] == '/') {
            folders[count++] = named[i];
        }
    }
    for (size_t i = 0; i < toolkit_count && count < 16; i++) {
        folders[count++] = toolkits[i].root;
    }
    for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
        folders[count++] = usual[i];
    }
    int r = sanitizer_locate(&found, folders, true);
    toolkits_free(toolkits, toolkit_count);
    *ret_absent = r ? absent("compute-sanitizer is not installed", HINT) : NULL;
    return r ? NULL : xstrdup(found.path);
}

/* --- the room --- */

static void on_term(int) {
    sanitizer_stop();
    _exit(0);
}

/* Whether it is in its own folder, all of which it may use. */
static bool is_system_folder(const char *folder) {
    static const char *const all[] = {"/bin",      "/usr/bin",        "/usr/local/bin",
                                      "/usr/sbin", "/usr/local/sbin", "/"};
    return any_of(i, 0, ARRAY_LEN(all), !strcmp(folder, all[i]));
}

/* owned NULL: there is none. */
static void paths_add(struct strings *paths, char *owned) {
    if (owned) {
        strings_add(paths, owned);
    }
}

/* The tool with its libraries, which are beside it or beside its folder; the shell that a
 * script in its place is run by; this program; the loader of both. */
static void add_programs(struct strings *p, const char *tool) {
    static const char *const siblings[] = {"compute-sanitizer", "bin", "lib", "lib64"};
    static const char *const shared[] = {"/proc/self/exe", "/lib64/ld-linux-x86-64.so.2",
                                         "/lib/ld-linux-aarch64.so.1"};
    char head[256] = "";
    autofree char *real = realpath(tool, NULL);
    autofree char *folder = folder_of(real ? real : tool);
    autofree char *parent = folder ? folder_of(folder) : NULL;
    if (folder && parent && !is_system_folder(folder)) {
        paths_add(p, xstrdup(folder));
        for (size_t i = 0; i < ARRAY_LEN(siblings) && !is_system_folder(parent); i++) {
            autofree char *sibling = path_join(parent, siblings[i]);
            paths_add(p, is_system_folder(sibling) ? NULL : take(sibling));
        }
    } else {
        paths_add(p, xstrdup(real ? real : tool));
    }
    autofd int fd = open(tool, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof head - 1);
    if (n > 2 && head[0] == '#' && head[1] == '!') {
        char *at = head + 2 + strspn(head + 2, " ");
        at[strcspn(at, " \n")] = 0;
        paths_add(p, realpath(at, NULL));
    }
    for (size_t i = 0; i < ARRAY_LEN(shared); i++) {
        paths_add(p, realpath(shared[i], NULL));
    }
}

static unsigned enter_room(const json_t *job, const char *tool) {
    autostrings programs = {0};
    add_programs(&programs, tool);
    const struct cuda_room_tool room = {
        .cpu_s = (unsigned)json_get_integer(job, "cpu_s", 0),
        .library = getenv("UPSKILLD_LIBCUDA"),
        .folder = json_get_string(job, "folder", ""),
        .exec_paths = (const char *const *)programs.list,
        .file_bytes = MAX_FILE,
    };
    return cuda_room_enter_tool(&room);
}

/* --- one tool --- */

struct sanitizing {
    struct sanitizer tool;
    const char *folder;
    char *program; /* this one */
    char **environment;
    uint64_t until_ms;
    json_t *report;
};

/* Files as the client knows them. */
static void show_files(json_t *object) {
    const char *file = json_get_string(object, "file", NULL);
    if (file) {
        const char *display = cuda_file_display(file, strlen(file));
        json_object_set_new(object, "file", json_string(display));
    }
    json_each(json_object_get(object, "related"), i, other) {
        show_files(other);
    }
}

static char *ran_path(const char *folder) {
    return path_join(folder, "ran.json");
}

/* The target's report, or NULL: it may have ended at any point. */
static json_t *ran_read(const char *folder) {
    autobuf text = BUF_INIT(MAX_RAN);
    autofree char *path = ran_path(folder);
    if (file_read(path, &text, NULL) < 0) {
        return NULL;
    }
    (void)unlink(path);
    json_t *ran = json_parse(text.data, text.len, NULL);
    if (!json_is_object(ran)) {
        json_decref(ran);
        ran = NULL;
    }
    return ran;
}

/* Nothing that was not carried out is clean. */
static const char *outcome_of(int r, const json_t *ran, size_t found, struct err *err) {
    const char *error = json_get_string(ran, "error", NULL);
    if (r == -ETIMEDOUT) {
        err_set(err, r, "time ran out");
        return "timeout";
    }
    if (r < 0) {
        return "failed";
    }
    if (!ran || (!found && error)) {
        err_set(err, -EIO, "%s", error ? error : "the kernel was not run");
        return "failed";
    }
    return found ? "findings" : "clean";
}

static json_t *run_tool(struct sanitizing *s, const char *name, unsigned wall_ms) {
    char ms[16];
    struct err err = {0};
    struct sanitizer_log log;
    int status = 0;
    uint64_t begun = clock_ms();
    snprintf(ms, sizeof ms, "%u", wall_ms > EARLIER_MS ? wall_ms - EARLIER_MS : 1);
    char *const argv[] = {s->program, (char[]){SANITIZED_RUN_ARGUMENT},
                          (char *)(uintptr_t)s->folder, ms, NULL};
    const struct sanitizer_job job = {.tool = name,
                                      .program = argv,
                                      .environment = s->environment,
                                      .folder = s->folder,
                                      .timeout_ms = wall_ms};
    int r = sanitizer_run(&s->tool, &job, &log, &status, &err);
    autojson *ran = ran_read(s->folder);
    json_each(log.findings, i, f) {
        show_files(f);
    }
    const char *outcome = outcome_of(r, ran, json_array_size(log.findings), &err);
    json_t *told =
        json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:O, s:I}", "tool", name, "check",
                  sanitizer_check_of(name), "outcome", outcome, "cases",
                  json_get_integer(ran, "cases", 0), "of", json_get_integer(ran, "of", 0),
                  "ms", (json_int_t)(clock_ms() - begun), "findings", log.findings,
                  "omitted", (json_int_t)log.omitted);
    json_object_set(told, "seeds", json_object_get(ran, "seeds"));
    if (err.code) {
        json_object_set_new(told, "reason", json_clean_z(err.msg));
    }
    sanitizer_log_finish(&log);
    return told;
}

/* Each has an equal share of the time that is left. */
static void run_tools(struct sanitizing *s, const json_t *wanted) {
    json_t *tools = json_object_get(s->report, "tools");
    size_t left = json_array_size(wanted);
    for (size_t i = 0; i < json_array_size(wanted); i++, left--) {
        const char *name = json_string_value(json_array_get(wanted, i));
        uint64_t now = clock_ms();
        uint64_t share = s->until_ms > now ? (s->until_ms - now) / left : 0;
        const char *check = name ? sanitizer_check_of(name) : NULL;
        if (!check) {
            continue; /* it is no tool */
        }
        json_array_append_new(
            tools, share >= LEAST_MS
                       ? run_tool(s, name, (unsigned)share)
                       : json_pack("{s:s, s:s, s:s, s:s, s:i, s:[]}", "tool", name,
                                   "check", check, "outcome", "timeout", "reason",
                                   "no time was left: give a larger `timeout_s`",
                                   "cases", 0, "findings"));
    }
}

/* --- the child --- */

/* Of the tool and its target: as other runs have it, and where temporary files go. */
static char **environment_new(const char *folder) {
    char **list = cuda_room_environment(cuda_room_confinement());
    size_t count = 0;
    while (list[count]) {
        count++;
    }
    list = xreallocarray(list, count + 4, sizeof *list);
    list[count++] = xasprintf("TMPDIR=%s", folder);
    list[count++] = xasprintf("HOME=%s", folder);
    list[count++] = xstrdup("PATH=/usr/bin:/bin");
    list[count] = NULL;
    return list;
}

/* As a job that the target reads: the validation's params, and what came attached. */
static int request_write(const char *folder, const struct child_job *job) {
    autobuf head = BUF_INIT(SIZE_MAX / 4);
    autofree char *path = path_join(folder, "request");
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    json_write(&head, json_object_get(job->head, "params"));
    buf_addc(&head, '\n');
    int r = fd < 0 ? -errno : file_write_all(fd, head.data, head.len);
    r = r < 0 ? r : file_write_all(fd, job->attached, job->len);
    for (size_t i = 0; r == 0 && i < job->file_count; i++) {
        r = file_write_all(fd, job->files[i].bytes, job->files[i].len);
    }
    return r;
}

static json_t *sanitize(const struct child_job *whole) {
    const json_t *job = whole->head;
    static const char may[] = "[\"processes\",\"unix_sockets\",\"job_folder\"]";
    struct sanitizing s = {.folder = json_get_string(job, "folder", "")};
    struct err err = {0};
    snprintf(s.tool.path, sizeof s.tool.path, "%s", json_get_string(job, "path", ""));
    s.until_ms = clock_ms() + (uint64_t)json_get_integer(job, "wall_ms", 0) - ANSWER_MS;
    s.program = realpath("/proc/self/exe", NULL);
    s.environment = environment_new(s.folder);
    int r = s.program && chdir(s.folder) == 0 ? request_write(s.folder, whole) : -EIO;
    unsigned bits = enter_room(job, s.tool.path);
    s.report =
        json_pack("{s:s, s:o, s:o, s:[]}", "path", s.tool.path, "confinement",
                  confinement_to_json(bits), "may", json_loads(may, 0, NULL), "tools");
    if (r < 0) {
        err_set(&err, r, "its folder cannot be written");
    }
    r = r ? r : sanitizer_try(&s.tool, &err);
    if (r < 0) {
        json_object_set_new(s.report, "absent", json_clean_z(err.msg));
        json_object_set_new(s.report, "hint", json_string(HINT));
    } else {
        json_object_set_new(s.report, "version", json_clean_z(s.tool.version));
        run_tools(&s, json_object_get(job, "tools"));
    }
    strings_free(s.environment);
    free(s.program);
    return s.report;
}

_Noreturn void sanitize_child_run(int supervisor, int socket) {
    struct child_job job;
    confine_child_start(supervisor);
    (void)signal(SIGTERM, on_term);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
    if (getppid() != supervisor || !child_job_take(&job, socket) ||
        !child_answer(socket, sanitize(&job), true)) {
        _exit(VALIDATE_CHILD_BAD_JOB);
    }
    close(socket);
    _exit(0);
}

/* --- the target --- */

static json_t *target_run(const json_t *request, const struct spec_files *files,
                          uint64_t until_ms) {
    const json_t *spec = json_object_get(request, "spec");
    struct err err = {0};
    struct cuda_child child = {.device = json_get_string(spec, "device", NULL),
                               .deadline_ms = until_ms,
                               .is_confined = true};
    if (cuda_child_start(&child, &err) != CUDA_CHILD_READY) {
        return json_pack("{s:i, s:i, s:o}", "cases", 0, "of", 0, "error",
                         json_clean_z(err.msg));
    }
    backend_cuda_make_bare();
    return sanitized_run(request, files, cuda_child_backend, until_ms);
}

/* Ends by exit(): the libraries that watch it have their last words there. */
_Noreturn void sanitized_child_run(const char *folder, unsigned wall_ms) {
    autobuf out = BUF_INIT(MAX_RAN);
    struct child_job job;
    autofree char *request_path = path_join(folder, "request");
    autofree char *path = ran_path(folder);
    uint64_t until = validate_stop_after(wall_ms);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (!child_job_read(&job, open(request_path, O_RDONLY | O_CLOEXEC))) {
        _exit(VALIDATE_CHILD_BAD_JOB);
    }
    autojson *request = child_job_request(&job, job.head);
    const struct spec_files files = {job.files, job.file_count};
    autojson *ran = target_run(request, &files, until);
    child_job_finish(&job);
    autofd int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0 && json_write(&out, ran) == 0) {
        (void)file_write_all(fd, out.data, out.len);
    }
    exit(0);
}
