#include "skills/check/safety_flow.h"

#include "base/find.h"
#include "base/pattern.h"
#include "base/text.h"
#include "skills/check/safety_patterns.h"

#include <pthread.h>

#define NAMES_MAX 64       /* names that are followed; then the oldest is forgotten */
#define STATEMENT_LINES 12 /* in parentheses */
#define STATEMENT_MAX 4096u

const char safety_flow_words[] = "curl|wget|urlopen|urlretrieve|requests.|httpx.|fetch(|"
                                 ".ssh/|id_rsa|id_ed25519|.aws/|.netrc|/etc/shadow|"
                                 ".gnupg/|.git-credentials|printenv|environ|$(env|`env";

/* --- what statements are made of --- */

#include "skills/safety_flow_table.h"
enum flow_part {
    PART_ASSIGNMENT,
    PART_FETCH,
    PART_SECRET,
    PART_RUN_NAME,
    PART_RUN_ARGUMENT,
    PART_SENDER,
    PART_SECRET_INLINE,
};
static struct pattern *parts[ARRAY_LEN(regexes) - 1];
static pthread_once_t parts_once = PTHREAD_ONCE_INIT;

static void make_parts(void) {
    for (size_t i = 0; regexes[i]; i++) {
        parts[i] = pattern_new(regexes[i]);
    }
}

/* --- names that are followed --- */

#define FETCHED 1u
#define SECRET 2u

struct followed {
    const char *name;
    size_t len;
    unsigned holds;
};
struct flow {
    struct followed names[NAMES_MAX];
    size_t count;
    safety_flow_found *found;
    void *data;
};

static unsigned name_holds(const struct flow *f, const char *name, size_t len) {
    for (size_t i = f->count; i-- > 0;) {
        if (f->names[i].len == len && memcmp(f->names[i].name, name, len) == 0) {
            return f->names[i].holds;
        }
    }
    return 0;
}

static void name_set(struct flow *f, const char *name, size_t len, unsigned holds) {
    if (!holds && !name_holds(f, name, len)) {
        return;
    }
    if (f->count == NAMES_MAX) {
        memmove(f->names, f->names + 1, (NAMES_MAX - 1) * sizeof *f->names);
        f->count--;
    }
    f->names[f->count++] = (struct followed){name, len, holds};
}

/* The values of the names in a text: "$NAME" of a shell; bare: every name. */
static unsigned text_holds(const struct flow *f, const char *s, size_t len, bool bare) {
    unsigned holds = 0;
    for (size_t i = 0; i < len && f->count; i++) {
        size_t end = i;
        while (end < len && text_is_word(s[end])) {
            end++;
        }
        bool value = i > 0 && (s[i - 1] == '$' || (s[i - 1] == '{' && i > 1));
        if (end > i && (value || bare)) {
            holds |= name_holds(f, s + i, end - i);
        }
        i = end;
    }
    return holds;
}

/* --- statements --- */

static bool has(enum flow_part part, const char *s, size_t len) {
    return pattern_is_in(parts[part], s, len);
}

static bool runs_fetched(const struct flow *f, const char *s, size_t len) {
    struct pattern_match m;
    if (pattern_find(parts[PART_RUN_ARGUMENT], s, len, 0, &m) > 0) {
        const char *argument = s + m.start[1];
        size_t n = m.end[1] - m.start[1];
        if (has(PART_FETCH, argument, n) || text_holds(f, argument, n, true) & FETCHED) {
            return true;
        }
    }
    if (pattern_find(parts[PART_RUN_NAME], s, len, 0, &m) <= 0) {
        return false;
    }
    return any_of(g, 1, PATTERN_GROUPS,
                  m.end[g] > m.start[g] &&
                      name_holds(f, s + m.start[g], m.end[g] - m.start[g]) & FETCHED);
}

static bool sends_secret(const struct flow *f, const char *s, size_t len) {
    return has(PART_SENDER, s, len) &&
           (text_holds(f, s, len, memchr(s, '(', len)) & SECRET ||
            has(PART_SECRET_INLINE, s, len));
}

static void read_statement(struct flow *f, const char *text, size_t from, size_t to) {
    const char *s = text + from;
    size_t len = to - from < STATEMENT_MAX ? to - from : STATEMENT_MAX;
    struct pattern_match m;
    if (runs_fetched(f, s, len)) {
        f->found(f->data, FLOW_EXECUTED, from, from + len);
    }
    if (sends_secret(f, s, len)) {
        f->found(f->data, FLOW_SENT, from, from + len);
    }
    if (pattern_find(parts[PART_ASSIGNMENT], s, len, 0, &m) > 0 && m.start[0] == 0) {
        const char *value = s + m.end[0];
        size_t n = len - m.end[0];
        unsigned holds = text_holds(f, value, n, memchr(value, '(', n));
        holds |= has(PART_FETCH, value, n) ? FETCHED : 0;
        holds |= has(PART_SECRET, value, n) ? SECRET : 0;
        name_set(f, s + m.start[1], m.end[1] - m.start[1], holds);
    }
}

/* The end of a statement: at the end of a line or a shell's separator outside quotes and
 * parentheses. A quotation mark ends with its line, since prose has apostrophes. */
static size_t statement_end(const char *text, size_t len, size_t at) {
    size_t depth = 0, lines = 0;
    char quote = '\0';
    for (; at < len; at++) {
        char c = text[at], next = at + 1 < len ? text[at + 1] : '\0';
        if (c == '\n') {
            quote = '\0';
            if (!depth || ++lines >= STATEMENT_LINES || next == '`') {
                return at;
            }
        } else if (c == '\\' && next) {
            at++;
        } else if (quote) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '(') {
            depth++;
        } else if (c == ')') {
            depth -= depth > 0;
        } else if (!depth && (c == ';' || ((c == '&' || c == '|') && next == c))) {
            return at;
        }
    }
    return at;
}

void safety_flow_read(const char *text, size_t len, safety_flow_found *found,
                      void *data) {
    pthread_once(&parts_once, make_parts);
    struct flow f = {.found = found, .data = data};
    for (size_t at = 0; at < len;) {
        size_t end = statement_end(text, len, at);
        while (at < end && isspace((unsigned char)text[at])) {
            at++;
        }
        if (end > at) {
            read_statement(&f, text, at, end);
        }
        at = end + 1;
    }
}
