#include "base/buf.h"
#include "base/shared_bytes.h"
#include "tests/unit/protocol/rpc_end.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What is sent for text, alone on a fresh connection, up to the message of an error
 * (whose wording is nobody's contract). */
static char *reply_to(const char *text, size_t len) {
    struct end end;
    open_end(&end, &inline_events);
    rpc_feed(end.peer, text, len);
    rpc_feed(end.peer, "\n", 1);
    char *message = strstr(end.sent.data, ",\"message\"");
    char *got = message ? xstrndup(end.sent.data, (size_t)(message - end.sent.data))
                        : xstrdup(end.sent.data);
    /* Whatever came: the next request is served. */
    buf_reset(&end.sent);
    feed(&end, "{\"jsonrpc\":\"2.0\",\"id\":\"after\",\"method\":\"echo\"}\n");
    cr_assert_str_eq(end.sent.data,
                     "{\"jsonrpc\":\"2.0\",\"id\":\"after\",\"result\":null}\n", "%.200s",
                     text);
    close_end(&end);
    return got;
}

static const struct {
    const char *row, *in, *want;
} hostile_rows[] = {
    {"broken JSON", "{\"id\":1,", ERROR("null", "-32700")},
    {"broken JSON", "{]", ERROR("null", "-32700")},
    {"broken JSON with trailing bytes", "{} {}", ERROR("null", "-32700")},
    {"junk line", "hello", ERROR("null", "-32700")},
    {"batch array", "[" REQUEST("1") "]", ERROR("null", "-32600")},
    {"id null", REQUEST("null"), ERROR("null", "-32600")},
    {"id of another type", REQUEST("true"), ERROR("null", "-32600")},
    {"id of another type", REQUEST("[1]"), ERROR("null", "-32600")},
    {"id of another type", REQUEST("{\"id\":1}"), ERROR("null", "-32600")},
    {"fractional id", REQUEST("1.5"), ERROR("null", "-32600")},
    {"fractional id", REQUEST("1e-1"), ERROR("null", "-32600")},
    {"id over 2^53", REQUEST("9007199254740993"), RESULT("9007199254740993")},
    {"id over 2^64", REQUEST("123456789012345678901234567890"),
     RESULT("123456789012345678901234567890")},
    {"id as real", REQUEST("1.0"), RESULT("1.0")},
    {"id with exponent", REQUEST("1.5e3"), RESULT("1.5e3")},
    {"id with exponent", REQUEST("100e-2"), RESULT("100e-2")},
    {"id with a huge exponent", REQUEST("1e400"), RESULT("1e400")},
    {"negative id", REQUEST("-3"), RESULT("-3")},
    {"id 0", REQUEST("0"), RESULT("0")},
    {"string id", REQUEST("\"9\""), RESULT("\"9\"")},
    {"empty string id", REQUEST("\"\""), RESULT("\"\"")},
    {"number id", REQUEST("9"), RESULT("9")},
    {"number that is none", REQUEST("01"), ERROR("null", "-32700")},
    {"duplicate key id: the last wins",
     "{\"id\":1,\"method\":\"echo\",\"params\":[1],\"id\":2}", RESULT("2")},
    {"duplicate key id", "{\"id\":1,\"method\":\"echo\",\"id\":null}",
     ERROR("null", "-32600")},
    {"duplicate key id",
     "{\"id\":1e400,\"method\":\"echo\",\"params\":[1],\"\\u0069d\":3}", RESULT("3")},
    {"id inside params is another",
     "{\"params\":{\"id\":5},\"id\":6,\"method\":\"echo\"}",
     "{\"jsonrpc\":\"2.0\",\"id\":6,\"result\":{\"id\":5}}\n"},
    {"lone surrogate", REQUEST("\"\\ud800\""), RESULT("\"\xEF\xBF\xBD\"")},
    {"invalid UTF-8", REQUEST("\"\xff\""), RESULT("\"\xEF\xBF\xBD\"")},
    {"invalid UTF-8", REQUEST("\"\x80\""), RESULT("\"\xEF\xBF\xBD\"")},
    {"CRLF", REQUEST("1") "\r", RESULT("1")},
    {"blank line", "\r\n \n" REQUEST("1"), RESULT("1")},
    {"missing jsonrpc", "{\"id\":1,\"method\":\"echo\",\"params\":[1]}", RESULT("1")},
    {"wrong jsonrpc", "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"echo\"}",
     ERROR("1", "-32600")},
    {"jsonrpc comes last",
     "{\"method\":\"echo\",\"params\":[1],\"id\":0,\"jsonrpc\":\"2.0\"}", RESULT("0")},
    {"params null", "{\"id\":1,\"method\":\"echo\",\"params\":null}",
     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}\n"},
    {"params of another type", "{\"id\":1,\"method\":\"echo\",\"params\":\"x\"}",
     ERROR("1", "-32600")},
    {"method of another type", "{\"id\":1,\"method\":1}", ERROR("1", "-32600")},
    {"method with U+0000", "{\"id\":1,\"method\":\"a\\u0000b\"}", ERROR("1", "-32600")},
    {"unknown method", "{\"id\":1,\"method\":\"nope\"}", ERROR("1", "-32601")},
    {"neither method nor result", "{\"id\":\"a\"}", ERROR("\"a\"", "-32600")},
    {"neither method nor result", "{}", ERROR("null", "-32600")},
    {"response to nothing", "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":1}", ""},
    {"response without id", "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":1}}", ""},
    {"unknown notification", "{\"method\":\"nope\"}", ""},
    {"negative length", "Content-Length: -1\r\n\r\n", "Content-Length: "},
};

