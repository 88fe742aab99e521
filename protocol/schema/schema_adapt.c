/* Reads values as weak models or strict function calling send them: see schema_adapt in
 * schema.h. A value that does not fit is unchanged, and schema_check refuses it. */
#include "base/find.h"
#include "protocol/schema/schema.h"
#include "protocol/schema/schema_tree.h"

static unsigned wanted_of_forms(const struct schema_list *forms) {
    unsigned types = forms->count ? 0 : SCHEMA_ANY;
    for (size_t i = 0; i < forms->count; i++) {
        types |= schema_wanted(forms->items[i]);
    }
    return types;
}

unsigned schema_wanted(const struct schema *s) {
    unsigned types = s->types & wanted_of_forms(&s->any) & wanted_of_forms(&s->one);
    for (size_t i = 0; i < s->all.count; i++) {
        types &= schema_wanted(s->all.items[i]);
    }
    return types;
}

static json_t *parse_copy(const json_t *text) {
    size_t len = json_string_length(text);
    autofree char *copy = xstrndup(json_string_value(text), len);
    return json_parse(copy, strlen(copy), NULL);
}

/* A text where the schema allows none: JSON, or the single item of a list. NULL:
 * neither. */
static json_t *read_text(const struct schema *s, const json_t *text) {
    unsigned wanted = schema_wanted(s);
    bool one_item = (wanted & SCHEMA_ARRAY) && s->items &&
                    (schema_wanted(s->items) & SCHEMA_STRING) && json_string_length(text);
    if (wanted & SCHEMA_STRING) {
        return NULL;
    }
    json_t *value = parse_copy(text);
    if (value && (schema_type_of(value) & wanted)) {
        return value;
    }
    json_decref(value);
    return one_item ? json_pack("[O]", text) : NULL;
}

static bool is_empty(const json_t *value) {
    return json_is_null(value) ||
           (json_is_string(value) && json_string_length(value) == 0);
}

/* The name that a form asks for, where it asks for one alone. */
static const char *form_name(const struct schema *form) {
    return json_array_size(form->required) == 1
               ? json_string_value(json_array_get(form->required, 0))
               : NULL;
}

/* One of several names is to be given, a source or its path: another one is. */
static bool has_other_form(const struct schema_list *forms, const json_t *object,
                           const char *name) {
    bool is_form = false, other = false;
    for (size_t i = 0; i < forms->count; i++) {
        const char *wants = form_name(forms->items[i]);
        const json_t *value = wants ? json_object_get(object, wants) : NULL;
        is_form = is_form || (wants && strcmp(wants, name) == 0);
        other = other || (value && !is_empty(value));
    }
    return is_form && other;
}

/* null or "" for an optional member for which it cannot be a value. */
static bool is_absent(const struct schema *s, const json_t *object, const char *name,
                      const json_t *value) {
    const struct schema *own = schema_property(s, name)->schema;
    if (!is_empty(value)) {
        return false;
    }
    return (json_is_string(value) && json_object_get(own->json, "default")) ||
           has_other_form(&s->any, object, name) ||
           has_other_form(&s->one, object, name) ||
           schema_check(own, value, NULL, NULL) < 0;
}

static bool is_required(const struct schema *s, const char *name) {
    return json_any(s->required, one, strcmp(json_string_value(one), name) == 0);
}

/* *copy is made before the first change. */
static json_t *change(json_t **copy, json_t *value) {
    if (!*copy) {
        *copy = json_copy(value);
    }
    return *copy;
}

static json_t *adapt_object(const struct schema *s, json_t *object) {
    json_t *copy = NULL;
    json_each_member(object, name, member) {
        const struct schema_property *property = schema_property(s, name);
        const struct schema *own = property ? property->schema : s->additional;
        if (property && !is_required(s, name) && is_absent(s, object, name, member)) {
            json_object_del(change(&copy, object), name);
            continue;
        }
        json_t *read = own ? schema_adapt(own, member) : json_incref(member);
        if (read != member) {
            json_object_set(change(&copy, object), name, read);
        }
        json_decref(read);
    }
    return copy ? copy : json_incref(object);
}

static json_t *adapt_array(const struct schema *s, json_t *array) {
    json_t *copy = NULL;
    json_each(array, i, item) {
        const struct schema *own = i < s->prefix.count ? s->prefix.items[i] : s->items;
        json_t *read = own ? schema_adapt(own, item) : json_incref(item);
        if (read != item) {
            json_array_set(change(&copy, array), i, read);
        }
        json_decref(read);
    }
    return copy ? copy : json_incref(array);
}

json_t *schema_adapt(const struct schema *s, json_t *value) {
    autojson *read = json_is_string(value) ? read_text(s, value) : NULL;
    json_t *at = read ? read : value;
    return json_is_object(at)  ? adapt_object(s, at)
           : json_is_array(at) ? adapt_array(s, at)
                               : json_incref(at);
}
