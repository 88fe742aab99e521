#include "skills/toml.h"

#include "base/text.h"
#include "protocol/finding.h"
#include "skills/toml_reader.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the reader's basics --- */

bool toml_fail(struct toml_reader *r, size_t at, const char *fmt, ...) {
    if (!r->error[0]) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(r->error, sizeof r->error, fmt, args);
        va_end(args);
        r->error_at = at;
    }
    return false;
}

int toml_peek(const struct toml_reader *r, size_t ahead) {
    return ahead < r->len - r->at ? (unsigned char)r->text[r->at + ahead] : -1;
}

bool toml_eat(struct toml_reader *r, const char *prefix) {
    size_t n = strlen(prefix);
    bool there = r->len - r->at >= n && memcmp(r->text + r->at, prefix, n) == 0;
    r->at += there ? n : 0;
    return there;
}

size_t toml_newline(const struct toml_reader *r) {
    if (toml_peek(r, 0) == '\n') {
        return 1;
    }
    return toml_peek(r, 0) == '\r' && toml_peek(r, 1) == '\n' ? 2 : 0;
}

static void skip_blanks(struct toml_reader *r) {
    while (toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t') {
        r->at++;
    }
}

static bool skip_comment(struct toml_reader *r) {
    if (toml_peek(r, 0) != '#') {
        return true;
    }
    for (int c = toml_peek(r, 0); c >= 0 && !toml_newline(r); c = toml_peek(r, 0)) {
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return toml_fail(r, r->at, "control character 0x%02x in a comment", c);
        }
        r->at++;
    }
    return true;
}

/* Blanks, comments and line ends. */
static bool skip_space(struct toml_reader *r) {
    for (;;) {
        skip_blanks(r);
        if (!skip_comment(r)) {
            return false;
        }
        size_t newline = toml_newline(r);
        if (!newline) {
            return true;
        }
        r->at += newline;
    }
}

static bool end_line(struct toml_reader *r, const char *what) {
    skip_blanks(r);
    if (!skip_comment(r)) {
        return false;
    }
    if (r->at == r->len) {
        return true;
    }
    size_t newline = toml_newline(r);
    r->at += newline;
    return newline || toml_fail(r, r->at, "nothing may follow %s on its line", what);
}

/* --- nodes --- */

static int line_of(const struct toml_reader *r, size_t offset) {
    return (int)lines_at(&r->doc->lines, offset) + 1;
}

static struct toml_node *node_at(const struct toml_reader *r, size_t index) {
    return &r->doc->nodes[index];
}

static size_t push_node(struct toml_document *doc, struct toml_node node) {
    if (doc->count == doc->cap) {
        doc->cap = doc->cap ? doc->cap * 2 : 32;
        doc->nodes = xreallocarray(doc->nodes, doc->cap, sizeof *doc->nodes);
    }
    doc->nodes[doc->count] = node;
    return doc->count++;
}

struct key {
    char *name;
    size_t len, start, end;
};

static bool holds_members(enum toml_kind kind) {
    return kind == TOML_TABLE || kind == TOML_INLINE_TABLE;
}

static json_t *children_for(enum toml_kind kind) {
    if (holds_members(kind)) {
        return json_object();
    }
    return kind == TOML_ARRAY || kind == TOML_TABLES ? json_array() : NULL;
}

/* Add a value (stolen) to a table (key given) or an array (key NULL). Returns the node's
 * index, or 0 after an error. */
