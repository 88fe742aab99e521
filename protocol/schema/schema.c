#include "protocol/schema/schema.h"

#include "base/err.h"
#include "base/find.h"
#include "protocol/schema/schema_tree.h"

/* --- keywords --- */

/* member: of the struct schema, as the keyword's row says. */
typedef int compile_keyword(void *member, const json_t *value, struct err *err);

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

static int compile_type(void *member, const json_t *value, struct err *err) {
    unsigned types = type_bit(value);
    json_each(value, i, name) {
        unsigned bit = type_bit(name);
        if (!bit) {
            return expected(err, "names of types");
        }
        types |= bit;
    }
    *(unsigned *)member = types;
    return types ? 0 : expected(err, "the name of a type, or a list of them");
}

static int compile_number(void *member, const json_t *value, struct err *err) {
    if (!json_is_number(value)) {
        return expected(err, "a number");
    }
    *(struct schema_bound *)member = (struct schema_bound){
        .set = true,
        .value = json_is_integer(value) ? (long double)json_integer_value(value)
                                        : (long double)json_real_value(value)};
    return 0;
}

static int compile_count(void *member, const json_t *value, struct err *err) {
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        return expected(err, "an integer of at least 0");
    }
    return compile_number(member, value, err);
}

static int compile_schema(void *member, const json_t *value, struct err *err) {
    return schema_compile(value, member, err);
}

static int compile_list(void *member, const json_t *value, struct err *err) {
    struct schema_list *list = member;
    if (!json_array_size(value)) {
        return expected(err, "a list of schemas");
    }
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): it is a list of pointers */
    list->items = xcalloc(json_array_size(value), sizeof *list->items);
    json_each(value, i, one) {
        int rc = schema_compile(one, &list->items[i], err);
        if (rc < 0) {
            return err_wrap(err, "%zu", i);
        }
        list->count++;
    }
    return 0;
}

static int compile_properties(void *member, const json_t *value, struct err *err) {
    struct schema_properties *properties = member;
    if (!json_is_object(value)) {
        return expected(err, "an object of schemas");
    }
    properties->items = xcalloc(json_object_size(value), sizeof *properties->items);
    json_each_member(value, name, property) {
        struct schema_property *p = &properties->items[properties->count];
        p->name = name;
        if (schema_compile(property, &p->schema, err) < 0) {
            return err_wrap(err, "%s", name);
        }
        properties->count++;
    }
    return 0;
}

static int compile_required(void *member, const json_t *value, struct err *err) {
    *(const json_t **)member = value;
    return json_is_texts(value) ? 0 : expected(err, "a list of names");
}

static int compile_enum(void *member, const json_t *value, struct err *err) {
    *(const json_t **)member = value;
    return json_array_size(value) ? 0 : expected(err, "a list of values");
}

static int compile_const(void *member, const json_t *value, struct err *) {
    *(const json_t **)member = value;
    return 0;
}

static int compile_unique(void *member, const json_t *value, struct err *err) {
    *(bool *)member = json_is_true(value);
    return json_is_boolean(value) ? 0 : expected(err, "true or false");
}

static int compile_pattern(void *member, const json_t *value, struct err *err) {
    pcre2_code **pattern = member;
    int code = 0;
    PCRE2_SIZE at = 0;
    if (!json_is_string(value)) {
        return expected(err, "a string");
    }
    *pattern = pcre2_compile(
        (PCRE2_SPTR)json_string_value(value), json_string_length(value),
        PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
    if (!*pattern) {
        char why[128] = "";
        pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why);
        return err_set(err, -EINVAL, "at %zu: %s", (size_t)at, why);
    }
    return 0;
}

#define AT(member) offsetof(struct schema, member)
static const struct keyword {
    const char *name;
    compile_keyword *compile; /* NULL: an annotation */
    size_t member;
} keywords[] = {
    {"type", compile_type, AT(types)},
    {"properties", compile_properties, AT(properties)},
    {"required", compile_required, AT(required)},
    {"additionalProperties", compile_schema, AT(additional)},
    {"propertyNames", compile_schema, AT(names)},
    {"minProperties", compile_count, AT(min_members)},
    {"maxProperties", compile_count, AT(max_members)},
    {"items", compile_schema, AT(items)},
    {"prefixItems", compile_list, AT(prefix)},
    {"minItems", compile_count, AT(min_items)},
    {"maxItems", compile_count, AT(max_items)},
    {"uniqueItems", compile_unique, AT(unique)},
    {"enum", compile_enum, AT(choices)},
    {"const", compile_const, AT(fixed)},
    {"minimum", compile_number, AT(minimum)},
    {"maximum", compile_number, AT(maximum)},
    {"exclusiveMinimum", compile_number, AT(above)},
    {"exclusiveMaximum", compile_number, AT(below)},
    {"minLength", compile_count, AT(min_length)},
    {"maxLength", compile_count, AT(max_length)},
    {"pattern", compile_pattern, AT(pattern)},
    {"anyOf", compile_list, AT(any)},
    {"oneOf", compile_list, AT(one)},
    {"allOf", compile_list, AT(all)},
    {"not", compile_schema, AT(negated)},
    {"title", NULL, 0},
    {"description", NULL, 0},
    {"default", NULL, 0},
    {"examples", NULL, 0},
    {"deprecated", NULL, 0},
    {"format", NULL, 0},
};
#undef AT

static const struct keyword *find_keyword(const char *name) {
    return list_find(one, keywords, ARRAY_LEN(keywords), strcmp(one->name, name) == 0);
}

static int compile_members(struct schema *s, struct err *err) {
    json_each_member(s->json, name, value) {
        const struct keyword *keyword = find_keyword(name);
        if (!keyword) {
            return err_set(err, -EINVAL, "the keyword \"%s\" is not supported", name);
        }
        void *member = (char *)s + keyword->member;
        if (keyword->compile && keyword->compile(member, value, err) < 0) {
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
    for (size_t i = 0; i < s->properties.count; i++) {
        schema_free(s->properties.items[i].schema);
    }
    free(s->properties.items);
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
