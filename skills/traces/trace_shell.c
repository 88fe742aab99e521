#include "skills/traces/trace_shell.h"

#include "base/buf.h"
#include "base/strings.h"

#include <ctype.h>

/* --- words --- */

#define MAX_WORD 4096

struct shell_word {
    char text[MAX_WORD]; /* without quotes, cut */
    size_t len;
    bool quoted;
};

static bool is_break(char c) {
    return c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')';
}

static void add_char(struct shell_word *w, char c) {
    if (w->len + 1 < sizeof w->text) {
        w->text[w->len++] = c;
        w->text[w->len] = '\0';
    }
}

/* The word at s[*at]; false at the end of the simple command. */
static bool next_word(const char *s, size_t *at, struct shell_word *ret) {
    size_t i = *at;
    while (s[i] == ' ' || s[i] == '\t' || (s[i] == '\\' && s[i + 1] == '\n')) {
        i += s[i] == '\\' ? 2 : 1;
    }
    size_t begin = i;
    char quote = 0;
    ret->len = 0;
    ret->text[0] = '\0';
    ret->quoted = false;
    for (; s[i]; i++) {
        if (quote) {
            if (s[i] == quote) {
                quote = 0;
            } else if (s[i] == '\\' && quote == '"' && s[i + 1] &&
                       strchr("\"\\$`", s[i + 1])) {
                add_char(ret, s[++i]);
            } else {
                add_char(ret, s[i]);
            }
        } else if (s[i] == '\'' || s[i] == '"') {
            quote = s[i];
            ret->quoted = true;
        } else if (s[i] == '\\' && s[i + 1]) {
            add_char(ret, s[++i]);
        } else if (s[i] == ' ' || s[i] == '\t') {
            break;
        } else if (is_break(s[i]) &&
                   !(s[i] == '&' &&
                     (i > begin && (s[i - 1] == '>' || s[i - 1] == '<'))) &&
                   !(s[i] == '&' && s[i + 1] == '>')) {
            break;
        } else {
            add_char(ret, s[i]);
        }
    }
    *at = i;
    return i > begin;
}

const char *shell_base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool is_shell(const char *word) {
    return words_have("sh bash zsh dash ksh fish", shell_base_name(word));
}

/* -c, -lc, -ec … */
static bool is_command_flag(const char *word) {
    size_t len = strlen(word);
    return word[0] == '-' && word[1] != '-' && len >= 2 && len <= 5 &&
           word[len - 1] == 'c' && strspn(word + 1, "abceilmnuvx") == len - 1;
}

static void add_quoted(struct buf *out, const char *word) {
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-./=:,+@%^";
    if (*word && word[strspn(word, safe)] == '\0') {
        buf_adds(out, word);
        return;
    }
    buf_addc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') {
            buf_adds(out, "'\\''");
        } else {
            buf_addc(out, *word);
        }
    }
    buf_addc(out, '\'');
}

char *shell_join(const char *const *words, size_t count) {
    size_t flag = 1;
    while (flag + 1 < count && words[flag][0] == '-' && !is_command_flag(words[flag])) {
        flag++;
    }
    if (count >= 3 && flag + 1 < count && is_shell(words[0]) &&
        is_command_flag(words[flag])) {
        return xstrdup(words[flag + 1]);
    }
    autobuf line = BUF_INIT(SIZE_MAX / 4);
    for (size_t i = 0; i < count; i++) {
        if (i) {
            buf_addc(&line, ' ');
        }
        add_quoted(&line, words[i]);
    }
    return buf_detach(&line);
}

/* The rest of s is one quoted word: its text, else NULL. */
static char *whole_quoted(const char *s) {
    char quote = *s;
    if (quote != '\'' && quote != '"') {
        return NULL;
    }
    autobuf text = BUF_INIT(SIZE_MAX / 4);
    for (s++; *s; s++) {
        if (*s == quote && quote == '\'' && strncmp(s, "'\\''", 4) == 0) {
            buf_addc(&text, '\'');
            s += 3;
        } else if (*s == quote) {
            return s[1 + strspn(s + 1, " \n")] == '\0' ? buf_detach(&text) : NULL;
        } else {
            s += *s == '\\' && quote == '"' && s[1] && strchr("\"\\$`", s[1]);
            buf_addc(&text, *s);
        }
    }
    return NULL;
}

char *shell_unwrap(const char *command) {
    autofree struct shell_word *word = xmalloc(sizeof *word);
    size_t at = 0;
    if (next_word(command, &at, word) && is_shell(word->text)) {
        while (next_word(command, &at, word) && word->text[0] == '-') {
            if (is_command_flag(word->text)) {
                char *inner = whole_quoted(command + at + strspn(command + at, " "));
                return inner ? inner : xstrdup(command);
            }
        }
    }
    return xstrdup(command);
}

/* --- here-documents --- */

struct here_document {
    char *end; /* its last line; NULL: none */
    bool strips_tabs;
};

/* The here-document that the line s[from, to) begins. */
static struct here_document document_of(const char *s, size_t from, size_t to) {
    struct here_document d = {0};
    for (size_t i = from; i + 2 < to; i++) {
        if (s[i] != '<' || s[i + 1] != '<' || s[i + 2] == '<') {
            i += s[i] == '<' && s[i + 1] == '<' ? 2 : 0;
            continue;
        }
        size_t at = i + 2;
        d.strips_tabs = s[at] == '-';
        at += d.strips_tabs;
        while (at < to &&
               (s[at] == ' ' || s[at] == '\'' || s[at] == '"' || s[at] == '\\')) {
            at++;
        }
        size_t begin = at;
        while (at < to &&
               (isalnum((unsigned char)s[at]) || s[at] == '_' || s[at] == '-')) {
            at++;
        }
        if (at > begin && at - begin < 64) {
            d.end = xstrndup(s + begin, at - begin);
            return d;
        }
    }
    return d;
}

