#define LOG_MODULE "call"
#include "protocol/call.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/json_release.h"
#include "base/log.h"
#include "base/strings.h"
#include "base/text.h"
#include "protocol/operation.h"
#include "protocol/schema/schema.h"

#include <assert.h>
#include <sys/queue.h>

#define ID_BYTES 16u         /* 128 random bits */
#define MAX_TEXT (16u << 10) /* of a message or hint */
#define TURN_NS 3000000u     /* time limit for starting calls in one turn of the loop */

/* A walk over the views, so that a callback may detach any of them. */
struct call_walk {
    struct call_view *next;
    struct call_walk *outer;
};

/* Of the process' operations under way. One that waits for its caller's input takes none:
 * the input may itself come with a call that waits. */
enum turn {
    TURN_NONE,
    TURN_WAITS,
    TURN_RUNS,
    TURN_ASKS, /* for input */
};

struct call {
    unsigned refs;
    const struct operation *op;
    json_t *params;
    struct call_origin origin; /* its client and roots are our own copies */
    enum call_state state;
    enum turn turn;
    TAILQ_ENTRY(call) waits; /* for its turn */
    bool owed;               /* the operation has not answered; it holds a reference */
    bool cancelling;         /* its on_cancel has been called */
    bool kept;
    char id[2 * ID_BYTES + 1]; /* "" until it is needed */
    uint64_t started_ms;
    json_t *result, *partial, *work_order;
    struct call_failure failure;
    struct call_progress progress;
    call_cancelled *on_cancelled;
    void *on_cancelled_data;
    call_resumed *resume;
    void *resume_data;
    struct call_view *views;
    struct call_walk *walk;
    /* reports the end to views that were attached after it; its data is a reference */
    uv_idle_t *late;
};

static const struct call_observer *process_observer;

void call_set_observer(const struct call_observer *observer) {
    process_observer = observer;
}

const char *call_state_name(enum call_state state) {
    static const char *const names[] = {"running", "input_required", "succeeded",
                                        "failed", "cancelled"};
    return names[state];
}

static struct call_origin copy_origin(const struct call_origin *from) {
    struct call_origin copy = *from;
    copy.client = xstrdup(from->client ? from->client : "");
    copy.roots = (const char *const *)strings_copy(from->roots);
    return copy;
}

/* --- turns --- */

static unsigned running, waiting, asking;
static TAILQ_HEAD(, call) queue = TAILQ_HEAD_INITIALIZER(queue);
static uv_idle_t *starter; /* starts them, while there is room; or NULL */

static void unlist(struct call *call) {
    TAILQ_REMOVE(&queue, call, waits);
    waiting--;
}

static void on_idle_closed(uv_handle_t *handle) {
    free(handle);
}

static void idle_free(uv_idle_t *idle) {
    uv_idle_stop(idle);
    uv_close((uv_handle_t *)idle, on_idle_closed);
}

static bool may_start(void) {
    return !TAILQ_EMPTY(&queue) && running < CALL_MAX_RUNNING;
}

static void on_idle(uv_idle_t *idle) {
    uint64_t end = uv_hrtime() + TURN_NS;
    while (may_start() && uv_hrtime() < end) {
        struct call *call = TAILQ_FIRST(&queue);
        unlist(call);
        call->turn = TURN_RUNS;
        running++;
        call->op->start(call, call->params);
    }
    if (!may_start()) {
        starter = NULL;
        idle_free(idle);
    }
}

static void start_waiting(void) {
    if (may_start() && !starter) {
        starter = xcalloc(1, sizeof *starter);
        uv_idle_init(TAILQ_FIRST(&queue)->origin.loop, starter);
        uv_idle_start(starter, on_idle);
    }
}

/* TURN_RUNS: begin at once. TURN_WAITS: it is started from the loop, unless it leaves
 * before. TURN_NONE: too many wait. */
