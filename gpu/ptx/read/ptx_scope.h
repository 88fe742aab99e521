#pragma once
/* ptx_scope: names and what they stand for, in nested scopes. A name declared in a block
 * hides the same name outside of it; scopes stay known after they are closed, so that
 * labels can be resolved once the whole function has been read.
 *
 * Names are places in the text, which must outlive the table. */
#include "base/mem.h"

enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER,
    PTX_SYMBOL_RANGE,           /* %r<12>: index of %r0, count 12 */
    PTX_SYMBOL_VECTOR_REGISTER, /* .reg .v4 .f32 v: index of v.x, count 4 */
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_FUNCTION,
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_TABLE,
    PTX_SYMBOL_PROTOTYPE,
};

struct ptx_symbol {
    uint32_t at, len; /* the name, in the text */
    uint32_t scope;   /* 1 + its number; 0 = a free slot */
    uint32_t hash;
    uint32_t index, count;
    uint8_t kind; /* enum ptx_symbol_kind */
    bool own;     /* of its part of the text: no linkage */
};

#define PTX_MAX_DEPTH 64

struct ptx_scopes {
    const char *text;
    struct ptx_symbol *slots; /* open addressing, a power of two */
    uint32_t room, count;
    uint32_t *parents; /* of each scope; scope 0 is its own */
    uint32_t scope_count, scope_room;
    uint32_t current, depth;
};

void ptx_scopes_init(struct ptx_scopes *s, const char *text);
void ptx_scopes_finish(struct ptx_scopes *s);
/* Forgets every name and scope but keeps the memory. */
void ptx_scopes_reset(struct ptx_scopes *s);
/* Forgets names that are their part's own. */
void ptx_scopes_forget_own(struct ptx_scopes *s);

bool ptx_scope_open(struct ptx_scopes *s);  /* false: deeper than PTX_MAX_DEPTH */
bool ptx_scope_close(struct ptx_scopes *s); /* false: only the outermost is left */

/* Declares a name in the current scope. NULL when it is taken there; *ret_old is then
 * what has it. The pointer is good until the next addition. */
struct ptx_symbol *ptx_symbol_add(struct ptx_scopes *s, uint32_t at, uint32_t len,
                                  int kind, struct ptx_symbol **ret_old);
/* The innermost declaration seen from `scope`, or NULL. */
struct ptx_symbol *ptx_symbol_find(struct ptx_scopes *s, uint32_t scope, const char *name,
                                   uint32_t len);
/* As above; for %r7 also a range %r<8> or more, where a name of its own comes first in
 * each scope: *ret_number is then 7, and 0 for other symbols. */
struct ptx_symbol *ptx_symbol_find_numbered(struct ptx_scopes *s, uint32_t scope,
                                            const char *name, uint32_t len,
                                            uint32_t *ret_number);
