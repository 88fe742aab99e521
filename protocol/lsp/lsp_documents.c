/* Notifications that open, change, save and close an editor's documents. */
#include "protocol/lsp/lsp_internal.h"

#include "base/text.h"
#include "protocol/uri.h"

#define MAX_LANGUAGE 256u      /* bytes of a language's id */
#define MAX_MOVED (4ull << 30) /* bytes that one didChange may move: about a second */

static void document_free(struct lsp_document *d) {
    lsp_snapshot_drop(d);
    lsp_text_finish(&d->text);
    json_decref(d->checked);
    json_decref(d->answered);
    json_decref(d->outcome);
    json_decref(d->findings);
    json_decref(d->diagnostics);
    json_decref(d->result);
    free(d->uri);
    free(d->path);
    free(d->language);
    free(d);
}

static void document_remove(struct lsp_document *d) {
    struct lsp *l = d->lsp;
    lsp_commands_forget(l, d);
    LIST_REMOVE(d, link);
    l->document_count--;
    document_free(d);
}

/* The text is let go: it could only be kept up to date by holding all of it. */
static void document_lose(struct lsp_document *d, const char *why) {
    d->lost = true;
    lsp_snapshot_drop(d);
    lsp_text_finish(&d->text);
    lsp_text_init(&d->text, "", 0);
    lsp_document_lost(d, why);
}

static size_t open_bytes(const struct lsp *l) {
    size_t bytes = 0;
    const struct lsp_document *d;
    LIST_FOREACH(d, &l->documents, link) {
        bytes += d->text.len;
    }
    return bytes;
}

static void document_bound(struct lsp_document *d) {
    const struct face_settings *settings = d->lsp->host->settings;
    size_t all = open_bytes(d->lsp);
    char limit[TEXT_SIZE_MAX];
    autofree char *why = NULL;
    if (d->text.len > settings->max_document_bytes) {
        why = xasprintf(
            "this document is too large to be checked: %zu bytes, and the limit is %s",
            d->text.len, text_size(limit, settings->max_document_bytes));
    } else if (all > settings->max_open_bytes) {
        why = xasprintf("this document is not checked: the open documents have %zu bytes "
                        "together, and the limit is %s; close some and open it again",
                        all, text_size(limit, settings->max_open_bytes));
    }
    if (why) {
        document_lose(d, why);
    }
}

static void document_set_version(struct lsp_document *d, const json_t *item) {
    const json_t *version = json_object_get(item, "version");
    d->versioned = json_is_integer(version);
    d->version = json_integer_value(version);
}

static struct lsp_document *document_new(struct lsp *l, const struct document_kind *kind,
                                         const json_t *item, const json_t *text) {
    struct lsp_document *d = xcalloc(1, sizeof *d);
    const char *uri = json_get_string(item, "uri", "");
    *d = (struct lsp_document){
        .lsp = l,
        .kind = kind,
        .uri = xstrdup(uri),
        .path = uri_to_path(uri),
        .language = xstrdup(json_get_string(item, "languageId", "")),
        .revision = 1,
    };
    document_set_version(d, item);
    lsp_text_init(&d->text, json_string_value(text), json_string_length(text));
    TAILQ_INIT(&d->waiters);
    LIST_INSERT_HEAD(&l->documents, d, link);
    l->document_count++;
    return d;
}

/* The kind of a document, by its path or, without one, by language. */
static const struct document_kind *kind_of(struct lsp *l, const json_t *item) {
    autofree char *path = uri_to_path(json_get_string(item, "uri", ""));
    return document_kind_find(l->host->tables->kinds, path,
                              json_get_string(item, "languageId", ""));
}

/* drop: who waits gets no answer. */
static void document_forget(struct lsp_document *d, bool drop) {
    lsp_check_stop(d);
    lsp_waiters_end(d, drop);
    document_remove(d);
}

/* The one that a notification is about, or NULL. */
static struct lsp_document *document_of(struct lsp *l, const json_t *params) {
    const char *uri = lsp_document_uri(params);
    return uri ? lsp_document_find(l, uri) : NULL;
}

