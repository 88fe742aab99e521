#pragma once
/* host_declarations: the extent and kind of each declaration of a source. Part of
 * host_code.
 *
 * Reads tokens without expanding macros or evaluating #if: all branches count, and an
 * #else begins with the bracket depth of its #if. Namespaces and extern "C" blocks are
 * transparent; a class is one declaration, and its members are separate declarations
 * inside it. Function bodies are not parsed. Never fails: a declaration without an end is
 * `open`. */
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
    size_t first, last; /* tokens, last included */
    /* token of the (last part of the) name; 0 if none: a name is never token 0 */
    size_t name;
    size_t params, params_end; /* the parameter list's ( and ), 0 if none */
    size_t body, body_end;     /* { and } of a function or class, 0 if none */
    size_t parent;             /* index of the class it is a member of, or SIZE_MAX */
    size_t scope;              /* index into scopes, SIZE_MAX = global */
    enum declaration_kind kind;
    bool open; /* its end was not found, or it crosses branches: leave it unchanged */
    bool has_template, has_global, has_device, has_host, has_constexpr, has_const,
        has_static, has_virtual, has_friend, has_assign, has_default, const_pointer;
    bool body_has_global; /* __global__ inside a function body: a brace is missing */
};

struct name_scope {        /* a namespace */
    size_t name, name_end; /* tokens, [name, name_end); empty if anonymous */
    size_t parent;         /* SIZE_MAX = global */
};

/* The information used to judge a file: macros whose replacement contains an execution
 * space, by the hash of their names; functions used as "decltype(f(0))", which need no
 * execution space; and names that other files have only for the host. */
struct space_macros {
    /* source_set.default_device: keep everything without an execution space */
    bool all_asked;
    bool library_types; /* half, cuComplex …, which headers of host libraries declare */
    struct {
        uint64_t name;
        bool global, device, host, host_only, function, constant;
    } * list;
    size_t count;
    struct name_set {
        uint64_t *list; /* sorted hashes: a file may contain many names */
        size_t count;
        /* gone: functions and variables; namespaces: those of gone types */
    } asked, gone, gone_types, namespaces;
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
/* The execution space that the name at token i means as a macro. */
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
