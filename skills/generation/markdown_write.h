#pragma once
/* markdown_write: others' words put into Markdown so that they stay words.
 *
 * Nothing that is written here opens a fence, a comment, a link or a command that some
 * agent runs before a model reads the file ("!" before a backtick). */
#include <stddef.h>

struct buf;

/* Running text on one line: white space runs become one blank, "](" and "<!" are taken
 * apart. */
void markdown_prose(struct buf *out, const char *text, size_t max);
/* A code span on one line, cut to max bytes. */
void markdown_span(struct buf *out, const char *text, size_t max);
/* A fenced block, its fence longer than any in the text. */
void markdown_fence(struct buf *out, const char *language, const char *text);
/* A command: a span where it is short, one line and harmless there, else a block between
 * blank lines (then before and after stand on lines of their own). */
void markdown_command(struct buf *out, const char *before, const char *command,
                      const char *after);
/* The fence language of a file by its name; "" when unknown. */
const char *markdown_language(const char *path);
