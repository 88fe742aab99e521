/* The MCP face: one message in, the method that its era has for it. */
#include "protocol/mcp/mcp_internal.h"

#include "protocol/uri.h"

#define MAX_ROOTS 256

struct mcp *mcp_new(const struct face_host *host, struct rpc_peer *peer) {
    struct mcp *m = xcalloc(1, sizeof *m);
    m->host = host;
    m->peer = peer;
    m->version = MCP_LATEST_LEGACY;
    m->subscribed = json_object();
    return m;
}

void mcp_free(struct mcp *m) {
    if (!m) {
        return;
    }
    mcp_tools_stop(m);
    mcp_tasks_stop(m);
    mcp_listens_stop(m, false);
    mcp_questions_stop(m);
    if (m->roots_request) {
        rpc_request_abandon(take(m->roots_request));
    }
    free(m->client);
    json_decref(m->subscribed);
    for (size_t i = 0; i < MCP_KEPT; i++) {
        for (size_t v = 0; v < ARRAY_LEN(m->kept[i]); v++) {
            free(m->kept[i][v]);
        }
    }
    free(m);
}

void mcp_closing(struct mcp *m) {
    mcp_listens_stop(m, true);
}

/* --- roots: the folders a legacy client works in. A modern one cannot be asked --- */

static json_t *paths_of(const json_t *roots) {
    json_t *paths = json_array();
    json_each(roots, i, root) {
        const char *uri = json_string_value(json_object_get(root, "uri"));
        autofree char *path = uri && i < MAX_ROOTS ? uri_to_path(uri) : NULL;
        if (path) {
            json_array_append_new(paths, json_string(path));
        }
    }
    return paths;
}

static void on_roots(struct rpc_request *, int, const json_t *result, const json_t *,
                     void *data) {
    struct mcp *m = data;
    m->roots_request = NULL;
    const json_t *roots = json_object_get(result, "roots");
    if (json_is_array(roots) && m->host->set_roots) {
        autojson *paths = paths_of(roots);
        m->host->set_roots(m->host->data, paths);
    }
}

/* When it said that it has some. */
static void ask_roots(struct mcp *m) {
    if (!m->initialized || !m->client_has_roots) {
        return;
    }
    /* An answer on its way may be older than this change: ask again and forget it. */
    if (m->roots_request) {
        rpc_request_abandon(take(m->roots_request));
    }
    m->roots_request = rpc_request_start(m->peer, "roots/list", NULL, on_roots, m);
}

/* --- messages --- */

/* Agents speak MCP. From the first such message on, the connection belongs to an agent: a
 * call by its plain name is an agent's call too. */
static void tell_agent(const struct mcp *m) {
    if (m->host->set_agent) {
        m->host->set_agent(m->host->data);
    }
}

bool mcp_request(struct mcp *m, struct rpc_call *call) {
    const struct mcp_method *method = mcp_method_find(rpc_call_method(call));
    const json_t *params = rpc_call_params(call);
    struct mcp_message msg = {.mcp = m, .call = call};
    struct mcp_method extended;
    if (!method && mcp_extension_find(&msg, rpc_call_method(call), &extended)) {
        method = &extended;
    }
    if (!method) {
        return false;
    }
    tell_agent(m);
    if (params && !json_is_null(params)) {
        if (!json_is_object(params)) {
            mcp_refuse(&msg, "params must be an object");
            return true;
        }
        msg.params = params;
    }
    if (mcp_era_decide(&msg, method)) {
        method->start(&msg);
    }
    return true;
}

/* A notification that cannot be handled is ignored, because it has no answer. */
bool mcp_notification(struct mcp *m, const char *method, json_t *params) {
    if (strncmp(method, "notifications/", strlen("notifications/")) != 0) {
        return false;
    }
    tell_agent(m);
    if (strcmp(method, "notifications/cancelled") == 0) {
        const json_t *id = json_object_get(params, "requestId");
        if (json_is_string(id) || json_is_integer(id)) {
            rpc_cancel(m->peer, id);
        }
    } else if (strcmp(method, "notifications/initialized") == 0 ||
               strcmp(method, "notifications/roots/list_changed") == 0) {
        ask_roots(m);
    }
    return true;
}
