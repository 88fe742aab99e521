#include "protocol/lsp/lsp_internal.h"

#include "base/mem.h"

#include <string.h>

#define SYMBOL_DEPTH 16 /* of symbols in symbols; what is deeper is beside them */

static size_t offset_of(const json_t *obj, const char *key) {
    json_int_t n = json_get_integer(obj, key, 0);
    return n > 0 ? (size_t)n : 0;
}

/* The range of an object with byte offsets "start" and "end". */
static json_t *range_of(const struct lsp_subject *s, const json_t *obj) {
    return lsp_range(s->client->encoding, &s->view, offset_of(obj, "start"),
                     offset_of(obj, "end"));
}

static json_t *markup(const char *text, bool markdown) {
    return json_pack("{s:s, s:o}", "kind", markdown ? "markdown" : "plaintext", "value",
                     json_text(text, strlen(text)));
}

/* Ask about the request's position. */
static void ask_at(struct lsp_document *d, struct rpc_call *call, lsp_make *make) {
    struct lsp_view view = lsp_document_view(d);
    size_t offset;
    if (!lsp_read_position(d->lsp->client.encoding, &view,
                           json_object_get(rpc_call_params(call), "position"), &offset)) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL,
                  "position: expected line and character");
        return;
    }
    lsp_ask(d, call, offset, offset, make);
}

/* --- hover --- */

static json_t *make_hover(const struct lsp_subject *s) {
    size_t start = s->start;
    size_t end = s->start;
    autofree char *text =
        s->kind->hover ? s->kind->hover(s->document, s->result, s->start, &start, &end)
                       : NULL;
    return text ? json_pack("{s:o, s:o}", "contents",
                            markup(text, s->client->markdown_hover), "range",
                            lsp_range(s->client->encoding, &s->view, start, end))
                : NULL;
}

void lsp_hover(struct lsp *l, struct rpc_call *call) {
    struct lsp_document *d = lsp_request_document(l, call);
    if (d) {
        ask_at(d, call, make_hover);
    }
}

/* --- lenses --- */

static json_t *make_lenses(const struct lsp_subject *s) {
    autojson *lenses = s->kind->lenses(s->document, s->result);
    json_t *list = json_array();
    size_t i;
    json_t *lens;
    json_array_foreach(lenses, i, lens) {
        json_t *command = lsp_lens_command(s, lens);
        if (command) {
            json_array_append_new(list, json_pack("{s:o, s:o}", "range",
                                                  range_of(s, lens), "command", command));
        }
    }
    return list;
}

static void answer_lenses(struct lsp_document *d, struct rpc_call *call) {
    lsp_ask(d, call, 0, 0, make_lenses);
}

/* Right after a document is opened its facts are on their way; most clients ask just
 * once. */
void lsp_code_lens(struct lsp *l, struct rpc_call *call) {
    struct lsp_document *d = lsp_request_document(l, call);
    if (!d) {
        return;
    }
    if (!d->kind->lenses) {
        rpc_reply(call, json_array());
    } else if (!d->result && d->check) {
        lsp_wait(d, call, answer_lenses);
    } else {
        answer_lenses(d, call);
    }
}

/* --- hints --- */

static json_t *hint_of(const struct lsp_subject *s, const json_t *hint) {
    json_t *tooltip = json_object_get(hint, "tooltip");
    json_t *ret =
        json_pack("{s:o, s:s, s:b}", "position",
                  lsp_position(s->client->encoding, &s->view, offset_of(hint, "offset")),
                  "label", json_get_string(hint, "label", ""), "paddingLeft", 1);
    if (json_is_string(tooltip)) {
        json_object_set(ret, "tooltip", tooltip);
    }
    return ret;
}

static json_t *make_hints(const struct lsp_subject *s) {
    autojson *hints = s->kind->hints(s->document, s->result);
    json_t *list = json_array();
    size_t i;
    json_t *hint;
    json_array_foreach(hints, i, hint) {
        size_t offset = offset_of(hint, "offset");
        if (offset >= s->start && offset <= s->end) {
            json_array_append_new(list, hint_of(s, hint));
        }
    }
    return list;
}

static void answer_hints(struct lsp_document *d, struct rpc_call *call) {
    struct lsp_view view = lsp_document_view(d);
    size_t start;
    size_t end;
    if (!lsp_read_range(d->lsp->client.encoding, &view,
                        json_object_get(rpc_call_params(call), "range"), &start, &end)) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "range: expected two positions");
        return;
    }
    lsp_ask(d, call, start, end, make_hints);
}

void lsp_inlay_hint(struct lsp *l, struct rpc_call *call) {
    struct lsp_document *d = lsp_request_document(l, call);
    if (!d) {
        return;
    }
    if (!d->kind->hints) {
        rpc_reply(call, json_array());
    } else if (!d->result && d->check) {
        lsp_wait(d, call, answer_hints);
    } else {
        answer_hints(d, call);
    }
}

/* --- symbols --- */

