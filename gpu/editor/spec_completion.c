#include "gpu/editor/spec_completion.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/editor/spec_members.h"
#include "gpu/reference/operator.h"

enum { MAX_NAME = 64, MAX_BUFFERS = 128 };

/* --- completion --- */

struct offer {
    const struct json_places *places;
    struct json_spot spot;
    json_t *list;
};

static bool offered(const struct offer *o, const char *label) {
    return json_any(o->list, item, json_says(item, "label", label));
}

static void offer(struct offer *o, const char *label, const char *text,
                  const char *detail, const char *documentation) {
    if (offered(o, label)) {
        return;
    }
    json_t *item =
        json_pack("{s:s, s:s, s:I, s:I}", "label", label, "text", text, "start",
                  (json_int_t)o->spot.start, "end", (json_int_t)o->spot.end);
    if (detail) {
        json_object_set_new(item, "detail", json_string(detail));
    }
    if (documentation) {
        json_object_set_new(item, "documentation", json_string(documentation));
    }
    json_array_append_new(o->list, item);
}

static void offer_string(struct offer *o, const char *word, const char *detail,
                         const char *documentation) {
    autofree char *text = xasprintf("\"%s\"", word);
    offer(o, word, text, detail, documentation);
}

/* "string", or the first of a list of types. */
static const char *type_of(const json_t *schema) {
    const json_t *type = json_object_get(schema, "type");
    type = json_is_array(type) ? json_array_get(type, 0) : type;
    return json_object_get(schema, "enum") ? "string"
           : type                          ? json_string_value(type)
                                           : "";
}

static const char *empty_value(const char *type) {
    return !strcmp(type, "array")    ? "[]"
           : !strcmp(type, "object") ? "{}"
           : !strcmp(type, "string") ? "\"\""
                                     : "";
}

static void offer_member(struct offer *o, const char *name, const json_t *schema) {
    const struct json_places *p = o->places;
    size_t there = json_place_member(p, o->spot.container, name);
    if (there != SIZE_MAX && there != o->spot.place) {
        return;
    }
    bool has_value = o->spot.place != SIZE_MAX && p->list[o->spot.place].colon;
    const char *type = type_of(schema);
    autofree char *text = has_value ? xasprintf("\"%s\"", name)
                                    : xasprintf("\"%s\": %s", name, empty_value(type));
    offer(o, name, text, *type ? type : NULL,
          json_get_string(schema, "description", NULL));
}

static void offer_members(struct offer *o) {
    struct spec_members m;
    spec_members_of(o->places, o->spot.container, &m);
    for (size_t i = 0; i < m.count; i++) {
        json_each_member(json_object_get(m.list[i], "properties"), name, schema) {
            offer_member(o, name, schema);
        }
    }
}

static void offer_operators(struct offer *o) {
    const struct operator* op;
    for (size_t i = 0; (op = operator_at(i)); i++) {
        offer_string(o, op->name, op->family, op->summary);
    }
}

static bool is_word(const char *text, size_t len, const char *word) {
    return len == strlen(word) && !memcmp(text, word, len);
}

static void offer_buffer(struct offer *o, size_t name) {
    size_t len;
    const char *text = json_place_string(o->places, name, &len);
    if (len && len <= MAX_NAME && !memchr(text, '\\', len)) {
        autofree char *word = xstrndup(text, len);
        offer_string(o, word, "buffer", NULL);
    }
}

/* Buffers are objects with a name and a shape, wherever they stand. */
static void offer_buffers(struct offer *o) {
    const struct json_places *p = o->places;
    autofree size_t *names =
        xcalloc(p->count + 1, sizeof *names); /* by object; 0: none */
    autofree bool *shaped = xcalloc(p->count + 1, sizeof *shaped);
    for (size_t i = 1; i < p->count; i++) {
        size_t len;
        const char *key = json_place_key(p, i, &len);
        if (is_word(key, len, "name")) {
            names[p->list[i].parent] = i;
        }
        shaped[p->list[i].parent] |= is_word(key, len, "shape");
    }
    for (size_t i = 0; i < p->count && json_array_size(o->list) < MAX_BUFFERS; i++) {
        if (names[i] && shaped[i]) {
            offer_buffer(o, names[i]);
        }
    }
}

static void offer_words(struct offer *o, const struct spec_members *m) {
    for (size_t i = 0; i < m->count; i++) {
        const json_t *all = json_object_get(m->list[i], "enum");
        json_each(all, k, word) {
            if (json_is_string(word)) {
                offer_string(o, json_string_value(word), NULL, NULL);
            }
        }
        if (!strcmp(type_of(m->list[i]), "boolean")) {
            offer(o, "true", "true", NULL, NULL);
            offer(o, "false", "false", NULL, NULL);
        }
    }
}

