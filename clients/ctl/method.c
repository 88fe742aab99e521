#include "clients/ctl/method.h"

#include "base/find.h"
#include "base/strings.h"

#define PROSE_LENGTH 65536

struct option_name {
    const char *method, *name, *ours;
};
struct option_instead {
    const char *name, *words;
};
struct alias {
    const char *name, *group, *command;
};
#include "clients/ctl/option_names.h"

const char **alias_expand(const char **words, int *count) {
    for (size_t i = 0; aliases[i].name; i++) {
        if (*count && strcmp(words[0], aliases[i].name) == 0) {
            words = xreallocarray(words, (size_t)*count + 2, sizeof *words);
            memmove(words + 2, words + 1, (size_t)(*count - 1) * sizeof *words);
            words[0] = aliases[i].group;
            words[1] = aliases[i].command;
            ++*count;
            break;
        }
    }
    return words;
}

const json_t *method_find(const json_t *discover, const char **words, int count,
                          int *used) {
    json_each(json_object_get(discover, "methods"), i, method) {
        const char *name = json_get_string(method, "name", "");
        const char *slash = strchr(name, '/');
        if (count > 0 && strcmp(words[0], name) == 0) {
            *used = 1;
            return method;
        }
        if (slash && count > 1 && strlen(words[0]) == (size_t)(slash - name) &&
            strncmp(words[0], name, (size_t)(slash - name)) == 0 &&
            strcmp(words[1], slash + 1) == 0) {
            *used = 2;
            return method;
        }
    }
    return NULL;
}

char *method_command(const json_t *method) {
    char *command = xstrdup(json_get_string(method, "name", ""));
    for (char *c = command; *c; c++) {
        *c = *c == '/' ? ' ' : *c;
    }
    return command;
}

char *method_option_name(const json_t *parameter) {
    char *option = xasprintf("--%s", json_get_string(parameter, "name", ""));
    for (char *c = option; *c; c++) {
        *c = *c == '_' ? '-' : *c;
    }
    return option;
}

bool schema_has_type(const json_t *schema, const char *type) {
    const json_t *is = json_object_get(schema, "type");
    bool has = json_is_string(is) ? strcmp(json_string_value(is), type) == 0
                                  : json_has_text(is, type);
    return has ||
           json_any(json_object_get(schema, "anyOf"), one, schema_has_type(one, type));
}

bool method_takes_words(const json_t *method) {
    const json_t *args = method_parameter(method, "args", 4);
    const json_t *items = json_object_get(json_object_get(args, "schema"), "items");
    return args && schema_has_type(items, "string") && !schema_has_type(items, "object");
}

bool method_has_type(const json_t *parameter, const char *type) {
    return schema_has_type(json_object_get(parameter, "schema"), type);
}

const json_t *method_members(const json_t *parameter) {
    const json_t *schema = json_object_get(parameter, "schema");
    const json_t *members = json_object_get(schema, "properties");
    json_each(json_object_get(schema, "anyOf"), i, form) {
        members = members ? members : json_object_get(form, "properties");
    }
    return members;
}

/* "--define N=4" also names the list "defines". */
static bool is_named(const json_t *parameter, const char *name, size_t len) {
    const char *is = json_get_string(parameter, "name", "");
    size_t k = 0;
    while (k < len && is[k] && (is[k] == name[k] || (is[k] == '_' && name[k] == '-'))) {
        k++;
    }
    bool many =
        method_has_type(parameter, "array") || method_has_type(parameter, "object");
    return k == len && (!is[k] || (many && strcmp(is + k, "s") == 0));
}

const json_t *method_parameter(const json_t *method, const char *name, size_t len) {
    return json_find(json_object_get(method, "params"), parameter,
                     is_named(parameter, name, len));
}

const json_t *method_option(const json_t *method, const char *name, size_t len) {
    const json_t *parameter = method_parameter(method, name, len);
    const char *of = json_get_string(method, "name", "");
    for (size_t i = 0; !parameter && upskills_names[i].name; i++) {
        const char *other = upskills_names[i].name, *ours = upskills_names[i].ours;
        if (strlen(other) == len && strncmp(other, name, len) == 0 &&
            strcmp(of, upskills_names[i].method) == 0) {
            parameter = method_parameter(method, ours, strlen(ours));
        }
    }
    return parameter;
}

const char *method_instead(const char *name, size_t len) {
    for (const struct option_instead *o = instead; o->name; o++) {
        if (strlen(o->name) == len && strncmp(o->name, name, len) == 0) {
            return o->words;
        }
    }
    return NULL;
}

bool method_takes_commas(const json_t *parameter) {
    static const char *const lists[] = {"agents", "arms", "install", "scopes", "students", NULL};
    const json_t *items = json_object_get(json_object_get(parameter, "schema"), "items");
    return json_object_get(items, "enum") ||
           strings_have(lists, json_get_string(parameter, "name", ""));
}

bool method_is_prose(const json_t *parameter) {
    const json_t *schema = json_object_get(parameter, "schema");
    return method_has_type(parameter, "string") &&
           json_get_integer(schema, "maxLength", 0) >= PROSE_LENGTH;
}

bool method_has_flag(const json_t *method, const char *flag) {
    return json_has_text(json_object_get(method, "x-flags"), flag);
}
