#pragma once
/* safety_patterns: what a skill must not contain, as a table (safety_patterns.txt).
 *
 * A pattern is only tried in a window around one of its words, so that a long text costs
 * one pass and a few short matches. */
#include "base/mem.h"

/* A file that only its owner may read; part of an expression. */
#define HARD_SECRET                                                                      \
    "(?:\\.ssh/"                                                                         \
    "(?:id_[a-z0-9]+\\b(?!\\.pub)|\\*)|\\bid_(?:rsa|ed25519|ecdsa)\\b(?!\\.pub)|\\.aws/" \
    "credentials|"                                                                       \
    "(?<!\\w)\\.netrc\\b|/etc/shadow|login\\.keychain|\\.gnupg/|\\.git-credentials)"

enum safety_where {
    IN_PROSE = 1,
    IN_CODE = 2, /* fenced blocks */
    IN_FRONTMATTER = 4,
    IN_SCRIPT = 8, /* files that are not Markdown */
};
#define IN_MARKDOWN (IN_PROSE | IN_CODE | IN_FRONTMATTER)
#define IN_COMMANDS (IN_PROSE | IN_CODE | IN_SCRIPT)
#define IN_ALL (IN_MARKDOWN | IN_SCRIPT)

enum safety_window {
    WINDOW_LINE,      /* with its continuation lines, after a backslash or a pipe */
    WINDOW_PARAGRAPH, /* three lines: sentences are wrapped */
    WINDOW_UNIT,      /* the code block, or some KiB of the file */
};

struct safety_pattern {
    const char *code, *message;
    const char *words; /* one of them occurs in every match; separated by '|' */
    const char *regex;
    bool block; /* error; else warning */
    unsigned where;
    enum safety_window window;
    /* Whether it is more than an example; NULL: every match counts. */
    bool (*is_real)(const char *match, size_t len);
    /* If true, an error becomes a warning; NULL: never. */
    bool (*is_lesser)(const char *match, size_t len);
    /* Whether the text after the match makes it one: group 1 and the rest. */
    bool (*is_followed)(const char *group, size_t len, const char *rest, size_t rest_len);
};
/* From 0, in the order of safety_patterns.txt; after the last one: one without a code. */
const struct safety_pattern *safety_pattern_at(size_t id);
#define SAFETY_REST 1500u /* bytes after a match that is_followed gets */
