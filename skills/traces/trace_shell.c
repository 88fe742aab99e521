#include "skills/traces/trace_shell.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* --- words --- */

#define MAX_WORD 4096

struct word {
    char text[MAX_WORD]; /* without quotes, cut */
    size_t len;
    bool quoted;
};

static bool is_break(char c) {
    return c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')';
}

static void add_char(struct word *w, char c) {
    if (w->len + 1 < sizeof w->text) {
        w->text[w->len++] = c;
        w->text[w->len] = '\0';
    }
}

/* The word at s[*at]; false at the end of the simple command. */
static bool next_word(const char *s, size_t *at, struct word *ret) {
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

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool is_one_of(const char *word, const char *list) {
    size_t len = strlen(word);
    for (const char *at = list; len && (at = strstr(at, word)); at += len) {
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len])) {
            return true;
        }
    }
    return false;
}

static bool is_shell(const char *word) {
    return is_one_of(base_name(word), "sh bash zsh dash ksh fish");
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
    autofree struct word *word = xmalloc(sizeof *word);
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

/* --- names --- */

/* Commands that only look, move or print: another in the same line says more. */
#define QUIET                                                                            \
    "cd pushd popd export set unset source . echo printf true false : ls pwd cat head "  \
    "tail mkdir sleep wait which type test [ [[ date whoami umask ulimit alias exit "    \
    "clear wc tee sort uniq less env module read local declare trap then fi do done "    \
    "else if for while { }"
#define WITH_SUBCOMMAND                                                                  \
    "git pip pip3 npm pnpm yarn bun cargo docker podman kubectl helm make gmake go "     \
    "dotnet terraform tofu apt apt-get dnf yum brew conda mamba poetry uv rustup gh "    \
    "aws gcloud az systemctl journalctl nix meson bazel gradle mvn mix deno rails rake " \
    "django-admin dvc hf huggingface-cli ninja tox nox pre-commit airflow dbt alembic "  \
    "flask ansible vagrant composer bundle gem swift flutter kernel-builder just"
#define LOOKED_THROUGH                                                                   \
    "env sudo time nice nohup exec command builtin stdbuf setsid xargs doas ionice "     \
    "chronic unbuffer npx bunx pnpx uvx pipx caffeinate strace ltrace proot"
#define INTERPRETERS                                                                     \
    "python python2 python3 node ruby perl php bash sh zsh Rscript julia deno lua tsx "  \
    "ts-node"

static bool is_assignment(const char *word) {
    size_t n = 0;
    while (isalnum((unsigned char)word[n]) || word[n] == '_') {
        n++;
    }
    return n && !isdigit((unsigned char)word[0]) && word[n] == '=';
}

static bool is_redirection(const char *word) {
    size_t n = strspn(word, "0123456789&");
    return word[n] == '>' || word[n] == '<';
}

/* True when the redirection's file is the next word. */
static bool lacks_file(const char *word) {
    size_t n = strspn(word, "0123456789&");
    return word[n + strspn(word + n, "<>-|")] == '\0';
}

static bool next_real_word(const char *s, size_t *at, struct word *w) {
    while (next_word(s, at, w)) {
        if (w->quoted || !is_redirection(w->text)) {
            return true;
        }
        if (lacks_file(w->text) && !next_word(s, at, w)) {
            return false;
        }
    }
    return false;
}

static void copy(char *to, size_t size, const char *from) {
    size_t n = strnlen(from, size - 1);
    memcpy(to, from, n);
    to[n] = '\0';
}

/* The word after options; an option's own argument counts as one. */
static bool next_argument(const char *s, size_t *at, struct word *w, const char *valued) {
    while (next_real_word(s, at, w)) {
        if (w->text[0] != '-') {
            return true;
        }
        if (is_one_of(w->text, valued) && !next_real_word(s, at, w)) {
            return false;
        }
    }
    return false;
}

static void name_interpreted(const char *s, size_t *at, struct word *w,
                             struct shell_name *ret) {
    while (next_real_word(s, at, w)) {
        if (strcmp(w->text, "-m") == 0 && next_real_word(s, at, w)) {
            copy(ret->program, sizeof ret->program, w->text);
            if (is_one_of(ret->program, WITH_SUBCOMMAND) &&
                next_argument(s, at, w, "--python")) {
                copy(ret->subcommand, sizeof ret->subcommand, w->text);
            }
            return;
        }
        if (is_command_flag(w->text) || strcmp(w->text, "-e") == 0) {
            return;
        }
        if (w->text[0] != '-') {
            copy(ret->subcommand, sizeof ret->subcommand, base_name(w->text));
            return;
        }
    }
}

static void name_subcommand(const char *s, size_t *at, struct word *w,
                            struct shell_name *ret) {
    if (!next_argument(s, at, w,
                       "-C -c -f -n --namespace --context -H -j -p --prefix "
                       "--project --directory -k")) {
        return;
    }
    copy(ret->subcommand, sizeof ret->subcommand, w->text);
    bool runs = strcmp(w->text, "run") == 0 || strcmp(w->text, "exec") == 0;
    if (!runs || !is_one_of(ret->program, "npm pnpm yarn bun uv poetry")) {
        return;
    }
    if (!next_argument(s, at, w, "--with --python -p")) {
        return;
    }
    if (is_one_of(ret->program, "uv poetry")) { /* they run another program */
        *ret = (struct shell_name){0};
        copy(ret->program, sizeof ret->program, base_name(w->text));
        if (is_one_of(ret->program, INTERPRETERS)) {
            name_interpreted(s, at, w, ret);
        }
    } else {
        size_t len = strlen(ret->subcommand);
        copy(ret->subcommand + len, sizeof ret->subcommand - len, " ");
        copy(ret->subcommand + len + 1, sizeof ret->subcommand - len - 1, w->text);
    }
}

/* One simple command from *at; which then is behind it. */
static bool name_one(const char *s, size_t *at, struct word *w, struct shell_name *ret) {
    *ret = (struct shell_name){0};
    while (next_real_word(s, at, w)) {
        const char *program = base_name(w->text);
        if (is_assignment(w->text) || w->text[0] == '-' || is_one_of(program, "! { (")) {
            continue;
        }
        if (is_one_of(program, LOOKED_THROUGH)) {
            continue;
        }
        if (strcmp(program, "timeout") == 0 || strcmp(program, "flock") == 0) {
            next_argument(s, at, w, "-s -k --signal --kill-after");
            continue;
        }
        copy(ret->program, sizeof ret->program, program);
        if (is_one_of(program, INTERPRETERS)) {
            name_interpreted(s, at, w, ret);
        } else if (is_one_of(program, WITH_SUBCOMMAND)) {
            name_subcommand(s, at, w, ret);
        }
        return true;
    }
    return false;
}

static bool is_quiet(const char *program) {
    return is_one_of(program, QUIET);
}

/* Behind a here-document's body when the line at `at` begins one, else `at`. */
static size_t skip_documents(const char *s, size_t from, size_t newline);

bool shell_name_of(const char *command, struct shell_name *ret) {
    autofree struct word *w = xmalloc(sizeof *w);
    struct shell_name one;
    bool found = false, in_pipe = false;
    size_t line = 0;
    *ret = (struct shell_name){0};
    for (size_t at = 0; command[at];) {
        bool named = name_one(command, &at, w, &one);
        if (named && !in_pipe && (!found || !is_quiet(one.program))) {
            *ret = one;
            found = true;
        }
        while (next_real_word(command, &at, w)) {}
        in_pipe = command[at] == '|' && command[at + 1] != '|';
        if (command[at] == '\n') {
            at = skip_documents(command, line, at);
            line = at;
        }
        at += command[at] != '\0';
    }
    return found;
}

/* --- here-documents --- */

struct document {
    char *end; /* its last line; NULL: none */
    size_t mark;
    bool strips_tabs;
};

/* The here-document that the line s[from, to) begins. */
static struct document document_of(const char *s, size_t from, size_t to) {
    struct document d = {0};
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
            d.mark = i;
            return d;
        }
    }
    return d;
}

