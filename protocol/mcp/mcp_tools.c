/* Tools: the operations that models may call. */
#include "protocol/mcp/mcp_internal.h"

#include "base/clock.h"
#include "protocol/plain.h"
#include "protocol/schema/schema.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* --- tools/list --- */

static void hint(json_t *all, const char *name, bool value, bool otherwise) {
    if (value != otherwise) {
        json_object_set_new(all, name, json_boolean(value));
    }
}

/* Those that differ from the specification's defaults. */
static json_t *annotations_of(const struct operation *op) {
    bool read_only = op->flags & OPERATION_READ_ONLY;
    json_t *all = json_object();
    hint(all, "readOnlyHint", read_only, false);
    if (!read_only) { /* without meaning for a tool that changes nothing */
        hint(all, "destructiveHint", op->flags & OPERATION_DESTRUCTIVE, true);
        hint(all, "idempotentHint", op->flags & OPERATION_IDEMPOTENT, false);
    }
    hint(all, "openWorldHint", op->flags & OPERATION_OPEN_WORLD, true);
    return all;
}

static json_t *input_schema(const struct mcp *m, const struct operation *op) {
    return op->tool_schema ? json_loads(op->tool_schema, 0, NULL)
                           : json_incref(schema_json(
                                 operation_params(m->host->tables->operations, op)));
}

static json_t *tool_of(const struct mcp *m, const struct operation *op,
                       enum mcp_version version) {
    bool task = version == MCP_2025_11_25 && (op->flags & OPERATION_LONG);
    return json_pack("{s:s,s:s*,s:s,s:o,s:o*,s:o*}", "name", op->tool, "title",
                     version >= MCP_2025_06_18 ? op->title : NULL, "description",
                     op->tool_help ? op->tool_help : op->summary, "inputSchema",
                     input_schema(m, op), "annotations",
                     version >= MCP_2025_03_26 ? annotations_of(op) : NULL, "execution",
                     task ? json_pack("{s:s}", "taskSupport", "optional") : NULL);
}

/* In the table's order, which never changes: clients keep the list in a prompt cache. */
static json_t *make_list(const struct mcp *m, enum mcp_version version) {
    const struct operation_table *ops = m->host->tables->operations;
    json_t *tools = json_array();
    for (size_t i = 0; i < operation_count(ops); i++) {
        const struct operation *op = operation_at(ops, i);
        if (operation_tool(ops, op)) {
            json_array_append_new(tools, tool_of(m, op, version));
        }
    }
    return json_pack("{s:o}", "tools", tools);
}

void mcp_tools_list(const struct mcp_message *msg) {
    if (json_object_get(msg->params, "cursor")) {
        mcp_refuse(msg, "unknown cursor: the list of tools has one page");
        return;
    }
    mcp_reply_kept(msg, MCP_TOOLS, make_list);
}

/* --- tools/call --- */

struct mcp_tool_call {
    struct mcp *mcp;
    LIST_ENTRY(mcp_tool_call) link;
    struct rpc_call *rpc;
    struct call *call;
    struct call_view view;
    uv_timer_t timer; /* the end of the wait, or the next sign of life */
    enum mcp_era era;
    enum mcp_version version;
    bool tasks;          /* its client takes a task for an answer */
    json_t *token;       /* of progress, or NULL: none wanted */
    double sent;         /* the latest progress value */
    uint64_t sent_ms;    /* when */
    uint64_t started_ms; /* clock_ms() */
};

static void on_timer_closed(uv_handle_t *handle) {
    free(container_of((uv_timer_t *)handle, struct mcp_tool_call, timer));
}

/* Take it out of the list and let go of everything but the timer. */
static void tool_call_end(struct mcp_tool_call *t) {
    LIST_REMOVE(t, link);
    call_detach(t->call, &t->view);
    call_unref(t->call);
    json_decref(t->token);
    uv_close((uv_handle_t *)&t->timer, on_timer_closed);
}

/* result is stolen. */
static void tool_call_answer(struct mcp_tool_call *t, json_t *result) {
    struct rpc_call *rpc = t->rpc;
    mcp_decorate(t->mcp, t->era, result, MCP_UNCACHEABLE);
    tool_call_end(t); /* first: nothing may follow the reply */
    rpc_reply(rpc, result);
}

