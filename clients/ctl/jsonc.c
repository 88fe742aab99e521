#include "clients/ctl/jsonc.h"

#include "base/buf.h"
#include "base/err.h"

#define MAX_TEXT (16u << 20)

/* A text beside its plain twin: the same bytes at the same offsets, but blanks for
 * comments and a byte order mark. */
struct jsonc {
    const char *text;
    char *plain;
    const char *newline; /* "\n" or "\r\n" */
    char indent[16];     /* of the root's members */
};

/* --- the plain twin --- */

static char *skip_text(char *at) {
    for (at++; *at && *at != '"'; at++) {
        at += *at == '\\' && at[1];
    }
    return *at ? at + 1 : at;
}

static char *blank(char *at, const char *end) {
    for (; at < end; at++) {
        *at = *at == '\n' || *at == '\r' ? *at : ' ';
    }
    return at;
}

/* NULL: the comment does not end. */
static char *comment_end(char *at) {
    char *end = at[1] == '/' ? at + strcspn(at, "\r\n") : strstr(at + 2, "*/");
    return end && at[1] == '*' ? end + 2 : end;
}

static void blank_comments(char *plain) {
    for (char *at = plain; at && *at;) {
        if (*at == '"') {
            at = skip_text(at);
        } else if (*at == '/' && (at[1] == '/' || at[1] == '*')) {
            char *end = comment_end(at);
            at = end ? blank(at, end) : NULL;
        } else {
            at++;
        }
    }
}

/* Commas behind a value, before a closing bracket. */
static void blank_last_commas(char *plain) {
    char *last = plain, *comma = NULL; /* the latest token, where it is such a comma */
    for (char *at = plain; *at;) {
        if (comma && (*at == '}' || *at == ']')) {
            *comma = ' ';
        }
        if (!strchr(" \t\r\n", *at)) {
            comma = *at == ',' && !strchr("{[,", *last) ? at : NULL;
            last = at;
        }
        at = *at == '"' ? skip_text(at) : at + 1;
    }
}

static char *plain_of(const char *text) {
    char *plain = xstrdup(text);
    if (strncmp(plain, "\xEF\xBB\xBF", 3) == 0) {
        blank(plain, plain + 3);
    }
    blank_comments(plain);
    return plain;
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t\r\n");
}

/* The indentation of the first line behind the root's brace, else two blanks. */
static void find_indent(struct jsonc *j) {
    const char *brace = strchr(j->plain, '{');
    const char *at = brace ? brace + 1 + strcspn(brace + 1, "\n") : "";
    size_t len = *at ? strspn(at + 1, " \t") : 0;
    strcpy(j->indent, "  ");
    if (len && len < sizeof j->indent && !strchr("}\r\n", at[1 + len])) {
        memcpy(j->indent, at + 1, len);
        j->indent[len] = '\0';
    }
}

static void jsonc_open(struct jsonc *j, const char *text) {
    *j = (struct jsonc){.text = text, .plain = plain_of(text)};
    j->newline = strstr(text, "\r\n") ? "\r\n" : "\n";
    find_indent(j);
}

json_t *jsonc_parse(const char *text, struct err *err) {
    json_error_t problem;
    autofree char *plain = plain_of(text);
    if (!*skip_blanks(plain)) {
        return json_null();
    }
    blank_last_commas(plain);
    autojson *root = json_loads(plain, JSON_REJECT_DUPLICATES, &problem);
    if (!root) {
        err_set(err, -EINVAL, "line %d: %s", problem.line, problem.text);
    } else if (!json_is_object(root)) {
        err_set(err, -EINVAL, "line 1: this is not an object");
    }
    return json_is_object(root) ? take(root) : NULL;
}

size_t jsonc_root(const char *text) {
    autofree char *plain = plain_of(text);
    return (size_t)(skip_blanks(plain) - plain);
}

/* --- places in the plain twin, which is valid JSON but for last commas --- */

static const char *skip_value(const char *at) {
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_text((char *)(uintptr_t)at);
            continue;
        }
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    } while (*at && (depth > 0 || !strchr(",}] \t\r\n", *at)));
    return at;
}

struct member {
    const char *key, *value, *end; /* in the plain twin */
};

/* Of the object whose brace is at `brace`. Keys are compared as they are written. */
static bool find_member(const char *brace, const char *name, struct member *ret) {
    size_t len = strlen(name);
    for (const char *at = skip_blanks(brace + 1); *at == '"';) {
        const char *key = at, *key_end = skip_text((char *)(uintptr_t)at);
        const char *value = skip_blanks(skip_blanks(key_end) + 1);
        const char *end = skip_value(value);
        if ((size_t)(key_end - key) == len + 2 && strncmp(key + 1, name, len) == 0) {
            *ret = (struct member){key, value, end};
            return true;
        }
        at = skip_blanks(end);
        at = *at == ',' ? skip_blanks(at + 1) : at;
    }
    return false;
}

size_t jsonc_place(const char *text, const char *outer, const char *name) {
    autofree char *plain = plain_of(text);
    struct member m = {.key = skip_blanks(plain)};
    if (find_member(m.key, outer, &m) && *m.value == '{') {
        find_member(m.value, name, &m);
    }
    return (size_t)(m.key - plain);
}

