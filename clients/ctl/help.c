#include "clients/ctl/help.h"

#include "base/buf.h"
#include "base/edit_distance.h"
#include "clients/ctl/method.h"

#include <ctype.h>

#define COMMAND_COLUMN 22 /* where what a command does begins */
#define HINT_MAX 4096

struct own_command {
    const char *name, *usage, *summary, *example;
};
struct own_option {
    const char *name, *summary;
};
#include "clients/ctl/own_commands.h"

static void put_method(const struct terminal *t, const json_t *method) {
    autofree char *command = method_command(method);
    terminal_entry(t, COMMAND_COLUMN, command,
                   json_get_string(method, "description", ""));
}

void help_all(const struct terminal *t, const json_t *discover) {
    puts("usage: upskillctl COMMAND [options]\n\ncommands:");
    json_each(json_object_get(discover, "methods"), i, method) {
        put_method(t, method);
    }
    for (size_t i = 0; own_commands[i].name; i++) {
        terminal_entry(t, COMMAND_COLUMN, own_commands[i].name, own_commands[i].summary);
    }
    puts("\noptions, anywhere:");
    for (const struct own_option *o = own_options; o->name; o++) {
        terminal_entry(t, COMMAND_COLUMN, o->name, o->summary);
    }
    putchar('\n');
    terminal_put_wrapped(
        t, STYLE_PLAIN,
        "Exit status: 0 success, 1 the answer is no, 2 there is no answer.", 0, 0);
}

/* --- groups, and the client's own --- */

static bool is_in_group(const json_t *method, const char *group) {
    const char *name = json_get_string(method, "name", "");
    size_t len = strlen(group);
    return strncmp(name, group, len) == 0 && name[len] == '/';
}

static bool help_group(const struct terminal *t, const json_t *discover,
                       const char *group) {
    bool any = false;
    json_each(json_object_get(discover, "methods"), i, method) {
        if (is_in_group(method, group)) {
            if (!any) {
                printf("usage: upskillctl %s COMMAND [options]\n\ncommands:\n", group);
            }
            any = true;
            put_method(t, method);
        }
    }
    if (any) {
        printf("\nupskillctl help %s COMMAND shows a command's options.\n", group);
    }
    return any;
}

const char *help_own_usage(size_t number) {
    return number < ARRAY_LEN(own_commands) ? own_commands[number].usage : NULL;
}

static bool help_own(const struct terminal *t, const char *word) {
    for (size_t i = 0; own_commands[i].name; i++) {
        const struct own_command *own = &own_commands[i];
        if (strncmp(own->name, word, strlen(word)) == 0 &&
            strchr(" ,", own->name[strlen(word)])) {
            printf("usage: upskillctl %s\n\n", own->usage);
            terminal_put_wrapped(t, STYLE_PLAIN, own->summary, 0, 0);
            printf("\nexample: upskillctl %s\n", own->example);
            return true;
        }
    }
    return false;
}

bool help_words(const struct terminal *t, const json_t *discover, const char **words,
                int count) {
    int used = 0;
    const json_t *method = method_find(discover, words, count, &used);
    if (method) {
        help_method(t, method);
        return true;
    }
    return count && *words[0] &&
           ((count == 1 && help_group(t, discover, words[0])) || help_own(t, words[0]));
}

/* --- what was meant --- */

/* "check" alone: the first command of that name in any group. */
static char *with_group(const json_t *discover, const char *verb) {
    json_each(json_object_get(discover, "methods"), i, method) {
        const char *slash = strchr(json_get_string(method, "name", ""), '/');
        if (slash && strcmp(slash + 1, verb) == 0) {
            return method_command(method);
        }
    }
    return NULL;
}

/* Where the word begins in a text, or far away. */
static size_t place_of(const char *text, const char *word) {
    size_t len = strlen(word);
    for (const char *at = text; (at = strcasestr(at, word)); at++) {
        bool begins = at == text || !isalnum((unsigned char)at[-1]);
        if (begins && !isalnum((unsigned char)at[len])) {
            return (size_t)(at - text);
        }
    }
    return SIZE_MAX;
}

/* "skill remove": the command of the group whose description says so first. */
static char *with_description(const json_t *discover, const char *group, const char *verb) {
    const json_t *best = NULL;
    size_t first = SIZE_MAX, len = strlen(group);
    json_each(json_object_get(discover, "methods"), i, method) {
        const char *name = json_get_string(method, "name", "");
        size_t at = place_of(json_get_string(method, "description", ""), verb);
        if (strncmp(name, group, len) == 0 && name[len] == '/' && at < first) {
            first = at;
            best = method;
        }
    }
    return best ? method_command(best) : NULL;
}

