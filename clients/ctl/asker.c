#include "clients/ctl/asker.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/find.h"
#include "clients/ctl/connection.h"
#include "clients/ctl/fetch_nvcc.h"
#include "clients/ctl/fixes.h"
#include "clients/ctl/help.h"
#include "clients/ctl/live_progress.h"
#include "clients/ctl/method.h"
#include "clients/ctl/paths.h"
#include "clients/ctl/render.h"
#include "clients/ctl/watch.h"

#include <sys/stat.h>
#include <unistd.h>

#define INVALID_PARAMS (-32602) /* JSON-RPC 2.0 */

int asker_wrong_usage(const struct asker *a, const char *text) {
    autofree char *hint =
        a->command ? xasprintf("upskillctl help %s shows its options", a->command)
                   : xstrdup("upskillctl --help");
    terminal_error(&a->terminal, "%s", text);
    terminal_hint(&a->terminal, hint);
    return 2;
}

/* Where nothing was said, the parameter that the daemon missed is one of several that
 * would do. */
static int missing_error(const struct asker *a, const char *message) {
    autofree char *usage = help_usage(a->method);
    autofree char *hint =
        xasprintf("%s; upskillctl help %s lists the options", usage, a->command);
    /* "upskillctl skill find TASK…": what it takes is in capitals */
    const char *word = usage + strcspn(usage, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    autofree char *missing =
        xasprintf("%.*s is missing", (int)strcspn(word, " \xE2"), word);
    terminal_error(&a->terminal, "%s", a->said || !*word ? message : missing);
    terminal_hint(&a->terminal, hint);
    return 2;
}

/* --- asking --- */

static bool is_said(const struct asker *a, const char *option) {
    size_t len = strlen(option);
    return any_of(i, 0, a->count,
                  strncmp(a->words[i], option, len) == 0 &&
                      (!a->words[i][len] || a->words[i][len] == '='));
}

/* "expect.op: …" of what was given as --expect begins with the option. New. */
static char *with_option(const struct asker *a, const char *message) {
    size_t len = strspn(message, "abcdefghijklmnopqrstuvwxyz_");
    bool member = a->method && len && (message[len] == '.' || message[len] == '[');
    const json_t *parameter = member ? method_parameter(a->method, message, len) : NULL;
    autofree char *option = parameter ? method_option_name(parameter) : NULL;
    autofree char *words = help_hint(NULL, a->method, message);
    return option && is_said(a, option) ? xasprintf("%s: %s", option, words)
                                        : take(words);
}

static int show_error(struct asker *a, const json_t *error) {
    const json_t *data = json_object_get(error, "data");
    const char *reason = json_get_string(data, "reason", "");
    bool outside = strcmp(reason, "outside_roots") == 0;
    bool missing = outside || strcmp(reason, "no_file") == 0;
    const char *word = missing ? paths_missing(a->words, a->count) : NULL;
    autofree char *gone = outside && word ? xasprintf("%s does not exist", word) : NULL;
    autofree char *meant = word ? paths_meant(word) : NULL;
    const char *hint = gone ? meant : json_get_string(data, "hint", meant);
    free(a->error);
    a->error = gone ? take(gone)
                    : with_option(a, json_get_string(error, "message", "?"));
    const char *message = a->error;
    if (a->json) {
        autobuf text = BUF_INIT(1u << 20);
        json_write(&text, error);
        puts(text.data);
        return 2;
    }
    if (a->method &&
        strncmp(message, "missing parameter", strlen("missing parameter")) == 0) {
        return missing_error(a, message);
    }
    if (!hint && !missing && json_get_integer(error, "code", 0) == INVALID_PARAMS) {
        return asker_wrong_usage(a, message);
    }
    terminal_error(&a->terminal, "%s", message);
    if (hint) {
        autofree char *said = help_hint(a->discover, a->method, hint);
        terminal_hint(&a->terminal, said);
    }
    return 2;
}

/* What is known stays in sight, with the way to go on from it. */
static int show_interrupted(const struct asker *a) {
    const json_t *partial = live_progress_partial(a->progress);
    const char *run = json_get_string(partial, "run", NULL);
    autofree char *hint =
        run ? xasprintf("upskillctl run show %s shows the answers", run) : NULL;
    bool answers = json_object_get(partial, "students") != NULL;
    bool generates = a->command && strcmp(a->command, "skill generate") == 0;
    live_progress_end(a->progress, true);
    terminal_error(&a->terminal, "stopped by Ctrl-C");
    if (answers) {
        terminal_hint(&a->terminal, "the answers so far are kept: the same command "
                                    "continues from there and asks only the rest");
    }
    if (generates && !answers) {
        terminal_hint(&a->terminal,
                      "nothing was saved; the models' answers are kept: the same command "
                      "continues from there");
    }
    if (hint) {
        terminal_hint(&a->terminal, hint);
    }
    return EXIT_INTERRUPTED;
}

int asker_ask(struct asker *a, const char *method, json_t *params, json_t **result) {
    struct err err = {0};
    json_t *answer = NULL, *error = NULL;
    int rc = connection_call(a->connection, method, params, &answer, &error, &err);
    if (rc != 0 && connection_interrupted()) {
        json_decref(answer);
        json_decref(error);
        return show_interrupted(a);
    }
    live_progress_end(a->progress, false);
    if (rc == 0) {
        *result = answer;
        return 0;
    }
    if (rc > 0) {
        show_error(a, error);
    } else {
        terminal_error(&a->terminal, "%s", err.msg);
        if (err.code == -ECONNABORTED) {
            terminal_hint(&a->terminal,
                          "the same command starts another; --log info shows its log");
        }
        if (err.code == -EPROTO) {
            terminal_hint(&a->terminal, "UPSKILLD names the daemon's program; without it "
                                        "the one beside upskillctl is started");
        }
    }
    json_decref(answer);
    json_decref(error);
    return 2;
}

static int show(const struct asker *a, const char *method, const json_t *params,
                json_t *result) {
    struct finding_sources sources = {
        .name = json_get_string(params, "name", ""),
        .text = json_get_string(params, "source", NULL),
        .roots = a->roots,
    };
    if (!a->json) {
        help_hints(a->discover, a->method, result);
        return render_result(&a->terminal, method, params, result, &sources);
    }
    autobuf text = BUF_INIT(256u << 20);
    json_write(&text, result);
    puts(text.data);
    return result_exit_status(method, result);
}

#define MOST_ROUNDS 5 /* a fix can show what it hid */

/* 0: *result is what is left after the fixes, a new reference. */
static int ask_and_fix(struct asker *a, const char *method, const json_t *params,
                       json_t **result) {
    int made = 0, elsewhere = 0,
        status = asker_ask(a, method, json_deep_copy(params), result);
    for (int round = 0; status == 0 && a->fix && round < MOST_ROUNDS; round++) {
        struct err err = {0};
        autojson *findings = report_findings(*result);
        const char *folder = json_get_string(*result, "path", NULL); /* skill/check's */
        const char *only = folder ? NULL : json_get_string(params, "path", NULL);
        int now = fixes_apply(findings, folder, only, &elsewhere, &err);
        if (now < 0) {
            terminal_error(&a->terminal, "%s", err.msg);
        }
        if (now <= 0) {
            break;
        }
        made += now;
        json_decref(*result);
        *result = NULL;
        status = asker_ask(a, method, json_deep_copy(params), result);
    }
    if (made) {
        fprintf(stderr, "%d fix%s applied to %s\n", made, made == 1 ? "" : "es",
                json_get_string(params, "path", "the files"));
    }
    if (elsewhere) {
        fprintf(stderr,
                "%d fix%s in headers not applied, because other files include them too: "
                "name a header itself to change it\n",
                elsewhere, elsewhere == 1 ? "" : "es");
    }
    return status;
}

/* The compiler that lacked is there now: on a terminal it is offered, once. */
static bool fetch_what_lacks(const struct asker *a, const char *method,
                             const json_t *result) {
    const char *code = json_get_string(json_object_get(result, "error"), "code", "");
    return !a->json && a->terminal.tty && isatty(STDIN_FILENO) &&
           !strcmp(method, "kernel/run") && !strcmp(code, "no_nvcc") &&
           fetch_nvcc(&a->terminal, true) == 0;
}

int asker_show(struct asker *a, const char *method, json_t *params) {
    autojson *kept = params, *result = NULL;
    int status = ask_and_fix(a, method, kept, &result);
    if (!a->report) {
        int shown = status ? status : show(a, method, kept, result);
        return !status && fetch_what_lacks(a, method, result)
                   ? asker_show(a, method, json_incref(kept))
                   : shown;
    }
    int found = status ? status : result_exit_status(method, result);
    report_add(a->report, method, json_get_string(kept, "path", "-"), result,
               status ? a->error ? a->error : "no answer" : NULL, found);
    return found;
}

/* --- several files --- */

/* The worst status of all. */
static int tell_sum(const struct asker *a, const int *statuses, size_t files) {
    int counts[3] = {0}, worst = 0;
    for (size_t i = 0; i < files; i++) {
        counts[statuses[i] > 2 ? 2 : statuses[i]]++;
        worst = statuses[i] > worst ? statuses[i] : worst;
    }
    if (a->json || a->report || files == 1) {
        return worst;
    }
    printf("\n%zu files: %d ok", files, counts[0]);
    if (counts[1]) {
        printf(", %d not ok", counts[1]);
    }
    if (counts[2]) {
        printf(", %d without an answer", counts[2]);
    }
    putchar('\n');
    return worst;
}

/* A folder of kernels that holds none, among other paths. */
static int tell_empty(const struct asker *a, const char *method, const char *folder) {
    autofree char *text = xasprintf("%s has no .cu file", folder);
    if (a->report) {
        report_add(a->report, method, folder, NULL, text, 2);
    } else {
        terminal_error(&a->terminal, "%s", text);
    }
    return 2;
}

/* Of several paths the name stands above the answer. */
static int show_path(struct asker *a, const char *method, const json_t *params,
                     json_t *path, bool first) {
    struct stat st;
    const char *name = json_string_value(path);
    bool files = strcmp(method, "kernel/check") == 0;
    if (!a->json && !a->report) {
        fputs(first ? "" : "\n", stdout);
        terminal_line(&a->terminal, STYLE_BOLD, name);
    }
    if (files && stat(name, &st) == 0 && S_ISDIR(st.st_mode)) {
        return tell_empty(a, method, name);
    }
    json_t *one = json_copy((json_t *)(uintptr_t)params);
    json_object_set(one, "path", path);
    return asker_show(a, method, one);
}

/* The same request for each path, after a change (or NULL) of those that it touches;
 * statuses: of each, kept between changes. */
static int show_each(struct asker *a, const char *method, const json_t *params,
                     const json_t *paths, const struct watch *change, int *statuses) {
    bool first = true;
    json_each(paths, i, path) {
        if (change && !watch_touches(change, json_string_value(path))) {
            continue;
        }
        statuses[i] = show_path(a, method, params, path, first);
        if (statuses[i] == EXIT_INTERRUPTED) {
            return EXIT_INTERRUPTED;
        }
        first = false;
    }
    return tell_sum(a, statuses, json_array_size(paths));
}

static int show_all(struct asker *a, const char *method, json_t *params,
                    const json_t *paths, const struct watch *change, int *statuses) {
    if (json_array_size(paths) == 1) {
        json_object_set(params, "path", json_array_get(paths, 0));
    }
    a->report = a->format ? report_new(a->format) : NULL;
    int status = json_array_size(paths) > 1
                     ? show_each(a, method, params, paths, change, statuses)
                     : asker_show(a, method, json_incref(params));
    report_end(a->report);
    a->report = NULL;
    return status;
}

/* Again after each change; Ctrl-C ends it with the last status. */
static int show_watching(struct asker *a, const char *method, json_t *params,
                         const json_t *paths, int *statuses) {
    struct watch *change = NULL;
    for (int last = EXIT_INTERRUPTED;;) {
        struct watch *w = watch_new(paths, params);
        int status = w ? show_all(a, method, params, paths, change, statuses)
                       : asker_wrong_usage(a, "--watch: files cannot be watched here");
        fflush(stdout);
        watch_free(change);
        connection_leave_interrupts(a->connection, true);
        const char *changed = w && status != EXIT_INTERRUPTED ? watch_wait(w) : NULL;
        connection_leave_interrupts(a->connection, !changed);
        if (changed && !a->json) {
            printf("\n%s was changed\n", changed);
        }
        last = status == EXIT_INTERRUPTED ? last : status;
        change = w;
        if (!changed) {
            watch_free(w);
            return last;
        }
    }
}

int asker_show_paths(struct asker *a, const char *method, json_t *params, json_t *more) {
    autojson *kept = params, *others = more, *all = json_array();
    struct err err = {0};
    bool files = strcmp(method, "kernel/check") == 0; /* a skill is a folder */
    json_array_insert_new(others, 0, json_incref(json_object_get(kept, "path")));
    if (paths_expand(others, files, all, &err) < 0) {
        return asker_wrong_usage(a, err.msg);
    }
    if (a->watch && (!files || !json_object_get(kept, "path") || a->format)) {
        return asker_wrong_usage(a, "--watch works with kernel check alone: on files, "
                                    "with text or JSON as output");
    }
    if (a->fix && json_object_get(kept, "source")) {
        return asker_wrong_usage(a, "--fix edits files: name one in place of -");
    }
    autofree int *statuses = xcalloc(json_array_size(all) + 1, sizeof *statuses);
    return a->watch ? show_watching(a, method, kept, all, statuses)
                    : show_all(a, method, kept, all, NULL, statuses);
}
