#pragma once
/* asker: what a person asked for, put to the daemon, and the answer or the error shown;
 * for several paths, and again after each change, too. */
#include "base/json.h"
#include "clients/ctl/report.h"
#include "clients/ctl/terminal.h"

#include <stdbool.h>

#define EXIT_INTERRUPTED 130 /* as shells have it: 128 + SIGINT */

struct asker {
    struct terminal terminal;
    bool json, fix, watch;
    enum report_format format;
    const char **words; /* the command line without the options that may stand anywhere */
    int count;
    struct connection *connection;
    struct live_progress *progress;
    json_t *discover;      /* the daemon's table; NULL before it was asked for */
    char *command;         /* "kernel check", for hints; NULL before it is known */
    const json_t *method;  /* likewise, in discover */
    bool said;             /* words behind the command */
    struct report *report; /* its own; NULL: answers are shown one by one */
    char *error;           /* its own: what the daemon refused last with */
};

/* The words are wrong: shows the text and where the options are told. 2. */
int asker_wrong_usage(const struct asker *a, const char *text);
/* 0: *result is a new reference. Otherwise the exit status, after the error was shown.
 * Steals params. */
int asker_ask(struct asker *a, const char *method, json_t *params, json_t **result);
/* Asks and shows: the exit status. Steals params. */
int asker_show(struct asker *a, const char *method, json_t *params);
/* The same for the path of the params and each of `more`, of a folder its files; of
 * several the worst status. With --watch again after each change, until Ctrl-C. Steals
 * both. */
int asker_show_paths(struct asker *a, const char *method, json_t *params, json_t *more);
