/* Edits against a model: a text is a list of code points here, cut into lines by the
 * rules of the specification and changed one edit at a time, with no index and no bytes.
 */
#include "lsp_harness.h"

#include "base/clock.h"
#include "base/mem.h"
#include "protocol/lsp/lsp_internal.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

static struct harness h;

static void start(void) {
    harness_start(&h);
}

static void end(void) {
    harness_end(&h);
}

TestSuite(lsp_edits, .init = start, .fini = end, .timeout = 120);

#define MAX_POINTS 4096

struct model {
    uint32_t points[MAX_POINTS];
    size_t len;
};

/* What random texts are made of: every length of UTF-8 and every line ending. */
static const uint32_t alphabet[] = {'a',    'B',    ' ',     '\n',    '\r',
                                    0xE4,   0x20AC, 0x1D6FC, 0x1F600, '\n',
                                    0x0301, 0xFFFD, '{',     0x10FFFF};

static size_t put_point(uint32_t cp, char *out) {
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xC0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 63));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xE0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 63));
        out[2] = (char)(0x80 | (cp & 63));
        return 3;
    }
    out[0] = (char)(0xF0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 63));
    out[2] = (char)(0x80 | (cp >> 6 & 63));
    out[3] = (char)(0x80 | (cp & 63));
    return 4;
}

static size_t put_points(const uint32_t *points, size_t count, char *out) {
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += put_point(points[i], out + len);
    }
    out[len] = '\0';
    return len;
}

static int width(enum lsp_encoding encoding, uint32_t cp) {
    char bytes[4];
    switch (encoding) {
    case LSP_UTF8:
        return (int)put_point(cp, bytes);
    case LSP_UTF16:
        return cp > 0xFFFF ? 2 : 1;
    case LSP_UTF32:
        break;
    }
    return 1;
}

/* Line and character of the point at an index. An index between \r and \n has none. */
static void place_of(const struct model *m, enum lsp_encoding encoding, size_t index,
                     int *line, int *character) {
    *line = *character = 0;
    for (size_t i = 0; i < index; i++) {
        bool pair = m->points[i] == '\r' && i + 1 < m->len && m->points[i + 1] == '\n';
        if (m->points[i] == '\n' || (m->points[i] == '\r' && !pair)) {
            *line += 1;
            *character = 0;
        } else if (!pair) {
            *character += width(encoding, m->points[i]);
        }
    }
}

static bool inside_pair(const struct model *m, size_t index) {
    return index && index < m->len && m->points[index - 1] == '\r' &&
           m->points[index] == '\n';
}

static size_t random_index(const struct model *m) {
    size_t index = (size_t)rand() % (m->len + 1);
    return inside_pair(m, index) ? index - 1 : index;
}

static size_t random_points(uint32_t *points, size_t max) {
    size_t count = (size_t)rand() % (max + 1);
    for (size_t i = 0; i < count; i++) {
        points[i] = alphabet[(size_t)rand() % (sizeof alphabet / sizeof *alphabet)];
    }
    return count;
}

/* Change the model at random; returns the change as LSP says it. */
static json_t *random_change(struct model *m, enum lsp_encoding encoding) {
    uint32_t fresh[24];
    char text[24 * 4 + 1];
    size_t count = random_points(fresh, 24);
    size_t from = random_index(m), to = rand() % 3 ? from : random_index(m);
    if (to < from) {
        size_t other = from;
        from = to;
        to = other;
    }
    if (m->len + count > MAX_POINTS - 32) {
        from = 0;
        to = m->len;
    }
    int line, character, end_line, end_character;
    place_of(m, encoding, from, &line, &character);
    place_of(m, encoding, to, &end_line, &end_character);
    put_points(fresh, count, text);
    memmove(m->points + from + count, m->points + to, (m->len - to) * sizeof *m->points);
    memcpy(m->points + from, fresh, count * sizeof *fresh);
    m->len += count - (to - from);
    return json_pack("{s:{s:{s:i, s:i}, s:{s:i, s:i}}, s:s}", "range", "start", "line",
                     line, "character", character, "end", "line", end_line, "character",
                     end_character, "text", text);
}

/* The text and an offset as the kind sees them, asked for through a hover. */
static void compare(const struct model *m, enum lsp_encoding encoding) {
    static char want[MAX_POINTS * 4 + 1];
    size_t len = put_points(m->points, m->len, want);
    size_t index = random_index(m);
    int line, character;
    place_of(m, encoding, index, &line, &character);
    json_t *result = harness_result(&h, "textDocument/hover",
                                    J("{'textDocument':{'uri':'" URI
                                      "'},'position':{'line':%d,'character':%d}}",
                                      line, character));
    cr_assert(eq(sz, fake.seen->len, len));
    cr_assert(zero(int, memcmp(fake.seen->text, want, len + 1)));
    cr_assert(eq(sz, fake.offset, put_points(m->points, index, want)));
    json_t *said = json_object_get(json_object_get(result, "range"), "start");
    cr_assert(eq(int, (int)json_get_integer(said, "line", -1), line));
    cr_assert(eq(int, (int)json_get_integer(said, "character", -1), character));
}

static void random_session(enum lsp_encoding encoding, int rounds) {
    static struct model m;
    m.len = 0;
    fake.delay_ms = MANUAL;
    harness_initialize(
        &h, J("{'general':{'positionEncodings':['%s']}}", lsp_encoding_name(encoding)));
    harness_open(&h, URI, 1, "");
    for (int i = 0; i < rounds; i++) {
        json_t *changes = json_array();
        for (int k = rand() % 4; k >= 0; k--) {
            json_array_append_new(changes, random_change(&m, encoding));
        }
        harness_notify(&h, "textDocument/didChange",
                       json_pack("{s:{s:s, s:i}, s:o}", "textDocument", "uri", URI,
                                 "version", i + 2, "contentChanges", changes));
        compare(&m, encoding);
    }
}