/* The line that is only the mark, from `at`; SIZE_MAX: none. *ret_after: behind it. */
static size_t document_end(const char *s, size_t at, const struct here_document *d,
                           size_t *ret_after) {
    size_t len = strlen(d->end);
    while (s[at]) {
        const char *newline = strchr(s + at, '\n');
        size_t stop = newline ? (size_t)(newline - s) : strlen(s);
        size_t begin = at;
        while (d->strips_tabs && s[begin] == '\t') {
            begin++;
        }
        size_t end = stop > begin && s[stop - 1] == '\r' ? stop - 1 : stop;
        if (end - begin == len && memcmp(s + begin, d->end, len) == 0) {
            *ret_after = stop;
            return at;
        }
        at = newline ? stop + 1 : stop;
    }
    return SIZE_MAX;
}

/* The file that the line s[from, to) writes to, or NULL. */
static char *file_of_line(const char *s, size_t from, size_t to, bool *ret_appends) {
    autofree char *line = xstrndup(s + from, to - from);
    autofree struct shell_word *w = xmalloc(sizeof *w);
    char *path = NULL;
    bool copies = false, tee = false;
    for (size_t at = 0; line[at]; at += line[at] != '\0') {
        while (next_word(line, &at, w)) {
            const char *name = shell_base_name(w->text);
            const char *arrow =
                !w->quoted || w->text[0] == '>' ? strchr(w->text, '>') : 0;
            if (arrow && (arrow == w->text || arrow[-1] == '1')) {
                *ret_appends = arrow[1] == '>';
                const char *file = arrow + 1 + *ret_appends;
                if (!*file) {
                    if (!next_word(line, &at, w)) {
                        break;
                    }
                    file = w->text;
                }
                free(path);
                path = xstrdup(file);
            } else if (tee && w->text[0] == '-') {
                *ret_appends = strcmp(w->text, "-a") == 0;
            } else if (tee && w->text[0] != '<' && !path) {
                path = xstrdup(w->text);
            }
            copies = copies || strcmp(name, "cat") == 0 || strcmp(name, "tee") == 0;
            tee = tee || strcmp(name, "tee") == 0;
        }
        tee = false;
    }
    bool real = copies && path && *path && strncmp(path, "/dev/", 5) != 0 &&
                path[0] != '&' && !strchr(path, '$');
    return real ? path : (free(path), NULL);
}

bool shell_next_document(const char *command, size_t *at, struct shell_document *ret) {
    for (const char *newline; (newline = strchr(command + *at, '\n'));) {
        size_t from = *at, to = (size_t)(newline - command), after = to;
        struct here_document d = document_of(command, from, to);
        size_t end = d.end ? document_end(command, to + 1, &d, &after) : SIZE_MAX;
        free(d.end);
        *at = after + (command[after] != '\0');
        if (end != SIZE_MAX) {
            *ret = (struct shell_document){from, to + 1, end};
            return true;
        }
    }
    return false;
}

/* The file that PowerShell's `@'` … `'@ | Set-Content FILE` writes; end: behind the text. */
static char *file_of_pipe(const char *end) {
    end += strspn(end, " \t");
    const char *at = *end == '|' ? end + 1 + strspn(end + 1, " \t") : "";
    size_t verb = strlen("Set-Content");
    bool value = false; /* of an option */
    for (at = strncmp(at, "Set-Content", verb) == 0 ? at + verb : ""; *at == ' ';) {
        at += strspn(at, " ");
        char quote = strchr("'\"", *at) ? *at : '\0';
        size_t len = quote ? strcspn(at + 1, (char[]){quote, '\n', '\0'}) + 2 : strcspn(at, " ;|\n");
        if (*at != '-' && !value) {
            return len > 2 * (quote != 0) ? xstrndup(at + (quote != 0), len - 2 * (quote != 0)) : NULL;
        }
        value = *at == '-' && strncmp(at, "-Enc", 4) == 0;
        at += strnlen(at, len);
    }
    return NULL;
}

/* A text between `@'` and `'@`, each at a line's end and beginning. */
static bool next_here_string(const char *command, size_t *at, struct shell_file *ret) {
    for (const char *s = command + *at; (s = strstr(s, "@")); s++) {
        bool opens = (s[1] == '\'' || s[1] == '"') && s[2] == '\n';
        const char *end = opens ? strstr(s + 2, (char[]){'\n', s[1], '@', '\0'}) : NULL;
        char *path = end ? file_of_pipe(end + 3) : NULL;
        if (end) {
            *at = (size_t)(end + 3 - command);
        }
        if (path) {
            size_t len = end > s + 2 ? (size_t)(end + 1 - (s + 3)) : 0;
            *ret = (struct shell_file){path, s + 3, len, false};
            return true;
        }
    }
    return false;
}

bool shell_next_file(const char *command, size_t *at, struct shell_file *ret) {
    if (strstr(command, "@'\n") || strstr(command, "@\"\n")) {
        return next_here_string(command, at, ret);
    }
    for (struct shell_document d; shell_next_document(command, at, &d);) {
        bool appends = false;
        char *path = file_of_line(command, d.line, d.body - 1, &appends);
        if (path) {
            *ret = (struct shell_file){path, command + d.body, d.end - d.body, appends};
            return true;
        }
    }
    return false;
}
