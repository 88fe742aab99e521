#include "gpu/run/foresight.h"
#include "gpu/worker/validation_internal.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "gpu/run/validate_result.h"
#include "gpu/worker/cuda_room.h"
#include "gpu/worker/program_child.h"
#include "gpu/worker/sanitize_child.h"
#include "gpu/worker/validate_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MAX_WALL_MS = 3600 * 1000,
    DEVICES_WALL_MS = 20 * 1000, /* a driver that was not in use starts for seconds */
    DEATH_MS = 250,              /* a killed process may be stuck in the driver */
    TELL_MS = 100,               /* between two notes of progress, */
    TELL_SOONER = 2,             /* but for so many, such as the next of two phases */
    TRIAL_WALL_MS = 10 * 1000,
};

/* The limit of a run (foresight.h), doubled for threads and fragmentation. */
static uint64_t address_space(void) {
    uint64_t here = memory_here();
    return here < (uint64_t)INT64_MAX / 2 ? 2 * here + ((uint64_t)8 << 30) : INT64_MAX;
}

void validate_limits_read(struct validate_limits *ret, const json_t *json) {
    json_int_t wall = json_get_integer(json, "wall_ms", 30000);
    json_int_t memory = json_get_integer(json, "memory_bytes", 0);
    json_int_t save = json_get_integer(json, "save_ms", 0);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    wall = wall < 1 ? 1 : wall > MAX_WALL_MS ? MAX_WALL_MS : wall;
    memory = !memory                ? (json_int_t)address_space()
             : memory < (256 << 20) ? 256 << 20
                                    : memory;
    save = save < 0 ? 0 : save > MAX_WALL_MS ? MAX_WALL_MS : save;
    ret->wall_ms = (unsigned)wall;
    ret->save_ms = (unsigned)save;
    ret->cpu_s = (unsigned)((wall / 1000 + 2) * (cores > 0 ? cores : 1));
    ret->memory_bytes = (size_t)memory;
}

/* --- ends --- */

static void validation_unlink(struct validation *v) {
    struct validation **at = &v->worker->validations;
    while (*at != v) {
        at = &(*at)->next;
    }
    *at = v->next;
}

/* Ends v; its call is still to be answered. */
static struct rpc_call *validation_free(struct validation *v) {
    struct rpc_call *call = v->call;
    validation_unlink(v);
    if (v->folder) {
        (void)dir_remove(v->folder, NULL);
    }
    json_decref(v->answer);
    buf_finish(&v->head);
    attachment_finish(&v->request);
    fd_close_p(&v->arena);
    free(v->folder);
    free(v);
    return call;
}

static void end_cancelled(struct validation *v) {
    rpc_error(validation_free(v), RPC_REQUEST_CANCELLED, NULL,
              "the validation was cancelled");
}

static void end_with(struct validation *v, json_t *answer) {
    rpc_reply(validation_free(v), answer);
}

static json_t *devices_of_death(const struct validation *v) {
    return json_pack("{s:[], s:{s:s, s:s}}", "devices", "error", "code", "no_gpu",
                     "message",
                     v->timed_out ? "the driver did not answer"
                                  : "the process that asked the driver died");
}

/* A result in which nothing ran. */
static json_t *not_run(const struct validation *v, const char *verdict, const char *code,
                       const char *message, const char *hint) {
    if (!v->is_program) {
        return validate_not_run(verdict, "run", code, message, hint);
    }
    json_t *result = json_object();
    validate_set_error(result, verdict, "run", code, message, hint);
    return result;
}

/* An answer for a child that gave none; status as waitpid gives it. */
static json_t *answer_of_death(const struct validation *v, int status) {
    if (v->wants_devices) {
        return devices_of_death(v);
    }
    char message[160];
    if (v->timed_out || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
        snprintf(message, sizeof message, "the run was ended after %.3g s",
                 v->limits.wall_ms / 1e3);
        return not_run(v, "timeout", "wall_time", message,
                       "give smaller sizes, or a larger `timeout_s`");
    }
    if (v->request.count > 1 &&
        (WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS
                             : WEXITSTATUS(status) == VALIDATE_CHILD_BAD_JOB)) {
        return not_run(v, "error", "file_changed",
                       "a file that the check spec names was changed during the run",
                       "leave the arrays' files as they are until the answer is there");
    }
    if (WIFSIGNALED(status)) {
        snprintf(message, sizeof message, "the process that ran the kernel died (SIG%s)",
                 sigabbrev_np(WTERMSIG(status)));
        return not_run(v, "error", "runner_died", message,
                       "it may have run out of memory: give smaller sizes");
    }
    return not_run(v, "error", "runner_failed",
                   "the process that ran the kernel ended without an answer", NULL);
}

