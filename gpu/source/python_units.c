#include "gpu/source/python_units.h"

#include "base/find.h"
#include "base/text.h"
#include "gpu/source/python_literals.h"

#define TOKENS_MAX (1u << 20)
#define LOOKS_MAX (1u << 20) /* at tokens; brackets in brackets are looked at again */
#define NESTING_MAX 32
#define NAMES_MAX 1024
#define SETS_MAX 256

/* ---- tokens ---- */

struct token {
    size_t start, end;
    char
        kind; /* 'a' a name or number, '"' a literal, else its character; '\n': the end */
    int string;     /* of the CUDA strings; -1: none */
    unsigned depth; /* brackets around it; of a bracket: outside */
    bool formatted;
};

struct name {
    size_t start, end;
    uint64_t strings;
    bool open;     /* may hold what cannot be told */
    size_t indent; /* columns before it, where it got its value */
};

struct set {
    uint64_t strings;
    bool open;
};

struct finder {
    const char *text;
    struct token *tokens; /* one more than count, of kind '\n' */
    size_t count, looks;
    struct name names[NAMES_MAX];
    size_t name_count;
    struct set sets[SETS_MAX];
    size_t set_count;
    int strings;
    uint64_t kernels; /* the strings with __global__ */
    bool failed;      /* too much of anything: the script is one unit */
};

static void add_token(struct finder *f, struct token token, size_t *capacity) {
    if (f->count + 1 >= *capacity) {
        *capacity *= 2;
        f->tokens = xreallocarray(f->tokens, *capacity, sizeof *f->tokens);
    }
    f->tokens[f->count++] = token;
    f->failed |= f->count >= TOKENS_MAX;
}

/* The words and signs in [from, to), where no literal is. */
static void read_plain(struct finder *f, size_t from, size_t to, unsigned *depth,
                       size_t *capacity) {
    for (size_t i = from; i < to && !f->failed;) {
        char c = f->text[i];
        size_t end = i + 1;
        if (c == '#') {
            const char *newline = memchr(f->text + i, '\n', to - i);
            i = newline ? (size_t)(newline - f->text) : to;
            continue;
        }
        while (text_is_wide_word(c) && end < to && text_is_wide_word(f->text[end])) {
            end++;
        }
        bool opens = strchr("([{", c) != NULL, closes = strchr(")]}", c) != NULL;
        *depth -= closes && *depth;
        if (!isspace((unsigned char)c) && c != '\\' && c) {
            add_token(f,
                      (struct token){.start = i,
                                     .end = end,
                                     .kind = text_is_wide_word(c) ? 'a' : c,
                                     .string = -1,
                                     .depth = *depth},
                      capacity);
        }
        *depth += opens && c;
        i = end;
    }
}

static void read_tokens(struct finder *f, size_t len) {
    struct python_literal l;
    struct python_reader reader = {.text = f->text, .len = len};
    size_t done = 0, capacity = 256;
    unsigned depth = 0;
    f->tokens = xreallocarray(NULL, capacity, sizeof *f->tokens);
    while (!f->failed && python_literal_next(&reader, &l)) {
        read_plain(f, done, l.start, &depth, &capacity);
        bool cuda = python_literal_is_cuda(f->text, &l);
        if (cuda && memmem(f->text + l.from, l.to - l.from, "__global__", 10)) {
            f->kernels |= (uint64_t)1 << (f->strings % PYTHON_UNITS_MAX);
        }
        add_token(f,
                  (struct token){.start = l.start,
                                 .end = l.end,
                                 .kind = '"',
                                 .string = cuda ? f->strings++ : -1,
                                 .depth = depth,
                                 .formatted = l.formatted},
                  &capacity);
        done = reader.at;
    }
    read_plain(f, done, len, &depth, &capacity);
    f->tokens[f->count] =
        (struct token){.start = len, .end = len, .kind = '\n', .string = -1};
    f->failed |= f->strings > PYTHON_UNITS_MAX;
}

static char kind_at(const struct finder *f, size_t i) {
    return f->tokens[i < f->count ? i : f->count].kind;
}

