#include "base/buf.h"
#include "base/mem.h"
#include "protocol/rpc/frame.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <time.h>

/* What came out, in order: "L{…};" a line, "H…;" a headed body, "H…+…;" one with an
 * attachment, "!large;" and so on. */
struct heard {
    struct buf text;
    struct frame_decoder *decoder;
    unsigned stop_after; /* message() returns false from this one on; 0 = never */
    unsigned messages;
    const char *feed_inside; /* fed from within the first message */
    bool free_inside;
};

static bool on_message(enum frame_mode mode, char *body, size_t len, struct buf *attached,
                       void *data) {
    struct heard *h = data;
    cr_assert(eq(sz, strlen(body), len), "the body ends with a NUL");
    buf_addf(&h->text, "%c%s%s%s;", mode == FRAME_LINES ? 'L' : 'H', body,
             attached ? "+" : "", attached ? attached->data : "");
    memset(body, '#', len); /* bodies may be changed in place */
    h->messages++;
    if (h->feed_inside && h->messages == 1) {
        frame_feed(h->decoder, h->feed_inside, strlen(h->feed_inside));
    }
    if (h->free_inside) {
        frame_decoder_free(h->decoder);
    }
    return !h->stop_after || h->messages < h->stop_after;
}

static void on_fault(enum frame_mode mode, enum frame_fault fault, const char *head,
                     size_t len, void *data) {
    static const char *const names[] = {"large", "attached", "header", "junk"};
    struct heard *h = data;
    (void)mode;
    cr_assert(le(sz, len, (size_t)4096));
    buf_addf(&h->text, "!%s%.*s;", names[fault], fault <= FRAME_ATTACHED ? 6 : 0, head);
}

static const struct frame_events events = {on_message, on_fault};

static void listen(struct heard *h, size_t max_body) {
    *h = (struct heard){.text = BUF_INIT(1u << 20)};
    h->decoder = frame_decoder_new(max_body, &events, h);
}

static void hang_up(struct heard *h) {
    frame_decoder_free(h->decoder);
    buf_finish(&h->text);
}

#define HEADED(length, body) "Content-Length: " #length "\r\n\r\n" body

#define ATTACHED(length, body, more, attachment)                                         \
    "Content-Length: " #length "\r\nAttachment-Length: " #more "\r\n\r\n" body attachment

struct stream {
    const char *in, *want;
};

static const struct stream streams[] = {
    /* framings, alone and mixed */
    {"{}\n[1]\r\n\n{\"a\":2}\n{\"cut", "L{};L[1];L{\"a\":2};"},
    {HEADED(2, "{}") HEADED(4, "null"), "H{};Hnull;"},
    {"content-length:4\nX: y\n\nnull", "Hnull;"},
    {"CONTENT-LENGTH :4\r\n\r\n{}\n", "!junk;L{};"},
    {"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" HEADED(2, "{}"),
     "H{};"},
    {"{\"a\":1}\n" HEADED(2, "[]") "{\"b\":2}\n", "L{\"a\":1};H[];L{\"b\":2};"},
    {"\xEF\xBB\xBF{}\n  \r\n\t{}\n", "L{};L{};"},
    {HEADED(2, "{}") "\r\n\r\n" HEADED(2, "[]"), "H{};H[];"},
    /* lengths that are given twice */
    {"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}", "H{};"},
    {"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}" HEADED(2, "[]"), "!header;H[];"},
    /* lengths that cannot be; the next header is found although no newline is before it
     */
    {HEADED(-5, "{\"lost\":1}") HEADED(2, "{}"), "!header;H{};"},
    {HEADED(0, "") HEADED(2, "{}"), "!header;H{};"},
    {HEADED(0, "{\"lost\":1}") HEADED(2, "{}"), "!header;H{};"},
    {HEADED(99999999999, "{\"lost\":1}") HEADED(2, "{}"), "!header;H{};"},
    {HEADED(99999999999999999999999999999, "{}") HEADED(2, "{}"), "!header;H{};"},
    {HEADED(abc, "{\"lost\":1}") HEADED(2, "{}"), "!header;H{};"},
    {HEADED(0x2, "{}") HEADED(2, "{}"), "!header;H{};"},
    {"X-Other: 1\r\n\r\n{\"lost\":1}" HEADED(2, "{}"), "!header;H{};"},
    /* a length that is too small, in characters instead of bytes: "é" is two */
    {HEADED(7, "{\"a\":\"é\"}") HEADED(2, "{}"), "H{\"a\":\"\xC3;!junk;H{};"},
    {HEADED(9, "{\"a\":1}{\"b\":2}") HEADED(2, "{}"), "H{\"a\":1}{\";!junk;H{};"},
    {HEADED(7, "{\"a\":1}{\"b\":2}") HEADED(2, "{}"), "H{\"a\":1};!junk;H{};"},
    /* a length that is too large */
    {HEADED(9, "{\"a\":1}") HEADED(2, "{}") HEADED(2, "[]"), "H{\"a\":1}Co;!header;H[];"},
    /* a banner before the first message */
    {"Welcome to host\nLast login: Sat\n{}\n", "!junk;!junk;L{};"},
    {"Note: a banner\n\n{}\n", "!header;L{};"},
    {"Note: a banner\n{}\n", "!header;L{};"},
    {"\x01\x02\xff\n{}\n", "!junk;L{};"},
    {"null\n12\n\"x\"\n{}\n", "!junk;!junk;!junk;L{};"},
    /* too large (the limit is 40) */
    {"{\"id\":1,\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\n{}\n",
     "!large{\"id\":;L{};"},
    {HEADED(52, "{\"id\":1,\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}") "{}\n",
     "!large{\"id\":;L{};"},
    {"{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}\r\n{}\n",
     "L{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"};L{};"},
    /* nobody takes attachments */
    {ATTACHED(8, "{\"id\":1}", 3, "abc") "{}\n", "!attached{\"id\":;L{};"},
    {ATTACHED(2, "{}", 0, "") "{}\n", "H{};L{};"},
};

