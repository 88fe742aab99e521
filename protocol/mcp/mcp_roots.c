/* Roots: the folders a legacy client works in. A modern client has no way to be asked. */
#include "protocol/mcp/mcp_internal.h"

#include "base/mem.h"
#include "protocol/uri.h"

#define MAX_ROOTS 256

static json_t *paths_of(const json_t *roots) {
    json_t *paths = json_array();
    json_each(roots, i, root) {
        const char *uri = json_string_value(json_object_get(root, "uri"));
        autofree char *path = uri && i < MAX_ROOTS ? uri_to_path(uri) : NULL;
        if (path) {
            json_array_append_new(paths, json_string(path));
        }
    }
    return paths;
}

static void on_roots(struct rpc_request *request, int status, const json_t *result,
                     const json_t *error, void *data) {
    struct mcp *m = data;
    (void)request;
    (void)status;
    (void)error;
    m->roots_request = NULL;
    const json_t *roots = json_object_get(result, "roots");
    if (json_is_array(roots) && m->host->set_roots) {
        autojson *paths = paths_of(roots);
        m->host->set_roots(m->host->data, paths);
    }
}

void mcp_roots_ask(struct mcp *m) {
    if (!m->initialized || !m->client_has_roots) {
        return;
    }
    /* An answer on its way may be older than this change: ask again and forget it. */
    if (m->roots_request) {
        rpc_request_abandon(take(m->roots_request));
    }
    m->roots_request = rpc_request_start(m->peer, "roots/list", NULL, on_roots, m);
}