static size_t attach(struct toml_reader *r, size_t parent, const struct key *key,
                     struct toml_node node, json_t *value) {
    node.depth = node_at(r, parent)->depth + 1;
    node.value = value;
    if (r->doc->count >= TOML_MAX_NODES || node.depth > TOML_MAX_DEPTH) {
        json_decref(value);
        toml_fail(r, node.start, "more than %d %s",
                  node.depth > TOML_MAX_DEPTH ? TOML_MAX_DEPTH : TOML_MAX_NODES,
                  node.depth > TOML_MAX_DEPTH ? "levels" : "values");
        return 0;
    }
    if (key) {
        node.key_start = key->start;
        node.key_end = key->end;
    }
    node.children = children_for(node.kind);
    size_t index = push_node(r->doc, node);
    struct toml_node *above = node_at(r, parent);
    json_t *number = json_integer((json_int_t)index);
    if (key) {
        json_object_setn_new(above->value, key->name, key->len, value);
        json_object_setn_new(above->children, key->name, key->len, number);
    } else {
        json_array_append_new(above->value, value);
        json_array_append_new(above->children, number);
    }
    return index;
}

static size_t child_of(const struct toml_reader *r, size_t parent,
                       const struct key *key) {
    json_t *children = node_at(r, parent)->children;
    return (size_t)json_integer_value(json_object_getn(children, key->name, key->len));
}

/* --- keys --- */

#define MAX_PARTS TOML_MAX_DEPTH
struct key_path {
    struct key parts[MAX_PARTS];
    size_t count;
};

static void key_path_finish(struct key_path *path) {
    for (size_t i = 0; i < path->count; i++) {
        free(path->parts[i].name);
    }
}

static bool is_bare(int c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-' || c == '_';
}

static bool read_quoted_key(struct toml_reader *r, struct key *key) {
    autobuf name = BUF_INIT(TOML_MAX_TEXT);
    if (!toml_read_string(r, &name, false)) {
        return false;
    }
    if (memchr(name.data, '\0', name.len)) {
        return toml_fail(r, key->start, "a key with U+0000 is not supported");
    }
    key->len = name.len;
    key->name = xstrndup(name.data, name.len);
    return true;
}

static bool read_key(struct toml_reader *r, struct key *key) {
    *key = (struct key){.start = r->at};
    int c = toml_peek(r, 0);
    if (c == '"' || c == '\'') {
        if (!read_quoted_key(r, key)) {
            return false;
        }
    } else {
        while (is_bare(toml_peek(r, 0))) {
            r->at++;
        }
        key->len = r->at - key->start;
        if (!key->len) {
            return toml_fail(r, r->at, "a key is missing here");
        }
        key->name = xstrndup(r->text + key->start, key->len);
    }
    key->end = r->at;
    return true;
}

static bool read_key_path(struct toml_reader *r, struct key_path *path) {
    path->count = 0;
    do {
        skip_blanks(r);
        if (path->count == MAX_PARTS) {
            return toml_fail(r, r->at, "a key of more than %d parts", MAX_PARTS);
        }
        if (!read_key(r, &path->parts[path->count])) {
            return false;
        }
        path->count++;
        skip_blanks(r);
    } while (toml_eat(r, "."));
    return true;
}

static bool already_there(struct toml_reader *r, const struct key *key, size_t node) {
    return toml_fail(r, key->start, "\"%.100s\" is already there (line %d)", key->name,
                     line_of(r, node_at(r, node)->key_start));
}

static size_t make_table(struct toml_reader *r, size_t parent, const struct key *key,
                         enum toml_origin origin) {
    struct toml_node node = {
        .kind = TOML_TABLE, .origin = origin, .start = key->start, .end = key->end};
    return attach(r, parent, key, node, json_object());
}

/* The table that a dotted key's part names below `table`; 0 after an error. */
static size_t enter_dotted(struct toml_reader *r, size_t table, const struct key *key) {
    size_t next = child_of(r, table, key);
    if (!next) {
        return make_table(r, table, key, TOML_FROM_DOTTED_KEY);
    }
    struct toml_node *node = node_at(r, next);
    bool open = node->kind == TOML_TABLE && node->origin != TOML_FROM_HEADER;
    if (!open) {
        already_there(r, key, next);
        return 0;
    }
    node->origin = TOML_FROM_DOTTED_KEY;
    return next;
}

/* --- values --- */

static bool read_value(struct toml_reader *r, size_t parent, const struct key *key);