/* Attachments of at most 20 bytes are taken. */
static const struct stream attached_streams[] = {
    {ATTACHED(2, "{}", 5, "a\nb{\"") HEADED(2, "[]") "{}\n", "H{}+a\nb{\";H[];L{};"},
    {ATTACHED(2, "{}", 20, "Content-Length: 2\r\n\r") "{}\n",
     "H{}+Content-Length: 2\r\n\r;L{};"},
    {ATTACHED(2, "{}", 1, "x") ATTACHED(2, "[]", 2, "yz") "{\"a\":1}\n",
     "H{}+x;H[]+yz;L{\"a\":1};"},
    {"ATTACHMENT-length:3\nX: y\nContent-Length: 2\n\n{}abc[]\n", "H{}+abc;L[];"},
    {"Attachment-Length: 1\r\n" ATTACHED(2, "{}", 1, "a"), "H{}+a;"},
    {"Attachment-Length: 2\r\n" ATTACHED(2, "{}", 1, "a") HEADED(2, "[]"),
     "!header;H[];"},
    {"Attachment-Length: 2\r\n\r\nab" HEADED(2, "[]"), "!header;H[];"},
    {ATTACHED(2, "{}", -1, "a") HEADED(2, "[]"), "!header;H[];"},
    {ATTACHED(2, "{}", 99999999999, "a") HEADED(2, "[]"), "!header;H[];"},
    {ATTACHED(8, "{\"id\":1}", 21, "123456789012345678901") "{}\n",
     "!large{\"id\":;L{};"},
    {ATTACHED(42, "{\"id\":1,\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\":1}", 1, "a") "{}\n",
     "!large{\"id\":;L{};"},
    {ATTACHED(2, "{}", 5, "cut"), ""},
};

static void hear(const struct stream *stream, size_t max_attached) {
    const char *in = stream->in;
    for (size_t n = strlen(in), step = 1; step <= n; step++) {
        struct heard h;
        listen(&h, 40);
        frame_decoder_attach(h.decoder, max_attached);
        for (size_t at = 0; at < n; at += step) {
            frame_feed(h.decoder, in + at, n - at < step ? n - at : step);
        }
        cr_assert_str_eq(h.text.data, stream->want, "%s\nstep %zu gave %s", in, step,
                         h.text.data);
        hang_up(&h);
    }
}

Test(frame, whatever_way_the_bytes_arrive_the_messages_are_the_same) {
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        hear(&streams[i], 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(attached_streams); i++) {
        hear(&attached_streams[i], 20);
    }
}

/* Lines of any length in pieces of any length, over what is kept at once. */
Test(frame, large_messages_in_large_pieces_are_the_same) {
    unsigned state = 1;
    for (unsigned round = 0; round < 20; round++) {
        autobuf in = BUF_INIT(1u << 20), want = BUF_INIT(1u << 20);
        struct heard h;
        for (unsigned i = 0; i < 20; i++) {
            unsigned n = (state = state * 1103515245 + 12345) >> 16 & 16383;
            autofree char *line = xasprintf("{%0*u}", (int)n + 1, i);
            buf_addf(&in, "%s\n", line);
            buf_addf(&want, "L%s;", line);
        }
        listen(&h, 1u << 16);
        for (size_t at = 0, step; at < in.len; at += step) {
            step = 1 + ((state = state * 1103515245 + 12345) >> 16 & 32767);
            step = step < in.len - at ? step : in.len - at;
            frame_feed(h.decoder, in.data + at, step);
        }
        cr_expect(h.text.len == want.len && memcmp(h.text.data, want.data, want.len) == 0,
                  "round %u", round);
        hang_up(&h);
    }
}

