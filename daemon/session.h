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

/* The client is gone (exit_code: what its protocol wants), or said so. waits: answers are
 * owed, and it may take its time to read them. May come more than once. */
typedef void session_ended(void *data, int exit_code, bool waits);

/* host, whose data `ended` gets as well, is copied. Takes the descriptors over. */
int session_new(uv_loop_t *loop, int in_fd, int out_fd, const struct face_host *host,
                session_ended *ended, struct session **ret, struct err *err);
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
