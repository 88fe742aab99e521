#include "gpu/source/host_blanker.h"

#include "base/find.h"
#include "gpu/source/host_gone.h"
#include "gpu/source/host_names.h"

static void count_device_words(struct host_blanker *b) {
    uint32_t n = 0;
    b->device_words = xcalloc(b->tokens.count + 1, sizeof *b->device_words);
    for (size_t i = 0; i < b->tokens.count; i++) {
        b->device_words[i] = n;
        enum code_word w = word_at(b, i);
        if (w == WORD_DEVICE || w == WORD_GLOBAL) {
            n++;
        } else if (w == WORD_NAME) {
            struct space_of_name space = space_of(&b->macros, &b->tokens, i);
            n += space.device || space.global;
        }
    }
    b->device_words[b->tokens.count] = n;
}

int host_blanker_init(struct host_blanker *b, const char *text, size_t len, size_t max,
                      const struct space_macros *known) {
    *b = (struct host_blanker){0};
    int r = code_tokens_read_up_to(&b->tokens, text, len, max);
    if (r < 0) {
        return r;
    }
    if (known) {
        space_macros_copy(&b->macros, known);
    }
    space_macros_read(&b->macros, &b->tokens);
    declarations_read(&b->declarations, &b->tokens, &b->macros);
    b->goes = xcalloc(b->declarations.count + 1, sizeof *b->goes);
    b->tail_goes = xcalloc(b->declarations.count + 1, sizeof *b->tail_goes);
    b->body_goes = xcalloc(b->declarations.count + 1, sizeof *b->body_goes);
    count_device_words(b);
    return 0;
}

void host_blanker_finish(struct host_blanker *b) {
    code_tokens_finish(&b->tokens);
    space_macros_finish(&b->macros);
    declarations_finish(&b->declarations);
    free(b->goes);
    free(b->device_words);
    free(b->tail_goes);
    free(b->body_goes);
    free(b->gone_types.list);
    free(b->gone_values.list);
    *b = (struct host_blanker){0};
}

/* ---- names of host things ---- */

static void token_text(const struct host_blanker *b, size_t i, char *out, size_t max) {
    size_t len = b->tokens.list[i].end - b->tokens.list[i].start;
    len = len < max ? len : max - 1;
    memcpy(out, b->tokens.text + b->tokens.list[i].start, len);
    out[len] = '\0';
}

/* "at::acc_type" of a library whose other names are the host's. */
static bool is_torch_device(const struct host_blanker *b, size_t i) {
    for (; word_at(b, i + 1) == WORD_SCOPE && word_at(b, i + 2) == WORD_NAME; i += 2) {
        char name[64];
        token_text(b, i + 2, name, sizeof name);
        if (host_names_torch_device(name)) {
            return true;
        }
    }
    return false;
}

static bool is_namespace(const struct host_blanker *b, size_t i) {
    uint64_t name = code_token_hash(&b->tokens, i);
    return list_any(s, b->declarations.scopes, b->declarations.scope_count,
                    s->name_end > s->name &&
                        code_token_hash(&b->tokens, s->name_end - 1) == name) ||
           name_set_has(&b->macros.namespaces, name);
}

/* "::a": nothing stands right before the token `i`, which is "::". */
static bool is_global_scope(const struct host_blanker *b, size_t i) {
    return i == 0 || b->tokens.list[i - 1].end < b->tokens.list[i].start ||
           word_at(b, i - 1) == WORD_PAREN_OPEN || word_at(b, i - 1) == WORD_LESS ||
           word_at(b, i - 1) == WORD_COMMA;
}

/* "a::name" */
static bool is_host_member(const struct host_blanker *b, size_t i, const char *name) {
    char outer[64] = "";
    if (i >= 2 && word_at(b, i - 2) == WORD_NAME) {
        token_text(b, i - 2, outer, sizeof outer);
    }
    /* boost::shared_ptr, platform::unique_ptr: what owns memory, whoever's it is */
    const char *ptr = strstr(name, "_ptr");
    bool gone =
        host_gone_has(b, &b->gone_types, i) || host_gone_has(b, &b->macros.gone_types, i);
    return ((strcmp(outer, "std") == 0 || (ptr && strcmp(ptr, "_ptr") == 0)) &&
            host_names_std(name)) ||
           (gone && outer[0] && is_namespace(b, i - 2));
}