Test(frame, a_host_may_stop_and_go_on) {
    struct heard h;
    listen(&h, 40);
    h.stop_after = 1;
    frame_feed(h.decoder, "{}\n[]\n[1", 8);
    cr_assert_str_eq(h.text.data, "L{};");
    frame_feed(h.decoder, "]\n", 2);
    cr_assert_str_eq(h.text.data, "L{};");
    h.stop_after = 0;
    frame_resume(h.decoder);
    cr_assert_str_eq(h.text.data, "L{};L[];L[1];");
    hang_up(&h);
}

/* A host resumes whenever it has answered, also when nothing is kept: a sanitizer sees
 * what is done with no bytes at all. */
Test(frame, going_on_after_a_large_message_finds_nothing) {
    enum { LARGE = 1 << 19 };
    struct heard h;
    listen(&h, LARGE);
    autofree char *line = xmalloc(LARGE);
    memset(line, ' ', LARGE);
    line[0] = '[', line[LARGE - 2] = ']', line[LARGE - 1] = '\n';
    frame_resume(h.decoder);
    frame_feed(h.decoder, line, LARGE);
    size_t len = h.text.len;
    cr_assert(gt(sz, len, (size_t)LARGE - 2));
    frame_resume(h.decoder);
    cr_assert(eq(sz, h.text.len, len));
    frame_feed(h.decoder, "{}\n", 3);
    cr_assert_str_eq(h.text.data + len, "L{};");
    hang_up(&h);
}

Test(frame, bytes_fed_from_inside_a_message_come_after_it) {
    struct heard h;
    listen(&h, 40);
    h.feed_inside = "]\n{\"late\":1}\n";
    frame_feed(h.decoder, "{}\n[1", 5);
    cr_assert_str_eq(h.text.data, "L{};L[1];L{\"late\":1};");
    hang_up(&h);
}

Test(frame, a_decoder_may_be_freed_from_inside_a_message) {
    struct heard h;
    listen(&h, 40);
    h.free_inside = true;
    frame_feed(h.decoder, "{}\n[]\n", 6);
    cr_assert_str_eq(h.text.data, "L{};");
    buf_finish(&h.text);
}

static bool count_message(enum frame_mode mode, char *body, size_t len,
                          struct buf *attached, void *data) {
    (void)mode, (void)body;
    *(size_t *)data += len + (attached ? attached->len : 0);
    return true;
}

static void count_fault(enum frame_mode mode, enum frame_fault fault, const char *head,
                        size_t len, void *data) {
    (void)mode, (void)fault, (void)head, (void)len;
    *(size_t *)data += 1;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* CPU seconds to feed one line of `size` bytes in pieces of `step`. */
static double feed_line(size_t size, size_t step) {
    static const struct frame_events counting = {count_message, count_fault};
    size_t got = 0;
    struct frame_decoder *d = frame_decoder_new(FRAME_MAX_BODY, &counting, &got);
    autofree char *piece = xmalloc(step);
    memset(piece, 'a', step);
    double start = seconds();
    frame_feed(d, "{", 1);
    for (size_t at = 0; at < size; at += step) {
        frame_feed(d, piece, step);
    }
    frame_feed(d, "\n", 1);
    double took = seconds() - start;
    cr_assert(eq(sz, got, size + 1));
    frame_decoder_free(d);
    return took;
}

/* A decoder that searched again what it had searched would need 8 TiB of reading for
 * this. */
Test(frame, sixteen_mebibytes_byte_by_byte_take_linear_time) {
    double small = feed_line(4u << 20, 1), large = feed_line(16u << 20, 1);
    cr_log_info("4 MiB %.3f s, 16 MiB %.3f s", small, large);
    cr_assert(lt(dbl, large, 16 * small + 0.5));
}

Test(frame, a_line_over_the_limit_is_skipped_without_being_stored) {
    static const struct frame_events counting = {count_message, count_fault};
    size_t got = 0;
    struct frame_decoder *d = frame_decoder_new(1u << 16, &counting, &got);
    autofree char *piece = xmalloc(1u << 16);
    memset(piece, 'x', 1u << 16);
    frame_feed(d, "{", 1);
    for (int i = 0; i < 4096; i++) {
        frame_feed(d, piece, 1u << 16);
    }
    cr_assert(eq(sz, got, (size_t)1), "one fault for 256 MiB");
    frame_feed(d, "\n{}\n", 4);
    cr_assert(eq(sz, got, (size_t)3));
    frame_decoder_free(d);
}