/* Answers with a handle to the running call. */
static void tool_call_keep(struct mcp_tool_call *t) {
    const char *id = call_keep(t->call);
    tool_call_answer(t, t->tasks ? mcp_task_created(t->mcp, t->version, id)
                                 : mcp_result_running(t->mcp, t->version, t->call, id));
}

static void tool_call_drop(struct mcp_tool_call *t) {
    struct rpc_call *rpc = t->rpc;
    struct call *call = call_ref(t->call);
    tool_call_end(t);
    rpc_drop(rpc);
    if (!call_kept(call)) { /* a job has other watchers */
        call_cancel(call);
    }
    call_unref(call);
}

void mcp_tools_stop(struct mcp *m) {
    while (!LIST_EMPTY(&m->tool_calls)) {
        tool_call_drop(LIST_FIRST(&m->tool_calls));
    }
}

static void on_rpc_cancelled(struct rpc_call *, void *data) {
    tool_call_drop(data);
}

/* --- progress --- */

/* Counts are whole most of the time and then shown so. */
static json_t *number(double value) {
    bool whole = value < 1e15 && value == (double)(json_int_t)value;
    return whole ? json_integer((json_int_t)value) : json_real(value);
}

/* MCP requires every value to exceed the one before. The operation's count is used where
 * it grows; other news add a step that is too small to matter, and exact in binary. */
static double next_progress(const struct mcp_tool_call *t) {
    double done = call_progress(t->call)->done;
    double step = t->sent + 1.0 / 1024;
    if (isfinite(done) && done > t->sent) {
        return done;
    }
    return step > t->sent ? step : t->sent * (1 + 2 * DBL_EPSILON);
}

static void send_progress(struct mcp_tool_call *t, const char *message) {
    double total = call_progress(t->call)->total;
    double value = next_progress(t);
    bool told = message && *message && t->version >= MCP_2025_03_26;
    json_t *params = json_pack(
        "{s:O,s:o,s:o*,s:o*}", "progressToken", t->token, "progress", number(value),
        "total", isfinite(total) && total >= value ? number(total) : NULL, "message",
        told ? json_text(message, strlen(message)) : NULL);
    t->sent = value;
    t->sent_ms = clock_ms();
    rpc_notify_droppable(t->mcp->peer, "notifications/progress", params);
}

static void send_sign_of_life(struct mcp_tool_call *t) {
    const struct call_progress *p = call_progress(t->call);
    char text[256];
    unsigned long long seconds = (clock_ms() - t->started_ms) / 1000;
    if (p->message && *p->message) {
        snprintf(text, sizeof text, "%.200s (%llu s)", p->message, seconds);
    } else {
        snprintf(text, sizeof text, "%llu s", seconds);
    }
    send_progress(t, text);
}

static void on_timer(uv_timer_t *timer);

static void timer_set(struct mcp_tool_call *t) {
    const struct face_settings *s = t->mcp->host->settings;
    uint64_t now = clock_ms();
    uint64_t due = t->started_ms + s->tool_wait_ms;
    if (t->token && s->progress_ms && t->sent_ms + s->progress_ms < due) {
        due = t->sent_ms + s->progress_ms;
    }
    uv_timer_start(&t->timer, on_timer, due > now ? due - now : 0, 0);
}

static void on_timer(uv_timer_t *timer) {
    struct mcp_tool_call *t = container_of(timer, struct mcp_tool_call, timer);
    const struct face_settings *s = t->mcp->host->settings;
    uint64_t now = clock_ms();
    if (call_ended(t->call)) {
        return; /* on_end is on its way */
    }
    if (now >= t->started_ms + s->tool_wait_ms) {
        tool_call_keep(t);
        return;
    }
    if (t->token && s->progress_ms && now >= t->sent_ms + s->progress_ms) {
        send_sign_of_life(t);
    }
    timer_set(t);
}

static void on_progress(struct call *call, void *data) {
    struct mcp_tool_call *t = data;
    if (call_state(call) == CALL_INPUT_REQUIRED) {
        tool_call_keep(t);
    } else if (t->token && !call_ended(call)) {
        send_progress(t, call_progress(call)->message);
    }
}

static void on_end(struct call *call, void *data) {
    struct mcp_tool_call *t = data;
    tool_call_answer(t, mcp_result_ended(t->mcp, t->version, call));
}

