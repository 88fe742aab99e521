/* Command lines: the programs that they run, how they are compared, the files that they
 * write. */
#include "base/find.h"
#include "skills/traces/lessons_internal.h"

#include "base/buf.h"
#include "base/strings.h"
#include "skills/lessons_tables.h"
#include "skills/traces/trace_shell.h"

#include <ctype.h>

#define MAX_COMMAND (64u << 10)
#define MAX_WORDS 64
#define SHOWN 600u
#define ELIDED "…"
#define PLACEHOLDER "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"

struct words_of_command {
    char *list[MAX_WORDS];
    size_t count;
    char *file; /* that the output goes to, "> FILE"; or NULL */
};

static void words_free(struct words_of_command *w) {
    for (size_t i = 0; i < w->count; i++) {
        free(w->list[i]);
    }
    free(take(w->file));
    w->count = 0;
}

/* What stands where a secret stood, "<secret>": part of a word, no redirection. */
static size_t placeholder_at(const char *s) {
    size_t n = *s == '<' ? strspn(s + 1, PLACEHOLDER) : 0;
    return n && s[1 + n] == '>' ? n + 2 : 0;
}

/* One word at *at, quotes removed, or NULL at the end of a simple command. */
static char *next_word(const char **at) {
    const char *s = *at + strspn(*at, " \t");
    while (s[0] == '\\' && s[1] == '\n') { /* the line goes on */
        s += 2 + strspn(s + 2, " \t");
    }
    struct buf out = BUF_INIT(MAX_COMMAND);
    bool any = false;
    char quote = '\0';
    for (; *s; s++) {
        size_t placeholder = quote ? 0 : placeholder_at(s);
        if (placeholder) {
            buf_add(&out, s, placeholder);
            s += placeholder - 1;
            any = true;
        } else if (quote ? *s == quote : (*s == '"' || *s == '\'')) {
            quote = quote ? '\0' : *s;
            any = true;
        } else if (*s == '\\' && s[1] && (!quote || (quote == '"' && strchr("$`\"\\\n", s[1])))) {
            s++;
            if (*s != '\n') {
                buf_addc(&out, *s);
                any = true;
            }
        } else if (!quote && strchr(" \t\n;|&()<>", *s)) {
            break;
        } else {
            buf_addc(&out, *s);
            any = true;
        }
    }
    *at = s;
    if (!any) {
        buf_finish(&out);
        return NULL;
    }
    return buf_detach(&out);
}

/* Behind "2>&1", "> file", "<<EOF"; at is on '<' or '>' or on '&' of "&>". */
static const char *skip_redirect(const char *s, struct words_of_command *w) {
    bool writes = *s == '>' && s[1] != '>' && s[1] != '&';
    s += strspn(s, "<>&");
    s += strspn(s, "-");
    char *word = next_word(&s);
    if (writes && word && !w->file && strncmp(word, "/dev/", 5) != 0) {
        w->file = word;
    } else {
        free(word);
    }
    return s;
}

/* A simple command; *at is after its separator afterwards. */
static void read_simple(const char **at, struct words_of_command *ret,
                        unsigned *classes) {
    const char *s = *at;
    for (;;) {
        s += strspn(s, " \t");
        bool redirects = (*s == '<' && !placeholder_at(s)) || *s == '>';
        if (redirects || (*s == '&' && s[1] == '>')) {
            s = skip_redirect(s, ret);
            continue;
        }
        char *word = next_word(&s);
        if (!word) {
            break;
        }
        bool descriptor =
            (*s == '<' || *s == '>') && strspn(word, "0123456789") == strlen(word);
        if (descriptor || ret->count == MAX_WORDS) {
            free(word);
        } else {
            ret->list[ret->count++] = word;
        }
        if (*s == '<' || *s == '>') {
            s = skip_redirect(s, ret);
        }
    }
    if (*s == '|') {
        *classes |= COMMAND_MASKED;
    }
    s += *s && strchr("\n;|&()", *s) ? strspn(s, "\n;|&()") : 0;
    *at = s;
}

/* --- classes --- */

static const char *plain_word(const struct words_of_command *w, size_t from) {
    size_t at = first_of(i, from, w->count, w->list[i][0] != '-');
    return at < w->count ? w->list[at] : NULL;
}

/* The position of the program after assignments and wrappers. */
static size_t program_at(const struct words_of_command *w) {
    size_t i = 0;
    while (i < w->count) {
        const char *eq = strchr(w->list[i], '=');
        bool assigns = eq && eq > w->list[i] &&
                       strcspn(w->list[i], "/-.") > (size_t)(eq - w->list[i]);
        if (strcmp(w->list[i], "timeout") == 0) {
            i = first_of(k, i + 1, w->count, w->list[k][0] != '-'); /* its seconds */
        } else if (!assigns && !strings_have(wrappers, w->list[i])) {
            break;
        }
        i++;
    }
    return i;
}

