#include "skills/check/cuda_block.h"
#include "base/strings.h"

#include <ctype.h>

bool cuda_block_is(const struct markdown_code *code) {
    static const char *const cuda[] = {"cuda", "cu",    "cuda-cpp", "cuda-c++",
                                       "cuh",  "cudac", NULL};
    static const char *const cpp[] = {"c++", "cpp", "cc", "cxx", "c", NULL};
    if (strings_have(cuda, code->language)) {
        return true;
    }
    return strings_have(cpp, code->language) &&
           (strstr(code->text, "__global__") || strstr(code->text, "__device__"));
}

struct scan {
    const char *at;
    const char *head; /* where the declaration began that is being read, NULL: none */
    int braces, parens;
    bool device;        /* __global__ or __device__ outside of all braces */
    bool ellipsis;      /* code was left out */
    bool loose;         /* a statement outside of all braces */
    char last;          /* the last character that is no space and no comment */
    const char *kernel; /* the name of the kernel to find, or NULL */
    bool global;        /* the declaration that is being read has __global__ */
    bool defines;       /* this declaration or an earlier one is that kernel's */
};

static const char *skip_line(const char *s) {
    return s + strcspn(s, "\n");
}

/* "..." in code means "and so on" unless it is a pack: "Args... args", "f(args...)",
 * "sizeof...(T)". */
static bool is_left_out(const char *code, const char *at) {
    const char *before = at;
    while (before > code && isspace((unsigned char)before[-1])) {
        before--;
    }
    bool after_name = before > code && (isalnum((unsigned char)before[-1]) ||
                                        strchr("_>)&*", before[-1]) != NULL);
    const char *after = at + 3 + strspn(at + 3, " \t");
    return !after_name && !isalpha((unsigned char)*after) && *after != '_';
}

/* A comment in place of code: only "// ..." or an ellipsis. */
static bool comment_leaves_out(const char *s, size_t len) {
    size_t i = 0, dots;
    while (i < len && strchr("/* \t\n", s[i])) {
        i++;
    }
    dots = strspn(s + i, ".");
    bool unicode = len - i >= 3 && memcmp(s + i, "\xE2\x80\xA6", 3) == 0;
    if (dots < 3 && !unicode) {
        return false;
    }
    i += unicode ? 3 : dots;
    return i >= len || strchr(" \t\n*/", s[i]) != NULL;
}

static const char *skip_comment(struct scan *s, const char *at) {
    const char *end;
    if (at[1] == '/') {
        end = skip_line(at);
    } else {
        end = strstr(at + 2, "*/");
        end = end ? end + 2 : at + strlen(at);
    }
    s->ellipsis |= comment_leaves_out(at, (size_t)(end - at));
    return end;
}

static const char *skip_quoted(const char *at) {
    char quote = *at++;
    while (*at && *at != quote && *at != '\n') {
        at += *at == '\\' && at[1] ? 2 : 1;
    }
    return *at ? at + 1 : at;
}

static size_t word_length(const char *at) {
    size_t len = 0;
    while (isalnum((unsigned char)at[len]) || at[len] == '_') {
        len++;
    }
    return len;
}

static const char *read_word(struct scan *s, const char *at) {
    static const char *const statements[] = {"if",     "for",    "while",        "return",
                                             "switch", "printf", "__syncthreads"};
    size_t len = word_length(at);
    bool named = s->kernel && strlen(s->kernel) == len && !memcmp(at, s->kernel, len);
    s->defines |= named && s->global && at[len + strspn(at + len, " \t\r\n")] == '(';
    s->global |= len == 10 && memcmp(at, "__global__", 10) == 0;
    if (s->braces == 0 && s->parens == 0) {
        s->device |= (len == 10 && memcmp(at, "__global__", 10) == 0) ||
                     (len == 10 && memcmp(at, "__device__", 10) == 0);
        for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
            s->loose |=
                strlen(statements[i]) == len && memcmp(at, statements[i], len) == 0;
        }
    }
    return at + len;
}

/* Whether the text begins with the word; returns the text after it. */
static bool begins_with(const char *at, const char *word, const char **behind) {
    size_t len = word_length(at);
    bool same = len == strlen(word) && memcmp(at, word, len) == 0;
    *behind = same ? at + len + strspn(at + len, " \t\r\n") : at;
    return same;
}

/* Braces of namespaces and of extern "C" blocks leave one at the top level; those of a
 * function declared extern "C" do not: there the brace follows no string. Their closing
 * braces are then one too many, which is fine: depth is only compared with zero from
 * above. */
static bool opens_scope(const struct scan *s) {
    const char *at = s->head ? s->head : "";
    if (begins_with(at, "extern", &at)) {
        return s->last == '"';
    }
    (void)begins_with(at, "inline", &at);
    return begins_with(at, "namespace", &at);
}

/* A declaration begins after the end of another. */
static void follow_head(struct scan *s, const char *at) {
    if (strchr(";{}", *at)) {
        s->head = NULL;
        s->global = false;
    } else if (!s->head && !isspace((unsigned char)*at)) {
        s->head = at;
    }
}

static const char *read_code(struct scan *s, const char *code, const char *at) {
    char c = *at;
    if (c == '"' || (c == '\'' && !isalnum((unsigned char)s->last))) {
        s->last = c;
        return skip_quoted(at);
    }
    if (isalpha((unsigned char)c) || c == '_') {
        s->last = 'a';
        return read_word(s, at);
    }
    if (strncmp(at, "...", 3) == 0) {
        s->ellipsis |= is_left_out(code, at);
        return at + 3;
    }
    s->ellipsis |= strncmp(at, "\xE2\x80\xA6", 3) == 0;
    if (c == '{' || c == '}') {
        s->braces += c == '}' ? -1 : opens_scope(s) ? 0 : 1;
    }
    s->parens += c == '(' ? 1 : c == ')' ? -1 : 0;
    s->last = isspace((unsigned char)c) ? s->last : c;
    return at + 1;
}

static const char *read_one(struct scan *s, const char *code, const char *at) {
    if (*at == '/' && (at[1] == '/' || at[1] == '*')) {
        return skip_comment(s, at);
    }
    if (*at == '#' && (s->last == '\0' || at == code || at[-1] == '\n')) {
        return skip_line(at);
    }
    const char *next = read_code(s, code, at);
    follow_head(s, at);
    return next;
}

static struct scan scan_all(const char *code, const char *kernel) {
    struct scan s = {.at = code, .kernel = kernel};
    while (*s.at) {
        s.at = read_one(&s, code, s.at);
        s.braces = s.braces < 0 ? 0 : s.braces;
        s.parens = s.parens < 0 ? 0 : s.parens;
    }
    return s;
}

bool cuda_block_defines(const char *code, const char *kernel) {
    return scan_all(code, kernel).defines;
}

const char *cuda_block_fragment(const char *code) {
    struct scan s = scan_all(code, NULL);
    if (s.ellipsis) {
        return "parts of it are left out";
    }
    if (!s.device) {
        return "no kernel or device function at its top level";
    }
    if (s.loose) {
        return "statements outside of any function";
    }
    return s.braces > 0 ? "its braces are not closed" : NULL;
}
