/* Code actions: the fixes that findings carry. */
#include "protocol/lsp/lsp_internal.h"

#define FIX_ALL_KIND "source.fixAll.upskilld"

/* Whether the client wants this kind: without a list only quick fixes, so that the menu
 * has no actions meant for "fix on save". */
static bool wants(const json_t *only, const char *kind, bool by_default) {
    if (!json_is_array(only)) {
        return by_default;
    }
    json_each(only, i, item) {
        const char *asked = json_string_value(item);
        size_t len = asked ? strlen(asked) : 0;
        if (asked && strncmp(kind, asked, len) == 0 &&
            (kind[len] == '\0' || kind[len] == '.' || len == 0)) {
            return true;
        }
    }
    return false;
}

static json_t *fix_action(struct lsp_document *d, const json_t *diagnostic,
                          const json_t *fix, bool preferred) {
    autojson *lists = json_pack("[O]", json_object_get(fix, "edits"));
    json_t *edit = lists ? lsp_workspace_edit(d, lists) : NULL;
    if (!edit) {
        return NULL;
    }
    preferred = preferred && d->lsp->client.preferred_actions;
    return json_pack("{s:s, s:s, s:[O], s:o, s:o*}", "title",
                     json_get_string(fix, "title", "Fix"), "kind", "quickfix",
                     "diagnostics", diagnostic, "edit", edit, "isPreferred",
                     preferred ? json_true() : NULL);
}

/* The fixes of findings on the lines that hold [start, end]. */
static void add_quick_fixes(struct lsp_document *d, size_t start, size_t end,
                            json_t *actions) {
    size_t first = lines_at(&d->text.lines, start);
    size_t last = lines_at(&d->text.lines, end);
    json_each(d->findings, i, finding) {
        const json_t *fixes = json_object_get(finding, "fixes");
        size_t from, to;
        lsp_finding_span(d, finding, &from, &to);
        if (!json_array_size(fixes) || lines_at(&d->text.lines, from) > last ||
            lines_at(&d->text.lines, to) < first) {
            continue;
        }
        json_each(fixes, k, fix) {
            json_t *action = fix_action(d, json_array_get(d->diagnostics, i), fix,
                                        json_array_size(fixes) == 1);
            if (action) {
                json_array_append_new(actions, action);
            }
        }
    }
}

/* The relation of an edit to one that was already accepted. */
enum relation { APART, SAME, CLASH };

static enum relation relate(const struct lsp_view *view, const json_t *a,
                            const json_t *b) {
    size_t a_start, a_end, b_start, b_end;
    lsp_edit_span(view, a, &a_start, &a_end);
    lsp_edit_span(view, b, &b_start, &b_end);
    if (a_start == b_start && a_end == b_end &&
        json_says(a, "text", json_get_string(b, "text", ""))) {
        return SAME;
    }
    return a_start < b_end && b_start < a_end ? CLASH : APART;
}

/* Whether all of a fix's edits lie in this document and apart from those taken. */
static bool fits(const struct lsp_document *d, const json_t *taken, const json_t *edits) {
    struct lsp_view view = lsp_document_view(d);
    json_each(edits, i, edit) {
        if (!lsp_finding_is_own(d, edit)) {
            return false;
        }
        json_each(taken, k, other) {
            if (relate(&view, edit, other) != APART) {
                return false;
            }
        }
    }
    return json_array_size(edits) > 0;
}

/* The only fix of each finding, where they do not get into each other's way. */
static void add_fix_all(struct lsp_document *d, json_t *actions) {
    autojson *taken = json_array();
    json_each(d->findings, i, finding) {
        const json_t *fixes = json_object_get(finding, "fixes");
        json_t *edits = json_object_get(json_array_get(fixes, 0), "edits");
        if (json_array_size(fixes) == 1 && fits(d, taken, edits)) {
            json_array_extend(taken, edits);
        }
    }
    autojson *lists = json_pack("[O]", taken);
    json_t *edit = lsp_workspace_edit(d, lists);
    if (edit) {
        json_array_append_new(actions,
                              json_pack("{s:s, s:s, s:o}", "title", "Apply all fixes",
                                        "kind", FIX_ALL_KIND, "edit", edit));
    }
}

static void answer_actions(struct lsp_document *d, struct rpc_call *call) {
    const json_t *params = rpc_call_params(call);
    const json_t *only = json_object_get(json_object_get(params, "context"), "only");
    struct lsp_view view = lsp_document_view(d);
    size_t start, end;
    if (!lsp_read_range(d->lsp->client.encoding, &view, json_object_get(params, "range"),
                        &start, &end)) {
        rpc_error(call, RPC_INVALID_PARAMS, NULL, "range: expected two positions");
        return;
    }
    json_t *actions = json_array();
    if (lsp_document_judged(d)) {
        if (wants(only, "quickfix", true)) {
            add_quick_fixes(d, start, end, actions);
        }
        if (wants(only, FIX_ALL_KIND, false)) {
            add_fix_all(d, actions);
        }
    }
    rpc_reply(call, actions);
}

/* Fixes fit one revision only: while it is being checked, the answer waits. */
void lsp_code_action(struct lsp *l, struct rpc_call *call) {
    struct lsp_document *d = lsp_request_document(l, call);
    if (!d) {
        return;
    }
    if (lsp_document_judged(d) || (!d->check && !d->due_ms)) {
        answer_actions(d, call);
    } else {
        lsp_wait(d, call, answer_actions);
    }
}
