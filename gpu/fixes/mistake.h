#pragma once
/* mistake: one finding that is being fixed, and the edits of its fix. Shared by the files
 * of fixes. */
#include "gpu/fixes/fix_text.h"

/* The state of one call of fixes_add. A text is read when a finding points into it. */
struct fixer {
    const struct source_set *sources;
    const char *arch;
    json_t *findings;
    struct fix_text **texts; /* one per source, NULL until needed */
    bool told_target;        /* the way out of sm_90 was reported, which is done once */
};

/* The current finding. */
struct mistake {
    struct fixer *fixer;
    json_t *finding;
    const char *message;
    struct fix_text *text; /* NULL if its place is not in a source */
    size_t offset, token;  /* its place, and the token there (count: none) */
    const char *word;      /* the part of the message between the rule's two texts */
    size_t word_len;
};

/* Of NVIDIA's front end, which NVRTC and nvcc share. */
bool mistake_is_of_front_end(const json_t *finding);
/* The source with the name `display` in findings, as tokens; NULL if there is none. */
struct fix_text *mistake_source(struct fixer *fixer, const char *display);
/* Adds a fix that replaces [start, end) by text; if title is NULL, adds an edit to the
 * last fix. */
void mistake_edit(struct mistake *m, const char *title, size_t start, size_t end,
                  const char *text);
void mistake_say(struct mistake *m, const char *more); /* adds to the message */
/* Adds a fix that inserts lines at the top: an #include, a declaration, or both. Does
 * nothing if the header is already included and there is no declaration. */
void mistake_add_lines(struct mistake *m, const char *header, const char *declaration);
void mistake_replace(struct mistake *m, size_t token, const char *by);
