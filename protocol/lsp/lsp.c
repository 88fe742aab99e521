#include "protocol/lsp/lsp_internal.h"

#include "base/clock.h"
#include "protocol/uri.h"

#include <limits.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ASK_EVERY_MS 2000

/* --- the editor's process, by initialize's processId ---
 *
 * A pidfd becomes readable at its end; where the kernel has none (before 5.3), or the
 * process is gone already, it is asked for every two seconds. */

static void handle_closed(uv_handle_t *handle) {
    struct lsp *l = handle->data;
    if (--l->open_handles == 0) {
        free(l);
    }
}

static void handle_close(struct lsp *l, uv_handle_t *handle) {
    handle->data = l;
    uv_close(handle, handle_closed);
}

int lsp_exit_code(const struct lsp *l) {
    return l->state == LSP_SHUT_DOWN ? 0 : 1;
}

static void parent_gone(struct lsp *l) {
    uv_timer_stop(&l->parent_timer);
    if (l->parent_fd >= 0) {
        uv_poll_stop(&l->parent_poll);
    }
    l->host->quit(l->host->data, lsp_exit_code(l));
}

static void poll_fired(uv_poll_t *poll, int, int) {
    parent_gone(container_of(poll, struct lsp, parent_poll));
}

static void parent_timer_fired(uv_timer_t *timer) {
    struct lsp *l = container_of(timer, struct lsp, parent_timer);
    if (kill(l->parent_pid, 0) < 0 && errno == ESRCH) {
        parent_gone(l);
    }
}

static bool poll_start(struct lsp *l) {
    int fd = (int)syscall(SYS_pidfd_open, l->parent_pid, 0);
    if (fd < 0) {
        return false;
    }
    if (uv_poll_init(l->host->origin->loop, &l->parent_poll, fd) < 0) {
        close(fd);
        return false;
    }
    l->parent_fd = fd;
    l->open_handles++;
    uv_unref((uv_handle_t *)&l->parent_poll);
    return uv_poll_start(&l->parent_poll, UV_READABLE, poll_fired) == 0;
}

static void parent_watch(struct lsp *l, int pid) {
    l->parent_pid = pid;
    if (!poll_start(l)) {
        uv_timer_start(&l->parent_timer, parent_timer_fired, ASK_EVERY_MS, ASK_EVERY_MS);
    }
}

static void parent_close(struct lsp *l) {
    handle_close(l, (uv_handle_t *)&l->parent_timer);
    if (l->parent_fd >= 0) {
        handle_close(l, (uv_handle_t *)&l->parent_poll);
        close(l->parent_fd);
        l->parent_fd = -1;
    }
}

/* --- due events --- */

static void timer_update(struct lsp *l);

static void timer_fired(uv_timer_t *timer) {
    struct lsp *l = container_of(timer, struct lsp, timer);
    uint64_t now = clock_ms();
    lsp_documents_tick(l, now);
    lsp_progress_tick(l, now);
    timer_update(l);
}

static void timer_update(struct lsp *l) {
    uint64_t documents = lsp_documents_due(l);
    uint64_t progress = lsp_progress_due(l);
    uint64_t due =
        !documents || (progress && progress < documents) ? progress : documents;
    if (!due) {
        uv_timer_stop(&l->timer);
        return;
    }
    uint64_t now = clock_ms();
    uv_update_time(l->host->origin->loop);
    uv_timer_start(&l->timer, timer_fired, due > now ? due - now : 0, 0);
}

/* --- lifecycle --- */

static json_t *capabilities(struct lsp *l) {
    json_t *c = json_pack("{s:s, s:{s:b, s:i, s:{s:b}}, s:{s:o, s:b}, s:{s:{s:b, s:b}}}",
                          "positionEncoding", lsp_encoding_name(l->client.encoding),
                          "textDocumentSync", "openClose", 1, "change", 2, "save",
                          "includeText", 0, "executeCommandProvider", "commands",
                          lsp_command_names(l), "workDoneProgress", 1, "workspace",
                          "workspaceFolders", "supported", 1, "changeNotifications", 1);
    lsp_add_features(l, c);
    if (l->client.action_literals) {
        json_object_set_new(c, "codeActionProvider",
                            json_pack("{s:[ss]}", "codeActionKinds", "quickfix",
                                      "source.fixAll.upskilld"));
    }
    if (l->client.pull) {
        json_object_set_new(c, "diagnosticProvider",
                            json_pack("{s:s, s:b, s:b}", "identifier", l->host->name,
                                      "interFileDependencies", 1, "workspaceDiagnostics",
                                      0));
    }
    return c;
}

static void tell_client(struct lsp *l, const json_t *params) {
    const json_t *client = json_object_get(params, "clientInfo");
    const char *name = json_get_string(client, "name", NULL);
    if (name && l->host->set_client) {
        l->host->set_client(l->host->data, name, json_get_string(client, "version", ""));
    }
}

