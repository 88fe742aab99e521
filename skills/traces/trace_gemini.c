/* Gemini CLI: saved chats ({sessionId, messages[]}, newer ones a record per line),
 * checkpoints (a list of {role, parts[]}) and `--output-format stream-json`. */
#include "base/buf.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#define SHELL_OUTPUT "Output: "

struct gemini {
    struct buf said;         /* pieces of one message of a stream */
    unsigned calls, results; /* checkpoints have no ids: in order */
};

/* --- checkpoints --- */

static const char *numbered(const json_t *part, unsigned *count, char out[static 24]) {
    snprintf(out, 24, "call-%u", ++*count);
    return json_get_string(part, "id", out);
}

static void take_call(struct trace_build *b, const struct trace_node *part) {
    struct gemini *g = b->state;
    const json_t *call = json_object_get(part->value, "functionCall");
    char id[24];
    build_call(b, json_get_string(call, "name", ""), numbered(call, &g->calls, id),
               json_object_get(call, "args"));
}

/* What a tool answered, without what the shell tool puts in front of an output. */
static void add_answer(struct trace_build *b, const char *id, const struct trace_node *answer) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, trace_rules_get(answer, "response/error,response/output"));
    size_t head = strncmp(text.data, SHELL_OUTPUT, strlen(SHELL_OUTPUT)) ? 0 : strlen(SHELL_OUTPUT);
    struct trace_event *e = build_result(b, id, text.data + head, text.len - head);
    if (trace_rules_get(answer, "response/error") ||
        trace_rules_hold(answer, "^status=error,cancelled")) {
        build_failed(b, e);
    }
    build_exit_in_text(b, e);
}

static void take_response(struct trace_build *b, const struct trace_node *answer) {
    const char *id = trace_rules_text(answer, "^id");
    add_answer(b, id, answer);
}

static void take_answer(struct trace_build *b, const struct trace_node *part) {
    struct gemini *g = b->state;
    const struct trace_node answer = {json_object_get(part->value, "functionResponse"),
                                      part, 0};
    char id[24];
    add_answer(b, numbered(answer.value, &g->results, id), &answer);
}

/* --- the stream --- */

static void end_said(struct trace_build *b, struct gemini *g) {
    build_words(b, EVENT_SAY, g->said.data, g->said.len);
    buf_reset(&g->said);
}

static bool begin(struct trace_build *b, const char *, const json_t *record) {
    struct gemini *g = b->state;
    g->said.data = g->said.max ? g->said.data : buf_empty;
    g->said.max = TRACE_MAX_RECORD;
    if (!is(json_get_string(record, "type", ""), "message")) {
        end_said(b, g);
    }
    return true;
}

static void take_piece(struct trace_build *b, const struct trace_node *record) {
    struct gemini *g = b->state;
    buf_adds(&g->said, json_get_string(record->value, "content", ""));
    if (!json_get_bool(record->value, "delta", 0)) {
        end_said(b, g);
    }
}

static void gemini_end(struct trace_build *b) {
    struct gemini *g = b->state;
    if (g->said.max) {
        end_said(b, g);
        buf_finish(&g->said);
    }
}

const struct trace_hooks trace_gemini = {
    .state_size = sizeof(struct gemini),
    .begin = begin,
    .end = gemini_end,
    .odd =
        (const struct trace_odd[]){
            {"call", take_call}, {"answer", take_answer}, {"response", take_response},
            {"piece", take_piece}, {0}},
};
