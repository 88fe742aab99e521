#pragma once
/* mcp_internal: declarations shared by the files of the MCP face. */
#include "protocol/mcp/mcp.h"

#include <sys/queue.h>

/* Bits, so that a method can belong to both. */
enum mcp_era { MCP_LEGACY = 1, MCP_MODERN = 2 };

enum mcp_version { /* in order of age */
                   MCP_2024_11_05,
                   MCP_2025_03_26,
                   MCP_2025_06_18,
                   MCP_2025_11_25,
                   MCP_2026_07_28,
};
#define MCP_LATEST_LEGACY MCP_2025_11_25

enum mcp_code {                                  /* in addition to JSON-RPC's */
                MCP_RESOURCE_NOT_FOUND = -32002, /* legacy only */
                MCP_MISSING_CAPABILITY = -32021,
                MCP_UNSUPPORTED_VERSION = -32022,
};

#define MCP_META "io.modelcontextprotocol/"
#define MCP_TASKS_EXTENSION MCP_META "tasks"
#define MCP_MAX_SUBSCRIPTIONS 256 /* URIs and task ids, each */
#define MCP_MAX_LISTENS 64        /* open subscriptions/listen requests */
#define MCP_MAX_URI 8192          /* bytes; no resource has a longer one */

/* Lists that depend only on the protocol version. */
enum mcp_kept { MCP_TOOLS, MCP_PROMPTS, MCP_KEPT };

struct mcp {
    const struct face_host *host;
    struct rpc_peer *peer;
    bool initialized; /* an initialize was answered: messages without _meta are legacy */
    enum mcp_version version; /* the one agreed on */
    bool client_has_roots;
    char *client; /* "name\nversion" as last reported to the host, or NULL */
    struct rpc_request *roots_request; /* the roots/list in flight, or NULL */
    json_t *subscribed; /* legacy resources/subscribe: {uri: stamp or null} */
    /* Constant results as JSON text, created at first use. */
    char *kept[MCP_KEPT][MCP_2026_07_28 + 1];
    LIST_HEAD(, mcp_tool_call) tool_calls; /* unanswered */
    LIST_HEAD(, mcp_task_wait) task_waits; /* open tasks/result */
    LIST_HEAD(, mcp_listen) listens;       /* open subscriptions/listen */
    LIST_HEAD(, question) questions;       /* unanswered */
};

/* One request, as its era reads it; on the stack of mcp_request. */
struct mcp_message {
    struct mcp *mcp;
    struct rpc_call *call;
    const json_t *params; /* an object, or NULL when absent */
    const json_t *meta;   /* params._meta, or NULL */
    enum mcp_era era;
    enum mcp_version version;
    const json_t *capabilities; /* modern: the capabilities of this request's sender */
    const struct extension *extension; /* the one that has the method, or NULL */
    const struct extension_method *extension_method;
};

/* How long a modern result may be cached, and by whom. */
enum mcp_cache {
    MCP_UNCACHEABLE, /* not a list: a hint is not allowed */
    MCP_STATIC,      /* the same for everyone until the daemon is replaced */
    MCP_VOLATILE,    /* for this user, and only valid now */
};

/* --- mcp_answer.c --- */

/* Ends the request. Steals result; a modern result gets its era's fields. */
void mcp_reply(const struct mcp_message *msg, json_t *result, enum mcp_cache cache);
/* Ends the request with make's result, which is created once per version; static. */
typedef json_t *mcp_make(const struct mcp *m, enum mcp_version version);
void mcp_reply_kept(const struct mcp_message *msg, enum mcp_kept which, mcp_make *make);
/* Adds the era's fields to an object before it is sent. */
void mcp_decorate(const struct mcp *m, enum mcp_era era, json_t *result,
                  enum mcp_cache cache);
/* Ends the request with RPC_INVALID_PARAMS. False, so that `return mcp_refuse(…)` is one
 * line. */
