/* A call as the result of tools/call: text for the model and, if configured, the same as
 * structured content for programs. */
#include "protocol/mcp/mcp_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/words.h"

#define MAX_DESCRIPTION (16u << 20) /* before it is cut to max_tool_text */
#define MAX_HINT (64u << 10)
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyz0123456789_/"

/* --- hints: "job/status tells more" names a method, "job_status" is its tool --- */

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

/* A method without a tool becomes a command in the agent's shell: "job/list" is
 * `upskillctl job list`. */
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

/* A copy of the objects on the path to the hint, with the hint rewritten; the rest is
 * shared. NULL: there is no hint. */
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

/* The result with its hints rewritten, a new reference; the same object if it has
 * none. */
static json_t *hinted_result(const struct mcp *m, const json_t *result) {
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

/* --- content --- */

static json_t *content_of(const char *text, size_t len) {
    return json_pack("[{s:s,s:o}]", "type", "text", "text", json_text(text, len));
}

static json_t *tool_result(json_t *content, bool is_error) {
    return json_pack("{s:o,s:b}", "content", content, "isError", is_error);
}

/* Revisions before 2025-06-18 do not know it. */
static bool wants_structured(const struct mcp *m, enum mcp_version version) {
    return version >= MCP_2025_06_18 && m->host->settings->structured;
}

/* structured is stolen. Legacy revisions take nothing but objects. */
static void add_structured(const struct mcp *m, json_t *result, enum mcp_version version,
                           json_t *structured) {
    if (structured && wants_structured(m, version) &&
        (version >= MCP_2026_07_28 || json_is_object(structured))) {
        json_object_set_new(result, "structuredContent", structured);
    } else {
        json_decref(structured);
    }
}

/* Content of at most max_tool_text bytes, with a last line that says what was cut. A
 * partial work order is useless: if it is not also sent as structured content, it is sent
 * whole. */
static json_t *bounded_content(const struct mcp *m, enum mcp_version version,
                               const struct buf *text, bool order) {
    size_t max = m->host->settings->max_tool_text;
    bool whole = order && !wants_structured(m, version);
    if ((whole || text->len <= max) && !text->full) {
        return content_of(text->data, text->len);
    }
    char note[160];
    int note_len = snprintf(
        note, sizeof note, "\n[cut: this text has %s%zu bytes%s]",
        text->full ? "more than " : "", text->len,
        wants_structured(m, version) ? "; structuredContent has the whole result" : "");
    size_t room = max > (size_t)note_len ? max - (size_t)note_len : 0;
    size_t kept = text_cut(text->data, text->len, room);
    autobuf cut = BUF_INIT(kept + (size_t)note_len);
    buf_add(&cut, text->data, kept);
    buf_add(&cut, note, (size_t)note_len);
    return content_of(cut.data, cut.len);
}

static void describe(struct buf *text, const struct operation *op, const json_t *result) {
    if (op && op->describe) {
        op->describe(result, text);
    } else {
        json_write(text, result);
    }
}

static const struct operation *operation_of(const struct mcp *m, const json_t *status) {
    const char *name = json_get_string(status, "operation", NULL);
    return name ? operation_find(m->host->tables->operations, name) : NULL;
}

/* Members one below the other: texts as they are, all else as JSON. */
static void describe_members(struct buf *text, const json_t *object) {
    json_each_member(object, key, value) {
        buf_addf(text, "\n%s: ", key);
        if (json_is_string(value)) {
            buf_add(text, json_string_value(value), json_string_length(value));
        } else {
            json_write(text, value);
        }
        buf_addc(text, '\n');
    }
}

/* hint: the failure's, from mcp_hint, or NULL. */
static void describe_failure(struct buf *text, const struct operation *op,
                             const struct call_failure *failure, const char *hint) {
    buf_adds(text, failure->message ? failure->message : "The call failed.");
    if (failure->path && *failure->path) {
        buf_addf(text, "\nParameter: %s", failure->path);
    }
    if (hint) {
        buf_addf(text, "\nHint: %s", hint);
    }
    if (failure->fault == CALL_BAD_PARAMS && op && op->example) {
        buf_addf(text, "\nExample of good arguments: %s", op->example);
    }
}

/* The error of a job's status, as jobs are stored: {"message", "data": {"reason", …}}.
 * Borrowed from it. */
static struct call_failure failure_of(const json_t *error) {
    const json_t *data = json_object_get(error, "data");
    const char *const fields[] = {
        json_get_string(error, "message", "The call failed."),
        json_get_string(data, "reason", NULL),
        json_get_string(data, "hint", NULL),
        json_get_string(data, "path", NULL),
    };
    return (struct call_failure){.fault = fields[3] ? CALL_BAD_PARAMS : CALL_INTERNAL,
                                 .message = (char *)(uintptr_t)fields[0],
                                 .reason = (char *)(uintptr_t)fields[1],
                                 .hint = (char *)(uintptr_t)fields[2],
                                 .path = (char *)(uintptr_t)fields[3]};
}

static void describe_stored_failure(struct buf *text, const struct mcp *m,
                                    const struct operation *op, const json_t *error) {
    const struct call_failure failure = failure_of(error);
    autofree char *hint = failure.hint ? mcp_hint(m, failure.hint) : NULL;
    describe_failure(text, op, &failure, hint);
    buf_addc(text, '\n');
}

/* A job's status: one line, then its outcome. A result is described by its operation's
 * function. */
static void describe_job(struct buf *text, const struct mcp *m, const json_t *status) {
    const json_t *error = json_object_get(status, "error");
    const json_t *result = json_object_get(status, "result");
    const json_t *order = json_object_get(status, "work_order");
    const json_t *partial = json_object_get(status, "partial");
    words_add(text,
              "Job {job|}: {state|}[{!result=*}[, {progress.done%.6g} of "
              "{progress.total%.6g}{?progress.total}][: {progress.message}]]\n",
              status);
    if (result) {
        describe(text, operation_of(m, status), result);
    }
    if (error) {
        describe_stored_failure(text, m, operation_of(m, status), error);
    }
    if (order) {
        buf_adds(text, "work_order: ");
        describe_members(text, order);
        buf_addc(text, '\n');
    }
    if (partial) {
        buf_adds(text, "partial: ");
        json_write(text, partial);
        buf_addc(text, '\n');
    }
}

static json_t *mcp_result_success(const struct mcp *m, enum mcp_version version,
                                  const struct operation *op, const json_t *result) {
    autobuf text = BUF_INIT(MAX_DESCRIPTION);
    json_t *told = hinted_result(m, result);
    if (op && strcmp(op->name, "job/status") == 0) {
        describe_job(&text, m, told);
    } else {
        describe(&text, op, told);
    }
    bool order = json_object_get(told, "work_order");
    json_t *all = tool_result(bounded_content(m, version, &text, order), false);
    add_structured(m, all, version, told);
    return all;
}

static json_t *mcp_result_failure(const struct mcp *m, enum mcp_version version,
                                  const struct operation *op,
                                  const struct call_failure *failure) {
    autobuf text = BUF_INIT(MAX_DESCRIPTION);
    autofree char *hint = failure->hint ? mcp_hint(m, failure->hint) : NULL;
    describe_failure(&text, op, failure, hint);
    json_t *all = tool_result(bounded_content(m, version, &text, false), true);
    add_structured(m, all, version,
                   json_pack("{s:{s:s*,s:s*,s:s*,s:s*}}", "error", "message",
                             failure->message, "reason", failure->reason, "hint", hint,
                             "path", failure->path));
    return all;
}

static json_t *mcp_result_cancelled(void) {
    static const char text[] = "The call was cancelled before it finished.";
    return tool_result(content_of(text, strlen(text)), true);
}

static json_t *stored_failure(const struct mcp *m, enum mcp_version version,
                              const struct operation *op, const json_t *error) {
    const struct call_failure failure = failure_of(error);
    return mcp_result_failure(m, version, op, &failure);
}

json_t *mcp_result_stored(const struct mcp *m, enum mcp_version version,
                          const json_t *status) {
    const struct operation *op = operation_of(m, status);
    const json_t *result = json_object_get(status, "result");
    const json_t *error = json_object_get(status, "error");
    if (result) {
        return mcp_result_success(m, version, op, result);
    }
    return error ? stored_failure(m, version, op, error) : mcp_result_cancelled();
}

json_t *mcp_result_ended(const struct mcp *m, enum mcp_version version,
                         const struct call *call) {
    switch (call_state(call)) {
    case CALL_SUCCEEDED:
        return mcp_result_success(m, version, call_operation(call), call_result(call));
    case CALL_FAILED:
        return mcp_result_failure(m, version, call_operation(call), call_failure(call));
    default:
        return mcp_result_cancelled();
    }
}

/* --- calls that go on --- */

static void describe_progress(struct buf *text, const struct call *call) {
    const struct call_progress *p = call_progress(call);
    buf_addf(text, "Still running after %llu s",
             (unsigned long long)((clock_ms() - call_started_ms(call)) / 1000));
    if (p->total > 0) {
        buf_addf(text, ", %.6g of %.6g", p->done, p->total);
    }
    if (p->message && *p->message) {
        buf_addf(text, ": %s", p->message);
    }
    buf_addc(text, '\n');
}

/* How to come back: named only when the tables have such tools. */
static void describe_return(struct buf *text, const struct mcp *m, const char *job,
                            bool waits) {
    const struct operation_table *ops = m->host->tables->operations;
    buf_addf(text, "It %s as job %s.", waits ? "waits for you" : "continues", job);
    if (!waits && operation_find_tool(ops, "job_status")) {
        buf_addf(text,
                 " Call job_status with {\"job\": \"%s\"} for its progress and its "
                 "result.",
                 job);
    }
    if (operation_find_tool(ops, "job_cancel")) {
        buf_adds(text, " job_cancel stops it.");
    }
    buf_addc(text, '\n');
}

json_t *mcp_result_running(const struct mcp *m, enum mcp_version version,
                           const struct call *call, const char *job) {
    autobuf text = BUF_INIT(MAX_DESCRIPTION);
    bool waits = call_state(call) == CALL_INPUT_REQUIRED;
    const json_t *extra = waits ? call_work_order(call) : call_partial(call);
    json_t *all = json_pack(
        "{s:s,s:s,s:o,s:O*}", "job", job, "state", call_state_name(call_state(call)),
        "progress", call_progress_json(call), waits ? "work_order" : "partial", extra);
    if (waits) {
        buf_adds(&text, "It needs something from you before it can continue.\n");
    } else {
        describe_progress(&text, call);
    }
    describe_return(&text, m, job, waits);
    if (extra) {
        if (waits) {
            buf_adds(&text, "What it needs:\n");
            describe_members(&text, extra);
        } else {
            buf_adds(&text, "Known so far: ");
            json_write(&text, extra);
        }
    }
    json_t *result = tool_result(bounded_content(m, version, &text, waits), false);
    add_structured(m, result, version, all);
    return result;
}
