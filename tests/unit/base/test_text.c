#include "base/buf.h"
#include "base/text.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct text_case {
    const char *in;
    const char *want;
};

static void check_all(int (*run)(struct buf *, const char *, size_t),
                      const struct text_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        /* After a prefix of every length, so that each alignment of the fast paths is
         * met. */
        for (size_t lead = 0; lead < 17; lead++) {
            char in[256], want[256];
            snprintf(in, sizeof in, "%.*s%s", (int)lead, "abcdefghijklmnopq",
                     cases[i].in);
            snprintf(want, sizeof want, "%.*s%s", (int)lead, "abcdefghijklmnopq",
                     cases[i].want);
            autobuf out = BUF_INIT(1000);
            cr_assert(zero(int, run(&out, in, strlen(in))));
            cr_assert(eq(str, out.data, want), "case %zu lead %zu", i, lead);
        }
    }
}

/* The expected counts are those of the Unicode standard, section 3.9, table 3-8 and the
 * examples above it. */
Test(text, malformed_sequences_become_one_replacement_per_maximal_subpart) {
#define R "\xef\xbf\xbd"
    static const struct text_case cases[] = {
        {"", ""},
        {"plain ASCII that is longer than a word",
         "plain ASCII that is longer than a word"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\x80", R},
        {"\xc0\xaf", R R},
        {"\xe0\x9f\x80", R R R},
        {"\xed\xa0\x80", R R R},
        {"\xf4\x90\x80\x80", R R R R},
        {"\xff\xfe", R R},
        {"\xe2\x82", R},
        {"\xe2\x82x", R "x"},
        {"\xf0\x9f\x98", R},
        {"\xf0\x80\x80\x41", R R R "A"},
        {"\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", R R R "b" R "c" R R "d"},
        {"\xf8\x88\x80\x80\x80", R R R R R},
    };
    check_all(text_repair, cases, sizeof cases / sizeof *cases);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool same = strcmp(cases[i].in, cases[i].want) == 0;
        cr_assert(eq(int, text_is_utf8(cases[i].in, strlen(cases[i].in)), same), "%zu",
                  i);
    }
}

Test(text, cleaning_takes_out_what_deceives_and_keeps_what_is_read) {
    static const struct text_case cases[] = {
        {"a\tb\nc", "a\tb\nc"},
        {"a\r\nb\rc\r\r\n", "a\nb\nc\n\n"},
        {"a\x01\x7f\x1b\x08z", "az"},
        {"\x1b[1;31mred\x1b[0m \x1b[38;2;1;2;3mx\x1b[K", "red x"},
        {"\x1b]8;;http://x/\x1b\\link\x1b]8;;\a!", "link!"},
        {"\x1b]0;never ended\nnext", "0;never ended\nnext"},
        {"\x1bP1$r0m\x1b\\a\x1b(Bb\x1b"
         "7c",
         "abc"},
        {"\xc2\x9b"
         "31mred\xc2\x9d"
         "0;t\xc2\x9c.",
         "red."},
        {"\x1b[31", ""},
        {"\x1b", ""},
        {"a\x1b\xc3\xa9", "a\xc3\xa9"},
        {"\xe2\x80\xae"
         "evil\xe2\x80\xac \xe2\x81\xa6x\xe2\x81\xa9\xd8\x9c",
         "evil x"},
        {"z\xe2\x80\x8b\xe2\x80\x8d\xef\xbb\xbfw\xe2\x81\xa0", "zw"},
        {"t\xf3\xa0\x81\x81\xf3\xa0\x81\xbf\xf3\xa0\x84\x80g", "tg"},
        {"1\xe2\x80\xa8"
         "2\xe2\x80\xa9"
         "3",
         "1\n2\n3"},
        {"\xe2\x9d\xa4\xef\xb8\x8f\xf0\x9f\x98\x80 \xe4\xb8\xad",
         "\xe2\x9d\xa4\xef\xb8\x8f\xf0\x9f\x98\x80 \xe4\xb8\xad"},
        {"\xc2\xa0\xc2\x85\xc2\xad", "\xc2\xa0\xc2\xad"},
        {"\x9b\xe2\x80", R R},
    };
    check_all(text_clean, cases, sizeof cases / sizeof *cases);
}

Test(text, unended_escapes_cost_linear_time_and_nul_is_dropped) {
    enum { N = 1 << 20 };
    char *many = malloc(2 * N);
    for (size_t i = 0; i < N; i++) {
        memcpy(many + 2 * i, "\x1b]", 2);
    }
    autobuf out = BUF_INIT(4 * N);
    cr_assert(zero(int, text_clean(&out, many, 2 * N)));
    cr_assert(zero(sz, out.len));
    free(many);
    cr_assert(zero(int, text_clean(&out, "a\0b", 3)));
    cr_assert(eq(str, out.data, "ab"));
}

