/* SWE-agent's trajectories: {trajectory: [{action, observation, thought, state}],
 * history, info}. The history says the same in the words of the model's messages. */
#include "base/buf.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#define EDIT "edit "
#define EDIT_END "end_of_edit"
#define EDITOR "str_replace_editor "

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

/* --- "str_replace_editor create PATH --file_text 'TEXT'" --- */

/* A word as a shell reads it, of any length; false: there is none. */
static bool read_word(const char **at, struct buf *out) {
    const char *s = *at + strspn(*at, " \t\n");
    bool any = *s != '\0';
    buf_reset(out);
    while (*s && !strchr(" \t\n", *s)) {
        size_t quoted = strchr("'\"", *s) ? strcspn(s + 1, *s == '"' ? "\"" : "'") : 0;
        if (*s == '\'' || *s == '"') {
            buf_add(out, s + 1, quoted);
            s += quoted + 1 + (s[quoted + 1] != '\0');
        } else {
            buf_addc(out, *s++);
        }
    }
    *at = s;
    return any;
}

/* {"command", "path", "file_text"?, "old_str"?, "new_str"? …}: as other agents send it.
 */
static json_t *editor_input(const char *words) {
    static const char *const places[] = {"command", "path"};
    json_t *input = json_object();
    autobuf word = BUF_INIT(TRACE_MAX_RECORD), key = BUF_INIT(64);
    for (size_t i = 0; read_word(&words, &word);) {
        if (key.len) {
            json_object_set_new(input, key.data, json_text(word.data, word.len));
            buf_reset(&key);
        } else if (word.len > 2 && strncmp(word.data, "--", 2) == 0) {
            buf_adds(&key, word.data + 2);
        } else if (i < ARRAY_LEN(places)) {
            json_object_set_new(input, places[i++], json_text(word.data, word.len));
        }
    }
    return input;
}

static bool says_done(const json_t *observation) {
    const char *text = json_string_value(observation);
    return text && (strstr(text, " has been edited") || strstr(text, "created success"));
}

static void use_editor(struct trace_build *b, const char *words,
                       const json_t *observation) {
    autojson *input = editor_input(words);
    char call[32];
    snprintf(call, sizeof call, "step %zu", b->trace->count);
    build_call(b, "str_replace_editor", call, input);
    struct trace_event *result = build_result_json(b, call, observation);
    if (build_find(b, EVENT_EDIT, call) && !says_done(observation)) {
        build_failed(b, result);
    }
}

/* The window of its own editor, or what its own search found: no shell ran. */
static bool is_shown(const char *observation) {
    return strncmp(observation, "[File: ", 7) == 0 ||
           (strncmp(observation, "Found ", 6) == 0 && strstr(observation, " matches "));
}

/* The editor shows the changed window, unless it refused. */
static bool is_edited(const char *observation) {
    return strstr(observation, "[File: ") &&
           !strstr(observation, "Your proposed edit has introduced");
}

static struct trace_event *take_tool(struct trace_build *b, const char *action,
                                     const char *observation) {
    autofree char *tool = xstrndup(action, strcspn(action, " \n"));
    autojson *input = json_pack("{s:s}", "action", action);
    build_call(b, tool, NULL, input);
    return build_result(b, NULL, observation, strlen(observation));
}

static void take_action(struct trace_build *b, const struct trace_node *step) {
    const char *action = json_get_string(step->value, "action", "");
    const char *observation = json_get_string(step->value, "observation", "");
    if (strncmp(action, EDIT, strlen(EDIT)) == 0) {
        if (is_edited(observation)) {
            take_edit(b, action, step->value);
        } else {
            build_failed(b, take_tool(b, action, observation));
        }
    } else if (is_shown(observation)) {
        take_tool(b, action, observation);
    } else if (strncmp(action, EDITOR, strlen(EDITOR)) == 0) {
        use_editor(b, action + strlen(EDITOR),
                   json_object_get(step->value, "observation"));
    } else {
        build_command(b, "bash", NULL, action);
        build_result_json(b, NULL, json_object_get(step->value, "observation"));
    }
}

static bool is_step(struct trace_build *, const char *key, const json_t *) {
    return key && is(key, "trajectory");
}

const struct trace_hooks trace_swe = {
    .begin = is_step,
    .odd = (const struct trace_odd[]){{"action", take_action}, {0}},
};