static bool is_interpreter(const char *program) {
    return strncmp(program, "python", 6) == 0 || strcmp(program, "bash") == 0 ||
           strcmp(program, "sh") == 0 || strcmp(program, "node") == 0 ||
           strcmp(program, "ruby") == 0 || strcmp(program, "perl") == 0;
}

/* python -m pytest is pytest. */
static size_t resolve_module(const struct words_of_command *w, size_t at) {
    bool python = at < w->count && strncmp(shell_base_name(w->list[at]), "python", 6) == 0;
    return python && at + 2 < w->count && strcmp(w->list[at + 1], "-m") == 0 ? at + 2
                                                                             : at;
}

static char *key_of(const struct words_of_command *w, size_t at) {
    const char *program = shell_base_name(w->list[at]);
    const char *sub = plain_word(w, at + 1);
    static const char *const nested[] = {"run", "exec", "compose"}; /* `docker compose up` */
    if (sub && any_of(i, 0, ARRAY_LEN(nested), strcmp(sub, nested[i]) == 0) &&
        strings_have(grouped, program)) {
        for (size_t i = at + 1; i + 1 < w->count; i++) {
            if (w->list[i] == sub) {
                return xasprintf("%s %s %.80s", program, sub, w->list[i + 1]);
            }
        }
    }
    if (sub && strlen(sub) < 80 &&
        (strings_have(grouped, program) || is_interpreter(program))) {
        return xasprintf("%s %s", program, is_interpreter(program) ? shell_base_name(sub) : sub);
    }
    return xstrndup(program, 80);
}

bool command_only_looks(const char *program, size_t len) {
    autofree char *name = xstrndup(program, len);
    return strings_have(probes, name);
}

static bool only_asks(const struct words_of_command *w, size_t at) {
    const char *sub = plain_word(w, at + 1);
    size_t nested = at + 1 + (sub && strcmp(sub, "compose") == 0); /* `docker compose logs` */
    bool asks = strings_have(grouped, shell_base_name(w->list[at])) && nested < w->count &&
                strings_have(asking, w->list[nested]);
    return asks || any_of(i, at + 1, w->count, strcmp(w->list[i], "--version") == 0 ||
                                                   strcmp(w->list[i], "--help") == 0);
}

/* PowerShell's Verb-Noun. */
static bool is_reading_cmdlet(const char *program) {
    size_t verb = strcspn(program, "-");
    bool cmdlet = isupper((unsigned char)*program) && program[verb] == '-';
    autofree char *reads = xstrndup(program, cmdlet ? verb : 0);
    return strings_have(reading_verbs, reads);
}

static bool is_probe(const char *program) {
    return strings_have(probes, program) || is_reading_cmdlet(program);
}

/* The words that make a part what it is: without "time", "timeout 60" and the like. */
static char *part_of(const struct words_of_command *w, size_t at) {
    struct buf out = BUF_INIT(MAX_COMMAND);
    for (size_t i = 0; i < w->count; i++) {
        bool rights = strcmp(w->list[i], "sudo") == 0, assigns = strchr(w->list[i], '=');
        if (i >= at || rights || assigns) {
            buf_addf(&out, "%s%s", out.len ? BETWEEN_WORDS : "", w->list[i]);
        }
    }
    return buf_detach(&out);
}

static void clear_parts(struct command *c) {
    for (; c->count; c->count--) {
        free(c->parts[c->count - 1]);
        free(c->keys[c->count - 1]);
    }
}

/* It shows what an earlier command of the line said: `make > log; tail log`. */
static bool shows_own(const struct words_of_command *w, const char *said) {
    return said && any_of(i, 0, w->count, strcmp(w->list[i], said) == 0);
}

/* PowerShell's `$exe = "C:\\bin\\x.exe"` and `$i=0`. */
static bool only_assigns(const struct words_of_command *w) {
    return w->list[0][0] == '$' && ((w->count == 3 && strcmp(w->list[1], "=") == 0) ||
                                    (w->count == 1 && strchr(w->list[0], '=')));
}

