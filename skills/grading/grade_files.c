#include "skills/grading/grade_files.h"

#include "base/file.h"
#include "base/find.h"
#include "base/lines.h"

#include <ctype.h>

#define MAX_PATH_BYTES 200
#define MAX_NAME_LINE 400 /* bytes of a line or info string that may hold a name */

/* --- what is a name --- */

static bool is_plain(const char *s, size_t len) {
    return !any_of(i, 0, len, !isalnum((unsigned char)s[i]) && !strchr("._-+/", s[i])) &&
           len > 0 && len <= MAX_PATH_BYTES;
}

/* Like a file's: an ending that begins with a letter, or a folder before it. */
static bool has_ending(const char *path) {
    const char *base = path_basename(path);
    const char *dot = strrchr(base, '.');
    return (dot && isalpha((unsigned char)dot[1])) ||
           (base > path && isalpha((unsigned char)base[0]));
}

/* The normalised path when s is one that stays in a folder, else NULL. */
static char *path_of(const char *s, size_t len) {
    if (!is_plain(s, len) || s[0] == '/' || s[len - 1] == '/' || s[len - 1] == '.') {
        return NULL;
    }
    autofree char *text = xstrndup(s, len);
    autofree char *path = path_normalize(text);
    return path_leads_out(path) || !has_ending(path) ? NULL : take(path);
}

static bool is_markup(char c) {
    return isspace((unsigned char)c) || (c && strchr("#*`~>:\"'()[]{},;", c) != NULL);
}

struct piece {
    const char *s;
    size_t len;
};

static struct piece strip(struct piece p) {
    while (p.len && is_markup(p.s[0])) {
        p.s++;
        p.len--;
    }
    while (p.len && is_markup(p.s[p.len - 1])) {
        p.len--;
    }
    return p;
}

static struct piece skip(struct piece p, size_t n) {
    return strip((struct piece){p.s + n, p.len - n});
}

/* Removes list markers ("1.", "-") and words that announce a name. */
static struct piece strip_words(struct piece p) {
    static const char *const words[] = {
        "file:", "filename:", "path:", "file ", "- ", "+ "};
    size_t digits = 0;
    while (digits < p.len && isdigit((unsigned char)p.s[digits])) {
        digits++;
    }
    if (digits && digits + 1 < p.len && strchr(".)", p.s[digits]) &&
        isspace((unsigned char)p.s[digits + 1])) {
        p = skip(p, digits + 1);
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t n = strlen(words[i]);
        if (p.len > n && strncasecmp(p.s, words[i], n) == 0) {
            p = skip(p, n);
        }
    }
    return p;
}

/* The path in the only `code` of a line, or NULL. */
static char *path_in_code(struct piece line) {
    const char *open = memchr(line.s, '`', line.len);
    const char *end = line.s + line.len;
    const char *close = open ? memchr(open + 1, '`', (size_t)(end - open - 1)) : NULL;
    if (!close || memchr(close + 1, '`', (size_t)(end - close - 1))) {
        return NULL;
    }
    return path_of(open + 1, (size_t)(close - open - 1));
}

/* A line that says a name and little else. */
static char *path_on_line(struct piece line) {
    if (line.len > MAX_NAME_LINE) {
        return NULL;
    }
    struct piece p = strip_words(strip(line));
    char *path = path_of(p.s, p.len);
    return path ? path : path_in_code(line);
}

/* --- where it may stand --- */

/* Word i of an info string. */
static char *path_of_word(struct piece word, bool first) {
    static const char *const keys[] = {"path=", "file=", "filename=", "title=", "name="};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        size_t n = strlen(keys[i]);
        if (word.len > n && strncasecmp(word.s, keys[i], n) == 0) {
            struct piece value = skip(word, n);
            return path_of(value.s, value.len);
        }
    }
    const char *colon = first ? memchr(word.s, ':', word.len) : NULL;
    if (colon) {
        return path_of(colon + 1, word.len - (size_t)(colon + 1 - word.s));
    }
    return word.s[0] == '.' ? NULL /* {.cuda}: a class */ : path_of(word.s, word.len);
}

static char *path_of_info(const char *info) {
    size_t len = strlen(info);
    if (len > MAX_NAME_LINE) {
        return NULL;
    }
    bool first = true;
    for (const char *at = info; *at; first = false) {
        size_t n = strcspn(at, " \t");
        struct piece word = strip((struct piece){at, n});
        char *path = word.len ? path_of_word(word, first) : NULL;
        if (path) {
            return path;
        }
        at += n + strspn(at + n, " \t");
    }
    return NULL;
}