static bool is(const struct finder *f, size_t i, const char *word) {
    const struct token *t = &f->tokens[i < f->count ? i : f->count];
    return t->end - t->start == strlen(word) &&
           memcmp(f->text + t->start, word, t->end - t->start) == 0;
}

/* ---- names ---- */

static struct name *find_name(struct finder *f, size_t start, size_t end) {
    list_each(i, n, f->names, f->name_count) {
        if (n->end - n->start == end - start &&
            memcmp(f->text + n->start, f->text + start, end - start) == 0) {
            return &f->names[i];
        }
    }
    return NULL;
}

static void add_set(struct finder *f, uint64_t strings, bool open) {
    bool several = (strings & (strings - 1)) != 0;
    if (!strings || !(several || open)) {
        return;
    }
    for (size_t i = 0; i < f->set_count; i++) {
        if (f->sets[i].strings == strings && f->sets[i].open == open) {
            return;
        }
    }
    f->failed |= f->set_count == SETS_MAX;
    if (!f->failed) {
        f->sets[f->set_count++] = (struct set){strings, open};
    }
}

/* Characters before a token in its line. */
static size_t column(const struct finder *f, size_t start) {
    const char *newline = memrchr(f->text, '\n', start);
    return newline ? start - (size_t)(newline - f->text) - 1 : start;
}

/* A function begins at a token: names that were given a value further inside than it
 * stands are those of another. */
static void forget_locals(struct finder *f, size_t start) {
    size_t kept = 0, indent = column(f, start);
    for (size_t i = 0; i < f->name_count; i++) {
        if (f->names[i].indent <= indent) {
            f->names[kept++] = f->names[i];
        }
    }
    f->looks += f->name_count / 8;
    f->name_count = kept;
}

/* A name with two values holds neither for certain; nor does one without room. */
static void bind(struct finder *f, const struct token *t, struct set value, bool adds) {
    struct name *name = find_name(f, t->start, t->end);
    if (adds) {
        value.strings |= name ? name->strings : 0;
        value.open |= !name || name->open;
        add_set(f, value.strings, value.open);
    } else if (name && name->strings != value.strings) {
        value = (struct set){0, true};
    }
    if (!name && f->name_count < NAMES_MAX) {
        name = &f->names[f->name_count++];
    }
    if (name) {
        *name = (struct name){.start = t->start,
                              .end = t->end,
                              .strings = value.strings,
                              .open = value.open,
                              .indent = column(f, t->start)};
    }
}

/* ---- expressions ---- */

/* Behind the bracket that token i opens. */
static size_t skip_bracket(struct finder *f, size_t i) {
    unsigned depth = f->tokens[i].depth;
    for (i++; i < f->count && f->tokens[i].depth > depth; i++) {
        f->looks++;
    }
    return i < f->count ? i + 1 : i;
}

/* What the names in the fields of an f-string hold. */
static void add_fields(struct finder *f, const struct token *t, struct set *ret) {
    struct set fields = {0, false};
    for (size_t i = t->start, depth = 0, end; i < t->end; i = end) {
        char c = f->text[i];
        end = i + 1;
        depth += c == '{';
        depth -= c == '}' && depth;
        if (depth && text_is_wide_word(c)) {
            while (end < t->end && text_is_wide_word(f->text[end])) {
                end++;
            }
            const struct name *n = find_name(f, i, end);
            fields.strings |= n ? n->strings : 0;
            fields.open |= !n || n->open;
        }
    }
    f->looks += t->end - t->start;
    ret->open |= fields.strings && t->string < 0 && fields.open;
    ret->strings |= fields.strings;
}

static struct set read_sum(struct finder *f, size_t i, size_t *end, unsigned nesting);

/* "(a + b)": what it holds; of a tuple nothing is known. */
static struct set read_group(struct finder *f, size_t i, size_t *end, unsigned nesting) {
    struct set inner = read_sum(f, i + 1, end, nesting + 1);
    size_t behind = skip_bracket(f, i);
    bool whole = *end + 1 == behind;
    *end = behind;
    return whole ? inner : (struct set){0, true};
}

