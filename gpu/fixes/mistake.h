#pragma once
/* mistake: one finding on its way to a cure, and the edits that a cure is made of. What
 * the files of fixes share. */
#include "gpu/fixes/fix_text.h"

/* All that one call of fixes_add works with. The texts are read when a finding points
 * into them. */
struct fixer {
    const struct source_set *sources;
    const char *arch;
    json_t *findings;
    struct fix_text **texts; /* one per source, NULL until needed */
    bool told_target;        /* the way out of sm_90 was told; once is enough */
};

/* The finding at hand. */
struct mistake {
    struct fixer *fixer;
    json_t *finding;
    const char *message;
    struct fix_text *text; /* NULL when it has no place in a source */
    size_t offset, token;  /* where it points, and the token there (count: none) */
    const char *word;      /* what the message names between the rule's two texts */
    size_t word_len;
};

/* The source that findings call `display`, as tokens; NULL when there is none. */
struct fix_text *mistake_source(struct fixer *fixer, const char *display);
/* A fix that replaces [start, end) by text; with title NULL one more edit of the last
 * fix. */
void mistake_edit(struct mistake *m, const char *title, size_t start, size_t end,
                  const char *text);
void mistake_say(struct mistake *m, const char *more); /* adds to the message */
/* A fix that adds lines at the top: an #include, a declaration, or both. Nothing when the
 * header is included already and there is no declaration. */
void mistake_add_lines(struct mistake *m, const char *header, const char *declaration);
void mistake_replace(struct mistake *m, size_t token, const char *by);
