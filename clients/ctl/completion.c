#include "clients/ctl/completion.h"

#include "base/mem.h"
#include "clients/ctl/method.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Every script says: behind these two words these options, else these words. */
static const struct shell {
    const char *name, *head;
    const char *before, *between, *after; /* one command: its words, its options */
    const char *otherwise, *tail;
} shells[] = {
    {"bash",
     "_upskillctl() {\n"
     "    local words=\"${COMP_WORDS[*]:1:2}\" now=\"${COMP_WORDS[COMP_CWORD]}\"\n"
     "    case \"$words\" in\n",
     "    '", "'*) COMPREPLY=($(compgen -f -W '", "' -- \"$now\"));;\n",
     "    *) COMPREPLY=($(compgen -W '",
     "' -- \"$now\"));;\n    esac\n}\ncomplete -o default -F _upskillctl upskillctl\n"},
    {"zsh",
     "#compdef upskillctl\n_upskillctl() {\n    case \"${words[2]} ${words[3]}\" in\n",
     "    '", "'*) compadd -- ", "; _files;;\n", "    *) compadd -- ",
     "; _files;;\n    esac\n}\ncompdef _upskillctl upskillctl\n"},
    {"fish",
     "function __upskillctl\n    set -l said (commandline -opc)[2..3]\n"
     "    switch \"$said\"\n",
     "        case '", "*'\n            printf '%s\\n' ", "\n",
     "        case '*'\n            printf '%s\\n' ",
     "\n    end\nend\ncomplete -c upskillctl -a '(__upskillctl)'\n"},
};

static void put_command(const struct shell *shell, const json_t *method) {
    autofree char *command = method_command(method);
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
