/* An editor: its capabilities, and sending to it. */
#include "base/find.h"
#include "protocol/lsp/lsp_internal.h"

#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

/* The value at a path of keys, NULL-terminated. */
static const json_t *look(const json_t *value, ...) {
    va_list keys;
    va_start(keys, value);
    for (const char *key; value && (key = va_arg(keys, const char *));) {
        value = json_object_get(value, key);
    }
    va_end(keys);
    return value;
}

static bool lists(const json_t *array, const char *word) {
    json_each(array, i, item) {
        const char *s = json_string_value(item);
        if (s && strcmp(s, word) == 0) {
            return true;
        }
    }
    return false;
}

static bool lists_number(const json_t *array, json_int_t number) {
    return json_any(array, item,
                    json_is_integer(item) && json_integer_value(item) == number);
}

/* The first known one, as other servers choose: an editor with several servers for one
 * document needs the same encoding from all. Every client must support UTF-16. */
static enum lsp_encoding choose_encoding(const json_t *offered) {
    json_each(offered, i, item) {
        const char *name = json_string_value(item);
        for (enum lsp_encoding e = LSP_UTF16; name && e <= LSP_UTF32; e++) {
            if (strcmp(name, lsp_encoding_name(e)) == 0) {
                return e;
            }
        }
    }
    return LSP_UTF16;
}

#define HAS(...) json_is_true(look(__VA_ARGS__, NULL))

static void read_diagnostics(struct lsp_client *client, const json_t *document) {
    const json_t *publish = json_object_get(document, "publishDiagnostics");
    const json_t *pull = json_object_get(document, "diagnostic");
    const json_t *tags = look(publish, "tagSupport", "valueSet", NULL);
    client->pull = json_is_object(pull);
    client->related =
        HAS(publish, "relatedInformation") || HAS(pull, "relatedInformation");
    client->code_description = HAS(publish, "codeDescriptionSupport");
    client->data = HAS(publish, "dataSupport");
    client->tag_unnecessary = lists_number(tags, 1);
    client->tag_deprecated = lists_number(tags, 2);
}

void lsp_client_read(struct lsp_client *client, const json_t *capabilities) {
    const json_t *document = json_object_get(capabilities, "textDocument");
    const json_t *workspace = json_object_get(capabilities, "workspace");
    client->encoding =
        choose_encoding(look(capabilities, "general", "positionEncodings", NULL));
    read_diagnostics(client, document);
    client->refresh_diagnostics = HAS(workspace, "diagnostics", "refreshSupport");
    client->refresh_lenses = HAS(workspace, "codeLens", "refreshSupport");
    client->refresh_hints = HAS(workspace, "inlayHint", "refreshSupport");
    client->watches_files =
        HAS(workspace, "didChangeWatchedFiles", "dynamicRegistration");
    client->document_changes = HAS(workspace, "workspaceEdit", "documentChanges");
    client->action_literals =
        json_is_object(look(document, "codeAction", "codeActionLiteralSupport", NULL));
    client->preferred_actions = HAS(document, "codeAction", "isPreferredSupport");
    client->symbol_trees =
        HAS(document, "documentSymbol", "hierarchicalDocumentSymbolSupport");
    client->markdown_hover =
        lists(look(document, "hover", "contentFormat", NULL), "markdown");
    client->markdown_completion =
        lists(look(document, "completion", "completionItem", "documentationFormat", NULL),
              "markdown");
    client->progress = HAS(capabilities, "window", "workDoneProgress");
}

/* --- telling it --- */

void lsp_log(struct lsp *l, int type, const char *fmt, ...) {
    autobuf message = BUF_INIT(4096);
    char *room = buf_reserve(&message, 2048);
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(room, 2048, fmt, args);
    va_end(args);
    buf_commit(&message, len < 2048 ? (size_t)len : 2047);
    rpc_notify(l->peer, "window/logMessage",
               json_pack("{s:i, s:o}", "type", type, "message",
                         json_clean(message.data, message.len)));
}

void lsp_notice(struct lsp *l, const char *sentence) {
    if (!l->noticed && l->peer) {
        l->noticed = true;
        rpc_notify(l->peer, "window/showMessage",
                   json_pack("{s:i, s:o}", "type", 2, "message", json_clean_z(sentence)));
    }
}

static void ignore_response(struct rpc_request *, int, const json_t *, const json_t *,
                            void *) {}

void lsp_tell(struct lsp *l, const char *method, json_t *params) {
    rpc_request_start(l->peer, method, params, ignore_response, NULL);
}
