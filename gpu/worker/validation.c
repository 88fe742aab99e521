#include "gpu/worker/validation.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "gpu/validate/validate_result.h"
#include "gpu/worker/confine.h"
#include "gpu/worker/validate_child.h"
#include "gpu/worker/worker_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_WALL_MS = 3600 * 1000 };

struct validation {
    struct validation *next;
    struct worker *worker;
    struct rpc_call *call;
    char *text; /* the request, until a child has it */
    size_t len;
    struct validate_limits limits;
    struct child *child;
    uint64_t deadline_ms;
    bool cancelled, timed_out;
};

void validate_limits_read(struct validate_limits *ret, const json_t *json) {
    json_int_t wall = json_get_integer(json, "wall_ms", 30000);
    json_int_t memory = json_get_integer(json, "memory_bytes", (json_int_t)8 << 30);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    wall = wall < 1 ? 1 : wall > MAX_WALL_MS ? MAX_WALL_MS : wall;
    memory = memory < (256 << 20) ? 256 << 20 : memory;
    ret->wall_ms = (unsigned)wall;
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

static struct rpc_call *validation_free(struct validation *v) {
    struct rpc_call *call = v->call;
    validation_unlink(v);
    free(v->text);
    free(v);
    return call;
}

static void end_cancelled(struct validation *v) {
    rpc_error(validation_free(v), RPC_REQUEST_CANCELLED, NULL,
              "the validation was cancelled");
}

/* An answer for a child that gave none. */
static json_t *answer_of_death(const struct validation *v, const struct child *child) {
    json_t *answer = json_object();
    char message[160];
    int status = child->status;
    if (v->timed_out || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
        snprintf(message, sizeof message, "the run was ended after %.3g s",
                 v->limits.wall_ms / 1e3);
        validate_set_error(answer, "timeout", "run", "wall_time", message,
                           "give smaller sizes, or a larger \"timeout_s\"");
    } else if (WIFSIGNALED(status)) {
        snprintf(message, sizeof message, "the process that ran the kernel died (SIG%s)",
                 sigabbrev_np(WTERMSIG(status)));
        validate_set_error(answer, "error", "run", "runner_died", message,
                           "it may have run out of memory: give smaller sizes");
    } else {
        validate_set_error(answer, "error", "run", "runner_failed",
                           "the process that ran the kernel ended without an answer",
                           NULL);
    }
    json_object_set_new(answer, "cases", json_array());
    json_object_set_new(answer, "findings", json_array());
    json_object_set_new(answer, "omitted", json_integer(0));
    return answer;
}

void validation_child_ended(struct worker *w, void *validation,
                            const struct child *child) {
    struct validation *v = validation;
    struct err err;
    (void)w;
    v->child = NULL;
    if (v->cancelled) {
        end_cancelled(v);
        return;
    }
    bool ended_well = WIFEXITED(child->status) && !WEXITSTATUS(child->status);
    json_t *answer =
        ended_well ? json_parse(child->out.data, child->out.len, &err) : NULL;
    if (!json_is_object(answer)) {
        json_decref(answer);
        answer = answer_of_death(v, child);
    }
    rpc_reply(validation_free(v), answer);
}

/* --- beginnings --- */

static void on_cancel(struct rpc_call *call, void *data) {
    struct validation *v = data;
    (void)call;
    v->cancelled = true;
    if (v->child) {
        child_kill(v->child); /* answered once it is reaped */
    } else {
        end_cancelled(v);
    }
}

void validation_start(struct worker *w, struct rpc_call *call) {
    size_t waiting = 0;
    for (const struct validation *v = w->validations; v; v = v->next) {
        waiting++;
    }
    if (waiting >= VALIDATIONS_MAX) {
        rpc_error(call, RPC_INTERNAL_ERROR, NULL, "too many validations wait already");
        return;
    }
    struct buf text = BUF_INIT(VALIDATION_MAX_REQUEST);
    if (json_write(&text, rpc_call_params(call)) < 0) {
        buf_finish(&text);
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "the request is too long");
        return;
    }
    struct validation *v = xcalloc(1, sizeof *v);
    v->worker = w;
    v->call = call;
    v->len = text.len;
    v->text = buf_detach(&text);
    validate_limits_read(&v->limits, json_object_get(rpc_call_params(call), "limits"));
    struct validation **at = &w->validations;
    while (*at) {
        at = &(*at)->next;
    }
    *at = v;
    rpc_call_on_cancel(call, on_cancel, v);
}

/* In the new process: nothing but async-signal-safe calls up to the exec. */
static _Noreturn void child_exec(int socket, int supervisor) {
    char fd[16], pid[16];
    int end = dup(socket); /* without close-on-exec */
    snprintf(fd, sizeof fd, "%d", end);
    snprintf(pid, sizeof pid, "%d", supervisor);
    char *argv[] = {(char[]){"upskilld-worker"}, (char[]){VALIDATE_CHILD_ARGUMENT}, fd,
                    pid, NULL};
    char *environment[] = {NULL};
    execve("/proc/self/exe", argv, environment);
    _exit(VALIDATE_CHILD_BAD_JOB);
}

static void validation_run(struct worker *w, struct validation *v) {
    int end = -1;
    struct child *child = child_new(w, NULL, &end);
    if (!child) {
        rpc_error(validation_free(v), RPC_INTERNAL_ERROR, NULL,
                  "no process could be made: %s", strerror(errno));
        return;
    }
    int pid = fork();
    if (pid == 0) {
        child_exec(end, w->pid);
    }
    close(end);
    child->validation = v;
    v->child = child;
    v->deadline_ms = clock_ms() + v->limits.wall_ms;
    child_pid_known(w, child, pid);
    child_give(child, NULL, take(v->text), v->len);
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

uint64_t validations_tick(struct worker *w, uint64_t now) {
    uint64_t next = UINT64_MAX;
    for (struct validation *v = w->validations; v; v = v->next) {
        if (!v->child || v->timed_out || v->cancelled) {
            continue;
        }
        if (v->deadline_ms <= now) {
            v->timed_out = true;
            child_kill(v->child);
        } else if (v->deadline_ms < next) {
            next = v->deadline_ms;
        }
    }
    return next;
}

void validations_free(struct worker *w) {
    for (struct validation *v = w->validations; v; v = v->next) {
        rpc_call_on_cancel(v->call, NULL, NULL);
    }
    while (w->validations) {
        rpc_drop(validation_free(w->validations));
    }
}