/* --- notes --- */

static unsigned take_save_ms(struct validation *v) {
    unsigned ms = v->limits.save_ms;
    v->limits.save_ms = 0;
    return ms;
}

/* The arena goes to the daemon once, and must be immutable then: false if its child could
 * still write to it. */
static bool arena_send(struct validation *v) {
    struct worker *w = v->worker;
    if (!v->parcel &&
        fcntl(v->arena, F_ADD_SEALS,
              F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) == 0 &&
        fd_parcel_send(w->channel.socket, w->parcels + 1, &v->arena, 1) == 0) {
        v->parcel = ++w->parcels;
    }
    return v->parcel != 0;
}

static void note_memory(struct validation *v, json_t *file) {
    if (v->arena >= 0 && json_object_get(file, "at") && arena_send(v)) {
        json_object_set_new(file, "memory", json_integer((json_int_t)v->parcel));
    }
}

static void pass_note(struct validation *v, json_t *note) {
    uint64_t now = clock_ms();
    bool progress = json_object_get(note, "progress") != NULL;
    if (progress && now - v->told_ms < TELL_MS && v->sooner++ >= TELL_SOONER) {
        return;
    }
    v->told_ms = progress ? now : v->told_ms;
    if (json_object_get(note, "file")) { /* once: the run itself has ended */
        v->deadline_ms += take_save_ms(v);
        note_memory(v, json_object_get(note, "file"));
    }
    json_object_set_new(note, "id",
                        json_loads(rpc_call_id(v->call), JSON_DECODE_ANY, NULL));
    rpc_notify(v->worker->peer, "validate/note", json_incref(note));
}

/* The last line announces the answer after it. */
static bool is_answer_line(struct validation *v, const json_t *line) {
    const json_t *answer = json_object_get(line, "answer");
    json_int_t bytes = json_get_integer(answer, "bytes", 0);
    v->answer_bytes = bytes > 0 ? (size_t)bytes : 0;
    v->on_device = json_get_bool(answer, "on_device", 0);
    return answer != NULL;
}

/* One line of a process that may have been taken over: anything. */
static void take_line(struct validation *v, const char *line, size_t len) {
    autofree char *copy = xstrndup(line, len);
    autojson *note = json_parse(copy, strlen(copy), NULL);
    if (json_is_object(note) && !is_answer_line(v, note) && !v->cancelled &&
        !v->timed_out) {
        pass_note(v, note);
    }
}

static void on_said(void *owner, struct worker_child *child) {
    struct validation *v = owner;
    const char *newline;
    while (!v->answer_bytes && child->out.len &&
           (newline = memchr(child->out.data, '\n', child->out.len))) {
        size_t len = (size_t)(newline - child->out.data);
        if (len <= VALIDATION_MAX_NOTE) {
            take_line(v, child->out.data, len);
        }
        buf_consume(&child->out, len + 1);
    }
}

/* --- ends of children --- */

static bool is_whole(const struct validation *v, const struct worker_child *child) {
    return v->answer_bytes && child->out.len == v->answer_bytes;
}

static json_t *answer_read(const struct validation *v, const struct worker_child *child) {
    json_t *answer =
        is_whole(v, child) ? json_parse(child->out.data, child->out.len, NULL) : NULL;
    if (answer && !json_is_object(answer)) {
        json_decref(answer);
        answer = NULL;
    }
    return answer;
}

static void validation_run(struct worker *w, struct validation *v);

/* trial: what the child of v->in_trial told, or NULL. */
static void run_after_trial(struct validation *v, const json_t *trial) {
    validation_trial_ended(v->worker, v, trial);
    validation_run(v->worker, v);
}

/* The report of the run under compute-sanitizer, if its child ended with one. */
static json_t *report_read(const struct validation *v, const struct worker_child *child) {
    bool ended_well =
        !v->timed_out && WIFEXITED(child->status) && !WEXITSTATUS(child->status);
    return ended_well ? answer_read(v, child) : NULL;
}

/* A whole answer of the ordinary run. */
static void take_answer(struct validation *v, struct worker_child *child) {
    if (!v->on_device || v->timed_out) {
        rpc_reply_attached(validation_free(v), json_object(), &child->out);
        return;
    }
    json_t *answer = answer_read(v, child);
    answer = answer ? answer : answer_of_death(v, child->status);
    if (validation_needs_another(v->worker, v, answer)) {
        json_decref(answer);
        validation_run(v->worker, v);
    } else {
        end_with(v, answer);
    }
}