static struct piece line_at(const struct lines *lines, const char *text, size_t line) {
    size_t start = lines->starts[line];
    return (struct piece){text + start, lines_end(lines, text, line) - start};
}

/* fence_line is 1-based. */
static char *path_before(const struct lines *lines, const char *text, int fence_line) {
    size_t line = (size_t)fence_line - 1;
    for (size_t back = 1; back <= 2 && back <= line && line < lines->count; back++) {
        struct piece before = line_at(lines, text, line - back);
        struct piece words = strip((struct piece){before.s, before.len});
        if (words.len) {
            return path_on_line(before);
        }
    }
    return NULL;
}

static char *path_in_comment(const char *text) {
    static const char *const marks[] = {"//", "#", "/*", "<!--", "--", ";"};
    struct piece line = {text, strcspn(text, "\r\n")};
    for (size_t i = 0; line.len <= MAX_NAME_LINE && i < ARRAY_LEN(marks); i++) {
        size_t n = strlen(marks[i]);
        if (line.len > n && strncmp(line.s, marks[i], n) == 0) {
            struct piece p = strip((struct piece){line.s + n, line.len - n});
            while (p.len > 2 &&
                   (memcmp(p.s + p.len - 2, "*/", 2) == 0 ||
                    memcmp(p.s + p.len - 2, "--", 2) == 0 || p.s[p.len - 1] == '/')) {
                p = strip((struct piece){p.s, p.len - 1});
            }
            p = strip_words(p);
            return path_of(p.s, p.len);
        }
    }
    return NULL;
}

/* --- all blocks --- */

/* "cuda:src/k.cu" is CUDA, and so is "src/k.cu". */
static void mend_language(struct markdown_code *code) {
    char *language = code->language;
    const char *dot = strrchr(language, '.');
    language[strcspn(language, ":")] = '\0';
    if (dot && dot < language + strlen(language)) {
        memmove(language, dot + 1, strlen(dot + 1) + 1);
    }
}

/* Takes path over. */
static void add_file(struct answer_code *c, char *path, size_t block) {
    struct answer_file *file =
        list_find(one, c->files, c->file_count, strcmp(one->path, path) == 0);
    if (!file && c->file_count == ANSWER_MAX_FILES) {
        free(path);
        return;
    }
    if (!file) {
        c->files = xreallocarray(c->files, c->file_count + 1, sizeof *c->files);
        file = &c->files[c->file_count++];
        *file = (struct answer_file){.path = take(path)};
    }
    file->text = c->blocks.codes[block].text;
    free(path);
}

void answer_code_read(struct answer_code *ret, const char *text, size_t len) {
    *ret = (struct answer_code){0};
    markdown_read(&ret->blocks, text, len, 1);
    struct lines lines;
    lines_init(&lines, text, len);
    list_each(i, code, ret->blocks.codes, ret->blocks.code_count) {
        if (code->line == code->fence_line) {
            continue; /* indented code has no name */
        }
        char *path = path_of_info(code->info);
        path = path ? path : path_before(&lines, text, code->fence_line);
        path = path ? path : path_in_comment(code->text);
        if (path) {
            add_file(ret, path, i);
        }
        mend_language(code);
    }
    lines_finish(&lines);
}

void answer_code_add(struct answer_code *c, const char *path, const char *text) {
    struct markdown *m = &c->blocks;
    const char *dot = strrchr(path_basename(path), '.');
    if (m->code_count == MARKDOWN_MAX_ITEMS) {
        return;
    }
    m->codes = xreallocarray(m->codes, m->code_count + 1, sizeof *m->codes);
    m->codes[m->code_count] =
        (struct markdown_code){.language = xstrdup(dot ? dot + 1 : ""),
                               .info = xstrdup(path),
                               .text = xstrdup(text),
                               .line = 1};
    add_file(c, xstrdup(path), m->code_count++);
}

void answer_code_finish(struct answer_code *c) {
    for (size_t i = 0; i < c->file_count; i++) {
        free(c->files[i].path);
    }
    free(c->files);
    markdown_finish(&c->blocks);
    *c = (struct answer_code){0};
}

const char *answer_code_file(const struct answer_code *c, const char *path) {
    const char *found = NULL;
    list_each(i, file, c->files, c->file_count) {
        if (strcmp(file->path, path) == 0) {
            return file->text;
        }
        found = strcmp(path_basename(file->path), path) == 0 ? file->text : found;
    }
    return found;
}

const struct markdown_code *answer_code_last(const struct answer_code *c,
                                             answer_code_takes *takes, void *data) {
    for (size_t i = c->blocks.code_count; i > 0; i--) {
        if (takes(&c->blocks.codes[i - 1], data)) {
            return &c->blocks.codes[i - 1];
        }
    }
    return NULL;
}
