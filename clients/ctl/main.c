/* upskillctl: a person's client. Starts a daemon, asks it, and draws the answer. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "clients/ctl/arguments.h"
#include "clients/ctl/completion.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/explain.h"
#include "clients/ctl/fixes.h"
#include "clients/ctl/help.h"
#include "clients/ctl/live_progress.h"
#include "clients/ctl/method.h"
#include "clients/ctl/paths.h"
#include "clients/ctl/render.h"
#include "clients/ctl/report.h"
#include "clients/ctl/setup.h"
#include "clients/ctl/shell.h"
#include "clients/ctl/terminal.h"
#include "clients/ctl/watch.h"
#include "clients/ctl/worker_commands.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAEMON_ARGS_MAX 60
#define INVALID_PARAMS (-32602) /* JSON-RPC 2.0 */
#define EXIT_INTERRUPTED 130    /* as shells have it: 128 + SIGINT */

struct ctl {
    struct terminal terminal;
    bool json, help, fix, watch;
    enum report_format format;
    struct report *report; /* NULL: answers are shown one by one */
    char *error;           /* what the daemon refused last with */
    const char **words; /* the command line without the options that may stand anywhere */
    int count;
    const char *daemon_args[DAEMON_ARGS_MAX + 1];
    int daemon_count;
    char *granted[DAEMON_ARGS_MAX]; /* folders among daemon_args that are ours to free */
    int granted_count;
    bool keep_stderr;
    struct connection *connection;
    struct live_progress *progress;
    json_t *discover;     /* the daemon's table; NULL before it was asked for */
    char *command;        /* "kernel check", for hints; NULL before it is known */
    const json_t *method; /* likewise, in discover */
    bool said;            /* words behind the command */
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

static int usage_error(const struct ctl *c, const char *text) {
    autofree char *hint =
        c->command ? xasprintf("upskillctl help %s tells its options", c->command)
                   : xstrdup("upskillctl --help");
    terminal_error(&c->terminal, "%s", text);
    terminal_hint(&c->terminal, hint);
    return 2;
}

/* Where nothing was said, the parameter that the daemon missed is one of several that
 * would do. */
static int missing_error(const struct ctl *c, const char *message) {
    autofree char *usage = help_usage(c->method);
    autofree char *hint =
        xasprintf("%s; upskillctl help %s lists the options", usage, c->command);
    /* "upskillctl skill find TASK…": what it takes is in capitals */
    const char *word = usage + strcspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    autofree char *missing =
        xasprintf("%.*s is missing", (int)strcspn(word, " \xE2"), word);
    terminal_error(&c->terminal, "%s", c->said || !*word ? message : missing);
    terminal_hint(&c->terminal, hint);
    return 2;
}

/* Behind "--" there are no options: another program's words (which it shall not be told
 * as ours), or ours that only look like options. */
static void take_rest(struct ctl *c, char **rest, int count) {
    bool program = c->count && strcmp(c->words[0], "worker") == 0;
    for (int i = program; i < count; i++) {
        if (!program && i) {
            grant(c, rest[i]);
        }
        c->words[c->count++] = rest[i];
    }
}

static int split_words(struct ctl *c, int argc, char **argv) {
    c->words = xcalloc((size_t)argc + 1, sizeof *c->words);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            take_rest(c, argv + i, argc - i);
            break;
        }
        if (strcmp(argv[i], "--json") == 0) {
            c->json = true;
        } else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            c->help = true;
        } else if (strcmp(argv[i], "--fix") == 0) {
            c->fix = true;
        } else if (strcmp(argv[i], "--watch") == 0) {
            c->watch = true;
        } else if (strcmp(argv[i], "--output-format") == 0) {
            if (++i == argc || !report_format_read(argv[i], &c->format)) {
                return usage_error(c,
                                   "--output-format: text, json, sarif, github or junit");
            }
            c->json = c->json || strcmp(argv[i], "json") == 0;
        } else if (strcmp(argv[i], "--version") == 0) {
            puts("upskillctl " UPSKILLD_VERSION);
            return 0;
        } else if (strcmp(argv[i], "--log") == 0) {
            enum log_level level;
            if (++i == argc || log_level_parse(argv[i], &level) < 0) {
                return usage_error(c, "--log: error, warning, info or debug");
            }
            daemon_arg(c, "--log-level", argv[i]);
            c->keep_stderr = true;
        } else {
            grant(c, argv[i]);
            c->words[c->count++] = argv[i];
        }
    }
    return -1;
}

