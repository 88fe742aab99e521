#pragma once
/* cuda_lexer: splits CUDA C++ source into tokens, to find directives and declarations.
 *
 * It handles comments, line splices, string and character literals with every prefix, raw
 * strings, numbers with digit separators, digraphs and preprocessor directives. It never
 * fails: an unterminated literal ends at its line (or at the text's end, for a raw string
 * or comment). Offsets are bytes of the text as given; a byte order mark at the text's
 * start is white space. */
#include "base/mem.h"

enum cuda_token_kind {
    CUDA_END,
    CUDA_IDENTIFIER, /* keywords too */
    CUDA_NUMBER,
    CUDA_STRING, /* any prefix, raw or not */
    CUDA_CHARACTER,
    CUDA_PUNCTUATOR, /* longest match; <<< and >>> are single tokens where they fit */
    CUDA_DIRECTIVE, /* a whole directive, from '#' to before its newline, splices included
                     */
};

struct cuda_token {
    enum cuda_token_kind kind;
    size_t start, end;
    bool line_start; /* first token of its line */
};

struct cuda_lexer {
    const char *text;
    size_t len, at;
    bool line_start;
    char *tighten; /* cuda_splices_tighten's: the text, writable; else NULL */
};

void cuda_lexer_init(struct cuda_lexer *l, const char *text, size_t len);
/* The next token, comments and white space skipped. After CUDA_END it stays there. */
struct cuda_token cuda_lexer_next(struct cuda_lexer *l);
/* Whether the token is text; ignores splices, and a digraph equals its primary spelling.
 */
bool cuda_token_is(const struct cuda_lexer *l, const struct cuda_token *t,
                   const char *text);

/* gcc and nvcc allow blanks between a splice's backslash and its newline; NVRTC
 * does not. Moves those backslashes to their newlines, so that NVRTC, nvcc and this lexer
 * see the same lines. Raw strings do not change. */
void cuda_splices_tighten(char *text, size_t len);

/* The end of the token that starts at or covers `offset`, to turn a caret into a range;
 * offset itself if there is none. */
size_t cuda_token_end(const char *text, size_t len, size_t offset);

enum include_form { INCLUDE_QUOTED, INCLUDE_ANGLED, INCLUDE_COMPUTED };
struct cuda_directive {
    char name[32]; /* "include", "line", "define" …; "" for a null directive; "line" also
                      for GNU line markers ('# 33 "file"') */
    size_t argument, argument_end; /* offsets of what follows the name, comments and
                                      splices still in it */
    enum include_form form;        /* for include, include_next, import */
    char *target;                  /* unquoted include target, malloc'ed, or NULL */
};
/* Parses a CUDA_DIRECTIVE token, including splices and comments inside it. */
void cuda_directive_read(const struct cuda_lexer *l, const struct cuda_token *t,
                         struct cuda_directive *ret);
/* The change of the conditional depth: 1 for #if, #ifdef and #ifndef, -1 for #endif, else
 * 0. */
int cuda_directive_nests(const struct cuda_directive *d);
/* Initialises a lexer for the directive's argument. */
void cuda_lexer_init_argument(struct cuda_lexer *l, const char *text,
                              const struct cuda_directive *d);
void cuda_directive_finish(struct cuda_directive *d);
