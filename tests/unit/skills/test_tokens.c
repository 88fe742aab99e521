#include "skills/format/tokens.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* By hand from the weights: 1.055 a word, 0.540 a further 7 letters, 2.07 a group of
 * three digits, 0.359 a punctuation mark, 1.365 a white space run with a line break, 2.12
 * a character outside ASCII. */
Test(tokens, the_estimate_is_the_sum_over_classes) {
    static const struct {
        const char *text;
        double want;
    } cases[] = {
        {"", 0},
        {"   \t ", 0},
        {"one two three four", 4 * 1.055},
        {"internationalization", 1.055 + 2 * 0.540},
        {"1234567", 3 * 2.07},
        {"a, b; (c)", 3 * 1.055 + 4 * 0.359},
        {"a\n\n  b\r\nc d", 4 * 1.055 + 2 * 1.365},
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 3 * 2.12},
        {"__shfl_down_sync(0xffffffff, v, 16);",
         5 * 1.055 + 0.540 + 2 * 2.07 + 9 * 0.359},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t got = tokens_estimate(cases[i].text, strlen(cases[i].text));
        cr_expect(eq(sz, got, (size_t)(cases[i].want + 0.5)), "%s", cases[i].text);
    }
}