/* --- asking --- */

static void on_progress(const json_t *params, double elapsed, void *data) {
    const struct ctl *c = data;
    live_progress_update(c->progress, params, elapsed);
}

static void on_interrupted(void *data) {
    const struct ctl *c = data;
    live_progress_stopping(c->progress);
}

static int show_error(struct ctl *c, const json_t *error) {
    const json_t *data = json_object_get(error, "data");
    const char *reason = json_get_string(data, "reason", "");
    bool outside = strcmp(reason, "outside_roots") == 0;
    bool missing = outside || strcmp(reason, "no_file") == 0;
    const char *word = missing ? paths_missing(c->words, c->count) : NULL;
    autofree char *gone = outside && word ? xasprintf("%s does not exist", word) : NULL;
    autofree char *meant = word ? paths_meant(word) : NULL;
    const char *hint = gone ? meant : json_get_string(data, "hint", meant);
    free(c->error);
    c->error = gone ? take(gone)
                    : help_hint(NULL, c->method, json_get_string(error, "message", "?"));
    const char *message = c->error;
    if (c->json) {
        autobuf text = BUF_INIT(1u << 20);
        json_write(&text, error);
        puts(text.data);
        return 2;
    }
    if (c->method &&
        strncmp(message, "missing parameter", strlen("missing parameter")) == 0) {
        return missing_error(c, message);
    }
    if (!hint && !missing && json_get_integer(error, "code", 0) == INVALID_PARAMS) {
        return usage_error(c, message);
    }
    terminal_error(&c->terminal, "%s", message);
    if (hint) {
        autofree char *said = help_hint(c->discover, c->method, hint);
        terminal_hint(&c->terminal, said);
    }
    return 2;
}

/* What is known stays in sight, with the way to go on from it. */
static int show_interrupted(const struct ctl *c) {
    const json_t *partial = live_progress_partial(c->progress);
    const char *run = json_get_string(partial, "run", NULL);
    autofree char *hint =
        run ? xasprintf("upskillctl run show %s shows the answers", run) : NULL;
    bool answers = json_object_get(partial, "students") != NULL;
    bool generates = c->command && strcmp(c->command, "skill generate") == 0;
    live_progress_end(c->progress, true);
    terminal_error(&c->terminal, "stopped by Ctrl-C");
    if (answers) {
        terminal_hint(&c->terminal, "what was answered is kept: the same command goes on "
                                    "from there and asks only the rest");
    }
    if (generates && !answers) {
        terminal_hint(&c->terminal,
                      "nothing was saved; what models answered is kept: the "
                      "same command goes on from there");
    }
    if (hint) {
        terminal_hint(&c->terminal, hint);
    }
    return EXIT_INTERRUPTED;
}

/* 0: *result is a new reference. Otherwise the exit status, after the error was shown. */
static int ask(struct ctl *c, const char *method, json_t *params, json_t **result) {
    struct err err = {0};
    json_t *answer = NULL, *error = NULL;
    int rc = connection_call(c->connection, method, params, &answer, &error, &err);
    if (rc != 0 && connection_interrupted()) {
        json_decref(answer);
        json_decref(error);
        return show_interrupted(c);
    }
    live_progress_end(c->progress, false);
    if (rc == 0) {
        *result = answer;
        return 0;
    }
    if (rc > 0) {
        show_error(c, error);
    } else {
        terminal_error(&c->terminal, "%s", err.msg);
        if (err.code == -ECONNABORTED) {
            terminal_hint(&c->terminal,
                          "the same command starts another; --log info shows its log");
        }
        if (err.code == -EPROTO) {
            terminal_hint(&c->terminal, "UPSKILLD names the daemon's program; without it "
                                        "the one beside upskillctl is started");
        }
    }
    json_decref(answer);
    json_decref(error);
    return 2;
}