static void on_ended(void *owner, struct worker_child *child) {
    struct validation *v = owner;
    bool ended_well = WIFEXITED(child->status) && !WEXITSTATUS(child->status);
    v->child = NULL;
    if (v->cancelled) {
        end_cancelled(v);
    } else if (v->in_trial) {
        autojson *trial = answer_read(v, child);
        run_after_trial(v, trial);
    } else if (v->answer) {
        autojson *report = report_read(v, child);
        end_with(v, validation_sanitized(v, report, child->status));
    } else if (ended_well && is_whole(v, child)) {
        take_answer(v, child);
    } else {
        end_with(v, answer_of_death(v, child->status));
    }
}

/* A driver may take seconds to release a kernel: the reply does not wait for that. */
static bool on_silent(void *owner, struct worker_child *child) {
    struct validation *v = owner;
    if (v->cancelled || v->timed_out || v->answer || !is_whole(v, child)) {
        return false;
    }
    v->child = NULL;
    if (v->in_trial) {
        autojson *trial = answer_read(v, child);
        run_after_trial(v, trial);
    } else {
        take_answer(v, child);
    }
    return true;
}

static const struct worker_child_events child_events = {on_said, on_silent, on_ended};

static void validation_kill(struct validation *v) {
    v->killed_ms = clock_ms();
    worker_child_kill(v->child); /* answered once it is reaped */
}

/* It was killed and lives: the system waits for the device. Nobody waits with it. */
static void leave_behind(struct validation *v) {
    worker_child_leave(take(v->child));
    if (v->cancelled) {
        end_cancelled(v);
    } else if (v->in_trial) {
        run_after_trial(v, NULL);
    } else {
        end_with(v, v->answer ? validation_sanitized(v, NULL, 0)
                              : answer_of_death(v, SIGKILL));
    }
}

/* --- beginnings --- */

static void on_cancel(struct rpc_call *, void *data) {
    struct validation *v = data;
    v->cancelled = true;
    if (v->child) {
        validation_kill(v);
    } else {
        end_cancelled(v);
    }
}

static void validation_add(struct worker *w, struct validation *v) {
    struct validation **at = &w->validations;
    while (*at) {
        at = &(*at)->next;
    }
    *at = v;
    rpc_call_on_cancel(v->call, on_cancel, v);
}

/* Says no when too many wait. */
static bool may_start(const struct worker *w, struct rpc_call *call) {
    size_t waiting = 0;
    for (const struct validation *v = w->validations; v; v = v->next) {
        waiting++;
    }
    if (waiting >= VALIDATIONS_MAX) {
        rpc_error(call, RPC_INTERNAL_ERROR, NULL, "too many validations wait already");
    }
    return waiting < VALIDATIONS_MAX;
}

/* NULL when the call has been answered. */
static struct validation *validation_new(struct worker *w, struct rpc_call *call) {
    if (!may_start(w, call)) {
        return NULL;
    }
    struct attachment request;
    if (!attachment_take(w, call, &request)) {
        return NULL;
    }
    struct validation *v = xcalloc(1, sizeof *v);
    *v = (struct validation){.worker = w, .call = call, .request = request, .arena = -1};
    validate_limits_read(&v->limits, json_object_get(rpc_call_params(call), "limits"));
    return v;
}

