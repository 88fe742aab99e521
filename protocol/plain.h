#pragma once
/* plain: our own methods over JSON-RPC, without a handshake.
 *
 * Every operation is a method with its own name; params are an object. All accept "wait":
 * true in addition to their own params; it matters only for a long one, which otherwise
 * answers at once with {"job", "state"}. One that asks for something answers with {"job",
 * "state": "input_required", "work_order"}.
 *
 * While an operation runs, its caller gets `job/changed` notifications, at most ten a
 * second: {"job"?, "request", "state", "progress": {"done", "total"?, "message"?},
 * "partial"?}, where `request` is the id of the request that started it and `partial` the
 * result so far, in the operation's own form; the last one of a job has its final state
 * and no `partial`.
 *
 * `rpc.discover` answers with the table; the notification `$/cancelRequest {id}` cancels
 * a request (answered with -32800). A failed call is -32602 if the caller can correct it
 * or named something that does not exist, -32603 if the error is ours, and one of
 * plain_code otherwise. */
#include "protocol/face.h"
#include "protocol/rpc/rpc.h"

enum plain_code {
    PLAIN_UNAVAILABLE = 1001, /* a missing part of this machine */
    PLAIN_REFUSED = 1002,     /* refused by policy */
};

struct plain;
struct plain *plain_new(const struct face_host *host, struct rpc_peer *peer);
/* Call it before rpc_peer_free. Cancels the calls that it started, except kept ones; jobs
 * continue. Unanswered requests are answered as cancelled. The loop must run once more to
 * close a timer. */
void plain_free(struct plain *p);
/* True: the call was accepted (it will be answered); false: not one of our methods. */
bool plain_request(struct plain *p, struct rpc_call *call);
bool plain_notification(struct plain *p, const char *method, json_t *params);
/* Shared by the faces. Ends the request as the call ended: with its result, as failed,
 * with {"reason", "hint"?, "path"?}, or as cancelled. */
void plain_answer(struct rpc_call *rpc, const struct call *call);
/* Ends the request by making the call a job: {"job", "state", "work_order"?}. */
void plain_answer_job(struct rpc_call *rpc, struct call *call);
