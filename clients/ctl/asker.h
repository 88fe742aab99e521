#pragma once
/* asker: sends a person's request to the daemon and shows the answer or the error; also
 * for several paths, and again after each change. */
#include "clients/ctl/report.h"
#include "clients/ctl/terminal.h"

#define EXIT_INTERRUPTED 130 /* as shells have it: 128 + SIGINT */

struct asker {
    struct terminal terminal;
    bool json, fix, watch;
    enum report_format format;
    const char **words; /* the command line without the global options */
    int count;
    struct connection *connection;
    struct live_progress *progress;
    json_t *discover;      /* the daemon's table; NULL before the first request for it */
    char *command;         /* "kernel check", for hints; NULL before it is known */
    const json_t *method;  /* the same, in discover */
    bool said;             /* words follow the command */
    struct report *report; /* owned; NULL: answers are shown one by one */
    char *error;           /* owned: the daemon's last error message */
    const char *const *roots; /* that the daemon was given; NULL-terminated, or NULL */
};

/* Wrong usage: shows the text and the command that explains the options. Returns 2. */
int asker_wrong_usage(const struct asker *a, const char *text);
/* 0: *result is a new reference. Otherwise the exit status, after showing the error.
 * Steals params. */
int asker_ask(struct asker *a, const char *method, json_t *params, json_t **result);
/* Asks and shows; returns the exit status. Steals params. */
int asker_show(struct asker *a, const char *method, json_t *params);
/* The same for the path in params and each of `more`; a folder stands for its files.
 * Returns the worst status. With --watch it repeats after each change, until Ctrl-C.
 * Steals both. */
int asker_show_paths(struct asker *a, const char *method, json_t *params, json_t *more);