static enum turn turn_enter(struct call *call) {
    if (waiting >= CALL_MAX_WAITING || asking >= CALL_MAX_WAITING) {
        return TURN_NONE;
    }
    if (TAILQ_EMPTY(&queue) && running < CALL_MAX_RUNNING) {
        running++;
        return call->turn = TURN_RUNS;
    }
    TAILQ_INSERT_TAIL(&queue, call, waits);
    waiting++;
    return call->turn = TURN_WAITS;
}

static void turn_ask(struct call *call) {
    if (call->turn == TURN_RUNS) {
        call->turn = TURN_ASKS;
        running--;
        asking++;
        start_waiting();
    }
}

static void turn_go_on(struct call *call) {
    if (call->turn == TURN_ASKS) {
        call->turn = TURN_RUNS;
        asking--;
        running++;
    }
}

/* Also of one that has none. */
static void turn_leave(struct call *call) {
    enum turn state = call->turn;
    call->turn = TURN_NONE;
    running -= state == TURN_RUNS;
    asking -= state == TURN_ASKS;
    if (state == TURN_WAITS) {
        unlist(call);
    } else if (state != TURN_NONE) {
        start_waiting();
    }
}

/* --- life --- */

struct call *call_ref(struct call *call) {
    call->refs++;
    return call;
}

static void failure_finish(struct call_failure *f) {
    free(f->message);
    free(f->reason);
    free(f->hint);
    free(f->path);
}

void call_unref(struct call *call) {
    if (!call || --call->refs) {
        return;
    }
    assert(!call->owed);
    json_release(call->origin.loop, call->params);
    json_release(call->origin.loop, call->result);
    json_decref(call->partial);
    json_decref(call->work_order);
    failure_finish(&call->failure);
    free(call->progress.message);
    free((void *)(uintptr_t)call->origin.client);
    strings_free((char **)(uintptr_t)call->origin.roots);
    free(call);
}

/* --- views --- */

static void view_unlink(struct call *call, struct call_view *view) {
    struct call_view **at = &call->views;
    while (*at && *at != view) {
        at = &(*at)->next;
    }
    if (!*at) {
        return;
    }
    for (struct call_walk *w = call->walk; w; w = w->outer) {
        w->next = w->next == view ? view->next : w->next;
    }
    *at = view->next;
    view->next = NULL;
}

static void tell_progress(struct call *call) {
    struct call_walk walk = {.next = call->views, .outer = call->walk};
    call_ref(call);
    call->walk = &walk;
    while (walk.next && !call_ended(call)) {
        struct call_view *view = walk.next;
        walk.next = view->next;
        if (view->progress) {
            view->progress(call, view->data);
        }
    }
    call->walk = walk.outer;
    call_unref(call);
}

static void tell_end(struct call *call) {
    call_ref(call);
    while (call->views) {
        struct call_view *view = call->views;
        view_unlink(call, view);
        view->end(call, view->data);
    }
    call_unref(call);
}

static void tell_observer(struct call *call) {
    if (call->kept && process_observer && process_observer->changed) {
        process_observer->changed(call, process_observer->data);
    }
}

static void on_late(uv_idle_t *idle) {
    struct call *call = idle->data;
    call->late = NULL;
    idle_free(idle);
    tell_end(call);
    call_unref(call);
}

static void tell_end_from_loop(struct call *call) {
    if (call->late) {
        return;
    }
    call->late = xcalloc(1, sizeof *call->late);
    uv_idle_init(call->origin.loop, call->late);
    call->late->data = call_ref(call);
    uv_idle_start(call->late, on_late);
}

void call_attach(struct call *call, struct call_view *view) {
    struct call_view **at = &call->views;
    while (*at) {
        at = &(*at)->next;
    }
    view->next = NULL;
    *at = view;
    if (call_ended(call)) {
        tell_end_from_loop(call);
    }
}

void call_detach(struct call *call, struct call_view *view) {
    view_unlink(call, view);
}

