/* SWE-agent's trajectories: {trajectory: [{action, observation, thought, state}],
 * history, info}. The history says the same in the words of the model's messages. */
#include "base/buf.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#define EDIT "edit "
#define EDIT_END "end_of_edit"

/* "edit 3:5\nnew lines\nend_of_edit": which lines went is not said. */
static void take_edit(struct trace_build *b, const char *action, const json_t *step) {
    autobuf state = BUF_INIT(TRACE_MAX_RECORD); /* JSON in a text */
    buf_adds(&state, json_get_string(step, "state", "{}"));
    autojson *parsed = json_parse(state.data, state.len, NULL);
    const char *path = json_get_string(parsed, "open_file", NULL);
    const char *line = strchr(action, '\n'), *end = strstr(action, "\n" EDIT_END);
    autobuf diff = BUF_INIT(2 * TRACE_MAX_RECORD);
    while (path && line && line < end) {
        size_t len = strcspn(++line, "\n");
        buf_addf(&diff, "+%.*s\n", (int)len, line);
        line += len;
    }
    if (diff.len) {
        build_edit(b, NULL, "edit", path, diff.data, diff.len, true);
    }
}

static void take_action(struct trace_build *b, const struct trace_node *step) {
    const char *action = json_get_string(step->value, "action", "");
    if (strncmp(action, EDIT, strlen(EDIT)) == 0) {
        take_edit(b, action, step->value);
    } else {
        build_command(b, "bash", NULL, action);
        build_result_json(b, NULL, json_object_get(step->value, "observation"));
    }
}

static bool is_step(struct trace_build *b, const char *key, const json_t *record) {
    (void)b;
    (void)record;
    return key && is(key, "trajectory");
}

const struct trace_hooks trace_swe = {
    .begin = is_step,
    .odd = (const struct trace_odd[]){{"action", take_action}, {0}},
};
