#pragma once
/* code_block: the position of a Markdown code block in its file: within a list or a
 * quotation its lines have a prefix. */
#include "base/json.h"
#include "skills/format/markdown.h"

/* The length of the prefix of the block's lines in the file; 0 if there is none. text:
 * the text that the block was read from; first_line: its first line in the file. */
size_t code_block_inset(const struct markdown_code *code, const char *text, size_t len,
                        int first_line);
/* The block's length, without the line feed that the reader adds to an unclosed block at
 * the end of a file that lacks one. */
size_t code_block_length(const struct markdown_code *code, const char *text, size_t len);
/* Moves findings about the block, from index `from` on, to the file's columns. If that
 * changes them, edits are removed: new lines would lack the prefix. */
void code_block_move(json_t *findings, size_t from, size_t inset);
void code_block_move_one(json_t *finding, size_t inset);
