#pragma once
/* lsp: the Language Server Protocol 3.17 for the kinds of documents in the tables.
 *
 * Documents are synchronised by edits. Diagnostics come while typing (from a quick check
 * after face_settings.debounce_ms), and from a full check on open and save. A request
 * before `initialize` is refused with -32002, one after `shutdown` with -32600. If the
 * editor sent its processId, the daemon ends when that process does. */
#include "protocol/face.h"
#include "protocol/rpc/rpc.h"

struct lsp;
/* host and peer must outlive it. */
struct lsp *lsp_new(const struct face_host *host, struct rpc_peer *peer);
/* Call it before rpc_peer_free. Cancels checks and other calls that it started (jobs
 * continue). Its handles close on the loop, which must run until then. NULL is a
 * no-op. */
void lsp_free(struct lsp *l);
/* True: the call was answered or will be. False: the face is running, and the method is
 * not LSP's. */
bool lsp_request(struct lsp *l, struct rpc_call *call);
/* params are borrowed. True if the method is LSP's. */
bool lsp_notification(struct lsp *l, const char *method, json_t *params);
/* The exit code for an end of input: 0 after a shutdown request, else 1. */
int lsp_exit_code(const struct lsp *l);