/* Those that stand without a command. */
static const char *const options[] = {"--json", "--help", "--version"};

char *help_meant(const json_t *discover, const char **words, int count) {
    autofree char *said =
        xasprintf("%s%s%s", words[0], count > 1 ? " " : "", count > 1 ? words[1] : "");
    struct nearest_name near = {.said = said, .limit = 3},
                        one = {.said = words[0], .limit = 2};
    autojson *names = json_array(), *groups = json_array();
    json_each(json_object_get(discover, "methods"), i, method) {
        autofree char *command = method_command(method);
        json_array_append_new(names, json_string(command));
        command[strcspn(command, " ")] = '\0'; /* its group */
        json_array_append_new(groups, json_string(command));
    }
    json_each(names, i, method) {
        nearest_name_try(&near, json_string_value(method));
    }
    char *told = count > 1 && !near.best ? with_description(discover, words[0], words[1]) : NULL;
    if (told) {
        return told;
    }
    json_each(groups, i, method) {
        nearest_name_try(&one, json_string_value(method));
    }
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        nearest_name_try(&one, options[i]);
    }
    for (size_t i = 0; own_commands[i].name; i++) {
        nearest_name_try(&one, own_commands[i].name);
    }
    const char *best = near.best ? near.best : one.best;
    return best ? xstrdup(best) : with_group(discover, words[0]);
}

/* --- hints --- */

/* The method whose name, or whose tool's name, begins here and ends here. */
static const json_t *named_at(const json_t *discover, const char *at, size_t *len) {
    *len = strspn(at, "abcdefghijklmnopqrstuvwxyz_/.");
    while (*len && at[*len - 1] == '.') {
        (*len)--;
    }
    json_each(json_object_get(discover, "methods"), i, method) {
        const char *name = json_get_string(method, "name", "");
        const char *tool = json_get_string(method, "x-tool", "");
        if ((strlen(name) == *len && strncmp(at, name, *len) == 0) ||
            (strlen(tool) == *len && strncmp(at, tool, *len) == 0)) {
            return method;
        }
    }
    return NULL;
}

/* The parameter that stands in backquotes here, and the length with them. */
static const json_t *parameter_at(const json_t *method, const char *at, size_t *len) {
    size_t size = strspn(at + 1, "abcdefghijklmnopqrstuvwxyz_");
    bool quoted = size && at[1 + size] == '`';
    *len = quoted ? size + 2 : 1;
    return quoted && method ? method_parameter(method, at + 1, size) : NULL;
}

/* "trials: must be at least 1": the parameter that a message begins with. */
static const json_t *parameter_first(const json_t *method, const char *text,
                                     size_t *len) {
    *len = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    const json_t *found = method && strncmp(text + *len, ": ", 2) == 0
                              ? method_parameter(method, text, *len)
                              : NULL;
    *len = found ? *len : 0;
    return found;
}

/* A program's own arguments are no option's value here. */
static char *option_said(const json_t *asked, const json_t *parameter) {
    bool words = json_says(parameter, "name", "args") && method_takes_words(asked);
    return words ? xstrdup("words after --") : method_option_name(parameter);
}

char *help_hint(const json_t *discover, const json_t *asked, const char *hint) {
    autobuf out = BUF_INIT(HINT_MAX);
    for (const char *at = hint; *at;) {
        size_t len = 0;
        const json_t *method =
            islower((unsigned char)*at) ? named_at(discover, at, &len) : NULL;
        const json_t *parameter = *at == '`' ? parameter_at(asked, at, &len) : NULL;
        if (at == hint && !discover) {
            parameter = parameter_first(asked, at, &len);
        }
        autofree char *command = method ? method_command(method) : NULL;
        autofree char *option = parameter ? option_said(asked, parameter) : NULL;
        len = len ? len : 1;
        if (command) {
            buf_addf(&out, "upskillctl %s", command);
        } else if (option) {
            buf_adds(&out, option);
        } else {
            buf_add(&out, at, len);
        }
        at += len;
    }
    return buf_detach(&out);
}

void help_hints(const json_t *discover, const json_t *asked, json_t *value) {
    json_each(value, i, member) {
        help_hints(discover, asked, member);
    }
    json_each_member(value, key, member) {
        bool hint = strcmp(key, "hint") == 0 || strcmp(key, "why") == 0;
        bool shown = hint || strcmp(key, "reason") == 0 || strcmp(key, "summary") == 0;
        if (json_is_string(member) && shown) {
            autofree char *said =
                help_hint(hint ? discover : NULL, asked, json_string_value(member));
            json_string_set(member, said);
        } else {
            help_hints(discover, asked, member);
        }
    }
}
