#include "protocol/schema/schema.h"

#include "base/err.h"
#include "protocol/schema/schema_tree.h"

#include <errno.h>
#include <string.h>

/* --- keywords --- */

typedef int compile_keyword(struct schema *s, const json_t *value, struct err *err);

static int schema_compile(const json_t *json, struct schema **ret, struct err *err);

static int expected(struct err *err, const char *what) {
    return err_set(err, -EINVAL, "must be %s", what);
}

static unsigned type_bit(const json_t *name) {
    static const char *const names[] = {"null",   "boolean", "integer", "number",
                                        "string", "array",   "object"};
    for (unsigned i = 0; json_is_string(name) && i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i], json_string_value(name)) == 0) {
            return 1u << i;
        }
    }
    return 0;
}

static int compile_type(struct schema *s, const json_t *value, struct err *err) {
    size_t i;
    json_t *name;
    s->types = type_bit(value);
    json_array_foreach(value, i, name) {
        unsigned bit = type_bit(name);
        if (!bit) {
            return expected(err, "names of types");
        }
        s->types |= bit;
    }
    return s->types ? 0 : expected(err, "the name of a type, or a list of them");
}

static int compile_bound(struct schema_bound *bound, const json_t *value, bool count,
                         struct err *err) {
    if (count ? !json_is_integer(value) || json_integer_value(value) < 0
              : !json_is_number(value)) {
        return expected(err, count ? "an integer of at least 0" : "a number");
    }
    bound->set = true;
    bound->value = json_is_integer(value) ? (long double)json_integer_value(value)
                                          : (long double)json_real_value(value);
    return 0;
}

#define NUMBER_KEYWORD(name)                                                             \
    static int compile_##name(struct schema *s, const json_t *value, struct err *err) {  \
        return compile_bound(&s->name, value, false, err);                               \
    }
#define COUNT_KEYWORD(name)                                                              \
    static int compile_##name(struct schema *s, const json_t *value, struct err *err) {  \
        return compile_bound(&s->name, value, true, err);                                \
    }
NUMBER_KEYWORD(minimum)
NUMBER_KEYWORD(maximum)
NUMBER_KEYWORD(above)
NUMBER_KEYWORD(below)
COUNT_KEYWORD(min_length)
COUNT_KEYWORD(max_length)
COUNT_KEYWORD(min_items)
COUNT_KEYWORD(max_items)
COUNT_KEYWORD(min_members)
COUNT_KEYWORD(max_members)

#define SCHEMA_KEYWORD(name)                                                             \
    static int compile_##name(struct schema *s, const json_t *value, struct err *err) {  \
        return schema_compile(value, &s->name, err);                                     \
    }
SCHEMA_KEYWORD(additional)
SCHEMA_KEYWORD(items)
SCHEMA_KEYWORD(names)
SCHEMA_KEYWORD(negated)

static int compile_list(struct schema_list *list, const json_t *value, struct err *err) {
    size_t i;
    json_t *one;
    if (!json_array_size(value)) {
        return expected(err, "a list of schemas");
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): it is a list of pointers */
    list->items = xcalloc(json_array_size(value), sizeof *list->items);
    json_array_foreach(value, i, one) {
        int rc = schema_compile(one, &list->items[i], err);
        if (rc < 0) {
            return err_wrap(err, "%zu", i);
        }
        list->count++;
    }
    return 0;
}

#define LIST_KEYWORD(name)                                                               \
    static int compile_##name(struct schema *s, const json_t *value, struct err *err) {  \
        return compile_list(&s->name, value, err);                                       \
    }
LIST_KEYWORD(prefix)
LIST_KEYWORD(any)
LIST_KEYWORD(one)
LIST_KEYWORD(all)

static int compile_properties(struct schema *s, const json_t *value, struct err *err) {
    const char *name;
    json_t *property;
    if (!json_is_object(value)) {
        return expected(err, "an object of schemas");
    }
    s->properties = xcalloc(json_object_size(value), sizeof *s->properties);
    json_object_foreach((json_t *)(uintptr_t)value, name, property) {
        struct schema_property *p = &s->properties[s->property_count];
        p->name = name;
        if (schema_compile(property, &p->schema, err) < 0) {
            return err_wrap(err, "%s", name);
        }
        s->property_count++;
    }
    return 0;
}

static int compile_required(struct schema *s, const json_t *value, struct err *err) {
    size_t i;
    json_t *name;
    json_array_foreach(value, i, name) {
        if (!json_is_string(name)) {
            return expected(err, "a list of names");
        }
    }
    s->required = value;
    return json_is_array(value) ? 0 : expected(err, "a list of names");
}

