/* Tasks: jobs as MCP shows them.
 *
 * The extension io.modelcontextprotocol/tasks (modern) and the tasks of revision
 * 2025-11-25 are two views of the same thing, a kept call. They differ in names (ttlMs
 * and ttl), in what a failed tool means (completed there, failed here), and in how a
 * result is fetched: inside tasks/get there, by a blocking tasks/result here. */
#include "protocol/mcp/mcp_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"

#define POLL_INTERVAL_MS 1000
#define MAX_REQUEST_TEXT (16u << 10) /* of a work order shown as a form's message */

/* --- the Task --- */

static const char *task_status(const char *state, enum mcp_era era) {
    static const char *const names[][3] = {
        /* a job's state, modern, legacy */
        {"queued", "working", "working"},
        {"running", "working", "working"},
        {"input_required", "input_required", "input_required"},
        {"succeeded", "completed", "completed"},
        {"failed", "completed",
         "failed"}, /* a tool's error is a result to the extension */
        {"cancelled", "cancelled", "cancelled"},
        {"interrupted", "failed", "failed"},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(state, names[i][0]) == 0) {
            return names[i][era == MCP_MODERN ? 1 : 2];
        }
    }
    return "failed";
}

static bool is_terminal(const char *status) {
    return strcmp(status, "working") != 0 && strcmp(status, "input_required") != 0;
}

static const char *status_message(const json_t *job) {
    const json_t *error = json_object_get(job, "error");
    return json_get_string(error ? error : json_object_get(job, "progress"), "message",
                           NULL);
}

/* job is a status as face_host.job gives it. */
static json_t *task_json(const json_t *job, const char *id, enum mcp_era era) {
    char now[25];
    clock_iso8601(now);
    const char *state = json_get_string(job, "state", "");
    const char *message = status_message(job);
    return json_pack(
        "{s:s,s:s,s:s,s:s,s:n,s:i,s:s*}", "taskId", id, "status", task_status(state, era),
        "createdAt", json_get_string(job, "created", now), "lastUpdatedAt",
        json_get_string(job, "updated", now), era == MCP_MODERN ? "ttlMs" : "ttl",
        era == MCP_MODERN ? "pollIntervalMs" : "pollInterval", POLL_INTERVAL_MS,
        "statusMessage", message && *message ? message : NULL);
}

static json_t *find_job(const struct mcp *m, const char *id, struct call **live) {
    *live = NULL;
    return m->host->job ? m->host->job(m->host->data, id, live) : NULL;
}

json_t *mcp_task_created(const struct mcp *m, enum mcp_version version, const char *id) {
    struct call *live;
    enum mcp_era era = version == MCP_2026_07_28 ? MCP_MODERN : MCP_LEGACY;
    autojson *job = find_job(m, id, &live);
    json_t *task = task_json(job, id, era);
    if (era == MCP_LEGACY) {
        return json_pack("{s:o}", "task", task);
    }
    json_object_set_new(task, "resultType", json_string("task"));
    return task;
}

/* --- input that a task waits for --- */

/* The same order has the same key at every poll, another order another one. */
static char *request_key(const json_t *order) {
    autobuf text = BUF_INIT(1u << 20);
    char hex[HASH_HEX_SIZE];
    json_write(&text, order);
    hash_bytes_hex(text.data, text.len, hex);
    return xasprintf("input-%.16s", hex);
}

bool mcp_takes_forms(const json_t *capabilities) {
    const json_t *elicitation = json_object_get(capabilities, "elicitation");
    /* {} means forms, as it did before there were other kinds. */
    return json_is_object(elicitation) &&
           (json_object_size(elicitation) == 0 || json_object_get(elicitation, "form"));
}

static json_t *form_message(const json_t *order) {
    const char *instructions = json_get_string(order, "instructions", NULL);
    autobuf text = BUF_INIT(1u << 20);
    if (instructions) {
        buf_adds(&text, instructions);
    } else if (order) {
        json_write(&text, order);
    }
    return json_text(text.data, text_cut(text.data, text.len, MAX_REQUEST_TEXT));
}

/* A work order as a form with the fields it names in "schema", else one text: "draft". */
static json_t *input_requests(const json_t *order, bool forms) {
    json_t *requests = json_object();
    if (!order || !forms) {
        return requests;
    }
    json_t *schema = json_object_get(order, "schema");
    schema = json_is_object(schema)
                 ? json_incref(schema)
                 : json_pack("{s:s,s:{s:{s:s}},s:[s]}", "type", "object", "properties",
                             "draft", "type", "string", "required", "draft");
    autofree char *key = request_key(order);
    json_object_set_new(requests, key,
                        json_pack("{s:s,s:{s:s,s:o,s:o}}", "method", "elicitation/create",
                                  "params", "mode", "form", "message",
                                  form_message(order), "requestedSchema", schema));
    return requests;
}

