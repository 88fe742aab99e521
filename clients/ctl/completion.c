#include "clients/ctl/completion.h"

#include "base/buf.h"
#include "base/mem.h"
#include "clients/ctl/method.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Every script says: behind these two words and this option these values, behind these
 * two words these options, else these words. */
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
     "    case \"${COMP_WORDS[*]:1:2} $before\" in\n",
     "'*' ", "') COMPREPLY=($(compgen -W '", "' -- \"$now\"));;\n", "    '",
     "'*) COMPREPLY=($(compgen -f -W '", "' -- \"$now\"));;\n",
     "    *) COMPREPLY=($(compgen -W '",
     "' -- \"$now\"));;\n    esac\n}\ncomplete -o default -F _upskillctl upskillctl\n"},
    {"zsh",
     "#compdef upskillctl\n_upskillctl() {\n"
     "    case \"${words[2]} ${words[3]} ${words[CURRENT-1]}\" in\n",
     "'*' ", "') compadd -- ", ";;\n", "    '", "'*) compadd -- ", "; _files;;\n",
     "    *) compadd -- ", "; _files;;\n    esac\n}\ncompdef _upskillctl upskillctl\n"},
    {"fish",
     "function __upskillctl\n    set -l said (commandline -opc)\n"
     "    switch \"$said[2..3] $said[-1]\"\n",
     "* ", "'\n            printf '%s\\n' ", "\n", "        case '",
     "*'\n            printf '%s\\n' ", "\n",
     "        case '*'\n            printf '%s\\n' ",
     "\n    end\nend\ncomplete -c upskillctl -a '(__upskillctl)'\n"},
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

static void put_script(const struct shell *shell, const json_t *discover) {
    const json_t *methods = json_object_get(discover, "methods");
    fputs(shell->head, stdout);
    for (size_t i = 0; i < ARRAY_LEN(own_options); i++) {
        put_values(shell, "", own_options[i][0], own_options[i][1]);
    }
    json_each(methods, i, method) {
        put_command(shell, method);
    }
    fputs(shell->otherwise, stdout);
    fputs("status jobs runs setup worker pack check explain call shell completion help",
          stdout);
    json_each(methods, i, method) {
        autofree char *command = method_command(method);
        printf(" %s", command);
    }
    fputs(shell->tail, stdout);
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
