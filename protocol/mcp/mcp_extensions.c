/* Extensions: methods that a domain serves beyond those of the protocol, and the
 * questions that are put to them. */
#include "protocol/mcp/mcp_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct question {
    struct question *next; /* the face's, while the answer is wanted */
    struct mcp *mcp;
    struct rpc_call *call; /* NULL: cancelled, or the face is gone */
    enum mcp_era era;
    bool resource; /* params.uri names one that is to be read */
    json_t *params;
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

static void question_unlink(struct question *q) {
    struct question **at = &q->mcp->questions;
    while (*at != q) {
        at = &(*at)->next;
    }
    *at = q->next;
}

/* Whoever was asked still has it, and frees it by answering. */
static void question_forget(struct question *q) {
    struct rpc_call *call = take(q->call);
    question_unlink(q);
    rpc_drop(call);
}

static void on_cancelled(struct rpc_call *call, void *data) {
    (void)call;
    question_forget(data);
}

struct question *mcp_question_new(const struct mcp_message *msg, bool resource) {
    struct question *q = xcalloc(1, sizeof *q);
    *q = (struct question){
        .next = msg->mcp->questions,
        .mcp = msg->mcp,
        .call = msg->call,
        .era = msg->era,
        .resource = resource,
        .params =
            msg->params ? json_incref((json_t *)(uintptr_t)msg->params) : json_object(),
    };
    msg->mcp->questions = q;
    rpc_call_on_cancel(msg->call, on_cancelled, q);
    return q;
}

static void ask(const struct mcp_message *msg) {
    msg->extension_method->start(msg->extension->data, mcp_question_new(msg, false));
}

const json_t *question_params(const struct question *q) {
    return q->params;
}

/* Takes it out of the list; what is left is freed with question_free. */
static void question_close(struct question *q) {
    if (q->call) {
        question_unlink(q);
        rpc_call_on_cancel(q->call, NULL, NULL);
    }
}

static void question_free(struct question *q) {
    json_decref(q->params);
    free(q);
}

void question_answer(struct question *q, json_t *result) {
    question_close(q);
    if (q->call) {
        mcp_decorate(q->mcp, q->era, result, MCP_VOLATILE);
        rpc_reply(q->call, result);
    } else {
        json_decref(result);
    }
    question_free(q);
}

void question_refuse(struct question *q, int status, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    question_close(q);
    if (q->call && q->resource && status == -ENOENT) {
        mcp_refuse_uri(q->call, q->era, json_get_string(q->params, "uri", ""));
    } else if (q->call) {
        bool asker = status == -EINVAL || status == -ENOENT;
        rpc_error(q->call, asker ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR, NULL, "%s",
                  text);
    }
    question_free(q);
}

void mcp_questions_stop(struct mcp *m) {
    while (m->questions) {
        question_forget(m->questions);
    }
}
