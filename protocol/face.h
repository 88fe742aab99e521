#pragma once
/* face: the settings, tables and callbacks that the daemon gives to all faces. */
#include "protocol/document.h"
#include "protocol/operation.h"
#include "protocol/provider.h"

struct face_settings {
    /* Whether an MCP tool's result carries structuredContent in addition to its text. It
     * adds nothing to the text, is up to seventeen times as long, and most clients show
     * it to their model, so it is false unless a program asks for it. */
    bool structured;
    unsigned tool_wait_ms;     /* an MCP tool call answers after at most this; 20 000 */
    unsigned progress_ms;      /* maximum time between progress reports; 5 000 */
    unsigned debounce_ms;      /* from the last edit to the quick check; 60 */
    size_t max_documents;      /* open documents; 256 */
    size_t max_document_bytes; /* 4 MiB */
    size_t max_open_bytes;     /* of all open documents together; 64 MiB */
    size_t max_tool_text;      /* bytes of one tool result's text; 40 000 */
};
extern const struct face_settings face_settings_default;

struct face_tables {
    const struct operation_table *operations;
    const struct document_kinds *kinds;
    const struct resource_provider *const *resources; /* NULL-terminated */
    const struct prompt *const *prompts;              /* NULL-terminated */
    const struct extension *const *extensions;        /* NULL-terminated, or NULL */
};

struct face_host {
    const struct face_tables *tables;
    const struct face_settings *settings;
    const struct call_origin
        *origin; /* loop and host; roots may change: read when used */
    const char *name, *title, *version, *instructions;
    /* The status of a job by id, also of another daemon's: the result of `job/status`, a
     * new reference, or NULL if unknown. *live receives the running call (borrowed) if it
     * is ours. */
    json_t *(*job)(void *data, const char *id, struct call **live);
    /* The client announced its folders (LSP workspace folders, MCP roots): a JSON array
     * of absolute paths, borrowed. */
    void (*set_roots)(void *data, const json_t *paths);
    /* The client sent its settings (LSP): a JSON object, borrowed. */
    void (*set_settings)(void *data, json_t *settings);
    void (*set_client)(void *data, const char *name, const char *version);
    /* The client is an agent; this holds for all later calls. */
    void (*set_agent)(void *data);
    /* End the process: LSP exit, a dead parent. */
    void (*quit)(void *data, int exit_code);
    void *data;
};
