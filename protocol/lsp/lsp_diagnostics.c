/* When a document is checked, and who hears of the answer.
 *
 * open, save ---------------> full check ---+
 * change --> debounce --> quick check ------+--> publish, or answer the pulls
 *
 * At most one check runs per document, always for its present revision: an edit stops it,
 * and an answer that comes nevertheless finds no document to belong to. */
#include "protocol/lsp/lsp_internal.h"

#include "base/clock.h"
#include "base/file.h"

#include <stdio.h>

#define SHOW_PROGRESS_AFTER_MS 1000

struct lsp_check {
    struct document_check check;
    struct lsp_document *document; /* NULL: the answer is no longer wanted */
    struct lsp_progress *progress;
};

struct lsp_waiter {
    TAILQ_ENTRY(lsp_waiter) link;
    struct lsp_document *document;
    struct rpc_call *call;
    lsp_answer *answer;
};

static void answer_pull(struct lsp_document *d, struct rpc_call *call);

/* --- who waits --- */

static void waiter_cancelled(struct rpc_call *call, void *data) {
    struct lsp_waiter *w = data;
    TAILQ_REMOVE(&w->document->waiters, w, link);
    free(w);
    rpc_error(call, RPC_REQUEST_CANCELLED, NULL, "cancelled");
}

void lsp_wait(struct lsp_document *d, struct rpc_call *call, lsp_answer *answer) {
    struct lsp_waiter *w = xcalloc(1, sizeof *w);
    *w = (struct lsp_waiter){.document = d, .call = call, .answer = answer};
    TAILQ_INSERT_TAIL(&d->waiters, w, link);
    rpc_call_on_cancel(call, waiter_cancelled, w);
}

/* Take the first waiter off the list; the call is the caller's to end. */
static struct rpc_call *waiter_take(struct lsp_document *d, lsp_answer **ret_answer) {
    struct lsp_waiter *w = TAILQ_FIRST(&d->waiters);
    struct rpc_call *call = w->call;
    *ret_answer = w->answer;
    TAILQ_REMOVE(&d->waiters, w, link);
    free(w);
    rpc_call_on_cancel(call, NULL, NULL);
    return call;
}

static void pull_turn_away(struct rpc_call *call, bool retrigger, const char *why) {
    rpc_error(call, LSP_SERVER_CANCELLED,
              json_pack("{s:b}", "retriggerRequest", retrigger), "%s", why);
}

void lsp_waiters_end(struct lsp_document *d, bool drop) {
    while (!TAILQ_EMPTY(&d->waiters)) {
        lsp_answer *answer;
        struct rpc_call *call = waiter_take(d, &answer);
        if (drop) {
            rpc_drop(call);
        } else if (answer == answer_pull) {
            pull_turn_away(call, true, "the document changed");
        } else {
            rpc_error(call, LSP_CONTENT_MODIFIED, NULL, "the document changed");
        }
    }
    lsp_questions_end(d, drop);
}

/* The check has ended, with findings or without. Returns whether a pull was answered. */
static bool waiters_answer(struct lsp_document *d) {
    bool pulled = false;
    while (!TAILQ_EMPTY(&d->waiters)) {
        lsp_answer *answer;
        struct rpc_call *call = waiter_take(d, &answer);
        if (answer != answer_pull) {
            answer(d, call);
        } else if (lsp_document_judged(d)) {
            answer_pull(d, call);
            pulled = true;
        } else {
            pull_turn_away(call, false, "the check was stopped");
        }
    }
    return pulled;
}

/* --- answers --- */

void lsp_publish(struct lsp_document *d, json_t *diagnostics) {
    rpc_notify(d->lsp->peer, "textDocument/publishDiagnostics",
               json_pack("{s:s, s:o, s:o*}", "uri", d->uri, "diagnostics", diagnostics,
                         "version", d->versioned ? json_integer(d->version) : NULL));
}

/* New diagnostics of the present revision (stolen). Returns whether they differ. */
static bool set_diagnostics(struct lsp_document *d, json_t *diagnostics) {
    bool same = d->diagnostics && json_equal(d->diagnostics, diagnostics);
    json_decref(d->diagnostics);
    d->diagnostics = diagnostics;
    d->judged_revision = d->revision;
    if (!same) {
        d->result_id = ++d->lsp->last_result_id;
    }
    if (!d->lsp->client.pull) {
        lsp_publish(d, json_incref(diagnostics));
    }
    return !same;
}

