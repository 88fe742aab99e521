/* Which protocol a message speaks, and the handshakes of both eras.
 *
 * The era belongs to a message, never to the connection: a client may probe with
 * server/discover and then say initialize, and a bridge may mix both. What carries the
 * modern per-request _meta is modern; the rest is legacy, and legal only after
 * initialize. */
#include "base/find.h"
#include "protocol/mcp/mcp_internal.h"

#include "base/strings.h"
#include "base/text.h"

#define MAX_INSTRUCTIONS 2000 /* clients cut at 2 KB; better here, on a code point */

static const struct mcp_method methods[] = {
    {"initialize", MCP_LEGACY, mcp_initialize, NULL},
    {"ping", MCP_LEGACY, mcp_ping, NULL},
    {"logging/setLevel", MCP_LEGACY, mcp_set_log_level, NULL},
    {"server/discover", MCP_MODERN, mcp_discover, NULL},
    {"tools/list", MCP_LEGACY | MCP_MODERN, mcp_tools_list, NULL},
    {"tools/call", MCP_LEGACY | MCP_MODERN, mcp_tools_call, NULL},
    {"tasks/get", MCP_LEGACY | MCP_MODERN, mcp_tasks_get, NULL},
    {"tasks/update", MCP_MODERN, mcp_tasks_update, NULL},
    {"tasks/cancel", MCP_LEGACY | MCP_MODERN, mcp_tasks_cancel, NULL},
    {"tasks/result", MCP_LEGACY, mcp_tasks_result, NULL},
    {"subscriptions/listen", MCP_MODERN, mcp_listen, NULL},
    {"resources/list", MCP_LEGACY | MCP_MODERN, mcp_resources_list, mcp_has_resources},
    {"resources/templates/list", MCP_LEGACY | MCP_MODERN, mcp_resources_templates,
     mcp_has_resources},
    {"resources/read", MCP_LEGACY | MCP_MODERN, mcp_resources_read, mcp_has_resources},
    {"resources/subscribe", MCP_LEGACY, mcp_resources_subscribe, NULL},
    {"resources/unsubscribe", MCP_LEGACY, mcp_resources_unsubscribe, NULL},
    {"prompts/list", MCP_LEGACY | MCP_MODERN, mcp_prompts_list, mcp_has_prompts},
    {"prompts/get", MCP_LEGACY | MCP_MODERN, mcp_prompts_get, mcp_has_prompts},
    {"completion/complete", MCP_LEGACY | MCP_MODERN, mcp_complete, mcp_has_completions},
};

const struct mcp_method *mcp_method_find(const char *name) {
    return list_find(one, methods, ARRAY_LEN(methods), strcmp(one->name, name) == 0);
}

/* Any of the reserved keys makes a message modern, so that a message with a key missing
 * gets that error and does not count as legacy. */
static bool meta_is_modern(const json_t *meta) {
    return json_object_get(meta, MCP_META "protocolVersion") ||
           json_object_get(meta, MCP_META "clientCapabilities") ||
           json_object_get(meta, MCP_META "clientInfo");
}

static void refuse_version(struct mcp_message *msg, const char *requested) {
    /* Only versions that _meta may name: a client that retries with one of the others
     * would be refused again; those are agreed on with initialize. */
    json_t *data = json_pack("{s:[s],s:s}", "supported", mcp_version_name(MCP_2026_07_28),
                             "requested", requested);
    rpc_error(msg->call, MCP_UNSUPPORTED_VERSION, data, "Unsupported protocol version");
}

/* The client's name is for the daemon's records. Every modern message may carry it; the
 * host hears of a new one only. */
static void tell_client(struct mcp *m, const json_t *info) {
    const char *name = json_get_string(info, "name", NULL);
    const char *version = json_get_string(info, "version", "");
    if (!name || !m->host->set_client) {
        return;
    }
    autofree char *client = xasprintf("%s\n%s", name, version);
    if (!m->client || strcmp(m->client, client) != 0) {
        free(m->client);
        m->client = take(client);
        m->host->set_client(m->host->data, name, version);
    }
}

static bool check_modern(struct mcp_message *msg, const struct mcp_method *method) {
    const json_t *version = json_object_get(msg->meta, MCP_META "protocolVersion");
    const json_t *capabilities =
        json_object_get(msg->meta, MCP_META "clientCapabilities");
    const json_t *info = json_object_get(msg->meta, MCP_META "clientInfo");

    msg->era = MCP_MODERN;
    msg->version = MCP_2026_07_28;
    if (!json_is_string(version)) {
        return mcp_refuse(msg, "_meta: %sprotocolVersion must be a string", MCP_META);
    }
    if (strcmp(json_string_value(version), mcp_version_name(MCP_2026_07_28)) != 0) {
        refuse_version(msg, json_string_value(version));
        return false;
    }
    if (!(method->eras & MCP_MODERN) || (method->offered && !method->offered(msg->mcp))) {
        rpc_error(msg->call, RPC_METHOD_NOT_FOUND, NULL,
                  "Method not found in protocol version %s: %s",
                  mcp_version_name(MCP_2026_07_28), method->name);
        return false;
    }
    if (!json_is_object(capabilities)) {
        return mcp_refuse(msg, "_meta: %sclientCapabilities must be an object", MCP_META);
    }
    if (info && !json_is_object(info)) {
        return mcp_refuse(msg, "_meta: %sclientInfo must be an object", MCP_META);
    }
    msg->capabilities = capabilities;
    tell_client(msg->mcp, info);
    return true;
}