static void read_part(struct command *c, struct words_of_command *w, unsigned *all_probe,
                      bool piped, const char *said) {
    size_t program = program_at(w);
    if (program >= w->count || strings_have(silent, w->list[program]) || only_assigns(w)) {
        return;
    }
    size_t at = resolve_module(w, program);
    const char *name = shell_base_name(w->list[at]);
    bool prints = strings_have(readers, name) || is_reading_cmdlet(name);
    bool reads = prints && !piped && !shows_own(w, said);
    c->classes |= reads ? COMMAND_READS : 0;
    c->classes |= strings_have(searches, name) ? COMMAND_SEARCH : 0;
    if (is_probe(name)) {
        return;
    }
    bool asks = only_asks(w, at);
    if (!asks && *all_probe) { /* what it asks beside is not what it does */
        clear_parts(c);
        *all_probe = 0;
    }
    c->classes |= asks ? COMMAND_ASKS : 0;
    if (c->count < COMMAND_MAX_PARTS && (!asks || *all_probe)) {
        c->parts[c->count] = part_of(w, program);
        c->keys[c->count++] = key_of(w, at);
    }
}

/* The mark that ends the command before `at`: "&&" passes its failure on. */
static const char *behind_status(const char *line, const char *at) {
    while (at > line && strchr("\n;|&() ", at[-1])) {
        at--;
    }
    return at + strspn(at, " ");
}

/* Behind lines that begin with "#". */
static const char *behind_remarks(const char *at) {
    const char *s = at + strspn(at, " \t\n");
    while (*s == '#') {
        s += strcspn(s, "\n");
        s += strspn(s, " \t\n");
        at = s;
    }
    return at;
}

void command_read(struct command *ret, const char *text) {
    *ret = (struct command){0};
    unsigned all_probe = COMMAND_PROBE;
    bool elided = false;
    autofree char *line = command_tidy(text), *said = NULL;
    const char *at = line;
    bool hidden = false, ends_hidden = false; /* a later command's status is the line's */
    for (size_t i = 0; *at && i < 64; i++) {
        struct words_of_command w = {0};
        at = behind_remarks(at);
        const char *from = at;
        size_t parts = ret->count;
        hidden = i && strncmp(behind_status(line, at), "&&", 2) != 0;
        bool piped = from > line && i && ret->classes & COMMAND_MASKED &&
                     from[-1] != '&' &&
                     strcspn(from > line + 2 ? from - 2 : line, "|") < 3;
        read_simple(&at, &w, &ret->classes);
        bool is_elided = w.count == 1 && strcmp(w.list[0], ELIDED) == 0;
        bool body = is_elided || elided; /* of a here-document, and its end */
        if (!is_elided && !elided) { /* nor the word that ends a here-document */
            read_part(ret, &w, &all_probe, piped, said);
        }
        if (w.file) {
            free(said);
            said = take(w.file);
        }
        elided = is_elided;
        ends_hidden = body ? ends_hidden : ret->count == parts && (ends_hidden || hidden);
        words_free(&w);
        if (at == from) {
            break;
        }
    }
    ret->classes |= all_probe | (ends_hidden ? COMMAND_MASKED : 0);
}

void command_finish(struct command *c) {
    clear_parts(c);
    *c = (struct command){0};
}

/* The part of later whose name, of its parts or keys, is this one. */
static const char *find_part(const struct command *later, char *const *names,
                             const char *name) {
    for (size_t i = 0; name && i < later->count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return later->parts[i];
        }
    }
    return NULL;
}

const char *command_same(const struct command *failed, const struct command *later) {
    return find_part(later, later->parts,
                     failed->count ? failed->parts[failed->count - 1] : NULL);
}

const char *command_like(const struct command *failed, const struct command *later) {
    return find_part(later, later->keys,
                     failed->count ? failed->keys[failed->count - 1] : NULL);
}

/* Where the next word of a part begins, or its end. */
static const char *behind_word(const char *part) {
    part += strcspn(part, BETWEEN_WORDS);
    return part + (*part != '\0');
}

/* Words that name another program, not the same one with more rights or options. */
static bool names_program(const char *front, const char *program) {
    size_t first = strcspn(front, BETWEEN_WORDS), end = strlen(front);
    while (end && front[end - 1] == *BETWEEN_WORDS) {
        end--;
    }
    const char *last = memrchr(front, *BETWEEN_WORDS, end);
    bool same = first == strlen(program) && strncmp(front, program, first) == 0;
    bool rights = strncmp(front, "sudo" BETWEEN_WORDS, 5) == 0;
    return !same && !rights &&
           (!strstr(front, BETWEEN_WORDS "-") || strstr(last ? last : front, program));
}

