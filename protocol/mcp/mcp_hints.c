/* Hints name methods, "job/status tells more"; who calls tools is told "job_status". */
#include "protocol/mcp/mcp_internal.h"

#include "base/buf.h"

#include <string.h>

#define MAX_HINT (64u << 10)
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyz0123456789_/"

/* The method whose whole name begins here, and its length. */
static const struct operation *named_at(const struct mcp *m, const char *at, size_t len) {
    const struct operation_table *ops = m->host->tables->operations;
    for (size_t i = 0; i < operation_count(ops); i++) {
        const struct operation *op = operation_at(ops, i);
        if (strlen(op->name) == len && strncmp(op->name, at, len) == 0) {
            return op;
        }
    }
    return NULL;
}

/* What no tool does is a command in the agent's shell: "job/list" is `upskillctl job
 * list`. */
static void add_name(const struct mcp *m, struct buf *out, const struct operation *op) {
    size_t group = strcspn(op->name, "/");
    const char *tool = operation_tool(m->host->tables->operations, op);
    if (tool) {
        buf_adds(out, tool);
    } else {
        buf_addf(out, "`upskillctl %.*s %s`", (int)group, op->name,
                 op->name + group + (op->name[group] == '/'));
    }
}

char *mcp_hint(const struct mcp *m, const char *hint) {
    autobuf out = BUF_INIT(MAX_HINT);
    for (const char *at = hint; *at;) {
        size_t len = strspn(at, NAME_BYTES);
        bool whole = len && (at == hint || strchr(" `(", at[-1]));
        const struct operation *op = whole ? named_at(m, at, len) : NULL;
        len = len ? len : 1;
        if (op) {
            add_name(m, &out, op);
        } else {
            buf_add(&out, at, len);
        }
        at += len;
    }
    return buf_detach(&out);
}

/* A copy of the objects on the way to the hint, with it told anew; the rest is shared.
 * NULL: no hint is there. */
static json_t *hinted(const struct mcp *m, const json_t *value, const char *const *way) {
    const json_t *next = json_object_get(value, *way);
    json_t *changed = NULL;
    if (way[1]) {
        changed = next ? hinted(m, next, way + 1) : NULL;
    } else if (json_is_string(next)) {
        autofree char *told = mcp_hint(m, json_string_value(next));
        changed = json_text(told, strlen(told));
    }
    json_t *copy = changed ? json_copy((json_t *)(uintptr_t)value) : NULL;
    if (changed) {
        json_object_set_new(copy, *way, changed);
    }
    return copy;
}

json_t *mcp_hinted_result(const struct mcp *m, const json_t *result) {
    static const char *const ways[][4] = {
        {"evaluation", "hint"},           /* what was made could not be measured */
        {"result", "evaluation", "hint"}, /* in a job */
        {"error", "data", "hint"},        /* a job that failed */
    };
    json_t *ret = json_incref((json_t *)(uintptr_t)result);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        json_t *told = hinted(m, ret, ways[i]);
        if (told) {
            json_decref(ret);
            ret = told;
        }
    }
    return ret;
}
