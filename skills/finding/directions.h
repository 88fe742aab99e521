#pragma once
/* directions: embeddings of texts from an endpoint's model, kept in memory.
 *
 * Each text is requested once, several at a time, and waiting callers are notified when
 * all are available. The first pass over a large collection takes longer than a caller
 * waits: it continues in the background for later callers. One per evaluation room, on
 * the loop. */
#include "base/json.h"

#include <sys/queue.h>

struct directions;
struct evaluation_room;
struct model;

/* Created at first use; lives as long as the room, which must not be closing. */
struct directions *directions_of(struct evaluation_room *room, const struct model *model);

/* problem: why some are missing, or NULL. Called once, from the loop. */
struct directions_wait {
    void (*done)(struct directions_wait *wait, const char *problem);
    LIST_ENTRY(directions_wait) link;
};
/* wanted: [{"key", "text"}], the most important first. 1: all are available. 0: `wait`,
 * which the caller owns, is called within about ten seconds. -EAGAIN: it takes longer,
 * and continues; -EIO: the endpoint cannot be used. */
int directions_ask(struct directions *d, const json_t *wanted,
                   struct directions_wait *wait, struct err *err);
void directions_leave(struct directions_wait *wait); /* the caller no longer waits */

/* The keys whose embeddings are available or requested, and those that the endpoint
 * refused while it answered others: {key: DIRECTION_REFUSED or another number}. Borrowed.
 */
#define DIRECTION_REFUSED (-2)
const json_t *directions_known(const struct directions *d);
/* What the endpoint said when it refused this text; the last of all without key. NULL: it
 * did not. */
const char *directions_refusal(const struct directions *d, const char *key);
/* {other: cosine} for all keys except key, -1…1: new reference. */
json_t *directions_near(const struct directions *d, const char *key);