static bool read_array(struct toml_reader *r, size_t array) {
    size_t start = r->at++;
    for (bool first = true;; first = false) {
        if (!skip_space(r)) {
            return false;
        }
        if (!first && !toml_eat(r, ",") && toml_peek(r, 0) != ']') {
            return r->at == r->len ? toml_fail(r, start, "this array has no closing ]")
                                   : toml_fail(r, r->at, "a comma or ] is missing here");
        }
        if (!skip_space(r)) {
            return false;
        }
        if (toml_eat(r, "]")) {
            return true;
        }
        if (r->at == r->len) {
            return toml_fail(r, start, "this array has no closing ]");
        }
        if (!read_value(r, array, NULL)) {
            return false;
        }
    }
}

static bool read_pair(struct toml_reader *r, size_t table);

static bool read_inline_table(struct toml_reader *r, size_t table) {
    size_t start = r->at++;
    skip_blanks(r);
    if (toml_eat(r, "}")) {
        return true;
    }
    do {
        skip_blanks(r);
        if (toml_peek(r, 0) == '}') {
            return toml_fail(r, r->at,
                             "no comma may stand before the } of a table in "
                             "one line");
        }
        if (!read_pair(r, table)) {
            return false;
        }
        skip_blanks(r);
    } while (toml_eat(r, ","));
    if (toml_eat(r, "}")) {
        return true;
    }
    return toml_newline(r) || r->at == r->len
               ? toml_fail(r, start, "this table has no closing } on its line")
               : toml_fail(r, r->at, "a comma or } is missing here");
}

static bool read_container(struct toml_reader *r, size_t parent, const struct key *key) {
    bool array = toml_peek(r, 0) == '[';
    struct toml_node node = {
        .kind = array ? TOML_ARRAY : TOML_INLINE_TABLE, .start = r->at, .end = r->at + 1};
    size_t index = attach(r, parent, key, node, array ? json_array() : json_object());
    if (!index || !(array ? read_array(r, index) : read_inline_table(r, index))) {
        return false;
    }
    node_at(r, index)->end = r->at;
    return true;
}

static bool read_value(struct toml_reader *r, size_t parent, const struct key *key) {
    int c = toml_peek(r, 0);
    if (c == '[' || c == '{') {
        return read_container(r, parent, key);
    }
    struct toml_node node = {.kind = TOML_STRING, .start = r->at};
    json_t *value = NULL;
    if (c == '"' || c == '\'') {
        autobuf text = BUF_INIT(TOML_MAX_TEXT);
        if (!toml_read_string(r, &text, true)) {
            return false;
        }
        value = json_stringn(text.data, text.len);
    } else if (!toml_read_word(r, &node.kind, &value)) {
        return false;
    }
    node.end = r->at;
    return attach(r, parent, key, node, value) != 0;
}

static bool read_pair_path(struct toml_reader *r, size_t table, struct key_path *path) {
    if (!read_key_path(r, path)) {
        return false;
    }
    if (!toml_eat(r, "=")) {
        return toml_fail(r, r->at, "an = is missing after the key \"%.100s\"",
                         path->parts[path->count - 1].name);
    }
    skip_blanks(r);
    for (size_t i = 0; i + 1 < path->count; i++) {
        table = enter_dotted(r, table, &path->parts[i]);
        if (!table) {
            return false;
        }
    }
    const struct key *last = &path->parts[path->count - 1];
    size_t there = child_of(r, table, last);
    return there ? already_there(r, last, there) : read_value(r, table, last);
}

static bool read_pair(struct toml_reader *r, size_t table) {
    struct key_path path;
    bool good = read_pair_path(r, table, &path);
    key_path_finish(&path);
    return good;
}

/* --- headers --- */

