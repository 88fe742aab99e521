/* Requests about a document: hover, lenses, hints, symbols, completion. */
#include "base/find.h"
#include "protocol/lsp/lsp_internal.h"

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

/* --- hover --- */

static json_t *make_hover(const struct lsp_subject *s) {
    size_t start = s->start, end = s->start;
    autofree char *text = s->kind->hover(s->document, s->result, s->start, &start, &end);
    return text ? json_pack("{s:o, s:o}", "contents",
                            markup(text, s->client->markdown_hover), "range",
                            lsp_range(s->client->encoding, &s->view, start, end))
                : NULL;
}

/* --- lenses --- */

static json_t *make_lenses(const struct lsp_subject *s) {
    autojson *lenses = s->kind->lenses(s->document, s->result);
    json_t *list = json_array();
    json_each(lenses, i, lens) {
        json_t *command = lsp_lens_command(s, lens);
        if (command) {
            json_array_append_new(list, json_pack("{s:o, s:o}", "range",
                                                  range_of(s, lens), "command", command));
        }
    }
    return list;
}

/* --- hints --- */

static json_t *hint_of(const struct lsp_subject *s, const json_t *hint) {
    return json_pack(
        "{s:o, s:s, s:b, s:s*}", "position",
        lsp_position(s->client->encoding, &s->view, offset_of(hint, "offset")), "label",
        json_get_string(hint, "label", ""), "paddingLeft", 1, "tooltip",
        json_get_string(hint, "tooltip", NULL));
}

static json_t *make_hints(const struct lsp_subject *s) {
    autojson *hints = s->kind->hints(s->document, s->result);
    json_t *list = json_array();
    json_each(hints, i, hint) {
        size_t offset = offset_of(hint, "offset");
        if (offset >= s->start && offset <= s->end) {
            json_array_append_new(list, hint_of(s, hint));
        }
    }
    return list;
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
    size_t at = first_of(i, 0, ARRAY_LEN(kinds), strcmp(kinds[i].word, word) == 0);
    return at < ARRAY_LEN(kinds) ? kinds[at].kind : 13;
}

/* The range of its name: clients reject a list in which that is not within the whole. */
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
    json_each(symbols, i, symbol) {
        const char *name = json_get_string(symbol, "name", "");
        if (*name) { /* clients refuse the whole list for a nameless one */
            add_symbol(s, symbol, list, &path);
        }
    }
    return list;
}

/* --- completion --- */

static json_t *completion_of(const struct lsp_subject *s, const json_t *item) {
    const char *label = json_get_string(item, "label", "");
    const char *documentation = json_get_string(item, "documentation", NULL);
    return json_pack(
        "{s:s, s:{s:o, s:s}, s:s*, s:o*}", "label", label, "textEdit", "range",
        range_of(s, item), "newText", json_get_string(item, "text", label), "detail",
        json_get_string(item, "detail", NULL), "documentation",
        documentation ? markup(documentation, s->client->markdown_completion) : NULL);
}

static json_t *make_completions(const struct lsp_subject *s) {
    autojson *items = s->kind->completions(s->document, s->start);
    return json_map(items, item, completion_of(s, item));
}

/* --- the requests --- */

enum about { ABOUT_ALL, ABOUT_POSITION, ABOUT_RANGE };

static const struct feature {
    const char *method, *provider;
    bool options;     /* its provider is an object, else true */
    size_t member;    /* of a kind that has the feature: a function */
    enum about about; /* what of the document */
    bool waits;       /* for the facts of a check */
    bool list;        /* its answer */
    lsp_make *make;
} features[] = {
    {"textDocument/hover", "hoverProvider", false, offsetof(struct document_kind, hover),
     ABOUT_POSITION, false, false, make_hover},
    {"textDocument/codeLens", "codeLensProvider", true,
     offsetof(struct document_kind, lenses), ABOUT_ALL, true, true, make_lenses},
    {"textDocument/documentSymbol", "documentSymbolProvider", false,
     offsetof(struct document_kind, symbols), ABOUT_ALL, false, true, make_symbols},
    {"textDocument/completion", "completionProvider", true,
     offsetof(struct document_kind, completions), ABOUT_POSITION, false, true,
     make_completions},
    {"textDocument/inlayHint", "inlayHintProvider", false,
     offsetof(struct document_kind, hints), ABOUT_RANGE, true, true, make_hints},
};

static bool has(const struct document_kind *kind, const struct feature *f) {
    void (*function)(void);
    memcpy(&function, (const char *)kind + f->member, sizeof function);
    return function;
}

void lsp_add_features(const struct lsp *l, json_t *capabilities) {
    for (const struct feature *f = features; f < features + ARRAY_LEN(features); f++) {
        const struct document_kind *const *kind = l->host->tables->kinds->list;
        while (*kind && !has(*kind, f)) {
            kind++;
        }
        if (*kind) {
            json_object_set_new(capabilities, f->provider,
                                f->options ? json_object() : json_true());
        }
    }
}

static const struct feature *feature_of(const struct rpc_call *call) {
    return list_find(one, features, ARRAY_LEN(features),
                     strcmp(one->method, rpc_call_method(call)) == 0);
}

static void answer(struct lsp_document *d, struct rpc_call *call) {
    const struct feature *f = feature_of(call);
    const json_t *params = rpc_call_params(call);
    struct lsp_view view = lsp_document_view(d);
    enum lsp_encoding encoding = d->lsp->client.encoding;
    size_t start = 0, end = 0;
    if (f->about == ABOUT_POSITION &&
        !lsp_read_position(encoding, &view, json_object_get(params, "position"),
                           &start)) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL,
                  "position: expected line and character");
    } else if (f->about == ABOUT_RANGE &&
               !lsp_read_range(encoding, &view, json_object_get(params, "range"), &start,
                               &end)) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "range: expected two positions");
    } else {
        lsp_ask(d, call, start, f->about == ABOUT_RANGE ? end : start, f->make);
    }
}

/* Just after a document is opened its facts are not known yet; most clients ask for
 * features only once. */
bool lsp_feature(struct lsp *l, struct rpc_call *call) {
    const struct feature *f = feature_of(call);
    struct lsp_document *d = f ? lsp_request_document(l, call) : NULL;
    if (d && !has(d->kind, f)) {
        rpc_reply(call, f->list ? json_array() : NULL);
    } else if (d && f->waits && !d->result && d->check) {
        lsp_wait(d, call, answer);
    } else if (d) {
        answer(d, call);
    }
    return f;
}
