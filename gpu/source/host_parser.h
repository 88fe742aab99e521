#pragma once
/* host_parser: the brackets, branches and open blocks that host_declarations walks
 * through. Part of host_code. */
#include "gpu/source/host_declarations.h"

struct conditional { /* the depths at an #if, for its #else */
    unsigned braces, parens;
};

struct open_scope { /* an open namespace, extern "C" block or class */
    bool is_class;
    size_t declaration; /* of a class */
    size_t outer_scope;
    unsigned braces; /* depth inside */
};

struct parser {
    const struct code_tokens *t;
    const struct space_macros *macros;
    struct declarations *ret;
    size_t i;
    unsigned braces, parens;
    struct conditional *conditionals;
    size_t conditional_count, conditional_cap;
    struct open_scope *open; /* innermost last */
    size_t open_count, open_cap;
    size_t declaration_cap, scope;
    size_t angles_failed; /* no '<' before this token has a match */
    unsigned groups_failed;
    bool saw_global; /* in the braces passed last */
};

enum code_word parser_word(const struct parser *p, size_t i); /* WORD_END past the end */
enum code_word parser_next_word(const struct parser *p, size_t i); /* no directive */
/* Valid until the next declaration is added. */
struct declaration *parser_declaration(const struct parser *p, size_t index);
/* At p->i; its index. */
size_t parser_new_declaration(struct parser *p, enum declaration_kind kind);
/* From p->i, its first token or what follows the } of a class, to behind its end. */
void parser_read_declaration(struct parser *p, size_t index);

/* The directive at p->i; true when it went back to the depths of its #if. */
bool parser_pass_directive(struct parser *p);
/* Leave the scopes that the depth is no longer inside of. */
void parser_drop_scopes(struct parser *p);
void parser_push_scope(struct parser *p, struct open_scope f);
/* The innermost open class, or SIZE_MAX. */
size_t parser_enclosing_class(const struct parser *p);

/* From '{' at p->i to behind its '}', whose token goes to *ret_close. A '}' inside an #if
 * counts only when the #if ends without more. False when the text ends first or an #else
 * went back to before the '{' (p->i is then behind that #else). */
bool parser_pass_braces(struct parser *p, size_t *ret_close);
/* As code_angles_end, remembering what failed. */
size_t parser_angles_end(struct parser *p, size_t i);
/* The ')' that matches '(' at i, or 0 when none comes within `max` tokens. */
size_t parser_group_end(const struct parser *p, size_t i, size_t max);
/* The '{' of the class or enum whose key is at i, or 0 when it is only named. */
size_t parser_class_body(struct parser *p, size_t i);