/* The table that a header's part leads through; 0 after an error. */
static size_t enter_header(struct toml_reader *r, size_t table, const struct key *key) {
    size_t next = child_of(r, table, key);
    if (!next) {
        return make_table(r, table, key, TOML_FROM_LONGER_HEADER);
    }
    struct toml_node *node = node_at(r, next);
    if (node->kind == TOML_TABLES) {
        json_t *last =
            json_array_get(node->children, json_array_size(node->children) - 1);
        return (size_t)json_integer_value(last);
    }
    if (node->kind != TOML_TABLE) {
        already_there(r, key, next);
        return 0;
    }
    return next;
}

static size_t open_table(struct toml_reader *r, size_t parent, const struct key *key) {
    size_t there = child_of(r, parent, key);
    if (!there) {
        return make_table(r, parent, key, TOML_FROM_HEADER);
    }
    struct toml_node *node = node_at(r, there);
    if (node->kind != TOML_TABLE || node->origin != TOML_FROM_LONGER_HEADER) {
        already_there(r, key, there);
        return 0;
    }
    node->origin = TOML_FROM_HEADER;
    node->key_start = key->start;
    node->key_end = key->end;
    return there;
}

static size_t append_table(struct toml_reader *r, size_t parent, const struct key *key) {
    size_t tables = child_of(r, parent, key);
    if (!tables) {
        struct toml_node list = {.kind = TOML_TABLES,
                                 .origin = TOML_FROM_HEADER,
                                 .start = key->start,
                                 .end = key->end};
        tables = attach(r, parent, key, list, json_array());
    } else if (node_at(r, tables)->kind != TOML_TABLES) {
        already_there(r, key, tables);
        return 0;
    }
    struct toml_node node = {.kind = TOML_TABLE,
                             .origin = TOML_FROM_HEADER,
                             .start = key->start,
                             .end = key->end};
    return tables ? attach(r, tables, NULL, node, json_object()) : 0;
}

static size_t read_header_path(struct toml_reader *r, struct key_path *path) {
    size_t start = r->at++;
    bool list = toml_eat(r, "[");
    if (!read_key_path(r, path)) {
        return 0;
    }
    if (!toml_eat(r, list ? "]]" : "]")) {
        toml_fail(r, r->at, "%s is missing here", list ? "]]" : "]");
        return 0;
    }
    size_t table = 0;
    for (size_t i = 0; i + 1 < path->count; i++) {
        table = enter_header(r, table, &path->parts[i]);
        if (!table) {
            return 0;
        }
    }
    const struct key *last = &path->parts[path->count - 1];
    table = list ? append_table(r, table, last) : open_table(r, table, last);
    if (table) {
        node_at(r, table)->start = start;
        node_at(r, table)->end = r->at;
    }
    return table;
}

static bool read_header(struct toml_reader *r, size_t *ret_table) {
    struct key_path path = {.count = 0};
    *ret_table = read_header_path(r, &path);
    key_path_finish(&path);
    return *ret_table && end_line(r, "a table's header");
}

static bool read_all(struct toml_reader *r) {
    size_t table = 0;
    toml_eat(r, "\xef\xbb\xbf");
    for (;;) {
        if (!skip_space(r)) {
            return false;
        }
        if (r->at == r->len) {
            return true;
        }
        bool good = toml_peek(r, 0) == '['
                        ? read_header(r, &table)
                        : read_pair(r, table) && end_line(r, "a value");
        if (!good) {
            return false;
        }
    }
}

/* --- documents --- */

static size_t first_malformed(const char *text, size_t len) {
    size_t at = 0;
    while (at < len) {
        uint32_t cp;
        size_t n = text_decode(text + at, len - at, &cp);
        if (cp == 0xfffd && !text_is_utf8(text + at, n)) {
            return at;
        }
        at += n;
    }
    return len;
}

static bool read_document(struct toml_reader *r) {
    if (r->len > TOML_MAX_TEXT) {
        r->len = 0;
        return toml_fail(r, 0, "larger than %u KiB", TOML_MAX_TEXT >> 10);
    }
    if (!text_is_utf8(r->text, r->len)) {
        return toml_fail(r, first_malformed(r->text, r->len), "not UTF-8");
    }
    return read_all(r);
}

