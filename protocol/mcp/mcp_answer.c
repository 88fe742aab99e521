/* How requests are answered and refused, as their era wants it. */
#include "protocol/mcp/mcp_internal.h"

#include "base/buf.h"
#include "base/text.h"

#define STATIC_TTL_MS 3600000

static const char *const version_names[] = {
    [MCP_2024_11_05] = "2024-11-05", [MCP_2025_03_26] = "2025-03-26",
    [MCP_2025_06_18] = "2025-06-18", [MCP_2025_11_25] = "2025-11-25",
    [MCP_2026_07_28] = "2026-07-28",
};

const char *mcp_version_name(enum mcp_version version) {
    return version_names[version];
}

bool mcp_client_extends(const struct mcp_message *msg, const char *extension) {
    const json_t *extensions = json_object_get(msg->capabilities, "extensions");
    return json_is_object(json_object_get(extensions, extension));
}

void mcp_demand_extension(const struct mcp_message *msg, const char *extension) {
    json_t *data =
        json_pack("{s:{s:{s:{}}}}", "requiredCapabilities", "extensions", extension);
    rpc_error(msg->call, MCP_MISSING_CAPABILITY, data,
              "Missing required client capability: the extension %s", extension);
}

json_t *mcp_server_info(const struct mcp *m, enum mcp_version version) {
    const struct face_host *host = m->host;
    return json_pack("{s:s,s:s*,s:s}", "name", host->name, "title",
                     version >= MCP_2025_06_18 ? host->title : NULL, "version",
                     host->version);
}

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

bool mcp_refuse(const struct mcp_message *msg, const char *fmt, ...) {
    char text[512];
    text_format(text, fmt);
    rpc_error(msg->call, RPC_INVALID_PARAMS, NULL, "%s", text);
    return false;
}

void mcp_refuse_status(const struct mcp_message *msg, int status, const char *why) {
    bool asker = status == -EINVAL || status == -ENOENT;
    rpc_error(msg->call, asker ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR, NULL, "%s",
              why);
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

void mcp_refuse_uri(struct rpc_call *call, enum mcp_era era, const char *uri) {
    int code = era == MCP_LEGACY ? (int)MCP_RESOURCE_NOT_FOUND : RPC_INVALID_PARAMS;
    rpc_error(call, code, json_pack("{s:s}", "uri", uri), "Resource not found");
}
