/* Completion and hover while the file is being written: a scan by lines that survives any
 * unfinished TOML. */
#include "skills/kernel_project/build_toml.h"

#include "skills/kernel_project/build_toml_keys.h"

#define MAX_SECTION 128

struct cursor {
    char section[MAX_SECTION];
    char key[64]; /* of the pair that the place is in */
    bool in_header, in_value, in_comment;
    char quote; /* of the string that the place is in, or 0 */
    size_t header_start;
    size_t key_start, key_end;
};

static bool is_bare(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-' || c == '_';
}

static size_t skip_blanks(const char *text, size_t at, size_t end) {
    while (at < end && (text[at] == ' ' || text[at] == '\t')) {
        at++;
    }
    return at;
}

static size_t line_end(const char *text, size_t at, size_t len) {
    const char *newline = memchr(text + at, '\n', len - at);
    return newline ? (size_t)(newline - text) : len;
}

/* "[a.b]" alone on its line, its end given: also where an array before it was left open.
 */
static bool is_header(const char *text, size_t at, size_t end) {
    at = skip_blanks(text, at, end);
    if (at == end || text[at] != '[') {
        return false;
    }
    at += at + 1 < end && text[at + 1] == '[' ? 2 : 1;
    size_t name = at;
    while (at < end && (is_bare(text[at]) || text[at] == '.')) {
        at++;
    }
    bool word = at > name && (text[name] < '0' || text[name] > '9');
    return word && at < end && text[at] == ']';
}

/* Returns where the header's name ends. */
static size_t take_section(struct cursor *c, const char *text, size_t at, size_t end) {
    at = skip_blanks(text, at, end);
    c->header_start = at;
    while (at < end && text[at] == '[') {
        at++;
    }
    size_t n = 0;
    for (; at < end && (is_bare(text[at]) || text[at] == '.'); at++) {
        if (n + 1 < sizeof c->section) {
            c->section[n++] = text[at];
        }
    }
    c->section[n] = '\0';
    return at;
}

struct scan {
    const char *text;
    size_t len;
    int depth;  /* open brackets of a value */
    char quote; /* a string that runs over lines: '"' or '\'' tripled, else 0 */
};

static bool tripled(const struct scan *s, size_t at, char quote) {
    return at + 2 < s->len && s->text[at] == quote && s->text[at + 1] == quote &&
           s->text[at + 2] == quote;
}

/* Reads a value's bytes up to `end`. Open brackets and strings stay in s and c. */
static void walk_value(struct scan *s, struct cursor *c, size_t at, size_t end) {
    c->quote = s->quote;
    c->in_comment = false;
    for (; at < end; at++) {
        char b = s->text[at];
        if (c->quote) {
            if (b == '\\' && c->quote == '"') {
                at++;
            } else if (b == c->quote && (!s->quote || tripled(s, at, b))) {
                at += s->quote ? 2 : 0;
                c->quote = s->quote = 0;
            }
        } else if (b == '"' || b == '\'') {
            c->quote = b;
            s->quote = tripled(s, at, b) ? b : 0;
            at += s->quote ? 2 : 0;
        } else if (b == '#') {
            c->in_comment = true;
            return;
        } else if (b == '[' || b == '{') {
            s->depth++;
        } else if ((b == ']' || b == '}') && s->depth) {
            s->depth--;
        }
    }
}

/* One line of the file; stop: where the place is, or the line's end. */
static void walk_line(struct scan *s, struct cursor *c, size_t at, size_t end,
                      size_t stop) {
    bool header = is_header(s->text, at, end);
    if ((s->depth || s->quote) && !header) {
        walk_value(s, c, at, stop);
        return;
    }
    *s = (struct scan){.text = s->text, .len = s->len};
    c->in_value = c->in_header = c->in_comment = false;
    c->quote = 0;
    c->key[0] = '\0';
    at = skip_blanks(s->text, at, end);
    c->key_start = c->key_end = at;
    if (at < end && s->text[at] == '[') {
        c->in_header = true;
        at = take_section(c, s->text, at, end);
        while (at < stop && s->text[at] == ']') {
            at++;
        }
        c->in_comment = at < stop && memchr(s->text + at, '#', stop - at);
        return;
    }
    size_t start = at;
    while (at < end && (is_bare(s->text[at]) || s->text[at] == '.')) {
        at++;
    }
    c->key_end = at;
    if (at - start < sizeof c->key) {
        memcpy(c->key, s->text + start, at - start);
        c->key[at - start] = '\0';
    }
    at = skip_blanks(s->text, at, end);
    if (at < end && s->text[at] == '#') {
        c->in_comment = at < stop;
    } else if (at < stop && s->text[at] == '=') {
        c->in_value = true;
        walk_value(s, c, at + 1, stop);
    }
}