const char *command_elsewhere(const struct command *failed, const struct command *later) {
    const char *part = failed->count ? failed->parts[failed->count - 1] : NULL;
    autofree char *program = part ? xstrndup(part, strcspn(part, BETWEEN_WORDS)) : NULL;
    const char *rest = part ? behind_word(part) : "";
    for (size_t i = 0; program && i < later->count; i++) {
        const char *now = later->parts[i];
        size_t len = strlen(now), tail = strlen(rest);
        bool fits = len > tail && strcmp(now + len - tail, rest) == 0 &&
                    (!tail || now[len - tail - 1] == *BETWEEN_WORDS);
        autofree char *front = fits ? xstrndup(now, len - tail) : xstrdup("");
        bool names = names_program(front, program);
        for (char *c = front; (c = strchr(c, *BETWEEN_WORDS)); c++) {
            *c = '-'; /* "docker compose" is docker-compose */
        }
        bool one = tail || !strchr(front, '-') || strstr(front, "-m-");
        if (one && names && strstr(front, program) && strcmp(part, now) != 0) {
            return now;
        }
    }
    return NULL;
}

char *command_environment(const char *text) {
    static const char *const sets[] = {"source ", ". ", "export "};
    struct buf out = BUF_INIT(MAX_COMMAND);
    for (;;) {
        size_t len = strcspn(text, "&;|\n");
        bool set =
            any_of(i, 0, ARRAY_LEN(sets), strncmp(text, sets[i], strlen(sets[i])) == 0);
        bool joined = text[len] == ';' || strncmp(text + len, "&&", 2) == 0;
        if (!joined || (!set && strncmp(text, "cd ", 3) != 0)) {
            return buf_detach(&out);
        }
        size_t end = len;
        while (end && isspace((unsigned char)text[end - 1])) {
            end--;
        }
        if (set) {
            buf_addf(&out, "%.*s && ", (int)end, text);
        }
        text += len + strspn(text + len, "&; \t");
    }
}

/* The length of "NAME=" or "--name=", which stands before quotes: a shell takes no quoted
 * name for an assignment. */
static size_t name_before(const char *word, size_t len) {
    size_t n = 0;
    while (n < len && (isalnum((unsigned char)word[n]) || strchr("_-", word[n]))) {
        n++;
    }
    return n && n + 1 < len && word[n] == '=' ? n + 1 : 0;
}

/* As a shell would read it again. */
static void add_quoted(struct buf *out, const char *word, size_t len) {
    size_t name = name_before(word, len);
    buf_add(out, word, name);
    word += name;
    len -= name;
    bool plain = len > 0, expands = memchr(word, '$', len) || memchr(word, '\'', len);
    for (size_t i = 0; i < len; i++) {
        plain &=
            isalnum((unsigned char)word[i]) || strchr("_-+./,:=@%^~{}[]$*?", word[i]);
    }
    const char *quote = plain ? "" : (expands ? "\"" : "'");
    buf_addf(out, "%s%.*s%s", quote, (int)len, word, quote);
}

char *command_part_text(const char *part) {
    struct buf out = BUF_INIT(2 * MAX_COMMAND);
    while (*part) {
        size_t len = strcspn(part, BETWEEN_WORDS);
        buf_adds(&out, out.len ? " " : "");
        add_quoted(&out, part, len);
        part += len + (part[len] != '\0');
    }
    return buf_detach(&out);
}

bool command_in_place(const char *text, char **ret_path) {
    const char *at = text;
    for (size_t i = 0; *at && i < 64; i++) {
        struct words_of_command w = {0};
        unsigned classes = 0;
        const char *from = at;
        read_simple(&at, &w, &classes);
        bool edits = w.count > 3 && strcmp(w.list[0], "sed") == 0 &&
                     strncmp(w.list[1], "-i", 2) == 0;
        if (edits) {
            *ret_path = xstrdup(w.list[w.count - 1]);
        }
        words_free(&w);
        if (edits || at == from) {
            return edits;
        }
    }
    return false;
}

/* Bodies of here-documents become "…". */
static void elide_documents(struct buf *out, const char *text) {
    struct shell_document d;
    size_t from = 0;
    for (size_t at = 0; shell_next_document(text, &at, &d); from = d.end) {
        buf_add(out, text + from, d.body - from);
        buf_adds(out, ELIDED "\n");
    }
    buf_adds(out, text + from);
}

char *command_tidy(const char *text) {
    autobuf out = BUF_INIT(MAX_COMMAND);
    text += strspn(text, " \t\n");
    if (strncmp(text, "cd . && ", 8) == 0) {
        text += 8;
    }
    elide_documents(&out, text);
    while (out.len && isspace((unsigned char)out.data[out.len - 1])) {
        out.data[--out.len] = '\0';
    }
    return lesson_cut(out.data, out.len, SHOWN * 4);
}
