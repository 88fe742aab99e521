#include "gpu/fixes/fix_names.h"

#include "base/find.h"
#include "gpu/fixes/cuda_builtins.h"
#include "gpu/fixes/fix_conditions.h"

#include <limits.h>

/* An undefined identifier that a header declares. */
struct name_header {
    const char *name;
    const char *header; /* "<cuda_fp16.h>" */
};

/* A member of a namespace that a header declares. */
struct member_header {
    const char *space;  /* "cuda" */
    const char *name;   /* member's name; "*" at the end matches any rest */
    const char *header; /* NULL: the built-in of the same name does it, without "std::" */
};

/* Namespace names and what makes them known. */
struct space_alias {
    const char *name;        /* as used: "cg" */
    const char *space;       /* "cooperative_groups" */
    const char *declaration; /* "namespace cg = cooperative_groups;"; NULL for the name
                                itself */
};

/* A name that is spelt otherwise in CUDA C++ today. */
struct name_spelling {
    const char *name, *spelling;
    const char *first_argument; /* to be added, or NULL */
};

#include "gpu/fix_names_table.h"

static bool word_is(const struct mistake *m, const char *name) {
    return strlen(name) == m->word_len && memcmp(name, m->word, m->word_len) == 0;
}

/* The token the finding points at, when it is the word the message names. */
static bool at_word(const struct mistake *m) {
    return fix_text_has(m->text, m->token, m->word, m->word_len);
}

/* A full mask is right only where the whole warp arrives: else there is no edit. */
static void respell_token(struct mistake *m, size_t token,
                          const struct name_spelling *s) {
    if (s->first_argument && fix_is_conditional(m->text, token)) {
        autofree char *more = xasprintf(
            "it is now %s, whose first argument is the mask of the lanes that call it; "
            "this call stands at a condition, where %s is right only if all 32 lanes "
            "come there: call it before the condition, so that all do",
            s->spelling, s->first_argument);
        mistake_say(m, more);
        return;
    }
    mistake_replace(m, token, s->spelling);
    if (s->first_argument && fix_text_is(m->text, token + 1, "(")) {
        bool empty = fix_text_is(m->text, token + 2, ")");
        autofree char *argument = xasprintf("%s%s", s->first_argument, empty ? "" : ", ");
        size_t after = m->text->tokens[token + 1].end;
        mistake_edit(m, NULL, after, after, argument);
    }
}

static bool fix_spelling(struct mistake *m) {
    const struct name_spelling *s = name_spellings;
    while (s->name && !word_is(m, s->name)) {
        s++;
    }
    if (s->name && at_word(m)) {
        respell_token(m, m->token, s);
    }
    return s->name != NULL;
}

/* `Instruction 'vote' without '.sync'`: some names still compile to what no GPU has. The
 * finding knows its line only. */
void fix_unsynchronised_name(struct mistake *m) {
    const struct fix_text *t = m->text;
    int line = (int)json_get_integer(m->finding, "line", 0);
    size_t end = fix_text_offset(t, line, INT_MAX);
    for (size_t i = fix_text_token(t, fix_text_offset(t, line, 1));
         i < t->count && t->tokens[i].start < end; i++) {
        for (const struct name_spelling *s = name_spellings; s->name; s++) {
            if (s->first_argument && fix_text_is(t, i, s->name)) {
                respell_token(m, i, s);
                return;
            }
        }
    }
}

/* A declaration at file level goes on so after its name. */
static bool continues_variable(const struct fix_text *t, size_t i) {
    static const char *const words[] = {"=", "[", ";", "{"};
    return any_of(k, 0, ARRAY_LEN(words), fix_text_is(t, i, words[k]));
}

/* The declaration that begins at `place` names what is missing, at token i. */
static void mark_device(struct mistake *m, size_t place, size_t i) {
    if (fix_text_is(m->text, i + 1, "(")) {
        mistake_edit(m, "mark the function __device__ too", place, place,
                     "__host__ __device__ ");
        mistake_say(m, "a function of that name exists, but only for the host");
    } else {
        mistake_edit(m, "make the variable __device__: it then belongs to the GPU "
                        "alone", place,
                     place, "__device__ ");
        mistake_say(m, "a variable of that name exists, but only for the host");
    }
}