static void cursor_find(struct cursor *c, const char *text, size_t len, size_t offset) {
    struct scan scan = {.text = text, .len = len};
    *c = (struct cursor){.section = ""};
    for (size_t at = 0;; at++) {
        size_t end = line_end(text, at, len);
        bool here = offset <= end;
        walk_line(&scan, c, at, end, here ? offset : end);
        if (here || end == len) {
            return;
        }
        at = end;
    }
}

/* --- completions --- */

struct toml_word {
    size_t start, end; /* what is replaced */
};

static void add_item(json_t *items, struct toml_word word, const char *label,
                     const char *detail, const char *text) {
    json_array_append_new(
        items, json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "label", label, "detail",
                         detail, "documentation", detail, "text", text, "start",
                         (json_int_t)word.start, "end", (json_int_t)word.end));
}

/* Keys that the section has already: they are not offered again. */
static bool is_there(const char *text, size_t len, const char *section, const char *key,
                     size_t not_here) {
    struct scan scan = {.text = text, .len = len};
    struct cursor c = {.section = ""};
    for (size_t at = 0;; at++) {
        size_t end = line_end(text, at, len);
        bool pair = !scan.depth && !scan.quote;
        walk_line(&scan, &c, at, end, end);
        if (pair && !c.in_header && c.key_start != not_here && c.in_value &&
            strcmp(c.section, section) == 0 && strcmp(c.key, key) == 0) {
            return true;
        }
        if (end == len) {
            return false;
        }
        at = end;
    }
}

static bool wants_array(enum build_toml_type type) {
    return strcmp(build_toml_type_name(type), "an array of strings") == 0 ||
           type == KEY_KERNEL_DEPENDS;
}

static unsigned backend_in(const char *text, size_t len, const char *section) {
    struct scan scan = {.text = text, .len = len};
    struct cursor c = {.section = ""};
    for (size_t at = 0;; at++) {
        size_t end = line_end(text, at, len);
        walk_line(&scan, &c, at, end, end);
        if (c.in_value && strcmp(c.key, "backend") == 0 &&
            strcmp(c.section, section) == 0) {
            autofree char *line = xstrndup(text + c.key_end, end - c.key_end);
            char word[16] = "";
            char *open = strpbrk(line, "\"'");
            size_t n = open ? strcspn(open + 1, "\"'") : 0;
            if (n && n < sizeof word) {
                memcpy(word, open + 1, n);
            }
            return build_toml_backend(word);
        }
        if (end == len) {
            return 0;
        }
        at = end;
    }
}

static void complete_keys(json_t *items, const struct cursor *c, struct toml_word word,
                          const char *text, size_t len) {
    const char *section = build_toml_section_key(c->section);
    bool kernel = strcmp(section, "kernel.*") == 0;
    unsigned backend = kernel ? backend_in(text, len, c->section) : 0;
    for (size_t i = 0; i < build_toml_key_count; i++) {
        const struct build_toml_key *key = &build_toml_keys[i];
        bool table = key->type == KEY_TABLE || key->type == KEY_KERNELS;
        if (table || !(key->editions & BUILD_TOML_5) ||
            strcmp(key->section, section) != 0 ||
            (backend && key->backends && !(key->backends & backend)) ||
            is_there(text, len, c->section, key->name, c->key_start)) {
            continue;
        }
        autofree char *insert =
            xasprintf("%s = %s", key->name, wants_array(key->type) ? "[]" : "");
        add_item(items, word, key->name, key->meaning,
                 word.end == c->key_end && !c->in_value ? insert : key->name);
    }
}