static void arena_make(struct validation *v) {
    if (v->limits.save_ms && v->worker->channel.socket >= 0) {
        v->arena = memfd_create("upskilld-arrays", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
}

void validation_start(struct worker *w, struct rpc_call *call) {
    struct validation *v = validation_new(w, call);
    if (v) {
        arena_make(v);
        v->head = worker_child_head(json_incref(rpc_call_params(call)));
        validation_add(w, v);
    }
}

void program_start(struct worker *w, struct rpc_call *call) {
    struct validation *v = validation_new(w, call);
    if (!v) {
        return;
    }
    struct err err = {.msg = "its folder could not be made"};
    int r = worker_folder_make(w, &err);
    v->folder = r < 0 ? NULL : xasprintf("%s/job-XXXXXX", w->folder);
    v->is_program = true;
    v->head = BUF_INIT(0);
    validation_add(w, v);
    if (r < 0 || !mkdtemp(v->folder)) {
        rpc_error(validation_free(v), RPC_INTERNAL_ERROR, NULL, "%s", err.msg);
        return;
    }
    json_t *head = json_copy(rpc_call_params(call));
    json_object_set_new(head, "folder", json_string(v->folder));
    v->head = worker_child_head(head);
}

void devices_start(struct worker *w, struct rpc_call *call) {
    if (!may_start(w, call)) {
        return;
    }
    struct validation *v = xcalloc(1, sizeof *v);
    *v = (struct validation){.worker = w,
                             .call = call,
                             .head = worker_child_head(json_pack("{s:b}", "devices", 1)),
                             .limits.wall_ms = DEVICES_WALL_MS,
                             .arena = -1,
                             .wants_devices = true};
    validation_add(w, v);
}

static void parcel_give(struct validation *v, struct worker_child *child) {
    int fds[FD_PARCEL_MAX];
    size_t count = v->in_trial ? 0 : v->request.count;
    bool arena = count && count < FD_PARCEL_MAX && v->arena >= 0 && !v->answer;
    for (size_t i = 0; i < count; i++) {
        fds[i] = v->request.fds[i];
    }
    if (arena) {
        fds[count++] = v->arena;
    }
    worker_child_give(child, &v->head, arena ? CHILD_ARENA : CHILD_PLAIN, fds, count);
}

/* In the new process: nothing but async-signal-safe calls up to the exec. */
static _Noreturn void child_exec(const struct validation *v, int socket,
                                 char *const *environment, const char *kind) {
    char fd[16], pid[16];
    int supervisor = v->worker->pid;
    int end = dup(socket); /* without close-on-exec */
    snprintf(fd, sizeof fd, "%d", end);
    snprintf(pid, sizeof pid, "%d", supervisor);
    char *argv[] = {(char[]){"upskilld-worker"}, (char *)(uintptr_t)kind, fd, pid, NULL};
    execve("/proc/self/exe", argv, environment);
    _exit(VALIDATE_CHILD_BAD_JOB);
}

static const char *child_kind(const struct validation *v) {
    return v->answer       ? SANITIZE_CHILD_ARGUMENT
           : v->is_program ? PROGRAM_CHILD_ARGUMENT
                           : VALIDATE_CHILD_ARGUMENT;
}

static void validation_run(struct worker *w, struct validation *v) {
    int end = -1;
    struct worker_child *child = worker_child_new(w, NULL, &end);
    if (!child) {
        if (v->answer) {
            end_with(v, validation_sanitized(v, NULL, 0));
        } else {
            rpc_error(validation_free(v), RPC_INTERNAL_ERROR, NULL,
                      "no process could be made: %s", strerror(errno));
        }
        return;
    }
    enum cuda_confinement confinement = cuda_room_confinement();
    autoptr(strings_free) char **environment = cuda_room_environment(
        v->is_retried && confinement == CUDA_CONFINEMENT_TRY ? CUDA_CONFINEMENT_FULL
                                                             : confinement);
    /* It starts others, in groups that only it knows. */
    bool is_keeper = v->answer || v->is_program;
    int pid = fork();
    if (pid == 0) {
        child_exec(v, end, is_keeper ? environ : environment, child_kind(v));
    }
    close(end);
    worker_child_own(child, &child_events, v);
    child->end_signal = is_keeper ? SIGTERM : SIGKILL;
    v->child = child;
    v->answer_bytes = 0;
    if (!v->answer) {
        v->deadline_ms = clock_ms() + (v->in_trial ? TRIAL_WALL_MS : v->limits.wall_ms);
    }
    worker_child_pid_known(w, child, pid);
    parcel_give(v, child);
}

void validations_advance(struct worker *w) {
    size_t running = 0;
    struct validation *next;
    for (const struct validation *v = w->validations; v; v = v->next) {
        running += v->child != NULL;
    }
    for (struct validation *v = w->validations; v && running < w->cores; v = next) {
        next = v->next;
        if (!v->child) {
            validation_run(w, v);
            running++;
        }
    }
}

/* Ends what is overdue; the time at which to look again. */
static uint64_t validation_tick(struct validation *v, uint64_t now) {
    if (!v->child) {
        return UINT64_MAX;
    }
    if (!v->killed_ms && v->deadline_ms <= now) {
        v->timed_out = true;
        validation_kill(v);
    }
    if (!v->killed_ms) {
        return v->deadline_ms;
    }
    if (v->killed_ms + DEATH_MS > now) {
        return v->killed_ms + DEATH_MS;
    }
    leave_behind(v);
    return UINT64_MAX;
}

uint64_t validations_tick(struct worker *w, uint64_t now) {
    uint64_t first = UINT64_MAX;
    struct validation *next;
    for (struct validation *v = w->validations; v; v = next) {
        next = v->next;
        uint64_t at = validation_tick(v, now);
        first = at < first ? at : first;
    }
    return first;
}

void validations_free(struct worker *w) {
    for (struct validation *v = w->validations; v; v = v->next) {
        rpc_call_on_cancel(v->call, NULL, NULL);
    }
    while (w->validations) {
        rpc_drop(validation_free(w->validations));
    }
    sanitize_memory_finish(&w->sanitized);
}
