/* Completion of prompt arguments and of the variables in resource templates. */
#include "protocol/mcp/mcp_internal.h"

#include <string.h>

#define MAX_VALUES 100 /* the protocol's limit */

bool mcp_has_completions(const struct mcp *m) {
    const struct resource_provider *const *r = m->host->tables->resources;
    const struct prompt *const *p = m->host->tables->prompts;
    for (; r && *r; r++) {
        if ((*r)->complete) {
            return true;
        }
    }
    for (; p && *p; p++) {
        if ((*p)->complete) {
            return true;
        }
    }
    return false;
}

/* values is stolen; NULL = no suggestions. */
static json_t *completion_of(json_t *values) {
    size_t total = json_array_size(values);
    json_t *first = json_array();
    for (size_t i = 0; i < total && i < MAX_VALUES; i++) {
        json_array_append(first, json_array_get(values, i));
    }
    json_decref(values);
    return json_pack("{s:{s:o,s:I,s:b}}", "completion", "values", first, "total",
                     (json_int_t)total, "hasMore", total > MAX_VALUES);
}

static void complete_ready(const struct mcp_message *msg) {
    const json_t *ref = json_object_get(msg->params, "ref");
    const json_t *argument = json_object_get(msg->params, "argument");
    const char *type = json_get_string(ref, "type", "");
    const char *name = json_get_string(argument, "name", NULL);
    const char *value = json_get_string(argument, "value", NULL);
    bool of_prompt = strcmp(type, "ref/prompt") == 0;
    const char *of = json_get_string(ref, of_prompt ? "name" : "uri", NULL);
    const struct prompt *p = of_prompt && of ? mcp_prompt_find(msg->mcp, of) : NULL;
    const struct resource_provider *r =
        !of_prompt && of ? mcp_provider_find(msg->mcp, of) : NULL;
    json_t *values = NULL;
    if (!name || !value) {
        mcp_refuse(msg, "argument must be {\"name\": string, \"value\": string}");
        return;
    }
    if (!of_prompt && strcmp(type, "ref/resource") != 0) {
        mcp_refuse(msg, "ref.type must be \"ref/prompt\" or \"ref/resource\"");
        return;
    }
    if (!p && !r) {
        mcp_refuse(msg,
                   of_prompt ? "Unknown prompt: %.128s"
                             : "Unknown resource template: %.256s",
                   of          ? of
                   : of_prompt ? "ref.name is not a string"
                               : "ref.uri is not a string");
        return;
    }
    if (p && p->complete) {
        values = p->complete(p->data, name, value);
    } else if (r && r->complete) {
        values = r->complete(r->data, of, name, value);
    }
    mcp_reply(msg, completion_of(values), MCP_UNCACHEABLE);
}

/* Whose suggestions are wanted; nobody's when the reference is unknown. */
void mcp_complete(const struct mcp_message *msg) {
    const json_t *ref = json_object_get(msg->params, "ref");
    const char *name = json_get_string(ref, "name", NULL);
    const char *uri = json_get_string(ref, "uri", NULL);
    const struct prompt *p = name ? mcp_prompt_find(msg->mcp, name) : NULL;
    const struct resource_provider *r = uri ? mcp_provider_find(msg->mcp, uri) : NULL;
    if (p) {
        mcp_when_ready(msg, p->when_ready, p->data, complete_ready);
    } else {
        mcp_when_ready(msg, r ? r->when_ready : NULL, r ? r->data : NULL, complete_ready);
    }
}