static bool is_host_name(const struct host_blanker *b, size_t i) {
    char name[64];
    token_text(b, i, name, sizeof name);
    enum code_word before = i > 0 ? word_at(b, i - 1) : WORD_NONE;
    if (before == WORD_DOT || before == WORD_ARROW) {
        return false;
    }
    if (before == WORD_SCOPE && !is_global_scope(b, i - 1)) {
        return is_host_member(b, i, name);
    }
    bool qualifies = word_at(b, i + 1) == WORD_SCOPE;
    if (qualifies && strcmp(name, "thrust") == 0 && word_at(b, i + 2) == WORD_NAME) {
        token_text(b, i + 2, name, sizeof name);
        return strstr(name, "_vector") != NULL;
    }
    return (qualifies && host_names_namespace(name) && !is_torch_device(b, i)) ||
           host_names_plain(name) ||
           (b->using_std && !qualifies && host_names_std(name) &&
            word_at(b, i + 1) != WORD_PAREN_OPEN) ||
           host_gone_has(b, &b->gone_types, i) ||
           host_gone_has(b, &b->macros.gone_types, i);
}

static bool names_host(const struct host_blanker *b, size_t from, size_t to) {
    for (size_t i = from; i <= to; i++) {
        if (word_at(b, i) == WORD_NAME && is_host_name(b, i)) {
            return true;
        }
    }
    return false;
}

static bool has_device_words(const struct host_blanker *b, const struct declaration *d) {
    return b->device_words[d->last + 1] > b->device_words[d->first];
}

/* ---- verdicts ---- */

bool host_blanker_has_unknown_space(const struct host_blanker *b,
                                    const struct declaration *d) {
    static const char *const known[] = {
        "__forceinline__", "__noinline__",      "__inline__",       "__restrict__",
        "__attribute__",   "__launch_bounds__", "__align__",        "__declspec",
        "__restrict",      "__inline",          "__cluster_dims__", "__maxnreg__",
        "__volatile__",    "__const__",         "__extension__",    "__builtin_align__",
        "__nv_pure__",     "__block_size__",    "__int128_t__",
    };
    size_t end = d->name ? d->name : d->body ? d->body : d->last;
    for (size_t i = d->first; i < end; i++) {
        const struct code_token *t = &b->tokens.list[i];
        if (t->word == WORD_LESS) {
            i = code_angles_end(&b->tokens, i);
        }
        if (t->word != WORD_ATTRIBUTE || word_at(b, i + 1) == WORD_SCOPE ||
            t->end - t->start < 5 || memcmp(b->tokens.text + t->start, "__", 2) != 0 ||
            memcmp(b->tokens.text + t->end - 2, "__", 2) != 0) {
            continue;
        }
        bool found =
            any_of(k, 0, ARRAY_LEN(known), code_token_is(&b->tokens, i, known[k]));
        if (!found) {
            return true;
        }
    }
    return false;
}

/* Whether a function that token i names stays, of those declared before `index`. */
static bool keeps_function(const struct host_blanker *b, size_t index, size_t i) {
    uint64_t name = code_token_hash(&b->tokens, i);
    for (size_t k = index; k-- > 0 && index - k < 2048;) {
        const struct declaration *other = &b->declarations.list[k];
        if (other->kind == DECLARATION_FUNCTION && other->name && !b->goes[k] &&
            code_token_hash(&b->tokens, other->name) == name) {
            return true;
        }
    }
    return false;
}

/* "template float square<float>(float);" belongs to a function that may be the device's.
 */
static bool instantiates_kept(const struct host_blanker *b, size_t index) {
    const struct declaration *d = &b->declarations.list[index];
    return !d->body && word_at(b, d->first) == WORD_TEMPLATE &&
           word_at(b, d->first + 1) != WORD_LESS && d->name &&
           keeps_function(b, index, d->name);
}

