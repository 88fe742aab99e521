/* upskillctl: a person's client. Starts a daemon, asks it, and draws the answer. */
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "clients/ctl/arguments.h"
#include "clients/ctl/asker.h"
#include "clients/ctl/completion.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/explain.h"
#include "clients/ctl/help.h"
#include "clients/ctl/hook.h"
#include "clients/ctl/live_progress.h"
#include "clients/ctl/method.h"
#include "clients/ctl/paths.h"
#include "clients/ctl/setup.h"
#include "clients/ctl/shell.h"
#include "clients/ctl/worker_commands.h"

#include <signal.h>

#define DAEMON_ARGS_MAX 60

struct ctl {
    struct asker asker;
    bool help;
    const char *daemon_args[DAEMON_ARGS_MAX + 1];
    int daemon_count;
    char *granted[DAEMON_ARGS_MAX + 1]; /* folders among daemon_args that are ours to free */
    int granted_count;
    json_t *followed; /* words instead of those that were said */
    bool keep_stderr;
};

static void daemon_arg(struct ctl *c, const char *flag, const char *value) {
    if (c->daemon_count + 2 <= DAEMON_ARGS_MAX) {
        c->daemon_args[c->daemon_count++] = flag;
        c->daemon_args[c->daemon_count++] = value;
    }
}

static void grant(struct ctl *c, const char *word) {
    autofree char *root = paths_granted(word);
    for (int i = 0; root && i < c->granted_count; i++) {
        if (strcmp(c->granted[i], root) == 0) {
            return;
        }
    }
    if (root && c->granted_count < DAEMON_ARGS_MAX) {
        c->granted[c->granted_count] = take(root);
        daemon_arg(c, "--root", c->granted[c->granted_count++]);
    }
}

/* Of kernels: a skill is installed as the link that it is. */
static const char *followed(struct ctl *c, const char *word) {
    bool kernel = c->asker.count && strcmp(c->asker.words[0], "kernel") == 0;
    autofree char *path = kernel ? paths_followed(word) : NULL;
    if (!path) {
        return word;
    }
    json_array_append_new(c->followed, json_string(path));
    return json_string_value(json_array_get(c->followed, json_array_size(c->followed) - 1));
}

/* Behind "--" there are no options: another program's words (which it shall not be told
 * as ours), or ours that only look like options. */
static void take_rest(struct ctl *c, char **rest, int count) {
    bool program = c->asker.count && strcmp(c->asker.words[0], "worker") == 0;
    for (int i = program; i < count; i++) {
        if (!program && i) {
            grant(c, rest[i]);
        }
        c->asker.words[c->asker.count++] = rest[i];
    }
}

static int split_words(struct ctl *c, int argc, char **argv) {
    c->asker.words = xcalloc((size_t)argc + 1, sizeof *c->asker.words);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            take_rest(c, argv + i, argc - i);
            break;
        }
        if (strcmp(argv[i], "--json") == 0) {
            c->asker.json = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            c->help = true;
        } else if (strcmp(argv[i], "--fix") == 0) {
            c->asker.fix = true;
        } else if (strcmp(argv[i], "--watch") == 0) {
            c->asker.watch = true;
        } else if (strcmp(argv[i], "--output-format") == 0) {
            autofree char *wrong = report_format_read(argv[++i], &c->asker.format);
            if (wrong) {
                return asker_wrong_usage(&c->asker, wrong);
            }
            c->asker.json = c->asker.json || strcmp(argv[i], "json") == 0;
        } else if (strcmp(argv[i], "--version") == 0) {
            puts("upskillctl " UPSKILLD_VERSION);
            return 0;
        } else if (strcmp(argv[i], "--log") == 0) {
            enum log_level level;
            if (++i == argc || log_level_parse(argv[i], &level) < 0) {
                return asker_wrong_usage(&c->asker,
                                         "--log: error, warning, info or debug");
            }
            daemon_arg(c, "--log-level", argv[i]);
            c->keep_stderr = true;
        } else {
            grant(c, argv[i]);
            const char *word = followed(c, argv[i]);
            c->asker.words[c->asker.count++] = word;
        }
    }
    if (c->asker.json && c->asker.format) {
        return asker_wrong_usage(&c->asker,
                                 "--json and --output-format ask for different answers");
    }
    return -1;
}

/* --- commands --- */