/* A full check's facts (stolen). */
static void set_result(struct lsp_document *d, json_t *result) {
    bool same = d->result && json_equal(d->result, result);
    json_decref(d->result);
    d->result = result;
    if (same) {
        return;
    }
    if (d->kind->lenses && d->lsp->client.refresh_lenses) {
        lsp_tell(d->lsp, "workspace/codeLens/refresh", NULL);
    }
    if (d->kind->hints && d->lsp->client.refresh_hints) {
        lsp_tell(d->lsp, "workspace/inlayHint/refresh", NULL);
    }
}

/* The check's findings and an operation's become the document's. */
static bool join_findings(struct lsp_document *d) {
    json_decref(d->findings);
    d->findings = json_copy(d->checked);
    if (d->answered) {
        json_array_extend(d->findings, d->answered);
    }
    return set_diagnostics(d, lsp_diagnostics(d, d->findings));
}

void lsp_document_answered(struct lsp_document *d, json_t *findings, json_t *outcome) {
    bool same = !findings && !d->answered;
    bool same_lens = !outcome && !d->outcome;
    json_decref(d->answered);
    d->answered = findings;
    lsp_document_set_outcome(d, outcome);
    if (!same && d->checked && lsp_document_judged(d) && join_findings(d) &&
        d->lsp->client.pull && d->lsp->client.refresh_diagnostics) {
        lsp_tell(d->lsp, "workspace/diagnostic/refresh", NULL);
    }
    if (!same_lens && d->lsp->client.refresh_lenses) {
        lsp_tell(d->lsp, "workspace/codeLens/refresh", NULL);
    }
}

static void take_answer(struct lsp_document *d, json_t *findings, json_t *result,
                        bool full) {
    bool differs = false;
    if (full && result) {
        set_result(d, json_incref(result));
    }
    if (findings) {
        json_decref(d->checked);
        d->checked = json_incref(findings);
        differs = join_findings(d);
    }
    bool pulled = waiters_answer(d);
    if (full && differs && !pulled && d->lsp->client.pull &&
        d->lsp->client.refresh_diagnostics) {
        lsp_tell(d->lsp, "workspace/diagnostic/refresh", NULL);
    }
}

static void check_done(struct document_check *check, json_t *findings, json_t *result) {
    struct lsp_check *c = container_of(check, struct lsp_check, check);
    struct lsp_document *d = c->document;
    bool full = check->depth == DOCUMENT_FULL;
    if (d && check->notice) {
        lsp_notice(d->lsp, check->notice);
    }
    lsp_progress_end(c->progress);
    document_unref(check->document);
    json_decref(check->unsaved);
    free(c);
    if (d) {
        d->check = NULL;
        take_answer(d, findings, result, full);
    }
    json_decref(findings);
    json_decref(result);
}

/* --- checks --- */

static void check_stop_wanted(void *data) {
    struct lsp_check *c = data;
    if (c->check.cancel) {
        c->check.cancel(&c->check);
    }
}

static void check_show(struct lsp_check *c) {
    struct lsp_document *d = c->document;
    autofree char *title =
        xasprintf("Checking %s", path_basename(d->path ? d->path : d->uri));
    c->progress = lsp_progress_start(
        d->lsp, &(struct lsp_progress_options){.delay_ms = SHOW_PROGRESS_AFTER_MS,
                                               .title = title,
                                               .cancel = check_stop_wanted,
                                               .data = c});
}

void lsp_check_stop(struct lsp_document *d) {
    struct lsp_check *c = take(d->check);
    d->due_ms = 0;
    if (c) {
        c->document = NULL;
        lsp_progress_end(take(c->progress));
        check_stop_wanted(c);
    }
}

/* {path: text} of the others whose text is not their file's; NULL: none. */
static json_t *unsaved_beside(struct lsp_document *d) {
    json_t *unsaved = NULL;
    struct lsp_document *other;
    LIST_FOREACH(other, &d->lsp->documents, link) {
        if (other != d && other->unsaved && other->path && !other->lost) {
            const struct document *text = lsp_document_snapshot(other);
            unsaved = unsaved ? unsaved : json_object();
            json_object_set_new(unsaved, other->path, json_text(text->text, text->len));
        }
    }
    return unsaved;
}

