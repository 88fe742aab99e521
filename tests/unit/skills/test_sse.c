#include "base/err.h"
#include "base/mem.h"
#include "skills/models/sse.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

static int on_event(const char *name, char *data, size_t len, void *user) {
    struct buf *log = user;
    cr_assert(eq(sz, strlen(data), len));
    buf_addf(log, "[%s|%s]", name, data);
    return strcmp(data, "stop") == 0 ? -ECANCELED : 0;
}

/* From the examples and rules of the HTML standard, 9.2.6. */
static const struct {
    const char *stream, *events;
} cases[] = {
    {"data: YHOO\ndata: +2\ndata: 10\n\n", "[message|YHOO\n+2\n10]"},
    {": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third "
     "event\n\n",
     "[message|first event][message|second event][message| third event]"},
    {"data\n\ndata\ndata\n\ndata:", "[message|][message|\n]"},
    {"data:test\n\ndata: test\n\n", "[message|test][message|test]"},
    {"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
     "[add|73857293][remove|2153]"},
    {"event: lonely\n\ndata: x\n\n", "[message|x]"}, /* no data: the name is forgotten */
    {"\xef\xbb\xbf"
     "data: bom\n\n",
     "[message|bom]"},
    {"data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", "[message|a][message|b][message|c]"},
    {"data: a\r\ndata: b\r\n\r\n", "[message|a\nb]"}, /* CR LF ends one line, not two */
    {"data: cut off", ""},
    {"data: cut off\n", ""},
    {"retry: 10\nnonsense: 1\nDATA: x\ndata : y\ndata: z\n\n", "[message|z]"},
    {"", ""},
    {"\n\n\n", ""},
    {"data: a:b: c\n\n", "[message|a:b: c]"},
};

Test(sse, events_are_those_of_the_standard_however_the_bytes_come) {
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t len = strlen(cases[i].stream);
        for (size_t piece = 1; piece <= len + 1; piece++) {
            struct sse s;
            autobuf log = BUF_INIT(4096);
            sse_init(&s, on_event, &log);
            for (size_t at = 0; at < len; at += piece) {
                size_t n = len - at < piece ? len - at : piece;
                cr_assert(zero(int, sse_feed(&s, cases[i].stream + at, n, NULL)));
            }
            cr_assert(eq(str, log.data, (char *)cases[i].events), "case %zu by %zu", i,
                      piece);
            sse_finish(&s);
        }
    }
}

Test(sse, long_events_and_a_consumer_that_stops_end_it) {
    static const char *const starts[] = {"data: ", "x", ": ", "data: a\n"};
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        struct sse s;
        struct err err = {0};
        autobuf log = BUF_INIT(4096);
        sse_init(&s, on_event, &log);
        size_t fed = 0;
        int rc = 0;
        while (rc == 0 && fed < SSE_MAX_EVENT * 8) {
            const char *piece = i < 3 && fed ? "0123456789" : starts[i];
            rc = sse_feed(&s, piece, strlen(piece), &err);
            fed += strlen(piece);
        }
        cr_assert(eq(int, rc, -EMSGSIZE), "case %zu", i);
        cr_assert(strstr(err.msg, "4 MiB") != NULL);
        sse_finish(&s);
    }
    struct sse s;
    autobuf log = BUF_INIT(4096);
    sse_init(&s, on_event, &log);
    static const char stream[] = "data: stop\n\ndata: more\n\n";
    cr_assert(eq(int, sse_feed(&s, stream, sizeof stream - 1, NULL), -ECANCELED));
    cr_assert(eq(str, log.data, "[message|stop]"));
    sse_finish(&s);
}
