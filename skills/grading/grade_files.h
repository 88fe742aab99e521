#pragma once
/* grade_files: the code blocks of an answer, and the files among them.
 *
 * A fenced block is a file when its name stands
 *   - in the info string: ```cuda path=src/k.cu, file=, title= or name= alike, or a bare
 *     second word with a dot or slash (```cuda src/k.cu), or after a colon
 * (```cuda:src/k.cu);
 *   - on the last line of text before the fence (a blank line between is fine), alone but
 *     for markup, a colon, a list mark or the word "File": `### src/k.cu`,
 * `**src/k.cu**:`;
 *   - on the block's first line, alone in a comment: `// src/k.cu`, `# build.toml`.
 * Of several blocks with one name the last counts. Names are relative and plain (letters,
 * digits, "._-+/"): what could lead out of a folder is no name. */

#include "base/mem.h"
#include "skills/format/markdown.h"

#define ANSWER_MAX_FILES 256

struct answer_file {
    char *path; /* normalised */
    const char *text;
};
struct answer_code {
    struct markdown blocks;
    struct answer_file *files;
    size_t file_count;
};

void answer_code_read(struct answer_code *ret, const char *text, size_t len);
/* Adds a file as a block of that name; replaces an earlier one of that name. */
void answer_code_add(struct answer_code *c, const char *path, const char *text);
void answer_code_finish(struct answer_code *c);
/* The text of a file by its path, or by its base name; NULL if absent. */
const char *answer_code_file(const struct answer_code *c, const char *path);
/* The last block for which the function returns true, or NULL. */
typedef bool answer_code_takes(const struct markdown_code *block, void *data);
const struct markdown_code *answer_code_last(const struct answer_code *c,
                                             answer_code_takes *takes, void *data);
