/* Codex: rollouts, and what `codex exec --json` prints.
 *
 * A rollout holds two logs of the same events. What was said and called comes from the
 * model's log (response_item); exit codes from the other (event_msg), whose words count
 * only where the first one has none. */
#include "base/buf.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

struct codex {
    bool has_items; /* the model's log has messages */
};

/* --- results --- */

#define DENIED "failed in sandbox: " /* whatever did not end with 0 there; then its output */

/* "Exit code: 1\nWall time: 0.2 seconds\nOutput:\n…", "failed in sandbox …, exit code: 1,
 * stdout: …": the text behind "Output:" or "stdout:". */
static const char *behind_head(const char *s) {
    const char *output = strstr(s, "\nOutput:\n"), *denied = strstr(s, ", stdout: ");
    if (strncmp(s, "failed in sandbox ", 18) == 0 && denied && denied - s < 1000) {
        return denied + 10;
    }
    if (strncmp(s, DENIED, strlen(DENIED)) == 0) {
        return s + strlen(DENIED);
    }
    bool head = strncmp(s, "Exit code: ", 11) == 0 || strncmp(s, "Chunk ID: ", 10) == 0 ||
                strncmp(s, "Wall time: ", 11) == 0;
    return head && output && output - s < 1000 ? output + 9 : s;
}

static struct trace_event *result_of_text(struct trace_build *b, const char *call,
                                          const char *s) {
    const char *text = behind_head(s);
    autofree char *head = xstrndup(s, (size_t)(text - s));
    struct trace_event *e =
        build_result(b, call, *head ? head : s, *head ? (size_t)(text - s) : strlen(s));
    build_exit_in_text(b, e);
    if (*head) {
        build_set_text(b, e, text, strlen(text));
    }
    if (strncmp(s, DENIED, strlen(DENIED)) == 0) {
        build_failed(b, e);
    }
    return e;
}

/* output: a string, JSON {"output", "metadata": {"exit_code"}} in a string, an object
 * {content, success}, or blocks. */
static void take_output(struct trace_build *b, const struct trace_node *item) {
    const char *call = trace_rules_text(item, "call_id,id");
    const json_t *output = json_object_get(item->value, "output");
    const char *s = json_string_value(output);
    autofree char *copy = s ? xstrdup(s) : NULL;
    autojson *parsed = s && *s == '{' ? json_parse(copy, strlen(copy), NULL) : NULL;
    if (build_find(b, EVENT_RESULT, call)) { /* the other log was earlier */
        return;
    }
    const struct trace_node object = {json_is_object(output) ? output : parsed, item, 0};
    const char *inner = trace_rules_text(&object, "output,content");
    struct trace_event *e;
    if (json_is_array(output)) {
        e = build_result_json(b, call, output);
    } else {
        e = result_of_text(b, call, inner ? inner : s ? s : "");
    }
    build_exit_json(b, e, trace_rules_get(&object, "metadata/exit_code"));
    if (json_is_false(json_object_get(object.value, "success"))) {
        build_failed(b, e);
    }
}

/* --- the model's log --- */

static void has_items(struct trace_build *b, const struct trace_node *) {
    struct codex *c = b->state;
    c->has_items = true;
}

static void take_reasoning(struct trace_build *b, const struct trace_node *item) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, json_object_get(item->value, "summary"));
    if (!text.len) {
        content_text(&text, json_object_get(item->value, "content"));
    }
    build_words(b, EVENT_THINK, text.data, is(text.data, "[null]") ? 0 : text.len);
}

/* --- the program's log --- */

static void take_exec_end(struct trace_build *b, const struct trace_node *event) {
    static const char *const outputs[] = {"aggregated_output", "formatted_output",
                                          "stdout"};
    const char *call = trace_rules_text(event, "call_id"), *output = "";
    for (size_t i = 0; i < ARRAY_LEN(outputs) && !*output; i++) {
        output = json_get_string(event->value, outputs[i], "");
    }
    if (!build_find(b, EVENT_CALL, call)) { /* a person's own command */
        build_call(b, "shell", call, event->value);
    }
    struct trace_event *e = build_find(b, EVENT_RESULT, call);
    e = e ? e : build_result(b, call, output, strlen(output));
    build_exit_json(b, e, json_object_get(event->value, "exit_code"));
}

static void take_patch_end(struct trace_build *b, const struct trace_node *event) {
    const char *call = trace_rules_text(event, "call_id");
    bool good = json_get_bool(event->value, "success", 1);
    struct trace_event *e = build_find(b, EVENT_RESULT, call);
    const char *said = json_get_string(event->value, good ? "stdout" : "stderr", "");
    e = e ? e : build_result(b, call, said, strlen(said));
    if (!good) {
        build_failed(b, e);
    }
}

/* --- codex exec --json --- */

static void take_changes(struct trace_build *b, const struct trace_node *item) {
    const char *call = trace_rules_text(item, "id");
    bool failed = trace_rules_hold(item, "status=failed");
    json_each(json_object_get(item->value, "changes"), i, change) {
        const char *diff = json_get_string(change, "diff", NULL);
        bool gone = is(json_get_string(change, "kind", ""), "delete");
        diff = gone ? NULL : diff ? diff : ""; /* what changed is not told */
        struct trace_event *e =
            build_edit(b, call, "file_change", json_get_string(change, "path", NULL),
                       diff, diff ? strlen(diff) : 0, true);
        if (e) {
            e->is_error = failed;
        }
    }
}

/* --- records --- */

static bool mark_log(struct trace_build *b, const char *, const json_t *record) {
    b->mark.tentative = is(json_get_string(record, "type", ""), "event_msg");
    return true;
}

static bool is_no_repetition(void *, const struct trace_event *e,
                             const struct trace_mark *m) {
    return !m->tentative || e->kind > EVENT_THINK;
}

static void codex_end(struct trace_build *b) {
    const struct codex *c = b->state;
    if (c->has_items) {
        build_filter(b, is_no_repetition, NULL);
    }
}

const struct trace_hooks trace_codex = {
    .state_size = sizeof(struct codex),
    .begin = mark_log,
    .end = codex_end,
    .odd = (const struct trace_odd[]){{"has-items", has_items},
                                      {"reasoning", take_reasoning},
                                      {"output", take_output},
                                      {"exec-end", take_exec_end},
                                      {"patch-end", take_patch_end},
                                      {"changes", take_changes},
                                      {0}},
};
