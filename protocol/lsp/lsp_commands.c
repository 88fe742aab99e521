/* Operations as commands: one each ("upskilld.thing.check") with [params], and
 * "upskilld.run" with [operation, params, uri], which code lenses use: that one is about
 * a document, runs as a job, and its answer is shown there. */
#include "protocol/lsp/lsp_internal.h"

#include "protocol/plain.h"

#define PREFIX "upskilld."
#define RUN PREFIX "run"
#define SHOW_PROGRESS_AFTER_MS 1000

struct lsp_command {
    LIST_ENTRY(lsp_command) link;
    struct rpc_call *request;
    struct call *call;
    struct call_view view;
    struct lsp_progress *progress;
    struct lsp_document *document; /* whose lens it was, or NULL */
    uint64_t revision;             /* of the document, when it was clicked */
};

static char *command_name(const struct operation *op) {
    char *name = xasprintf(PREFIX "%s", op->name);
    for (char *at = name; *at; at++) {
        if (*at == '/') {
            *at = '.';
        }
    }
    return name;
}

json_t *lsp_command_names(const struct lsp *l) {
    const struct operation_table *table = l->host->tables->operations;
    json_t *names = json_pack("[s]", RUN);
    for (size_t i = 0; i < operation_count(table); i++) {
        autofree char *name = command_name(operation_at(table, i));
        json_array_append_new(names, json_string(name));
    }
    return names;
}

static const struct operation *operation_of_command(const struct operation_table *table,
                                                    const char *command) {
    for (size_t i = 0; i < operation_count(table); i++) {
        autofree char *name = command_name(operation_at(table, i));
        if (strcmp(name, command) == 0) {
            return operation_at(table, i);
        }
    }
    return NULL;
}

/* Take it out of the list and let go of everything but the request, which is returned. */
static struct rpc_call *command_finish(struct lsp_command *c) {
    struct rpc_call *request = c->request;
    LIST_REMOVE(c, link);
    call_detach(c->call, &c->view);
    lsp_progress_end(c->progress);
    call_unref(c->call);
    free(c);
    return request;
}

/* Cancels what runs; the caller ends the request. */
static struct rpc_call *command_abort(struct lsp_command *c) {
    struct call *call = call_ref(c->call);
    struct rpc_call *request = command_finish(c);
    call_cancel(call);
    call_unref(call);
    return request;
}

static void command_stop(struct lsp_command *c) {
    rpc_error(command_abort(c), RPC_REQUEST_CANCELLED, NULL, "cancelled");
}

static void request_cancelled(struct rpc_call *, void *data) {
    command_stop(data);
}

static void progress_cancelled(void *data) {
    struct lsp_command *c = data;
    rpc_call_on_cancel(c->request, NULL, NULL);
    command_stop(c);
}

/* Shows the kind's view of the answer, while the text is still the one it refers to. */
static void show_answer(const struct lsp_command *c, struct call *call) {
    struct lsp_document *d = c->document;
    json_t *findings = NULL, *outcome = NULL;
    if (!d || d->revision != c->revision || !d->kind->operation_outcome) {
        return;
    }
    d->kind->operation_outcome(lsp_document_snapshot(d), call_operation(call)->name,
                               call_result(call), &findings, &outcome);
    lsp_document_answered(d, findings, outcome);
}

static void call_over(struct call *call, void *data) {
    struct lsp_command *c = data;
    call_ref(call);
    rpc_call_on_cancel(c->request, NULL, NULL);
    if (call_state(call) == CALL_SUCCEEDED) {
        show_answer(c, call);
    }
    struct rpc_call *request = command_finish(c);
    if (call_state(call) == CALL_CANCELLED) {
        rpc_error(request, RPC_REQUEST_CANCELLED, NULL, "cancelled");
    } else {
        plain_answer(request, call);
    }
    call_unref(call);
}

/* The operation waits for something that this request cannot provide: it continues as a
 * job. */
static void hand_over(struct lsp_command *c) {
    struct call *call = call_ref(c->call);
    rpc_call_on_cancel(c->request, NULL, NULL);
    plain_answer_job(command_finish(c), call);
    call_unref(call);
}

static void call_moved(struct call *call, void *data) {
    struct lsp_command *c = data;
    if (call_state(call) == CALL_INPUT_REQUIRED) {
        hand_over(c);
    } else if (c->progress) {
        const struct call_progress *progress = call_progress(call);
        lsp_progress_report(c->progress, progress->done, progress->total,
                            progress->message);
    }
}

