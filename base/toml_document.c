/* A parsed document: its values and their places in the text. */
#include "base/toml_reader.h"

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
    return lines_place(&t->lines, offset, ret_column);
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
