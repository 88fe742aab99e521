#include "clients/ctl/jsonc.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define MAX_TEXT (16u << 20)

/* A text beside its plain twin: the same bytes at the same offsets, but blanks for
 * comments, a byte order mark and commas behind last members. */
struct jsonc {
    const char *text;
    char *plain;
    json_t *root;
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

static char *comment_end(char *at) {
    if (at[1] == '/') {
        return at + strcspn(at, "\n");
    }
    char *end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

static void blank_comments(char *plain) {
    for (char *at = plain; *at;) {
        if (*at == '"') {
            at = skip_text(at);
        } else if (*at == '/' && (at[1] == '/' || at[1] == '*')) {
            at = blank(at, comment_end(at));
        } else {
            at++;
        }
    }
}

static void blank_last_commas(char *plain) {
    char *comma = NULL; /* the latest token, where it is one */
    for (char *at = plain; *at;) {
        if (comma && (*at == '}' || *at == ']')) {
            *comma = ' ';
        }
        if (!strchr(" \t\r\n", *at)) {
            comma = *at == ',' ? at : NULL;
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
    blank_last_commas(plain);
    return plain;
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t\r\n");
}

static bool is_empty(const char *text) {
    return !*skip_blanks(text);
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

static void jsonc_close(struct jsonc *j) {
    free(j->plain);
    json_decref(j->root);
}

static int jsonc_open(struct jsonc *j, const char *text, struct err *err) {
    json_error_t problem;
    *j = (struct jsonc){.text = text, .plain = plain_of(text)};
    j->root = json_loads(j->plain, JSON_REJECT_DUPLICATES, &problem);
    j->newline = strstr(text, "\r\n") ? "\r\n" : "\n";
    find_indent(j);
    if (json_is_object(j->root)) {
        return 0;
    }
    int rc = j->root ? err_set(err, -EINVAL, "this is not a JSON object")
                     : err_set(err, -EINVAL, "line %d: %s", problem.line, problem.text);
    jsonc_close(j);
    return rc;
}

/* --- places in the plain twin, which is valid JSON --- */

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

/* --- putting in --- */

/* Where a first member is written: behind the brace, or behind the comment that follows
 * it on its line. */
static const char *first_place(const char *brace) {
    const char *blanks = brace + 1 + strspn(brace + 1, " \t");
    const char *line_end = *blanks == '\r' ? blanks : blanks + (*blanks == '\r');
    return *line_end == '\r' || *line_end == '\n' ? line_end : brace + 1;
}

/* What is written there. depth: 1 for members of the root. */
static void add_first(const struct jsonc *j, struct buf *out, const char *brace,
                      const char *member, int depth) {
    const char *place = first_place(brace);
    bool lines = *place == '\r' || *place == '\n';
    if (lines) {
        buf_adds(out, j->newline);
        for (int i = 0; i < depth; i++) {
            buf_adds(out, j->indent);
        }
    }
    buf_adds(out, member);
    if (*skip_blanks(brace + 1) != '}') {
        buf_adds(out, lines ? "," : ", ");
    }
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

/* An insertion: what, and where in the text. */
struct change {
    size_t at;
    struct buf text;
};

static struct change plan(const struct jsonc *j, const char *brace, const char *member,
                          int depth) {
    struct change c = {.at = (size_t)(first_place(brace) - j->plain),
                       .text = BUF_INIT(MAX_TEXT)};
    add_first(j, &c.text, brace, member, depth);
    return c;
}

static struct change plan_outer(const struct jsonc *j, const char *outer,
                                const char *member) {
    autofree char *whole = dump_outer(outer, member);
    return plan(j, skip_blanks(j->plain), whole, 1);
}

static char *inserted(const char *text, const struct change *c) {
    return xasprintf("%.*s%s%s", (int)c->at, text, c->text.data, text + c->at);
}

/* A change is good when the new text says what the old one said, and the member. */
static bool says(const char *text, const json_t *expected) {
    autofree char *plain = plain_of(text);
    autojson *found = json_loads(plain, JSON_REJECT_DUPLICATES, NULL);
    return found && json_equal(found, expected);
}

static int checked(char *text, const json_t *expected, char **ret, struct err *err) {
    if (!says(text, expected)) {
        free(text);
        return err_set(err, -EINVAL, "its form is not understood");
    }
    *ret = text;
    return 0;
}

static char *begun(const char *outer, const char *member) {
    autofree char *whole = dump_outer(outer, member);
    return xasprintf("{\n  %s\n}\n", whole);
}

static int put(const struct jsonc *j, const char *outer, const char *name,
               const json_t *value, char **ret, struct err *err) {
    json_t *object = json_object_get(j->root, outer);
    const json_t *there = json_object_get(object, name);
    if (object && !json_is_object(object)) {
        return err_set(err, -EINVAL, "\"%s\" is not an object", outer);
    }
    if (there) {
        return json_equal(there, value)
                   ? 0
                   : err_set(err, -EEXIST, "\"%s\" has another \"%s\"", outer, name);
    }
    struct member at;
    autofree char *member = dump(name, value);
    bool found = find_member(skip_blanks(j->plain), outer, &at);
    struct change c = found ? plan(j, at.value, member, 2) : plan_outer(j, outer, member);
    char *text = inserted(j->text, &c);
    buf_finish(&c.text);
    autojson *expected = json_deep_copy(j->root);
    if (!object) {
        json_object_set_new(expected, outer, json_object());
    }
    json_object_set(json_object_get(expected, outer), name, (json_t *)(uintptr_t)value);
    return checked(text, expected, ret, err);
}

int jsonc_put(const char *text, const char *outer, const char *name, const json_t *value,
              char **ret, struct err *err) {
    *ret = NULL;
    if (is_empty(text)) {
        autofree char *member = dump(name, value);
        *ret = begun(outer, member);
        return 0;
    }
    struct jsonc j;
    int rc = jsonc_open(&j, text, err);
    if (rc == 0) {
        rc = put(&j, outer, name, value, ret, err);
        jsonc_close(&j);
    }
    return rc;
}

/* --- taking out --- */

static char *without(const struct jsonc *j, const char *from, const char *to) {
    return xasprintf("%.*s%s", (int)(from - j->plain), j->text,
                     j->text + (to - j->plain));
}

/* The text from before, where `brace` begins with what a change had put there. The
 * comma behind it is of the old text's next member, which shows only afterwards. */
static char *undone(const struct jsonc *j, const char *brace, const char *member,
                    int depth) {
    const char *place = first_place(brace);
    struct change c = plan(j, brace, member, depth);
    while (c.text.len && strchr(", ", c.text.data[c.text.len - 1])) {
        c.text.data[--c.text.len] = '\0';
    }
    const char *end = place + c.text.len;
    bool same = strncmp(j->text + c.at, c.text.data, c.text.len) == 0;
    bool lines = *place == '\r' || *place == '\n';
    buf_finish(&c.text);
    if (!same) {
        return NULL;
    }
    end += *end == ',' ? (lines || end[1] != ' ' ? 1 : 2) : 0;
    return without(j, place, end);
}

/* Wherever it stands: with the comma behind it or, at the end, the one before it. */
static char *cut(const struct jsonc *j, const struct member *m) {
    const char *from = m->key, *to = m->end;
    const char *next = skip_blanks(m->end);
    while (from > j->plain && strchr(" \t\r\n", j->text[from - 1 - j->plain])) {
        from--;
    }
    if (*next == ',') {
        to = next + 1;
    } else {
        const char *before = m->key - 1;
        while (before > j->plain && strchr(" \t\r\n", *before)) {
            before--;
        }
        from = *before == ',' ? before : from;
    }
    return without(j, from, to);
}

/* An outer object that has nothing left goes where it is as jsonc_put begins one. */
static char *taken(const struct jsonc *j, const char *outer, const char *name,
                   const json_t *value, bool *ret_outer) {
    struct member object, member;
    const char *root = skip_blanks(j->plain);
    if (!find_member(root, outer, &object) || !find_member(object.value, name, &member)) {
        return NULL;
    }
    autofree char *written = dump(name, value);
    autofree char *whole = dump_outer(outer, written);
    char *before = undone(j, root, whole, 1);
    if (before) {
        *ret_outer = true;
        return before;
    }
    char *text = undone(j, object.value, written, 2);
    return text ? text : cut(j, &member);
}

static int take_out(const struct jsonc *j, const char *outer, const char *name,
                    char **ret, struct err *err) {
    const json_t *value = json_object_get(json_object_get(j->root, outer), name);
    if (!value) {
        return 0;
    }
    autofree char *member = dump(name, value);
    autofree char *whole = begun(outer, member);
    if (strcmp(whole, j->text) == 0) {
        *ret = xstrdup("");
        return 0;
    }
    bool outer_too = false;
    char *text = taken(j, outer, name, value, &outer_too);
    if (!text) {
        return err_set(err, -EINVAL, "its form is not understood");
    }
    autojson *expected = json_deep_copy(j->root);
    json_object_del(json_object_get(expected, outer), name);
    if (outer_too) {
        json_object_del(expected, outer);
    }
    return checked(text, expected, ret, err);
}

int jsonc_take(const char *text, const char *outer, const char *name,
               bool (*ours)(const json_t *member), char **ret, struct err *err) {
    *ret = NULL;
    if (is_empty(text)) {
        return 0;
    }
    struct jsonc j;
    int rc = jsonc_open(&j, text, err);
    if (rc == 0) {
        const json_t *there = json_object_get(json_object_get(j.root, outer), name);
        rc = there && !ours(there)
                 ? err_set(err, -EEXIST, "\"%s\" has another \"%s\"", outer, name)
                 : take_out(&j, outer, name, ret, err);
        jsonc_close(&j);
    }
    return rc;
}
