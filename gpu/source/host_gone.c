#include "gpu/source/host_gone.h"

#include "base/find.h"

bool host_gone_has(const struct host_blanker *b, const struct name_set *names, size_t i) {
    return names->count && name_set_has(names, code_token_hash(&b->tokens, i));
}

static void note(struct host_blanker *b, struct name_set *names, size_t token) {
    if (token != 0) {
        name_set_add(names, code_token_hash(&b->tokens, token));
    }
}

/* --- the names of a type --- */

/* "typedef int (*NAME)(int);": its name; 0 when it is none. */
static size_t pointer_type_name(const struct host_blanker *b,
                                const struct declaration *d) {
    for (size_t i = d->first + 1; i + 3 < d->last; i++) {
        if (word_at(b, i) == WORD_PAREN_OPEN && word_at(b, i + 1) == WORD_STAR &&
            word_at(b, i + 2) == WORD_NAME && word_at(b, i + 3) == WORD_PAREN_CLOSE) {
            return i + 2;
        }
    }
    return 0;
}

/* The token of the name that a type or alias declares first; 0 for other declarations,
 * such as specializations: their template stays. */
static size_t first_name(const struct host_blanker *b, const struct declaration *d) {
    switch (word_at(b, d->first)) {
    case WORD_NAMESPACE:
        return 0;
    case WORD_USING: /* using NAME = …; */
        return word_at(b, d->first + 2) == WORD_ASSIGN ? d->first + 1 : 0;
    case WORD_TYPEDEF: {
        size_t name = d->body ? 0 : pointer_type_name(b, d);
        return name ? name : d->name;
    }
    default:
        return word_at(b, d->name + 1) == WORD_LESS ? 0 : d->name;
    }
}

/* "typedef struct A { … } B, *C;": the token of the next name behind `from`; 0: no more.
 */
static size_t next_name(const struct host_blanker *b, const struct declaration *d,
                        size_t from) {
    if (word_at(b, d->first) != WORD_TYPEDEF || !d->body_end) {
        return 0;
    }
    for (size_t i = from > d->body_end ? from + 1 : d->body_end + 1; i < d->last; i++) {
        enum code_word after = word_at(b, i + 1);
        if (word_at(b, i) == WORD_NAME && (after == WORD_COMMA || i + 1 == d->last)) {
            return i;
        }
    }
    return 0;
}

void host_gone_note_type(struct host_blanker *b, const struct declaration *d) {
    note(b, &b->gone_types, first_name(b, d));
    for (size_t i = 0; (i = next_name(b, d, i));) {
        note(b, &b->gone_types, i);
    }
}

void host_gone_note_value(struct host_blanker *b, const struct declaration *d) {
    note(b, &b->gone_values, d->name);
}

static bool may_name_type(const struct declaration *d) {
    return d->kind == DECLARATION_CLASS || d->kind == DECLARATION_OTHER;
}

static void forget(struct host_blanker *b, size_t token) {
    if (token) {
        name_set_remove(&b->macros.gone_types, code_token_hash(&b->tokens, token));
    }
}

void host_gone_forget_own(struct host_blanker *b) {
    list_each(k, d, b->declarations.list, b->declarations.count) {
        if (may_name_type(d)) {
            forget(b, first_name(b, d));
            for (size_t i = 0; (i = next_name(b, d, i));) {
                forget(b, i);
            }
        }
    }
}

/* --- for other files --- */

void host_gone_tell_values(const struct host_blanker *b, struct space_macros *to) {
    struct name_set gone;
    name_set_copy(&gone, &b->gone_values);
    list_each(i, d, b->declarations.list, b->declarations.count) {
        if (d->kind == DECLARATION_FUNCTION && d->name && !b->goes[i]) {
            name_set_remove(&gone, code_token_hash(&b->tokens, d->name));
        }
    }
    for (size_t i = 0; i < gone.count; i++) {
        name_set_add(&to->gone, gone.list[i]);
    }
    free(gone.list);
}

static void tell_type(const struct host_blanker *b, const struct declaration *d,
                      size_t token, struct space_macros *to) {
    if (!token) {
        return;
    }
    name_set_add(&to->gone_types, code_token_hash(&b->tokens, token));
    const struct name_scope *scope =
        d->scope != SIZE_MAX ? &b->declarations.scopes[d->scope] : NULL;
    if (scope && scope->name_end) {
        name_set_add(&to->namespaces, code_token_hash(&b->tokens, scope->name_end - 1));
    }
}

void host_gone_tell_types(const struct host_blanker *b, struct space_macros *to) {
    list_each(k, d, b->declarations.list, b->declarations.count) {
        if (may_name_type(d) && b->goes[k] && d->parent == SIZE_MAX) {
            tell_type(b, d, first_name(b, d), to);
            for (size_t i = 0; (i = next_name(b, d, i));) {
                tell_type(b, d, i, to);
            }
        }
    }
}
