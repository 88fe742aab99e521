/* Subscriptions: requests that stay open and carry notifications (modern), and the URIs
 * that a legacy client asked to hear of. */
#include "protocol/mcp/mcp_internal.h"

/* A watched task. Allocated one by one: the view is linked into the call. */
struct watched_task {
    struct mcp_listen *listen;
    LIST_ENTRY(watched_task) link;
    struct call *call;
    struct call_view view;
    enum call_state told;
    char *id;
};

struct mcp_listen {
    struct mcp *mcp;
    LIST_ENTRY(mcp_listen) link;
    struct rpc_call *rpc;
    json_t *id;   /* the request's, echoed in everything it carries */
    bool forms;   /* the client can be asked to fill them in, for a task */
    json_t *uris; /* {uri: stamp or null} */
    bool list;    /* it wants to hear when the list of resources changes */
    LIST_HEAD(, watched_task) tasks;
};

/* --- the contents of an open subscription --- */

/* params is stolen. */
static void listen_notify(const struct mcp_listen *l, const char *method,
                          json_t *params) {
    json_object_set_new(params, "_meta",
                        json_pack("{s:O}", MCP_META "subscriptionId", l->id));
    rpc_notify(l->mcp->peer, method, params);
}

static void tell_task(struct watched_task *w) {
    json_t *task = mcp_task_detailed(w->listen->mcp, w->listen->forms, w->id, w->call);
    w->told = call_state(w->call);
    if (task) {
        listen_notify(w->listen, "notifications/tasks", task);
    }
}

/* Progress alone is no news here; a change of state is. */
static void on_task_progress(struct call *call, void *data) {
    struct watched_task *w = data;
    if (call_state(call) != w->told && !call_ended(call)) {
        tell_task(w);
    }
}

static void watched_free(struct watched_task *w) {
    LIST_REMOVE(w, link);
    call_detach(w->call, &w->view);
    call_unref(w->call);
    free(w->id);
    free(w);
}

static void on_task_end(struct call *, void *data) {
    tell_task(data);
    watched_free(data);
}

/* Those of {uri: stamp} whose stamp is another now, as [uri, …]. */
static json_t *changed_uris(const struct mcp *m, json_t *stamps) {
    json_t *changed = json_array();
    const char *uri;
    json_t *old;
    void *next;
    json_object_foreach_safe(stamps, next, uri, old) {
        autojson *now = mcp_resource_stamp(m, uri);
        if (!json_equal(old, now)) {
            json_array_append_new(changed, json_string(uri));
            json_object_set(stamps, uri, now);
        }
    }
    return changed;
}

static void tell_change(struct mcp *m, bool list) {
    const struct mcp_listen *l;
    if (list && m->initialized) {
        rpc_notify(m->peer, "notifications/resources/list_changed", NULL);
    }
    autojson *legacy = changed_uris(m, m->subscribed);
    json_each(legacy, i, uri) {
        rpc_notify(m->peer, "notifications/resources/updated",
                   json_pack("{s:O}", "uri", uri));
    }
    LIST_FOREACH(l, &m->listens, link) {
        autojson *changed = changed_uris(m, l->uris);
        if (list && l->list) {
            listen_notify(l, "notifications/resources/list_changed", json_object());
        }
        json_each(changed, i, uri) {
            listen_notify(l, "notifications/resources/updated",
                          json_pack("{s:O}", "uri", uri));
        }
    }
}

void mcp_resources_changed(struct mcp *m) {
    tell_change(m, true);
}

void mcp_resources_look(struct mcp *m) {
    tell_change(m, false);
}

/* --- opening --- */

/* The part of a list of strings that is served, as another list. */
static json_t *accept_uris(struct mcp_listen *l, const json_t *wanted) {
    json_t *accepted = json_array();
    json_each(wanted, i, uri) {
        const char *text = json_string_value(uri);
        if (text && i < MCP_MAX_SUBSCRIPTIONS && !json_object_get(l->uris, text) &&
            mcp_provider_find(l->mcp, text)) {
            json_object_set_new(l->uris, text, mcp_resource_stamp(l->mcp, text));
            json_array_append(accepted, uri);
        }
    }
    return accepted;
}

static void watch_task(struct mcp_listen *l, const char *id, struct call *call) {
    struct watched_task *w = xcalloc(1, sizeof *w);
    *w = (struct watched_task){
        .listen = l,
        .call = call_ref(call),
        .view = {.progress = on_task_progress, .end = on_task_end, .data = w},
        .told = call_state(call),
        .id = xstrdup(id)};
    LIST_INSERT_HEAD(&l->tasks, w, link);
    call_attach(call, &w->view);
}

static bool watches(const struct mcp_listen *l, const struct call *call) {
    const struct watched_task *w;
    LIST_FOREACH(w, &l->tasks, link) {
        if (w->call == call) {
            break;
        }
    }
    return w;
}

/* Running tasks of this process can be watched; the others are left out, so that the
 * client continues to poll them. */
static json_t *accept_tasks(struct mcp_listen *l, const json_t *wanted) {
    const struct face_host *host = l->mcp->host;
    json_t *accepted = json_array();
    json_each(wanted, i, id) {
        struct call *live = NULL;
        if (!json_is_string(id) || i >= MCP_MAX_SUBSCRIPTIONS || !host->job) {
            continue;
        }
        autojson *job = host->job(host->data, json_string_value(id), &live);
        if (job && live && !call_ended(live) && !watches(l, live)) {
            watch_task(l, json_string_value(id), live);
            json_array_append(accepted, id);
        }
    }
    return accepted;
}

static void listen_end(struct mcp_listen *l) {
    LIST_REMOVE(l, link);
    while (!LIST_EMPTY(&l->tasks)) {
        watched_free(LIST_FIRST(&l->tasks));
    }
    json_decref(l->id);
    json_decref(l->uris);
    free(l);
}

