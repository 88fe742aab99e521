#define LOG_MODULE "session"
#include "daemon/session.h"

#include "base/edit_distance.h"
#include "base/json_release.h"
#include "base/log.h"
#include "base/work.h"
#include "protocol/lsp/lsp.h"
#include "protocol/mcp/mcp.h"
#include "protocol/plain.h"

/* The time limit for input in one turn of the loop, so that timers and other events are
 * served. */
#define TURN_MS 4

/* With the maximum number of unanswered requests, reading waits this long for an answer.
 * Then it continues, because the next message may be needed for one, such as a
 * cancellation. */
#define FULL_MS 5000
#define LOOK_MS 2000

/* While answers wait for the reader nothing more is answered, but so much is still read
 * and kept: a client may write all its requests before it reads an answer. */
#define AHEAD_MOST (8u << 20)

struct session {
    uv_loop_t *loop;
    uv_idle_t later; /* continues with input that was too much for one turn */
    uv_timer_t full; /* while there is no room for requests */
    uv_timer_t look; /* while resources are subscribed to: files in folders within a
                        skill's are not watched */
    struct stdio_link *link;
    struct rpc_peer *peer;
    struct face_host host;
    session_ended *ended;
    struct plain *plain;
    struct mcp *mcp;
    struct lsp *lsp;
    bool input_ended;
    size_t ahead; /* bytes that were read while the peer took none */
    /* session_close: freed once all handles are closed and no thread parses for us. */
    bool closing, link_closed;
    struct rpc_parse *parsing; /* on a thread, or NULL */
    unsigned handles;          /* not closed yet */
    int link_status;
    void (*closed)(int status, void *data);
    void *closed_data;
};

static void end(struct session *s, int exit_code, bool waits) {
    s->ended(s->host.data, exit_code, waits);
}

/* --- messages --- */

static struct plain *plain(struct session *s) {
    return s->plain ? s->plain : (s->plain = plain_new(&s->host, s->peer));
}

static struct mcp *mcp(struct session *s) {
    return s->mcp ? s->mcp : (s->mcp = mcp_new(&s->host, s->peer));
}

static struct lsp *lsp(struct session *s) {
    return s->lsp ? s->lsp : (s->lsp = lsp_new(&s->host, s->peer));
}

static void on_look(uv_timer_t *timer) {
    struct session *s = container_of(timer, struct session, look);
    if (s->mcp) {
        mcp_resources_look(s->mcp);
    }
}

/* From the first request on that subscribes to anything; most clients never do. */
static void look_from_now(struct session *s, const char *method) {
    bool subscribes = strcmp(method, "resources/subscribe") == 0 ||
                      strcmp(method, "subscriptions/listen") == 0;
    if (subscribes && !uv_is_active((uv_handle_t *)&s->look)) {
        uv_timer_start(&s->look, on_look, LOOK_MS, LOOK_MS);
    }
}

static void on_request(struct rpc_call *call, void *data) {
    struct session *s = data;
    bool headers = rpc_call_mode(call) == FRAME_HEADERS;
    look_from_now(s, rpc_call_method(call));
    if (headers ? lsp_request(lsp(s), call) || plain_request(plain(s), call)
                : plain_request(plain(s), call) || mcp_request(mcp(s), call)) {
        return;
    }
    struct nearest_name near = {.said = rpc_call_method(call), .limit = 3};
    const struct operation_table *all = s->host.tables->operations;
    for (size_t i = 0; i < operation_count(all); i++) {
        nearest_name_try(&near, operation_at(all, i)->name);
    }
    rpc_error(call, RPC_METHOD_NOT_FOUND, NULL, "method not found: %.100s%s%s%s",
              near.said, near.best ? "; did you mean " : "", near.best ? near.best : "",
              near.best ? "?" : "");
}

static void on_notification(struct rpc_peer *, enum frame_mode mode, const char *method,
                            json_t *params, void *data) {
    struct session *s = data;
    if (mode == FRAME_HEADERS) {
        (void)(lsp_notification(lsp(s), method, params) ||
               plain_notification(plain(s), method, params));
    } else {
        (void)(plain_notification(plain(s), method, params) ||
               mcp_notification(mcp(s), method, params));
    }
}

static void on_send(struct rpc_peer *, char *bytes, size_t len, bool droppable,
                    void *data) {
    struct session *s = data;
    if (droppable && stdio_link_congested(s->link)) {
        free(bytes);
        return;
    }
    stdio_link_write(s->link, bytes, len);
}

/* --- large bodies are parsed on another thread --- */

static void run_parse(void *data) {
    const struct session *s = data;
    rpc_parse_run(s->parsing);
}

static void go_on(uv_idle_t *idle);
static void on_full(uv_timer_t *timer);

static void free_when_done(struct session *s) {
    if (!s->link_closed || s->handles || s->parsing) {
        return;
    }
    if (s->closed) {
        s->closed(s->link_status, s->closed_data);
    }
    free(s);
}

static int exit_code(const struct session *s) {
    return s->lsp ? lsp_exit_code(s->lsp) : 0;
}

/* The peer takes nothing for now. Go on in the next turn if all it needs is time. */
static void wait_for_peer(struct session *s) {
    bool congested = stdio_link_congested(s->link);
    if (congested && s->ahead < AHEAD_MOST) {
        stdio_link_resume(s->link);
    } else {
        stdio_link_pause(s->link);
    }
    if (congested) {
        log_debug("answers wait for the reader"); /* on_drained continues */
    } else if (rpc_peer_full(s->peer)) {
        uv_timer_start(&s->full, on_full, FULL_MS, 0);
    } else if (!s->parsing) {
        uv_idle_start(&s->later, go_on);
    }
}

