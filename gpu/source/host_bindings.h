#pragma once
/* host_bindings: the names in a host function that stand for constants and types. Part of
 * host_code. */
#include "gpu/source/host_declarations.h"

#define BINDINGS_MAX 256

/* A name that stands for a text: a local constant or alias, or a template parameter. A
 * text with a newline is one that is not known. */
struct binding {
    uint64_t name;
    char *text;
};
struct bindings {
    struct binding list[BINDINGS_MAX];
    size_t count;
};

/* Takes text; NULL: the name stands for what is not known. */
void bindings_add(struct bindings *s, uint64_t name, char *text);
void bindings_finish(struct bindings *s);
/* As bound last, NULL when it is not. */
const char *bindings_text(const struct bindings *s, uint64_t name);

/* The tokens [from, to) as text with single blanks, bound names replaced; NULL when it
 * grows too long or depends on what is not known. */
char *bindings_expand(const struct code_tokens *t, size_t from, size_t to,
                      const struct bindings *names);
char *bindings_expand_text(const char *text, const struct bindings *names);
/* "(text)", or text when it is one word; takes text, NULL stays NULL. */
char *bindings_in_parens(char *text);

/* What token i begins, where it is a constant's or an alias's declaration. */
void bindings_read_at(const struct code_tokens *t, size_t i, size_t limit,
                      struct bindings *names);
/* scalar_t, for a type that is to be guessed. */
void bindings_add_scalar(struct bindings *names);
/* What a function begins with: scalar_t unless its own template has a parameter of that
 * name. */
void bindings_read_own(const struct code_tokens *t, const struct declaration *d,
                       struct bindings *names);

/* What a macro that dispatches on types or values gives names to, by what it is called;
 * i: its name, before '('. As in AT_DISPATCH_FLOATING_TYPES, where scalar_t is one of
 * several types; HEADDIM_SWITCH, whose second argument is a name, unknown here. */
void bindings_read_dispatch(const struct code_tokens *t, size_t i,
                            struct bindings *names);