void lsp_check_start(struct lsp_document *d, enum document_depth depth) {
    lsp_check_stop(d);
    struct lsp_check *c = xcalloc(1, sizeof *c);
    c->document = d;
    c->check = (struct document_check){
        .document = document_ref(lsp_document_snapshot(d)),
        .depth = depth,
        .origin = d->lsp->host->origin,
        .unsaved = unsaved_beside(d),
        .done = check_done,
    };
    d->check = c;
    check_show(c);
    d->lsp->due_changed(d->lsp);
    d->kind->check(&c->check);
}

void lsp_check_dependents(const struct lsp_document *changed) {
    struct lsp_document *d;
    LIST_FOREACH(d, &changed->lsp->documents, link) {
        if (d != changed && changed->path && !d->lost &&
            lsp_document_refers(d, changed->path)) {
            lsp_check_start(d, DOCUMENT_FULL);
        }
    }
}

void lsp_document_changed(struct lsp_document *d) {
    lsp_check_stop(d);
    lsp_waiters_end(d, false);
    json_decref(take(d->answered)); /* the next check's answer takes them away */
    lsp_document_set_outcome(d, NULL);
    if (d->lost) {
        d->judged_revision = d->revision; /* it is still too large */
    } else {
        d->due_ms = clock_ms() + d->lsp->host->settings->debounce_ms;
    }
    d->lsp->due_changed(d->lsp);
}

void lsp_document_lost(struct lsp_document *d, const char *why) {
    lsp_check_stop(d);
    json_decref(take(d->checked));
    json_decref(take(d->answered));
    lsp_document_set_outcome(d, NULL);
    json_decref(take(d->findings));
    json_decref(take(d->result));
    struct lsp_view view = lsp_document_view(d);
    set_diagnostics(d, json_pack("[{s:o, s:i, s:s, s:s, s:s}]", "range",
                                 lsp_range(LSP_UTF8, &view, 0, 0), "severity", 3, "code",
                                 "document_too_large", "source", d->lsp->host->name,
                                 "message", why));
}

uint64_t lsp_documents_due(const struct lsp *l) {
    uint64_t due = 0;
    const struct lsp_document *d;
    LIST_FOREACH(d, &l->documents, link) {
        if (d->due_ms && (!due || d->due_ms < due)) {
            due = d->due_ms;
        }
    }
    return due;
}

void lsp_documents_tick(struct lsp *l, uint64_t now) {
    struct lsp_document *d;
    LIST_FOREACH(d, &l->documents, link) {
        if (d->due_ms && d->due_ms <= now) {
            lsp_check_start(d, DOCUMENT_QUICK);
            lsp_check_dependents(d);
        }
    }
}

/* --- pull --- */

static void answer_pull(struct lsp_document *d, struct rpc_call *call) {
    char id[24];
    snprintf(id, sizeof id, "%llu", (unsigned long long)d->result_id);
    const char *known = json_get_string(rpc_call_params(call), "previousResultId", "");
    if (strcmp(known, id) == 0) {
        rpc_reply(call, json_pack("{s:s, s:s}", "kind", "unchanged", "resultId", id));
        return;
    }
    rpc_reply(call, json_pack("{s:s, s:s, s:O}", "kind", "full", "resultId", id, "items",
                              d->diagnostics));
}

void lsp_pull(struct lsp *l, struct rpc_call *call) {
    const json_t *document = json_object_get(rpc_call_params(call), "textDocument");
    const char *uri = json_get_string(document, "uri", NULL);
    if (!uri) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "textDocument.uri: expected a string");
        return;
    }
    struct lsp_document *d = lsp_document_find(l, uri);
    if (!d) {
        rpc_reply(call, json_pack("{s:s, s:[]}", "kind", "full", "items"));
    } else if (lsp_document_judged(d)) {
        answer_pull(d, call);
    } else {
        lsp_wait(d, call, answer_pull);
        if (!d->check) {
            lsp_check_start(d, d->due_ms ? DOCUMENT_QUICK : DOCUMENT_FULL);
        }
    }
}