struct toml_document *toml_parse(const char *text, size_t len, struct toml_error *error) {
    struct toml_document *doc = xcalloc(1, sizeof *doc);
    doc->json = json_object();
    lines_init(&doc->lines, text, len <= TOML_MAX_TEXT ? len : 0);
    struct toml_node root = {.kind = TOML_TABLE,
                             .origin = TOML_FROM_HEADER,
                             .value = doc->json,
                             .children = json_object()};
    push_node(doc, root);
    struct toml_reader r = {.doc = doc, .text = text, .len = len};
    if (read_document(&r)) {
        return doc;
    }
    snprintf(error->msg, sizeof error->msg, "%s", r.error);
    error->line = toml_place(doc, r.error_at, &error->column);
    toml_free(doc);
    return NULL;
}

struct toml_document *toml_read(const char *file, const char *text, size_t len,
                                json_t *findings) {
    struct toml_error error;
    struct toml_document *doc = toml_parse(text, len, &error);
    if (!doc) {
        struct finding_span span = {error.line, error.column, error.line, error.column};
        json_array_append_new(findings, finding_new("skill", "toml_syntax", FINDING_ERROR,
                                                    error.msg, file, &span));
    }
    return doc;
}

void toml_free(struct toml_document *t) {
    if (!t) {
        return;
    }
    for (size_t i = 0; i < t->count; i++) {
        json_decref(t->nodes[i].children);
    }
    free(t->nodes);
    lines_finish(&t->lines);
    json_decref(t->json);
    free(t);
}

const json_t *toml_json(const struct toml_document *t) {
    return t->json;
}

int toml_place(const struct toml_document *t, size_t offset, int *ret_column) {
    size_t line = lines_at(&t->lines, offset);
    if (ret_column) {
        *ret_column = (int)(offset - t->lines.starts[line]) + 1;
    }
    return (int)line + 1;
}

static const struct toml_node *node_of(const struct toml_document *t,
                                       const json_t *index) {
    return json_is_integer(index) ? &t->nodes[json_integer_value(index)] : NULL;
}

const struct toml_node *toml_member(const struct toml_document *t,
                                    const struct toml_node *table, const char *key) {
    return node_of(t, json_object_get(table->children, key));
}

const struct toml_node *toml_item(const struct toml_document *t,
                                  const struct toml_node *array, size_t index) {
    return node_of(t, json_array_get(array->children, index));
}

size_t toml_count(const struct toml_node *node) {
    return json_object_size(node->children) + json_array_size(node->children);
}

/* One step of a JSON Pointer, "~1" and "~0" undone. */
static char *pointer_step(const char **pointer) {
    size_t n = strcspn(*pointer, "/");
    char *step = xstrndup(*pointer, n), *to = step;
    for (const char *from = step; *from; from++) {
        bool escaped = *from == '~' && (from[1] == '0' || from[1] == '1');
        *to++ = escaped ? (from[1] == '1' ? '/' : '~') : *from;
        from += escaped;
    }
    *to = '\0';
    *pointer += n;
    return step;
}

const struct toml_node *toml_find(const struct toml_document *t, const char *pointer) {
    const struct toml_node *node = &t->nodes[0];
    while (node && *pointer == '/') {
        pointer++;
        autofree char *step = pointer_step(&pointer);
        node = json_is_array(node->children) ? toml_item(t, node, strtoul(step, NULL, 10))
                                             : toml_member(t, node, step);
    }
    return *pointer ? NULL : node;
}

int toml_line(const struct toml_document *t, const char *pointer, int *ret_column) {
    const struct toml_node *node = toml_find(t, pointer);
    if (!node) {
        return 0;
    }
    bool keyed = node->key_end > node->key_start;
    return toml_place(t, keyed ? node->key_start : node->start, ret_column);
}
