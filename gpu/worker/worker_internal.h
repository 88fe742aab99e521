#pragma once
/* worker_internal: declarations shared by the parts of the supervisor only.
 *
 *   worker ── parents: plain, prefixes[] ── each forks children
 *          └─ runs, validations: one per request ── each has at most one child
 *
 * worker.c calls the runs and validations, these call the parents, and all of them call
 * worker_child. Calls in the other direction go through the function pointers of a child
 * and of the worker. */
#include "base/fd_channel.h"
#include "gpu/compile/compile.h"
#include "gpu/worker/sanitize_memory.h"
#include "gpu/worker/worker_child.h"
#include "protocol/rpc/rpc.h"

struct toolkit;

enum {
    WORKER_PREFIXES = 2,      /* precompiled headers kept, 140-230 MB each */
    WORKER_MAX_UNUSABLE = 32, /* prefixes remembered as unusable */
    WORKER_MAX_STRAYS = 64,   /* processes reaped before their parent reported them */
    WORKER_MAX_CHILDREN = 256,
    PREFIX_IDLE_MS = 5 * 60 * 1000,
    PARENT_START_MS = 60 * 1000, /* a cold disk reads 109 MB first */
};

/* A request to a parent that it has not answered yet. */
struct asked {
    struct asked *next;
    struct worker_child *child; /* or */
    struct parent *parent;      /* a new prefix zygote; both NULL: no longer wanted */
};

enum parent_state { PARENT_NONE, PARENT_STARTING, PARENT_READY };
struct parent {
    enum parent_state state;
    int pid;                 /* 0 until known */
    int socket;              /* -1 when closed */
    char key[HASH_HEX_SIZE]; /* "" for the plain one */
    struct asked *asked, **asked_end;
    struct worker_child *spare;
    uint64_t used_ms, deadline_ms;
};

enum run_state { RUN_QUEUED, RUN_WAITING, RUN_COMPILING };
struct compile_run {
    struct compile_run *next; /* worker.runs, oldest first */
    struct rpc_call *call;
    struct compile_job job; /* without its sources: */
    struct attachment sources;
    enum run_state state;
    struct parent *parent; /* the parent that it waits for */
    struct worker_child *child;
    char *folder; /* its own, while it compiles */
    uint64_t deadline_ms;
    unsigned attempts;
    bool cancelled, timed_out, makes_prefix, prefix_later, plain_only;
    struct worker *worker;
};

struct stray {
    int pid, status;
};

/* Bytes that have not been written yet. */
struct output {
    struct output *next;
    char *bytes;
    size_t len;
};

struct worker {
    int pid, in, out, signals;
    struct fd_channel channel; /* to the daemon */
    uint64_t parcels;          /* number of parcels sent over it */
    struct rpc_peer *peer;
    struct output *outputs, **outputs_end;
    size_t written, pending; /* of the first one; of all, not yet */
    bool stop;
    struct toolkit *toolkits;
    size_t toolkit_count;
    size_t cores, max_running, running;
    struct parent plain, prefixes[WORKER_PREFIXES];
    struct parent *parents[1 + WORKER_PREFIXES]; /* all of these */
    /* A parent became ready (status 0) or is gone (negative; why says so). */
    void (*parent_changed)(struct worker *w, struct parent *p, int status,
                           const char *why);
    char version[64]; /* of the compiler, once the plain parent is ready */
    char (*unusable)[HASH_HEX_SIZE];
    size_t unusable_count, unusable_next;
    struct worker_child *children;
    struct compile_run *runs, **runs_end;
    struct validation *validations; /* oldest first */
    unsigned driver_trials;         /* trials without a result */
    char driver_words[208];         /* why it is not confined; "": it is confined */
    struct sanitize_memory sanitized;
    struct stray strays[WORKER_MAX_STRAYS];
    size_t stray_next;
    int folder_fd; /* holds the lock that says that this worker lives */
    char *folder;  /* private, holds those of the jobs; made at the first compile */
};

/* --- parent.c --- */

void parents_init(struct worker *w);
/* The parent for a run: ready, starting (wait for it), or NULL with *why set if there is
 * no compiler. May begin to make a prefix parent. */
struct parent *parent_choose(struct worker *w, struct compile_run *run, const char **why);
/* The run was compiled without a prefix: its prefix parent may start now if it had to
 * wait for a core. */
void parent_plain_ended(struct worker *w, struct compile_run *run);
/* The job of a compile, for a child or a prefix zygote. */
struct buf parent_job_head(const char *folder, const struct compile_run *run);
/* A child of a ready parent, the spare one if there is one. NULL: failed. */
struct worker_child *parent_take_child(struct worker *w, struct parent *p);
/* Requests a spare child if there is none. */
void parent_want_spare(struct worker *w, struct parent *p);
/* Reads the answers of parents. */
void parents_read(struct worker *w);
/* Whether this process was a parent; then its end is handled. */
bool parents_reaped(struct worker *w, int pid);
/* Handles deadlines and idle ends; returns the time of the next one, or UINT64_MAX. */
uint64_t parents_tick(struct worker *w, uint64_t now);
void parents_kill(struct worker *w);
json_t *parents_to_json(const struct worker *w);

/* --- compile_run.c --- */

void run_start(struct worker *w, struct rpc_call *call);
void runs_advance(struct worker *w); /* starts waiting runs */
/* For worker.parent_changed. */
void runs_parent_changed(struct worker *w, struct parent *p, int status, const char *why);
uint64_t runs_tick(struct worker *w, uint64_t now);
void runs_free(struct worker *w);

/* --- worker_folder.c --- */

/* The worker's private folder, created if missing. Removes those of killed workers. */
int worker_folder_make(struct worker *w, struct err *err);
void worker_folder_remove(struct worker *w);
