#pragma once
/* connection: a daemon of our own, asked one thing at a time.
 *
 * Starts `upskilld` (beside this program, in the build tree, $UPSKILLD or PATH), speaks
 * plain JSON-RPC with it and ends it. Calls block: they run the loop until the answer is
 * there. */
#include "base/json.h"

#include <stdbool.h>

struct connection;
struct err;

struct connection_options {
    const char *const *daemon_args; /* more flags for upskilld, NULL-terminated */
    const char *const *env;         /* "NAME=value", NULL-terminated; NULL: our own */
    bool keep_stderr;               /* pass the daemon's log on */
    /* While a call is under way: `job/changed` notifications, and a tick every 100 ms
     * with params NULL. May be NULL. */
    void (*progress)(const json_t *params, double elapsed_s, void *data);
    /* Ctrl-C has cancelled the call; it still has to end. May be NULL. */
    void (*interrupted)(void *data);
    /* Every message, framed bodies both ways. May be NULL. */
    void (*trace)(bool outgoing, const char *body, size_t len, void *data);
    /* Notifications other than job/changed. May be NULL. */
    void (*notification)(const char *method, const json_t *params, void *data);
    void *data;
};

/* The daemon's program: its absolute path, or its name when it is nowhere. Freed by the
 * caller. */
char *connection_program(void);

int connection_open(const struct connection_options *options, struct connection **ret,
                    struct err *err);
/* The daemon gets an end of input and 2 s. */
void connection_close(struct connection *c);

/* 0: *result is set (a new reference). 1: the daemon answered with an error, *error is
 * set. Negative: it could not be asked: it ended, is another program (-EPROTO: something
 * else than answers came, or no first one within 30 s; so the first call of a connection
 * is one that every daemon answers at once), or Ctrl-C came before. params stolen. Ctrl-C
 * cancels the request; a second one ends this program (status 130). */
int connection_call(struct connection *c, const char *method, json_t *params,
                    json_t **result, json_t **error, struct err *err);
/* Between calls Ctrl-C ends this program; while somebody else listens for it, it is his.
 */
void connection_leave_interrupts(struct connection *c, bool leave);
/* Ctrl-C came during a call, on any connection: no further one is made. */
bool connection_interrupted(void);
/* Send a line as it is (upskillctl shell); answers arrive through trace. */
void connection_send_raw(struct connection *c, const char *line, size_t len);
/* Wait for traffic for at most `ms`, or until the daemon ends (then false). */
bool connection_wait(struct connection *c, unsigned ms);