static int show(const struct ctl *c, const char *method, const json_t *params,
                json_t *result) {
    struct finding_sources sources = {
        .name = json_get_string(params, "name", ""),
        .text = json_get_string(params, "source", NULL),
    };
    if (!c->json) {
        help_hints(c->discover, c->method, result);
        return render_result(&c->terminal, method, params, result, &sources);
    }
    autobuf text = BUF_INIT(256u << 20);
    json_write(&text, result);
    puts(text.data);
    return result_exit_status(method, result);
}

#define MOST_ROUNDS 5 /* a fix can show what it hid */

/* 0: *result is what is left after the fixes, a new reference. */
static int ask_and_fix(struct ctl *c, const char *method, const json_t *params,
                       json_t **result) {
    int made = 0, status = ask(c, method, json_deep_copy(params), result);
    for (int round = 0; status == 0 && c->fix && round < MOST_ROUNDS; round++) {
        struct err err = {0};
        autojson *findings = report_findings(*result);
        const char *folder = json_get_string(*result, "path", NULL); /* skill/check's */
        const char *only = folder ? NULL : json_get_string(params, "path", NULL);
        int now = fixes_apply(findings, folder, only, &err);
        if (now < 0) {
            terminal_error(&c->terminal, "%s", err.msg);
        }
        if (now <= 0) {
            break;
        }
        made += now;
        json_decref(*result);
        *result = NULL;
        status = ask(c, method, json_deep_copy(params), result);
    }
    if (made) {
        fprintf(stderr, "%d fix%s made in %s\n", made, made == 1 ? "" : "es",
                json_get_string(params, "path", "the files"));
    }
    return status;
}

/* Steals params. */
static int ask_and_show(struct ctl *c, const char *method, json_t *params) {
    autojson *kept = params, *result = NULL;
    int status = ask_and_fix(c, method, kept, &result);
    if (!c->report) {
        return status ? status : show(c, method, kept, result);
    }
    int found = status ? status : result_exit_status(method, result);
    report_add(c->report, method, json_get_string(kept, "path", "-"), result,
               status ? c->error ? c->error : "no answer" : NULL, found);
    return found;
}

/* --- several files --- */

static void tell_sum(const struct ctl *c, const int *counts, size_t files) {
    if (c->json || c->report) {
        return;
    }
    printf("\n%zu files: %d ok", files, counts[0]);
    if (counts[1]) {
        printf(", %d not ok", counts[1]);
    }
    if (counts[2]) {
        printf(", %d without an answer", counts[2]);
    }
    putchar('\n');
}

/* A folder of kernels that holds none, among other paths. */
static int tell_empty(const struct ctl *c, const char *method, const char *folder) {
    autofree char *text = xasprintf("%s holds no .cu file", folder);
    if (c->report) {
        report_add(c->report, method, folder, NULL, text, 2);
    } else {
        terminal_error(&c->terminal, "%s", text);
    }
    return 2;
}

/* The same request for each path; the worst exit status. */
static int ask_each(struct ctl *c, const char *method, json_t *params,
                    const json_t *paths) {
    int counts[3] = {0}, worst = 0;
    bool files = strcmp(method, "kernel/check") == 0;
    json_each(paths, i, path) {
        struct stat st;
        const char *name = json_string_value(path);
        bool empty = files && stat(name, &st) == 0 && S_ISDIR(st.st_mode);
        json_t *one = empty ? NULL : json_copy(params);
        json_object_set(one, "path", path);
        if (!c->json && !c->report) {
            fputs(i ? "\n" : "", stdout);
            terminal_line(&c->terminal, STYLE_BOLD, name);
        }
        int status = empty ? tell_empty(c, method, name) : ask_and_show(c, method, one);
        if (status == EXIT_INTERRUPTED) {
            return status;
        }
        counts[status > 2 ? 2 : status]++;
        worst = status > worst ? status : worst;
    }
    tell_sum(c, counts, json_array_size(paths));
    return worst;
}

