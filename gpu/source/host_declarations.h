#pragma once
/* host_declarations: where each declaration of a source begins and ends, and what it is.
 *
 * Reads tokens without expanding macros or taking #if branches: all branches count, and
 * the bracket depth at an #if holds again at its #else. Namespaces and extern "C" blocks
 * are transparent; a class is one declaration, its members are declarations of their own
 * inside it. Function bodies are not looked into. Never fails: what does not end is
 * `open`. Part of host_code. */
#include "gpu/source/host_tokens.h"

enum declaration_kind {
    DECLARATION_OTHER, /* using, typedef, static_assert, concept, forward class … */
    DECLARATION_FUNCTION,
    DECLARATION_VARIABLE,
    DECLARATION_CLASS,
    DECLARATION_ENUM,
    DECLARATION_MACRO, /* NAME(…), NAME(…) { … } or NAME(…); at top level */
};

struct declaration {
    size_t first, last;        /* tokens; last belongs to it */
    size_t name;               /* token of the (last part of the) name; 0 when none: a
                                  declaration never has its name in token 0 */
    size_t params, params_end; /* the parameter list's ( and ), 0 when none */
    size_t body, body_end;     /* { and } of a function or class, 0 when none */
    size_t parent;             /* index of the class it is a member of, or SIZE_MAX */
    size_t scope;              /* index into scopes, SIZE_MAX = global */
    enum declaration_kind kind;
    bool open; /* its end was not found, or branches tore it: leave it alone */
    bool has_template, has_global, has_device, has_host, has_constexpr, has_const,
        has_static, has_virtual, has_friend, has_assign, has_default, const_pointer;
    bool body_has_global; /* __global__ inside a function body: a brace is missing */
};

struct name_scope {        /* a namespace */
    size_t name, name_end; /* tokens, [name, name_end); empty when anonymous */
    size_t parent;         /* SIZE_MAX = global */
};

/* What a file is judged by: macros whose replacement holds an execution space, by the
 * hash of their names; the functions that "decltype(f(0))" asks for their types, which
 * have a say without one; and what other files have for the host alone. */
struct space_macros {
    bool all_asked;     /* source_set.default_device: whatever has no execution space */
    bool library_types; /* half, cuComplex …, which headers of host libraries bring */
    struct {
        uint64_t name;
        bool global, device, host, host_only, function, constant;
    } * list;
    size_t count;
    struct name_set {
        uint64_t *list; /* hashes, in their order: a file may name many */
        size_t count;
    } asked, gone, gone_types, namespaces; /* gone: functions and variables; namespaces:
                                              those of gone types */
};
void space_macros_read(struct space_macros *m, const struct code_tokens *t);
void space_macros_copy(struct space_macros *to, const struct space_macros *from);
void space_macros_finish(struct space_macros *m);
bool space_macros_asked(const struct space_macros *m, uint64_t name);
bool name_set_has(const struct name_set *s, uint64_t name);
void name_set_add(struct name_set *s, uint64_t name);
void name_set_remove(struct name_set *s, uint64_t name);
void name_set_copy(struct name_set *to, const struct name_set *from);
struct space_of_name {
    bool known, global, device, host, host_only, constant;
};
/* What the name at token i stands for, as a macro. */
struct space_of_name space_of(const struct space_macros *m, const struct code_tokens *t,
                              size_t i);

struct declarations {
    struct declaration *list;
    size_t count;
    struct name_scope *scopes;
    size_t scope_count;
};
void declarations_read(struct declarations *ret, const struct code_tokens *t,
                       const struct space_macros *macros);
void declarations_finish(struct declarations *d);

/* "ns::name" as written; freed by the caller. */
char *host_qualified_name(const struct code_tokens *t, const struct declarations *all,
                          const struct declaration *d);
/* "a::b::" for a namespace, outermost first; "" for the global one; freed by the caller.
 */
char *host_scope_name(const struct code_tokens *t, const struct declarations *all,
                      size_t scope);