static void complete_sections(json_t *items, struct toml_word word) {
    static const char *const names[] = {
        "general",      "general.cuda", "general.hub", "general.neuron",
        "general.tpu",  "general.xpu",  "torch",       "torch.stable-abi",
        "torch-noarch", "tvm-ffi",      "kernel.",
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool kernel = strcmp(names[i], "kernel.") == 0;
        const char *meaning = build_toml_section_meaning(kernel ? "kernel.*" : names[i]);
        add_item(items, word, kernel ? "kernel.<name>" : names[i], meaning, names[i]);
    }
}

static void complete_words(json_t *items, const struct cursor *c, struct toml_word word,
                           const char *const *words, const char *detail) {
    for (; *words; words++) {
        autofree char *text = c->quote ? xstrdup(*words) : xasprintf("\"%s\"", *words);
        add_item(items, word, *words, detail, text);
    }
}

static void complete_values(json_t *items, const struct cursor *c,
                            struct toml_word word) {
    static const struct {
        enum build_toml_type type;
        const char *const *words;
        const char *detail;
    } lists[] = {
        {KEY_BACKENDS, build_toml_backends, "backend"},
        {KEY_BACKEND, build_toml_kernel_backends, "backend of a kernel"},
        {KEY_DEPENDS, build_toml_depends, "C++ dependency"},
        {KEY_CAPABILITIES, build_toml_capabilities, "compute capability"},
        {KEY_PYTHON_DEPENDS, build_toml_python_depends, "Python package"},
    };
    const struct build_toml_key *key =
        build_toml_key_find(c->section, c->key, BUILD_TOML_5 | BUILD_TOML_4);
    for (size_t i = 0; key && i < ARRAY_LEN(lists); i++) {
        if (lists[i].type == key->type) {
            complete_words(items, c, word, lists[i].words, lists[i].detail);
        }
    }
    if (key && key->type == KEY_PYTHON_DEPENDS &&
        strcmp(key->section, "general.cuda") == 0) {
        complete_words(items, c, word, build_toml_cuda_python_depends, "Python package");
    } else if (key && strcmp(key->name, "license") == 0) {
        complete_words(items, c, word, build_toml_licenses, "license");
    } else if (key && key->type == KEY_EDITION) {
        add_item(items, word, "5", "the current edition", "5");
    }
}

/* The word around the offset; inside a string, what the string's word may hold. */
static struct toml_word word_at(const char *text, size_t len, size_t offset) {
    struct toml_word w = {offset, offset};
    while (w.start > 0 && (is_bare(text[w.start - 1]) || text[w.start - 1] == '.')) {
        w.start--;
    }
    while (w.end < len && (is_bare(text[w.end]) || text[w.end] == '.')) {
        w.end++;
    }
    return w;
}

json_t *build_toml_completions(const char *text, size_t len, size_t offset) {
    json_t *items = json_array();
    struct cursor c;
    if (len > (256u << 10) || offset > len) {
        return items;
    }
    cursor_find(&c, text, len, offset);
    struct toml_word word = word_at(text, len, offset);
    if (c.in_comment) {
        return items;
    }
    if (c.in_header) {
        if (offset > c.header_start) {
            complete_sections(items, word);
        }
    } else if (c.in_value) {
        complete_values(items, &c, word);
    } else {
        complete_keys(items, &c, word, text, len);
    }
    return items;
}

/* --- hover --- */

char *build_toml_hover(const char *text, size_t len, size_t offset, size_t *start,
                       size_t *end) {
    struct cursor c;
    if (len > (256u << 10) || offset > len) {
        return NULL;
    }
    cursor_find(&c, text, len, offset);
    struct toml_word word = word_at(text, len, offset);
    if (c.in_comment || word.start == word.end) {
        return NULL;
    }
    *start = word.start;
    *end = word.end;
    if (c.in_header) {
        const char *meaning = build_toml_section_meaning(c.section);
        return meaning ? xasprintf("**[%s]**: %s", c.section, meaning) : NULL;
    }
    const struct build_toml_key *key =
        build_toml_key_find(c.section, c.key, BUILD_TOML_5 | BUILD_TOML_4);
    if (!key) {
        return NULL;
    }
    return xasprintf("**%s** (%s%s): %s", key->name, build_toml_type_name(key->type),
                     key->required ? ", required" : "", key->meaning);
}
