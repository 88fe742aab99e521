#pragma once
/* lines: the line starts of a text.
 *
 * "\n", "\r\n" and a lone "\r" end a line, as in LSP. Lines and offsets are 0-based
 * here; findings are 1-based (see protocol/finding.h). */
#include <stddef.h>

struct lines {
    size_t *starts; /* byte offset of each line; starts[0] == 0 */
    size_t count;   /* at least 1 */
    size_t len;     /* of the text */
};

void lines_init(struct lines *l, const char *text, size_t len);
void lines_finish(struct lines *l);
/* The line that contains the byte offset (clamped to the text). */
size_t lines_at(const struct lines *l, size_t offset);
/* 1-based line and, where ret_column is not NULL, byte column of the offset. */
int lines_place(const struct lines *l, size_t offset, int *ret_column);
/* The end of the line's content, without its line ending. text must be the text given to
 * lines_init. */
size_t lines_end(const struct lines *l, const char *text, size_t line);