/* The hostile-input table, row by row; expectations from JSON-RPC 2.0 and MCP's schema.
 */
Test(rpc, every_hostile_input_has_its_answer) {
    for (size_t i = 0; i < ARRAY_LEN(hostile_rows); i++) {
        autofree char *got = reply_to(hostile_rows[i].in, strlen(hostile_rows[i].in));
        size_t n =
            strncmp(hostile_rows[i].want, "Content", 7) == 0 ? 16 : strlen(got) + 1;
        cr_assert_eq(strncmp(got, hostile_rows[i].want, n), 0, "%s\n%s\ngave %s",
                     hostile_rows[i].row, hostile_rows[i].in, got);
    }
}

Test(rpc, depth_and_size_have_limits_and_the_answer_names_the_id) {
    autofree char *deep =
        repeat("{\"id\":1,\"method\":\"echo\",\"params\":", "[", 100000, "");
    autofree char *got = reply_to(deep, strlen(deep));
    cr_assert_str_eq(got, ERROR("null", "-32700"));

    autofree char *large = repeat("{\"id\":\"big\",\"method\":\"echo\",\"params\":[\"",
                                  "0123456789abcdef", FRAME_MAX_BODY / 16, "\"]}");
    autofree char *refused = reply_to(large, strlen(large));
    cr_assert_str_eq(refused, ERROR("\"big\"", "-32600"));

    autofree char *late =
        repeat("{\"method\":\"echo\",\"params\":[\"", "0123456789abcdef",
               FRAME_MAX_BODY / 16, "\"],\"id\":1}");
    autofree char *unnamed = reply_to(late, strlen(late));
    cr_assert_str_eq(unnamed, ERROR("null", "-32600"));

    autofree char *id = repeat("{\"method\":\"echo\",\"id\":\"", "x", 1023, "\"}");
    autofree char *too_long = reply_to(id, strlen(id));
    cr_assert_str_eq(too_long, ERROR("null", "-32600"));
    autofree char *digits = repeat("{\"method\":\"echo\",\"id\":", "1", 1025, "}");
    autofree char *too_many = reply_to(digits, strlen(digits));
    cr_assert_str_eq(too_many, ERROR("null", "-32600"));
}

