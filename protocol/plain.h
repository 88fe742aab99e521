#pragma once
/* plain: our own methods over JSON-RPC, with no handshake.
 *
 * Every operation is a method of its own name. A long one answers at once with
 * {"job", "state"} unless params hold "wait": true. While it runs the caller gets
 * `job/changed` notifications: {"job"?, "request", "state", "progress"}. `rpc.discover`
 * answers with the table; `$/cancelRequest {id}` cancels (answered with -32800). */
#include "protocol/face.h"
#include "protocol/rpc.h"

struct plain;
struct plain *plain_new(const struct face_host *host, struct rpc_peer *peer);
void plain_free(struct plain *p); /* detaches from and cancels what it started, jobs stay */
/* Returns true when the call was taken (it will be answered); false: not ours. */
bool plain_request(struct plain *p, struct rpc_call *call);
bool plain_notification(struct plain *p, const char *method, json_t *params);
/* How a failed call looks as a JSON-RPC error; shared by the faces. data is a new object
 * {"reason", "hint"?, "path"?}. */
int call_failure_rpc(const struct call_failure *f, json_t **ret_data);