static int command_call(struct ctl *c) {
    json_error_t error;
    json_t *params = NULL;
    if (c->asker.count < 2 || c->asker.count > 3) {
        return asker_wrong_usage(&c->asker, "call METHOD [JSON]");
    }
    if (c->asker.count == 3) {
        params = strcmp(c->asker.words[2], "-") == 0
                     ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &error)
                     : json_loads(c->asker.words[2], JSON_REJECT_DUPLICATES, &error);
        if (!params) {
            terminal_error(&c->asker.terminal, "the params are not JSON: %s (column %d)",
                           error.text, error.column);
            return 2;
        }
    }
    c->asker.json = true;
    return asker_show(&c->asker, c->asker.words[1], params);
}

static int no_such_command(const struct ctl *c) {
    autofree char *meant = help_meant(c->asker.discover, c->asker.words, c->asker.count);
    autofree char *hint =
        meant ? xasprintf("did you mean upskillctl %s? upskillctl --help lists them all",
                          meant)
              : xstrdup("upskillctl --help lists the commands");
    terminal_error(&c->asker.terminal, "there is no command \"%s%s%s\"",
                   c->asker.words[0], c->asker.count > 1 ? " " : "",
                   c->asker.count > 1 ? c->asker.words[1] : "");
    terminal_hint(&c->asker.terminal, hint);
    return 2;
}

/* A person waits for what takes long; others get a job's id. */
static void wait_for_long(const json_t *method, json_t *params) {
    if (method_has_flag(method, "long")) {
        json_object_set_new(params, "wait", json_true());
    }
}

/* The daemon of a person's status has just begun and knows no skills: one question has
 * them looked for. What goes wrong then, its status says. */
static void look_for_skills(struct ctl *c) {
    struct err err = {0};
    json_t *skills = NULL, *error = NULL;
    (void)connection_call(c->asker.connection, "skill/list", NULL, &skills, &error, &err);
    json_decref(skills);
    json_decref(error);
}

static int command_operation(struct ctl *c) {
    int used = 0;
    struct err err = {0};
    json_t *params, *paths;
    const json_t *method =
        method_find(c->asker.discover, c->asker.words, c->asker.count, &used);
    if (!method) {
        /* "skill" alone is a question what there is, as no word at all is. */
        bool told = c->asker.count == 1 &&
                    help_words(&c->asker.terminal, c->asker.discover, c->asker.words, 1);
        return told ? 2 : no_such_command(c);
    }
    c->asker.command = method_command(method);
    c->asker.method = method;
    c->asker.said = c->asker.count > used;
    if (arguments_read(method, c->asker.words + used, c->asker.count - used, &params,
                       &paths, &err) < 0) {
        return asker_wrong_usage(&c->asker, err.msg);
    }
    wait_for_long(method, params);
    if (strcmp(c->asker.command, "daemon status") == 0) {
        look_for_skills(c);
    }
    return asker_show_paths(&c->asker, json_get_string(method, "name", ""), params,
                            paths);
}

static int command_help(const struct ctl *c) {
    if (!c->asker.count) {
        help_all(&c->asker.terminal, c->asker.discover);
        return 0;
    }
    return help_words(&c->asker.terminal, c->asker.discover, c->asker.words,
                      c->asker.count)
               ? 0
               : no_such_command(c);
}

/* "help kernel check" is "kernel check --help". */
static void take_help(struct ctl *c) {
    if (c->asker.count && strcmp(c->asker.words[0], "help") == 0) {
        c->help = true;
        memmove(c->asker.words, c->asker.words + 1,
                (size_t)(c->asker.count - 1) * sizeof *c->asker.words);
        c->asker.count--;
    }
}

static int run_connected(struct ctl *c) {
    int status = asker_ask(&c->asker, "rpc.discover", NULL, &c->asker.discover);
    if (status) {
        return status;
    }
    if (c->asker.count && strcmp(c->asker.words[0], "call") == 0 && !c->help) {
        return command_call(c);
    }
    if (c->help) {
        return command_help(c);
    }
    if (!c->asker.count) {
        help_all(&c->asker.terminal, c->asker.discover);
        return 2;
    }
    if (strcmp(c->asker.words[0], "completion") == 0) {
        const char *shell = c->asker.count > 1 ? c->asker.words[1] : NULL;
        return completion_print(c->asker.discover, shell) == 0
                   ? 0
                   : asker_wrong_usage(&c->asker, "completion: bash, zsh or fish");
    }
    return command_operation(c);
}

