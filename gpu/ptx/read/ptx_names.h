#pragma once
/* ptx_names: the words of PTX and what they stand for, looked up by their exact spelling.
 * Thread-safe. */
#include "gpu/ptx/read/module.h"

/* One dotted word of an instruction or a declaration, given without its dot. */
struct ptx_word {
    uint8_t type;      /* enum ptx_type, PTX_NONE = no type */
    uint8_t space;     /* enum ptx_space, PTX_GENERIC = no space */
    uint8_t vector;    /* 2, 4, 8 of v2, v4, v8; 0 */
    uint16_t shape[3]; /* of m16n8k16 and m8n8; 0s */
    int modifier;      /* enum ptx_modifier, -1 = none */
};
/* false: the word is in no table. */
bool ptx_word_find(const char *word, size_t len, struct ptx_word *ret);

int ptx_opcode_find(const char *word, size_t len);  /* enum ptx_opcode, -1 = none */
int ptx_special_find(const char *word, size_t len); /* enum ptx_special, -1 = none */
