#pragma once
/* kernel_source: a C++ or CUDA text that can be searched without mistaking comments and
 * strings for code. */
#include <stddef.h>

struct kernel_source {
    const char *text;
    char *words; /* the text, comments and the insides of strings blanked */
    size_t len;
};

/* text is borrowed. */
void kernel_source_init(struct kernel_source *s, const char *text);
void kernel_source_finish(struct kernel_source *s);

/* The next place of an identifier in `words` at or after `from`; SIZE_MAX when none. */
size_t kernel_source_word(const struct kernel_source *s, const char *word, size_t from);
