/* A glance at JSON that may be cut off and very large. */
#include "skills/traces/trace_reader.h"

#define MAX_OUTLINE_STRING 256
#define MAX_MEMBERS 200

struct glance {
    const char *s;
    size_t at, len;
};

static char peek(struct glance *g) {
    while (g->at < g->len && g->s[g->at] && strchr(" \t\r\n", g->s[g->at])) {
        g->at++;
    }
    return g->at < g->len ? g->s[g->at] : '\0';
}

static json_t *take_string(struct glance *g) {
    size_t start = ++g->at;
    while (g->at < g->len && g->s[g->at] != '"') {
        g->at += g->s[g->at] == '\\' ? 2 : 1;
    }
    g->at = g->at < g->len ? g->at : g->len;
    size_t len = g->at - start;
    g->at += g->at < g->len;
    return json_text(g->s + start, len < MAX_OUTLINE_STRING ? len : MAX_OUTLINE_STRING);
}

static json_t *take_word(struct glance *g) {
    size_t start = g->at;
    while (g->at < g->len && !strchr(",:]}[{\" \t\r\n", g->s[g->at])) {
        g->at++;
    }
    size_t len = g->at - start;
    if (len == 0) {
        return NULL;
    }
    if (len == 4 && memcmp(g->s + start, "true", 4) == 0) {
        return json_true();
    }
    return len == 4 && memcmp(g->s + start, "null", 4) == 0 ? json_null() : json_false();
}

static void skip_nested(struct glance *g) {
    size_t open = 0;
    bool in_string = false;
    for (; g->at < g->len; g->at++) {
        char c = g->s[g->at];
        if (c == '\\' && in_string) {
            g->at++;
        } else if (c == '"') {
            in_string = !in_string;
        } else if (!in_string && (c == '{' || c == '[')) {
            open++;
        } else if (!in_string && (c == '}' || c == ']') && --open == 0) {
            g->at++;
            return;
        }
    }
    g->at = g->len;
}

static json_t *take_value(struct glance *g, unsigned depth);

static json_t *take_object(struct glance *g, unsigned depth) {
    json_t *object = json_object();
    g->at++;
    while (peek(g) == '"' && json_object_size(object) < MAX_MEMBERS) {
        autojson *key = take_string(g);
        if (peek(g) != ':') {
            break;
        }
        g->at++;
        json_t *value = take_value(g, depth);
        if (!value) {
            break;
        }
        json_object_set_new(object, json_string_value(key), value);
        if (peek(g) != ',') {
            break;
        }
        g->at++;
    }
    g->at += peek(g) == '}';
    return object;
}

static json_t *take_array(struct glance *g, unsigned depth) {
    json_t *array = json_array();
    size_t start = g->at++;
    json_t *first = peek(g) == ']' ? NULL : take_value(g, depth);
    if (first) {
        json_array_append_new(array, first);
    }
    size_t behind_first = g->at;
    g->at = start;
    skip_nested(g);
    g->at = g->at > behind_first ? g->at : behind_first;
    return array;
}

static json_t *take_value(struct glance *g, unsigned depth) {
    char c = peek(g);
    if (c == '"') {
        return take_string(g);
    }
    if (c != '{' && c != '[') {
        return c ? take_word(g) : NULL;
    }
    if (depth == 0) {
        skip_nested(g);
        return c == '{' ? json_object() : json_array();
    }
    return c == '{' ? take_object(g, depth - 1) : take_array(g, depth - 1);
}

json_t *trace_outline(const char *text, size_t len, unsigned depth, size_t *ret_end) {
    struct glance g = {text, 0, len};
    char c = peek(&g);
    json_t *value = c == '{' || c == '[' ? take_value(&g, depth) : NULL;
    *ret_end = g.at < len ? g.at : len;
    return value;
}
