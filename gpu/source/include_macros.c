#include "gpu/source/include_macros.h"

#include "base/find.h"
#include "base/text.h"

#define NAME_MAX_BYTES 64
#define TARGET_MAX_BYTES 256

/* What stands behind #include: MACRO or MACRO(argument). */
struct macro_call {
    char name[NAME_MAX_BYTES];
    char argument[NAME_MAX_BYTES];
    bool has_argument;
};

/* A stretch of text that is looked at from left to right. */
struct stretch {
    const char *at, *end;
};

static void skip_blanks(struct stretch *s) {
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t')) {
        s->at++;
    }
}

static bool eat(struct stretch *s, const char *word) {
    size_t len = strlen(word);
    skip_blanks(s);
    if ((size_t)(s->end - s->at) < len || memcmp(s->at, word, len) != 0) {
        return false;
    }
    s->at += len;
    return true;
}

/* Letters of an identifier, or with `path` also those of a file's name. */
static bool eat_name(struct stretch *s, bool path, char *ret) {
    size_t len = 0;
    skip_blanks(s);
    while (s->at < s->end && len + 1 < NAME_MAX_BYTES &&
           (text_is_word(*s->at) || (path && strchr("./-+", *s->at) && *s->at))) {
        ret[len++] = *s->at++;
    }
    ret[len] = '\0';
    return len > 0 && (s->at == s->end || !text_is_word(*s->at));
}

/* Only blanks and a comment may follow. */
static bool is_over(struct stretch *s) {
    skip_blanks(s);
    return s->at == s->end || eat(s, "//") || eat(s, "/*");
}

static bool read_call(struct stretch s, struct macro_call *ret) {
    *ret = (struct macro_call){0};
    if (!eat(&s, "#") || !eat(&s, "include") || !eat_name(&s, false, ret->name)) {
        return false;
    }
    ret->has_argument = eat(&s, "(");
    return (!ret->has_argument || (eat_name(&s, true, ret->argument) && eat(&s, ")"))) &&
           is_over(&s);
}

/* The parameter's place in the value takes the argument; `ret` is of TARGET_MAX_BYTES. */
static bool substitute(struct stretch value, const char *parameter, const char *argument,
                       char *ret) {
    size_t len = 0;
    while (value.at < value.end) {
        const char *word = value.at;
        while (value.at < value.end && text_is_word(*value.at)) {
            value.at++;
        }
        size_t n = (size_t)(value.at - word);
        bool is_parameter = n && strlen(parameter) == n && !memcmp(word, parameter, n);
        if (!n) {
            value.at += n = 1;
        }
        const char *put = is_parameter ? argument : word;
        size_t put_len = is_parameter ? strlen(argument) : n;
        if (len + put_len + 1 > TARGET_MAX_BYTES) {
            return false;
        }
        memcpy(ret + len, put, put_len);
        len += put_len;
    }
    ret[len] = '\0';
    return true;
}

/* A header's name with its quotes, at the end of a definition's line. */
static bool eat_header(struct stretch *s, struct stretch *ret) {
    skip_blanks(s);
    ret->at = s->at;
    if (s->at == s->end || (*s->at != '<' && *s->at != '"')) {
        return false;
    }
    char close = *s->at++ == '<' ? '>' : '"';
    while (s->at < s->end && (text_is_word(*s->at) || (*s->at && strchr("./-+", *s->at)))) {
        s->at++;
    }
    if (s->at == s->end || *s->at++ != close) {
        return false;
    }
    ret->end = s->at;
    return is_over(s);
}

/* What a definition, from behind the macro's name on, makes of the call. */
static bool expand(struct stretch s, const struct macro_call *call, char *ret) {
    char parameter[NAME_MAX_BYTES] = "";
    bool takes = s.at < s.end && *s.at == '(';
    struct stretch value;
    if (takes && (!eat(&s, "(") || !eat_name(&s, false, parameter) || !eat(&s, ")"))) {
        return false;
    }
    return takes == call->has_argument && eat_header(&s, &value) &&
           substitute(value, parameter, call->argument, ret);
}

static const char *line_of(const char *text, const char *at) {
    while (at > text && at[-1] != '\n') {
        at--;
    }
    return at;
}

/* Does "#define" stand before `at` on its line, and nothing else? */
static bool is_defined_at(const char *text, const char *at) {
    struct stretch s = {line_of(text, at), at};
    if (!eat(&s, "#") || !eat(&s, "define") || s.at == at) {
        return false;
    }
    skip_blanks(&s);
    return s.at == at;
}