static bool is_empty(const char *brace) {
    return *skip_blanks(brace + 1) == '}';
}

/* --- putting in --- */

/* An insertion: what, and where in the text. */
struct change {
    size_t at;
    struct buf text;
};

/* A first member. It goes behind the brace's line where other members follow on lines of
 * their own. depth: 1 for members of the root. */
static struct change plan(const struct jsonc *j, const char *brace, const char *member,
                          int depth, bool empty) {
    const char *line_end = brace + 1 + strspn(brace + 1, " \t");
    bool lines = !empty && (*line_end == '\r' || *line_end == '\n');
    struct change c = {.at = (size_t)((lines ? line_end : brace + 1) - j->plain),
                       .text = BUF_INIT(MAX_TEXT)};
    buf_adds(&c.text, lines ? j->newline : "");
    for (int i = 0; lines && i < depth; i++) {
        buf_adds(&c.text, j->indent);
    }
    buf_adds(&c.text, member);
    buf_adds(&c.text, empty ? "" : lines ? "," : ", ");
    return c;
}

static char *dump(const char *name, const json_t *value) {
    autofree char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_PRESERVE_ORDER);
    return xasprintf("\"%s\": %s", name, text);
}

/* The outer object with the member alone, as it is begun where there was none: with
 * blanks in its braces, which tell it from an empty object that got the member. */
static char *dump_outer(const char *outer, const char *member) {
    return xasprintf("\"%s\": { %s }", outer, member);
}

char *jsonc_begin(const char *outer, const char *name, const json_t *value) {
    autofree char *member = dump(name, value);
    autofree char *whole = dump_outer(outer, member);
    return xasprintf("{\n  %s\n}\n", whole);
}

char *jsonc_put(const char *text, const char *outer, const char *name,
                const json_t *value) {
    struct jsonc j;
    struct member at;
    jsonc_open(&j, text);
    autofree char *plain = j.plain;
    const char *brace = skip_blanks(plain);
    bool found = find_member(brace, outer, &at);
    autofree char *member = dump(name, value);
    autofree char *whole = dump_outer(outer, member);
    brace = found ? at.value : brace;
    if (*brace != '{') {
        return NULL;
    }
    struct change c =
        plan(&j, brace, found ? member : whole, found ? 2 : 1, is_empty(brace));
    char *next = xasprintf("%.*s%s%s", (int)c.at, text, c.text.data, text + c.at);
    buf_finish(&c.text);
    return next;
}

/* --- taking out --- */

static char *without(const struct jsonc *j, size_t from, size_t to) {
    return xasprintf("%.*s%s", (int)from, j->text, j->text + to);
}

/* The text from before, where `brace` begins with what a change had put there. */
static char *undone(const struct jsonc *j, const char *brace, const char *member,
                    int depth) {
    char *text = NULL;
    for (int empty = 0; empty < 2 && !text; empty++) {
        struct change c = plan(j, brace, member, depth, empty);
        size_t end = c.at + c.text.len;
        if (strncmp(j->text + c.at, c.text.data, c.text.len) == 0 &&
            (*skip_blanks(j->plain + end) == '}') == empty) {
            text = without(j, c.at, end);
        }
        buf_finish(&c.text);
    }
    return text;
}

/* Where the blanks before a member begin; after a comment they stay if more follows on
 * the member's line. */
static size_t blanks_before(const struct jsonc *j, size_t key, size_t end) {
    size_t from = key;
    while (strchr(" \t\r\n", j->text[from - 1])) {
        from--;
    }
    bool comment = j->text[from - 1] != j->plain[from - 1];
    return comment && !strchr("\r\n", j->text[end + (j->text[end] == ',')]) ? key : from;
}

/* Wherever it stands, with the blanks before it, and the comma behind it or, of the last
 * member, the one before it. Comments between them stay. */
static char *cut(const struct jsonc *j, const struct member *m) {
    size_t to = (size_t)(m->end - j->plain);
    size_t from = blanks_before(j, (size_t)(m->key - j->plain), to);
    const char *comma = skip_blanks(m->end);
    if (*comma != ',') {
        for (comma = m->key - 1; strchr(" \t\r\n", *comma);) {
            comma--;
        }
    }
    autofree char *text = without(j, from, to);
    size_t at = (size_t)(comma - j->plain);
    at -= at > from ? to - from : 0;
    return xasprintf("%.*s%s", (int)at, text, text + at + (*comma == ','));
}

char *jsonc_take(const char *text, const char *outer, const char *name,
                 const json_t *value, enum jsonc_way way) {
    struct jsonc j;
    jsonc_open(&j, text);
    autofree char *plain = j.plain;
    struct member object, member;
    const char *root = skip_blanks(plain);
    if (!find_member(root, outer, &object) || !find_member(object.value, name, &member)) {
        return NULL;
    }
    autofree char *written = dump(name, value);
    autofree char *whole = dump_outer(outer, written);
    return way == JSONC_OUTER    ? undone(&j, root, whole, 1)
           : way == JSONC_MEMBER ? undone(&j, object.value, written, 2)
                                 : cut(&j, &member);
}