/* MCP from 2026-07-28 on has no null ids. */
Test(rpc, an_id_that_cannot_be_read_may_be_left_out) {
    struct end end;
    open_end(&end, &inline_events);
    rpc_peer_omit_null_id(end.peer, true);
    feed(&end, "{]\n");
    cr_assert(starts(end.sent.data, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700"),
              "%s", end.sent.data);
    close_end(&end);
}

Test(rpc, a_response_leaves_in_the_framing_of_its_request) {
    struct end end;
    open_end(&end, &inline_events);
    feed(&end, "Content-Length: 27\r\n\r\n{\"id\":1,\"method\":\"hold\"}  \n");
    feed(&end, "{\"id\":2,\"method\":\"echo\"}\n");
    rpc_reply(end.held[--end.held_count], json_true());
    rpc_notify(end.peer, "n", NULL);
    cr_assert_str_eq(
        end.sent.data,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}\n"
        "Content-Length: 38\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":true}"
        "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}\n");
    close_end(&end);
}

Test(rpc, a_result_that_is_a_text_goes_as_others_do) {
    struct end end;
    open_end(&end, &inline_events);
    rpc_peer_allow_batches(end.peer, true);
    feed(&end, "{\"id\":1,\"method\":\"hold\"}\n[{\"id\":2,\"method\":\"hold\"}]\n"
               "Content-Length: 24\r\n\r\n{\"id\":3,\"method\":\"hold\"}");
    for (size_t i = 0; i < end.held_count; i++) {
        rpc_reply_text(end.held[i], "{\"a\":[]}");
    }
    end.held_count = 0;
    cr_assert_str_eq(
        end.sent.data,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":[]}}\n"
        "[{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\":[]}}]\n"
        "Content-Length: 42\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":[]}}");
    close_end(&end);
}

Test(rpc, string_and_number_ids_are_distinct_and_a_duplicate_in_flight_is_refused) {
    struct end end;
    open_end(&end, &inline_events);
    feed(&end, "{\"id\":9,\"method\":\"hold\"}\n{\"id\":\"9\",\"method\":\"hold\"}\n");
    cr_assert(eq(sz, end.held_count, (size_t)2));
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    feed(&end, "{\"id\":\"\\u0039\",\"method\":\"hold\"}\n");
    cr_assert_not_null(strstr(end.sent.data, ERROR("\"9\"", "-32600")), "%s",
                       end.sent.data);
    buf_reset(&end.sent);
    rpc_reply(end.held[0], json_integer(1));
    rpc_reply(end.held[1], json_integer(2));
    end.held_count = 0;
    cr_assert_str_eq(end.sent.data, "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":1}\n"
                                    "{\"jsonrpc\":\"2.0\",\"id\":\"9\",\"result\":2}\n");
    buf_reset(&end.sent);
    feed(&end, REQUEST("9") "\n"); /* free again */
    cr_assert_str_eq(end.sent.data, RESULT("9"));
    close_end(&end);
}

Test(rpc, too_many_unanswered_requests_are_refused_and_the_rest_served) {
    static struct rpc_call *calls[RPC_MAX_PENDING];
    struct end end;
    open_end(&end, &inline_events);
    for (int i = 0; i < RPC_MAX_PENDING; i++) {
        char text[64];
        snprintf(text, sizeof text, "{\"id\":%d,\"method\":\"hold\"}\n", i);
        feed(&end, text);
        calls[i] = end.held[--end.held_count];
    }
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    feed(&end, REQUEST("\"one more\"") "\n");
    cr_assert_not_null(strstr(end.sent.data, ERROR("\"one more\"", "-32603")));
    rpc_reply(calls[17], NULL);
    buf_reset(&end.sent);
    feed(&end, REQUEST("1000000") "\n");
    cr_assert_str_eq(end.sent.data, RESULT("1000000"));
    for (int i = 0; i < RPC_MAX_PENDING; i++) {
        if (i != 17) {
            rpc_drop(calls[i]);
        }
    }
    close_end(&end);
}