/* ".replace(…)" and the like behind what was read up to *end. */
static bool skip_trailers(struct finder *f, size_t *end) {
    bool any = false;
    for (;; any = true) {
        char kind = kind_at(f, *end);
        if (kind == '.') {
            *end += 2;
        } else if ((kind == '(' || kind == '[') &&
                   (f->tokens[*end].depth ||
                    !memchr(f->text + f->tokens[*end - 1].end, '\n',
                            f->tokens[*end].start - f->tokens[*end - 1].end))) {
            *end = skip_bracket(f, *end);
        } else {
            return any;
        }
    }
}

static struct set read_operand(struct finder *f, size_t i, size_t *end,
                               unsigned nesting) {
    const struct token *t = &f->tokens[i < f->count ? i : f->count];
    struct set ret = {0, false};
    *end = i + 1;
    if (t->kind == '(' && nesting < NESTING_MAX) {
        ret = read_group(f, i, end, nesting);
    } else if (t->kind == '"') {
        ret.strings = t->string >= 0 ? (uint64_t)1 << t->string : 0;
        if (t->formatted) {
            add_fields(f, t, &ret);
        }
    } else if (t->kind == 'a') {
        for (; kind_at(f, *end) == '.' && kind_at(f, *end + 1) == 'a' &&
               kind_at(f, *end + 2) != '(';
             *end += 2) { /* an attribute goes by its own name */
            t = &f->tokens[*end + 1];
        }
        const struct name *n = find_name(f, t->start, t->end);
        ret.strings = n ? n->strings : 0;
        ret.open = n ? n->open : !isdigit((unsigned char)f->text[t->start]);
    } else {
        *end = i;
        ret.open = true;
    }
    ret.open |= *end > i && skip_trailers(f, end) && !ret.strings;
    return ret;
}

/* Whether literal i follows one that Python puts it behind. */
static bool is_continued(const struct finder *f, size_t i) {
    const struct token *t = &f->tokens[i];
    return i && t->kind == '"' && t[-1].kind == '"' &&
           (t->depth || !memchr(f->text + t[-1].end, '\n', t->start - t[-1].end));
}

/* "a + b", "a % b", two literals in a row: what all hold. What % puts into a string is
 * mostly a number. */
static struct set read_sum(struct finder *f, size_t i, size_t *end, unsigned nesting) {
    struct set sum = read_operand(f, i, end, nesting);
    while (*end > i && *end < f->count && f->looks++ < LOOKS_MAX) {
        char sign = kind_at(f, *end);
        bool follows = is_continued(f, *end);
        if (!follows && ((sign != '+' && sign != '%') || kind_at(f, *end + 1) == '=')) {
            break;
        }
        i = *end + !follows;
        struct set next = read_operand(f, i, end, nesting);
        sum.strings |= next.strings;
        sum.open |= next.open && sign != '%';
    }
    return sum;
}

/* Whether the bracket at token i holds what will be one text. */
static bool joins(const struct finder *f, size_t i) {
    static const char *const methods[] = {"join", "format", "substitute",
                                          "safe_substitute"};
    if (kind_at(f, i) == '[') {
        return i && !strchr("a\")]", kind_at(f, i - 1));
    }
    size_t name = i && kind_at(f, i - 1) == '(' ? i - 1 : i; /* join((a, b)) */
    return name && kind_at(f, i) == '(' &&
           any_of(k, 0, ARRAY_LEN(methods), is(f, name - 1, methods[k]));
}

/* The elements of a list, or the arguments of such a method with what that is called on.
 */
static void read_elements(struct finder *f, size_t i) {
    struct set all = {0, false}, one;
    size_t end = skip_bracket(f, i), at = i + 1, next;
    if (kind_at(f, i) == '(' && i > 2 && kind_at(f, i - 2) == '.') {
        all.strings = read_operand(f, i - 3, &next, NESTING_MAX).strings;
    }
    while (at + 1 < end && f->looks++ < LOOKS_MAX) {
        at += kind_at(f, at) == 'a' && kind_at(f, at + 1) == '=' ? 2 : 0;
        one = read_sum(f, at, &next, 0);
        bool whole = kind_at(f, next) == ',' || next + 1 >= end;
        all.strings |= whole ? one.strings : 0;
        for (at = next; at < end && !(kind_at(f, at) == ',' &&
                                      f->tokens[at].depth == f->tokens[i].depth + 1);) {
            at = strchr("([{", kind_at(f, at)) ? skip_bracket(f, at) : at + 1;
        }
        at++;
    }
    add_set(f, all.strings, false);
}

