/* Questions: requests that other code answers, or that must wait for a provider; and
 * extensions, whose methods are such requests. */
#include "protocol/mcp/mcp_internal.h"

#include "base/text.h"

struct question {
    LIST_ENTRY(question) link; /* the face's, while the answer is wanted */
    struct mcp_message msg;    /* msg.call NULL: cancelled, or the face is gone */
    json_t *params;            /* a reference */
    bool resource;             /* params.uri names one that is to be read */
    mcp_method_start *then;    /* of one that waits for a provider */
};

/* --- the table --- */

json_t *mcp_extensions_json(const struct mcp *m) {
    const struct extension *const *at = m->host->tables->extensions;
    json_t *all = json_object();
    for (; at && *at; at++) {
        json_t *settings = json_loads((*at)->settings, 0, NULL);
        json_object_set_new(all, (*at)->name, settings ? settings : json_object());
    }
    return all;
}

static void ask(const struct mcp_message *msg);

bool mcp_extension_find(struct mcp_message *msg, const char *name,
                        struct mcp_method *method) {
    const struct extension *const *at = msg->mcp->host->tables->extensions;
    for (; at && *at; at++) {
        for (size_t i = 0; i < (*at)->method_count; i++) {
            if (strcmp((*at)->methods[i].name, name) == 0) {
                msg->extension = *at;
                msg->extension_method = &(*at)->methods[i];
                *method = (struct mcp_method){.name = (*at)->methods[i].name,
                                              .eras = MCP_LEGACY | MCP_MODERN,
                                              .start = ask};
                return true;
            }
        }
    }
    return false;
}

/* --- questions --- */

/* The code that was asked still has it, and frees it by answering. */
static void question_forget(struct question *q) {
    LIST_REMOVE(q, link);
    rpc_drop(take(q->msg.call));
}

static void on_cancelled(struct rpc_call *, void *data) {
    question_forget(data);
}

static struct question *question_new(const struct mcp_message *msg) {
    struct question *q = xcalloc(1, sizeof *q);
    json_t *params = rpc_call_params(msg->call);
    *q = (struct question){.msg = *msg,
                           .params = msg->params ? json_incref(params) : json_object()};
    LIST_INSERT_HEAD(&msg->mcp->questions, q, link);
    rpc_call_on_cancel(msg->call, on_cancelled, q);
    return q;
}

struct question *mcp_question_new(const struct mcp_message *msg, bool resource) {
    struct question *q = question_new(msg);
    q->resource = resource;
    return q;
}

static void ask(const struct mcp_message *msg) {
    msg->extension_method->start(msg->extension->data, question_new(msg));
}

const json_t *question_params(const struct question *q) {
    return q->params;
}

/* Its request, which the caller ends; NULL: the answer is no longer wanted. question_free
 * frees the rest. */
static struct rpc_call *question_close(struct question *q) {
    if (q->msg.call) {
        LIST_REMOVE(q, link);
        rpc_call_on_cancel(q->msg.call, NULL, NULL);
    }
    return q->msg.call;
}

static void question_free(struct question *q) {
    json_decref(q->params);
    free(q);
}

void question_answer(struct question *q, json_t *result) {
    if (question_close(q)) {
        mcp_reply(&q->msg, result, MCP_VOLATILE);
    } else {
        json_decref(result);
    }
    question_free(q);
}

void question_refuse(struct question *q, int status, const char *fmt, ...) {
    char text[512];
    text_format(text, fmt);
    struct rpc_call *call = question_close(q);
    if (call && q->resource && status == -ENOENT) {
        mcp_refuse_uri(call, q->msg.era, json_get_string(q->params, "uri", ""));
    } else if (call) {
        mcp_refuse_status(&q->msg, status, text);
    }
    question_free(q);
}

static void on_ready(void *arg) {
    struct question *q = arg;
    if (question_close(q)) {
        q->then(&q->msg);
    }
    question_free(q);
}

void mcp_when_ready(const struct mcp_message *msg, provider_when_ready *when_ready,
                    void *data, mcp_method_start *then) {
    if (when_ready) {
        struct question *q = question_new(msg);
        q->then = then;
        when_ready(data, on_ready, q);
    } else {
        then(msg);
    }
}

void mcp_questions_stop(struct mcp *m) {
    while (!LIST_EMPTY(&m->questions)) {
        question_forget(LIST_FIRST(&m->questions));
    }
}
