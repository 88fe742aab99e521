/* Header fields as RFC 9110 has them: a name of token characters, a colon, and for a
 * length decimal digits between blanks. */
#include "base/mem.h"
#include "protocol/rpc/frame_header.h"

#include <criterion/criterion.h>
#include <string.h>

Test(frame_header, a_length_is_digits_between_blanks) {
    static const struct {
        const char *text;
        long long length;
    } cases[] = {{"0", 0},      {"12", 12},  {" \t907\t ", 907},
                 {"007", 7},    {"", -1},    {" ", -1},
                 {"\t \t", -1}, {"-1", -1},  {"+1", -1},
                 {"1x", -1},    {"x1", -1},  {"1 2", -1},
                 {"0x10", -1},  {"1.0", -1}, {"1e3", -1},
                 {"9:", -1},    {"/", -1},   {"16777216", 16777216}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_expect_eq(frame_header_length(cases[i].text, strlen(cases[i].text)),
                     cases[i].length, "\"%s\"", cases[i].text);
    }
    char many[400];
    memset(many, '9', sizeof many);
    cr_expect_gt(frame_header_length(many, sizeof many), FRAME_ABSURD_LENGTH);
    cr_expect_eq(frame_header_length("123", 2), 12, "no further than its length");
}

Test(frame_header, a_name_is_a_token_before_a_colon) {
    static const char token[] =
        "!#$%&'*+-.^_`|~"
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (int c = 0; c < 256; c++) {
        char line[] = {'a', (char)c, 'b', ':', 'x'};
        bool may = c && strchr(token, c) != NULL;
        cr_expect_eq(frame_header_name(line, sizeof line),
                     may        ? 3
                     : c == ':' ? 1
                                : 0,
                     "%d", c);
        cr_expect_eq(frame_header_name(line + 1, sizeof line - 1), may ? 2 : 0,
                     "%d in front", c);
    }
    cr_expect_eq(frame_header_name("abc", 3), 0);
    cr_expect_eq(frame_header_name("abc:", 3), 0);
    cr_expect_eq(frame_header_name(":", 1), 0);
    cr_expect(frame_header_is("Content-LENGTH: 1", 14, "content-length"));
    cr_expect(!frame_header_is("Content-Length: 1", 13, "content-length"));
    cr_expect(!frame_header_is("Content-Lengt_: 1", 14, "content-length"));
}

Test(frame_header, the_length_is_found_by_its_name_anywhere) {
    static const struct {
        const char *text;
        ptrdiff_t at;
    } cases[] = {{"Content-Length: 1", 0},
                 {"x: y\ncontent-length:2", 5},
                 {"a:b:Content-length:", 4},
                 {"ontent-Length:", -1},
                 {"Content-Length 1", -1},
                 {"Content-Lengt: 1", -1},
                 {":", -1},
                 {"", -1}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t len = strlen(cases[i].text);
        cr_expect_eq(frame_header_find(cases[i].text, 0, len), cases[i].at, "%s",
                     cases[i].text);
    }
    static const char twice[] = "Content-Length: 1\nContent-Length: 2\n";
    cr_expect_eq(frame_header_find(twice, 17, sizeof twice - 1), 18);
    cr_expect_eq(frame_header_find(twice, 0, 14), -1, "its colon is not there yet");
}
