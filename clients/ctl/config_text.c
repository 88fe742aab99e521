#include "clients/ctl/config_text.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/mem.h"
#include "base/yaml.h"

static char *with_newlines(const char *piece, const char *newline) {
    autobuf out = BUF_INIT(1u << 20);
    for (; *piece; piece++) {
        buf_add(&out, piece, *piece != '\n');
        buf_adds(&out, *piece == '\n' ? newline : "");
    }
    return buf_detach(&out);
}

char *config_text_append(const char *text, const char *piece) {
    size_t len = strlen(text);
    const char *newline = strstr(text, "\r\n") ? "\r\n" : "\n";
    autofree char *added = with_newlines(piece, newline);
    if (!len || text[len - 1] == '\n') {
        return xasprintf("%s%s%s", text, newline, added);
    }
    added[strlen(added) - strlen(newline)] = '\0';
    return xasprintf("%s%s%s%s", text, newline, newline, added);
}

/* How many bytes of blank line end at `at`. */
static size_t blank_line(const char *text, size_t at, const char *newline) {
    size_t n = strlen(newline);
    bool there = at >= n && strncmp(text + at - n, newline, n) == 0 &&
                 (at == n || text[at - n - 1] == '\n');
    return there ? n : 0;
}

char *config_text_cut(const char *text, size_t at, const char *piece) {
    size_t line = strcspn(text + at, "\n");
    const char *newline = line && text[at + line - 1] == '\r' ? "\r\n" : "\n";
    autofree char *added = with_newlines(piece, newline);
    size_t len = strlen(added), n = strlen(newline), gap = blank_line(text, at, newline);
    if (strncmp(text + at, added, len) == 0) {
        return xasprintf("%.*s%s", (int)(at - gap), text, text + at + len);
    }
    added[len - n] = '\0';
    return strcmp(text + at, added) == 0 ? xstrndup(text, at - (gap ? 2 * n : 0)) : NULL;
}

/* --- a list of YAML --- */

size_t config_yaml_entry(const char *text, size_t outer_at, const char *name) {
    struct yaml_map map;
    autojson *value = NULL;
    size_t at = outer_at, n = strlen(name);
    yaml_parse_map(text, strlen(text), YAML_TYPED, &value, &map, NULL);
    for (size_t i = 0; i < map.count && at == outer_at; i++) {
        const struct yaml_pair *p = &map.pairs[i];
        size_t quote = p->at < p->end && strchr("\"'", text[p->at]);
        bool named = strcmp(p->key, "name") == 0 && p->end - p->at == n + 2 * quote &&
                     strncmp(text + p->at + quote, name, n) == 0;
        at = p->key_at > outer_at && (named || strcmp(p->key, name) == 0) ? p->key_at : at;
    }
    yaml_map_finish(&map);
    return at;
}

/* The blanks before the "- " at `at`, which begins its line; false: nothing such is there.
 */
static bool item_indent(const char *text, size_t at, int *ret) {
    size_t start = at;
    while (start && text[start - 1] == ' ') {
        start--;
    }
    *ret = (int)(at - start);
    return text[at] == '-' && text[at + 1] == ' ' && start && text[start - 1] == '\n';
}

/* The lines of a block without its first, as an item of a list that begins so far in. */
static char *item_of(const char *block, int indent, const char *text) {
    autobuf out = BUF_INIT(64u << 10);
    for (const char *line = strchr(block, '\n') + 1; *line;) {
        size_t len = strcspn(line, "\n") + 1;
        buf_addf(&out, "%*s%.*s", indent, "", (int)len - 2, line + 2);
        line += len;
    }
    return with_newlines(out.data, strstr(text, "\r\n") ? "\r\n" : "\n");
}

/* Where the value of the outermost key begins; the text's end without one. */
static size_t value_of(const char *text, const char *outer) {
    struct yaml_map map;
    autojson *value = NULL;
    size_t at = strlen(text);
    yaml_parse_map(text, at, YAML_TYPED, &value, &map, NULL);
    const struct yaml_pair *pair = list_find(
        one, map.pairs, map.count, one->depth == 0 && strcmp(one->key, outer) == 0);
    at = pair ? pair->at : at;
    yaml_map_finish(&map);
    return at;
}

bool config_yaml_is_list(const char *text, const char *outer) {
    int indent;
    return item_indent(text, value_of(text, outer), &indent);
}

char *config_yaml_put(const char *text, const char *outer, const char *block) {
    int indent;
    size_t at = value_of(text, outer);
    if (!item_indent(text, at, &indent)) {
        return NULL;
    }
    autofree char *item = item_of(block, indent, text);
    at -= (size_t)indent;
    return xasprintf("%.*s%s%s", (int)at, text, item, text + at);
}

char *config_yaml_cut(const char *text, size_t entry_at, const char *block) {
    int indent;
    if (entry_at < 2 || !item_indent(text, entry_at - 2, &indent)) {
        return NULL;
    }
    autofree char *item = item_of(block, indent, text);
    size_t len = strlen(item), at = entry_at - 2 - (size_t)indent;
    return strncmp(text + at, item, len) == 0
               ? xasprintf("%.*s%s", (int)at, text, text + at + len)
               : NULL;
}