/* The file has the function or variable, but for the host only: it was left out. */
static bool fix_host_name(struct mistake *m) {
    const struct source_file *file = NULL;
    for (size_t i = 0; i < m->fixer->sources->count && !file; i++) {
        const struct source_file *f = &m->fixer->sources->files[i];
        file = m->fixer->texts[i] == m->text ? f : NULL;
    }
    if (!file || !file->original) {
        return false;
    }
    const struct fix_text *t = m->text;
    size_t begin = 0; /* of the declaration that token i is in */
    int depth = 0;
    for (size_t i = 0; i < t->count; i++) {
        size_t at = t->tokens[i].start;
        bool blanked = file->text[at] == ' ' && t->text[at] != ' ';
        if (depth == 0 && blanked && fix_text_has(t, i, m->word, m->word_len) &&
            begin < i && (fix_text_is(t, i + 1, "(") || continues_variable(t, i + 1))) {
            mark_device(m, t->tokens[begin].start, i);
            return true;
        }
        depth += fix_text_is(t, i, "{") - fix_text_is(t, i, "}");
        if (depth == 0 && (t->tokens[i].kind == CUDA_DIRECTIVE ||
                           fix_text_is(t, i, ";") || fix_text_is(t, i, "}"))) {
            begin = i + 1;
        }
    }
    return false;
}

void fix_undefined_name(struct mistake *m) {
    if (fix_spelling(m)) {
        return;
    }
    for (const struct name_header *h = name_headers; h->name; h++) {
        if (word_is(m, h->name)) {
            mistake_add_lines(m, h->header, NULL);
            return;
        }
    }
    if (fix_host_name(m) || !at_word(m)) {
        return;
    }
    const char *near = cuda_builtin_nearest(m->word, m->word_len);
    if (near && !word_is(m, near)) {
        autofree char *more = xasprintf("did you mean \"%s\"?", near);
        mistake_replace(m, m->token, near);
        mistake_say(m, more);
    }
}

/* --- namespaces --- */

static bool member_matches(const char *pattern, const char *name, size_t len) {
    size_t n = strlen(pattern);
    if (n && pattern[n - 1] == '*') {
        return len >= n - 1 && memcmp(pattern, name, n - 1) == 0;
    }
    return len == n && memcmp(pattern, name, n) == 0;
}

static const struct member_header *member_find(const char *space, const char *name,
                                               size_t len) {
    const struct member_header *h = member_headers;
    while (h->space &&
           !(strcmp(h->space, space) == 0 && member_matches(h->name, name, len))) {
        h++;
    }
    return h->space ? h : NULL;
}

static const struct space_alias *alias_at(const struct fix_text *t, size_t token) {
    const struct space_alias *a = space_aliases;
    while (a->name && !fix_text_is(t, token, a->name)) {
        a++;
    }
    return a->name ? a : NULL;
}

static bool alias_declared(const struct fix_text *t, const struct space_alias *alias) {
    const char *const equals[] = {"namespace", alias->name, "=", NULL};
    const char *const using[] = {"using", "namespace", alias->space, NULL};
    return fix_text_says(t, equals) || fix_text_says(t, using);
}

/* `std::max` where CUDA's own `max` does: without the namespace. */
static void fix_without_space(struct mistake *m, size_t space) {
    struct fix_text *t = m->text;
    autofree char *title = xasprintf("use CUDA's own %.*s", (int)m->word_len, m->word);
    mistake_edit(m, title, t->tokens[space].start, t->tokens[space + 2].start, "");
}

/* `namespace "X" has no member "Y"`; the word is `X" has no member "Y`. */
void fix_missing_member(struct mistake *m) {
    static const char middle[] = "\" has no member \"";
    const char *at = memmem(m->word, m->word_len, middle, sizeof middle - 1);
    if (!at) {
        return;
    }
    autofree char *space = xstrndup(m->word, (size_t)(at - m->word));
    m->word_len -= (size_t)(at - m->word) + sizeof middle - 1;
    m->word = at + sizeof middle - 1;
    const struct member_header *h = member_find(space, m->word, m->word_len);
    if (h && h->header) {
        mistake_add_lines(m, h->header, NULL);
    } else if (h && m->token >= 2 && at_word(m) &&
               fix_text_is(m->text, m->token - 1, "::") &&
               fix_text_is(m->text, m->token - 2, space)) {
        fix_without_space(m, m->token - 2);
    }
}

/* A name before "::" that is no namespace yet. The finding points at it. */
void fix_unknown_space(struct mistake *m) {
    const struct fix_text *t = m->text;
    const struct space_alias *alias = alias_at(t, m->token);
    if (!alias) {
        return;
    }
    size_t last = m->token + 2; /* nvcuda::wmma::x is looked up as nvcuda's */
    const struct cuda_token *member = last < t->count ? &t->tokens[last] : NULL;
    bool qualified = member && fix_text_is(t, m->token + 1, "::");
    const char *name = qualified ? t->text + member->start : "";
    size_t len = qualified ? member->end - member->start : 0;
    const struct member_header *h = member_find(alias->space, name, len);
    if (h && h->header) {
        const char *declaration =
            alias->declaration && !alias_declared(t, alias) ? alias->declaration : NULL;
        mistake_add_lines(m, h->header, declaration);
    }
}
