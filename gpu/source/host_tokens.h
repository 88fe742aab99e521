#pragma once
/* host_tokens: a source as an array of small tokens, in which the words of declarations
 * are already classified. Part of host_code. */
#include "base/mem.h"

enum code_word {
    WORD_NONE, /* other punctuators and literals */
    WORD_NAME, /* an identifier that is not a keyword below */
    WORD_NUMBER,
    WORD_DIRECTIVE,
    WORD_END,
    /* punctuators */
    WORD_BRACE_OPEN,
    WORD_BRACE_CLOSE,
    WORD_PAREN_OPEN,
    WORD_PAREN_CLOSE,
    WORD_BRACKET_OPEN,
    WORD_BRACKET_CLOSE,
    WORD_LESS,
    WORD_GREATER,
    WORD_SHIFT_RIGHT,
    WORD_LAUNCH_OPEN,
    WORD_LAUNCH_CLOSE,
    WORD_SEMICOLON,
    WORD_COMMA,
    WORD_ASSIGN,
    WORD_COLON,
    WORD_SCOPE,
    WORD_STAR,
    WORD_AMPERSAND,
    WORD_TILDE,
    WORD_ARROW,
    WORD_DOT,
    WORD_AND_AND,
    WORD_OR_OR,
    WORD_NOT,
    /* keywords */
    WORD_NAMESPACE,
    WORD_INLINE,
    WORD_EXTERN,
    WORD_TEMPLATE,
    WORD_TYPENAME,
    WORD_CLASS,
    WORD_STRUCT,
    WORD_UNION,
    WORD_ENUM,
    WORD_USING,
    WORD_TYPEDEF,
    WORD_STATIC_ASSERT,
    WORD_FRIEND,
    WORD_OPERATOR,
    WORD_REQUIRES,
    WORD_CONCEPT,
    WORD_CONSTEXPR,
    WORD_CONST,
    WORD_STATIC,
    WORD_VIRTUAL,
    WORD_TRY,
    WORD_CATCH,
    WORD_FINAL,
    WORD_DEFAULT,
    WORD_DELETE,
    WORD_ACCESS, /* public, private, protected */
    WORD_ASM,
    /* alignas, noexcept, decltype, __launch_bounds__ …: its ( ) is not a parameter
     * list */
    WORD_ATTRIBUTE,
    WORD_GLOBAL, /* __global__ */
    WORD_DEVICE, /* __device__, __constant__, __shared__, __managed__ */
    WORD_HOST,   /* __host__ */
    WORD_TYPE,   /* int, float, unsigned, void, auto … */
};

struct code_token {
    uint32_t start, end;
    uint8_t word;
    bool line_start;
};

#define HOST_TOKENS_MAX (4u << 20)
#define HOST_SCAN_TOKENS_MAX (1u << 20) /* the limit for reading on the loop's thread */

struct cuda_directive;
struct code_tokens {
    const char *text;
    size_t len;
    struct code_token *list; /* ends with WORD_END */
    size_t count;            /* without WORD_END */
};

/* -E2BIG over HOST_TOKENS_MAX tokens, or over `max`. */
int code_tokens_read(struct code_tokens *ret, const char *text, size_t len);
int code_tokens_read_up_to(struct code_tokens *ret, const char *text, size_t len,
                           size_t max);
void code_tokens_finish(struct code_tokens *t);

/* Whether macros of the text could paste __global__ or __device__ with ##: one word is a
 * beginning of it, and one an end. */
bool code_may_paste_space(const char *text, size_t len);

/* WORD_END past the end. */
static inline enum code_word code_word(const struct code_tokens *t, size_t i) {
    return t->list[i < t->count ? i : t->count].word;
}
/* 1 for ( { and [, -1 for the closing ones, else 0. */
int code_word_nests(enum code_word word);
/* Whether it is ++ or --; whether it is one of these or =, += and the like. */
bool code_token_steps(const struct code_tokens *t, size_t i);
bool code_token_writes(const struct code_tokens *t, size_t i);
/* Whether token i has this text; false past the end. */
bool code_token_is(const struct code_tokens *t, size_t i, const char *text);
/* The same for any of the words, which are separated by blanks. */
bool code_token_in(const struct code_tokens *t, size_t i, const char *words);
/* Reads the directive at token i; then call cuda_directive_finish. False: it is not
 * one. */
bool code_token_directive(const struct code_tokens *t, size_t i,
                          struct cuda_directive *ret);
/* The same, only for a #define. */
bool code_token_define(const struct code_tokens *t, size_t i, struct cuda_directive *ret);
/* An identifier without lower-case letters, as is usual for macros. */
bool code_token_is_capital(const struct code_tokens *t, size_t i);
/* A hash of the spelling, equal for equal spellings (splices aside). */
uint64_t code_token_hash(const struct code_tokens *t, size_t i);
uint64_t code_hash(const char *s, size_t len);
/* The next token after i that is not a directive. */
size_t code_token_after(const struct code_tokens *t, size_t i);
/* With i at '<': the index of the token with the matching '>', or i if there is none
 * before a ';' or brace outside parentheses. */
size_t code_angles_end(const struct code_tokens *t, size_t i);
