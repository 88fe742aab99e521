#pragma once
/* connection: starts a daemon and sends it one request at a time.
 *
 * Starts `upskilld` (beside this program, in the build tree, $UPSKILLD or PATH), speaks
 * plain JSON-RPC with it and ends it. Calls block: they run the loop until the answer
 * arrives. */
#include "base/json.h"

struct connection;

struct connection_options {
    const char *const *daemon_args; /* more flags for upskilld, NULL-terminated */
    const char *const *env;         /* "NAME=value", NULL-terminated; NULL: our own */
    bool keep_stderr;               /* pass the daemon's log through */
    /* During a call: `job/changed` notifications, and a tick every 100 ms with params
     * NULL. May be NULL. */
    void (*progress)(const json_t *params, double elapsed_s, void *data);
    /* Ctrl-C has cancelled the call, which has not ended yet. May be NULL. */
    void (*interrupted)(void *data);
    /* The body of every message in both directions. May be NULL. */
    void (*trace)(bool outgoing, const char *body, size_t len, void *data);
    /* Notifications other than job/changed. May be NULL. */
    void (*notification)(const char *method, const json_t *params, void *data);
    void *data;
};

/* The daemon's program: its absolute path, or its name if it was not found. Freed by the
 * caller. */
char *connection_program(void);

int connection_open(const struct connection_options *options, struct connection **ret,
                    struct err *err);
/* Closes the daemon's input and gives it 2 s to end. */
void connection_close(struct connection *c);

/* 0: *result is set (a new reference). 1: the daemon answered with an error, *error is
 * set. Negative: no answer: the daemon ended, it is another program (-EPROTO: something
 * other than an answer arrived, or no first answer within 30 s; the first call must
 * therefore be one that every daemon answers at once), or Ctrl-C came before the call.
 * Steals params. Ctrl-C cancels the request; a second one ends this program (status
 * 130). */
int connection_call(struct connection *c, const char *method, json_t *params,
                    json_t **result, json_t **error, struct err *err);
/* Between calls Ctrl-C ends this program; leave: other code handles it instead. */
void connection_leave_interrupts(struct connection *c, bool leave);
/* Whether Ctrl-C came during a call on any connection; then make no further call. */
bool connection_interrupted(void);
/* Sends a line unchanged (upskillctl shell); answers arrive through trace. */
void connection_send_raw(struct connection *c, const char *line, size_t len);
/* Waits for traffic for at most `ms`; false if the daemon ended. */
bool connection_wait(struct connection *c, unsigned ms);
