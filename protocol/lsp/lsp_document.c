/* An open document: found by URI or path, and the snapshot that its kind reads. */
#include "protocol/lsp/lsp_internal.h"

void lsp_snapshot_drop(struct lsp_document *d) {
    document_unref(take(d->snapshot));
}

const char *lsp_document_uri(const json_t *params) {
    return json_get_string(json_object_get(params, "textDocument"), "uri", NULL);
}

struct lsp_document *lsp_document_find(struct lsp *l, const char *uri) {
    struct lsp_document *d;
    LIST_FOREACH(d, &l->documents, link) {
        if (strcmp(d->uri, uri) == 0) {
            break;
        }
    }
    return d;
}

struct lsp_document *lsp_document_find_path(struct lsp *l, const char *path) {
    struct lsp_document *d;
    LIST_FOREACH(d, &l->documents, link) {
        if (d->path && !d->lost && strcmp(d->path, path) == 0) {
            break;
        }
    }
    return d;
}

struct document *lsp_document_snapshot(struct lsp_document *d) {
    if (!d->snapshot) {
        struct document *s = d->snapshot = xcalloc(1, sizeof *s);
        *s = (struct document){.uri = xstrdup(d->uri),
                               .path = d->path ? xstrdup(d->path) : NULL,
                               .language = xstrdup(d->language),
                               .version = d->version,
                               .text = xmalloc(d->text.len + 1),
                               .len = d->text.len,
                               .settings = json_incref(d->lsp->settings),
                               .outcome = json_incref(d->outcome),
                               .refs = 1};
        memcpy(s->text, d->text.text, d->text.len + 1);
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
