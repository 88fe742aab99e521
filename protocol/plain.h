#pragma once
/* plain: our own methods over JSON-RPC, with no handshake.
 *
 * Every operation is a method of its own name; params are an object. Any of them takes
 * "wait": true beside its own params; only for a long one does it matter, which otherwise
 * answers at once with {"job", "state"}. One that asks for something answers with {"job",
 * "state": "input_required", "work_order"}.
 *
 * While an operation runs its caller gets `job/changed` notifications, ten a second at
 * most:
 *   {"job"?, "request", "state", "progress": {"done", "total"?, "message"?}, "partial"?}
 * where `request` is the id of the request that started it and `partial` what is known so
 * far, in the operation's own shape; the last one of a job carries its final state and no
 * `partial`. `rpc.discover` answers with the table; the notification
 * `$/cancelRequest {id}` cancels a request (answered with -32800).
 *
 * A failed call is -32602 when the caller can mend it or named what does not exist,
 * -32603 when it is our fault, and one of plain_code otherwise. */
#include "protocol/face.h"
#include "protocol/rpc/rpc.h"

enum plain_code {
    PLAIN_UNAVAILABLE = 1001, /* something this machine lacks */
    PLAIN_REFUSED = 1002,     /* policy */
};

struct plain;
struct plain *plain_new(const struct face_host *host, struct rpc_peer *peer);
/* Before rpc_peer_free. Cancels what it started and nobody kept; jobs go on. What was
 * still to be answered is answered as cancelled. The loop must run once more, to close a
 * timer. */
void plain_free(struct plain *p);
/* Returns true when the call was taken (it will be answered); false: not ours. */
bool plain_request(struct plain *p, struct rpc_call *call);
bool plain_notification(struct plain *p, const char *method, json_t *params);
/* Shared by the faces. Ends the request as the call ended: with its result, as failed,
 * with
 * {"reason", "hint"?, "path"?}, or as cancelled. */
void plain_answer(struct rpc_call *rpc, const struct call *call);
/* Ends the request with the job that the call becomes: {"job", "state", "work_order"?}.
 */
void plain_answer_job(struct rpc_call *rpc, struct call *call);
