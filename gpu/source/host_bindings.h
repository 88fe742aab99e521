#pragma once
/* host_bindings: names in a host function that stand for constants and types. Part of
 * host_code. */
#include "gpu/source/host_declarations.h"

#define BINDINGS_MAX 256

/* A name and the text for which it stands: a local constant or alias, or a template
 * parameter. A text with a newline means unknown. */
struct binding {
    uint64_t name;
    char *text;
};
struct bindings {
    struct binding list[BINDINGS_MAX];
    size_t count;
};

/* Takes ownership of text; NULL: the name's meaning is unknown. */
void bindings_add(struct bindings *s, uint64_t name, char *text);
void bindings_finish(struct bindings *s);
/* The text of the latest binding, NULL if there is none. */
const char *bindings_text(const struct bindings *s, uint64_t name);

/* The tokens [from, to) as text with single blanks and bound names replaced; NULL if it
 * grows too long or depends on an unknown name. */
char *bindings_expand(const struct code_tokens *t, size_t from, size_t to,
                      const struct bindings *names);
char *bindings_expand_text(const char *text, const struct bindings *names);
/* "(text)", or text if it is one word; takes ownership of text, NULL stays NULL. */
char *bindings_in_parens(char *text);

/* Reads the declaration of a constant or an alias at token i, if there is one. */
void bindings_read_at(const struct code_tokens *t, size_t i, size_t limit,
                      struct bindings *names);
/* Binds scalar_t to a type that must be guessed. */
void bindings_add_scalar(struct bindings *names);
/* The initial bindings in a function: scalar_t unless its own template has a parameter of
 * that name. */
void bindings_read_own(const struct code_tokens *t, const struct declaration *d,
                       struct bindings *names);

/* Binds the names that a macro dispatching on types or values defines, recognised by the
 * macro's name; i: that name, before '('. In AT_DISPATCH_FLOATING_TYPES, scalar_t is one
 * of several types; in HEADDIM_SWITCH, the second argument is a name of unknown value. */
void bindings_read_dispatch(const struct code_tokens *t, size_t i,
                            struct bindings *names);
