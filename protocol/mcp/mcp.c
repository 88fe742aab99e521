/* The MCP face: one message in, the method that its era has for it. */
#include "protocol/mcp/mcp_internal.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STATIC_TTL_MS 3600000

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
    mcp_waits_stop(m);
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

/* --- answers --- */

void mcp_decorate(const struct mcp *m, enum mcp_era era, json_t *result,
                  enum mcp_cache cache) {
    if (era != MCP_MODERN) {
        return;
    }
    if (!json_object_get(result, "resultType")) {
        json_object_set_new(result, "resultType", json_string("complete"));
    }
    if (cache != MCP_UNCACHEABLE) {
        json_object_set_new(result, "ttlMs",
                            json_integer(cache == MCP_STATIC ? STATIC_TTL_MS : 0));
        json_object_set_new(result, "cacheScope",
                            json_string(cache == MCP_STATIC ? "public" : "private"));
    }
    json_t *meta = json_object_get(result, "_meta");
    if (!meta) {
        meta = json_object();
        json_object_set_new(result, "_meta", meta);
    }
    json_object_set_new(meta, MCP_META "serverInfo", mcp_server_info(m, MCP_2026_07_28));
}

void mcp_reply(const struct mcp_message *msg, json_t *result, enum mcp_cache cache) {
    mcp_decorate(msg->mcp, msg->era, result, cache);
    rpc_reply(msg->call, result);
}

void mcp_reply_kept(const struct mcp_message *msg, enum mcp_kept which, mcp_make *make) {
    char **text = &msg->mcp->kept[which][msg->version];
    if (!*text) {
        struct buf out = BUF_INIT(FRAME_MAX_BODY);
        autojson *result = make(msg->mcp, msg->version);
        mcp_decorate(msg->mcp, msg->era, result, MCP_STATIC);
        (void)json_write(&out, result); /* small: the program's own texts */
        *text = buf_detach(&out);
    }
    rpc_reply_text(msg->call, *text);
}

void mcp_refuse(const struct mcp_message *msg, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    rpc_error(msg->call, RPC_INVALID_PARAMS, NULL, "%s", text);
}

const char *mcp_string_param(const struct mcp_message *msg, const char *name) {
    const json_t *value = json_object_get(msg->params, name);
    if (!json_is_string(value)) {
        mcp_refuse(msg, "%s must be a string", name);
        return NULL;
    }
    if (strlen(json_string_value(value)) != json_string_length(value)) {
        mcp_refuse(msg, "%s may not hold U+0000", name);
        return NULL;
    }
    return json_string_value(value);
}

/* --- messages --- */

/* Agents speak MCP. Their connection is theirs from the first such message on: what they
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

/* A notification that cannot be acted on is ignored: there is nobody to tell. */
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
        mcp_roots_ask(m);
    }
    return true;
}
