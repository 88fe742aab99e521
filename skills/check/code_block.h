#pragma once
/* code_block: a code block of a Markdown text as it stands in the file: within a list or
 * a quotation its lines have something before them. */
#include "base/json.h"
#include "skills/format/markdown.h"

#include <stddef.h>

/* Bytes before the block's lines in the file; 0 when it stands there as it is. text: what
 * the block was read from; first_line: of it, in the file. */
size_t code_block_inset(const struct markdown_code *code, const char *text, size_t len,
                        int first_line);
/* The block's length, without the line feed that a block in need of its closing fence has
 * and the file has not. */
size_t code_block_length(const struct markdown_code *code, const char *text, size_t len);
/* Findings about the block, from index `from` on, moved to the file's columns. Where that
 * moves them, edits are taken out: new lines would lack what stands before them. */
void code_block_move(json_t *findings, size_t from, size_t inset);
void code_block_move_one(json_t *finding, size_t inset);
