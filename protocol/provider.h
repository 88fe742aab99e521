#pragma once
/* provider: resources, prompts and protocol extensions that the domains offer to MCP
 * clients. All results are new references in MCP's formats without members that
 * depend on the protocol version (the face adds resultType, ttlMs, cacheScope). */
#include "base/json.h"

/* Calls `ready` exactly once, now or later from the loop, when the provider's other
 * functions can answer; also if the requester has gone. */
typedef void provider_when_ready(void *data, void (*ready)(void *arg), void *arg);

/* Resources under one URI prefix. */
struct question;
struct resource_provider {
    const char *prefix;              /* "upskilld://" */
    provider_when_ready *when_ready; /* NULL: always */
    /* The list may change while the program runs; clients may subscribe
     * (mcp_resources_changed). */
    bool changes;
    /* One page of {"uri","name","title"?,"description"?,"mimeType"?,"size"?}; *next
     * receives an opaque cursor (malloc) or NULL. A bad cursor: -EINVAL. */
    int (*list)(void *data, const char *cursor, json_t **ret, char **next,
                struct err *err);
    json_t *(*templates)(void *data); /* may be NULL */
    /* {"contents": [{"uri","mimeType","text"|"blob"}]}; -ENOENT for an unknown one. */
    int (*read)(void *data, const char *uri, json_t **ret, struct err *err);
    /* Replaces `read` if reading takes long: the answer may come later. May be NULL. */
    void (*read_later)(void *data, const char *uri, struct question *q);
    /* Completion of a template's variable; may be NULL. Array of strings. */
    json_t *(*complete)(void *data, const char *uri, const char *argument,
                        const char *value);
    /* A text (malloc) that changes when the resource changes; NULL if it is unknown now.
     * Must be cheap and not wait. The member is NULL if resources never change. */
    char *(*stamp)(void *data, const char *uri);
    void *data;
};

struct prompt {
    const char *name, *title, *description;
    const char *arguments;           /* JSON text: [{"name","description","required"}] */
    provider_when_ready *when_ready; /* NULL: always */
    /* {"description", "messages": [{"role","content"}]} */
    int (*get)(void *data, const json_t *arguments, json_t **ret, struct err *err);
    json_t *(*complete)(void *data, const char *argument, const char *value);
    void *data;
};

/* One request to an extension's method. Answer it exactly once with one of the functions
 * below, now or later; if the requester has gone, the answer is dropped. */
struct question;
const json_t *question_params(const struct question *q);  /* an object, borrowed */
void question_answer(struct question *q, json_t *result); /* stolen */
/* status -EINVAL or -ENOENT: the requester's mistake; others: ours. */
void question_refuse(struct question *q, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct extension_method {
    const char *name; /* "things/list" */
    void (*start)(void *data, struct question *q);
};
/* A protocol extension with its methods, listed in the capabilities. */
struct extension {
    const char *name;     /* "com.example/things" */
    const char *settings; /* JSON text: an object */
    const struct extension_method *methods;
    size_t method_count;
    void *data;
};
