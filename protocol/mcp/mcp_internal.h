#pragma once
/* mcp_internal: what the files of the MCP face share. */
#include "protocol/mcp/mcp.h"

#include <stdint.h>
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

enum mcp_code {                                  /* beyond JSON-RPC's own */
                MCP_RESOURCE_NOT_FOUND = -32002, /* legacy only */
                MCP_MISSING_CAPABILITY = -32021,
                MCP_UNSUPPORTED_VERSION = -32022,
};

#define MCP_META "io.modelcontextprotocol/"
#define MCP_TASKS_EXTENSION MCP_META "tasks"
#define MCP_MAX_SUBSCRIPTIONS 256 /* URIs or task ids, each */
#define MCP_MAX_LISTENS 64        /* open subscriptions/listen */
#define MCP_MAX_URI 8192          /* bytes; no resource has a longer one */

/* Lists that only the protocol version changes. */
enum mcp_kept { MCP_TOOLS, MCP_PROMPTS, MCP_KEPT };

struct mcp {
    const struct face_host *host;
    struct rpc_peer *peer;
    bool initialized; /* an initialize was answered: messages without _meta are legacy */
    enum mcp_version version; /* that it agreed on */
    bool client_has_roots;
    char *client; /* "name\nversion" as the host was told last, or NULL */
    struct rpc_request *roots_request; /* roots/list on its way, or NULL */
    json_t *subscribed; /* legacy resources/subscribe: {uri: stamp or null} */
    /* Results that never change, as JSON texts, made at first use. */
    char *kept[MCP_KEPT][MCP_2026_07_28 + 1];
    LIST_HEAD(, mcp_tool_call) tool_calls; /* unanswered */
    LIST_HEAD(, mcp_task_wait) task_waits; /* open tasks/result */
    LIST_HEAD(, mcp_listen) listens;       /* open subscriptions/listen */
    LIST_HEAD(, question) questions;       /* unanswered */
};

/* One request, as its era reads it. It lives on the stack of mcp_request. */
struct mcp_message {
    struct mcp *mcp;
    struct rpc_call *call;
    const json_t *params; /* an object, or NULL when absent */
    const json_t *meta;   /* params._meta, or NULL */
    enum mcp_era era;
    enum mcp_version version;
    const json_t *capabilities;        /* modern: what this request's sender can do */
    const struct extension *extension; /* whose method it is, or NULL */
    const struct extension_method *extension_method;
};

/* How long, and by whom, a modern result may be kept. */
enum mcp_cache {
    MCP_UNCACHEABLE, /* not a list: no hint is allowed */
    MCP_STATIC,      /* the same for everyone until the daemon is replaced */
    MCP_VOLATILE,    /* this user's, and true only now */
};

/* --- mcp_answer.c --- */

/* Ends the request. result is stolen; a modern result gets its era's fields. */
void mcp_reply(const struct mcp_message *msg, json_t *result, enum mcp_cache cache);
/* Ends the request with what make returned for the first of its version, static. */
typedef json_t *mcp_make(const struct mcp *m, enum mcp_version version);
void mcp_reply_kept(const struct mcp_message *msg, enum mcp_kept which, mcp_make *make);
/* Adds the era's fields to an object that is about to be sent. */
void mcp_decorate(const struct mcp *m, enum mcp_era era, json_t *result,
                  enum mcp_cache cache);
/* Ends the request with RPC_INVALID_PARAMS. False, so that `return mcp_refuse(…)` is one
 * line. */
bool mcp_refuse(const struct mcp_message *msg, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The same for the asker's mistake (-EINVAL, -ENOENT); another status is ours. */
void mcp_refuse_status(const struct mcp_message *msg, int status, const char *why);
/* Ends the request as one for a resource that is not there. */
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
    /* Modern: without it, or when it says no, the method does not exist. NULL = always.
     */
    bool (*offered)(const struct mcp *m);
};
const struct mcp_method *mcp_method_find(const char *name);
/* Decide the message's era and check what that era demands. False: it was refused. */
bool mcp_era_decide(struct mcp_message *msg, const struct mcp_method *method);
mcp_method_start mcp_initialize, mcp_discover, mcp_ping, mcp_set_log_level;

