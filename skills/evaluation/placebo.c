#include "skills/evaluation/placebo.h"

#include "base/buf.h"
#include "skills/format/tokens.h"
#include "skills/placebo_prose.h"

#include <stdbool.h>
#include <string.h>

/* The end of the sentence or heading that begins at s. */
static size_t sentence_end(const char *s) {
    const char *end = s;
    while (*end && *end != '\n' && !(*end == '.' && (end[1] == ' ' || !end[1]))) {
        end++;
    }
    while (*end == '.' || *end == ' ' || *end == '\n') {
        end++;
    }
    return (size_t)(end - s);
}

/* Add a paragraph's sentences while there is room; false when the room is used. */
static bool add_paragraph(struct buf *out, const char *s, size_t tokens, size_t *used) {
    while (*s && *used < tokens) {
        size_t len = sentence_end(s);
        if (buf_add(out, s, len) < 0) {
            return false;
        }
        *used += tokens_estimate(s, len);
        s += len;
    }
    buf_adds(out, "\n\n");
    return *used < tokens;
}

void placebo_text(struct buf *out, size_t tokens) {
    size_t used = 0, i = 0;
    while (add_paragraph(out, placebo_prose[i], tokens ? tokens : 1, &used)) {
        i = placebo_prose[i + 1] ? i + 1 : 0;
    }
}
