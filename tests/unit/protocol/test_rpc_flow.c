/* How much a peer takes, and when. */
#include "tests/unit/protocol/rpc_end.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- no room --- */

static unsigned rooms;

static void on_room(struct rpc_peer *peer, void *data) {
    (void)peer, (void)data;
    rooms++;
}

static char *requests(int from, int to, const char *method) {
    struct buf out = BUF_INIT(4u << 20);
    for (int i = from; i < to; i++) {
        buf_addf(&out, "{\"id\":%d,\"method\":\"%s\",\"params\":[1]}\n", i, method);
    }
    return buf_detach(&out);
}

static unsigned errors_in(const struct end *end) {
    unsigned n = 0;
    for (const char *at = end->sent.data; at && (at = strstr(at, "\"error\"")); at++) {
        n++;
    }
    return n;
}

/* More requests than may be unanswered are read when there is room again, in their order;
 * or refused, when the host says so. */
Test(rpc_flow, a_peer_without_room_waits) {
    static struct rpc_call *calls[RPC_MAX_PENDING];
    struct end end;
    struct rpc_events patient_events = inline_events;
    patient_events.room = on_room;
    open_end(&end, &patient_events);
    rooms = 0;
    for (int i = 0; i < RPC_MAX_PENDING; i++) {
        cr_assert(not(rpc_peer_busy(end.peer)));
        autofree char *one = requests(i, i + 1, "hold");
        end.held_count = 0;
        feed(&end, one);
        calls[i] = end.held[0];
    }
    cr_assert(rpc_peer_full(end.peer));
    autofree char *more = requests(10000, 10003, "echo");
    feed(&end, more);
    rpc_peer_resume(end.peer);
    cr_assert(eq(sz, end.sent.len, (size_t)0), "nothing is taken, nothing refused");
    cr_assert(eq(uint, rooms, 0u));

    rpc_reply(calls[0], json_pack("[i]", 1));
    cr_assert(eq(uint, rooms, 1u));
    cr_assert(rpc_peer_busy(end.peer), "until it is resumed");
    rpc_peer_resume(end.peer);
    cr_assert(not(rpc_peer_busy(end.peer)), "what is answered at once takes no room");
    const char *all = RESULT("0") RESULT("10000") RESULT("10001") RESULT("10002");
    cr_assert_str_eq(end.sent.data, all);

    end.held_count = 0;
    autofree char *last = requests(20000, 20002, "hold");
    feed(&end, last);
    calls[0] = end.held[0];
    cr_assert(rpc_peer_full(end.peer));
    cr_assert(eq(uint, errors_in(&end), 0u));
    rpc_peer_refuse(end.peer);
    cr_assert(not(rpc_peer_busy(end.peer)));
    cr_assert(eq(uint, errors_in(&end), 1u));
    feed(&end, "{\"method\":\"is-read\"}\n");
    cr_assert(starts(end.told.data, "is-read"));
    for (int i = 0; i < RPC_MAX_PENDING; i++) {
        rpc_drop(calls[i]);
    }
    end.held_count = 0;
    cr_assert(eq(uint, rooms, 2u));
    autofree char *again = requests(30000, 30001, "echo");
    feed(&end, again);
    cr_assert(eq(uint, errors_in(&end), 1u));
    close_end(&end);
}

/* --- bodies parsed elsewhere --- */

static char *large_request(const char *id) {
    char head[64];
    snprintf(head, sizeof head, "{\"id\":%s,\"method\":\"echo\",\"params\":[\"", id);
    return repeat(head, "0123456789abcdef", RPC_INLINE_PARSE / 16, "\"]}\n");
}

Test(rpc_flow, a_large_body_is_parsed_elsewhere_and_the_order_is_kept) {
    struct end end;
    autofree char *large = large_request("\"big\"");
    open_end(&end, &threaded_events);
    feed(&end, large);
    cr_assert(rpc_peer_busy(end.peer));
    feed(&end, REQUEST("2") "\n");
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    struct rpc_parse *parse = take(end.parse);
    rpc_parse_run(parse);
    rpc_parse_done(parse);
    cr_assert(not(rpc_peer_busy(end.peer)));
    cr_assert(starts(end.sent.data, "{\"jsonrpc\":\"2.0\",\"id\":\"big\",\"result\":"));
    const char *tail = "\"]}\n" RESULT("2");
    cr_assert_str_eq(end.sent.data + end.sent.len - strlen(tail), tail);
    cr_assert(eq(uint, end.dropped, 3u),
              "the large one's body, call and result, no other");
    /* Two in a row; the peer goes while the second is under way. */
    feed(&end, large);
    feed(&end, large);
    parse = take(end.parse);
    rpc_parse_run(parse);
    rpc_parse_done(parse);
    cr_assert(rpc_peer_busy(end.peer));
    rpc_peer_free(end.peer);
    end.peer = NULL;
    rpc_parse_run(end.parse);
    rpc_parse_done(end.parse);
    close_end(&end);
}

/* --- no more than a turn can take --- */

static bool always_enough(struct rpc_peer *peer, void *data) {
    (void)peer, (void)data;
    return true;
}

/* Good messages, broken ones and junk, in both framings: one a turn, each answered as
 * when all come at once, and nothing is lost. */
Test(rpc_flow, a_host_that_has_enough_gets_the_rest_later) {
    static const char all[] =
        REQUEST("1") "\n{]\n" REQUEST("2") "\njunk\n[]\n"
                                           "Content-Length: 0\r\n\r\n" REQUEST("3") "\n";
    struct rpc_events slow_events = threaded_events;
    struct end whole, slow;
    slow_events.enough = always_enough;
    open_end(&whole, &threaded_events);
    open_end(&slow, &slow_events);
    feed(&whole, all);
    feed(&slow, all);
    unsigned turns = 1;
    for (size_t sent = 0; rpc_peer_busy(slow.peer); turns++) {
        cr_assert(slow.sent.len > sent, "turn %u brought nothing", turns);
        sent = slow.sent.len;
        feed(&slow, "\n"); /* what comes meanwhile waits */
        cr_assert(eq(sz, slow.sent.len, sent));
        rpc_peer_resume(slow.peer);
    }
    cr_assert_str_eq(slow.sent.data, whole.sent.data);
    cr_assert(starts(strstr(whole.sent.data, "\"id\":3"), "\"id\":3,\"result\""));
    cr_assert(gt(uint, turns, 6));
    rpc_peer_resume(slow.peer); /* nothing is held: no harm */
    close_end(&whole);
    close_end(&slow);
}
