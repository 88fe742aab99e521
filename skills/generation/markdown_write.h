#pragma once
/* markdown_write: writes foreign text into Markdown so that it stays text.
 *
 * The output never opens a fence, a comment, a link or a command that some agent runs
 * before a model reads the file ("!" before a backtick). */
#include "base/mem.h"

/* Running text on one line: runs of white space become one blank, "](" and "<!" are
 * separated. */
void markdown_prose(struct buf *out, const char *text, size_t max);
/* A code span on one line, cut to max bytes. */
void markdown_span(struct buf *out, const char *text, size_t max);
/* A fenced block, its fence longer than any in the text. */
void markdown_fence(struct buf *out, const char *language, const char *text);
/* A command: a span if it is short, harmless and one line, else a block between blank
 * lines (then before and after are on separate lines). */
void markdown_command(struct buf *out, const char *before, const char *command,
                      const char *after);
/* The fence language of a file by its name; "" if unknown. */
const char *markdown_language(const char *path);