/* Visits what each of one text's definitions makes of the call. False when one does not
 * fit it, after the others. */
static bool expand_in(const struct source_file *f, const struct macro_call *call,
                      include_macro_visit *visit, void *data) {
    bool all_fit = true;
    size_t len = strlen(call->name);
    const char *end = f->text + f->len, *at = f->text;
    while ((at = memmem(at, (size_t)(end - at), call->name, len))) {
        const char *name = at;
        at += len;
        if ((at < end && text_is_word(*at)) || !is_defined_at(f->text, name)) {
            continue;
        }
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        struct stretch rest = {at, line_end ? line_end : end};
        if (rest.end > rest.at && rest.end[-1] == '\r') {
            rest.end--;
        }
        struct stretch empty = rest; /* is for whoever does not include it */
        char made[TARGET_MAX_BYTES];
        if (is_over(&empty)) {
            continue;
        }
        if (expand(rest, call, made)) {
            visit(made, data);
        } else {
            all_fit = false;
        }
    }
    return all_fit;
}

/* The last counts, since where there are several it is the one behind #else. */
static void keep_last(const char *target, void *data) {
    memcpy(data, target, strlen(target) + 1);
}

char *include_macro_expand(const struct source_set *sources, const char *text,
                           const struct file_reference *r) {
    struct macro_call call;
    char target[TARGET_MAX_BYTES] = "";
    size_t len = r->end - r->start;
    const struct stretch directive = {text + r->start, text + r->end};
    if (r->kind != REFERENCE_INCLUDE || memchr(directive.at, '\n', len) ||
        !read_call(directive, &call)) {
        return NULL;
    }
    for (size_t i = 0; i < sources->count; i++) {
        if (!expand_in(&sources->files[i], &call, keep_last, target)) {
            return NULL;
        }
    }
    autofree char *made = xasprintf("#include%s", target);
    if (!*target || strlen(made) > len) {
        return NULL;
    }
    return xasprintf("%-*s", (int)len, made);
}

void include_macro_each(const struct source_set *sources, const char *text,
                        const struct file_reference *r, include_macro_visit *visit,
                        void *data) {
    struct macro_call call;
    const struct stretch directive = {text + r->start, text + r->end};
    if (r->kind == REFERENCE_INCLUDE && read_call(directive, &call)) {
        size_t count = sources->count; /* visit may add some */
        for (size_t i = 0; i < count; i++) {
            const struct source_file f = sources->files[i];
            (void)expand_in(&f, &call, visit, data);
        }
    }
}

static bool is_defined_in(const struct source_file *f, const char *name) {
    size_t len = strlen(name);
    const char *end = f->text + f->len, *at = f->text;
    while ((at = memmem(at, (size_t)(end - at), name, len))) {
        if ((at + len == end || !text_is_word(at[len])) && is_defined_at(f->text, at)) {
            return true;
        }
        at += len;
    }
    return false;
}

bool include_macro_is_unknown(const struct source_set *sources, const char *text,
                              const struct file_reference *r) {
    struct macro_call call;
    const struct stretch directive = {text + r->start, text + r->end};
    if (r->kind != REFERENCE_INCLUDE || !read_call(directive, &call)) {
        return false;
    }
    return !any_of(i, 0, sources->count, is_defined_in(&sources->files[i], call.name));
}

/* Whether `at` is in the first line of a #define. */
static bool is_in_define(const char *text, const char *at) {
    struct stretch s = {line_of(text, at), at};
    return eat(&s, "#") && eat(&s, "define");
}

bool include_macro_answer_no(char *text, size_t len, const struct file_reference *r) {
    static const char question[] = "__has_include";
    const size_t word = sizeof question - 1;
    size_t open = r->start, close = r->end;
    while (open > 0 && (text[open - 1] == ' ' || text[open - 1] == '\t')) {
        open--;
    }
    while (close < len && (text[close] == ' ' || text[close] == '\t')) {
        close++;
    }
    if (r->kind != REFERENCE_HAS_INCLUDE || open < word + 1 || close >= len ||
        text[open - 1] != '(' || text[close] != ')' ||
        memcmp(text + open - 1 - word, question, word) != 0 ||
        !is_in_define(text, text + open)) {
        return false;
    }
    memset(text + open - 1 - word, ' ', close + 1 - (open - 1 - word));
    text[close] = '0';
    return true;
}
