/* Requests that wait until the provider they are for can answer. */
#include "protocol/mcp/mcp_internal.h"

struct mcp_wait {
    struct mcp_wait *next;  /* the face's, while the request is wanted */
    struct mcp_message msg; /* msg.call NULL: cancelled, or the face is gone */
    mcp_method_start *then;
};

static void wait_unlink(struct mcp_wait *w) {
    struct mcp_wait **at = &w->msg.mcp->waits;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
}

/* The provider still has it, and frees it by being ready. */
static void wait_forget(struct mcp_wait *w) {
    struct rpc_call *call = take(w->msg.call);
    wait_unlink(w);
    rpc_drop(call);
}

static void on_cancelled(struct rpc_call *call, void *data) {
    (void)call;
    wait_forget(data);
}

static void on_ready(void *arg) {
    struct mcp_wait *w = arg;
    if (w->msg.call) {
        wait_unlink(w);
        rpc_call_on_cancel(w->msg.call, NULL, NULL);
        w->then(&w->msg);
    }
    free(w);
}

void mcp_when_ready(const struct mcp_message *msg, provider_when_ready *when_ready,
                    void *data, mcp_method_start *then) {
    if (!when_ready) {
        then(msg);
        return;
    }
    struct mcp_wait *w = xcalloc(1, sizeof *w);
    *w = (struct mcp_wait){.next = msg->mcp->waits, .msg = *msg, .then = then};
    msg->mcp->waits = w;
    rpc_call_on_cancel(msg->call, on_cancelled, w);
    when_ready(data, on_ready, w);
}

void mcp_waits_stop(struct mcp *m) {
    while (m->waits) {
        wait_forget(m->waits);
    }
}