/* "using a::gone;" */
static bool uses_gone_value(const struct host_blanker *b, size_t index) {
    const struct declaration *d = &b->declarations.list[index];
    size_t name = d->last - 1;
    return word_at(b, d->first) == WORD_USING &&
           word_at(b, d->first + 2) != WORD_ASSIGN &&
           word_at(b, name - 1) == WORD_SCOPE &&
           (host_gone_has(b, &b->gone_values, name) ||
            host_gone_has(b, &b->macros.gone, name)) &&
           !keeps_function(b, index, name);
}

/* NVRTC takes no throw, wherever it stands; a macro of the host's may hold one. */
static bool may_throw(const struct host_blanker *b, const struct declaration *d) {
    return d->body && any_of(i, d->body, d->body_end,
                             code_token_is(&b->tokens, i, "throw") ||
                                 (word_at(b, i) == WORD_NAME &&
                                  word_at(b, i + 1) == WORD_PAREN_OPEN &&
                                  space_of(&b->macros, &b->tokens, i).host_only));
}

static bool is_main(const struct host_blanker *b, const struct declaration *d) {
    return d->name && d->parent == SIZE_MAX && code_token_is(&b->tokens, d->name, "main");
}

static bool is_constructor(const struct host_blanker *b, const struct declaration *d) {
    const struct declaration *in =
        d->parent != SIZE_MAX ? &b->declarations.list[d->parent] : NULL;
    return in && in->name && d->name &&
           code_token_hash(&b->tokens, in->name) == code_token_hash(&b->tokens, d->name);
}

/* Is it kept for a decltype, where it names nothing of the host? "auto f(...) ->
 * false_type;" counts as a variable. */
static bool is_asked(struct host_blanker *b, const struct declaration *d) {
    uint64_t name = d->name ? code_token_hash(&b->tokens, d->name) : 0;
    if ((!b->macros.all_asked &&
         (!name || is_constructor(b, d) || !space_macros_asked(&b->macros, name))) ||
        names_host(b, d->first, d->last)) {
        return false;
    }
    if (b->macros.all_asked && (d->has_host || may_throw(b, d) || is_main(b, d))) {
        return false;
    }
    b->needs_default_device = true;
    return true;
}

/* Of a function that a decltype alone asks for, its body goes, unless that says its type.
 */
static bool body_goes(const struct host_blanker *b, const struct declaration *d) {
    bool says = b->macros.all_asked || d->has_constexpr ||
                any_of(i, d->first, d->name, code_token_is(&b->tokens, i, "auto"));
    return !says && d->body;
}

/* Whether the class's member that token i names went, and no other of that name stays. */
static bool is_gone_member(const struct host_blanker *b, size_t index, size_t i) {
    size_t class = b->declarations.list[index].parent;
    uint64_t name = code_token_hash(&b->tokens, i);
    bool gone = false;
    for (size_t k = class + 1; k < index; k++) {
        const struct declaration *d = &b->declarations.list[k];
        bool same = d->kind == DECLARATION_FUNCTION && d->parent == class && d->name &&
                    code_token_hash(&b->tokens, d->name) == name;
        if (same && !b->goes[k]) {
            return false;
        }
        gone |= same;
    }
    return gone;
}

/* A constexpr member that calls one of the host's is the host's too. */
static bool calls_gone_member(const struct host_blanker *b, size_t index) {
    const struct declaration *d = &b->declarations.list[index];
    for (size_t i = d->body; d->body && d->parent != SIZE_MAX && i < d->body_end; i++) {
        enum code_word before = word_at(b, i - 1);
        if (word_at(b, i) == WORD_NAME && word_at(b, i + 1) == WORD_PAREN_OPEN &&
            before != WORD_DOT && before != WORD_ARROW && before != WORD_SCOPE &&
            host_gone_has(b, &b->gone_values, i) && is_gone_member(b, index, i)) {
            return true;
        }
    }
    return false;
}

