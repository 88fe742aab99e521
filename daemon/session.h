#pragma once
/* session: the one client at the other end of standard input and output.
 *
 * Owns the connection, the JSON-RPC peer and the faces; each face is created with the
 * first message for it. Messages with Content-Length headers go to the LSP face, lines to
 * our own methods and the MCP face. */
#include "base/stdio_link.h"
#include "protocol/face.h"

struct session;

/* The client has gone (exit_code: the one that its protocol requires), or announced its
 * end. waits: some answers are still to be sent, and it may need time to read them. May
 * be called more than once. */
typedef void session_ended(void *data, int exit_code, bool waits);

/* host is copied; `ended` also gets its data. Takes ownership of the descriptors. */
int session_new(uv_loop_t *loop, int in_fd, int out_fd, const struct face_host *host,
                session_ended *ended, struct session **ret, struct err *err);
/* Resources or their list changed: notifies an MCP client that asked for it. */
void session_resources_changed(struct session *session);
/* Answers open subscriptions, drops running requests, flushes (stdio_link_close) and
 * frees. status is 0, or says why some answers were not delivered. */
void session_close(struct session *session, struct stdio_patience patience,
                   void (*closed)(int status, void *data), void *data);
/* After session_close: limits the time for the remaining output. */
void session_hurry(struct session *session, struct stdio_patience patience);
/* Whether session_close was called and answers are still being written. */
bool session_is_flushing(const struct session *session);