/* --- DetailedTask --- */

/* Adds members that a stored job lacks and its call has. */
static void add_operation(json_t *job, const struct call *live) {
    if (live && !json_object_get(job, "operation")) {
        json_object_set_new(job, "operation", json_string(call_operation(live)->name));
    }
}

static json_t *detailed(const struct mcp *m, bool forms, const char *id, json_t *job,
                        const struct call *live) {
    add_operation(job, live);
    json_t *task = task_json(job, id, MCP_MODERN);
    const char *status = json_get_string(task, "status", "");
    if (strcmp(status, "completed") == 0) {
        json_object_set_new(task, "result", mcp_result_stored(m, MCP_2026_07_28, job));
    } else if (strcmp(status, "failed") == 0) {
        json_object_set_new(task, "error",
                            json_pack("{s:i,s:s}", "code", RPC_INTERNAL_ERROR, "message",
                                      json_get_string(task, "statusMessage", "failed")));
    } else if (strcmp(status, "input_required") == 0) {
        const json_t *order = json_object_get(job, "work_order");
        json_object_set_new(task, "inputRequests", input_requests(order, forms));
        /* For a client without forms, too: its model can call the tool again. */
        json_object_set_new(task, "statusMessage", form_message(order));
    }
    return task;
}

json_t *mcp_task_detailed(const struct mcp *m, bool forms, const char *id,
                          const struct call *call) {
    struct call *live;
    autojson *job = find_job(m, id, &live);
    return job ? detailed(m, forms, id, job, call) : NULL;
}

/* --- methods --- */

/* The job with the request's id; NULL after refusing. id NULL: it was refused. */
static json_t *known_job(const struct mcp_message *msg, const char *id,
                         struct call **live) {
    json_t *job = id ? find_job(msg->mcp, id, live) : NULL;
    if (id && !job) {
        mcp_refuse(msg, "Task not found: no task has this id");
    }
    return job;
}

/* The task id of a request that may have one; NULL after refusing it. */
static const char *task_id(const struct mcp_message *msg) {
    if (msg->era == MCP_LEGACY && msg->version < MCP_2025_11_25) {
        rpc_error(msg->call, RPC_METHOD_NOT_FOUND, NULL,
                  "Method not found in protocol version %s",
                  mcp_version_name(msg->version));
        return NULL;
    }
    if (msg->era == MCP_MODERN && !mcp_client_extends(msg, MCP_TASKS_EXTENSION)) {
        mcp_demand_extension(msg, MCP_TASKS_EXTENSION);
        return NULL;
    }
    return mcp_string_param(msg, "taskId");
}

void mcp_tasks_get(const struct mcp_message *msg) {
    struct call *live;
    const char *id = task_id(msg);
    autojson *job = known_job(msg, id, &live);
    if (job) {
        bool forms = mcp_takes_forms(msg->capabilities);
        mcp_reply(msg,
                  msg->era == MCP_MODERN ? detailed(msg->mcp, forms, id, job, live)
                                         : task_json(job, id, MCP_LEGACY),
                  MCP_UNCACHEABLE);
    }
}

/* Returns false if the response cannot come from a form. */
static bool give_input(struct call *live, const json_t *response) {
    const char *action = json_get_string(response, "action", "");
    if (strcmp(action, "accept") == 0) {
        const json_t *content = json_object_get(response, "content");
        return json_is_object(content) && call_input(live, content) == 0;
    }
    if (strcmp(action, "decline") == 0 || strcmp(action, "cancel") == 0) {
        call_cancel(live); /* without its input it can only stop */
        return true;
    }
    return false;
}

void mcp_tasks_update(const struct mcp_message *msg) {
    const char *id = task_id(msg);
    const json_t *responses = json_object_get(msg->params, "inputResponses");
    if (id && !json_is_object(responses)) {
        mcp_refuse(msg, "inputResponses must be an object");
        return;
    }
    struct call *live;
    autojson *job = known_job(msg, id, &live);
    if (!job) {
        return;
    }
    const json_t *order = json_object_get(job, "work_order");
    autofree char *key = order ? request_key(order) : NULL;
    const json_t *response = key ? json_object_get(responses, key) : NULL;
    if (response && !live) {
        mcp_refuse(msg, "the task waits in another process; answer it there");
        return;
    }
    /* Answers to questions that are not open (any more) are ignored. */
    autoptr(call_unref) struct call *held = live ? call_ref(live) : NULL;
    if (response && !give_input(held, response)) {
        mcp_refuse(msg,
                   "inputResponses.%s must be {\"action\": \"accept\", \"content\": "
                   "{…}}, or have the action decline or cancel",
                   key);
        return;
    }
    mcp_reply(msg, json_object(), MCP_UNCACHEABLE);
}