static int ask_paths(struct ctl *c, const char *method, json_t *params,
                     const json_t *paths) {
    if (json_array_size(paths) == 1) {
        json_object_set(params, "path", json_array_get(paths, 0));
    }
    c->report = c->format ? report_new(c->format) : NULL;
    int status = json_array_size(paths) > 1
                     ? ask_each(c, method, params, paths)
                     : ask_and_show(c, method, json_incref(params));
    report_end(c->report);
    c->report = NULL;
    return status;
}

/* Again after each change; Ctrl-C ends it with the last status. */
static int ask_watching(struct ctl *c, const char *method, json_t *params,
                        const json_t *paths) {
    for (int last = EXIT_INTERRUPTED;;) {
        struct watch *w = watch_new(paths, params);
        int status = w ? ask_paths(c, method, params, paths)
                       : usage_error(c, "--watch: files cannot be watched here");
        fflush(stdout);
        connection_leave_interrupts(c->connection, true);
        const char *changed = w && status != EXIT_INTERRUPTED ? watch_wait(w) : NULL;
        bool again = changed != NULL;
        connection_leave_interrupts(c->connection, !again);
        if (again && !c->json) {
            printf("\n%s was changed\n", changed);
        }
        last = status == EXIT_INTERRUPTED ? last : status;
        watch_free(w);
        if (!again) {
            return last;
        }
    }
}

/* Steals params and more. */
static int ask_for_paths(struct ctl *c, const char *method, json_t *params,
                         json_t *more) {
    autojson *kept = params, *others = more, *all = json_array();
    struct err err = {0};
    bool files = strcmp(method, "kernel/check") == 0; /* a skill is a folder */
    json_array_insert_new(others, 0, json_incref(json_object_get(kept, "path")));
    if (paths_expand(others, files, all, &err) < 0) {
        return usage_error(c, err.msg);
    }
    if (c->watch && (!files || !json_object_get(kept, "path") || c->format)) {
        return usage_error(c, "--watch is for files of kernel check, as text or json");
    }
    return c->watch ? ask_watching(c, method, kept, all)
                    : ask_paths(c, method, kept, all);
}

/* --- commands --- */

static int command_call(struct ctl *c) {
    json_error_t error;
    json_t *params = NULL;
    if (c->count < 2 || c->count > 3) {
        return usage_error(c, "call METHOD [JSON]");
    }
    if (c->count == 3) {
        params = strcmp(c->words[2], "-") == 0
                     ? json_loadf(stdin, JSON_REJECT_DUPLICATES, &error)
                     : json_loads(c->words[2], JSON_REJECT_DUPLICATES, &error);
        if (!params) {
            terminal_error(&c->terminal, "the params are not JSON: %s (column %d)",
                           error.text, error.column);
            return 2;
        }
    }
    c->json = true;
    return ask_and_show(c, c->words[1], params);
}

static int no_such_command(const struct ctl *c) {
    autofree char *meant = help_meant(c->discover, c->words, c->count);
    autofree char *hint =
        meant ? xasprintf("did you mean upskillctl %s? upskillctl --help lists them all",
                          meant)
              : xstrdup("upskillctl --help lists the commands");
    terminal_error(&c->terminal, "there is no command \"%s%s%s\"", c->words[0],
                   c->count > 1 ? " " : "", c->count > 1 ? c->words[1] : "");
    terminal_hint(&c->terminal, hint);
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
    (void)connection_call(c->connection, "skill/list", NULL, &skills, &error, &err);
    json_decref(skills);
    json_decref(error);
}