/* --- starting --- */

static struct mcp_tool_call *tool_call_new(const struct mcp_message *msg,
                                           struct call *call) {
    struct mcp *m = msg->mcp;
    struct mcp_tool_call *t = xcalloc(1, sizeof *t);
    const json_t *token = json_object_get(msg->meta, "progressToken");
    *t = (struct mcp_tool_call){
        .mcp = m,
        .rpc = msg->call,
        .call = call,
        .view = {.progress = on_progress, .end = on_end, .data = t},
        .era = msg->era,
        .version = msg->version,
        .tasks = msg->era == MCP_MODERN && mcp_client_extends(msg, MCP_TASKS_EXTENSION),
        .started_ms = clock_ms(),
    };
    t->sent_ms = t->started_ms;
    if (json_is_string(token) || json_is_integer(token)) { /* 0 is a token */
        t->token = json_incref((json_t *)(uintptr_t)token);
    }
    LIST_INSERT_HEAD(&m->tool_calls, t, link);
    uv_timer_init(m->host->origin->loop, &t->timer);
    return t;
}

/* The tool and its arguments, or NULL after refusing. */
static const struct operation *check_call(const struct mcp_message *msg) {
    const char *name = mcp_string_param(msg, "name");
    if (!name) {
        return NULL;
    }
    const struct operation *op =
        operation_find_tool(msg->mcp->host->tables->operations, name);
    const json_t *arguments = json_object_get(msg->params, "arguments");
    if (!op) {
        mcp_refuse(msg, "Unknown tool: %.128s", name);
        return NULL;
    }
    if (arguments && !json_is_object(arguments)) {
        mcp_refuse(msg, "arguments must be an object");
        return NULL;
    }
    return op;
}

/* A call that waits must return before it would itself become a job: its wait_s is
 * limited to the time of a tool call. */
static json_t *arguments_of(const struct mcp_message *msg, const struct operation *op) {
    json_t *given = json_object_get(msg->params, "arguments");
    autojson *arguments = given ? schema_adapt(operation_params(NULL, op), given) : NULL;
    json_int_t limit = msg->mcp->host->settings->tool_wait_ms / 1000;
    limit = limit > 1 ? limit - 1 : 0;
    const json_t *wait = json_object_get(arguments, "wait_s");
    if (!json_is_integer(wait) || json_integer_value(wait) <= limit) {
        return json_incref(arguments);
    }
    json_t *copy = json_copy(arguments);
    json_object_set_new(copy, "wait_s", json_integer(limit));
    return copy;
}

/* Revision 2025-11-25: the client asks for a task. It gets one or an error, no result. */
static void start_legacy_task(struct mcp_tool_call *t) {
    struct call *call = t->call;
    if (call_state(call) != CALL_FAILED) {
        t->tasks = true;
        tool_call_keep(t);
        return;
    }
    plain_answer(t->rpc, call);
    tool_call_end(t);
}

static bool wants_legacy_task(const struct mcp_message *msg) {
    return msg->era == MCP_LEGACY && msg->version == MCP_2025_11_25 &&
           json_is_object(json_object_get(msg->params, "task"));
}

void mcp_tools_call(const struct mcp_message *msg) {
    const struct operation *op = check_call(msg);
    if (!op) {
        return;
    }
    bool legacy_task = wants_legacy_task(msg);
    if (legacy_task && !(op->flags & OPERATION_LONG)) {
        rpc_error(msg->call, RPC_METHOD_NOT_FOUND, NULL,
                  "The tool %s does not run as a task", op->tool);
        return;
    }
    struct call_origin origin = *msg->mcp->host->origin;
    origin.agent = origin.writes = true;
    struct call *call = call_start(op, arguments_of(msg, op), &origin);
    struct mcp_tool_call *t = tool_call_new(msg, call);
    rpc_call_on_cancel(msg->call, on_rpc_cancelled, t);
    call_attach(call, &t->view);
    /* A call that ended already (bad arguments, say) is no task: its end is on its way.
     */
    bool hand_over = t->tasks && (op->flags & OPERATION_LONG) && !call_ended(call);
    if (legacy_task) {
        start_legacy_task(t);
    } else if (hand_over || call_state(call) == CALL_INPUT_REQUIRED) {
        tool_call_keep(t);
    } else {
        timer_set(t);
    }
}
