#pragma once
/* lsp: the Language Server Protocol 3.17 for the kinds of documents in the tables. */
#include "protocol/face.h"
#include "protocol/rpc.h"

struct lsp;
struct lsp *lsp_new(const struct face_host *host, struct rpc_peer *peer);
void lsp_free(struct lsp *l);
bool lsp_request(struct lsp *l, struct rpc_call *call);
bool lsp_notification(struct lsp *l, const char *method, json_t *params);
/* The exit code for an end of input: 0 after a shutdown request, else 1. */
int lsp_exit_code(const struct lsp *l);
