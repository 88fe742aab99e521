#pragma once
/* operation: the table of the daemon's operations, each declared once.
 *
 * One entry defines the plain JSON-RPC method, the MCP tool, the LSP command, the
 * upskillctl subcommand, the OpenRPC entry and the section of the reference page. */
#include "protocol/call.h"

struct schema;

enum operation_flags {
    OPERATION_READ_ONLY = 1 << 0,  /* changes nothing outside the daemon */
    OPERATION_LONG = 1 << 1,       /* usually takes seconds or more: plain callers get a
                                      job unless they say "wait": true */
    OPERATION_OPEN_WORLD = 1 << 2, /* connects to other hosts */
    OPERATION_DESTRUCTIVE = 1 << 3,
    OPERATION_IDEMPOTENT = 1 << 4,
};

/* Starts the operation. It must end exactly once, immediately or later, by call_reply,
 * call_fail or call_stopped. Register for cancellation with call_on_cancel. params match
 * the schema and are borrowed for the call's life. */
typedef void operation_start(struct call *call, const json_t *params);

struct operation {
    const char *name;          /* "kernel/check" */
    const char *tool;          /* MCP tool name, or NULL: not a tool */
    const char *title;         /* "Check a CUDA kernel" */
    const char *summary;       /* one line */
    const char *tool_help;     /* the text for models, < 1.5 KiB; NULL = summary */
    const char *params_schema; /* JSON text; an object schema */
    const char *tool_schema;   /* a flatter schema for models, or NULL = params_schema */
    const char *result_schema; /* JSON text */
    const char *example;       /* params as JSON text, for help and the reference page */
    unsigned flags;
    operation_start *start;
    /* Appends a short text of the result for a model or a person; NULL = compact JSON. */
    void (*describe)(const json_t *result, struct buf *out);
};

struct operation_table;
struct operation_table *operation_table_new(void);
void operation_table_free(struct operation_table *t);
/* Adds ops (static) in order. Fails on a repeated name. */
int operation_table_add(struct operation_table *t, const struct operation *ops,
                        size_t count, struct err *err);
size_t operation_count(const struct operation_table *t);
const struct operation *operation_at(const struct operation_table *t, size_t i);
const struct operation *operation_find(const struct operation_table *t, const char *name);
/* The operation of an offered tool; the name of an operation's offered tool; or NULL. */
const struct operation *operation_find_tool(const struct operation_table *t,
                                            const char *tool);
const char *operation_tool(const struct operation_table *t, const struct operation *op);
/* Offers only the tools named in an array of strings; other operations remain methods.
 * -EINVAL if a name is no tool; err lists the tools. */
int operation_table_offer(struct operation_table *t, const json_t *tools,
                          struct err *err);
/* The schema of an operation's params, which the first question compiles; t NULL = the
 * table that contains the operation. */
const struct schema *operation_params(const struct operation_table *t,
                                      const struct operation *op);
/* The table as an OpenRPC 1.3 document (new reference). Params are listed by name, as
 * OpenRPC wants them; "x-params" is the whole object schema, "x-tool" the tool's name,
 * "x-flags" an array of "read-only", "long", "open-world", "destructive", "idempotent".
 */
json_t *operation_table_discover(const struct operation_table *t);