static bool check_legacy(struct mcp_message *msg, const struct mcp_method *method) {
    msg->era = MCP_LEGACY;
    msg->version = msg->mcp->version;
    if (!(method->eras & MCP_LEGACY)) {
        return mcp_refuse(msg, "%s needs _meta with %sprotocolVersion", method->name,
                          MCP_META);
    }
    if (!msg->mcp->initialized && method->start != mcp_initialize &&
        method->start != mcp_ping) {
        return mcp_refuse(
            msg,
            "%s came before initialize and without _meta: send initialize first, or "
            "say %sprotocolVersion in params._meta",
            method->name, MCP_META);
    }
    return true;
}

bool mcp_era_decide(struct mcp_message *msg, const struct mcp_method *method) {
    const json_t *meta = json_object_get(msg->params, "_meta");
    if (meta && !json_is_object(meta)) {
        return mcp_refuse(msg, "params._meta must be an object");
    }
    msg->meta = meta;
    bool modern = meta_is_modern(meta);
    rpc_peer_omit_null_id(msg->mcp->peer, modern);
    return modern ? check_modern(msg, method) : check_legacy(msg, method);
}

/* --- the handshakes --- */

/* Exactly what is supported: a client requests nothing that is not named here. */
static json_t *capabilities_of(const struct mcp *m, enum mcp_version version) {
    bool completions = mcp_has_completions(m) && version >= MCP_2025_03_26;
    autojson *extensions = mcp_extensions_json(m);
    if (version == MCP_2026_07_28) {
        json_object_set_new(extensions, MCP_TASKS_EXTENSION, json_object());
    }
    bool extended = version >= MCP_2025_11_25 && json_object_size(extensions);
    return json_pack(
        "{s:{s:b},s:o*,s:o*,s:o*,s:o*,s:O*}", "tools", "listChanged", 0, "resources",
        mcp_has_resources(m) ? json_pack("{s:b,s:b}", "subscribe", 1, "listChanged",
                                         mcp_changing_provider(m) != NULL)
                             : NULL,
        "prompts", mcp_has_prompts(m) ? json_pack("{s:b}", "listChanged", 0) : NULL,
        "completions", completions ? json_object() : NULL, "tasks",
        version == MCP_2025_11_25
            ? json_pack("{s:{},s:{s:{s:{}}}}", "cancel", "requests", "tools", "call")
            : NULL,
        "extensions", extended ? extensions : NULL);
}

static json_t *instructions_of(const struct mcp *m) {
    const char *text = m->host->instructions;
    return text && *text ? json_text(text, text_cut(text, strlen(text), MAX_INSTRUCTIONS))
                         : NULL;
}

/* The client's own version when it is a legacy one, else our newest: the client leaves
 * when it cannot live with that. The modern version is never agreed on here. */
static enum mcp_version negotiate(const char *requested) {
    for (int v = MCP_2024_11_05; v <= MCP_LATEST_LEGACY; v++) {
        if (strcmp(requested, mcp_version_name((enum mcp_version)v)) == 0) {
            return (enum mcp_version)v;
        }
    }
    return MCP_LATEST_LEGACY;
}

/* A second initialize is answered like the first and agrees anew, as servers built with
 * the official SDKs do: a client that reconnects through a kept process must not be
 * stranded. */
void mcp_initialize(const struct mcp_message *msg) {
    struct mcp *m = msg->mcp;
    const json_t *capabilities = json_object_get(msg->params, "capabilities");
    const json_t *info = json_object_get(msg->params, "clientInfo");
    const char *requested = mcp_string_param(msg, "protocolVersion");
    if (!requested) {
        return;
    }
    if ((capabilities && !json_is_object(capabilities)) ||
        (info && !json_is_object(info))) {
        mcp_refuse(msg, "capabilities and clientInfo must be objects");
        return;
    }
    m->version = negotiate(requested);
    m->initialized = true;
    m->client_has_roots = json_is_object(json_object_get(capabilities, "roots"));
    /* Only this revision has batches, and there a server must take them. */
    rpc_peer_allow_batches(m->peer, m->version == MCP_2025_03_26);
    tell_client(m, info);
    mcp_reply(
        msg,
        json_pack("{s:s,s:o,s:o,s:o*}", "protocolVersion", mcp_version_name(m->version),
                  "capabilities", capabilities_of(m, m->version), "serverInfo",
                  mcp_server_info(m, m->version), "instructions", instructions_of(m)),
        MCP_UNCACHEABLE);
}

void mcp_discover(const struct mcp_message *msg) {
    mcp_reply(msg,
              json_pack("{s:[s],s:o,s:o*}", "supportedVersions",
                        mcp_version_name(MCP_2026_07_28), "capabilities",
                        capabilities_of(msg->mcp, MCP_2026_07_28), "instructions",
                        instructions_of(msg->mcp)),
              MCP_STATIC);
}

void mcp_ping(const struct mcp_message *msg) {
    mcp_reply(msg, json_object(), MCP_UNCACHEABLE);
}

/* Accepted because some clients send it unasked; nothing is logged over the protocol. */
void mcp_set_log_level(const struct mcp_message *msg) {
    static const char *const levels[] = {"debug",   "info",      "notice",
                                         "warning", "error",     "critical",
                                         "alert",   "emergency", NULL};
    const char *level = mcp_string_param(msg, "level");
    if (level && strings_have(levels, level)) {
        mcp_reply(msg, json_object(), MCP_UNCACHEABLE);
    } else if (level) {
        mcp_refuse(msg, "level must be one of debug, info, notice, warning, error, "
                        "critical, alert, emergency");
    }
}