Test(rpc, unanswered_requests_may_hold_so_much_and_no_more) {
    struct rpc_call *calls[4];
    struct end end;
    open_end(&end, &inline_events);
    for (int i = 0; i < 4; i++) {
        char head[64];
        snprintf(head, sizeof head, "{\"id\":%d,\"method\":\"hold\"", i);
        autofree char *text = repeat(head, "        ", FRAME_MAX_BODY / 8 - 8, "}\n");
        feed(&end, text);
        calls[i] = end.held[--end.held_count];
    }
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    autofree char *more = repeat("{\"id\":4,\"method\":\"hold\"", " ", 1000, "}\n");
    feed(&end, more);
    cr_assert_not_null(strstr(end.sent.data, ERROR("4", "-32603")));
    rpc_reply(calls[0], NULL);
    buf_reset(&end.sent);
    feed(&end, REQUEST("5") "\n");
    cr_assert_str_eq(end.sent.data, RESULT("5"));
    for (int i = 1; i < 4; i++) {
        rpc_drop(calls[i]);
    }
    close_end(&end);
}

Test(rpc, a_batch_is_answered_as_one_when_all_its_calls_are) {
    struct end end;
    open_end(&end, &inline_events);
    rpc_peer_allow_batches(end.peer, true);
    feed(&end,
         "[" REQUEST(
             "1") ",{\"method\":\"note\"},{\"id\":2,\"method\":\"hold\"},7,"
                  "{\"id\":1e2,\"method\":\"echo\"},{\"id\":3,\"method\":\"drop\"}]\n");
    cr_assert(eq(sz, end.sent.len, (size_t)0), "waits for the one that is held");
    cr_assert_str_eq(end.told.data, "note ;");
    rpc_reply(end.held[--end.held_count], json_true());
    char *error = strstr(end.sent.data,
                         "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600");
    cr_assert_not_null(error, "%s", end.sent.data);
    cr_assert(starts(end.sent.data, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[1]},"));
    const char *tail = ",{\"jsonrpc\":\"2.0\",\"id\":1e2,\"result\":null},"
                       "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":true}]\n";
    cr_assert_str_eq(end.sent.data + end.sent.len - strlen(tail), tail);
    buf_reset(&end.sent);
    feed(&end, "[{\"method\":\"note\"}]\n");
    cr_assert(eq(sz, end.sent.len, (size_t)0), "notifications give nothing");
    feed(&end, "[]\n");
    cr_assert(starts(end.sent.data, ERROR("null", "-32600")), "%s", end.sent.data);
    buf_reset(&end.sent);
    autofree char *long_batch = repeat("[1", ",1", 2000, "]\n");
    feed(&end, long_batch);
    cr_assert(starts(end.sent.data, ERROR("null", "-32600")));
    buf_reset(&end.sent);
    feed(&end, "[{\"id\":5,\"method\":\"hold\"}]\n"); /* left open when the peer goes */
    close_end(&end);
}

Test(rpc, cancelling_reaches_the_call_once_and_only_while_it_runs) {
    struct end end;
    open_end(&end, &inline_events);
    json_t *number = json_integer(1), *text = json_string("a"), *real = json_real(1000.0);
    feed(&end, "{\"id\":1,\"method\":\"hold\"}\n{\"id\":\"a\",\"method\":\"hold\"}\n"
               "{\"id\":1e3,\"method\":\"hold\"}\n");
    rpc_cancel(end.peer, number);
    rpc_cancel(end.peer, number);
    cr_assert(eq(uint, end.cancelled, 1));
    cr_assert(eq(ptr, end.last_cancelled, end.held[0]));
    rpc_cancel(end.peer, text);
    rpc_cancel(end.peer, real);
    cr_assert(eq(uint, end.cancelled, 3));
    /* Cancelled and finished: one reply when the owner replies, none when it drops. */
    rpc_reply(end.held[0], json_true());
    rpc_drop(end.held[1]);
    rpc_error(end.held[2], RPC_REQUEST_CANCELLED, NULL, "cancelled");
    end.held_count = 0;
    cr_assert_str_eq(
        end.sent.data,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":true}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1e3,\"error\":{\"code\":-32800,\"message\":"
        "\"cancelled\"}}\n");
    rpc_cancel(end.peer, number);
    rpc_cancel(end.peer, NULL);
    cr_assert(eq(uint, end.cancelled, 3));
    json_decref(number), json_decref(text), json_decref(real);
    close_end(&end);
}

