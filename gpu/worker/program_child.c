#include "gpu/worker/program_child.h"

#include "base/file.h"
#include "base/find.h"
#include "base/strings.h"
#include "gpu/compile/toolkit.h"
#include "gpu/run/validate_result.h"
#include "gpu/runtime/run_report.h"
#include "gpu/worker/child_io.h"
#include "gpu/worker/program_result.h"
#include "gpu/worker/validation.h"

#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_WRITTEN = 200 };
#define MAX_OUTPUT (256u << 10) /* of each of its two */
#define MAX_ROOM (256u << 20)   /* bytes of all files that it writes */
#define MAX_FILE ((size_t)64 << 20)
#define MAX_SAVED (8u << 20)
/* reserved is not used: memory is counted apart */
#define REPORT_LINES "report/lines"
#define ADDRESS_SPACE ((size_t)1 << 40)
#define GRACE_MS 2000u /* to say what was found in the launch that takes too long */

/* --- its libraries --- */

static char *runtime_find(void) {
    static const char *const places[] = {RUN_LIBRARY, "runtime/" RUN_LIBRARY,
                                         "../lib/upskilld/" RUN_LIBRARY};
    return beside_program(places, ARRAY_LEN(places), R_OK);
}

/* --- its folder --- */

static bool file_put(const struct root *root, const char *name, const void *bytes,
                     size_t len, mode_t mode) {
    struct root_file file;
    return root_file_begin(&file, root, name, mode, NULL) == 0 &&
           (root_file_add(&file, bytes, len) == 0 ? root_file_end(&file, false) == 0
                                                  : (root_file_drop(&file), false));
}

static bool files_put(const struct root *root, const json_t *files) {
    json_each(files, i, file) {
        size_t len;
        autofree unsigned char *bytes =
            spec_array_decode(json_object_get(file, "data"), &len);
        if (!bytes ||
            !file_put(root, json_get_string(file, "name", ""), bytes, len, 0444)) {
            return false;
        }
    }
    return true;
}

/* FOLDER/room is its working directory, FOLDER/report its output, FOLDER/config.json its
 * configuration. */
static bool room_make(const char *folder, const json_t *request) {
    struct root root;
    autofree char *room = path_join(folder, "room"),
                  *report = path_join(folder, "report");
    autofree char *config = path_join(folder, "config.json");
    autobuf text = BUF_INIT(65536);
    (void)json_write(&text, json_object_get(request, "config"));
    if (mkdir(room, 0700) || mkdir(report, 0700) || root_open(&root, room, NULL) < 0) {
        return false;
    }
    bool good = files_put(&root, json_object_get(request, "files"));
    root_close(&root);
    if (!good || root_open(&root, folder, NULL) < 0) {
        return false;
    }
    good = file_put(&root, "config.json", text.data, text.len, 0400);
    root_close(&root);
    return good;
}

/* --- what it wrote --- */

static bool was_given(const json_t *files, const char *name) {
    return json_any(files, file, json_says(file, "name", name));
}

static json_t *written_file(const FTSENT *entry, const char *name, size_t *room) {
    json_t *one = json_pack("{s:o, s:I}", "name", json_text(name, strlen(name)), "bytes",
                            (json_int_t)entry->fts_statp->st_size);
    size_t size = (size_t)entry->fts_statp->st_size;
    autobuf bytes = BUF_INIT(*room);
    if (size <= *room && file_read(entry->fts_path, &bytes, NULL) == 0) {
        *room -= bytes.len;
        json_object_set_new(one, "data", spec_array_encode(bytes.data, bytes.len));
    }
    return one;
}

/* Files of its room that it was not given. */
static json_t *written_read(const char *folder, const json_t *request) {
    autofree char *room = path_join(folder, "room");
    char *paths[] = {room, NULL};
    size_t left = json_get_bool(request, "save", 0) ? MAX_SAVED : 0;
    json_t *list = json_array();
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (const FTSENT *entry; walk && (entry = fts_read(walk));) {
        const char *name = entry->fts_path + strlen(room);
        name += *name == '/';
        if (entry->fts_info == FTS_F && json_array_size(list) < MAX_WRITTEN &&
            !was_given(json_object_get(request, "files"), name)) {
            json_array_append_new(list, written_file(entry, name, &left));
        }
    }
    if (walk) {
        fts_close(walk);
    }
    return list;
}

/* --- the run --- */

/* Huge pages for what glibc lends: reference implementations with tables of gigabytes
 * otherwise wait for page tables. Small blocks are the library's own (host_heap.h). */
#define HOST_MEMORY "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"

