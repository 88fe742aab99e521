#include "base/buf.h"
#include "base/line_diff.h"

#include <criterion/criterion.h>

/* Each line before, from 1, with its line after, as diff(1) keeps them. */
static void check_map(const char *before, const char *after, bool endings, size_t cells,
                      const char *want) {
    struct line_diff d;
    autobuf said = BUF_INIT(200);
    line_diff_init(&d, before, after, endings, cells);
    for (size_t i = 0; i < d.lines[0].count; i++) {
        buf_addf(&said, "%zu ", d.map[i]);
    }
    cr_assert_str_eq(said.data, want, "%s -> %s: %s", before, after, said.data);
    line_diff_finish(&d);
}

Test(line_diff, lines_are_found_where_they_went) {
    check_map("a\nb\nc", "a\nb\nc", true, 100, "1 2 3 ");
    check_map("a\nb\nc", "a\nx\ny\nb\nc", true, 100, "1 4 5 ");
    check_map("a\nb\nc", "a\nB\nc", true, 100, "1 0 3 ");
    check_map("a\nb\nc\nd\ne", "x\nb\ny\nd\nz", true, 100, "0 2 0 4 0 ");
    check_map("a\na\nb", "b\na\na", false, 100, "2 3 0 ");
    check_map("", "a\n", true, 100, "");
    check_map("a\nb", "", true, 100, "0 0 ");
}

Test(line_diff, endings_count_where_they_belong_to_a_line) {
    check_map("a\r\nb", "a\nb\n", false, 100, "1 2 ");
    check_map("a\r\nb", "a\nb\n", true, 100, "0 0 ");
}

Test(line_diff, a_long_middle_is_replaced_as_a_whole) {
    check_map("1\na\nx\nb\n2", "1\nc\nx\nd\n2", false, 9, "1 0 3 0 5 ");
    check_map("1\na\nx\nb\n2", "1\nc\nx\nd\n2", false, 8, "1 0 0 0 5 ");
}

Test(line_diff, steps_name_what_went_first) {
    struct line_diff d;
    autobuf said = BUF_INIT(200);
    line_diff_init(&d, "a\nb\nc\n", "a\nx\nc\ny\n", true, 100);
    size_t i = 0, k = 0;
    for (char mark; (mark = line_diff_next(&d, &i, &k));) {
        buf_addf(&said, "%c%zu,%zu ", mark, i, k);
    }
    cr_assert_str_eq(said.data, " 1,1 -2,1 +2,2  3,3 +3,4 ", "%s", said.data);
    line_diff_finish(&d);
}