static void on_listen_cancelled(struct rpc_call *rpc, void *data) {
    listen_end(data);
    rpc_drop(rpc);
}

void mcp_listens_stop(struct mcp *m, bool answer) {
    struct mcp_listen *l;
    while ((l = LIST_FIRST(&m->listens))) {
        struct rpc_call *rpc = l->rpc;
        json_t *result =
            json_pack("{s:{s:O}}", "_meta", MCP_META "subscriptionId", l->id);
        listen_end(l);
        if (answer) {
            mcp_decorate(m, MCP_MODERN, result, MCP_UNCACHEABLE);
            rpc_reply(rpc, result);
        } else {
            json_decref(result);
            rpc_drop(rpc);
        }
    }
}

/* Lists that never change have no news: like every kind that is not served, they are left
 * out of the acknowledgement. */
static json_t *accept_filter(struct mcp_listen *l, const json_t *filter) {
    const json_t *uris = json_object_get(filter, "resourceSubscriptions");
    const json_t *tasks = json_object_get(filter, "taskIds");
    l->list = json_is_true(json_object_get(filter, "resourcesListChanged")) &&
              mcp_changing_provider(l->mcp);
    return json_pack("{s:o*,s:o*,s:o*}", "resourcesListChanged",
                     l->list ? json_true() : NULL, "resourceSubscriptions",
                     uris && mcp_has_resources(l->mcp) ? accept_uris(l, uris) : NULL,
                     "taskIds", tasks ? accept_tasks(l, tasks) : NULL);
}

static bool has_room(const struct mcp_message *msg) {
    size_t open = 0;
    const struct mcp_listen *l;
    LIST_FOREACH(l, &msg->mcp->listens, link) {
        open++;
    }
    if (open >= MCP_MAX_LISTENS) {
        mcp_refuse(msg, "at most %d subscriptions can be open", MCP_MAX_LISTENS);
    }
    return open < MCP_MAX_LISTENS;
}

/* False after refusing. */
static bool check_filter(const struct mcp_message *msg, const json_t *filter) {
    static const char *const lists[] = {"resourceSubscriptions", "taskIds"};
    if (!json_is_object(filter)) {
        return mcp_refuse(msg, "notifications must be an object");
    }
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        const json_t *list = json_object_get(filter, lists[i]);
        if (list && !json_is_array(list)) {
            return mcp_refuse(msg, "notifications.%s must be an array of strings",
                              lists[i]);
        }
    }
    if (json_object_get(filter, "taskIds") &&
        !mcp_client_extends(msg, MCP_TASKS_EXTENSION)) {
        mcp_demand_extension(msg, MCP_TASKS_EXTENSION);
        return false;
    }
    return true;
}

static void listen_ready(const struct mcp_message *msg) {
    struct mcp *m = msg->mcp;
    const json_t *filter = json_object_get(msg->params, "notifications");
    if (!has_room(msg)) {
        return;
    }
    json_t *id = json_loads(rpc_call_id(msg->call), JSON_DECODE_ANY, NULL);
    if (!id) {
        mcp_refuse(msg, "the request's id is too large to be echoed");
        return;
    }
    struct mcp_listen *l = xcalloc(1, sizeof *l);
    *l = (struct mcp_listen){
        .mcp = m,
        .rpc = msg->call,
        .id = id,
        .forms = mcp_takes_forms(msg->capabilities),
        .uris = json_object(),
    };
    LIST_INSERT_HEAD(&m->listens, l, link);
    rpc_call_on_cancel(msg->call, on_listen_cancelled, l);
    json_t *accepted = accept_filter(l, filter);
    listen_notify(l, "notifications/subscriptions/acknowledged",
                  json_pack("{s:o}", "notifications", accepted));
}

/* Changes are relative to the last look, so the first subscriber triggers one. */
void mcp_listen(const struct mcp_message *msg) {
    const json_t *filter = json_object_get(msg->params, "notifications");
    const struct resource_provider *p = mcp_changing_provider(msg->mcp);
    bool resources = json_is_true(json_object_get(filter, "resourcesListChanged")) ||
                     json_object_get(filter, "resourceSubscriptions");
    if (check_filter(msg, filter)) {
        mcp_when_ready(msg, p && resources ? p->when_ready : NULL, p ? p->data : NULL,
                       listen_ready);
    }
}

/* --- legacy --- */

static void subscribe_ready(const struct mcp_message *msg) {
    struct mcp *m = msg->mcp;
    const char *uri = json_get_string(msg->params, "uri", "");
    if (json_object_size(m->subscribed) >= MCP_MAX_SUBSCRIPTIONS) {
        mcp_refuse(msg, "at most %d resources can be subscribed to",
                   MCP_MAX_SUBSCRIPTIONS);
        return;
    }
    json_object_set_new(m->subscribed, uri, mcp_resource_stamp(m, uri));
    mcp_reply(msg, json_object(), MCP_UNCACHEABLE);
}

void mcp_resources_subscribe(const struct mcp_message *msg) {
    const char *uri = mcp_string_param(msg, "uri");
    if (!uri) {
        return;
    }
    const struct resource_provider *p = mcp_provider_find(msg->mcp, uri);
    if (p) {
        mcp_when_ready(msg, p->when_ready, p->data, subscribe_ready);
    } else {
        mcp_refuse_uri(msg->call, MCP_LEGACY, uri);
    }
}

void mcp_resources_unsubscribe(const struct mcp_message *msg) {
    const char *uri = mcp_string_param(msg, "uri");
    if (uri) {
        json_object_del(msg->mcp->subscribed, uri);
        mcp_reply(msg, json_object(), MCP_UNCACHEABLE);
    }
}