Test(text, output_over_the_limit_is_an_error) {
    autobuf out = BUF_INIT(4);
    cr_assert(eq(int, text_repair(&out, "ab\xff", 3), -EMSGSIZE));
    autobuf other = BUF_INIT(4);
    cr_assert(eq(int, text_clean(&other, "abcde", 5), -EMSGSIZE));
}

Test(text, every_scalar_value_survives_encoding_and_decoding) {
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        if (cp == 0xd800) {
            cp = 0xe000;
        }
        char bytes[4];
        uint32_t back;
        size_t n = text_encode(cp, bytes);
        size_t want = cp < 0x80 ? 1 : cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
        if (n != want || text_decode(bytes, n, &back) != n || back != cp ||
            !text_is_utf8(bytes, n)) {
            cr_fail("U+%04X", cp);
        }
    }
    char surrogate[4];
    cr_assert(eq(sz, text_encode(0xd800, surrogate), 3));
    cr_assert(zero(int, memcmp(surrogate, R, 3)));
}

Test(text, one_has_no_plural) {
    cr_expect(eq(str, (char *)text_plural(0), "s"));
    cr_expect(eq(str, (char *)text_plural(1), ""));
    cr_expect(eq(str, (char *)text_plural(2), "s"));
}

Test(text, a_cut_never_splits_a_code_point) {
    static const struct {
        const char *s;
        size_t max, want;
    } cases[] = {
        {"abc", 5, 3},
        {"abc", 2, 2},
        {"abc", 0, 0},
        {"a\xe2\x82\xac", 1, 1},
        {"a\xe2\x82\xac", 2, 1},
        {"a\xe2\x82\xac", 3, 1},
        {"a\xe2\x82\xac", 4, 4},
        {"\xf0\x9f\x98\x80z", 3, 0},
        {"\xf0\x9f\x98\x80z", 4, 4},
        {"\x80\x80\x80\x80\x80", 4, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t got = text_cut(cases[i].s, strlen(cases[i].s), cases[i].max);
        cr_assert(eq(sz, got, cases[i].want), "case %zu", i);
    }
}

Test(text, code_points_are_counted_from_every_offset) {
    static const char s[] =
        "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z 0123456789 \xe6\x97\xa5\xe6\x9c\xac";
    for (size_t from = 0; from < sizeof s; from++) {
        for (size_t to = from; to < sizeof s; to++) {
            size_t starts = 0;
            for (size_t i = from; i < to; i++) {
                starts += ((unsigned char)s[i] < 0x80) || ((unsigned char)s[i] >= 0xc0);
            }
            cr_assert(eq(sz, text_code_points(s + from, to - from), starts));
        }
    }
}

Test(text, utf16_positions_count_surrogate_pairs_as_two) {
    const char *s = "a\xc3\xa9\xf0\x9f\x98\x80z"; /* 1 + 1 + 2 + 1 units */
    static const size_t offsets[] = {0, 1, 3, 3, 7, 8, 8};
    cr_assert(eq(sz, text_utf16_units(s, 8), 5));
    for (size_t units = 0; units < sizeof offsets / sizeof *offsets; units++) {
        cr_assert(eq(sz, text_utf16_offset(s, 8, units), offsets[units]), "%zu", units);
    }
    cr_assert(eq(sz, text_utf16_offset("0123456789abcdef", 16, 11), 11));
}

Test(text, width_counts_columns) {
    cr_assert(eq(sz, text_width("abc", 3), 3));
    cr_assert(eq(sz, text_width("\xe4\xb8\xad\xe6\x96\x87", 6), 4));
    cr_assert(eq(sz, text_width("e\xcc\x81", 3), 1));
    cr_assert(eq(sz, text_width("a\tb", 3), 3));
    cr_assert(eq(sz, text_width("\xe2\x94\x80", 3), 1));
}

Test(text, sizes_are_told_whole_in_the_largest_unit) {
    static const struct {
        uint64_t bytes;
        const char *want;
    } cases[] = {
        {0, "0 bytes"},
        {1, "1 byte"},
        {1023, "1023 bytes"},
        {1024, "1 KiB"},
        {1025, "1025 bytes"},
        {1536, "1536 bytes"},
        {65536, "64 KiB"},
        {16777216, "16 MiB"},
        {16777217, "16777217 bytes"},
        {16778240, "16385 KiB"},
        {UINT64_C(3221225472), "3 GiB"},
        {UINT64_C(1099511627776), "1 TiB"},
        {UINT64_C(18446744073709551615), "18446744073709551615 bytes"},
        {UINT64_C(9223372036854775808), "8388608 TiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char got[TEXT_SIZE_MAX];
        cr_expect(eq(str, (char *)text_size(got, cases[i].bytes), (char *)cases[i].want));
    }
}