/* The name of the member whose value is at the spot; an element's list counts. */
static const char *member_name(const struct offer *o, size_t *ret_len) {
    const struct json_places *p = o->places;
    size_t i = o->spot.place;
    if (i == SIZE_MAX || !p->list[i].key_end) {
        i = o->spot.container;
    }
    return json_place_key(p, i, ret_len);
}

static void offer_values(struct offer *o) {
    const struct json_places *p = o->places;
    size_t len;
    const char *name = member_name(o, &len);
    struct spec_members m = {0};
    if (p->list[o->spot.container].kind == '{') {
        spec_members_named(p, o->spot.container, name, len, &m);
    } else {
        struct spec_members list;
        spec_members_of(p, o->spot.container, &list);
        for (size_t i = 0; i < list.count; i++) {
            const json_t *items = json_object_get(list.list[i], "items");
            if (items && m.count < CHECK_MEMBERS_MAX) {
                m.list[m.count++] = items;
            }
        }
    }
    offer_words(o, &m);
    if (is_word(name, len, "op")) {
        offer_operators(o);
    } else if (is_word(name, len, "of") || is_word(name, len, "pointers") ||
               is_word(name, len, "args")) {
        offer_buffers(o);
    }
}

json_t *spec_completions(const struct document *d, size_t offset) {
    struct json_places p;
    struct offer o = {.places = &p, .list = json_array()};
    json_places_read(&p, d->text, d->len);
    json_places_at(&p, offset, &o.spot);
    if (o.spot.container != SIZE_MAX) {
        bool container = o.spot.place != SIZE_MAX && (p.list[o.spot.place].kind == '{' ||
                                                      p.list[o.spot.place].kind == '[');
        if (o.spot.is_key) {
            offer_members(&o);
        } else if (!container) {
            offer_values(&o);
        }
    }
    json_places_finish(&p);
    return o.list;
}

/* --- hover --- */

static void add_json(struct buf *out, const char *words, const json_t *value) {
    autofree char *text = value ? json_shown(value, JSON_COMPACT) : NULL;
    if (text) {
        buf_addf(out, "\n\n%s `%.400s`", words, text);
    }
}

static char *hover_operator(const char *name) {
    const struct operator* op = operator_find(name);
    if (!op) {
        return NULL;
    }
    autobuf out = BUF_INIT(8192);
    buf_addf(&out, "**%s** (%s) — %s\n\ninputs:", op->name, op->family, op->summary);
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS && op->inputs[i].name; i++) {
        buf_addf(&out, "%s `%s`%s", i ? "," : "", op->inputs[i].name,
                 op->inputs[i].optional ? " (optional)" : "");
    }
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        const struct operator_attribute *a = &op->attributes[i];
        buf_addf(&out, "%s `%s`", i ? "," : "\n\nattributes:", a->name);
        if (a->choices) {
            buf_addf(&out, " (%s)", a->choices);
        } else if (a->fallback && strcmp(a->fallback, "null") != 0) {
            buf_addf(&out, " = %s", a->fallback);
        }
    }
    return buf_detach(&out);
}

static char *hover_member(const struct json_places *p, size_t place) {
    struct spec_members m;
    size_t len;
    const char *key = json_place_key(p, place, &len);
    spec_members_of(p, place, &m);
    const char *description = spec_members_description(&m);
    if (!m.count || !len) {
        return NULL;
    }
    autobuf out = BUF_INIT(8192);
    buf_addf(&out, "**%.*s**", (int)(len < 64 ? len : 64), key);
    if (description) {
        buf_addf(&out, " — %s", description);
    }
    for (size_t i = 0; i < m.count && i < 1; i++) {
        add_json(&out, "One of", json_object_get(m.list[i], "enum"));
        add_json(&out, "Default", json_object_get(m.list[i], "default"));
    }
    return buf_detach(&out);
}

char *check_hover(const struct document *d, const json_t *, size_t offset, size_t *start,
                  size_t *end) {
    struct json_places p;
    struct json_spot spot;
    char *text = NULL;
    json_places_read(&p, d->text, d->len);
    json_places_at(&p, offset, &spot);
    if (spot.place != SIZE_MAX && spot.end > spot.start) {
        size_t len;
        const char *key = json_place_key(&p, spot.place, &len);
        if (!spot.is_key && is_word(key, len, "op")) {
            const char *value = json_place_string(&p, spot.place, &len);
            autofree char *name = xstrndup(value, len);
            text = hover_operator(name);
        }
        text = text ? text : hover_member(&p, spot.place);
        *start = spot.start;
        *end = spot.end;
    }
    json_places_finish(&p);
    return text;
}
