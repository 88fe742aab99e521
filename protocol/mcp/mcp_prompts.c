/* Prompts: texts with arguments that a person picks from a menu. */
#include "protocol/mcp/mcp_internal.h"

#include "base/err.h"

#include <string.h>

bool mcp_has_prompts(const struct mcp *m) {
    const struct prompt *const *list = m->host->tables->prompts;
    return list && list[0];
}

const struct prompt *mcp_prompt_find(const struct mcp *m, const char *name) {
    const struct prompt *const *at = m->host->tables->prompts;
    for (; at && *at; at++) {
        if (strcmp((*at)->name, name) == 0) {
            return *at;
        }
    }
    return NULL;
}

/* The declared arguments; [] when the prompt has none. */
static json_t *arguments_of(const struct prompt *p) {
    json_t *list = p->arguments ? json_loads(p->arguments, 0, NULL) : NULL;
    return list ? list : json_array();
}

static json_t *prompt_json(const struct prompt *p, enum mcp_version version) {
    return json_pack("{s:s,s:s*,s:s*,s:o}", "name", p->name, "title",
                     version >= MCP_2025_06_18 ? p->title : NULL, "description",
                     p->description, "arguments", arguments_of(p));
}

static json_t *make_list(const struct mcp *m, enum mcp_version version) {
    json_t *prompts = json_array();
    const struct prompt *const *at = m->host->tables->prompts;
    for (; at && *at; at++) {
        json_array_append_new(prompts, prompt_json(*at, version));
    }
    return json_pack("{s:o}", "prompts", prompts);
}

void mcp_prompts_list(const struct mcp_message *msg) {
    if (json_object_get(msg->params, "cursor")) {
        mcp_refuse(msg, "unknown cursor: the list of prompts has one page");
        return;
    }
    mcp_reply_kept(msg, MCP_PROMPTS, make_list);
}

/* False after refusing: an argument that is not a string, or a required one is missing.
 */
static bool check_arguments(const struct mcp_message *msg, const struct prompt *p,
                            const json_t *given) {
    if (given && !json_is_object(given)) {
        return mcp_refuse(msg, "arguments must be an object");
    }
    json_each_member(given, name, value) {
        if (!json_is_string(value)) {
            return mcp_refuse(msg, "arguments.%.100s must be a string", name);
        }
    }
    autojson *declared = arguments_of(p);
    json_each(declared, i, argument) {
        const char *name = json_get_string(argument, "name", "");
        if (json_get_bool(argument, "required", 0) && !json_object_get(given, name)) {
            return mcp_refuse(msg, "the prompt %s needs the argument \"%s\"", p->name,
                              name);
        }
    }
    return true;
}

static void get_ready(const struct mcp_message *msg) {
    const struct prompt *p =
        mcp_prompt_find(msg->mcp, json_get_string(msg->params, "name", ""));
    const json_t *given = json_object_get(msg->params, "arguments");
    autojson *arguments = given ? json_copy((json_t *)(uintptr_t)given) : json_object();
    struct err err = {0};
    json_t *result = NULL;
    int rc = p->get(p->data, arguments, &result, &err);
    if (rc == 0) {
        mcp_reply(msg, result, MCP_UNCACHEABLE);
    } else {
        mcp_refuse_status(msg, rc, err.msg);
    }
}

void mcp_prompts_get(const struct mcp_message *msg) {
    const char *name = mcp_string_param(msg, "name");
    if (!name) {
        return;
    }
    const struct prompt *p = mcp_prompt_find(msg->mcp, name);
    const json_t *given = json_object_get(msg->params, "arguments");
    if (!p) {
        mcp_refuse(msg, "Unknown prompt: %.128s", name);
        return;
    }
    if (check_arguments(msg, p, given)) {
        mcp_when_ready(msg, p->when_ready, p->data, get_ready);
    }
}