Test(rpc, a_peer_may_go_at_any_time_and_late_answers_go_nowhere) {
    struct end end;
    open_end(&end, &inline_events);
    feed(&end, "{\"id\":1,\"method\":\"hold\"}\n{\"id\":2,\"method\":\"hold\"}\n"
               "{\"id\":3,\"method\":\"hold\"}\n");
    rpc_peer_free(end.peer);
    cr_assert(eq(uint, end.cancelled, 3));
    cr_assert(zero(ptr, rpc_call_peer(end.held[0])));
    rpc_reply(end.held[0], json_true());
    rpc_error(end.held[1], 1, json_object(), "late");
    rpc_reply_text(end.held[2], "{}");
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    end.held_count = 0;
    for (int id = 0; id < 200; id++) { /* whatever their ids are */
        char hold[64];
        snprintf(hold, sizeof hold, "{\"id\":%d,\"method\":\"hold\"}\n", id);
        end.peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &inline_events, &end);
        end.cancelled = 0;
        feed(&end, hold);
        rpc_peer_free(end.peer);
        cr_assert(eq(uint, end.cancelled, 1), "%d", id);
        rpc_drop(end.held[0]);
        end.held_count = 0;
    }
    /* From inside a request; what stands behind it in the same bytes is not read. */
    end.peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &inline_events, &end);
    feed(&end, "{\"id\":1,\"method\":\"free\"}\n{\"id\":2,\"method\":\"echo\"}\n");
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    /* From inside a batch. */
    end.peer = rpc_peer_new(FRAME_LINES, FRAME_MAX_BODY, &inline_events, &end);
    rpc_peer_allow_batches(end.peer, true);
    feed(&end, "[" REQUEST("1") ",{\"id\":2,\"method\":\"free\"}," REQUEST("3") "]\n");
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    end.peer = NULL;
    close_end(&end);
}

/* --- requests that go out --- */

struct outcome {
    unsigned count;
    int status;
    char text[128];
};

static void on_response(struct rpc_request *request, int status, const json_t *result,
                        const json_t *error, void *data) {
    struct outcome *o = data;
    autobuf text = BUF_INIT(128);
    (void)request;
    o->count++;
    o->status = status;
    json_write(&text, result ? result : error ? error : json_null());
    snprintf(o->text, sizeof o->text, "%s%s",
             error                  ? "error "
             : json_is_null(result) ? "result "
                                    : "",
             text.data);
}

Test(rpc, each_outgoing_request_ends_exactly_once) {
    struct end end;
    struct outcome o[6] = {0};
    struct rpc_request *r[6];
    open_end(&end, &inline_events);
    for (int i = 0; i < 6; i++) {
        r[i] = rpc_request_start(end.peer, "ask", i ? NULL : json_pack("{s:i}", "a", 1),
                                 on_response, &o[i]);
    }
    cr_assert(
        starts(end.sent.data,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ask\",\"params\":{\"a\":1}}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ask\"}\n"),
        "%s", end.sent.data);
    feed(&end, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":5,\"message\":\"m\"}}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[7],\"error\":null}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[8]}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":\"3\",\"result\":1}\n"
               "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":\"odd\"}\n");
    cr_assert_str_eq(o[0].text, "[7]");
    cr_assert_str_eq(o[1].text, "error {\"code\":5,\"message\":\"m\"}");
    cr_assert(starts(o[2].text, "error {\"code\":-32603"));
    struct outcome nothing = {0};
    struct rpc_request *last =
        rpc_request_start(end.peer, "ask", NULL, on_response, &nothing);
    cr_assert(eq(i64, rpc_request_id(last), 7));
    feed(&end, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":null}\n");
    cr_assert_str_eq(nothing.text, "result null", "a success has a result");
    rpc_request_abandon(r[3]);
    cr_assert(eq(int, o[3].status, -ECANCELED));
    feed(&end, "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":1}\n");
    autofree char *large = repeat("{\"id\":5,\"result\":\"", "0123456789abcdef",
                                  FRAME_MAX_BODY / 16, "\"}\n");
    buf_reset(&end.sent);
    feed(&end, large);
    cr_assert(eq(int, o[4].status, -EMSGSIZE),
              "an answer too large to read still ends it");
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    rpc_peer_free(end.peer);
    end.peer = NULL;
    cr_assert(eq(int, o[5].status, -ECANCELED));
    for (int i = 0; i < 6; i++) {
        cr_assert(eq(uint, o[i].count, 1));
    }
    close_end(&end);
}

