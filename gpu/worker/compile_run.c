/* The supervisor's compilations: folder, parent, child, limits, reply. */
#include "gpu/worker/worker_internal.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "gpu/compile/toolkit.h"
#include "gpu/worker/compile_child.h"
#include "gpu/worker/confine.h"
#include "protocol/finding.h"

#include <signal.h>

enum { MAX_ATTEMPTS = 2 };

/* --- folders --- */

static int folder_make(struct worker *w, struct compile_run *run) {
    int r = worker_folder_make(w, NULL);
    if (r < 0) {
        return r;
    }
    run->folder = xasprintf("%s/job-XXXXXX", w->folder);
    return mkdtemp(run->folder) ? 0 : -errno;
}

static void folder_remove(struct compile_run *run) {
    if (run->folder) {
        (void)dir_remove(run->folder, NULL);
        free(take(run->folder));
    }
}

/* --- ends --- */

static void run_unlink(struct worker *w, struct compile_run *run) {
    struct compile_run **at = &w->runs;
    while (*at != run) {
        at = &(*at)->next;
    }
    *at = run->next;
    if (!run->next) {
        w->runs_end = at;
    }
    if (run->state != RUN_QUEUED) {
        w->running--;
    }
}

static void run_free(struct worker *w, struct compile_run *run) {
    run_unlink(w, run);
    folder_remove(run);
    compile_job_finish(&run->job);
    attachment_finish(&run->sources);
    free(run);
}

static void run_reply(struct worker *w, struct compile_run *run, json_t *answer) {
    struct rpc_call *call = run->call;
    run_free(w, run);
    rpc_reply(call, answer);
}

static void run_end_cancelled(struct worker *w, struct compile_run *run) {
    struct rpc_call *call = run->call;
    run_free(w, run);
    rpc_error(call, RPC_REQUEST_CANCELLED, NULL, "the compile was cancelled");
}

static void run_end_no_compiler(struct worker *w, struct compile_run *run,
                                const char *why) {
    struct rpc_call *call = run->call;
    run_free(w, run);
    rpc_error(call, RPC_INTERNAL_ERROR,
              json_pack("{s:s, s:s}", "reason", "no_compiler", "hint", TOOLKIT_HINT),
              "%s", why);
}

/* An answer for a compile that did not end by itself. message is stolen. */
static json_t *answer_dead(const struct worker *w, const char *outcome, const char *code,
                           char *message) {
    struct finding_span nowhere = {0};
    json_t *finding =
        finding_new("upskilld", code, FINDING_ERROR, message, NULL, &nowhere);
    free(message);
    return json_pack("{s:s, s:{s:s, s:o}, s:i, s:[o], s:i, s:[], s:o, s:s}", "outcome",
                     outcome, "compiler", "name", "nvrtc", "version",
                     json_text(w->version, strlen(w->version)), "compile_ms", 0,
                     "diagnostics", finding, "omitted", 0, "kernels", "confinement",
                     confinement_to_json(confine_available()), "precompiled", "none");
}

static json_t *answer_timeout(const struct worker *w, const struct compile_run *run) {
    autofree char *spent =
        run->timed_out ? xasprintf("%.3g s", run->job.limits.wall_ms / 1e3)
                       : xasprintf("%u s of processor time", run->job.limits.cpu_s);
    return answer_dead(
        w, "timeout", "compile_timeout",
        xasprintf(
            "The compiler was stopped after %s. Deep template recursion, macros that "
            "multiply, very long unrolled loops or functions, and thousands of kernels "
            "in one source are the usual causes: make them smaller or fewer, or allow "
            "more time (compile_timeout_s in upskilld.yaml).",
            spent));
}

static json_t *answer_memory(const struct worker *w, const struct compile_run *run) {
    return answer_dead(
        w, "memory", "compile_memory",
        xasprintf(
            "The compiler needed more than its %zu MiB of memory and was stopped. Make "
            "large constant tables, unrolled loops or functions smaller.",
            run->job.limits.memory_bytes >> 20));
}

static json_t *answer_crashed(const struct worker *w, int sig) {
    const char *name = sigabbrev_np(sig);
    json_t *answer = answer_dead(
        w, "crashed", "compiler_crashed",
        xasprintf("The CUDA compiler crashed on this source (SIG%s). Very deeply nested "
                  "expressions are one cause; halve the source until it compiles to find "
                  "the place.",
                  name ? name : "?"));
    json_object_set_new(answer, "signal", json_sprintf("SIG%s", name ? name : "?"));
    return answer;
}

static json_t *answer_failed(const struct worker *w, const char *why) {
    return answer_dead(w, "failed", "compiler_failed",
                       xasprintf("The compilation could not run: %s.", why));
}

static json_t *answer_of_death(const struct worker *w, const struct compile_run *run,
                               const struct worker_child *child) {
    int status = child->status;
    if (run->timed_out || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)) {
        return answer_timeout(w, run);
    }
    /* SIGKILL was not ours: the kernel was out of memory. */
    if ((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
        (WIFEXITED(status) && WEXITSTATUS(status) == COMPILE_CHILD_OUT_OF_MEMORY)) {
        return answer_memory(w, run);
    }
    if (WIFSIGNALED(status)) {
        return answer_crashed(w, WTERMSIG(status));
    }
    bool bad_job = WIFEXITED(status) && WEXITSTATUS(status) == COMPILE_CHILD_BAD_JOB;
    return answer_failed(w, bad_job ? "its files could not be read or written; try again"
                                    : "the compile process ended without an answer; try "
                                      "again");
}