Test(lsp_edits, random_edits_in_utf_16_leave_the_models_text) {
    srand(1);
    random_session(LSP_UTF16, 1500);
}

Test(lsp_edits, random_edits_in_utf_8_leave_the_models_text) {
    srand(2);
    random_session(LSP_UTF8, 1500);
}

Test(lsp_edits, random_edits_in_utf_32_leave_the_models_text) {
    srand(3);
    random_session(LSP_UTF32, 500);
}

Test(lsp_edits, the_line_index_after_any_edit_is_that_of_a_fresh_scan) {
    static const char *const pieces[] = {"",  "\r",   "\n",        "\r\n",
                                         "x", "\n\r", "ab\ncd\re", "\n\n"};
    srand(4);
    struct lsp_text t;
    lsp_text_init(&t, "", 0);
    for (int i = 0; i < 20000; i++) {
        const char *piece = pieces[(size_t)rand() % 8];
        size_t from = (size_t)rand() % (t.len + 1);
        size_t to = from + (size_t)rand() % (t.len - from + 1) % 6;
        lsp_text_splice(&t, from, to, piece, strlen(piece));
        struct lines fresh;
        lines_init(&fresh, t.text, t.len);
        cr_assert(eq(sz, t.lines.count, fresh.count));
        cr_assert(eq(sz, t.lines.len, fresh.len));
        cr_assert(zero(int, memcmp(t.lines.starts, fresh.starts,
                                   fresh.count * sizeof *fresh.starts)));
        lines_finish(&fresh);
    }
    lsp_text_finish(&t);
}

/* Positions that are out of bounds or inside a character clamp as the specification says.
 */
Test(lsp_edits, positions_clamp) {
    static const struct {
        const char *encoding;
        int line, character;
        size_t want;
    } cases[] = {
        /* line 0: a𝛼b (1 + 4 + 1 bytes), line 1: empty, line 2: ä (2 bytes) */
        {"utf-16", 0, 0, 0},
        {"utf-16", 0, 1, 1},
        {"utf-16", 0, 2, 1},
        {"utf-16", 0, 3, 5},
        {"utf-16", 0, 4, 6},
        {"utf-16", 0, 99, 6},
        {"utf-16", 1, 0, 8},
        {"utf-16", 1, 7, 8},
        {"utf-16", 2, 1, 11},
        {"utf-16", 2, 9, 11},
        {"utf-16", 3, 0, 11},
        {"utf-16", 99, 99, 11},
        {"utf-16", -1, -1, 0},
        {"utf-8", 0, 1, 1},
        {"utf-8", 0, 3, 1},
        {"utf-8", 0, 5, 5},
        {"utf-8", 0, 6, 6},
        {"utf-8", 0, 7, 6},
        {"utf-8", 2, 1, 9},
        {"utf-8", 2, 2, 11},
        {"utf-32", 0, 2, 5},
        {"utf-32", 0, 3, 6},
        {"utf-32", 0, 4, 6},
        {"utf-32", 2, 1, 11},
        {"utf-16", 2147483647, 2147483647, 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        harness_end(&h);
        harness_start(&h);
        harness_initialize(
            &h, J("{'general':{'positionEncodings':['%s']}}", cases[i].encoding));
        harness_open(&h, URI, 1,
                     "a\xF0\x9D\x9B\xBC"
                     "b\r\n\n\xC3\xA4");
        harness_result(&h, "textDocument/hover",
                       J("{'textDocument':{'uri':'" URI "'},"
                         "'position':{'line':%d,'character':%d}}",
                         cases[i].line, cases[i].character));
        cr_expect(eq(sz, fake.offset, cases[i].want), "%s %d:%d", cases[i].encoding,
                  cases[i].line, cases[i].character);
    }
}

/* --- speed --- */

static char *many_lines(size_t count, const char *line) {
    size_t len = strlen(line);
    char *text = malloc(count * len + 1);
    for (size_t i = 0; i < count; i++) {
        memcpy(text + i * len, line, len);
    }
    text[count * len] = '\0';
    return text;
}

/* Microseconds per didChange, from its bytes to the changed text, typing all over the
 * text. */
static uint64_t typing_us(int lines) {
    uint64_t before = clock_us();
    for (int i = 0; i < 1000; i++) {
        harness_edit(&h, URI, i + 2, (i * 7919) % lines, 4, (i * 7919) % lines,
                     i % 2 ? 5 : 4, i % 2 ? "" : "x");
    }
    return (clock_us() - before) / 1000;
}

Test(lsp_edits, a_thousand_edits_are_fast_also_in_two_megabytes) {
    static const int lines[] = {300, 50000};
    for (size_t i = 0; i < 2; i++) {
        harness_end(&h);
        harness_start(&h);
        fake.delay_ms = MANUAL;
        harness_initialize(&h, NULL);
        autofree char *text =
            many_lines((size_t)lines[i], "    out[index] = left[index] * right[i];\n");
        harness_open(&h, URI, 1, text);
        uint64_t us = typing_us(lines[i]);
        printf("# %zu bytes: %llu us per edit\n", strlen(text), (unsigned long long)us);
        cr_expect(lt(u64, us, 50000)); /* copying all of it ten times is more */
    }
}
