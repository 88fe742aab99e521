#pragma once
/* operation: the table of what the daemon can do, declared once per thing.
 *
 * From one entry come the plain JSON-RPC method, the MCP tool, the LSP command, the
 * subcommand of upskillctl, the OpenRPC document and the reference page. */
#include "protocol/call.h"

#include <stddef.h>

struct err;
struct schema;

enum operation_flags {
    OPERATION_READ_ONLY = 1 << 0,  /* changes nothing outside the daemon */
    OPERATION_LONG = 1 << 1,       /* usually over seconds: plain callers get a job unless
                                      they say "wait": true */
    OPERATION_OPEN_WORLD = 1 << 2, /* talks to hosts elsewhere */
    OPERATION_DESTRUCTIVE = 1 << 3,
    OPERATION_IDEMPOTENT = 1 << 4,
};

/* Start the operation. It ends exactly once, now or later, in call_reply, call_fail or
 * call_stopped; cancellation arrives through call_on_cancel. Params passed the schema and
 * are borrowed for the call's life. */
typedef void operation_start(struct call *call, const json_t *params);

struct operation {
    const char *name;          /* "kernel/check" */
    const char *tool;          /* MCP tool name, or NULL: not a tool */
    const char *title;         /* "Check a CUDA kernel" */
    const char *summary;       /* one line */
    const char *tool_help;     /* what a model should know, < 1.5 KiB; NULL = summary */
    const char *params_schema; /* JSON text; an object schema */
    const char *tool_schema;   /* a flatter schema for models, or NULL = params_schema */
    const char *result_schema; /* JSON text */
    const char *example;       /* params as JSON text, for help and the reference page */
    unsigned flags;
    operation_start *start;
    /* A short text of the result for a model or a person; NULL = compact JSON. Appended.
     */
    void (*describe)(const json_t *result, struct buf *out);
};

struct operation_table;
struct operation_table *operation_table_new(void);
void operation_table_free(struct operation_table *t);
/* ops (static) are added in order. Fails on a bad schema, a name used twice, or an
 * example that its own schema refuses. */
int operation_table_add(struct operation_table *t, const struct operation *ops,
                        size_t count, struct err *err);
size_t operation_count(const struct operation_table *t);
const struct operation *operation_at(const struct operation_table *t, size_t i);
const struct operation *operation_find(const struct operation_table *t, const char *name);
/* The offered tool of that name; an operation's offered tool, or NULL. */
const struct operation *operation_find_tool(const struct operation_table *t,
                                            const char *tool);
const char *operation_tool(const struct operation_table *t, const struct operation *op);
/* Offer the named tools alone, an array of texts; the other operations stay methods.
 * -EINVAL: no tool has one of the names; err says which there are. */
int operation_table_offer(struct operation_table *t, const json_t *tools,
                          struct err *err);
/* The compiled schema of an operation's params; t NULL = whatever table it stands in. */
const struct schema *operation_params(const struct operation_table *t,
                                      const struct operation *op);
/* The table as an OpenRPC 1.3 document (new reference). Params are listed by name, as
 * OpenRPC wants them; "x-params" is the whole object schema, "x-tool" the tool's name,
 * "x-flags" an array of "read-only", "long", "open-world", "destructive", "idempotent".
 */
json_t *operation_table_discover(const struct operation_table *t);
