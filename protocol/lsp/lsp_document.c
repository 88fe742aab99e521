#include "protocol/lsp/lsp_internal.h"

#include "base/mem.h"

#include <string.h>

void lsp_snapshot_drop(struct lsp_document *d) {
    if (d->snapshot) {
        document_unref(take(d->snapshot));
    }
}

const char *lsp_document_uri(const json_t *params) {
    return json_get_string(json_object_get(params, "textDocument"), "uri", NULL);
}

struct lsp_document *lsp_document_find(struct lsp *l, const char *uri) {
    for (struct lsp_document *d = l->documents; d; d = d->next) {
        if (strcmp(d->uri, uri) == 0) {
            return d;
        }
    }
    return NULL;
}

struct lsp_document *lsp_document_find_path(struct lsp *l, const char *path) {
    for (struct lsp_document *d = l->documents; d; d = d->next) {
        if (d->path && !d->lost && strcmp(d->path, path) == 0) {
            return d;
        }
    }
    return NULL;
}

struct document *lsp_document_snapshot(struct lsp_document *d) {
    if (!d->snapshot) {
        struct document *s = xcalloc(1, sizeof *s);
        s->uri = xstrdup(d->uri);
        s->path = d->path ? xstrdup(d->path) : NULL;
        s->language = xstrdup(d->language);
        s->version = d->version;
        s->text = xmalloc(d->text.len + 1);
        memcpy(s->text, d->text.text, d->text.len + 1);
        s->len = d->text.len;
        s->settings = json_incref(d->lsp->settings);
        s->outcome = json_incref(d->outcome);
        s->refs = 1;
        d->snapshot = s;
    }
    return d->snapshot;
}

struct lsp_view lsp_document_view(const struct lsp_document *d) {
    return lsp_text_view(&d->text);
}

void lsp_document_set_outcome(struct lsp_document *d, json_t *outcome) {
    lsp_snapshot_drop(d);
    json_decref(d->outcome);
    d->outcome = outcome;
}

bool lsp_document_judged(const struct lsp_document *d) {
    return d->diagnostics && d->judged_revision == d->revision;
}

struct lsp_document *lsp_request_document(struct lsp *l, struct rpc_call *call) {
    const char *uri = lsp_document_uri(rpc_call_params(call));
    if (!uri) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "textDocument.uri: expected a string");
        return NULL;
    }
    struct lsp_document *d = lsp_document_find(l, uri);
    if (!d || d->lost) {
        rpc_reply(call, NULL);
        return NULL;
    }
    return d;
}
