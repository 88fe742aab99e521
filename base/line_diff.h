#pragma once
/* line_diff: which lines of a text stay in its edited version: a longest common
 * subsequence of lines. */
#include "base/lines.h"

#include <stdbool.h>

struct line_diff {
    const char *texts[2]; /* before, after; borrowed */
    struct lines lines[2];
    bool endings; /* a line's ending belongs to it */
    size_t *map;  /* of each line before: its line after, from 1; 0: it went */
};

/* Of the lines between the first and the last difference none is kept if they make more
 * than `cells` pairs (4 bytes each meanwhile). */
void line_diff_init(struct line_diff *d, const char *before, const char *after,
                    bool endings, size_t cells);
void line_diff_finish(struct line_diff *d);
/* What follows line *i before and line *k after, which are moved behind it: '-' a line
 * that went, '+' one that came, ' ' one that stays; 0: both texts end. */
char line_diff_next(const struct line_diff *d, size_t *i, size_t *k);
/* Line i of a text (0: before), of *ret_len bytes as they are compared. */
const char *line_diff_line(const struct line_diff *d, int side, size_t i,
                           size_t *ret_len);
