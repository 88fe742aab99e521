#pragma once
/* lsp: the Language Server Protocol 3.17 for the kinds of documents in the tables.
 *
 * Documents are synchronised by edits; diagnostics come as typed (a quick check after
 * face_settings.debounce_ms) and whole on open and save. A request before `initialize` is
 * refused with -32002, one after `shutdown` with -32600. When the editor named its
 * process (processId), its death ends the daemon. */
#include "protocol/face.h"
#include "protocol/rpc/rpc.h"

struct lsp;
/* host and peer must outlive it. */
struct lsp *lsp_new(const struct face_host *host, struct rpc_peer *peer);
/* Before rpc_peer_free. Cancels checks and what it started (jobs stay). Its handles close
 * on the loop: it runs on until then. NULL is a no-op. */
void lsp_free(struct lsp *l);
/* True: the call was answered or will be. False: running, and no method of LSP. */
bool lsp_request(struct lsp *l, struct rpc_call *call);
/* params are borrowed. True when the method is LSP's. */
bool lsp_notification(struct lsp *l, const char *method, json_t *params);
/* The exit code for an end of input: 0 after a shutdown request, else 1. */
int lsp_exit_code(const struct lsp *l);
