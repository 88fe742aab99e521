/* Prompts: texts with arguments that a person picks from a menu; and the completion of
 * those arguments and of the variables in resource templates. */
#include "protocol/mcp/mcp_internal.h"

#include "base/err.h"

#define MAX_VALUES 100 /* the protocol's limit */

bool mcp_has_prompts(const struct mcp *m) {
    const struct prompt *const *list = m->host->tables->prompts;
    return list && list[0];
}

static const struct prompt *mcp_prompt_find(const struct mcp *m, const char *name) {
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

/* --- completion --- */

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

/* The prompt or resource whose suggestions are wanted; none if the reference is
 * unknown. */
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
