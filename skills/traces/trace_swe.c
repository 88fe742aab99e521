/* SWE-agent's trajectories: {trajectory: [{action, observation, thought, state}],
 * history, info}. The history says the same in the words of the model's messages. */
#include "base/buf.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <string.h>

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

static bool swe_record(struct trace_build *b, const char *key, json_t *record) {
    if (!key || strcmp(key, "trajectory") != 0) {
        b->trace->skipped++;
        return true;
    }
    const char *action = json_get_string(record, "action", "");
    const json_t *thought = json_object_get(record, "thought");
    build_words_json(b, EVENT_SAY,
                     thought ? thought : json_object_get(record, "response"));
    if (strncmp(action, EDIT, strlen(EDIT)) == 0) {
        take_edit(b, action, record);
    } else if (*action) {
        build_command(b, "bash", NULL, action);
        build_result_json(b, NULL, json_object_get(record, "observation"));
    }
    return *action != '\0';
}

static const char *const swe_keys[] = {"trajectory", "history", NULL};

const struct trace_reader trace_swe = {
    .feed = FEED_ELEMENTS,
    .keys = swe_keys,
    .depth = 1,
    .record = swe_record,
};
