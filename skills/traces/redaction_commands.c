#include "skills/traces/redaction_commands.h"

#include "base/find.h"
#include "skills/redaction_commands_table.h"
#include "skills/traces/redaction_words.h"

#include <ctype.h>
#include <pthread.h>

#define MAX_NAME 24u
#define MAX_NAMES 512u
#define MAX_STAGES 4u /* of a pipe, behind what prints into it */
#define MAX_BODY 4u   /* lines of a here-document */

/* --- what is found --- */

struct finding {
    const struct command_words *w;
    struct secret *list;
    size_t count;
};

static bool word_is(const struct command_words *w, size_t i, const char *text, size_t n) {
    const struct word *word = &w->list[i];
    return word->end - word->start == n && strncasecmp(w->s + word->start, text, n) == 0;
}

static void add(struct finding *f, size_t start, size_t end) {
    bool quoted = f->w->s[start] == '\'' && end - start > 2;
    struct word v = command_word_bare(f->w, start, end);
    const char *value = f->w->s + v.start;
    size_t n = v.end > v.start ? v.end - v.start : 0;
    bool literal = quoted && n && value[0] == '$' && secret_is_odd(value + 1, n - 1);
    if (n < 2 || f->count == COMMAND_SECRETS ||
        (secret_is_example(value, n) && !literal)) {
        return;
    }
    f->list[f->count++] = (struct secret){v.start, v.end, "<secret>", false};
}

static struct word bare(const struct command_words *w, size_t i) {
    return command_word_bare(w, w->list[i].start, w->list[i].end);
}

/* One of what a command takes, taken apart. */
struct take {
    const char *text;
    size_t len;         /* of the option */
    const char *prefix; /* "pass:" of ~pass:, or NULL */
    size_t prefix_len;
    char sign; /* + . ! : % , / = or 0 */
};

static struct take take_read(const char *text, size_t n) {
    struct take t = {.text = text, .len = n};
    const char *tilde = memchr(text, '~', n);
    if (tilde) {
        t.len = (size_t)(tilde - text);
        t.prefix = tilde + 1;
        t.prefix_len = n - t.len - 1;
    } else if (n > 1 && strchr("+.!:%,/=", text[n - 1])) {
        t.sign = text[n - 1];
        t.len--;
    }
    return t;
}

static void add_value(struct finding *f, const struct take *t, size_t start, size_t end) {
    struct word v = command_word_bare(f->w, start, end);
    const char *s = f->w->s;
    if (t->sign && strchr(":%,/=", t->sign)) {
        const char *sign = memchr(s + v.start, t->sign, v.end - v.start);
        bool ids = sign && t->sign == ':' && isdigit((unsigned char)s[v.start]) &&
                   isdigit((unsigned char)sign[1]); /* 1000:1000 */
        if (sign && !ids) {
            add(f, (size_t)(sign + 1 - s), v.end);
        }
    } else if (t->prefix) {
        if (secret_starts(s, v.end, v.start, "pass:") ||
            (v.end - v.start >= t->prefix_len &&
             memcmp(s + v.start, t->prefix, t->prefix_len) == 0)) {
            add(f, v.start + t->prefix_len, v.end);
        }
    } else {
        add(f, start, end);
    }
}

static void add_word(struct finding *f, const struct take *t, size_t i) {
    if (i < f->w->count) {
        add_value(f, t, f->w->list[i].start, f->w->list[i].end);
    }
}

/* -sSLu X, -sSLuann:X: the option among others that are one letter too. */
static size_t take_clustered(struct finding *f, const struct take *t, size_t i) {
    const char *s = f->w->s + f->w->list[i].start;
    size_t n = f->w->list[i].end - f->w->list[i].start, at = 1;
    while (at < n && at < 6 && isalpha((unsigned char)s[at]) && s[at] != t->text[1]) {
        at++;
    }
    bool here = s[0] == '-' && at > 1 && at < n && s[at] == t->text[1];
    if (!here || (t->sign && strchr("+.!", t->sign))) {
        return 0;
    }
    if (at + 1 < n) {
        if (t->sign) {
            add_value(f, t, f->w->list[i].start + at + 1, f->w->list[i].end);
        }
        return 1;
    }
    add_word(f, t, i + 1);
    return 2;
}

/* Whether word i is the option; then its value may be glued to it. How many words it
 * and its value are. */
