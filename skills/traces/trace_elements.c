#include "skills/traces/trace_elements.h"

#include "skills/traces/trace.h"

#define MAX_REST (2u << 20)

void trace_elements_init(struct trace_elements *e, const char *const *keys,
                         unsigned max_depth, trace_hand *hand, void *data) {
    *e = (struct trace_elements){
        .keys = keys, .max_depth = max_depth, .hand = hand, .data = data};
    squeeze_init(&e->rest, MAX_REST);
    squeeze_init(&e->element, TRACE_MAX_RECORD);
}

void trace_elements_finish(struct trace_elements *e) {
    squeeze_finish(&e->rest);
    squeeze_finish(&e->element);
}

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

static void hand_out(struct trace_elements *e, struct squeeze *q, const char *key) {
    struct trace_piece piece = {
        .key = key,
        .text = q->text.data,
        .len = q->text.len,
        .left_out = q->left_out,
        .too_long = q->text.full,
    };
    if (piece.len || piece.too_long) {
        e->hand(e->data, &piece);
    }
    squeeze_reset(q);
}

/* --- within an element --- */

static void end_element(struct trace_elements *e) {
    e->in_element = false;
    e->inner = 0;
    hand_out(e, &e->element, e->open_key[e->depth - 1]);
}

/* Bytes from s that surely are inside of the element's string or between brackets. */
static size_t take_element(struct trace_elements *e, const char *s, size_t len) {
    size_t i = 0;
    bool ended = false;
    for (; i < len && !ended; i++) {
        char c = s[i];
        if (e->in_string) {
            if (e->escaped) {
                e->escaped = false;
            } else {
                e->escaped = c == '\\';
                e->in_string = c != '"';
            }
        } else if (c == '"') {
            e->in_string = true;
        } else if (c == '{' || c == '[') {
            e->inner++;
        } else if ((c == '}' || c == ']') && e->inner) {
            e->inner--;
        } else if (!e->inner && (c == ',' || c == ']' || c == '}')) {
            ended = true;
            i--; /* it is the array's */
        }
    }
    squeeze_add(&e->element, s, i);
    if (ended) {
        end_element(e);
    }
    return i;
}

/* --- around the elements --- */

static const char *key_of_array(const struct trace_elements *e) {
    if (e->depth == 0) {
        return "";
    }
    for (size_t i = 0; e->depth <= e->max_depth && e->keys[i]; i++) {
        if (e->key_len == strlen(e->keys[i]) &&
            memcmp(e->key, e->keys[i], e->key_len) == 0) {
            return e->keys[i];
        }
    }
    return NULL;
}

static void open_bracket(struct trace_elements *e, char c) {
    if (e->depth == ELEMENTS_DEPTH) {
        e->skipped++;
        return;
    }
    const char *key = c == '[' && !e->key_next ? key_of_array(e) : NULL;
    squeeze_add(&e->rest, &c, 1);
    e->open_key[e->depth] = key;
    e->open[e->depth++] = key ? 's' : c;
    e->key_next = c == '{';
}

static void close_bracket(struct trace_elements *e, char c) {
    if (e->skipped) {
        e->skipped--;
        return;
    }
    if (e->depth) {
        e->depth--;
        squeeze_add(&e->rest, &c, 1);
    }
    e->key_next = false;
    if (e->depth == 0) {
        hand_out(e, &e->rest, NULL);
    }
}

static void take_string_byte(struct trace_elements *e, char c) {
    if (!e->skipped) {
        squeeze_add(&e->rest, &c, 1);
    }
    if (e->escaped) {
        e->escaped = false;
    } else if (c == '"') {
        e->in_string = false;
        return;
    } else {
        e->escaped = c == '\\';
    }
    if (e->key_next && e->key_len < sizeof e->key) {
        e->key[e->key_len++] = c;
    }
}

static bool begins_element(const struct trace_elements *e, char c) {
    return e->depth && !e->skipped && e->open[e->depth - 1] == 's' && !is_space(c) &&
           c != ',' && c != ']' && c != '}';
}

static void take_byte(struct trace_elements *e, char c) {
    if (e->in_string) {
        take_string_byte(e, c);
        return;
    }
    bool in_elements = e->depth && e->open[e->depth - 1] == 's';
    if (c == '{' || c == '[') {
        open_bracket(e, c);
        return;
    }
    if (c == '}' || c == ']') {
        close_bracket(e, c);
        return;
    }
    if (c == '"') {
        e->in_string = true;
        e->key_len = e->key_next ? 0 : e->key_len;
    } else if (c == ':' || c == ',') {
        e->key_next = c == ',' && e->depth && e->open[e->depth - 1] == '{';
    }
    if (!e->skipped && !in_elements && (e->depth || !is_space(c))) {
        squeeze_add(&e->rest, &c, 1);
    }
}

void trace_elements_add(struct trace_elements *e, const char *bytes, size_t len) {
    for (size_t i = 0; i < len;) {
        if (!e->in_element && !e->in_string && begins_element(e, bytes[i])) {
            e->in_element = true;
        }
        if (e->in_element) {
            i += take_element(e, bytes + i, len - i);
        } else {
            take_byte(e, bytes[i++]);
        }
    }
}

bool trace_elements_end(struct trace_elements *e) {
    bool ended = e->depth == 0 && !e->in_string && e->rest.text.len == 0;
    squeeze_reset(&e->element);
    while (e->depth) {
        close_bracket(e, e->open[e->depth - 1] == '{' ? '}' : ']');
    }
    return ended;
}