/* Read on when the peer can take more. The end of the input counts when all that stood
 * before it was taken. */
static void settle(struct session *s) {
    if (s->closing) {
        return;
    }
    if (rpc_peer_busy(s->peer)) {
        wait_for_peer(s);
        return;
    }
    s->ahead = 0;
    stdio_link_resume(s->link);
    if (s->input_ended) {
        end(s, exit_code(s), true);
    }
}

static void go_on(uv_idle_t *idle) {
    struct session *s = container_of(idle, struct session, later);
    uv_idle_stop(idle);
    if (!stdio_link_congested(s->link)) {
        rpc_peer_resume(s->peer);
    }
    settle(s);
}

static void on_full(uv_timer_t *timer) {
    struct session *s = container_of(timer, struct session, full);
    log_debug("no request was answered for %d ms: more are refused", FULL_MS);
    rpc_peer_refuse(s->peer);
    settle(s);
}

static void on_room(struct rpc_peer *, void *data) {
    struct session *s = data;
    if (!s->closing) {
        uv_timer_stop(&s->full);
        uv_idle_start(&s->later, go_on);
    }
}

static bool on_enough(struct rpc_peer *, void *data) {
    const struct session *s = data;
    return stdio_link_congested(s->link) ||
           uv_hrtime() / 1000000 >= uv_now(s->loop) + TURN_MS;
}

static void parse_ran(void *data) {
    struct session *s = data;
    rpc_parse_done(take(s->parsing)); /* may start the next one */
    if (s->closing) {
        free_when_done(s);
    } else {
        settle(s);
    }
}

static void on_parse(struct rpc_peer *, struct rpc_parse *parse, void *data) {
    struct session *s = data;
    s->parsing = parse;
    work_start(s->loop, run_parse, parse_ran, s);
}

static void on_release(json_t *message, void *data) {
    const struct session *s = data;
    json_release(s->loop, message);
}

/* --- the connection --- */

static void on_bytes(struct stdio_link *, const char *bytes, size_t len, void *data) {
    struct session *s = data;
    s->ahead += rpc_peer_busy(s->peer) ? len : 0;
    rpc_feed(s->peer, bytes, len);
    if (!s->closing && rpc_peer_busy(s->peer)) {
        settle(s);
    }
}

static void on_drained(struct stdio_link *, void *data) {
    struct session *s = data;
    if (rpc_peer_busy(s->peer)) {
        uv_idle_start(&s->later, go_on);
    }
}

static void on_ended(struct stdio_link *, void *data) {
    struct session *s = data;
    log_debug("end of input");
    s->input_ended = true;
    rpc_feed_end(s->peer); /* the last message may lack its newline */
    settle(s);
}

static void on_broken(struct stdio_link *link, int status, void *data) {
    (void)link;
    struct session *s = data;
    log_debug("client gone status=%d", status);
    end(s, exit_code(s), false); /* the end of the link has the reason */
}

static void on_handle_closed(uv_handle_t *handle) {
    struct session *s = handle->data;
    s->handles--;
    free_when_done(s);
}

static void on_link_closed(int status, void *data) {
    struct session *s = data;
    s->link_closed = true;
    s->link_status = status;
    free_when_done(s);
}

int session_new(uv_loop_t *loop, int in_fd, int out_fd, const struct face_host *host,
                session_ended *ended, struct session **ret, struct err *err) {
    static const struct rpc_events peer_events = {
        .request = on_request,
        .notification = on_notification,
        .send = on_send,
        .parse = on_parse,
        .release = on_release,
        .enough = on_enough,
        .room = on_room,
    };
    static const struct stdio_link_events link_events = {
        .bytes = on_bytes, .ended = on_ended, .broken = on_broken, .drained = on_drained};
    struct session *s = xcalloc(1, sizeof *s);
    s->loop = loop;
    s->ended = ended;
    s->host = *host;
    s->peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &peer_events, s);
    int rc = stdio_link_new(loop, in_fd, out_fd, &link_events, s, &s->link, err);
    if (rc < 0) {
        rpc_peer_free(s->peer);
        free(s);
        return rc;
    }
    uv_idle_init(loop, &s->later);
    uv_timer_init(loop, &s->full);
    uv_timer_init(loop, &s->look);
    uv_unref((uv_handle_t *)&s->look);
    s->later.data = s->full.data = s->look.data = s;
    s->handles = 3;
    *ret = s;
    return 0;
}

bool session_is_flushing(const struct session *s) {
    return s->closing && !s->link_closed;
}

void session_resources_changed(struct session *s) {
    if (s->mcp) {
        mcp_resources_changed(s->mcp);
    }
}

void session_hurry(struct session *s, struct stdio_patience patience) {
    if (session_is_flushing(s)) {
        stdio_link_hurry(s->link, patience);
    }
}

void session_close(struct session *s, struct stdio_patience patience,
                   void (*closed)(int status, void *data), void *data) {
    s->closing = true;
    s->closed = closed;
    s->closed_data = data;
    if (s->mcp) {
        mcp_closing(s->mcp);
    }
    plain_free(s->plain);
    mcp_free(s->mcp);
    lsp_free(s->lsp);
    rpc_peer_free(s->peer);
    uv_close((uv_handle_t *)&s->later, on_handle_closed);
    uv_close((uv_handle_t *)&s->full, on_handle_closed);
    uv_close((uv_handle_t *)&s->look, on_handle_closed);
    stdio_link_close(s->link, patience, on_link_closed, s);
}
