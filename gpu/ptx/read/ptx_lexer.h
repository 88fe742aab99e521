#pragma once
/* ptx_lexer: PTX text as tokens, one at a time. Nothing is allocated; a token is a place
 * in the text. Comments and blanks are skipped. */
#include "base/mem.h"

enum ptx_token_kind { /* below 128: the character itself */
                      PTX_TOKEN_END = 128,
                      PTX_TOKEN_NAME,   /* foo, %r1, $L__BB0_2, _ */
                      PTX_TOKEN_WORD,   /* .global, .2d, .shared::cta: at and len without
                                           the dot */
                      PTX_TOKEN_NUMBER, /* 12, 0x1F, 0f3F800000, 1.5e-3, 7U */
                      PTX_TOKEN_STRING, /* at and len without the quotes */
                      PTX_TOKEN_SHIFT_LEFT,
                      PTX_TOKEN_SHIFT_RIGHT,
                      PTX_TOKEN_LESS_EQUAL,
                      PTX_TOKEN_GREATER_EQUAL,
                      PTX_TOKEN_EQUAL,
                      PTX_TOKEN_NOT_EQUAL,
                      PTX_TOKEN_AND,
                      PTX_TOKEN_OR,
                      PTX_TOKEN_BAD, /* no PTX: a control byte, an open comment or string
                                      */
};

struct ptx_token {
    int kind;
    uint32_t at, len;
    uint32_t line; /* 1-based */
};

struct ptx_lexer {
    const char *text; /* NUL-terminated at len; fewer than 4 GiB */
    uint32_t len, at, line;
};

void ptx_lexer_init(struct ptx_lexer *l, const char *text, uint32_t len);
struct ptx_token ptx_lexer_next(struct ptx_lexer *l);

struct ptx_number {
    enum {
        PTX_NUMBER_SIGNED,   /* fits int64_t, no U */
        PTX_NUMBER_UNSIGNED, /* U, or too big for int64_t */
        PTX_NUMBER_SINGLE,   /* 0f: bits of a binary32 */
        PTX_NUMBER_DOUBLE,   /* 0d or decimal: bits of a binary64 */
    } kind;
    uint64_t bits;
};
/* false: no number of PTX, or over 64 bits. */
bool ptx_number_read(const char *s, size_t len, struct ptx_number *ret);