/* d: the document whose lens it was, or NULL. params is borrowed. */
static void command_start(struct lsp *l, struct rpc_call *request,
                          const struct operation *op, json_t *params,
                          struct lsp_document *d) {
    struct lsp_command *c = xcalloc(1, sizeof *c);
    bool at_once = d || op->flags & OPERATION_LONG;
    *c = (struct lsp_command){
        .request = request,
        .view = {.progress = call_moved, .end = call_over, .data = c},
        .document = d,
        .revision = d ? d->revision : 0,
    };
    LIST_INSERT_HEAD(&l->commands, c, link);
    c->progress = lsp_progress_start(
        l, &(struct lsp_progress_options){
               .token = json_object_get(rpc_call_params(request), "workDoneToken"),
               .delay_ms = at_once ? 0 : SHOW_PROGRESS_AFTER_MS,
               .title = op->title,
               .percent = at_once,
               .cancel = progress_cancelled,
               .data = c});
    c->call = call_start(op, json_incref(params), l->host->origin);
    if (d && !call_ended(c->call)) {
        call_keep(c->call);
    }
    call_attach(c->call, &c->view);
    rpc_call_on_cancel(request, request_cancelled, c);
    if (call_state(c->call) == CALL_INPUT_REQUIRED) {
        hand_over(c); /* it asked before there was a view */
    }
}

/* --- lenses --- */

json_t *lsp_lens_command(const struct lsp_subject *s, const json_t *lens) {
    const char *title = json_get_string(lens, "title", "");
    const char *operation = json_get_string(lens, "operation", NULL);
    if (!operation) {
        return json_pack("{s:s, s:s}", "title", title, "command", "");
    }
    return json_pack("{s:s, s:s, s:[s,O?,s]}", "title", title, "command", RUN,
                     "arguments", operation, json_object_get(lens, "params"),
                     s->document->uri);
}

void lsp_commands_forget(struct lsp *l, const struct lsp_document *d) {
    struct lsp_command *c;
    LIST_FOREACH(c, &l->commands, link) {
        if (c->document == d) {
            c->document = NULL;
        }
    }
}

static void lens_start(struct lsp *l, struct rpc_call *request,
                       const struct operation *op, json_t *params,
                       struct lsp_document *d) {
    autojson *own =
        d->kind->operation_params
            ? d->kind->operation_params(lsp_document_snapshot(d), op->name, params)
            : NULL;
    lsp_document_answered(d, NULL, NULL);
    command_start(l, request, op, own ? own : params, d);
}

/* The operation that a command names; *ret_params is borrowed and NULL when left out. */
static const struct operation *find_operation(struct lsp *l, const json_t *params,
                                              json_t **ret_params) {
    const struct operation_table *table = l->host->tables->operations;
    const json_t *arguments = json_object_get(params, "arguments");
    const char *command = json_get_string(params, "command", "");
    if (strcmp(command, RUN) != 0) {
        *ret_params = json_array_get(arguments, 0);
        return operation_of_command(table, command);
    }
    const char *name = json_string_value(json_array_get(arguments, 0));
    *ret_params = json_array_get(arguments, 1);
    return name ? operation_find(table, name) : NULL;
}

void lsp_execute_command(struct lsp *l, struct rpc_call *call) {
    const json_t *arguments = json_object_get(rpc_call_params(call), "arguments");
    const char *command = json_get_string(rpc_call_params(call), "command", "");
    json_t *params = NULL;
    const struct operation *op = find_operation(l, rpc_call_params(call), &params);
    if (!op) {
        const char *asked = json_string_value(json_array_get(arguments, 0));
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "unknown command \"%s%s%s\"", command,
                  asked ? " " : "", asked ? asked : "");
        return;
    }
    const char *uri = strcmp(command, RUN) == 0
                          ? json_string_value(json_array_get(arguments, 2))
                          : NULL;
    struct lsp_document *d = uri ? lsp_document_find(l, uri) : NULL;
    params = json_is_null(params) ? NULL : params;
    if (d && !d->lost && json_is_object(params)) {
        lens_start(l, call, op, params, d);
    } else {
        command_start(l, call, op, params, NULL);
    }
}

void lsp_commands_stop(struct lsp *l, bool drop) {
    struct lsp_command *c;
    while ((c = LIST_FIRST(&l->commands))) {
        rpc_call_on_cancel(c->request, NULL, NULL);
        struct rpc_call *request = command_abort(c);
        if (drop) {
            rpc_drop(request);
        } else {
            rpc_error(request, RPC_REQUEST_CANCELLED, NULL, "the server was shut down");
        }
    }
}
