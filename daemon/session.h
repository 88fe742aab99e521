#pragma once
/* session: the one client at the other end of standard input and output.
 *
 * Owns the connection, the JSON-RPC peer and the faces, which are made when the first
 * message of their kind comes. Messages with Content-Length headers go to the LSP face,
 * lines to our own methods and the MCP face. */
#include "base/stdio_link.h"
#include "protocol/face.h"

struct err;
struct session;

struct session_events {
    /* The client is gone (exit_code: what its protocol wants), or said so. waits: answers
     * are owed, and it may take its time to read them. */
    void (*ended)(int exit_code, bool waits, void *data);
    void (*set_roots)(const json_t *paths, void *data);
    void (*set_settings)(json_t *settings, void *data); /* face_host.set_settings */
    void (*set_client)(const char *name, const char *version, void *data);
    void (*set_agent)(void *data); /* face_host.set_agent */
    json_t *(*job)(const char *id, struct call **live, void *data); /* face_host.job */
    void *data;
};

/* host: a template; its callbacks are set by the session. Takes the descriptors over. */
int session_new(uv_loop_t *loop, int in_fd, int out_fd, const struct face_host *host,
                const struct session_events *events, struct session **ret,
                struct err *err);
/* Resources, or the list of them, changed: tell an MCP client that wants to hear. */
void session_resources_changed(struct session *session);
/* Answers open subscriptions, drops what runs, flushes (stdio_link_close) and frees.
 * status is 0, or says why not every answer was delivered. */
void session_close(struct session *session, struct stdio_patience patience,
                   void (*closed)(int status, void *data), void *data);
/* After session_close: what is still being written has only so much time. */
void session_hurry(struct session *session, struct stdio_patience patience);
/* Between session_close and its end: answers are still being written. */
bool session_is_flushing(const struct session *session);
