/* Dumps of chat messages. mini-SWE-agent: what the agent says ends in the command, in a
 * block; the next turn is what came of it. */
#include "base/buf.h"
#include "base/mem.h"
#include "skills/traces/trace_envelope.h"
#include "skills/traces/trace_reader.h"
#include "skills/traces/trace_tool.h"

#include <stdlib.h>

#define RAN "<returncode>"

/* The last words' one block becomes a call. False when they have none. */
static bool call_in_words(struct trace_build *b) {
    struct trace *t = b->trace;
    struct trace_event *said = t->count ? &t->events[t->count - 1] : NULL;
    char *open = said && said->kind == EVENT_SAY ? strstr(said->text, "```bash\n") : NULL;
    char *close = open ? strstr(open + 8, "\n```") : NULL;
    if (!close) {
        return false;
    }
    autofree char *command = xstrndup(open + 8, (size_t)(close - (open + 8)));
    *open = '\0';
    said->text_len = (size_t)(open - said->text);
    build_command(b, "bash", NULL, command);
    return true;
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
    if (strncmp(text.data, RAN, strlen(RAN)) == 0 && call_in_words(b)) {
        take_ran(b, text.data);
        return;
    }
    envelope_strip(&plain, text.data, text.len);
    build_words(b, EVENT_USER, plain.data, plain.len);
}

const struct trace_hooks trace_messages = {
    .odd = (const struct trace_odd[]){{"turn", take_turn}, {0}},
};