static void on_progress(const json_t *params, double elapsed, void *data) {
    const struct ctl *c = data;
    live_progress_update(c->asker.progress, params, elapsed);
}

static void on_interrupted(void *data) {
    const struct ctl *c = data;
    live_progress_stopping(c->asker.progress);
}

static int run_daemon(struct ctl *c) {
    struct err err = {0};
    struct connection_options options = {
        .daemon_args = c->daemon_args,
        .keep_stderr = c->keep_stderr,
        .progress = on_progress,
        .interrupted = on_interrupted,
        .data = c,
    };
    if (connection_open(&options, &c->asker.connection, &err) < 0) {
        terminal_error(&c->asker.terminal, "%s", err.msg);
        terminal_hint(&c->asker.terminal, "run ./setup, or name the daemon in UPSKILLD");
        return 2;
    }
    c->asker.roots = (const char *const *)c->granted;
    c->asker.progress = live_progress_new(&c->asker.terminal, !c->keep_stderr);
    int status = run_connected(c);
    connection_close(c->asker.connection);
    live_progress_free(c->asker.progress);
    return status;
}

static int run_worker(const struct ctl *c) {
    struct worker_command command = {
        .terminal = &c->asker.terminal,
        .words = c->asker.words + 1,
        .count = c->asker.count - 1,
        .json = c->asker.json,
        .help = c->help,
        .daemon_args = c->daemon_args,
        .keep_stderr = c->keep_stderr,
    };
    return worker_command_run(&command);
}

/* For an agent's hook: the errors of the file that it has just edited. What compiles, and
 * what can't be checked, is no news to it. */
static int run_hook(struct ctl *c) {
    struct err err = {0};
    autofree char *path = NULL;
    int output, status = 0;
    if (hook_read(&path, &err) || (path && hook_keep_output(&output, &err))) {
        terminal_error(&c->asker.terminal, "%s", err.msg);
        return 2;
    }
    if (!path) {
        return 0;
    }
    const char *words[] = {"kernel", "check", path};
    grant(c, path);
    free((void *)c->asker.words);
    c->asker.words = xcalloc(ARRAY_LEN(words) + 1, sizeof *words);
    memcpy(c->asker.words, words, sizeof words);
    c->asker.count = ARRAY_LEN(words);
    status = run_daemon(c);
    return hook_answer(output, status == 1, &err) ? 2 : status == 1 ? 0 : status;
}

static void finish(struct ctl *c) {
    for (int i = 0; i < c->granted_count; i++) {
        free(c->granted[i]);
    }
    free((void *)c->asker.words);
    json_decref(c->followed);
    json_decref(c->asker.discover);
    free(c->asker.command);
    free(c->asker.error);
}

int main(int argc, char **argv) {
    struct ctl c = {.followed = json_array()};
    signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of what is written */
    if (file_open_standard() < 0) {
        return 2; /* not even /dev/null: there is nobody to tell */
    }
    terminal_init(&c.asker.terminal);
    int status = split_words(&c, argc, argv);
    if (status < 0) {
        take_help(&c);
        c.asker.words = alias_expand(c.asker.words, &c.asker.count);
        bool shell =
            c.asker.count == 1 && strcmp(c.asker.words[0], "shell") == 0 && !c.help;
        bool worker = c.asker.count && strcmp(c.asker.words[0], "worker") == 0;
        bool setup = c.asker.count && strcmp(c.asker.words[0], "setup") == 0;
        bool explain =
            c.asker.count && strcmp(c.asker.words[0], "explain") == 0 && !c.help;
        bool hook =
            c.asker.count == 1 && strcmp(c.asker.words[0], "hook") == 0 && !c.help;
        status = worker    ? run_worker(&c)
                 : hook    ? run_hook(&c)
                 : explain ? explain_run(&c.asker.terminal,
                                         c.asker.count > 1 ? c.asker.words[1] : NULL,
                                         c.asker.json)
                 : setup   ? setup_run(&c.asker.terminal, c.asker.words + 1,
                                       c.asker.count - 1, c.help)
                 : shell   ? shell_run(&c.asker.terminal, c.daemon_args)
                           : run_daemon(&c);
    }
    if (connection_interrupted() && !c.asker.watch) {
        status = EXIT_INTERRUPTED;
    }
    finish(&c);
    return terminal_lost_output(&c.asker.terminal, status);
}