void lsp_did_open(struct lsp *l, const json_t *params) {
    const json_t *item = json_object_get(params, "textDocument");
    const json_t *text = json_object_get(item, "text");
    const char *uri = lsp_document_uri(params);
    if (!uri || !json_is_string(text)) {
        lsp_log(l, 2, "textDocument/didOpen without a uri or a text was ignored");
        return;
    }
    if (strlen(uri) > URI_MAX ||
        strlen(json_get_string(item, "languageId", "")) > MAX_LANGUAGE) {
        lsp_log(l, 2, "a document with an overlong uri or languageId was ignored");
        return;
    }
    struct lsp_document *open = lsp_document_find(l, uri);
    if (open) {
        document_forget(open, false);
    }
    const struct document_kind *kind = kind_of(l, item);
    if (!kind) {
        return;
    }
    const struct face_settings *settings = l->host->settings;
    if (l->document_count >= settings->max_documents) {
        lsp_log(l, 2, "%zu documents are open, which is the limit: no diagnostics for %s",
                l->document_count, uri);
        return;
    }
    struct lsp_document *d = document_new(l, kind, item, text);
    document_bound(d);
    if (!d->lost) {
        lsp_check_start(d, DOCUMENT_FULL);
    }
}

/* Returns false when the change cannot be understood; the text is then as it was. */
static bool apply_change(struct lsp_document *d, const json_t *change) {
    const json_t *text = json_object_get(change, "text");
    const json_t *range = json_object_get(change, "range");
    if (!json_is_string(text)) {
        return false;
    }
    const char *bytes = json_string_value(text);
    size_t len = json_string_length(text);
    if (!range || json_is_null(range)) {
        d->lost = false;
        lsp_text_finish(&d->text);
        lsp_text_init(&d->text, bytes, len);
        return true;
    }
    struct lsp_view view = lsp_document_view(d);
    size_t start, end;
    if (!lsp_read_range(d->lsp->client.encoding, &view, range, &start, &end)) {
        return false;
    }
    lsp_text_splice(&d->text, start, end, bytes, len);
    return true;
}

/* Each change moves the text after it: many changes in a large text take time
 * proportional to their product. */
static void apply_changes(struct lsp_document *d, const json_t *changes) {
    uint64_t moved = 0;
    json_each(changes, i, change) {
        bool part = json_is_object(json_object_get(change, "range"));
        if (d->lost && part) {
            continue;
        }
        moved += part ? d->text.len + d->text.lines.count * sizeof(size_t) : 0;
        if (part && moved > MAX_MOVED) {
            document_lose(d, "this document is not checked: too many changes came at "
                             "once; close it and open it again");
        } else if (!apply_change(d, change)) {
            lsp_log(d->lsp, 2, "a change of %s could not be understood and was ignored",
                    d->uri);
        } else {
            document_bound(d);
        }
    }
}

void lsp_did_change(struct lsp *l, const json_t *params) {
    struct lsp_document *d = document_of(l, params);
    if (!d) {
        return;
    }
    lsp_snapshot_drop(d);
    d->revision++;
    d->unsaved = true;
    document_set_version(d, json_object_get(params, "textDocument"));
    apply_changes(d, json_object_get(params, "contentChanges"));
    lsp_document_changed(d);
}

void lsp_did_save(struct lsp *l, const json_t *params) {
    struct lsp_document *d = document_of(l, params);
    if (d && !d->lost) {
        d->unsaved = false;
        lsp_check_start(d, DOCUMENT_FULL);
        lsp_check_dependents(d);
        if (l->client.refresh_lenses) {
            lsp_tell(l, "workspace/codeLens/refresh", NULL); /* a file may be new */
        }
    }
}

void lsp_did_close(struct lsp *l, const json_t *params) {
    struct lsp_document *d = document_of(l, params);
    if (!d) {
        return;
    }
    d->versioned = false;
    if (!l->client.pull) {
        lsp_publish(d, json_array());
    }
    document_forget(d, false);
}

void lsp_documents_free(struct lsp *l, bool drop) {
    while (!LIST_EMPTY(&l->documents)) {
        document_forget(LIST_FIRST(&l->documents), drop);
    }
}
