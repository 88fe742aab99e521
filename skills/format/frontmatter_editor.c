#include "skills/format/frontmatter_editor.h"

#include "base/mem.h"

struct field_help {
    const char *name, *doc;
};
struct field_value {
    const char *field, *text, *doc;
};
#define BLANK " "
#include "skills/frontmatter_help.h"

/* --- where we are --- */

/* A key is offered where a line of the frontmatter begins with its first letters. */
static bool line_prefix(const char *text, size_t offset, size_t *ret_start) {
    size_t start = offset;
    while (start > 0 && text[start - 1] != '\n' && text[start - 1] != '\r') {
        start--;
        if (!strchr("abcdefghijklmnopqrstuvwxyz-", text[start])) {
            return false;
        }
    }
    *ret_start = start;
    return true;
}

/* The frontmatter by its lines: half a key makes the YAML unreadable, and who begins a
 * file has not closed it. Then it goes as far as there is no heading. */
static bool frontmatter_lines(const char *text, size_t len, size_t *ret_start,
                              size_t *ret_end) {
    size_t at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    bool inside = false;
    for (size_t end; at < len; at = end + 1) {
        const char *nl = memchr(text + at, '\n', len - at);
        end = nl ? (size_t)(nl - text) : len;
        bool rule = end - at >= 3 && memcmp(text + at, "---", 3) == 0;
        if (inside && (rule || text[at] == '#')) {
            *ret_end = at;
            return true;
        }
        if (!inside && !rule) {
            return false;
        }
        *ret_start = inside ? *ret_start : end + 1;
        inside = true;
    }
    *ret_end = len;
    return inside && *ret_start <= len;
}

/* A line begins with the key and its colon. */
static bool has_key(const char *text, size_t len, const char *key) {
    size_t n = strlen(key);
    for (const char *at = text, *end = text + len; at && at < end;) {
        if ((size_t)(end - at) > n && memcmp(at, key, n) == 0 && at[n] == ':') {
            return true;
        }
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    return false;
}

struct key_place {
    size_t key, key_end;     /* "license" */
    size_t value, value_end; /* without blanks around it and the comment after " #" */
};

static size_t line_end(const char *text, size_t len, size_t at) {
    const char *nl = memchr(text + at, '\n', len - at);
    size_t end = nl ? (size_t)(nl - text) : len;
    return end > at && text[end - 1] == '\r' ? end - 1 : end;
}

/* The line "key: value" of the frontmatter that holds the offset. */
static bool find_place(const char *text, size_t len, size_t offset,
                       struct key_place *ret) {
    size_t from, to, at = offset;
    if (offset > len || !frontmatter_lines(text, len, &from, &to) || offset < from ||
        offset > to) {
        return false;
    }
    while (at > from && text[at - 1] != '\n') {
        at--;
    }
    size_t end = line_end(text, len, at), key_end = at;
    while (key_end < end && strchr("abcdefghijklmnopqrstuvwxyz-", text[key_end])) {
        key_end++;
    }
    if (key_end == at || key_end == end || text[key_end] != ':' || offset > end) {
        return false;
    }
    size_t value = key_end + 1;
    while (value < end && text[value] == ' ') {
        value++;
    }
    const char *comment = memmem(text + value, end - value, " #", 2);
    size_t value_end = comment ? (size_t)(comment - text) : end;
    while (value_end > value && text[value_end - 1] == ' ') {
        value_end--;
    }
    *ret = (struct key_place){at, key_end, value, value_end};
    return true;
}

static bool is_key(const char *text, const struct key_place *p, const char *name) {
    size_t n = p->key_end - p->key;
    return strlen(name) == n && memcmp(text + p->key, name, n) == 0;
}

/* --- hover --- */

char *frontmatter_hover(const char *text, size_t len, size_t offset, size_t *start,
                        size_t *end) {
    struct key_place p;
    if (!find_place(text, len, offset, &p)) {
        return NULL;
    }
    bool in_value = offset > p.key_end;
    for (size_t i = 0; field_helps[i].name; i++) {
        if (is_key(text, &p, field_helps[i].name)) {
            *start = in_value && offset >= p.value ? p.value : p.key;
            *end = in_value && offset >= p.value ? p.value_end : p.key_end;
            return xasprintf("**%s** — %s", field_helps[i].name, field_helps[i].doc);
        }
    }
    return NULL;
}

/* --- completions --- */

static void add_item(json_t *list, const char *label, const char *doc, const char *text,
                     size_t start, size_t end) {
    json_array_append_new(list,
                          json_pack("{s:s,s:s,s:s,s:s,s:I,s:I}", "label", label, "detail",
                                    "frontmatter", "documentation", doc, "text", text,
                                    "start", (json_int_t)start, "end", (json_int_t)end));
}

static void complete_keys(json_t *list, const char *text, size_t len, size_t offset) {
    size_t start, from, to;
    bool inside = frontmatter_lines(text, len, &from, &to) && offset >= from &&
                  offset <= to && line_prefix(text, offset, &start);
    for (size_t i = 0; inside && field_helps[i].name; i++) {
        if (!has_key(text + from, to - from, field_helps[i].name)) {
            const char *name = field_helps[i].name;
            bool mapping = strcmp(name, "metadata") == 0;
            autofree char *key = xasprintf("%s:%s", name, mapping ? "\n  " : " ");
            add_item(list, name, field_helps[i].doc, key, start, offset);
        }
    }
}

/* The word of a list at the offset or before it. */
static void narrow_to_word(const char *text, size_t offset, struct key_place *p) {
    size_t start = offset, end = offset;
    while (start > p->value && text[start - 1] != ' ') {
        start--;
    }
    while (end < p->value_end && text[end] != ' ') {
        end++;
    }
    p->value = start;
    p->value_end = end;
}

/* Behind the colon, with the space that YAML wants there. */
static void add_value(json_t *list, const char *text, const struct key_place *p,
                      const char *word, const char *doc) {
    bool glued = p->value > 0 && text[p->value - 1] == ':';
    autofree char *spaced = xasprintf("%s%s", glued ? " " : "", word);
    add_item(list, word, doc, spaced, p->value, p->value_end);
}

static void complete_values(json_t *list, const char *text, size_t offset,
                            struct key_place p, const char *folder) {
    size_t word = p.value;
    if (is_key(text, &p, "allowed-tools")) {
        narrow_to_word(text, offset, &p);
        word = p.value;
    }
    if (word < p.value_end && strchr("\"'|>", text[word])) {
        return; /* quoted, or a block: not ours to replace */
    }
    if (folder && is_key(text, &p, "name")) {
        add_value(list, text, &p, folder, "The name of the skill's folder.");
    }
    for (size_t i = 0; field_values[i].field; i++) {
        bool begun =
            strcmp(field_values[i].field, "description") == 0 && p.value_end > p.value;
        if (is_key(text, &p, field_values[i].field) && !begun) {
            add_value(list, text, &p, field_values[i].text, field_values[i].doc);
        }
    }
}

json_t *frontmatter_completions(const char *text, size_t len, size_t offset,
                                const char *folder) {
    json_t *list = json_array();
    struct key_place p;
    if (find_place(text, len, offset, &p) && offset > p.key_end) {
        p.value = offset < p.value ? offset : p.value;
        complete_values(list, text, offset, p, folder);
    } else {
        complete_keys(list, text, len, offset);
    }
    return list;
}
