#pragma once
/* worker_process: the real worker at the other end of two pipes, for tests. */
#include "base/json.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct worker_process {
    pid_t pid;
    int in; /* ours, to write to */
    FILE *out;
    json_t *hello; /* the greeting's params */
    int last_id;
    int channel; /* for descriptors */
    unsigned parcels;
};

/* env: "NAME=value" to set, "NAME" to unset; NULL-terminated, may be NULL. */
void worker_spawn(struct worker_process *w, const char *const *env);
/* Skips the calling test, loudly, when the machine has no CUDA compiler. */
void worker_need_compiler(const struct worker_process *w);
/* params is stolen; what the daemon attaches is a part of them. Returns the request's id.
 */
int worker_send(struct worker_process *w, const char *method, json_t *params);
/* attached: what is, or NULL; freed. */
int worker_send_bytes(struct worker_process *w, const char *method, json_t *params,
                      char *attached);
/* The same, attached as a daemon on the worker's machine does it: as a descriptor. */
int worker_send_parcel(struct worker_process *w, const char *method, json_t *params);
void worker_notify(struct worker_process *w, const char *method, json_t *params);
/* The next message, what is attached to it in its result; NULL at the end of output. */
json_t *worker_receive(struct worker_process *w);
/* Send, and the response to it, whole. */
json_t *worker_call(struct worker_process *w, const char *method, json_t *params);
json_t *worker_answer(struct worker_process *w, int id);
/* Close its input and wait: the exit status, or -signal. Frees. */
int worker_end(struct worker_process *w);
/* Its child processes: at most max pids are written. */
size_t worker_children(const struct worker_process *w, pid_t *pids, size_t max);
/* Gone, or a zombie that waits for whoever inherited it. */
bool process_is_gone(pid_t pid);

/* Params of `compile` for one file "r0/k.cu" that is called k.cu. */
json_t *compile_params(const char *text);
void compile_add_file(json_t *params, const char *path, const char *text);
/* Shorthand: compile and take the result out of the response. */
json_t *compile_result(struct worker_process *w, json_t *params);
const char *outcome_of(const json_t *result);
