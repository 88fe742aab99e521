/* What a hostile agent prints: the first byte says which format and how the bytes come.
 * Whatever comes, the answer is bounded UTF-8, read in pieces it is what it is whole, and
 * a failure has a sentence. */
#include "base/text.h"
#include "skills/evaluation/agent_student.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool good) {
    if (!good) {
        abort();
    }
}

static struct agent_events *read_all(enum agent_format format, const char *bytes,
                                     size_t len, size_t piece, struct agent_answer *ret) {
    struct agent_events *e = agent_events_new(format);
    for (size_t at = 0; at < len; at += piece) {
        agent_events_add(e, bytes + at, at + piece < len ? piece : len - at);
    }
    agent_events_end(e, ret);
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) {
        return 0;
    }
    enum agent_format format = (enum agent_format)(data[0] % 4);
    struct agent_answer whole, cut;
    const char *bytes = (const char *)data + 1;
    struct agent_events *a = read_all(format, bytes, size - 1, size, &whole);
    struct agent_events *b = read_all(format, bytes, size - 1, data[0] / 4 + 1, &cut);
    size_t len = strlen(whole.text);
    check(len <= 3 * AGENT_MAX_TEXT && text_is_utf8(whole.text, len));
    check(text_is_utf8(whole.why, strlen(whole.why)) && strlen(whole.why) < 2048);
    check(whole.failure == 0 ? len > 0 || format == AGENT_TEXT : whole.why[0] != '\0');
    check(strcmp(whole.text, cut.text) == 0 && strcmp(whole.why, cut.why) == 0);
    check(whole.input == cut.input && whole.output == cut.output &&
          whole.activated == cut.activated && whole.failure == cut.failure);
    agent_events_free(a);
    agent_events_free(b);
    return 0;
}
