/* The workspace: its folders, the editor's settings, and files that others change. */
#include "base/find.h"
#include "protocol/lsp/lsp_internal.h"

#include "protocol/uri.h"

#define MAX_FOLDERS 256

/* --- folders --- */

static void folders_changed(struct lsp *l) {
    if (l->host->set_roots) {
        l->host->set_roots(l->host->data, l->folders);
    }
}

static size_t folder_index(const struct lsp *l, const char *path) {
    json_each(l->folders, i, folder) {
        if (strcmp(json_string_value(folder), path) == 0) {
            return i;
        }
    }
    return json_array_size(l->folders);
}

static void folder_add(struct lsp *l, const char *path) {
    size_t count = json_array_size(l->folders);
    if (path && count < MAX_FOLDERS && folder_index(l, path) == count) {
        json_array_append_new(l->folders, json_string(path));
    }
}

static void folders_add(struct lsp *l, const json_t *list) {
    json_each(list, i, folder) {
        autofree char *path = uri_to_path(json_get_string(folder, "uri", ""));
        folder_add(l, path);
    }
}

static void folders_remove(struct lsp *l, const json_t *list) {
    json_each(list, i, folder) {
        autofree char *path = uri_to_path(json_get_string(folder, "uri", ""));
        size_t index = path ? folder_index(l, path) : SIZE_MAX;
        if (index < json_array_size(l->folders)) {
            json_array_remove(l->folders, index);
        }
    }
}

static void folders_read(struct lsp *l, const json_t *params) {
    const char *path = json_get_string(params, "rootPath", NULL);
    autofree char *root = uri_to_path(json_get_string(params, "rootUri", ""));
    folders_add(l, json_object_get(params, "workspaceFolders"));
    if (!json_array_size(l->folders)) {
        folder_add(l, root ? root : path && *path == '/' ? path : NULL);
    }
    folders_changed(l);
}

void lsp_did_change_workspace_folders(struct lsp *l, const json_t *params) {
    const json_t *event = json_object_get(params, "event");
    folders_remove(l, json_object_get(event, "removed"));
    folders_add(l, json_object_get(event, "added"));
    folders_changed(l);
}

/* --- settings --- */

static void check_all(struct lsp *l) {
    struct lsp_document *d;
    LIST_FOREACH(d, &l->documents, link) {
        if (!d->lost) {
            lsp_check_start(d, DOCUMENT_FULL);
        }
    }
}

/* Editors send all settings under the server's name, or the server's alone. Nothing at
 * all, as Emacs' eglot sends when nothing was set, takes back nothing. */
static bool settings_take(struct lsp *l, json_t *settings) {
    json_t *own = json_object_get(settings, l->host->name);
    own = json_is_object(own) ? own : settings;
    if (!json_is_object(own) || (own == settings && !json_object_size(own))) {
        return false;
    }
    json_decref(l->settings);
    l->settings = json_incref(own);
    if (l->host->set_settings) {
        l->host->set_settings(l->host->data, own);
    }
    return true;
}

void lsp_did_change_configuration(struct lsp *l, const json_t *params) {
    if (settings_take(l, json_object_get(params, "settings"))) {
        struct lsp_document *d;
        LIST_FOREACH(d, &l->documents, link) {
            lsp_snapshot_drop(d);
        }
        check_all(l);
    }
}

/* --- files --- */

/* Files that affect the answer of a check. */
static const char *const watched[] = {"**/*.{cu,cuh,h,hpp,hxx,inl,inc}",
                                      "**/compile_commands.json", "**/upskilld.yaml"};

void lsp_workspace_watch(struct lsp *l) {
    if (!l->client.watches_files) {
        return;
    }
    json_t *watchers = json_list(i, 0, ARRAY_LEN(watched),
                                 json_pack("{s:s}", "globPattern", watched[i]));
    lsp_tell(l, "client/registerCapability",
             json_pack("{s:[{s:s, s:s, s:{s:o}}]}", "registrations", "id", "files",
                       "method", "workspace/didChangeWatchedFiles", "registerOptions",
                       "watchers", watchers));
}

/* Saving an open document changes its file, which the editor reports separately. */
static bool is_open(struct lsp *l, const char *uri) {
    return lsp_document_find(l, uri) != NULL;
}

void lsp_did_change_watched_files(struct lsp *l, const json_t *params) {
    bool others = json_any(json_object_get(params, "changes"), change,
                           !is_open(l, json_get_string(change, "uri", "")));
    if (others) {
        check_all(l);
    }
}

/* --- the workspace from initialize --- */

void lsp_workspace_read(struct lsp *l, const json_t *params) {
    folders_read(l, params);
    settings_take(l, json_object_get(params, "initializationOptions"));
}
