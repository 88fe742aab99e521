/* The help of one command, written from its operation's schema. */
#include "base/buf.h"
#include "base/find.h"
#include "clients/ctl/help.h"
#include "clients/ctl/method.h"
#include "clients/ctl/render.h"

#include <ctype.h>

#define OPTION_COLUMN 28 /* where what an option does begins */

/* "a|b|c" for a short list of choices, else NULL. Freed by the caller. */
static char *short_choices(const json_t *choices) {
    autobuf out = BUF_INIT(25);
    json_each(choices, i, one) {
        if (!json_is_string(one) ||
            buf_addf(&out, "%s%s", i ? "|" : "", json_string_value(one)) < 0) {
            return NULL;
        }
    }
    return out.len ? buf_detach(&out) : NULL;
}

/* What stands behind the option: "N", "user|project", "NAME=VALUE"; "" for a switch. In
 * brackets when the option may stand alone. Freed by the caller. */
static char *value_words(const json_t *parameter) {
    const json_t *schema = json_object_get(parameter, "schema");
    autofree char *choices = short_choices(json_object_get(schema, "enum"));
    const char *word =
        choices ? choices
        : method_has_type(parameter, "integer") || method_has_type(parameter, "number")
            ? "N"
        : method_has_type(parameter, "string") ? "VALUE"
        : method_has_type(parameter, "object") ? "NAME=VALUE"
                                               : "VALUE";
    if (!method_has_type(parameter, "boolean")) {
        return xasprintf(" %s", word);
    }
    bool only =
        !method_has_type(parameter, "integer") && !method_has_type(parameter, "object");
    return only ? xstrdup("") : xasprintf(" [%s]", word);
}

/* What the schema knows and its description does not say. */
static const char facts_words[] =
    "[{?required}required; ][one of {schema.enum/, /:{.}}; {?long}]"
    "[of {schema.items.enum/, /:{.}}; ][NAME: {members/, /:{@}}; ]"
    "[{?repeats}may be repeated; ]"
    "[{?ranged}{schema.minimum} to {schema.maximum}; ]"
    "[{?schema.default=true}on unless --no-{option}; |{?plain}default {schema.default}; ]";

/* "required; may be repeated; default 3", or "". */
static void add_facts(struct buf *out, const json_t *parameter) {
    const json_t *schema = json_object_get(parameter, "schema");
    const json_t *value = json_object_get(schema, "default");
    autofree char *shown = short_choices(json_object_get(schema, "enum"));
    autofree char *option = method_option_name(parameter);
    bool object = method_has_type(parameter, "object");
    autojson *told = json_copy((json_t *)(uintptr_t)parameter);
    autojson *more = json_pack(
        "{s:b,s:O*,s:b,s:b,s:b,s:s}", "long", !shown, "members",
        object ? method_members(parameter) : NULL, "repeats",
        method_has_type(parameter, "array") && !method_has_type(parameter, "integer"),
        "ranged",
        json_is_integer(json_object_get(schema, "minimum")) &&
            json_is_integer(json_object_get(schema, "maximum")),
        "plain", json_is_string(value) || json_is_integer(value), "option", option + 2);
    json_object_update(told, more);
    words_add(out, facts_words, told);
    if (out->len) {
        out->len -= strlen("; ");
        out->data[out->len] = '\0';
    }
}

/* A list's option in the singular where it is typed once for each: "--trace"; but "--paths"
 * beside "--path", and "--checks race,memory". */
static char *shown_name(const json_t *method, const json_t *parameter) {
    char *option = method_option_name(parameter);
    size_t len = strlen(option);
    bool list =
        method_has_type(parameter, "array") && !method_has_type(parameter, "integer");
    bool simple = option[len - 1] == 's' && option[len - 2] != 's' &&
                  strcmp(option + len - 4, "ches") != 0;
    if (list && simple && !method_takes_commas(parameter) &&
        method_parameter(method, option + 2, len - 3) == parameter) {
        option[len - 1] = '\0';
    }
    return option;
}

static void put_parameter(const struct terminal *t, const json_t *method,
                          const json_t *parameter) {
    autobuf facts = BUF_INIT(4096), text = BUF_INIT(16u << 10);
    autofree char *option = shown_name(method, parameter);
    autofree char *value = value_words(parameter);
    autofree char *flag = xasprintf("%s%s", option, value);
    add_facts(&facts, parameter);
    buf_adds(&text,
             json_get_string(json_object_get(parameter, "schema"), "description", ""));
    if (facts.len) {
        buf_addf(&text, "%s(%s)", text.len ? " " : "", facts.data);
    }
    terminal_entry(t, OPTION_COLUMN, flag, text.data);
}