static int compile_enum(struct schema *s, const json_t *value, struct err *err) {
    s->choices = value;
    return json_array_size(value) ? 0 : expected(err, "a list of values");
}

static int compile_const(struct schema *s, const json_t *value, struct err *err) {
    (void)err;
    s->fixed = value;
    return 0;
}

static int compile_unique(struct schema *s, const json_t *value, struct err *err) {
    s->unique = json_is_true(value);
    return json_is_boolean(value) ? 0 : expected(err, "true or false");
}

static int compile_pattern(struct schema *s, const json_t *value, struct err *err) {
    int code = 0;
    PCRE2_SIZE at = 0;
    if (!json_is_string(value)) {
        return expected(err, "a string");
    }
    s->pattern_text = json_string_value(value);
    s->pattern = pcre2_compile((PCRE2_SPTR)s->pattern_text, json_string_length(value),
                               PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C,
                               &code, &at, NULL);
    if (!s->pattern) {
        char why[128] = "";
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        return err_set(err, -EINVAL, "at %zu: %s", (size_t)at, why);
    }
    return 0;
}

static const struct keyword {
    const char *name;
    compile_keyword *compile; /* NULL: an annotation */
} keywords[] = {
    {"type", compile_type},
    {"properties", compile_properties},
    {"required", compile_required},
    {"additionalProperties", compile_additional},
    {"propertyNames", compile_names},
    {"minProperties", compile_min_members},
    {"maxProperties", compile_max_members},
    {"items", compile_items},
    {"prefixItems", compile_prefix},
    {"minItems", compile_min_items},
    {"maxItems", compile_max_items},
    {"uniqueItems", compile_unique},
    {"enum", compile_enum},
    {"const", compile_const},
    {"minimum", compile_minimum},
    {"maximum", compile_maximum},
    {"exclusiveMinimum", compile_above},
    {"exclusiveMaximum", compile_below},
    {"minLength", compile_min_length},
    {"maxLength", compile_max_length},
    {"pattern", compile_pattern},
    {"anyOf", compile_any},
    {"oneOf", compile_one},
    {"allOf", compile_all},
    {"not", compile_negated},
    {"title", NULL},
    {"description", NULL},
    {"default", NULL},
    {"examples", NULL},
    {"deprecated", NULL},
    {"format", NULL},
};

static const struct keyword *find_keyword(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(keywords); i++) {
        if (strcmp(keywords[i].name, name) == 0) {
            return &keywords[i];
        }
    }
    return NULL;
}

static int compile_members(struct schema *s, struct err *err) {
    const char *name;
    json_t *value;
    json_object_foreach(s->json, name, value) {
        const struct keyword *keyword = find_keyword(name);
        if (!keyword) {
            return err_set(err, -EINVAL, "the keyword \"%s\" is not supported", name);
        }
        if (keyword->compile && keyword->compile(s, value, err) < 0) {
            return err_wrap(err, "%s", name);
        }
    }
    return 0;
}

static int schema_compile(const json_t *json, struct schema **ret, struct err *err) {
    if (!json_is_object(json) && !json_is_boolean(json)) {
        return expected(err, "a schema: an object, true or false");
    }
    struct schema *s = xcalloc(1, sizeof *s);
    s->json = json_incref((json_t *)(uintptr_t)json);
    s->types = json_is_false(json) ? 0 : SCHEMA_ANY;
    if (json_is_object(json) && compile_members(s, err) < 0) {
        schema_free(s);
        return -EINVAL;
    }
    *ret = s;
    return 0;
}

/* --- life --- */

int schema_new(const char *text, struct schema **ret, struct err *err) {
    autofree char *copy = xstrdup(text ? text : "");
    struct err why = {0};
    autojson *json = json_parse(copy, strlen(copy), &why);
    if (!json) {
        return err_set(err, -EINVAL, "not JSON: %s", why.msg);
    }
    if (!json_is_object(json)) {
        return expected(err, "a schema: an object");
    }
    return schema_compile(json, ret, err);
}

static void list_finish(struct schema_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        schema_free(list->items[i]);
    }
    free(list->items);
}

void schema_free(struct schema *s) {
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->property_count; i++) {
        schema_free(s->properties[i].schema);
    }
    free(s->properties);
    list_finish(&s->prefix);
    list_finish(&s->any);
    list_finish(&s->one);
    list_finish(&s->all);
    schema_free(s->additional);
    schema_free(s->items);
    schema_free(s->names);
    schema_free(s->negated);
    pcre2_code_free(s->pattern);
    json_decref(s->json);
    free(s);
}

json_t *schema_json(const struct schema *s) {
    return s->json;
}
