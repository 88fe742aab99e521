#pragma once
/* endpoint: an address and a key, how many requests it bears at once, and what its models
 * were found to refuse.
 *
 * The number in flight adapts (additive increase, multiplicative decrease): it starts at
 * `start`, or where a caller who knows the endpoint says; on 429 and on a request that
 * got no answer in time it falls by a fifth, at most once in 15 s; it doubles per full
 * round of answers until the first 429 and grows by 5 % (at least 1) after that, and only
 * while it is what holds calls back; server errors (529 too) pause the growth for 15 s. A
 * An endpoint without a key (a server of one's own) is paced: it starts at 2, callers'
 * wishes are not believed, and it doubles only while a round of answers comes at a
 * quarter more answers per second than the best before; at the first that does not, it
 * stays at what was best. Such servers queue what they cannot do, and questions end in
 * their queue. A 429 also holds back new requests for the delay it asks for, at most 60
 * s. Times are clock_ms. */
#include "skills/models/api.h"

#include <sys/queue.h>

#define ENDPOINT_MAX 64         /* idle ones over this are forgotten */
#define ENDPOINT_MAX_MODELS 256 /* of which an endpoint remembers quirks */

struct in_flight_limit {
    double now; /* requests allowed at once */
    unsigned max;
    unsigned good; /* answers since it last grew */
    bool slow_start, was_full;
    uint64_t cooling_until, growing_from;
    bool paced;
    double best_rate, best; /* answers per ms, and the limit that had them */
    uint64_t round_from;    /* of a paced one; 0 = before its first question */
};
void limit_init(struct in_flight_limit *l, unsigned start, unsigned max);
void limit_pace(struct in_flight_limit *l); /* after limit_init */
/* A caller wants so many at once: raises the limit until the first 429. */
void limit_expect(struct in_flight_limit *l, unsigned at_once);
void limit_started(struct in_flight_limit *l, unsigned in_flight, uint64_t now);
void limit_answered(struct in_flight_limit *l, uint64_t now);
/* 429, or no answer in time. */
void limit_refused(struct in_flight_limit *l, uint64_t now);
void limit_server_failed(struct in_flight_limit *l, uint64_t now);
unsigned limit_value(const struct in_flight_limit *l);

TAILQ_HEAD(model_queue, model_call);

struct endpoint {
    TAILQ_ENTRY(endpoint) link;
    char *base_url;
    char identity[65]; /* SHA-256 of address and key */
    struct in_flight_limit limit;
    struct model_queue queue;          /* of calls that wait for their turn */
    unsigned calls, in_flight, queued; /* calls: that refer to it */
    uint64_t held_until;
    uint64_t requests, retries, rate_limited;
    json_t *models; /* {name: its quirks} */
};
TAILQ_HEAD(endpoint_list, endpoint);

/* Found or made. key may be NULL; it is hashed, not kept. */
struct endpoint *endpoint_get(struct endpoint_list *list, const struct model *model,
                              const char *key, unsigned start, unsigned max);
void endpoint_list_finish(struct endpoint_list *list);
/* Hold back for so long, at most a minute. */
void endpoint_hold(struct endpoint *e, uint64_t now, int64_t delay_ms);
bool endpoint_has_room(const struct endpoint *e, uint64_t now);
unsigned endpoint_quirks(const struct endpoint *e, const char *model);
void endpoint_learn(struct endpoint *e, const char *model, unsigned quirks);
json_t *endpoint_to_json(const struct endpoint *e);
