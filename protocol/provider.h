#pragma once
/* provider: resources and prompts, as the domains offer them to MCP clients. */
#include "base/json.h"

#include <stddef.h>

struct err;

/* Resources under one URI prefix. All results are new references in MCP's own shapes
 * without the era's decoration (resultType, ttlMs, cacheScope are the face's). */
struct resource_provider {
    const char *prefix; /* "upskilld://" */
    /* One page of {"uri","name","title"?,"description"?,"mimeType"?,"size"?}; *next receives
     * an opaque cursor (malloc) or NULL. A bad cursor: -EINVAL. */
    int (*list)(void *data, const char *cursor, json_t **ret, char **next, struct err *err);
    json_t *(*templates)(void *data); /* may be NULL */
    /* {"contents": [{"uri","mimeType","text"|"blob"}]}; -ENOENT for an unknown one. */
    int (*read)(void *data, const char *uri, json_t **ret, struct err *err);
    /* Completion of a template's variable; may be NULL. Array of strings. */
    json_t *(*complete)(void *data, const char *uri, const char *argument,
                        const char *value);
    void *data;
};

struct prompt {
    const char *name, *title, *description;
    const char *arguments; /* JSON text: [{"name","description","required"}] */
    /* {"description", "messages": [{"role","content"}]} */
    int (*get)(void *data, const json_t *arguments, json_t **ret, struct err *err);
    json_t *(*complete)(void *data, const char *argument, const char *value);
    void *data;
};