void mcp_tasks_cancel(const struct mcp_message *msg) {
    struct call *live;
    const char *id = task_id(msg);
    autojson *job = known_job(msg, id, &live);
    if (!job) {
        return;
    }
    autojson *task = task_json(job, id, msg->era);
    bool over = is_terminal(json_get_string(task, "status", ""));
    if (over && msg->era == MCP_LEGACY) {
        mcp_refuse(msg, "the task is over: %s", json_get_string(task, "status", ""));
        return;
    }
    if (!over && !live) {
        mcp_refuse(msg, "the task runs in another process; cancel it there");
        return;
    }
    autoptr(call_unref) struct call *held = over ? NULL : call_ref(live);
    if (held) {
        call_cancel(held);
    }
    if (msg->era == MCP_MODERN) {
        mcp_reply(msg, json_object(), MCP_UNCACHEABLE);
    } else { /* where cancelling is immediate by definition */
        json_object_set_new(task, "status", json_string("cancelled"));
        mcp_reply(msg, take(task), MCP_UNCACHEABLE);
    }
}

/* --- tasks/result (2025-11-25): answered when the task is over, or needs input --- */

struct mcp_task_wait {
    struct mcp *mcp;
    LIST_ENTRY(mcp_task_wait) link;
    struct rpc_call *rpc;
    struct call *call;
    struct call_view view;
    char *id;
};

/* Returns the request, to be answered or dropped. */
static struct rpc_call *wait_end(struct mcp_task_wait *w) {
    struct rpc_call *rpc = w->rpc;
    LIST_REMOVE(w, link);
    call_detach(w->call, &w->view);
    call_unref(w->call);
    free(w->id);
    free(w);
    return rpc;
}

void mcp_tasks_stop(struct mcp *m) {
    while (!LIST_EMPTY(&m->task_waits)) {
        rpc_drop(wait_end(LIST_FIRST(&m->task_waits)));
    }
}

/* result is stolen. */
static json_t *related(json_t *result, const char *id) {
    json_object_set_new(result, "_meta",
                        json_pack("{s:{s:s}}", MCP_META "related-task", "taskId", id));
    return result;
}

static void wait_over(struct call *call, void *data) {
    struct mcp_task_wait *w = data;
    json_t *result = related(mcp_result_ended(w->mcp, w->mcp->version, call), w->id);
    rpc_reply(wait_end(w), result);
}

/* The order is for the model, which sees results only: it calls the tool again. Nobody
 * would give the input while this request waits for the end. */
static void wait_progressed(struct call *call, void *data) {
    struct mcp_task_wait *w = data;
    if (call_state(call) == CALL_INPUT_REQUIRED) {
        json_t *result = mcp_result_running(w->mcp, w->mcp->version, call, w->id);
        autofree char *id = xstrdup(w->id);
        rpc_reply(wait_end(w), related(result, id));
    }
}

/* The client stops waiting; the task continues. */
static void wait_cancelled(struct rpc_call *, void *data) {
    rpc_drop(wait_end(data));
}

void mcp_tasks_result(const struct mcp_message *msg) {
    struct mcp *m = msg->mcp;
    struct call *live;
    const char *id = task_id(msg);
    autojson *job = known_job(msg, id, &live);
    if (!job) {
        return;
    }
    if (!live || call_ended(live)) {
        add_operation(job, live);
        const char *status = task_status(json_get_string(job, "state", ""), MCP_LEGACY);
        if (!is_terminal(status)) {
            mcp_refuse(msg, "the task runs in another process: poll tasks/get");
            return;
        }
        mcp_reply(msg, related(mcp_result_stored(m, msg->version, job), id),
                  MCP_UNCACHEABLE);
        return;
    }
    struct mcp_task_wait *w = xcalloc(1, sizeof *w);
    *w = (struct mcp_task_wait){.mcp = m,
                                .rpc = msg->call,
                                .call = call_ref(live),
                                .view = {.progress = wait_progressed,
                                         .end = wait_over,
                                         .data = w},
                                .id = xstrdup(id)};
    LIST_INSERT_HEAD(&m->task_waits, w, link);
    rpc_call_on_cancel(msg->call, wait_cancelled, w);
    call_attach(live, &w->view);
    wait_progressed(live, w); /* it may wait already */
}