/* --- the end --- */

static void finish(struct call *call, enum call_state state) {
    call_ref(call);
    call->state = state;
    call->on_cancelled = NULL;
    call->resume = NULL;
    json_decref(take(call->work_order));
    log_debug("end op=%s state=%s ms=%llu", call->op->name, call_state_name(state),
              (unsigned long long)(clock_ms() - call->started_ms));
    tell_observer(call);
    tell_end(call);
    call_unref(call);
}

/* The operation answers, by whichever function: true when the call still waits for it.
 * Its reference is the caller's to drop, through answered(). */
static bool answering(struct call *call) {
    assert(call->owed); /* an operation ends its call once */
    call->owed = false;
    turn_leave(call);
    return !call_ended(call);
}

static void answered(struct call *call) {
    call_unref(call);
}

void call_reply(struct call *call, json_t *result) {
    if (answering(call)) {
        call->result = result;
        finish(call, CALL_SUCCEEDED);
    } else {
        json_decref(result);
    }
    answered(call);
}

void call_stopped(struct call *call) {
    if (answering(call)) {
        finish(call, CALL_CANCELLED);
    }
    answered(call);
}

static char *clean_dup(const char *text) {
    struct buf out = BUF_INIT(MAX_TEXT);
    size_t len = strlen(text);
    text_clean(&out, text, text_cut(text, len, MAX_TEXT));
    return buf_detach(&out);
}

__attribute__((format(printf, 1, 0))) static char *format_clean(const char *fmt,
                                                                va_list args) {
    char text[4096];
    vsnprintf(text, sizeof text, fmt, args);
    return clean_dup(text);
}

/* failure is taken. */
static void fail(struct call *call, struct call_failure failure) {
    if (answering(call)) {
        call->failure = failure;
        finish(call, CALL_FAILED);
    } else {
        failure_finish(&failure);
    }
    answered(call);
}

void call_fail_at(struct call *call, const char *path, enum call_fault fault,
                  const char *reason, const char *hint, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    fail(call, (struct call_failure){.fault = fault,
                                     .message = format_clean(fmt, args),
                                     .reason = xstrdup(reason ? reason : ""),
                                     .hint = hint ? clean_dup(hint) : NULL,
                                     .path = path ? clean_dup(path) : NULL});
    va_end(args);
}

/* --- on the way --- */

void call_report(struct call *call, double done, double total, const char *fmt, ...) {
    if (call_ended(call)) {
        return;
    }
    struct call_progress *p = &call->progress;
    p->done = done > p->done ? done : p->done;
    p->total = total > 0 ? total : 0;
    free(take(p->message));
    if (fmt) {
        va_list args;
        va_start(args, fmt);
        p->message = format_clean(fmt, args);
        va_end(args);
    }
    tell_observer(call);
    tell_progress(call);
}

void call_set_partial(struct call *call, json_t *partial) {
    if (call_ended(call)) {
        json_decref(partial);
        return;
    }
    json_decref(call->partial);
    call->partial = partial;
}

void call_on_cancel(struct call *call, call_cancelled *cb, void *data) {
    call->on_cancelled = cb;
    call->on_cancelled_data = data;
}

void call_cancel(struct call *call) {
    if (call_ended(call)) {
        return;
    }
    call_cancelled *cb = take(call->on_cancelled);
    if (call->turn == TURN_WAITS) {
        call_stopped(call); /* for the operation, which never hears of it */
    } else if (cb) {
        call->cancelling = true;
        call_ref(call);
        cb(call, call->on_cancelled_data);
        call_unref(call);
    } else if (!call->cancelling) {
        finish(call, CALL_CANCELLED);
    }
}

void call_require_input(struct call *call, json_t *work_order, call_resumed *cb,
                        void *data) {
    if (call_ended(call)) {
        json_decref(work_order);
        return;
    }
    json_decref(call->work_order);
    call->work_order = work_order;
    call->resume = cb;
    call->resume_data = data;
    call->state = CALL_INPUT_REQUIRED;
    turn_ask(call);
    tell_observer(call);
    tell_progress(call);
}