bool mcp_refuse(const struct mcp_message *msg, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for a mistake of the client's (-EINVAL, -ENOENT); for other codes the error is
 * ours. */
void mcp_refuse_status(const struct mcp_message *msg, int status, const char *why);
/* Ends the request as one for an unknown resource. */
void mcp_refuse_uri(struct rpc_call *call, enum mcp_era era, const char *uri);
const char *mcp_version_name(enum mcp_version version);
/* {"name","title"?,"version"} */
json_t *mcp_server_info(const struct mcp *m, enum mcp_version version);
bool mcp_client_extends(const struct mcp_message *msg, const char *extension);
/* Ends the request with MCP_MISSING_CAPABILITY for an extension. */
void mcp_demand_extension(const struct mcp_message *msg, const char *extension);
/* A parameter that must be a string; NULL after refusing the request. */
const char *mcp_string_param(const struct mcp_message *msg, const char *name);

/* --- mcp_era.c --- */

typedef void mcp_method_start(const struct mcp_message *msg);
struct mcp_method {
    const char *name;
    unsigned eras;
    mcp_method_start *start;
    /* Modern: the method exists only if this is NULL or returns true. */
    bool (*offered)(const struct mcp *m);
};
const struct mcp_method *mcp_method_find(const char *name);
/* Decides the message's era and checks that era's requirements. False: it was refused. */
bool mcp_era_decide(struct mcp_message *msg, const struct mcp_method *method);
mcp_method_start mcp_initialize, mcp_discover, mcp_ping, mcp_set_log_level;

/* --- mcp_result.c: calls as tool results (new references) --- */

/* A hint with method names replaced by the tools' names. Freed by the caller. */
char *mcp_hint(const struct mcp *m, const char *hint);

/* For the status of a stored job that ended. */
json_t *mcp_result_stored(const struct mcp *m, enum mcp_version version,
                          const json_t *status);
/* For a call that ended. */
json_t *mcp_result_ended(const struct mcp *m, enum mcp_version version,
                         const struct call *call);
/* For a kept call that continues: its job, and how to request it. */
json_t *mcp_result_running(const struct mcp *m, enum mcp_version version,
                           const struct call *call, const char *job);

/* --- mcp_tools.c --- */

mcp_method_start mcp_tools_list, mcp_tools_call;
void mcp_tools_stop(struct mcp *m); /* ends every unanswered tool call */

/* --- mcp_tasks.c --- */

mcp_method_start mcp_tasks_get, mcp_tasks_update, mcp_tasks_cancel, mcp_tasks_result;
/* The answer to a tools/call whose call was just kept. */
json_t *mcp_task_created(const struct mcp *m, enum mcp_version version, const char *id);
/* The modern DetailedTask of a job, or NULL if the id is unknown. forms: whether the
 * client can fill in forms; it gets only input requests that it can fulfil. call: the
 * job's. */
json_t *mcp_task_detailed(const struct mcp *m, bool forms, const char *id,
                          const struct call *call);
bool mcp_takes_forms(const json_t *capabilities);
void mcp_tasks_stop(struct mcp *m); /* drops every waiting tasks/result */

/* --- mcp_subscriptions.c --- */

mcp_method_start mcp_listen, mcp_resources_subscribe, mcp_resources_unsubscribe;
/* Drops every open subscription, or (answer) ends it with a result. */
void mcp_listens_stop(struct mcp *m, bool answer);

/* --- mcp_questions.c --- */

/* Calls `then` when the provider is ready, unless the request is cancelled first. msg is
 * copied; the objects it points to live as long as the request. */
void mcp_when_ready(const struct mcp_message *msg, provider_when_ready *when_ready,
                    void *data, mcp_method_start *then);
/* Fills msg->extension and method if an extension has the method; otherwise false. */
bool mcp_extension_find(struct mcp_message *msg, const char *name,
                        struct mcp_method *method);
/* {"com.example/things": settings, …}: new reference, empty if there are none. */
json_t *mcp_extensions_json(const struct mcp *m);
/* A request that other code answers, now or later. resource: an unknown one is refused as
 * an unknown resource. */
struct question *mcp_question_new(const struct mcp_message *msg, bool resource);
/* drops every unanswered question and every waiting request */
void mcp_questions_stop(struct mcp *m);

/* --- mcp_resources.c, mcp_prompts.c --- */

bool mcp_has_resources(const struct mcp *m);
/* The first provider whose list can change, or NULL. */
const struct resource_provider *mcp_changing_provider(const struct mcp *m);
/* Its stamp as JSON, null if unknown or constant; new reference. */
json_t *mcp_resource_stamp(const struct mcp *m, const char *uri);
bool mcp_has_prompts(const struct mcp *m);
bool mcp_has_completions(const struct mcp *m);
const struct resource_provider *mcp_provider_find(const struct mcp *m, const char *uri);
mcp_method_start mcp_resources_list, mcp_resources_templates, mcp_resources_read;
mcp_method_start mcp_prompts_list, mcp_prompts_get, mcp_complete;