/* Of its line. */
static bool is_first(const struct finder *f, size_t i) {
    const struct token *t = &f->tokens[i];
    return !i || memchr(f->text + t[-1].end, '\n', t->start - t[-1].end);
}

/* The name that "NAME =", "NAME += " or "NAME: str =" before token i assigns to. */
static const struct token *assigned(const struct finder *f, size_t i, bool *adds) {
    if (i < 2 || f->tokens[i].depth || kind_at(f, i - 1) != '=') {
        return NULL;
    }
    size_t name = i - 2;
    *adds = kind_at(f, name) == '+';
    name -= *adds && name;
    if (name >= 2 && kind_at(f, name - 1) == ':' && !is_first(f, name)) {
        name -= 2;
    }
    return kind_at(f, name) == 'a' ? &f->tokens[name] : NULL;
}

static bool begins_operand(const struct finder *f, size_t i) {
    char kind = kind_at(f, i), before = i ? kind_at(f, i - 1) : '\n';
    bool starts = kind == 'a' || kind == '"' || kind == '(';
    return starts && !is_continued(f, i) && before != '+' && before != '%' &&
           before != '.' && !(kind == '(' && (before == 'a' || before == ')'));
}

static void find_sets(struct finder *f) {
    for (size_t i = 0; i < f->count && !f->failed; i++) {
        if (strchr("([", kind_at(f, i)) && joins(f, i)) {
            read_elements(f, i);
        }
        if (kind_at(f, i) == 'a' && is(f, i, "def")) {
            forget_locals(f, f->tokens[i].start);
        }
        bool adds = false;
        const struct token *name = assigned(f, i, &adds);
        if (!name && !begins_operand(f, i)) {
            continue;
        }
        size_t end;
        struct set sum = read_sum(f, i, &end, 0);
        add_set(f, sum.strings, sum.open);
        if (name) {
            bind(f, name, sum, adds);
        }
        f->failed |= f->looks >= LOOKS_MAX;
    }
}

/* ---- units ---- */

static void add_unit(struct python_units *units, uint64_t strings) {
    for (size_t i = 0; i < units->count; i++) {
        if ((units->strings[i] | strings) == units->strings[i]) {
            return;
        }
        if ((units->strings[i] | strings) == strings) {
            units->strings[i] = strings;
            return;
        }
    }
    if (units->count < PYTHON_UNITS_MAX) {
        units->strings[units->count++] = strings;
    }
}

static void make_units(const struct finder *f, struct python_units *ret) {
    uint64_t everywhere = 0, joined = 0;
    for (size_t i = 0; i < f->set_count; i++) {
        joined |= f->sets[i].strings;
        everywhere |= f->sets[i].open ? f->sets[i].strings & ~f->kernels : 0;
    }
    for (size_t i = 0; i < f->set_count; i++) {
        add_unit(ret, f->sets[i].strings | everywhere);
    }
    for (int i = 0; i < f->strings; i++) {
        uint64_t string = (uint64_t)1 << i;
        if (!(joined & string)) {
            add_unit(ret, string | everywhere);
        }
    }
}

void python_units_find(const char *text, size_t len, struct python_units *ret) {
    *ret = (struct python_units){.count = 0};
    autofree struct finder *f = xcalloc(1, sizeof *f);
    f->text = text;
    read_tokens(f, len);
    if (!f->failed && f->strings > 1) {
        find_sets(f);
        make_units(f, ret);
    }
    if (f->failed || !ret->count) {
        *ret = (struct python_units){.strings = {UINT64_MAX}, .count = 1};
    }
    free(f->tokens);
}

bool python_units_has(const struct python_units *units, size_t unit, size_t string) {
    return unit == 0 || unit > units->count || string >= PYTHON_UNITS_MAX ||
           (units->strings[unit - 1] >> string & 1);
}
