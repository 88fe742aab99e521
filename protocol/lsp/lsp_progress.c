/* One bar: delayed -> asked for (window/workDoneProgress/create) -> shown. With a token
 * of the client's own it is shown from the start. One that was asked for is begun and
 * ended even if the work ended meanwhile: Helix turns its spinner from the question on. */
#include "protocol/lsp/lsp_internal.h"

#include "base/clock.h"

#define REPORT_EVERY_MS 100

enum bar_state { BAR_DELAYED, BAR_ASKED, BAR_REFUSED, BAR_SHOWN };

struct lsp_progress {
    LIST_ENTRY(lsp_progress) link;
    struct lsp *lsp;
    json_t *token;
    enum bar_state state;
    uint64_t due_ms;            /* BAR_DELAYED: when to ask */
    struct rpc_request *asking; /* BAR_ASKED */
    bool ended;                 /* BAR_ASKED: its owner is gone */
    char *title;
    bool percent;
    int shown; /* the highest percentage so far */
    void (*cancel)(void *data);
    void *data;
    uint64_t reported_ms;
};

static void say(struct lsp_progress *p, json_t *value, bool droppable) {
    if (!p->lsp->peer) {
        json_decref(value);
        return;
    }
    (droppable ? rpc_notify_droppable
               : rpc_notify)(p->lsp->peer, "$/progress",
                             json_pack("{s:O, s:o}", "token", p->token, "value", value));
}

static void show(struct lsp_progress *p) {
    p->state = BAR_SHOWN;
    say(p,
        json_pack("{s:s, s:s, s:b, s:o*}", "kind", "begin", "title", p->title,
                  "cancellable", p->cancel != NULL, "percentage",
                  p->percent ? json_integer(0) : NULL),
        false);
}

static void asked(struct rpc_request *, int status, const json_t *, const json_t *error,
                  void *data) {
    struct lsp_progress *p = data;
    p->asking = NULL;
    p->state = BAR_REFUSED;
    if (status == 0 && !error) {
        show(p);
    }
    if (p->ended) {
        lsp_progress_end(p);
    }
}

static void ask(struct lsp_progress *p) {
    p->state = BAR_ASKED;
    p->asking = rpc_request_start(p->lsp->peer, "window/workDoneProgress/create",
                                  json_pack("{s:O}", "token", p->token), asked, p);
    if (!p->asking) {
        p->state = BAR_REFUSED;
    }
}

struct lsp_progress *lsp_progress_start(struct lsp *l,
                                        const struct lsp_progress_options *options) {
    bool given = json_is_string(options->token) || json_is_integer(options->token);
    if (!given && !l->client.progress) {
        return NULL;
    }
    struct lsp_progress *p = xcalloc(1, sizeof *p);
    *p = (struct lsp_progress){
        .lsp = l,
        .token = given ? json_deep_copy(options->token)
                       : json_sprintf("upskilld-%u", ++l->next_token),
        .title = xstrdup(options->title),
        .percent = options->percent,
        .cancel = options->cancel,
        .data = options->data,
    };
    LIST_INSERT_HEAD(&l->progress, p, link);
    if (given) {
        show(p);
    } else if (options->delay_ms) {
        p->due_ms = clock_ms() + options->delay_ms;
        l->due_changed(l);
    } else {
        ask(p);
    }
    return p;
}

void lsp_progress_report(struct lsp_progress *p, double done, double total,
                         const char *message) {
    uint64_t now = clock_ms();
    if (p->state != BAR_SHOWN || now < p->reported_ms + REPORT_EVERY_MS) {
        return;
    }
    p->reported_ms = now;
    bool counted = p->percent && total > 0 && done >= 0;
    int percent = !counted ? 0 : done >= total ? 100 : (int)(100 * done / total);
    /* The total may grow when it is better known; LSP wants none that falls. */
    p->shown = percent > p->shown ? percent : p->shown;
    say(p,
        json_pack("{s:s, s:o*, s:o*}", "kind", "report", "message",
                  message ? json_clean_z(message) : NULL, "percentage",
                  counted ? json_integer(p->shown) : NULL),
        true);
}

static void progress_drop(struct lsp_progress *p) {
    LIST_REMOVE(p, link);
    p->ended = false; /* the answer has nothing left to free */
    if (p->asking) {
        rpc_request_abandon(p->asking);
    }
    json_decref(p->token);
    free(p->title);
    free(p);
}

void lsp_progress_end(struct lsp_progress *p) {
    if (!p) {
        return;
    }
    if (p->asking) {
        p->ended = true;
        p->cancel = NULL;
        return;
    }
    if (p->state == BAR_SHOWN) {
        say(p, json_pack("{s:s}", "kind", "end"), false);
    }
    progress_drop(p);
}

void lsp_progress_cancelled(struct lsp *l, const json_t *token) {
    struct lsp_progress *p;
    LIST_FOREACH(p, &l->progress, link) {
        if (p->cancel && json_equal(p->token, token)) {
            p->cancel(p->data);
            return;
        }
    }
}

uint64_t lsp_progress_due(const struct lsp *l) {
    uint64_t due = 0;
    const struct lsp_progress *p;
    LIST_FOREACH(p, &l->progress, link) {
        if (p->state == BAR_DELAYED && (!due || p->due_ms < due)) {
            due = p->due_ms;
        }
    }
    return due;
}

void lsp_progress_tick(struct lsp *l, uint64_t now) {
    struct lsp_progress *p;
    LIST_FOREACH(p, &l->progress, link) {
        if (p->state == BAR_DELAYED && p->due_ms <= now) {
            ask(p);
        }
    }
}

void lsp_progress_free(struct lsp *l) {
    while (!LIST_EMPTY(&l->progress)) {
        progress_drop(LIST_FIRST(&l->progress));
    }
}
