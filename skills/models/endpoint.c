#include "skills/models/endpoint.h"

#include "base/hash.h"

#define COOLING_MS 15000
#define PACED_START 2
/* A higher limit was worth it if there are so many times as many answers per second. */
#define PAYS 1.25
#define LONGEST_HOLD_MS 60000

/* --- how many at once --- */

void limit_init(struct in_flight_limit *l, unsigned start, unsigned max) {
    *l = (struct in_flight_limit){
        .now = start < max ? start : max, .max = max, .slow_start = true};
}

void limit_pace(struct in_flight_limit *l) {
    l->paced = true;
    l->now = l->now < PACED_START ? l->now : PACED_START;
}

unsigned limit_value(const struct in_flight_limit *l) {
    return l->now < 1 ? 1 : (unsigned)l->now;
}

void limit_expect(struct in_flight_limit *l, unsigned at_once) {
    unsigned wanted = at_once < l->max ? at_once : l->max;
    if (l->slow_start && !l->paced && wanted > l->now) {
        l->now = wanted;
        l->good = 0;
    }
}

void limit_started(struct in_flight_limit *l, unsigned in_flight, uint64_t now) {
    l->round_from = l->round_from ? l->round_from : now;
    l->was_full |= in_flight >= limit_value(l);
}

/* Whether the limit of the round that ends now was worth it. If not, the best limit so
 * far becomes final. */
static bool pays(struct in_flight_limit *l, uint64_t now) {
    double ms = now > l->round_from ? (double)(now - l->round_from) : 1;
    double rate = l->good / ms;
    l->round_from = now;
    if (rate < PAYS * l->best_rate) {
        l->now = l->best;
        l->slow_start = false;
        return false;
    }
    l->best_rate = rate;
    l->best = l->now;
    return true;
}

void limit_answered(struct in_flight_limit *l, uint64_t now) {
    if (l->paced && !l->slow_start) {
        return;
    }
    if (now < l->growing_from || !l->was_full || ++l->good < limit_value(l)) {
        return;
    }
    if (l->paced && !pays(l, now)) {
        return;
    }
    double grown = l->slow_start ? l->now * 2 : l->now * 1.05;
    grown = grown < l->now + 1 ? l->now + 1 : grown;
    l->now = grown < l->max ? grown : l->max;
    l->good = 0;
    l->was_full = false;
}

void limit_refused(struct in_flight_limit *l, uint64_t now) {
    l->slow_start = false;
    l->good = 0;
    l->growing_from = now + COOLING_MS;
    if (now < l->cooling_until) {
        return;
    }
    l->cooling_until = now + COOLING_MS;
    l->now = l->now * 0.8 < 1 ? 1 : l->now * 0.8;
}

void limit_server_failed(struct in_flight_limit *l, uint64_t now) {
    l->good = 0;
    l->growing_from = now + COOLING_MS;
}

/* --- the list --- */

static void identify(char ret[static HASH_HEX_SIZE], const struct model *m,
                     const char *key) {
    struct hash h;
    hash_init(&h);
    hash_add_field(&h, m->base_url, strlen(m->base_url));
    hash_add_field(&h, m->api == MODEL_MESSAGES ? "m" : "c", 1);
    hash_add_field(&h, key ? key : "", key ? strlen(key) : 0);
    hash_hex(&h, ret);
}

static void endpoint_free(struct endpoint *e) {
    json_decref(e->models);
    free(e->base_url);
    free(e);
}

static void forget_idle(struct endpoint_list *list) {
    struct endpoint *e, *idle = NULL;
    size_t count = 0;
    TAILQ_FOREACH(e, list, link) {
        count++;
        idle = !idle && e->calls == 0 ? e : idle;
    }
    if (count >= ENDPOINT_MAX && idle) {
        TAILQ_REMOVE(list, idle, link);
        endpoint_free(idle);
    }
}

struct endpoint *endpoint_get(struct endpoint_list *list, const struct model *model,
                              const char *key, unsigned start, unsigned max) {
    char identity[HASH_HEX_SIZE];
    struct endpoint *e;
    identify(identity, model, key);
    TAILQ_FOREACH(e, list, link) {
        if (strcmp(e->identity, identity) == 0) {
            return e;
        }
    }
    forget_idle(list);
    e = xcalloc(1, sizeof *e);
    e->base_url = xstrdup(model->base_url);
    e->models = json_object();
    memcpy(e->identity, identity, sizeof e->identity);
    limit_init(&e->limit, start, max);
    if (!key) {
        limit_pace(&e->limit);
    }
    TAILQ_INIT(&e->queue);
    TAILQ_INSERT_TAIL(list, e, link);
    return e;
}

void endpoint_list_finish(struct endpoint_list *list) {
    struct endpoint *e;
    while ((e = TAILQ_FIRST(list))) {
        TAILQ_REMOVE(list, e, link);
        endpoint_free(e);
    }
}

void endpoint_hold(struct endpoint *e, uint64_t now, int64_t delay_ms) {
    int64_t wait = delay_ms < LONGEST_HOLD_MS ? delay_ms : LONGEST_HOLD_MS;
    uint64_t until = now + (uint64_t)(wait > 0 ? wait : 0);
    e->held_until = until > e->held_until ? until : e->held_until;
}

bool endpoint_has_room(const struct endpoint *e, uint64_t now) {
    return now >= e->held_until && e->in_flight < limit_value(&e->limit);
}

/* --- quirks --- */

unsigned endpoint_quirks(const struct endpoint *e, const char *model) {
    return (unsigned)json_get_integer(e->models, model, 0);
}

void endpoint_learn(struct endpoint *e, const char *model, unsigned quirks) {
    bool known = json_object_get(e->models, model);
    if (known || (quirks && json_object_size(e->models) < ENDPOINT_MAX_MODELS)) {
        json_object_set_new(e->models, model, json_integer(quirks));
    }
}

static json_t *quirks_to_json(const struct endpoint *e) {
    json_t *models = json_object();
    json_each_member(e->models, name, quirks) {
        json_t *names = json_array();
        for (unsigned bit = 1; bit < 1u << QUIRK_COUNT; bit <<= 1) {
            if (json_integer_value(quirks) & bit) {
                json_array_append_new(names, json_string(api_quirk_name(bit)));
            }
        }
        json_object_set_new(models, name, names);
    }
    return models;
}

json_t *endpoint_to_json(const struct endpoint *e) {
    return json_pack("{s:o, s:i, s:i, s:i, s:I, s:I, s:I, s:o}", "base_url",
                     json_clean_z(e->base_url), "in_flight", (int)e->in_flight, "limit",
                     (int)limit_value(&e->limit), "queued", (int)e->queued, "requests",
                     (json_int_t)e->requests, "retries", (json_int_t)e->retries,
                     "rate_limited", (json_int_t)e->rate_limited, "learned",
                     quirks_to_json(e));
}