static void environment_make(struct strings *list, const char *folder,
                             const char *runtime) {
    autofree char *libraries =
        xstrndup(runtime, (size_t)(path_basename(runtime) - runtime));
    strings_add(list, xasprintf("LD_LIBRARY_PATH=%s", libraries));
    strings_add(list, xasprintf(RUN_CONFIG_VARIABLE "=%s/config.json", folder));
    strings_add(list, xasprintf(RUN_REPORT_VARIABLE "=%s/" REPORT_LINES, folder));
    strings_add(list, xasprintf("HOME=%s/room", folder));
    strings_add(list, xasprintf("TMPDIR=%s/room", folder));
    strings_add(list, xstrdup("PATH=/usr/bin:/bin"));
    strings_add(list, xstrdup("LC_ALL=C.UTF-8"));
    strings_add(list, xstrdup(HOST_MEMORY));
}

static void argv_make(struct strings *argv, const char *program, const json_t *args) {
    strings_add(argv, xstrdup(program));
    json_each(args, i, arg) {
        strings_add(argv, xstrdup(json_string_value(arg)));
    }
}

/* The memory of a recorded launch: files that the program wrote, so none may lead out of
 * their folder. */
static void record_read(const char *folder, json_t *record) {
    autofree char *report = path_join(folder, "report");
    struct root root;
    size_t left = RUN_RECORD_MAX_BYTES;
    if (!record || root_open(&root, report, NULL) < 0) {
        return;
    }
    json_each(json_object_get(record, "memory"), i, memory) {
        autofree char *name = xasprintf(RUN_RECORD_FILE, (unsigned)i);
        autobuf bytes = BUF_INIT(left);
        if (root_read(&root, name, &bytes, NULL) == 0 && bytes.len) {
            left -= bytes.len;
            json_object_set_new(memory, "data", spec_array_encode(bytes.data, bytes.len));
        }
    }
    root_close(&root);
}

struct running {
    const struct build_job *job;
    const json_t *request, *limits;
    const char *program;
};

static void run_confined(const struct running *r, struct program_ran *ran,
                         struct buf *lines_ret) {
    const char *folder = r->job->folder;
    autostrings environment = {0}, argv = {0};
    autofree char *room = path_join(folder, "room"),
                  *report = path_join(folder, "report");
    autofree char *config = path_join(folder, "config.json"),
                  *lines = path_join(folder, REPORT_LINES);
    const json_t *input = json_object_get(r->request, "stdin");
    const char *reads[] = {"/usr/lib",
                           "/usr/lib64",
                           "/usr/share",
                           "/lib",
                           "/lib64",
                           "/etc/ld.so.cache",
                           "/proc/cpuinfo",
                           "/proc/meminfo",
                           "/sys/kernel/mm/transparent_hugepage", /* glibc asks */
                           "/dev/urandom",
                           "/dev/zero",
                           r->job->runtime,
                           config,
                           NULL};
    const char *writes[] = {room, r->job->lenient ? report : NULL, NULL};
    const char *const outputs[] = {lines, NULL};
    static const char *const devices[] = {"/dev/null", NULL};
    const char *starts[] = {r->program, "/lib64/ld-linux-x86-64.so.2",
                            "/lib/ld-linux-aarch64.so.1", NULL};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    environment_make(&environment, folder, r->job->runtime);
    argv_make(&argv, r->program, json_object_get(r->request, "args"));
    const struct confine_rules rules = {
        .read_paths = reads,
        .write_paths = writes,
        .output_paths = outputs,
        .exec_paths = starts,
        .device_paths = devices,
        .may_compute = true,
        .may_thread = true,
        .cpu_s = (ran->work_ms / 1000 + 2) * (unsigned)(cores > 0 ? cores : 1),
        .memory_bytes = ADDRESS_SPACE,
        .file_bytes = MAX_FILE,
    };
    const struct program_stage stage = {
        .argv = (const char *const *)argv.list,
        .environment = (const char *const *)environment.list,
        .folder = room,
        .rules = &rules,
        .input = json_string_value(input),
        .input_len = json_string_length(input),
        .out = &ran->out,
        .error = &ran->error,
        .report_path = lines,
        .report = lines_ret,
        .wall_ms = ran->wall_ms,
        .grace_ms = GRACE_MS,
        .quota_folder = room,
        .quota_bytes = MAX_ROOM,
        .resident_bytes = ran->memory_bytes,
        .threads = PROGRAM_THREADS,
    };
    program_stage_run(&stage, &ran->end);
}

/* Three quarters of the machine's at most. */
static size_t memory_limit(const json_t *limits) {
    size_t asked = (size_t)json_get_integer(limits, "memory_bytes", (json_int_t)8 << 30);
    size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    size_t most = machine / 4 * 3;
    return asked < most ? asked : most;
}

