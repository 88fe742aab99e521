#pragma once
/* frontmatter: the YAML between the two "---" lines at the head of SKILL.md.
 *
 * The first line of the text is "---" (a byte order mark before it and white space after
 * it are tolerated); the frontmatter ends at the next line that is "---" at column 0.
 * Such a line cannot stand within a YAML value, quoted or block: YAML itself ends the
 * document there. Indented, it is text like any other. */
#include <stdbool.h>
#include <stddef.h>

struct frontmatter {
    size_t at, end; /* the YAML; end is where the closing line begins */
    size_t body;    /* behind the closing line */
    bool opened;    /* false: no frontmatter at all */
    bool closed;
    bool late; /* not opened, but "---" follows after blank lines */
};
/* Not opened, but almost: lines of other dashes, an indented rule, or a code fence around
 * it. */
struct frontmatter_almost {
    size_t first, first_end; /* the line to write "---" for, or the fence to remove */
    size_t last, last_end;   /* likewise its closing line; equal when there is none */
    bool fenced;             /* "---" stands within the fence */
};
bool frontmatter_almost(struct frontmatter_almost *ret, const char *text, size_t len);
void frontmatter_find(struct frontmatter *ret, const char *text, size_t len);

/* YAML in which values were quoted that a reader would choke on: `key: a: b`,
 * `key: [a] [b]`, `key: *a* b`, `key: "a" b`, `key: 'it's'`, `key: "a`, and values that
 * begin with
 * @, ` or %. Nothing else was changed. */
struct frontmatter_repair {
    char *yaml;
    size_t len;
    size_t *inserted; /* where in yaml bytes were inserted, ascending */
    size_t inserted_count;
};
/* False when there was nothing to quote (ret is then empty). */
bool frontmatter_repair(struct frontmatter_repair *ret, const char *yaml, size_t len);
void frontmatter_repair_finish(struct frontmatter_repair *r);
/* The offset in the YAML as it was written. */
size_t frontmatter_repair_origin(const struct frontmatter_repair *r, size_t offset);
