/* Dumps of chat messages. Where a model cannot call tools, what it says ends in the call:
 * mini-SWE-agent's command in a block, OpenHands' and SWE-agent's in tags. The next turn
 * is what came of it. */
#include "base/buf.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#define RAN "<returncode>"
#define FUNCTION "<function="
#define PARAMETER "<parameter="

/* Where the last words hold this, or NULL. */
static char *find_in_words(const struct trace_build *b, const char *mark) {
    const struct trace *t = b->trace;
    const struct trace_event *said = t->count ? &t->events[t->count - 1] : NULL;
    return said && said->kind == EVENT_SAY ? strstr(said->text, mark) : NULL;
}

/* The last words end in front of the call. */
static void end_words(struct trace_build *b, char *at) {
    struct trace_event *said = &b->trace->events[b->trace->count - 1];
    *at = '\0';
    said->text_len = (size_t)(at - said->text);
}

/* The last words' one block becomes a call. False when they have none. */
static bool call_in_block(struct trace_build *b) {
    char *open = find_in_words(b, "```bash\n");
    char *close = open ? strstr(open + 8, "\n```") : NULL;
    if (!close) {
        return false;
    }
    autofree char *command = xstrndup(open + 8, (size_t)(close - (open + 8)));
    end_words(b, open);
    build_command(b, "bash", NULL, command);
    return true;
}

/* <parameter=KEY>VALUE</parameter> …; a line's end around a value is none of it. */
static json_t *parameters_of(const char *s) {
    json_t *input = json_object();
    while ((s = strstr(s, PARAMETER))) {
        s += strlen(PARAMETER);
        autofree char *key = xstrndup(s, strcspn(s, ">\n"));
        const char *value = s + strlen(key) + (s[strlen(key)] != '\0');
        value += *value == '\n';
        const char *end = strstr(value, "</parameter>");
        end = end ? end : value + strlen(value);
        size_t len = (size_t)(end - value);
        len -= len && value[len - 1] == '\n';
        json_object_set_new(input, key, json_text(value, len));
        s = end;
    }
    return input;
}

/* <function=NAME>, its parameters, </function>. */
static bool call_in_tags(struct trace_build *b) {
    char *open = find_in_words(b, FUNCTION);
    if (!open) {
        return false;
    }
    const char *name = open + strlen(FUNCTION);
    autofree char *tool = xstrndup(name, strcspn(name, ">\n"));
    autojson *input = parameters_of(name);
    end_words(b, open);
    build_call(b, tool, NULL, input);
    return true;
}

/* What a harness writes above a result, "EXECUTION RESULT of [NAME]:" or "OBSERVATION:",
 * and what stands behind it; NULL: it is none. */
static const char *behind_heading(const char *text) {
    bool heading = strncmp(text, "EXECUTION RESULT of [", 21) == 0 ||
                   strncasecmp(text, "OBSERVATION:", 12) == 0;
    const char *colon = heading ? strchr(text, ':') : NULL;
    return colon ? colon + 1 + strspn(colon + 1, " \r\n") : NULL;
}

static void take_ran(struct trace_build *b, const char *text) {
    const char *output = strstr(text, "<output>\n");
    output = output ? output + strlen("<output>\n") : strchr(text, '\n');
    const char *end = output ? strstr(output, "</output>") : NULL;
    size_t len = end ? (size_t)(end - output) : (output ? strlen(output) : 0);
    struct trace_event *e = build_result(b, NULL, output ? output : "", len);
    build_exit(b, e, atoi(text + strlen(RAN)));
}

static void take_turn(struct trace_build *b, const struct trace_node *node) {
    autobuf text = BUF_INIT(2 * TRACE_MAX_RECORD), plain = BUF_INIT(2 * TRACE_MAX_RECORD);
    content_text(&text, trace_rules_get(node, "text,content"));
    if (strncmp(text.data, RAN, strlen(RAN)) == 0 && call_in_block(b)) {
        take_ran(b, text.data);
        return;
    }
    const char *result = behind_heading(text.data);
    if (result && call_in_tags(b)) {
        build_exit_in_text(b, build_result(b, NULL, result, strlen(result)));
        return;
    }
    envelope_strip(&plain, text.data, text.len);
    build_words(b, EVENT_USER, plain.data, plain.len);
}

const struct trace_hooks trace_messages = {
    .odd = (const struct trace_odd[]){{"turn", take_turn}, {0}},
};
