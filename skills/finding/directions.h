#pragma once
/* directions: where texts point in the eyes of an endpoint's model, kept in memory.
 *
 * Each text is asked for once, some at a time, and whoever waits is told when all are
 * there. The first look at a large collection outlasts a waiter's patience: it goes on by
 * itself, for those who ask later. One for each evaluation room, on the loop. */
#include "base/json.h"

#include <sys/queue.h>

struct directions;
struct err;
struct evaluation_room;
struct model;

/* Made when first asked for; lives as long as the room, which must not be closing. */
struct directions *directions_of(struct evaluation_room *room, const struct model *model);

/* problem: why not all is there, or NULL. Called once, from the loop. */
struct directions_wait {
    void (*done)(struct directions_wait *wait, const char *problem);
    LIST_ENTRY(directions_wait) link;
};
/* wanted: [{"key", "text"}], the first one most. 1: all are there. 0: `wait`,
 * the caller's, is told within some ten seconds. -EAGAIN: that takes longer, and goes on;
 * -EIO: nothing can be asked. */
int directions_ask(struct directions *d, const json_t *wanted,
                   struct directions_wait *wait, struct err *err);
void directions_leave(struct directions_wait *wait); /* who waits no more */

/* The keys whose directions are there, or are being asked for. Borrowed. */
const json_t *directions_known(const struct directions *d);
/* {other: cosine} of all but key, -1…1: new reference. */
json_t *directions_near(const struct directions *d, const char *key);