/* --- attachments --- */

static struct shared_bytes *bytes_of(const char *text, size_t len) {
    struct buf bytes = BUF_INIT(SIZE_MAX / 4);
    buf_add(&bytes, text, len);
    return shared_bytes_new(&bytes);
}

Test(rpc, what_is_attached_is_sent_from_where_it_is) {
    struct shared_bytes *bytes = bytes_of("any {bytes\n", 11);
    struct end end;
    struct outcome o = {0};
    open_end(&end, &inline_events);
    cr_assert(not(
        zero(ptr, rpc_request_start_attached(end.peer, "run", json_pack("{s:i}", "n", 1),
                                             bytes, on_response, &o))));
    cr_assert_str_eq(
        end.sent.data,
        "Content-Length: 56\r\nAttachment-Length: 11\r\n\r\n"
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run\",\"params\":{\"n\":1}}"
        "any {bytes\n");
    cr_assert(eq(ptr, (void *)(uintptr_t)end.borrowed, bytes->data));
    feed(&end, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}\n");
    cr_assert_str_eq(o.text, "7");
    shared_bytes_unref(bytes);
    close_end(&end);
}

Test(rpc, nothing_and_too_much_cannot_be_attached) {
    autofree char *many = xcalloc(1, FRAME_MAX_BODY + 1);
    static const size_t lengths[] = {0, FRAME_MAX_BODY, FRAME_MAX_BODY + 1};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        struct shared_bytes *bytes = bytes_of(many, lengths[i]);
        struct end end;
        struct outcome o = {0};
        open_end(&end, &inline_events);
        struct rpc_request *r =
            rpc_request_start_attached(end.peer, "run", NULL, bytes, on_response, &o);
        cr_assert(eq(int, r != NULL, i == 1));
        cr_assert(eq(int, end.sent.len > FRAME_MAX_BODY, i == 1));
        shared_bytes_unref(bytes);
        close_end(&end);
        cr_assert(eq(uint, o.count, i == 1));
    }
}

#define BACK(id) "{\"id\":" id ",\"method\":\"back\"}"
#define ATTACHED(length, body, more, attachment)                                         \
    "Content-Length: " #length "\r\nAttachment-Length: " #more "\r\n\r\n" body attachment

Test(rpc, what_came_attached_is_the_callees) {
    struct end end;
    open_end(&end, &inline_events);
    rpc_peer_allow_attachments(end.peer);
    feed(&end, ATTACHED(24, BACK("1"), 5, "}\nx{\"") BACK("2") "\n");
    cr_assert_str_eq(end.sent.data,
                     "Content-Length: 45\r\nAttachment-Length: 5\r\n\r\n"
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"bytes\":5}}}\nx{\""
                     "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"bytes\":0}}\n");
    buf_reset(&end.sent);
    rpc_peer_allow_batches(end.peer, true);
    feed(&end, ATTACHED(26, "[" BACK("1") "]", 3, "abc"));
    cr_assert(not(zero(ptr, strstr(end.sent.data, "a batch has no attachment"))));
    buf_reset(&end.sent);
    feed(&end, ATTACHED(24, "{\"id\":3,\"method\":\"hold\"}", 3, "abc"));
    close_end(&end); /* nobody took it */
}

Test(rpc, attachments_are_an_error_unless_allowed) {
    struct end end;
    struct outcome o = {0};
    open_end(&end, &inline_events);
    rpc_request_start(end.peer, "run", NULL, on_response, &o);
    buf_reset(&end.sent);
    feed(&end, ATTACHED(24, BACK("1"), 5, "{}\n{}"));
    cr_assert(
        not(zero(ptr, strstr(end.sent.data, "\"id\":1,\"error\":{\"code\":-32600"))));
    feed(&end, ATTACHED(21, "{\"id\":1,\"result\":{}}\n", 2, "{}"));
    cr_assert(eq(int, o.status, -EMSGSIZE));
    close_end(&end);
}

