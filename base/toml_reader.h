#pragma once
/* toml_reader: a position in a TOML text, and the document being built. toml.c reads the
 * structure, toml_scalar.c strings, numbers and times; toml_document.c gives access to
 * the result. */
#include "base/buf.h"
#include "base/lines.h"
#include "base/toml.h"

#define TOML_MAX_TEXT (256u << 10)
#define TOML_MAX_DEPTH 32
#define TOML_MAX_NODES 10000

struct toml_document {
    json_t *json;
    struct toml_node *nodes; /* nodes[0] is the root */
    size_t count, cap;
    struct lines lines;
};

struct toml_reader {
    struct toml_document *doc;
    const char *text;
    size_t len, at;
    size_t error_at;
    char error[256]; /* "" = none yet */
};

/* Records the first error; always false. */
bool toml_fail(struct toml_reader *r, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The byte at `at` + ahead, or -1 at the end. */
int toml_peek(const struct toml_reader *r, size_t ahead);
/* Skips the prefix if it comes next. */
bool toml_eat(struct toml_reader *r, const char *prefix);
/* The length of the "\n" or "\r\n" that comes next, else 0. */
size_t toml_newline(const struct toml_reader *r);

void toml_skip_blanks(struct toml_reader *r);
/* Skips blanks, comments and line ends. False after an error, as in all functions
 * below. */
bool toml_skip_space(struct toml_reader *r);
/* Only a comment may follow on this line; what: "a value", for the message. */
bool toml_end_line(struct toml_reader *r, const char *what);

/* Reads the string at r->at, quotes included, into out. many_lines: also the """ and '''
 * forms. */
bool toml_read_string(struct toml_reader *r, struct buf *out, bool many_lines);
/* A number, boolean, date or time at r->at. */
bool toml_read_word(struct toml_reader *r, enum toml_kind *ret_kind, json_t **ret);
