#include "clients/ctl/completion.h"

#include "base/buf.h"
#include "clients/ctl/agent_config.h"
#include "clients/ctl/explain.h"
#include "clients/ctl/help.h"
#include "clients/ctl/method.h"

/* Every script says: behind these two words and this option (or this word) these values,
 * behind these two words these options, else these words. */
static const struct shell {
    const char *name, *head;
    const char *option, *values, *ended;  /* of one option: its command, itself, values */
    const char *before, *between, *after; /* of one command: its words, its options */
    const char *otherwise, *tail;
} shells[] = {
    {"bash",
     "_upskillctl() {\n"
     "    local now=\"${COMP_WORDS[COMP_CWORD]}\" "
     "before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
     "    [ \"$before\" = = ] && before=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
     "    [ \"$now\" = = ] && now=\n"
     "    COMPREPLY=()\n"
     "    case \"${COMP_WORDS[*]:1:2} $before\" in\n",
     "'*' ", "') COMPREPLY=($(compgen -W '", "' -- \"$now\"));;\n", "    '",
     "'*) COMPREPLY=($(compgen -f -W '", "' -- \"$now\"));;\n",
     "    *upskillctl | *' help') COMPREPLY=($(compgen -W '",
     "' -- \"$now\"));;\n    esac\n}\ncomplete -o default -o filenames -F _upskillctl "
     "upskillctl\n"},
    {"zsh",
     "#compdef upskillctl\n_upskillctl() {\n"
     "    case \"${words[2]} ${words[3]} ${words[CURRENT-1]}\" in\n",
     "'*' ", "') compadd -- ", ";;\n", "    '", "'*) compadd -- ", "; _files;;\n",
     "    *upskillctl|*' help') compadd -- ",
     ";;\n    *) _files;;\n    esac\n}\ncompdef _upskillctl upskillctl\n"},
    {"fish",
     "function __upskillctl\n    set -l said (commandline -opc)\n"
     "    switch \"$said[2..3] $said[-1]\"\n",
     "* ", "'\n            printf '%s\\n' ", "\n", "        case '",
     "*'\n            printf '%s\\n' ",
     "\n            __fish_complete_path (commandline -ct)\n",
     "        case '*upskillctl' '* help'\n            printf '%s\\n' ",
     "\n        case '*'\n            __fish_complete_path (commandline -ct)\n"
     "    end\nend\ncomplete -c upskillctl -f -a '(__upskillctl)'\n"},
};

/* Of every command, as main.c reads them. */
static const char *const own_options[][2] = {
    {"--output-format", "text json sarif github junit"},
    {"--log", "error warning info debug"},
};

static void put_values(const struct shell *shell, const char *command, const char *option,
                       const char *values) {
    printf("%s%s%s%s%s%s%s", shell->before, command, shell->option, option, shell->values,
           values, shell->ended);
}

/* What the schema lets an option be, or one of a list's items; "" for no fixed set. */
static void add_values(struct buf *out, const json_t *schema) {
    json_each(json_object_get(schema, "enum"), i, value) {
        if (json_is_string(value)) {
            buf_addf(out, "%s%s", out->len ? " " : "", json_string_value(value));
        }
    }
    json_each(json_object_get(schema, "anyOf"), i, form) {
        add_values(out, form);
    }
    if (json_object_get(schema, "items")) {
        add_values(out, json_object_get(schema, "items"));
    }
}

static void put_option_values(const struct shell *shell, const char *command,
                              const json_t *method) {
    json_each(json_object_get(method, "params"), i, parameter) {
        autofree char *option = method_option_name(parameter);
        autobuf values = BUF_INIT(4096);
        add_values(&values, json_object_get(parameter, "schema"));
        if (values.len) {
            put_values(shell, command, option, values.data);
        }
    }
}

static void put_command(const struct shell *shell, const json_t *method) {
    autofree char *command = method_command(method);
    put_option_values(shell, command, method);
    printf("%s%s%s--json --output-format --fix --watch --help", shell->before, command,
           shell->between);
    json_each(json_object_get(method, "params"), i, parameter) {
        autofree char *option = method_option_name(parameter);
        printf(" %s", option);
    }
    fputs(shell->after, stdout);
}

/* "kernel" of "kernel check". */
static char *group_of(const json_t *method) {
    autofree char *command = method_command(method);
    return xstrndup(command, strcspn(command, " "));
}

/* The commands of each group, which need not stand together: {"kernel": "check run"}. */
static json_t *groups_of(const json_t *methods) {
    json_t *groups = json_object();
    json_each(methods, i, method) {
        autofree char *group = group_of(method), *command = method_command(method);
        const char *before = json_get_string(groups, group, NULL);
        const char *own = command + strlen(group);
        json_object_set_new(groups, group,
                            json_sprintf("%s%s%s", before ? before : "",
                                         before ? " " : "", own + (*own == ' ')));
    }
    return groups;
}

/* Behind a group its commands. */
static void put_groups(const struct shell *shell, const json_t *groups) {
    json_each_member(groups, group, commands) {
        put_values(shell, "", group, json_string_value(commands));
    }
}

/* The first words: the client's own ("generate|eval|list …" are three), and groups. */
static void put_first_words(const struct shell *shell, const json_t *groups) {
    fputs(shell->otherwise, stdout);
    for (size_t i = 0; help_own_usage(i); i++) {
        for (const char *c = help_own_usage(i); *c && *c != ' '; c++) {
            putchar(*c == '|' ? ' ' : *c);
        }
        putchar(' ');
    }
    fputs("help", stdout);
    json_each_member(groups, group, commands) {
        (void)commands;
        printf(" %s", group);
    }
    fputs(shell->tail, stdout);
}

static void put_own(const struct shell *shell) {
    autobuf codes = BUF_INIT(16384);
    autojson *all = explain_codes();
    json_each(all, i, code) {
        buf_addf(&codes, "%s%s", i ? " " : "", json_string_value(code));
    }
    put_values(shell, "", "explain", codes.data);
    put_values(shell, "", "worker", "check pack");
    put_values(shell, "", "completion", "bash zsh fish");
    for (size_t i = 0; i < ARRAY_LEN(own_options); i++) {
        put_values(shell, "", own_options[i][0], own_options[i][1]);
    }
    printf("%ssetup%sprograms --print --remove --scope --yes", shell->before,
           shell->between);
    for (const struct agent_config *a = agent_configs; a->name; a++) {
        printf(" %s", a->name);
    }
    fputs(shell->after, stdout);
}

static void put_script(const struct shell *shell, const json_t *discover) {
    const json_t *methods = json_object_get(discover, "methods");
    autojson *groups = groups_of(methods);
    fputs(shell->head, stdout);
    put_own(shell);
    json_each(methods, i, method) {
        put_command(shell, method);
    }
    put_groups(shell, groups);
    put_first_words(shell, groups);
}

int completion_print(const json_t *discover, const char *shell) {
    for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
        if (strcmp(shells[i].name, shell ? shell : "bash") == 0) {
            put_script(&shells[i], discover);
            return 0;
        }
    }
    return -EINVAL;
}