static bool function_goes(struct host_blanker *b, size_t index) {
    const struct declaration *d = &b->declarations.list[index];
    if (d->has_global || d->has_device || d->body_has_global) {
        return false;
    }
    if (d->has_default) {
        return d->has_virtual; /* NVRTC takes other defaulted members for both sides */
    }
    if (d->has_constexpr) {
        if (names_host(b, d->first, d->last) || may_throw(b, d) ||
            calls_gone_member(b, index)) {
            return true;
        }
        b->needs_default_device = true;
        return false;
    }
    if (is_asked(b, d)) {
        b->body_goes[index] = body_goes(b, d);
        return false;
    }
    return !host_blanker_has_unknown_space(b, d) && !instantiates_kept(b, index);
}

static bool is_lambda(const struct host_blanker *b, const struct declaration *d) {
    size_t at = first_of(i, d->first, d->last, word_at(b, i) == WORD_ASSIGN);
    return at < d->last && word_at(b, at + 1) == WORD_BRACKET_OPEN;
}

/* "const auto x = f(3)", "const table t = {f}", where f went. */
static bool needs_gone(const struct host_blanker *b, const struct declaration *d) {
    bool value = false;
    for (size_t i = d->first; i < d->last; i++) {
        enum code_word before = value ? word_at(b, i - 1) : WORD_DOT;
        bool names = word_at(b, i) == WORD_NAME && before != WORD_DOT &&
                     before != WORD_ARROW && before != WORD_SCOPE;
        if (names && host_gone_has(b, &b->gone_values, i)) {
            return true;
        }
        value |= word_at(b, i) == WORD_ASSIGN || word_at(b, i) == WORD_BRACE_OPEN ||
                 word_at(b, i) == WORD_PAREN_OPEN;
    }
    return false;
}

/* "const half one = 1.0;" is no constant for nvcc: only the host has it. */
static bool is_library_number(const struct host_blanker *b, const struct declaration *d) {
    for (size_t i = d->first; i < d->name; i++) {
        char name[64];
        token_text(b, i, name, sizeof name);
        if (strcmp(name, "half") == 0 || strcmp(name, "half2") == 0 ||
            strncmp(name, "__half", 6) == 0 || strncmp(name, "__nv_", 5) == 0 ||
            strncmp(name, "nv_bfloat16", 11) == 0) {
            return true;
        }
    }
    return false;
}

/* The variables of "struct S { … } a, *b;" when the type itself stays. */
static bool type_tail_goes(const struct host_blanker *b, const struct declaration *d) {
    bool member = d->parent != SIZE_MAX && !d->has_static;
    if (d->open || !d->body_end || d->last <= d->body_end + 1 || member ||
        d->has_device || d->has_const || d->has_constexpr ||
        word_at(b, d->first) == WORD_TYPEDEF) {
        return false;
    }
    return d->kind == DECLARATION_CLASS || d->kind == DECLARATION_ENUM;
}

static bool variable_goes(struct host_blanker *b, size_t index) {
    const struct declaration *d = &b->declarations.list[index];
    if (d->has_device || d->has_global || (d->parent != SIZE_MAX && !d->has_static)) {
        return false;
    }
    if (d->has_constexpr || (d->has_const && !d->const_pointer)) {
        b->needs_default_device |= is_lambda(b, d);
        return names_host(b, d->first, d->last) ||
               (!d->has_constexpr && (needs_gone(b, d) || is_library_number(b, d)));
    }
    return !is_asked(b, d) && !host_blanker_has_unknown_space(b, d);
}

static bool macro_goes(struct host_blanker *b, size_t index) {
    const struct declaration *d = &b->declarations.list[index];
    struct space_of_name space = space_of(&b->macros, &b->tokens, d->name);
    if (space.global || space.device || d->body_has_global) {
        return false;
    }
    /* "Type(float *x);" in the class Type looks like a macro's use */
    if (d->name == d->first && word_at(b, d->last) == WORD_SEMICOLON &&
        is_constructor(b, d)) {
        return function_goes(b, index);
    }
    char name[64];
    token_text(b, d->name, name, sizeof name);
    if (space.host_only || host_names_macro(name)) {
        return true;
    }
    return d->body &&
           (any_of(i, d->body, d->body_end, word_at(b, i) == WORD_LAUNCH_OPEN) ||
            names_host(b, d->body, d->body_end));
}