static int command_operation(struct ctl *c) {
    int used = 0;
    struct err err = {0};
    json_t *params, *paths;
    const json_t *method = method_find(c->discover, c->words, c->count, &used);
    if (!method) {
        /* "skill" alone is a question what there is, as no word at all is. */
        bool told = c->count == 1 && help_words(&c->terminal, c->discover, c->words, 1);
        return told ? 2 : no_such_command(c);
    }
    c->command = method_command(method);
    c->method = method;
    c->said = c->count > used;
    if (arguments_read(method, c->words + used, c->count - used, &params, &paths, &err) <
        0) {
        return usage_error(c, err.msg);
    }
    wait_for_long(method, params);
    if (strcmp(c->command, "daemon status") == 0) {
        look_for_skills(c);
    }
    return ask_for_paths(c, json_get_string(method, "name", ""), params, paths);
}

static int command_help(const struct ctl *c) {
    if (!c->count) {
        help_all(&c->terminal, c->discover);
        return 0;
    }
    return help_words(&c->terminal, c->discover, c->words, c->count) ? 0
                                                                     : no_such_command(c);
}

/* "help kernel check" is "kernel check --help". */
static void take_help(struct ctl *c) {
    if (c->count && strcmp(c->words[0], "help") == 0) {
        c->help = true;
        memmove(c->words, c->words + 1, (size_t)(c->count - 1) * sizeof *c->words);
        c->count--;
    }
}

static int run_connected(struct ctl *c) {
    int status = ask(c, "rpc.discover", NULL, &c->discover);
    if (status) {
        return status;
    }
    if (c->count && strcmp(c->words[0], "call") == 0 && !c->help) {
        return command_call(c);
    }
    if (c->help) {
        return command_help(c);
    }
    if (!c->count) {
        help_all(&c->terminal, c->discover);
        return 2;
    }
    if (strcmp(c->words[0], "completion") == 0) {
        const char *shell = c->count > 1 ? c->words[1] : NULL;
        return completion_print(c->discover, shell) == 0
                   ? 0
                   : usage_error(c, "completion: bash, zsh or fish");
    }
    return command_operation(c);
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
    if (connection_open(&options, &c->connection, &err) < 0) {
        terminal_error(&c->terminal, "%s", err.msg);
        terminal_hint(&c->terminal, "run ./setup, or name the daemon in UPSKILLD");
        return 2;
    }
    c->progress = live_progress_new(&c->terminal, !c->keep_stderr);
    int status = run_connected(c);
    connection_close(c->connection);
    live_progress_free(c->progress);
    return status;
}

static int run_worker(const struct ctl *c) {
    struct worker_command command = {
        .terminal = &c->terminal,
        .words = c->words + 1,
        .count = c->count - 1,
        .json = c->json,
        .help = c->help,
        .daemon_args = c->daemon_args,
        .keep_stderr = c->keep_stderr,
    };
    return worker_command_run(&command);
}

static void finish(struct ctl *c) {
    for (int i = 0; i < c->granted_count; i++) {
        free(c->granted[i]);
    }
    free((void *)c->words);
    json_decref(c->discover);
    free(c->command);
    free(c->error);
}

int main(int argc, char **argv) {
    struct ctl c = {0};
    signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error of what is written */
    if (file_open_standard() < 0) {
        return 2; /* not even /dev/null: there is nobody to tell */
    }
    terminal_init(&c.terminal);
    int status = split_words(&c, argc, argv);
    if (status < 0) {
        take_help(&c);
        c.words = alias_expand(c.words, &c.count);
        bool shell = c.count == 1 && strcmp(c.words[0], "shell") == 0 && !c.help;
        bool worker = c.count && strcmp(c.words[0], "worker") == 0;
        bool setup = c.count && strcmp(c.words[0], "setup") == 0;
        bool explain = c.count && strcmp(c.words[0], "explain") == 0 && !c.help;
        status = worker ? run_worker(&c)
                 : explain
                     ? explain_run(&c.terminal, c.count > 1 ? c.words[1] : NULL, c.json)
                 : setup ? setup_run(&c.terminal, c.words + 1, c.count - 1, c.help)
                 : shell ? shell_run(&c.terminal, c.daemon_args)
                         : run_daemon(&c);
    }
    if (connection_interrupted() && !c.watch) {
        status = EXIT_INTERRUPTED;
    }
    finish(&c);
    return terminal_lost_output(&c.terminal, status);
}