/* The line that is only the mark, from `at`; SIZE_MAX: none. *ret_after: behind it. */
static size_t document_end(const char *s, size_t at, const struct document *d,
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

static size_t skip_documents(const char *s, size_t from, size_t newline) {
    struct document d = document_of(s, from, newline);
    size_t after = newline;
    if (d.end && document_end(s, newline + 1, &d, &after) == SIZE_MAX) {
        after = newline;
    }
    free(d.end);
    return after;
}

/* The file that the line s[from, to) writes to, or NULL. */
static char *file_of_line(const char *s, size_t from, size_t to, bool *ret_appends) {
    autofree char *line = xstrndup(s + from, to - from);
    autofree struct word *w = xmalloc(sizeof *w);
    char *path = NULL;
    bool copies = false, tee = false;
    for (size_t at = 0; line[at]; at += line[at] != '\0') {
        while (next_word(line, &at, w)) {
            const char *name = base_name(w->text);
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

bool shell_next_file(const char *command, size_t *at, struct shell_file *ret) {
    while (command[*at]) {
        const char *newline = strchr(command + *at, '\n');
        if (!newline) {
            return false;
        }
        size_t from = *at, to = (size_t)(newline - command), after = to;
        struct document d = document_of(command, from, to);
        size_t end = d.end ? document_end(command, to + 1, &d, &after) : SIZE_MAX;
        free(d.end);
        *at = after + (command[after] != '\0');
        if (end == SIZE_MAX) {
            *at = to + 1;
            continue;
        }
        bool appends = false;
        char *path = file_of_line(command, from, to, &appends);
        if (path) {
            *ret = (struct shell_file){path, command + to + 1, end - to - 1, appends};
            return true;
        }
    }
    return false;
}