/* What stands for the plain words: the same rules as in arguments.c. */
static const char *path_word(const json_t *method) {
    bool kernel = strncmp(json_get_string(method, "name", ""), "kernel/", 7) == 0;
    return kernel ? "FILE" : "NAME|FOLDER";
}

/* What a parameter that must be given stands as. */
static void add_required(struct buf *out, const json_t *parameter, bool path) {
    if (path) {
        autofree char *option = method_option_name(parameter);
        buf_addf(out, " %s VALUE", option);
        return;
    }
    buf_addc(out, ' ');
    for (const char *c = json_get_string(parameter, "name", ""); *c; c++) {
        buf_addc(out, (char)toupper((unsigned char)*c));
    }
    buf_adds(out, method_is_prose(parameter) ? "…" : "");
}

char *help_usage(const json_t *method) {
    struct buf out = BUF_INIT(4096);
    autofree char *command = method_command(method);
    bool path = method_parameter(method, "path", 4) != NULL;
    buf_addf(&out, "upskillctl %s%s%s", command, path ? " " : "",
             path ? path_word(method) : "");
    json_each(json_object_get(method, "params"), i, parameter) {
        if (json_is_true(json_object_get(parameter, "required")) ||
            json_says(parameter, "name", "task")) {
            add_required(&out, parameter, path);
        }
    }
    buf_adds(&out, " [options]");
    if (method_parameter(method, "paths", 5)) {
        buf_adds(&out, " [FILE…] [-- ARGUMENT…]");
    }
    return buf_detach(&out);
}

static void put_word(const char *word) {
    putchar(' ');
    render_word(word);
}

/* "tokens=9,minutes=5" */
static char *pairs_of(const json_t *object) {
    struct buf out = BUF_INIT(4096);
    json_each_member(object, key, value) {
        autofree char *text = json_is_string(value) ? xstrdup(json_string_value(value))
                                                    : json_shown(value, 0);
        buf_addf(&out, "%s%s=%s", out.len ? "," : "", key, text);
    }
    return buf_detach(&out);
}

/* An example's value as words of a command line; true needs no more than the option. */
static void put_value(const char *option, const json_t *value) {
    json_each(value, i, one) {
        put_value(option, one);
    }
    if (json_is_array(value)) {
        return;
    }
    if (*option) {
        put_word(option);
    }
    if (json_is_integer(value)) {
        printf(" %lld", json_integer_value(value));
    } else if (json_is_string(value)) {
        put_word(json_string_value(value));
    } else if (json_is_object(value)) {
        autofree char *pairs = pairs_of(value);
        put_word(pairs);
    }
}

static bool is_plain(const json_t *value) {
    return json_is_string(value) ? !strpbrk(json_string_value(value), "\n'")
                                 : json_is_integer(value) || json_is_boolean(value);
}

/* Whether a person would type it: a value, several, or NAME=VALUE. */
static bool is_typed(const json_t *value) {
    bool typed = !json_any(value, one, !is_plain(one));
    json_each_member(value, key, one) {
        typed &= is_plain(one);
    }
    return typed &&
           (is_plain(value) || json_array_size(value) || json_object_size(value));
}

/* The table's example as a person types it. A source stands in a file; what nobody types
 * stands in a file beside it, as a kernel's check spec does. */
static void put_example(const json_t *method) {
    const json_t *example = json_array_get(json_object_get(method, "examples"), 0);
    autofree char *command = method_command(method);
    bool path = method_parameter(method, "path", 4) != NULL;
    printf("\nexample: upskillctl %s", command);
    json_each(json_object_get(example, "params"), i, one) {
        const char *name = json_get_string(one, "name", "");
        const json_t *parameter = method_parameter(method, name, strlen(name));
        const json_t *value = json_object_get(one, "value");
        bool required = json_is_true(json_object_get(parameter, "required"));
        bool word = !strcmp(name, "path") || !strcmp(name, "task") || (required && !path);
        autofree char *option = shown_name(method, parameter);
        if (path && strcmp(name, "source") == 0) {
            put_word("kernel.cu");
        } else if (is_typed(value)) {
            put_value(word ? "" : option, value);
        }
    }
    putchar('\n');
}

void help_method(const struct terminal *t, const json_t *method) {
    autofree char *usage = help_usage(method);
    printf("usage: %s\n\n", usage);
    terminal_put_wrapped(t, STYLE_PLAIN, json_get_string(method, "description", ""), 0,
                         0);
    puts("\noptions:");
    json_each(json_object_get(method, "params"), i, parameter) {
        put_parameter(t, method, parameter);
    }
    if (method_parameter(method, "skill", 5) && method_parameter(method, "traces", 6)) {
        terminal_entry(t, OPTION_COLUMN, "--from PATH", "A folder: the skill to improve. A file: a trace.");
    }
    terminal_entry(t, OPTION_COLUMN, "--json", "the raw result");
    put_example(method);
}