static void run_again(struct worker *w, struct compile_run *run) {
    folder_remove(run);
    run->state = RUN_QUEUED;
    run->child = NULL;
    run->parent = NULL;
    run->plain_only = true;
    run->attempts++;
    w->running--;
}

/* Forwards the child's output unread. */
static void run_pass_on(struct worker *w, struct compile_run *run,
                        struct worker_child *child) {
    struct rpc_call *call = run->call;
    json_t *result =
        run->makes_prefix ? json_pack("{s:s}", "precompiled", "made") : json_object();
    run_free(w, run);
    rpc_reply_attached(call, result, &child->out);
}

static void on_ended(void *owner, struct worker_child *child) {
    struct compile_run *run = owner;
    struct worker *w = run->worker;
    bool vanished = !child->pid || (child->doomed && !run->timed_out);
    bool ended_well =
        !vanished && WIFEXITED(child->status) && !WEXITSTATUS(child->status);
    run->child = NULL;
    if (run->cancelled) {
        run_end_cancelled(w, run);
        return;
    }
    if (ended_well) {
        parent_plain_ended(w, run);
    }
    /* Neither a vanished parent nor a precompiled header may be what fails a compile. */
    bool answered = ended_well && child->out.len && !child->out.full;
    bool suspect = child->parent && child->parent->key[0] && !run->timed_out;
    if (answered) {
        run_pass_on(w, run, child);
    } else if ((vanished || suspect) && run->attempts + 1 < MAX_ATTEMPTS) {
        run_again(w, run);
    } else {
        json_t *answer = answer_of_death(w, run, child);
        uint64_t begun_ms = run->deadline_ms - run->job.limits.wall_ms;
        json_object_set_new(answer, "compile_ms",
                            json_integer((json_int_t)(clock_ms() - begun_ms)));
        run_reply(w, run, answer);
    }
}

static const struct worker_child_events child_events = {.ended = on_ended};

/* --- beginnings --- */

static void on_cancel(struct rpc_call *, void *data) {
    struct compile_run *run = data;
    run->cancelled = true;
    if (run->child) {
        worker_child_kill(run->child); /* answered once it is reaped */
    } else {
        run_end_cancelled(run->worker, run);
    }
}

void run_start(struct worker *w, struct rpc_call *call) {
    struct compile_job job;
    struct err err;
    if (compile_job_from_json(&job, rpc_call_params(call), &err) < 0) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "%s", err.msg);
        return;
    }
    struct attachment sources;
    if (!attachment_take(w, call, &sources)) {
        compile_job_finish(&job);
        return;
    }
    struct compile_run *run = xcalloc(1, sizeof *run);
    run->worker = w;
    run->call = call;
    run->job = job;
    run->sources = sources;
    *w->runs_end = run;
    w->runs_end = &run->next;
    rpc_call_on_cancel(call, on_cancel, run);
}

static void run_compile(struct worker *w, struct compile_run *run, struct parent *p) {
    struct worker_child *child = folder_make(w, run) < 0 ? NULL : parent_take_child(w, p);
    if (!child) {
        run_reply(w, run, answer_failed(w, "its process or folder could not be made; try again"));
        return;
    }
    run->state = RUN_COMPILING;
    run->child = child;
    run->deadline_ms = clock_ms() + run->job.limits.wall_ms;
    struct buf head = parent_job_head(run->folder, run);
    worker_child_own(child, &child_events, run);
    worker_child_give(child, &head, CHILD_PLAIN, run->sources.fds, run->sources.count);
    parent_want_spare(w, p);
}

static void run_advance(struct worker *w, struct compile_run *run) {
    const char *why = NULL;
    struct err err;
    if (worker_folder_make(w, &err) < 0) {
        run_reply(w, run, answer_failed(w, err.msg));
        return;
    }
    struct parent *p = parent_choose(w, run, &why);
    if (!p) {
        run_end_no_compiler(w, run, why);
        return;
    }
    if (run->state == RUN_QUEUED) {
        run->state = RUN_WAITING;
        w->running++;
    }
    run->parent = p;
    if (p->state == PARENT_READY) {
        run_compile(w, run, p);
    }
}

void runs_advance(struct worker *w) {
    struct compile_run *next;
    for (struct compile_run *run = w->runs; run; run = next) {
        next = run->next;
        bool may_start = run->state == RUN_QUEUED && w->running < w->max_running;
        bool may_go_on = run->state == RUN_WAITING && !run->parent;
        if (may_start || may_go_on) {
            run_advance(w, run);
        }
    }
}

/* No compiler when the plain parent says so; a prefix parent's failure is no failure. */
void runs_parent_changed(struct worker *w, struct parent *p, int status,
                         const char *why) {
    struct compile_run *next;
    for (struct compile_run *run = w->runs; run; run = next) {
        next = run->next;
        if (run->state != RUN_WAITING || run->parent != p) {
            continue;
        }
        run->parent = NULL;
        if (status < 0 && p == &w->plain) {
            run_end_no_compiler(w, run, why);
        }
    }
}

uint64_t runs_tick(struct worker *w, uint64_t now) {
    uint64_t next = UINT64_MAX;
    for (struct compile_run *run = w->runs; run; run = run->next) {
        if (run->state != RUN_COMPILING || run->timed_out || run->cancelled) {
            continue;
        }
        if (run->deadline_ms <= now) {
            run->timed_out = true;
            worker_child_kill(run->child);
        } else if (run->deadline_ms < next) {
            next = run->deadline_ms;
        }
    }
    return next;
}

void runs_free(struct worker *w) {
    while (w->runs) {
        struct rpc_call *call = w->runs->call;
        rpc_call_on_cancel(call, NULL, NULL);
        run_free(w, w->runs);
        rpc_drop(call);
    }
}