static void initialize(struct lsp *l, struct rpc_call *call) {
    const json_t *params = rpc_call_params(call);
    json_int_t pid = json_get_integer(params, "processId", 0);
    lsp_client_read(&l->client, json_object_get(params, "capabilities"));
    l->state = LSP_RUNNING;
    tell_client(l, params);
    lsp_workspace_read(l, params);
    if (pid > 0 && pid <= INT_MAX) {
        parent_watch(l, (int)pid);
    }
    rpc_reply(call, json_pack("{s:o, s:{s:s, s:s}}", "capabilities", capabilities(l),
                              "serverInfo", "name", l->host->name, "version",
                              l->host->version));
}

/* Nothing is published after this; running checks are stopped. */
static void shut_down(struct lsp *l, struct rpc_call *call) {
    l->state = LSP_SHUT_DOWN;
    lsp_commands_stop(l, false);
    lsp_documents_free(l, false);
    timer_update(l);
    rpc_reply(call, NULL);
}

/* --- dispatch --- */

static const struct {
    const char *method;
    void (*handle)(struct lsp *l, struct rpc_call *call);
} requests[] = {
    {"shutdown", shut_down},
    {"textDocument/codeAction", lsp_code_action},
    {"textDocument/diagnostic", lsp_pull},
    {"workspace/executeCommand", lsp_execute_command},
};

static bool request_running(struct lsp *l, struct rpc_call *call) {
    const char *method = rpc_call_method(call);
    if (strcmp(method, "initialize") == 0) {
        rpc_error(call, RPC_INVALID_REQUEST, NULL, "initialize may be sent only once");
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
        if (strcmp(method, requests[i].method) == 0) {
            requests[i].handle(l, call);
            return true;
        }
    }
    return lsp_feature(l, call);
}

bool lsp_request(struct lsp *l, struct rpc_call *call) {
    switch (l->state) {
    case LSP_NEW:
        if (strcmp(rpc_call_method(call), "initialize") == 0) {
            initialize(l, call);
        } else {
            rpc_error(call, LSP_NOT_INITIALIZED, NULL, "the first request is initialize");
        }
        return true;
    case LSP_SHUT_DOWN:
        rpc_error(call, RPC_INVALID_REQUEST, NULL, "the server was shut down");
        return true;
    case LSP_RUNNING:
        break;
    }
    return request_running(l, call);
}

static void cancel_request(struct lsp *l, const json_t *params) {
    rpc_cancel(l->peer, json_object_get(params, "id"));
}

static void cancel_progress(struct lsp *l, const json_t *params) {
    lsp_progress_cancelled(l, json_object_get(params, "token"));
}

static void initialized(struct lsp *l, const json_t *) {
    lsp_workspace_watch(l);
}

static const struct {
    const char *method;
    void (*handle)(struct lsp *l, const json_t *params);
} notifications[] = {
    {"$/cancelRequest", cancel_request},
    {"initialized", initialized},
    {"textDocument/didChange", lsp_did_change},
    {"textDocument/didClose", lsp_did_close},
    {"textDocument/didOpen", lsp_did_open},
    {"textDocument/didSave", lsp_did_save},
    {"window/workDoneProgress/cancel", cancel_progress},
    {"workspace/didChangeConfiguration", lsp_did_change_configuration},
    {"workspace/didChangeWatchedFiles", lsp_did_change_watched_files},
    {"workspace/didChangeWorkspaceFolders", lsp_did_change_workspace_folders},
};

bool lsp_notification(struct lsp *l, const char *method, json_t *params) {
    if (strcmp(method, "exit") == 0) {
        l->host->quit(l->host->data, lsp_exit_code(l));
        return true;
    }
    if (l->state != LSP_RUNNING) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(notifications); i++) {
        if (strcmp(method, notifications[i].method) == 0) {
            notifications[i].handle(l, params);
            return true;
        }
    }
    return strncmp(method, "$/", 2) == 0;
}

struct lsp *lsp_new(const struct face_host *host, struct rpc_peer *peer) {
    struct lsp *l = xcalloc(1, sizeof *l);
    l->host = host;
    l->peer = peer;
    l->folders = json_array();
    TAILQ_INIT(&l->questions);
    l->parent_fd = -1;
    l->due_changed = timer_update;
    uv_timer_init(host->origin->loop, &l->timer);
    uv_timer_init(host->origin->loop, &l->parent_timer);
    uv_unref((uv_handle_t *)&l->parent_timer);
    l->open_handles = 2;
    return l;
}

void lsp_free(struct lsp *l) {
    if (!l) {
        return;
    }
    l->peer = NULL;
    lsp_commands_stop(l, true);
    lsp_documents_free(l, true);
    lsp_questions_free(l);
    lsp_progress_free(l);
    json_decref(take(l->folders));
    json_decref(take(l->settings));
    parent_close(l);
    handle_close(l, (uv_handle_t *)&l->timer);
}
