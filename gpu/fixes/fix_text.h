#pragma once
/* fix_text: a source file as tokens and lines, to find where an edit belongs. */
#include "base/lines.h"
#include "gpu/source/cuda_lexer.h"
#include "gpu/source/source_set.h"
#include "protocol/finding.h"

struct fix_text {
    const char *display;
    const char *text; /* as written, including host code; borrowed */
    size_t len;
    struct lines lines;
    struct cuda_token *tokens;
    size_t count;
};

#define FIX_TEXT_MAX_TOKENS (1u << 20) /* the rest of a longer file gets no fixes */

void fix_text_init(struct fix_text *t, const struct source_file *file);
void fix_text_finish(struct fix_text *t);

/* The byte offset of a 1-based place; len if it is past the end. */
size_t fix_text_offset(const struct fix_text *t, int line, int column);
/* Index of the first token that ends after offset; count if there is none. */
size_t fix_text_token(const struct fix_text *t, size_t offset);
bool fix_text_is(const struct fix_text *t, size_t i,
                 const char *word); /* false out of range */
/* One of them; NULL-terminated. */
bool fix_text_is_any(const struct fix_text *t, size_t i, const char *const *words);
bool fix_text_has(const struct fix_text *t, size_t i, const char *word, size_t len);
/* Whether these tokens occur in sequence: "namespace", "cg", "=". NULL-terminated. */
bool fix_text_says(const struct fix_text *t, const char *const *words);
/* The offset for a new #include: after the last of the leading ones, otherwise the
 * start. */
size_t fix_text_include_place(const struct fix_text *t);
/* Whether an #include of exactly this ("<cmath>") is there. */
bool fix_text_includes(const struct fix_text *t, const char *header);