static size_t take_option(struct finding *f, const struct take *t, size_t i) {
    const struct command_words *w = f->w;
    struct word word = bare(w, i);
    const char *s = w->s + word.start;
    size_t n = word.end - word.start, next = i + 1;
    bool is_short = t->len == 2 && t->text[0] == '-' && t->text[1] != '-';
    bool same = n >= t->len && (is_short ? memcmp(s, t->text, t->len)
                                         : strncasecmp(s, t->text, t->len)) == 0;
    if (!same) {
        return is_short ? take_clustered(f, t, i) : 0;
    }
    if (n == t->len) {
        if (t->sign == '+' || next == w->count) {
            return 1;
        }
        if (t->sign != '!') {
            add_word(f, t, next);
        }
        return 2;
    }
    bool sign = s[t->len] == '=' || s[t->len] == ':';
    if ((!is_short && !sign && t->sign != '+') || t->sign == '.') {
        return 0;
    }
    if (t->sign != '!') {
        add_value(f, t, word.start + t->len + (sign && t->sign != '+'), word.end);
    }
    return 1;
}

/* --- standard input --- */

/* FOO <<< X, FOO <<EOF … EOF */
static void take_here(struct finding *f, const struct take *t, size_t i) {
    const struct command_words *w = f->w;
    size_t start = w->list[i].start, end = w->list[i].end;
    const char *s = w->s;
    if (secret_starts(s, end, start, "<<<")) {
        if (end - start > 3) {
            add_value(f, t, start + 3, end);
        } else {
            add_word(f, t, i + 1);
        }
        return;
    }
    size_t mark = start + 2 + (end - start > 2 && s[start + 2] == '-');
    struct word name = mark < end         ? command_word_bare(w, mark, end)
                       : i + 1 < w->count ? bare(w, i + 1)
                                          : (struct word){0};
    size_t n = name.end - name.start, at = w->end;
    size_t stop = w->len - at < COMMAND_BYTES ? w->len : at + COMMAND_BYTES;
    for (size_t line = 0; n && line <= MAX_BODY && at < stop; line++) {
        size_t to = at;
        while (to < stop && !secret_newline(s, stop, to)) {
            to++;
        }
        if (to - at == n && memcmp(s + at, s + name.start, n) == 0) {
            return;
        }
        if (line > 0 && to > at) {
            add_value(f, t, at, to);
        }
        at = to + secret_newline(s, stop, to);
    }
}

static void take_input(struct finding *f, const struct take *t) {
    for (size_t i = 0; i < f->w->count; i++) {
        if (secret_starts(f->w->s, f->w->list[i].end, f->w->list[i].start, "<<")) {
            take_here(f, t, i);
            return;
        }
    }
}

static bool has_word(const struct command_words *w, const char *text, size_t n) {
    return any_of(i, 0, w->count, word_is(w, i, text, n));
}

/* Whether the command takes secrets by standard input, and with which sign. */
static bool reads_input(const struct command_words *w, const char *takes,
                        struct take *ret) {
    for (const char *t = takes; *t;) {
        size_t n = strcspn(t, " ");
        bool pair = n == 2 && t[1] == ':';
        if (*t == '<' && (n == 1 || pair || has_word(w, t + 1, n - 1))) {
            *ret = (struct take){.sign = pair ? ':' : 0};
            return true;
        }
        t += n;
        t += *t == ' ';
    }
    return false;
}

/* --- names --- */

