#pragma once
/* refine_history: what a teacher tried, and why it was not taken.
 *
 * A teacher that does not see its rejected edits makes them again. Bounded: the oldest
 * are forgotten, and a prompt gets as many of the latest as it has room for. */
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

struct buf;

#define REFINE_HISTORY 32u /* attempts that are remembered */

struct refine_history {
    json_t *
        list; /* [{"edits"?, "reason", "digest"?: of the text that they gave}], or NULL */
};
/* edits are referenced; result: the text that they gave, or NULL. */
void refine_history_add(struct refine_history *h, const json_t *edits, const char *result,
                        const char *reason);
/* Why a text that came out before was not taken, or NULL. */
const char *refine_history_knows(const struct refine_history *h, const char *result);
/* The latest attempts, oldest first, in at most max bytes. */
void refine_history_write(const struct refine_history *h, size_t max, struct buf *out);
void refine_history_finish(struct refine_history *h);
