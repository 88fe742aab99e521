#include "base/toml.h"

#include "base/text.h"
#include "base/toml_reader.h"

/* --- nodes --- */

static int line_of(const struct toml_reader *r, size_t offset) {
    return (int)lines_at(&r->doc->lines, offset) + 1;
}

static struct toml_node *node_at(const struct toml_reader *r, size_t index) {
    return &r->doc->nodes[index];
}

static size_t push_node(struct toml_document *doc, struct toml_node node) {
    list_room(doc->nodes, doc->count, doc->cap, 32);
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
        toml_skip_blanks(r);
        if (path->count == MAX_PARTS) {
            return toml_fail(r, r->at, "a key of more than %d parts", MAX_PARTS);
        }
        if (!read_key(r, &path->parts[path->count])) {
            return false;
        }
        path->count++;
        toml_skip_blanks(r);
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
        if (!toml_skip_space(r)) {
            return false;
        }
        if (!first && !toml_eat(r, ",") && toml_peek(r, 0) != ']') {
            return r->at == r->len ? toml_fail(r, start, "this array has no closing ]")
                                   : toml_fail(r, r->at, "a comma or ] is missing here");
        }
        if (!toml_skip_space(r)) {
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
    toml_skip_blanks(r);
    if (toml_eat(r, "}")) {
        return true;
    }
    do {
        toml_skip_blanks(r);
        if (toml_peek(r, 0) == '}') {
            return toml_fail(r, r->at,
                             "no comma is allowed before the } of a table in one line");
        }
        if (!read_pair(r, table)) {
            return false;
        }
        toml_skip_blanks(r);
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
    toml_skip_blanks(r);
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
    return *ret_table && toml_end_line(r, "a table's header");
}

static bool read_all(struct toml_reader *r) {
    size_t table = 0;
    toml_eat(r, "\xef\xbb\xbf");
    for (;;) {
        if (!toml_skip_space(r)) {
            return false;
        }
        if (r->at == r->len) {
            return true;
        }
        bool good = toml_peek(r, 0) == '['
                        ? read_header(r, &table)
                        : read_pair(r, table) && toml_end_line(r, "a value");
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
