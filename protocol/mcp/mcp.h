#pragma once
/* mcp: the Model Context Protocol over stdio, in both of its eras, decided per message.
 *
 * Legacy (initialize; 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25) and modern
 * (2026-07-28, stateless, server/discover), with the extension
 * io.modelcontextprotocol/tasks and those in the tables. */
#include "protocol/face.h"
#include "protocol/rpc/rpc.h"

struct mcp;
/* host and peer must outlive it. */
struct mcp *mcp_new(const struct face_host *host, struct rpc_peer *peer);
/* Ends subscriptions and cancels the calls that it started (jobs continue). Its timers
 * close on the loop, so run the loop once more before closing it. NULL is a no-op. */
void mcp_free(struct mcp *m);
/* True if the method is MCP's: the call was answered or will be. */
bool mcp_request(struct mcp *m, struct rpc_call *call);
/* True if the method begins with "notifications/". */
bool mcp_notification(struct mcp *m, const char *method, json_t *params);
/* The peer is about to close: answers open subscriptions. */
void mcp_closing(struct mcp *m);
/* The list of a provider with `changes`, or its contents, changed: notifies subscribers,
 * and compares the stamps of the subscribed resources. */
void mcp_resources_changed(struct mcp *m);
/* Only compares those stamps, for changes that cause no event. */
void mcp_resources_look(struct mcp *m);
