#pragma once
/* kernel_source: a C++ or CUDA file as text that can be searched without mistaking
 * comments and strings for code. Offsets and lines are those of the file. */
#include "base/lines.h"
#include "protocol/finding.h"

#include <stdbool.h>
#include <stddef.h>

struct kernel_source {
    char *text;
    char *code;  /* comments blanked */
    char *words; /* comments and the insides of strings blanked */
    size_t len;
    struct lines lines;
};

/* text is taken over; NUL bytes in it become blanks. */
void kernel_source_init(struct kernel_source *s, char *text, size_t len);
void kernel_source_finish(struct kernel_source *s);

/* The next place of an identifier in `words` at or after `from`; SIZE_MAX when none. */
size_t kernel_source_word(const struct kernel_source *s, const char *word, size_t from);
/* The end (past the closer) of the (…), […] or {…} that opens at `at`, at most max bytes
 * on. */
size_t kernel_source_close(const struct kernel_source *s, size_t at, size_t max);
struct finding_span kernel_source_span(const struct kernel_source *s, size_t start,
                                       size_t end);
