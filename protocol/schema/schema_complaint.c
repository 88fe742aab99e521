#include "protocol/schema/schema_complaint.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "base/text.h"

#define SHOWN 40u     /* bytes of a refused string that a message repeats */
#define MAX_NAMES 12u /* of known parameters in a message */

static size_t place_depth(const struct schema_place *at) {
    size_t depth = 0;
    for (; at->up; at = at->up) {
        depth++;
    }
    return depth;
}

static void add_pointer(struct buf *out, const struct schema_place *at) {
    if (!at->up) {
        return;
    }
    add_pointer(out, at->up);
    if (at->key) {
        json_pointer_add(out, at->key);
    } else {
        buf_addf(out, "/%zu", at->index);
    }
}

/* As in a program: launch.block[1] */
static void add_words(struct buf *out, const struct schema_place *at) {
    if (!at->up) {
        return;
    }
    add_words(out, at->up);
    if (!at->key) {
        buf_addf(out, "[%zu]", at->index);
        return;
    }
    if (at->up->up) {
        buf_addc(out, '.');
    }
    text_clean(out, at->key, text_cut(at->key, strlen(at->key), 80));
}

bool schema_complain(struct schema_complaint *c, const struct schema_place *at,
                     const char *fmt, ...) {
    autobuf words = BUF_INIT(SCHEMA_COMPLAINT_MAX / 2), pointer = BUF_INIT(16u << 10);
    char text[SCHEMA_COMPLAINT_MAX];
    text_format(text, fmt);
    add_words(&words, at);
    add_pointer(&pointer, at);
    snprintf(c->text, sizeof c->text, "%.199s%s%.*s", words.data, words.len ? ": " : "",
             (int)text_cut(text, strlen(text), 190), text);
    free(c->pointer);
    c->pointer = buf_detach(&pointer);
    c->depth = place_depth(at);
    return false;
}

static void add_types(struct buf *out, unsigned types) {
    static const char *const words[] = {"null",     "true or false", "an integer",
                                        "a number", "a string",      "an array",
                                        "an object"};
    const char *separator = "";
    types &= types & SCHEMA_NUMBER ? ~(unsigned)SCHEMA_INTEGER : ~0u;
    for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
        if (types & 1u << i) {
            types &= ~(1u << i);
            buf_addf(out, "%s%s", separator, words[i]);
            separator = types & (types - 1) ? ", " : " or ";
        }
    }
}

void schema_add_value(struct buf *out, const json_t *value) {
    if (json_is_array(value) || json_is_object(value)) {
        buf_adds(out, json_is_array(value) ? "an array" : "an object");
        return;
    }
    buf_adds(out, json_is_string(value)   ? "the string "
                  : json_is_number(value) ? "the number "
                                          : "");
    if (!json_is_string(value)) {
        json_write(out, value);
        return;
    }
    const char *text = json_string_value(value);
    size_t len = json_string_length(value), cut = text_cut(text, len, SHOWN);
    autojson *shown = json_clean(text, cut);
    json_write(out, shown);
    buf_adds(out, cut < len ? "…" : "");
}

bool schema_complain_type(unsigned types, const json_t *value,
                          const struct schema_place *at, struct schema_complaint *c) {
    autobuf words = BUF_INIT(SCHEMA_COMPLAINT_MAX);
    if (!types) {
        return schema_complain(c, at, "is not allowed here");
    }
    buf_adds(&words, "expected ");
    add_types(&words, types);
    buf_adds(&words, ", got ");
    schema_add_value(&words, value);
    return schema_complain(c, at, "%s", words.data);
}

/* --- a name that was probably meant --- */

static const char *meant_name(const struct schema *s, const char *said) {
    size_t third = strlen(said) / 3;
    struct nearest_name near = {.said = said,
                                .limit = third < 2 ? (unsigned)third + 1 : 3};
    for (size_t i = 0; i < s->properties.count; i++) {
        nearest_name_try(&near, s->properties.items[i].name);
    }
    return near.best;
}

bool schema_complain_unknown(const struct schema *s, const char *name,
                             const struct schema_place *up, struct schema_complaint *c) {
    const char *meant = meant_name(s, name);
    autobuf hint = BUF_INIT(SCHEMA_COMPLAINT_MAX);
    if (meant) {
        buf_addf(&hint, "; did you mean \"%s\"?", meant);
    }
    for (size_t i = 0; !meant && i < s->properties.count && i < MAX_NAMES; i++) {
        buf_addf(&hint, "%s%s", i ? ", " : "; known: ", s->properties.items[i].name);
    }
    buf_adds(&hint, !meant && s->properties.count > MAX_NAMES ? ", …" : "");
    autobuf shown = BUF_INIT(128);
    text_clean(&shown, name, text_cut(name, strlen(name), 80));
    schema_complain(c, up, "unknown parameter \"%s\"%s", shown.data, hint.data);
    autobuf pointer = BUF_INIT(16u << 10);
    add_pointer(&pointer, &(struct schema_place){.up = up, .key = name});
    free(c->pointer);
    c->pointer = buf_detach(&pointer);
    return false;
}
