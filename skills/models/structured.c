#include "skills/models/structured.h"

#include "base/find.h"

#define MAX_SCHEMA_TEXT (1u << 20)
#define MAX_STARTS 16 /* places where a value may begin */

enum answer_form structured_form(const json_t *schema, unsigned quirks) {
    const char *type = json_get_string(schema, "type", "");
    if (!schema) {
        return FORM_TEXT;
    }
    if (!(quirks & QUIRK_NO_SCHEMA)) {
        return FORM_NATIVE;
    }
    return !(quirks & QUIRK_NO_TOOL) && strcmp(type, "object") == 0 ? FORM_TOOL
                                                                    : FORM_WORDS;
}

enum answer_form structured_offer(unsigned quirks) {
    return quirks & QUIRK_NO_TOOL ? FORM_OFFERED_WORDS : FORM_OFFERED;
}

/* --- strictness --- */

static bool is_strict(const json_t *schema, unsigned depth);

static bool all_strict(const json_t *list, unsigned depth) {
    return !json_any(list, item, !is_strict(item, depth));
}

static bool object_is_strict(const json_t *schema, unsigned depth) {
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *required = json_object_get(schema, "required");
    if (!json_is_false(json_object_get(schema, "additionalProperties")) ||
        json_array_size(required) != json_object_size(properties)) {
        return false;
    }
    json_each_member(properties, key, value) {
        if (!is_strict(value, depth)) {
            return false;
        }
    }
    return true;
}

static bool is_strict(const json_t *schema, unsigned depth) {
    static const char *const refused[] = {"allOf",       "oneOf",         "not",
                                          "prefixItems", "propertyNames", "uniqueItems"};
    const json_t *items = json_object_get(schema, "items");
    if (depth > 5 || !json_is_object(schema)) {
        return false;
    }
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        if (json_object_get(schema, refused[i])) {
            return false;
        }
    }
    bool object = json_says(schema, "type", "object");
    return (!object || object_is_strict(schema, depth + 1)) &&
           (!items || is_strict(items, depth + 1)) &&
           all_strict(json_object_get(schema, "anyOf"), depth + 1);
}

bool structured_is_strict(const json_t *schema) {
    return json_says(schema, "type", "object") && is_strict(schema, 0);
}

/* --- words --- */

char *structured_name(const char *name) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    char *ret = xstrndup(name && *name ? name : "answer", 64);
    for (char *s = ret; *s; s++) {
        *s = strchr(allowed, *s) ? *s : '_';
    }
    return ret;
}

static char *schema_text(const json_t *schema) {
    struct buf text = BUF_INIT(MAX_SCHEMA_TEXT);
    json_write(&text, schema);
    return buf_detach(&text);
}

char *structured_system(const char *system, const json_t *schema) {
    autofree char *text = schema_text(schema);
    return xasprintf("%s%sAnswer with one JSON value and nothing else: no prose, no code "
                     "fence. It must fit this JSON Schema:\n%s",
                     system ? system : "", system && *system ? "\n\n" : "", text);
}

char *structured_offer_system(const char *system, const char *tool,
                              const json_t *schema) {
    autofree char *text = schema_text(schema);
    return xasprintf("%s%sYou have one tool.\n%s\nTo use it, answer with one JSON value "
                     "and nothing else, that fits this JSON Schema:\n%s\nWhere it is not "
                     "needed, answer the request itself.",
                     system ? system : "", system && *system ? "\n\n" : "", tool, text);
}

char *structured_complaint(const char *problem, const json_t *schema) {
    autofree char *text = schema_text(schema);
    return xasprintf("That answer cannot be used: %s. Answer again, with one JSON value "
                     "and nothing else, that fits this JSON Schema:\n%s",
                     problem, text);
}

/* --- finding the value --- */

json_t *structured_parse(const char *text, size_t len, struct err *err) {
    autofree char *copy = xmalloc(len + 1);
    memcpy(copy, text, len);
    copy[len] = '\0';
    return json_parse(copy, len, err);
}

/* The end of the value that opens at text[0], by brackets and strings; 0 = none. */
static size_t value_end(const char *text, size_t len) {
    size_t depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* The text after the last thought in a model's answer. */
static size_t behind_thoughts(const char *text, size_t len) {
    static const char mark[] = "</think>";
    size_t at = 0;
    const char *found;
    while ((found = memmem(text + at, len - at, mark, sizeof mark - 1))) {
        at = (size_t)(found - text) + sizeof mark - 1;
    }
    return at;
}

/* opening: the brackets that the value may begin with; "[1]" in prose is no object. */
static json_t *find_within(const char *text, size_t len, const char *opening) {
    unsigned starts = 0;
    for (size_t i = 0; i < len && starts < MAX_STARTS; i++) {
        if (text[i] != opening[0] && text[i] != opening[1]) {
            continue;
        }
        starts++;
        size_t end = value_end(text + i, len - i);
        json_t *value = end ? structured_parse(text + i, end, NULL) : NULL;
        if (value) {
            return value;
        }
    }
    return NULL;
}

json_t *structured_find(const char *text, size_t len, const json_t *schema) {
    const char *type = json_get_string(schema, "type", "");
    const char *opening = strcmp(type, "object") == 0  ? "{{"
                          : strcmp(type, "array") == 0 ? "[["
                                                       : "{[";
    json_t *value = structured_parse(text, len, NULL);
    if (value) {
        return value;
    }
    size_t at = behind_thoughts(text, len);
    value = find_within(text + at, len - at, opening);
    return value || at == 0 ? value : find_within(text, len, opening);
}