/* --- mcp_result.c: what a call looks like as a tool result (new references) --- */

/* A hint with the tools' names for those of methods. Freed by the caller. */
char *mcp_hint(const struct mcp *m, const char *hint);

/* For a stored job's status that ended. */
json_t *mcp_result_stored(const struct mcp *m, enum mcp_version version,
                          const json_t *status);
/* For a call that ended. */
json_t *mcp_result_ended(const struct mcp *m, enum mcp_version version,
                         const struct call *call);
/* For a kept call that goes on: its job, and how to ask for it again. */
json_t *mcp_result_running(const struct mcp *m, enum mcp_version version,
                           const struct call *call, const char *job);

/* --- mcp_tools.c --- */

mcp_method_start mcp_tools_list, mcp_tools_call;
void mcp_tools_stop(struct mcp *m); /* end every unanswered tool call */

/* --- mcp_tasks.c --- */

mcp_method_start mcp_tasks_get, mcp_tasks_update, mcp_tasks_cancel, mcp_tasks_result;
/* The answer to a tools/call whose call was just kept. */
json_t *mcp_task_created(const struct mcp *m, enum mcp_version version, const char *id);
/* The modern DetailedTask of a job, or NULL when the id is unknown. forms: the client can
 * fill in forms; it gets only input requests that it can fulfil. call: the job's. */
json_t *mcp_task_detailed(const struct mcp *m, bool forms, const char *id,
                          const struct call *call);
bool mcp_takes_forms(const json_t *capabilities);
void mcp_tasks_stop(struct mcp *m); /* drop every waiting tasks/result */

/* --- mcp_subscriptions.c --- */

mcp_method_start mcp_listen, mcp_resources_subscribe, mcp_resources_unsubscribe;
/* Drop every open subscription, or (answer) end it with a result. */
void mcp_listens_stop(struct mcp *m, bool answer);

/* --- mcp_questions.c --- */

/* Go on with `then` as soon as the provider is ready, unless the request is cancelled
 * before. msg is copied; what it points to lives as long as its request. */
void mcp_when_ready(const struct mcp_message *msg, provider_when_ready *when_ready,
                    void *data, mcp_method_start *then);
/* Fills msg->extension and method when an extension has the method; else false. */
bool mcp_extension_find(struct mcp_message *msg, const char *name,
                        struct mcp_method *method);
/* {"com.example/things": settings, …}: new reference, empty when there are none. */
json_t *mcp_extensions_json(const struct mcp *m);
/* A request that somebody else answers, now or later. resource: an unknown one is refused
 * as a resource that is not there. */
struct question *mcp_question_new(const struct mcp_message *msg, bool resource);
void mcp_questions_stop(struct mcp *m); /* drop every unanswered one, and who waits */

/* --- mcp_resources.c, mcp_prompts.c --- */

bool mcp_has_resources(const struct mcp *m);
/* The first one whose list can change, or NULL. */
const struct resource_provider *mcp_changing_provider(const struct mcp *m);
/* Its stamp as JSON, null when unknown or unchanging; new reference. */
json_t *mcp_resource_stamp(const struct mcp *m, const char *uri);
bool mcp_has_prompts(const struct mcp *m);
bool mcp_has_completions(const struct mcp *m);
const struct resource_provider *mcp_provider_find(const struct mcp *m, const char *uri);
const struct prompt *mcp_prompt_find(const struct mcp *m, const char *name);
mcp_method_start mcp_resources_list, mcp_resources_templates, mcp_resources_read;
mcp_method_start mcp_prompts_list, mcp_prompts_get, mcp_complete;
