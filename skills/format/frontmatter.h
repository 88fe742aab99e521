#pragma once
/* frontmatter: the YAML between the two "---" lines at the beginning of SKILL.md.
 *
 * The first line of the text is "---" (a byte order mark before it and white space after
 * it are tolerated); the frontmatter ends at the next "---" line at column 0. Such a line
 * cannot occur within a YAML value, quoted or block, because YAML itself ends the
 * document there. An indented "---" is ordinary text. */
#include "base/mem.h"

struct frontmatter {
    size_t at, end; /* the YAML; end is the start of the closing line */
    size_t body;    /* after the closing line */
    bool opened;    /* false: there is no frontmatter */
    bool closed;
    bool late; /* not opened, but "---" follows after blank lines */
};
/* Not opened, but similar: lines of other dashes, an indented rule, or a code fence
 * around it. */
struct frontmatter_almost {
    size_t first, first_end; /* the line to replace by "---", or the fence to remove */
    size_t last, last_end;   /* its closing line; equal if there is none */
    bool fenced;             /* "---" is inside the fence */
};
bool frontmatter_almost(struct frontmatter_almost *ret, const char *text, size_t len);
void frontmatter_find(struct frontmatter *ret, const char *text, size_t len);

/* YAML with quotes added around values that a parser would reject: `key: a: b`, `key: [a]
 * [b]`, `key: *a* b`, `key: "a" b`, `key: 'it's'`, `key: "a`, and values that begin with
 * @, ` or %. Nothing else was changed. */
struct frontmatter_repair {
    char *yaml;
    size_t len;
    size_t *inserted; /* the offsets in yaml of inserted bytes, ascending */
    size_t inserted_count;
};
/* False if there was nothing to quote (ret is then empty). */
bool frontmatter_repair(struct frontmatter_repair *ret, const char *yaml, size_t len);
void frontmatter_repair_finish(struct frontmatter_repair *r);
/* The offset in the original YAML. */
size_t frontmatter_repair_origin(const struct frontmatter_repair *r, size_t offset);