/* A type's own words: its head and tail. Its members are judged one by one. */
static bool class_names_host(const struct host_blanker *b, const struct declaration *d) {
    return names_host(b, d->first, d->body ? d->body : d->last) ||
           (d->body_end && names_host(b, d->body_end, d->last));
}

struct open_class {
    size_t declaration;
    bool tainted; /* it holds what only the host has */
};

static void close_class(struct host_blanker *b, const struct open_class *c) {
    const struct declaration *d = &b->declarations.list[c->declaration];
    if (c->tainted && !d->open && !has_device_words(b, d)) {
        b->goes[c->declaration] = true;
        host_gone_note_type(b, d);
    }
}

static bool judge_one(struct host_blanker *b, size_t index, struct open_class *in) {
    const struct declaration *d = &b->declarations.list[index];
    if (d->open) {
        return false;
    }
    bool goes = false;
    switch (d->kind) {
    case DECLARATION_FUNCTION:
        return function_goes(b, index);
    case DECLARATION_VARIABLE:
        if (in && !d->has_static && names_host(b, d->first, d->last)) {
            in->tainted = true;
        }
        return variable_goes(b, index);
    case DECLARATION_OTHER:
        goes = !has_device_words(b, d) &&
               (names_host(b, d->first, d->last) || uses_gone_value(b, index));
        if (goes) {
            host_gone_note_type(b, d);
        }
        return goes;
    case DECLARATION_MACRO:
        return macro_goes(b, index);
    default:
        return false;
    }
}

static bool is_using_std(const struct host_blanker *b, const struct declaration *d) {
    return word_at(b, d->first) == WORD_USING &&
           word_at(b, d->first + 1) == WORD_NAMESPACE &&
           code_token_is(&b->tokens, d->first + 2, "std");
}

/* "using namespace torch;", "namespace py = pybind11;" */
static bool uses_host_namespace(const struct host_blanker *b,
                                const struct declaration *d) {
    bool uses =
        word_at(b, d->first) == WORD_USING && word_at(b, d->first + 1) == WORD_NAMESPACE;
    bool renames =
        word_at(b, d->first) == WORD_NAMESPACE && word_at(b, d->first + 2) == WORD_ASSIGN;
    if (!uses && !renames) {
        return false;
    }
    for (size_t i = d->first + 2; i < d->last; i++) {
        char name[64];
        token_text(b, i, name, sizeof name);
        if (word_at(b, i) == WORD_NAME && host_names_namespace(name)) {
            return true;
        }
    }
    return false;
}

void host_blanker_judge(struct host_blanker *b) {
    if (b->macros.gone_types.count) {
        host_gone_forget_own(b);
    }
    struct open_class *open = NULL;
    size_t depth = 0, cap = 0;
    list_each(i, d, b->declarations.list, b->declarations.count) {
        while (depth > 0 &&
               b->declarations.list[open[depth - 1].declaration].last < d->first) {
            close_class(b, &open[--depth]);
        }
        struct open_class *in = depth > 0 && d->parent == open[depth - 1].declaration
                                    ? &open[depth - 1]
                                    : NULL;
        b->using_std |= is_using_std(b, d);
        if (d->kind == DECLARATION_CLASS) {
            list_room(open, depth, cap, 16);
            open[depth++] = (struct open_class){i, class_names_host(b, d)};
        } else {
            b->goes[i] = judge_one(b, i, in) || uses_host_namespace(b, d);
            if (b->goes[i] &&
                (d->kind == DECLARATION_FUNCTION || d->kind == DECLARATION_VARIABLE)) {
                host_gone_note_value(b, d);
            }
        }
        b->tail_goes[i] = type_tail_goes(b, d);
    }
    while (depth > 0) {
        close_class(b, &open[--depth]);
    }
    free(open);
}
