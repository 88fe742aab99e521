/* Answers that are made from a text: at once, or, from a long one, on another thread. */
#include "protocol/lsp/lsp_internal.h"

#include "base/buf.h"
#include "base/json_release.h"
#include "base/work.h"

/* Bytes of a text that is looked through at once: some three milliseconds. */
#define MAX_INLINE (8u << 10)

struct lsp_question {
    uv_loop_t *loop;
    TAILQ_ENTRY(lsp_question) link;
    struct lsp *lsp;                     /* NULL: it is being freed */
    const struct lsp_document *document; /* while it waits */
    struct rpc_call *call;               /* NULL: the answer is no longer wanted */
    struct lsp_client client;
    struct lsp_subject subject;
    lsp_make *make;
    char *answer; /* a JSON text; NULL: larger than a message may be */
};

static void question_free(struct lsp_question *q) {
    document_unref(q->subject.document);
    json_release(q->loop, q->subject.result);
    free(q->answer);
    free(q);
}

static void make_on_thread(void *data) {
    struct lsp_question *q = data;
    const struct document *d = q->subject.document;
    struct lines lines;
    lines_init(&lines, d->text, d->len);
    q->subject.view = (struct lsp_view){d->text, d->len, &lines};
    autojson *answer = q->make(&q->subject);
    autobuf text = BUF_INIT(FRAME_MAX_BODY);
    if (json_write(&text, answer ? answer : json_null()) == 0) {
        q->answer = buf_detach(&text);
    }
    lines_finish(&lines);
}

static void start_next(struct lsp *l);

static void on_made(void *data) {
    struct lsp_question *q = data;
    if (q->lsp) {
        q->lsp->answering = NULL;
        start_next(q->lsp);
    }
    if (q->call && q->answer) {
        rpc_reply_text(q->call, q->answer);
    } else if (q->call) {
        rpc_error(q->call, RPC_INTERNAL_ERROR, NULL,
                  "the answer is larger than a message may be");
    }
    question_free(q);
}

static void start_next(struct lsp *l) {
    struct lsp_question *q = TAILQ_FIRST(&l->questions);
    if (q && !l->answering) {
        TAILQ_REMOVE(&l->questions, q, link);
        l->answering = q;
        work_start(l->host->origin->loop, make_on_thread, on_made, q);
    }
}

/* Take one that waits off the list; the call is the caller's to end. */
static struct rpc_call *question_take(struct lsp_question *q) {
    struct rpc_call *call = q->call;
    TAILQ_REMOVE(&q->lsp->questions, q, link);
    question_free(q);
    return call;
}

static void on_cancelled(struct rpc_call *call, void *data) {
    struct lsp_question *q = data;
    if (q == q->lsp->answering) {
        q->call = NULL;
    } else {
        question_take(q);
    }
    rpc_error(call, RPC_REQUEST_CANCELLED, NULL, "cancelled");
}

static void question_start(const struct lsp_document *d, struct rpc_call *call,
                           const struct lsp_subject *subject, lsp_make *make) {
    struct lsp *l = d->lsp;
    struct lsp_question *q = xcalloc(1, sizeof *q);
    *q = (struct lsp_question){.loop = l->host->origin->loop,
                               .lsp = l,
                               .document = d,
                               .call = call,
                               .client = l->client,
                               .subject = *subject,
                               .make = make};
    q->subject.client = &q->client;
    document_ref(q->subject.document);
    json_incref(q->subject.result);
    TAILQ_INSERT_TAIL(&l->questions, q, link);
    rpc_call_on_cancel(call, on_cancelled, q);
    start_next(l);
}

void lsp_ask(struct lsp_document *d, struct rpc_call *call, size_t start, size_t end,
             lsp_make *make) {
    const struct lsp_subject subject = {.client = &d->lsp->client,
                                        .kind = d->kind,
                                        .document = lsp_document_snapshot(d),
                                        .view = lsp_document_view(d),
                                        .result = d->result,
                                        .start = start,
                                        .end = end};
    if (d->text.len <= MAX_INLINE) {
        rpc_reply(call, make(&subject));
    } else {
        question_start(d, call, &subject, make);
    }
}

void lsp_questions_end(struct lsp_document *d, bool drop) {
    struct lsp_question *q, *next;
    for (q = TAILQ_FIRST(&d->lsp->questions); q; q = next) {
        next = TAILQ_NEXT(q, link);
        if (q->document != d) {
            continue;
        }
        if (drop) {
            rpc_drop(question_take(q));
        } else {
            rpc_error(question_take(q), LSP_CONTENT_MODIFIED, NULL,
                      "the document changed");
        }
    }
}

void lsp_questions_free(struct lsp *l) {
    struct lsp_question *q = take(l->answering);
    if (q) {
        q->lsp = NULL;
    }
    if (q && q->call) {
        rpc_drop(take(q->call));
    }
}
