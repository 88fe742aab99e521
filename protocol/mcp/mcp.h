#pragma once
/* mcp: the Model Context Protocol over stdio, both eras, decided per message.
 *
 * Legacy (initialize; 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25) and modern
 * (2026-07-28, stateless, server/discover), with the extension
 * io.modelcontextprotocol/tasks and those that the tables add. */
#include "protocol/face.h"
#include "protocol/rpc/rpc.h"

struct mcp;
/* host and peer must outlive it. */
struct mcp *mcp_new(const struct face_host *host, struct rpc_peer *peer);
/* Ends subscriptions, cancels what it started (jobs stay). The timers it used close on
 * the loop, so run the loop once more before closing it. NULL is a no-op. */
void mcp_free(struct mcp *m);
/* True when the method is MCP's: the call was answered or will be. */
bool mcp_request(struct mcp *m, struct rpc_call *call);
/* True when the method begins with "notifications/". */
bool mcp_notification(struct mcp *m, const char *method, json_t *params);
/* The peer is about to close: answer open subscriptions. */
void mcp_closing(struct mcp *m);
/* The list of a provider that `changes` did, or what stands in it: tell those who want to
 * hear, and compare the stamps of what is subscribed to. */
void mcp_resources_changed(struct mcp *m);
/* Compare those stamps alone, for what changes without an event. */
void mcp_resources_look(struct mcp *m);