/* Whoever wrote an answer's attachment can spoil that answer and no other. */
Test(rpc, an_answers_attachment_becomes_its_result) {
    static const struct {
        const char *attachment, *want;
    } rows[] = {
        {"{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3,\"c\":4}"},
        {"{\"result\":5}\n  ", "{\"result\":5,\"b\":3,\"c\":4}"},
        {"[1]", NULL},
        {"{\"a\":", NULL},
        {"{}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}", NULL},
        {"\r\n\r\nContent-Length: 20\r\n\r\n{\"id\":2,\"result\":{}}", NULL},
    };
    const struct rpc_events *events[] = {&inline_events, &threaded_events};
    for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++) {
        const char *want = rows[i / 2].want, *result = "{\"b\":3,\"c\":4}";
        struct end end;
        struct outcome o = {0}, other = {0};
        open_end(&end, events[i % 2]);
        rpc_peer_allow_attachments(end.peer);
        rpc_request_start(end.peer, "run", NULL, on_response, &o);
        rpc_request_start(end.peer, "run", NULL, on_response, &other);
        autofree char *body =
            xasprintf("{\"id\":1,\"result\":%s}%*s", result,
                      i % 2 ? (int)RPC_INLINE_PARSE : 0, ""); /* long ones elsewhere */
        autofree char *bytes = xasprintf(
            "Content-Length: %zu\r\nAttachment-Length: %zu\r\n\r\n%s%s", strlen(body),
            strlen(rows[i / 2].attachment), body, rows[i / 2].attachment);
        feed(&end, bytes);
        if (i % 2) {
            rpc_parse_run(end.parse);
            rpc_parse_done(end.parse);
        }
        cr_assert(eq(uint, o.count, 1));
        cr_assert(zero(uint, other.count));
        if (want) {
            cr_assert_str_eq(o.text, want);
        } else {
            cr_assert(not(zero(ptr, strstr(o.text, "-32603"))), "%s", o.text);
        }
        feed(&end, "{\"id\":2,\"result\":6}\n");
        cr_assert_str_eq(other.text, "6");
        close_end(&end);
    }
}

Test(rpc, messages_to_others_are_framed_and_marked) {
    struct end end;
    open_end(&end, &inline_events);
    rpc_notify(end.peer, "a/b", json_pack("[i]", 1));
    cr_assert(eq(uint, end.droppable, 0));
    rpc_notify_droppable(end.peer, "c", NULL);
    cr_assert(eq(uint, end.droppable, 1));
    cr_assert_str_eq(end.sent.data,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"a/b\",\"params\":[1]}\n"
                     "{\"jsonrpc\":\"2.0\",\"method\":\"c\"}\n");
    close_end(&end);
}

/* Two ends wired to each other directly feed each other from inside their callbacks. */
/* The last line needs no newline where nothing more comes. */
Test(rpc, what_stands_at_the_end_is_answered) {
    struct end end;
    open_end(&end, &inline_events);
    feed(&end, REQUEST("1"));
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    rpc_feed_end(end.peer);
    cr_assert_str_eq(end.sent.data, RESULT("1"));
    close_end(&end);
}

Test(rpc, what_is_larger_than_a_message_is_not_sent) {
    struct end end;
    open_end(&end, &inline_events);
    char *text = repeat("", "x", FRAME_MAX_BODY, "");
    rpc_notify(end.peer, "n", json_string(text));
    cr_assert(eq(sz, end.sent.len, (size_t)0));
    rpc_notify(end.peer, "n", json_string("x"));
    cr_assert_str_eq(end.sent.data,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":\"x\"}\n");
    free(text);
    close_end(&end);
}

Test(rpc, bytes_may_come_from_inside_send) {
    struct end end;
    open_end(&end, &inline_events);
    end.feed_on_send = "{\"id\":2,\"method\":\"echo\"}\n";
    feed(&end, REQUEST("1") "\n" REQUEST("3") "\n");
    cr_assert_str_eq(end.sent.data,
                     RESULT("1")
                         RESULT("3") "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":null}\n");
    close_end(&end);
}