/* Its path here, which says nothing to whoever reads "usage: PROGRAM FILE". */
static void hide_path(struct buf *text, size_t *total, const char *path) {
    static const char name[] = "./program";
    size_t len = strlen(path);
    const char *from = text->data, *end = from + text->len, *at;
    char *to = text->data;
    while (from < end && (at = memmem(from, (size_t)(end - from), path, len))) {
        memmove(to, from, (size_t)(at - from));
        to = mempcpy(to + (at - from), name, strlen(name));
        from = at + len;
    }
    if (from != to) {
        memmove(to, from, (size_t)(end - from) + 1);
        text->len -= (size_t)(from - to);
        *total -= (size_t)(from - to);
    }
}

static json_t *run_program(const struct running *r, const struct program_built *built) {
    struct program_report report;
    const json_t *config = json_object_get(r->request, "config");
    struct program_ran ran = {
        .out = BUF_INIT(MAX_OUTPUT),
        .error = BUF_INIT(MAX_OUTPUT),
        .wall_ms = (unsigned)json_get_integer(r->limits, "run_ms", 60000),
        .work_ms = (unsigned)json_get_integer(r->limits, "work_ms", 60000),
        .memory_bytes = memory_limit(r->limits),
        .strict = json_get_bool(r->request, "strict", 0),
        .checks = json_object_get(config, "checks"),
    };
    autobuf lines = BUF_INIT(RUN_REPORT_MAX_BYTES + 65536);
    run_confined(r, &ran, &lines);
    hide_path(&ran.out, &ran.end.out_bytes, r->program);
    hide_path(&ran.error, &ran.end.error_bytes, r->program);
    program_report_read(&report, r->job, &lines);
    json_t *result = program_result(built, &ran, &report);
    json_object_set_new(result, "files", written_read(r->job->folder, r->request));
    record_read(r->job->folder, report.record);
    json_object_set(result, "record", report.record);
    program_report_finish(&report);
    buf_finish(&ran.out);
    buf_finish(&ran.error);
    return result;
}

/* --- the keeper --- */

static json_t *refuse(const char *code, const char *message, const char *hint) {
    json_t *result = json_object();
    validate_set_error(result, "error", "setup", code, message, hint);
    json_object_set_new(result, "findings", json_array());
    return result;
}

/* As a validation's notes; the line before the answer. */
static void tell(int socket, double done, const char *message) {
    autobuf line = BUF_INIT(1024);
    autojson *note = json_pack("{s:{s:f, s:i, s:s}}", "progress", "done", done, "total",
                               2, "message", message);
    if (json_write(&line, note) == 0 && buf_addc(&line, '\n') == 0) {
        (void)file_write_all(socket, line.data, line.len);
    }
}

static json_t *build_and_run(const struct build_job *job, const json_t *request,
                             const json_t *limits, int socket) {
    struct program_built built;
    tell(socket, 0, "compiling");
    program_build(job, &built);
    const struct running r = {job, request, limits, built.path};
    if (built.path) {
        tell(socket, 1, "running");
    }
    json_t *result = !built.path ? program_result(&built, NULL, NULL)
                     : !room_make(job->folder, request)
                         ? refuse("no_folder", "the program's files could not be written",
                                  "two of them may have the same name")
                         : run_program(&r, &built);
    program_built_finish(&built);
    return result;
}

static json_t *keep(struct child_job *whole, int socket) {
    const json_t *limits = json_object_get(whole->head, "limits");
    autojson *request = child_job_request(whole, whole->head);
    autofree char *nvcc = toolkit_nvcc(), *runtime = runtime_find();
    struct build_job job = {
        .folder = json_get_string(whole->head, "folder", ""),
        .units = json_object_get(request, "units"),
        .include_dirs = json_object_get(request, "include_dirs"),
        .words = json_object_get(request, "words"),
        .nvcc = nvcc,
        .runtime = runtime,
        .lenient = json_object_get(json_object_get(request, "config"), "record"),
        .wall_ms = (unsigned)json_get_integer(limits, "compile_ms", 120000),
        .memory_bytes = (size_t)6 << 30,
    };
    if (!request || source_set_from_json(&job.sources,
                                         json_object_get(request, "sources"), NULL) < 0) {
        return refuse("bad_request", "the request is invalid", NULL);
    }
    json_t *result =
        !nvcc ? refuse("no_nvcc", "there is no nvcc here to compile whole programs",
                       NVCC_HINT)
        : !runtime
            ? refuse("no_runtime", RUN_LIBRARY " of upskilld is not beside its worker",
                     "reinstall upskilld: the two belong together")
            : build_and_run(&job, request, limits, socket);
    source_set_finish(&job.sources);
    return result;
}

_Noreturn void program_child_run(int supervisor, int socket) {
    struct child_job job;
    confine_child_start(supervisor);
    program_stages_init();
    if (getppid() != supervisor || !child_job_take(&job, socket) ||
        !child_answer(socket, keep(&job, socket), false)) {
        _exit(VALIDATE_CHILD_BAD_JOB);
    }
    close(socket);
    _exit(0);
}