int call_input(struct call *call, const json_t *input) {
    if (call->state != CALL_INPUT_REQUIRED || call->cancelling) {
        return -EINVAL;
    }
    call_ref(call);
    call_resumed *resume = take(call->resume);
    call->state = CALL_RUNNING;
    turn_go_on(call);
    json_decref(take(call->work_order));
    tell_observer(call);
    tell_progress(call);
    if (!call_ended(call) && !call->cancelling) { /* a view may have cancelled it */
        resume(call, input, call->resume_data);
    }
    call_unref(call);
    return 0;
}

/* --- the start --- */

/* A call that cannot be started fails like its operation. */
static bool check_start(struct call *call) {
    struct err err = {0};
    autofree char *path = NULL;
    const struct schema *schema = operation_params(NULL, call->op);
    if (!schema) {
        call_fail(call, CALL_INTERNAL, "no_table", NULL, "%s stands in no table",
                  call->op->name);
        return false;
    }
    if (schema_check(schema, call->params, &path, &err) < 0) {
        call_fail_param(call, path, "%s", err.msg);
        return false;
    }
    return true;
}

struct call *call_start(const struct operation *op, json_t *params,
                        const struct call_origin *origin) {
    struct call *call = xcalloc(1, sizeof *call);
    *call = (struct call){.refs = 2, /* the caller's and the operation's */
                          .owed = true,
                          .op = op,
                          .params = params ? params : json_object(),
                          .origin = copy_origin(origin),
                          .started_ms = clock_ms()};
    if (!check_start(call)) {
        return call;
    }
    enum turn turn = turn_enter(call);
    if (turn == TURN_RUNS) {
        call->op->start(call, call->params);
    } else if (turn == TURN_NONE) {
        call_fail(call, CALL_REFUSED, "too_many_calls",
                  "wait for some of them to end, or cancel them",
                  "%u calls wait for others to end, which is the limit",
                  CALL_MAX_WAITING);
    }
    return call;
}

/* --- for watchers --- */

json_t *call_params(const struct call *call) {
    return call->params;
}

void *call_lent(const struct call_origin *origin, const char *name) {
    return origin && origin->lend ? origin->lend(origin->host, name) : NULL;
}

const struct call_origin *call_origin(const struct call *call) {
    return &call->origin;
}

const struct operation *call_operation(const struct call *call) {
    return call->op;
}

enum call_state call_state(const struct call *call) {
    return call->state;
}

bool call_ended(const struct call *call) {
    return call->state != CALL_RUNNING && call->state != CALL_INPUT_REQUIRED;
}

const json_t *call_result(const struct call *call) {
    return call->result;
}

const json_t *call_partial(const struct call *call) {
    return call->partial;
}

const json_t *call_work_order(const struct call *call) {
    return call->work_order;
}

const struct call_failure *call_failure(const struct call *call) {
    return call->state == CALL_FAILED ? &call->failure : NULL;
}

const struct call_progress *call_progress(const struct call *call) {
    return &call->progress;
}

json_t *call_progress_json(const struct call *call) {
    const struct call_progress *p = &call->progress;
    return json_pack("{s:o,s:o*,s:s*}", "done", json_double(p->done), "total",
                     p->total > 0 ? json_double(p->total) : NULL, "message", p->message);
}

uint64_t call_started_ms(const struct call *call) {
    return call->started_ms;
}

const char *call_keep(struct call *call) {
    if (!call->kept) {
        random_hex(ID_BYTES, call->id);
        call->kept = true;
        if (process_observer && process_observer->kept) {
            process_observer->kept(call, process_observer->data);
        }
    }
    return call->id;
}

bool call_kept(const struct call *call) {
    return call->kept;
}
