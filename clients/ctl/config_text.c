#include "clients/ctl/config_text.h"

#include "base/buf.h"
#include "base/find.h"
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

/* --- a list or mapping of YAML --- */

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

/* Whether a block's entry is an item of a list; else a member of a mapping. */
static bool is_item(const char *block) {
    return strncmp(strchr(block, '\n') + 1, "  - ", 4) == 0;
}

/* The blanks before an entry of the block's kind at `at`, which begins its line; false:
 * nothing such is there. */
static bool entry_indent(const char *text, size_t at, const char *block, int *ret) {
    size_t start = at;
    while (start && text[start - 1] == ' ') {
        start--;
    }
    *ret = (int)(at - start);
    bool item = text[at] == '-' && text[at + 1] == ' ';
    return text[at] && item == is_item(block) && start && text[start - 1] == '\n';
}

/* The lines of a block without its first, so far in. */
static char *entry_of(const char *block, int indent, const char *text) {
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

bool config_yaml_fits(const char *text, const char *outer, const char *block) {
    int indent;
    return entry_indent(text, value_of(text, outer), block, &indent);
}

char *config_yaml_put(const char *text, const char *outer, const char *block) {
    int indent;
    size_t at = value_of(text, outer);
    if (!entry_indent(text, at, block, &indent)) {
        return NULL;
    }
    autofree char *entry = entry_of(block, indent, text);
    at -= (size_t)indent;
    return xasprintf("%.*s%s%s", (int)at, text, entry, text + at);
}

char *config_yaml_cut(const char *text, size_t entry_at, const char *block) {
    int indent;
    size_t dash = is_item(block) ? 2 : 0;
    if (entry_at < dash || !entry_indent(text, entry_at - dash, block, &indent)) {
        return NULL;
    }
    autofree char *entry = entry_of(block, indent, text);
    size_t len = strlen(entry), at = entry_at - dash - (size_t)indent;
    return strncmp(text + at, entry, len) == 0
               ? xasprintf("%.*s%s", (int)at, text, text + at + len)
               : NULL;
}
