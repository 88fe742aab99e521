#pragma once
/* host_parser: the brackets, branches and open blocks for host_declarations. Part of
 * host_code. */
#include "gpu/source/host_declarations.h"

struct conditional { /* the depths at an #if, restored at its #else */
    unsigned braces, parens;
};

struct open_scope { /* an open namespace, extern "C" block or class */
    bool is_class;
    size_t declaration; /* if it is a class */
    size_t outer_scope;
    unsigned braces; /* the depth inside */
};

struct parser {
    const struct code_tokens *t;
    const struct space_macros *macros;
    struct declarations *ret;
    size_t i;
    unsigned braces, parens;
    struct conditional *conditionals;
    size_t conditional_count, conditional_cap;
    struct open_scope *open; /* the innermost is last */
    size_t open_count, open_cap;
    size_t declaration_cap, scope;
    size_t angles_failed; /* no '<' before this token has a match */
    unsigned groups_failed;
    bool saw_global; /* in the last braces that were skipped */
};

enum code_word parser_word(const struct parser *p, size_t i); /* WORD_END past the end */
enum code_word parser_next_word(const struct parser *p, size_t i); /* skips directives */
/* Valid until the next declaration is added. */
struct declaration *parser_declaration(const struct parser *p, size_t index);
/* Adds a declaration that begins at p->i; returns its index. */
size_t parser_new_declaration(struct parser *p, enum declaration_kind kind);
/* Reads from p->i, which is its first token or the one after a class's }, and moves after
 * its end. */
void parser_read_declaration(struct parser *p, size_t index);

/* Skips the directive at p->i; true if it restored the depths of its #if. */
bool parser_pass_directive(struct parser *p);
/* Leaves the scopes that end above the current depth. */
void parser_drop_scopes(struct parser *p);
void parser_push_scope(struct parser *p, struct open_scope f);
/* The innermost open class, or SIZE_MAX. */
size_t parser_enclosing_class(const struct parser *p);

/* Skips from '{' at p->i to after its '}', whose token is *ret_close. A '}' inside an #if
 * counts only if the #if then ends without another branch. False if the text ends first
 * or an #else restored a depth before the '{' (p->i is then after that #else). */
bool parser_pass_braces(struct parser *p, size_t *ret_close);
/* Like code_angles_end, but remembers failures. */
size_t parser_angles_end(struct parser *p, size_t i);
/* The ')' that matches '(' at i, or 0 if it is not within `max` tokens. */
size_t parser_group_end(const struct parser *p, size_t i, size_t max);
/* The '{' of the class or enum whose keyword is at i, or 0 if it is only named. */
size_t parser_class_body(struct parser *p, size_t i);
