#pragma once
/* call: one running operation, independent of its watchers.
 *
 * Starting an operation (operation.h) creates a call. The call is reference-counted,
 * ends exactly once, and has any number of views: a plain request that waits, an MCP tool
 * call, an MCP task, an editor's progress bar, a poller. A call that somebody may come
 * back for is *kept*: it becomes a job, with an unguessable id, a row in the daemon's
 * database and a result that stays readable.
 *
 * Single-threaded: all functions and callbacks run on the loop's thread. Callbacks may
 * end, cancel or release the call passed to them. */
#include "base/json.h"

#include <uv.h>

struct call;
struct operation;

#define CALL_MAX_RUNNING 1024u /* operations at once in the process; more wait */
#define CALL_MAX_WAITING 4096u /* for that, or for their callers; more are refused */

enum call_state {
    CALL_RUNNING,
    CALL_INPUT_REQUIRED,
    CALL_SUCCEEDED,
    CALL_FAILED,
    CALL_CANCELLED,
};
/* "running", "input_required", "succeeded", "failed", "cancelled" */
const char *call_state_name(enum call_state state);

/* Why a call failed; each face turns this into its own code. */
enum call_fault {
    CALL_BAD_PARAMS,  /* the caller can fix it */
    CALL_NOT_FOUND,   /* a file, skill or job that does not exist */
    CALL_UNAVAILABLE, /* this machine lacks something: a compiler, a key, a GPU */
    CALL_REFUSED,     /* policy: outside the roots, unsafe, budget spent */
    CALL_INTERNAL,    /* our fault, or the system's */
};

struct call_failure {
    enum call_fault fault;
    char *message; /* a sentence */
    char *reason;  /* a stable word for programs: "no_compiler" */
    char *hint;    /* the next step, or NULL */
    char *path;    /* JSON Pointer of the bad parameter, or NULL */
};

struct call_progress {
    double done, total; /* total 0 = unknown; done never falls */
    char *message;      /* may be NULL */
};

/* The caller, as far as an operation may know it. */
struct call_origin {
    uv_loop_t *loop;
    const char *client;       /* name the client gave itself, or "" */
    const char *const *roots; /* absolute folders of the workspace, NULL-terminated; files
                                 named by params are read beneath these */
    bool agent;  /* an agent's connection, whichever face this call came by */
    bool writes; /* the caller is a model that can take a work order */
    void *host;  /* the process's context for lend() */
    /* An object that the host provides under a name that operations define, or NULL. */
    void *(*lend)(void *host, const char *name);
};
/* The client's settings: a JSON object, borrowed, with known and unknown keys; NULL:
 * none. */
#define CLIENT_SETTINGS_LENT "client settings"
/* Also NULL if origin is NULL or its host provides nothing. */
void *call_lent(const struct call_origin *origin, const char *name);

/* --- for operations --- */

json_t *call_params(const struct call *call); /* borrowed */
const struct call_origin *call_origin(const struct call *call);
/* Each ends the call. result is stolen. */
void call_reply(struct call *call, json_t *result);
/* path: JSON Pointer of the parameter at fault, or NULL. */
void call_fail_at(struct call *call, const char *path, enum call_fault fault,
                  const char *reason, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
#define call_fail(call, fault, reason, hint, ...)                                        \
    call_fail_at(call, NULL, fault, reason, hint, __VA_ARGS__)
#define call_fail_param(call, path, ...)                                                 \
    call_fail_at(call, path, CALL_BAD_PARAMS, "bad_params", NULL, __VA_ARGS__)
/* Ends the call as cancelled, after the operation has stopped because of on_cancel. */
void call_stopped(struct call *call);
void call_report(struct call *call, double done, double total, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Sets the partial result that pollers see; stolen. */
void call_set_partial(struct call *call, json_t *partial);
/* Called at most once, when a watcher cancels. The operation must then end the call
 * soon. Without a callback a cancelled call ends at once, and a later answer of the
 * operation is dropped. */
typedef void call_cancelled(struct call *call, void *data);
void call_on_cancel(struct call *call, call_cancelled *cb, void *data);
/* Asks the caller for input (state input_required). work_order is stolen; `cb` gets the
 * input, borrowed, when it arrives. */
typedef void call_resumed(struct call *call, const json_t *input, void *data);
void call_require_input(struct call *call, json_t *work_order, call_resumed *cb,
                        void *data);
struct call *call_ref(struct call *call);
void call_unref(struct call *call);

/* --- for faces and the daemon --- */

struct call_view {
    void (*progress)(struct call *call, void *data); /* may be NULL */
    void (*end)(struct call *call, void *data);      /* once, unless detached before */
    void *data;
    struct call_view *next; /* the call's */
};

/* Checks params (stolen; NULL = {}) against the schema of the operation, which must be in
 * a table, and starts it, or queues it while too many run. Bad params end the call as
 * failed. The call may have ended when this returns: check call_ended, or attach a view,
 * whose `end` the loop then calls. origin's client and roots are copied; loop and host
 * must outlive the call. Returns a reference. */
struct call *call_start(const struct operation *op, json_t *params,
                        const struct call_origin *origin);
void call_attach(struct call *call, struct call_view *view); /* the owner embeds view */
void call_detach(struct call *call, struct call_view *view);
void call_cancel(struct call *call); /* ignored after the end */
/* Passes input to a waiting call; the views see it running before the operation gets the
 * input. -EINVAL if it does not wait. */
int call_input(struct call *call, const json_t *input);

const struct operation *call_operation(const struct call *call);
enum call_state call_state(const struct call *call);
bool call_ended(const struct call *call);
const json_t *call_result(const struct call *call);  /* when succeeded */
const json_t *call_partial(const struct call *call); /* may be NULL */
const json_t *call_work_order(const struct call *call);
const struct call_failure *call_failure(const struct call *call); /* when failed */
const struct call_progress *call_progress(const struct call *call);
/* {"done", "total"?, "message"?}: new reference. */
json_t *call_progress_json(const struct call *call);
uint64_t call_started_ms(const struct call *call); /* clock_ms() */

/* Makes the call a job and returns its id: 32 hex digits (128 random bits), always the
 * same. */
const char *call_keep(struct call *call);
bool call_kept(const struct call *call);

/* One observer for the whole process, the daemon's job store; it sees kept calls only. */
struct call_observer {
    void (*kept)(struct call *call, void *data);    /* store it before this returns */
    void (*changed)(struct call *call, void *data); /* state or progress */
    void *data;
};
void call_set_observer(const struct call_observer *observer); /* NULL = none */

DEFINE_CLEANUP(struct call *, call_unref);