struct named_command {
    const char *name;
    size_t len;
    const struct secret_command *command;
};
static struct named_command names[MAX_NAMES];
static size_t name_count;
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static int compare_names(const void *a, const void *b) {
    const struct named_command *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = strncasecmp(x->name, y->name, n);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static void make_names(void) {
    for (const struct secret_command *c = secret_commands; c->names; c++) {
        for (const char *at = c->names; *at && name_count < MAX_NAMES;) {
            size_t n = strcspn(at, " ");
            names[name_count++] = (struct named_command){at, n, c};
            at += n;
            at += *at == ' ';
        }
    }
    qsort(names, name_count, sizeof *names, compare_names);
}

/* The first of the commands with the name at s[at]. */
static const struct named_command *find_name(const char *s, size_t len, size_t at) {
    size_t i = at, most = len - at > MAX_NAME ? at + MAX_NAME : len;
    while (i < most && (secret_is_of(SECRET_WORD, s[i]) || s[i] == '.')) {
        i++;
    }
    if (i - at < 2 || (i < len && (!s[i] || !strchr(" \t\n\\|;&'\"`)<", s[i])))) {
        return NULL;
    }
    pthread_once(&names_once, make_names);
    const struct named_command key = {s + at, i - at, NULL};
    const struct named_command *found =
        bsearch(&key, names, name_count, sizeof *names, compare_names);
    while (found && found > names && compare_names(found - 1, &key) == 0) {
        found--;
    }
    return found;
}

static bool name_goes_on(const struct named_command *n) {
    return n + 1 < names + name_count && compare_names(n, n + 1) == 0;
}

/* --- a command --- */

/* The words behind the one that must follow begin at *ret. */
static bool find_word(const struct command_words *w, const char *word, size_t *ret) {
    size_t n = strlen(word);
    *ret = 0;
    for (size_t i = 0; n && i < w->count && i < 10; i++) {
        if (word_is(w, i, word, n)) {
            *ret = i + 1;
            return true;
        }
    }
    return n == 0;
}

static void take_argument(struct finding *f, const struct take *t, size_t i,
                          size_t number) {
    const struct command_words *w = f->w;
    size_t start = w->list[i].start, end = w->list[i].end;
    if (t->text[0] == '*') {
        add_value(f, t, start, end);
    } else if (t->text[0] == '$') {
        struct word v = command_word_bare(w, start, end);
        if (i + 1 == w->count && secret_is_odd(w->s + v.start, v.end - v.start)) {
            add(f, start, end);
        }
    } else if (t->text[0] == '?') {
        struct word before = i ? bare(w, i - 1) : (struct word){0};
        size_t n = before.end - before.start;
        enum naming kind = n ? secret_naming(w->s + before.start, n) : NAMES_NOTHING;
        struct word v = command_word_bare(w, start, end);
        if ((kind == NAMES_TOKEN || kind == NAMES_SECRET) && w->s[before.start] != '-' &&
            secret_is_odd(w->s + v.start, v.end - v.start)) {
            add(f, start, end);
        }
    } else {
        bool quoted = w->s[start] == '\'' || w->s[start] == '"';
        struct word v = command_word_bare(w, start, end);
        bool ends_key = v.end > v.start + 4 && memcmp(w->s + v.end - 2, "\\r", 2) == 0;
        size_t wanted = (size_t)(t->text[0] - '0');
        bool all = t->sign == '+' && number > wanted;
        if ((number == wanted || all) && (t->text[t->len - 1] != '\'' || quoted) &&
            (t->text[t->len - 1] != 'r' || ends_key)) {
            struct take plain = *t;
            plain.sign = t->sign == '+' ? 0 : t->sign;
            add_value(f, &plain, start, end);
        }
    }
}

static bool is_argument(const struct take *t) {
    return t->text[0] &&
           (isdigit((unsigned char)t->text[0]) || strchr("?*$", t->text[0]));
}

/* Over all that a command takes: of options (arguments false) what word i and the next
 * are; returns how many words that is. Of arguments: word i as the number-th. */
static size_t take_all(struct finding *f, const char *takes, size_t i, size_t number) {
    size_t used = 0;
    for (const char *at = takes; *at && !used;) {
        size_t n = strcspn(at, " ");
        bool inhibits = *at == '!';
        struct take t = take_read(at + inhibits, n - inhibits);
        t.sign = inhibits ? '!' : t.sign;
        if (is_argument(&t)) {
            if (number) {
                take_argument(f, &t, i, number);
            }
        } else if (!strchr("<|&", *at) && !number) {
            used = take_option(f, &t, i);
        }
        at += n;
        at += *at == ' ';
    }
    return used;
}

/* An option, or <FILE; <secret> is what stands for an argument. */
static bool is_redirection(const struct command_words *w, size_t i) {
    char begin = w->s[w->list[i].start], end = w->s[w->list[i].end - 1];
    return begin == '-' || begin == '>' || (begin == '<' && end != '>');
}

static void take_command(struct finding *f, const struct secret_command *c) {
    size_t first, number = 0;
    struct take input;
    if (!find_word(f->w, c->word, &first)) {
        return;
    }
    for (size_t i = 0; i < f->w->count;) {
        size_t used = take_all(f, c->takes, i, 0);
        if (!used && i >= first && !is_redirection(f->w, i)) {
            take_all(f, c->takes, i, ++number);
        }
        i += used ? used : 1;
    }
    if (reads_input(f->w, c->takes, &input)) {
        take_input(f, &input);
    }
}

/* --- echo X | … --- */

/* Whether a command of the stage that begins at s[at] reads secrets. */
static bool stage_reads(const struct command_words *w, size_t at, struct take *ret,
                        size_t *ret_end) {
    struct command_words stage = {.s = w->s, .len = w->len, .around = w->around};
    command_words_read(&stage, at, false);
    *ret_end = stage.end;
    for (size_t i = 0; i < stage.count && i < 6; i++) {
        size_t start = stage.list[i].start;
        const char *slash = memrchr(w->s + start, '/', stage.list[i].end - start);
        size_t name = slash ? (size_t)(slash + 1 - w->s) : start;
        for (const struct named_command *n = find_name(w->s, w->len, name); n; n++) {
            size_t first;
            struct command_words behind = stage;
            behind.count = stage.count - i - 1;
            memmove(behind.list, stage.list + i + 1, behind.count * sizeof *behind.list);
            if (find_word(&behind, n->command->word, &first) &&
                reads_input(&behind, n->command->takes, ret)) {
                return true;
            }
            if (!name_goes_on(n)) {
                break;
            }
        }
    }
    return false;
}

/* echo X > ~/.vault_pass: the file's name says what is in it. */
static bool writes_secrets(const struct command_words *w) {
    static const char *const says[] = {"pass", "pw", "secret", "token", "cred", "apikey"};
    for (size_t i = 0; i < w->count; i++) {
        bool redirects = w->s[w->list[i].start] == '>';
        size_t file =
            redirects && i + 1 < w->count && w->list[i].end - w->list[i].start < 3 ? i + 1
                                                                                   : i;
        const char *name = w->s + w->list[file].start;
        size_t n = w->list[file].end - w->list[file].start;
        for (size_t k = 0; redirects && k < ARRAY_LEN(says); k++) {
            if (memmem(name, n, says[k], strlen(says[k]))) {
                return true;
            }
        }
    }
    return false;
}

/* The '|' behind (echo X; echo X) too. */
static size_t pipe_behind(const struct command_words *w) {
    size_t i = w->end, stop = w->len - i < 160 ? w->len : i + 160;
    if (i >= w->len || !strchr(";)", w->s[i]) || !w->s[i]) {
        return i;
    }
    while (i < stop && w->s[i] != ')' && w->s[i] != '\n' && w->s[i] != '|') {
        i++;
    }
    return i < stop && w->s[i] == ')' ? secret_blanks(w->s, stop, i + 1) : w->end;
}

static void take_printed(struct finding *f, bool here_alone) {
    const struct command_words *w = f->w;
    struct take t = {0};
    size_t end = pipe_behind(w);
    bool reads = !here_alone && writes_secrets(w);
    for (size_t i = 0; i < MAX_STAGES && !reads && end < w->len && w->s[end] == '|';
         i++) {
        reads = stage_reads(w, end + 1, &t, &end);
    }
    if (reads) {
        take_input(f, &t);
    }
    for (size_t i = 0;
         reads && !here_alone && i < w->count && w->s[w->list[i].start] != '>'; i++) {
        struct word v = bare(w, i);
        bool format = memchr(w->s + v.start, '%', v.end - v.start) != NULL;
        if (w->s[v.start] != '-' && !(format && i + 1 < w->count)) {
            add_word(f, &t, i);
        }
    }
}

/* --- all of it --- */

static int compare_secrets(const void *a, const void *b) {
    const struct secret *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

size_t secrets_of_command(const char *s, size_t len, size_t at,
                          struct secret_quote around,
                          struct secret ret[COMMAND_SECRETS]) {
    const struct named_command *n = find_name(s, len, at);
    if (!n || at + n->len >= len || !strchr(" \t\\<", s[at + n->len])) {
        return 0;
    }
    struct command_words words = {.s = s, .len = len, .around = around};
    struct finding f = {.w = &words, .list = ret};
    command_words_read(&words, at + n->len, n->command->takes[0] == '&');
    for (;; n++) {
        if (n->command->takes[0] == '|') {
            take_printed(&f, n->command->takes[1] == '<');
        } else {
            take_command(&f, n->command);
        }
        if (!name_goes_on(n)) {
            break;
        }
    }
    qsort(ret, f.count, sizeof *ret, compare_secrets);
    return f.count;
}