/* LSP's SymbolKind. */
static int symbol_kind(const char *word) {
    static const struct {
        const char *word;
        int kind;
    } kinds[] = {
        {"file", 1},      {"module", 2},    {"namespace", 3}, {"class", 5},
        {"method", 6},    {"property", 7},  {"field", 8},     {"enum", 10},
        {"function", 12}, {"variable", 13}, {"constant", 14}, {"string", 15},
        {"object", 19},   {"key", 20},      {"struct", 23},   {"heading", 15},
        {"operator", 25},
    };
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].word, word) == 0) {
            return kinds[i].kind;
        }
    }
    return 13;
}

/* Where its name stands: clients refuse a list in which that is not within the whole. */
static json_t *name_range(const struct lsp_subject *s, const json_t *symbol) {
    size_t start = offset_of(symbol, "name_start");
    size_t end = offset_of(symbol, "name_end");
    return start >= offset_of(symbol, "start") && start < end &&
                   end <= offset_of(symbol, "end")
               ? lsp_range(s->client->encoding, &s->view, start, end)
               : range_of(s, symbol);
}

static json_t *symbol_of(const struct lsp_subject *s, const json_t *symbol) {
    const char *name = json_get_string(symbol, "name", "");
    int kind = symbol_kind(json_get_string(symbol, "symbol", ""));
    if (!s->client->symbol_trees) {
        return json_pack("{s:s, s:i, s:{s:s, s:o}}", "name", name, "kind", kind,
                         "location", "uri", s->document->uri, "range",
                         name_range(s, symbol));
    }
    return json_pack("{s:s, s:i, s:s, s:o, s:o}", "name", name, "kind", kind, "detail",
                     json_get_string(symbol, "detail", ""), "range", range_of(s, symbol),
                     "selectionRange", name_range(s, symbol));
}

/* Symbols that are open where the next one begins, the outermost first. */
struct symbol_path {
    struct {
        size_t end;
        json_t *told;
    } open[SYMBOL_DEPTH];
    size_t depth;
};

/* The list that a symbol of these bytes belongs to: its parent's, or `list`. */
static json_t *symbol_home(struct symbol_path *path, size_t start, size_t end,
                           json_t *list) {
    while (path->depth && (path->open[path->depth - 1].end <= start ||
                           path->open[path->depth - 1].end < end)) {
        path->depth--;
    }
    if (!path->depth) {
        return list;
    }
    json_t *parent = path->open[path->depth - 1].told;
    if (!json_object_get(parent, "children")) {
        json_object_set_new(parent, "children", json_array());
    }
    return json_object_get(parent, "children");
}

static void add_symbol(const struct lsp_subject *s, const json_t *symbol, json_t *list,
                       struct symbol_path *path) {
    size_t end = offset_of(symbol, "end");
    json_t *told = symbol_of(s, symbol);
    json_t *home = s->client->symbol_trees
                       ? symbol_home(path, offset_of(symbol, "start"), end, list)
                       : list;
    json_array_append_new(home, told);
    if (path->depth < SYMBOL_DEPTH) {
        path->open[path->depth].end = end;
        path->open[path->depth++].told = told;
    }
}

static json_t *make_symbols(const struct lsp_subject *s) {
    autojson *symbols = s->kind->symbols(s->document);
    struct symbol_path path = {0};
    json_t *list = json_array();
    size_t i;
    json_t *symbol;
    json_array_foreach(symbols, i, symbol) {
        const char *name = json_get_string(symbol, "name", "");
        if (*name) { /* clients refuse the whole list for a nameless one */
            add_symbol(s, symbol, list, &path);
        }
    }
    return list;
}

void lsp_document_symbol(struct lsp *l, struct rpc_call *call) {
    struct lsp_document *d = lsp_request_document(l, call);
    if (d && d->kind->symbols) {
        lsp_ask(d, call, 0, 0, make_symbols);
    } else if (d) {
        rpc_reply(call, json_array());
    }
}

/* --- completion --- */

static json_t *completion_of(const struct lsp_subject *s, const json_t *item) {
    const char *label = json_get_string(item, "label", "");
    const char *documentation = json_get_string(item, "documentation", NULL);
    json_t *detail = json_object_get(item, "detail");
    json_t *ret =
        json_pack("{s:s, s:{s:o, s:s}}", "label", label, "textEdit", "range",
                  range_of(s, item), "newText", json_get_string(item, "text", label));
    if (json_is_string(detail)) {
        json_object_set(ret, "detail", detail);
    }
    if (documentation) {
        json_object_set_new(ret, "documentation",
                            markup(documentation, s->client->markdown_completion));
    }
    return ret;
}

static json_t *make_completions(const struct lsp_subject *s) {
    autojson *items = s->kind->completions(s->document, s->start);
    json_t *list = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item) {
        json_array_append_new(list, completion_of(s, item));
    }
    return list;
}

void lsp_completion(struct lsp *l, struct rpc_call *call) {
    struct lsp_document *d = lsp_request_document(l, call);
    if (d && d->kind->completions) {
        ask_at(d, call, make_completions);
    } else if (d) {
        rpc_reply(call, json_array());
    }
}
