#include "skills/finding/directions.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/strings.h"
#include "base/text.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/models/model_client.h"

#include <math.h>
#include <stdio.h>

#define AT_ONCE 16u
#define PATIENCE_MS 10000u     /* of a waiter, and of one question */
#define KEPT_MAX (256u << 20)  /* bytes of all directions */
#define SHORTEST 64            /* bytes; of a shorter text no model says it is too long */
#define SAME_MODEL 0.98        /* cosine of one text's vectors, whatever the server's load */
#define ASKED json_integer(-1) /* in `known`, of what is not there yet */

struct direction {
    int8_t *numbers;
    size_t count;
    double length;
};

struct direction_question {
    struct directions *directions;
    struct model_call *call; /* NULL: the place is free */
    json_t *wanted;          /* {"key", "text"}; "again": asked past the cache */
};

struct directions {
    struct evaluation_guest guest;
    struct evaluation_room *room;
    struct model model;
    json_t *known;          /* key: place in list, or -1 */
    struct direction *list; /* capacity: the next power of two */
    size_t count, bytes;
    json_t *queue; /* of wanted, the next one last */
    struct direction_question questions[AT_ONCE];
    size_t in_flight;
    uint64_t since_ms; /* when they began */
    LIST_HEAD(, directions_wait) waiting;
    bool closing;
    bool proved;       /* that the endpoint's model is still the one whose answers are kept */
    size_t failed;     /* questions in a row */
    bool late;         /* a text failed for a reason that may pass */
    char problem[512]; /* what ends all questions */
    char refusal[512]; /* what the endpoint said of the last text that it refused */
};

/* --- what is kept --- */

static void forget_all(struct directions *d) {
    for (size_t i = 0; i < d->count; i++) {
        free(d->list[i].numbers);
    }
    free(take(d->list));
    d->count = d->bytes = 0;
    d->proved = false;
    json_object_clear(d->known);
    json_array_clear(d->queue);
}

/* NULL unless it is there. */
static const struct direction *find_direction(const struct directions *d,
                                              const char *key) {
    json_int_t place = json_get_integer(d->known, key, -1);
    return place < 0 ? NULL : &d->list[place];
}

/* numbers: whole ones of a byte each. */
static struct direction read_direction(const json_t *numbers) {
    struct direction ret = {.count = json_array_size(numbers)};
    double squares = 0;
    ret.numbers = xcalloc(ret.count + 1, 1);
    json_each(numbers, i, number) {
        ret.numbers[i] = (int8_t)json_integer_value(number);
        squares += ret.numbers[i] * ret.numbers[i];
    }
    ret.length = sqrt(squares);
    return ret;
}

static void keep(struct directions *d, const char *key, const json_t *numbers) {
    if (!(d->count & (d->count - 1))) {
        d->list = xreallocarray(d->list, d->count ? 2 * d->count : 1, sizeof *d->list);
    }
    json_object_set_new(d->known, key, json_integer((json_int_t)d->count));
    struct direction *kept = &d->list[d->count++];
    *kept = read_direction(numbers);
    d->bytes += kept->count + sizeof *kept;
}

const json_t *directions_known(const struct directions *d) {
    return d->known;
}

/* NAN unless both are as long, as one model's are. */
static double cosine(const struct direction *a, const struct direction *b) {
    int64_t product = 0;
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        product += a->numbers[i] * b->numbers[i];
    }
    return a->count == b->count ? (double)product / (a->length * b->length) : NAN;
}

const char *directions_refusal(const struct directions *d, const char *key) {
    return !key || json_get_integer(d->known, key, 0) < 0 ? d->refusal : NULL;
}

json_t *directions_near(const struct directions *d, const char *key) {
    const struct direction *here = find_direction(d, key);
    json_t *near = json_object();
    json_each_member(d->known, other, place) {
        const struct direction *there = find_direction(d, other);
        double c = here && there && here != there ? cosine(here, there) : NAN;
        (void)place;
        if (isfinite(c)) {
            json_object_set_new(near, other, json_real(c));
        }
    }
    return near;
}

/* --- asking --- */

static void free_when_over(struct directions *d) {
    if (d->closing && !d->in_flight) {
        struct evaluation_room *room = d->room;
        forget_all(d);
        json_decref(d->known);
        json_decref(d->queue);
        model_finish(&d->model);
        evaluation_room_leave(room, &d->guest);
        free(d);
    }
}

static void tell(struct directions *d, const char *problem) {
    LIST_HEAD(, directions_wait) told = LIST_HEAD_INITIALIZER(told);
    struct directions_wait *w;
    while ((w = LIST_FIRST(&d->waiting))) {
        LIST_REMOVE(w, link);
        LIST_INSERT_HEAD(&told, w, link);
    }
    while ((w = LIST_FIRST(&told))) { /* they may ask for more, or leave */
        LIST_REMOVE(w, link);
        w->done(w, problem);
    }
}

static void stop_asking(struct directions *d) {
    json_array_clear(d->queue);
    for (size_t i = 0; i < AT_ONCE; i++) {
        if (d->questions[i].call) {
            model_call_cancel(d->questions[i].call);
        }
    }
}

static void give_up(struct directions *d, const char *why) {
    if (!d->problem[0]) {
        snprintf(d->problem, sizeof d->problem, "%s", why);
        stop_asking(d);
    }
}

/* Texts that were requested and not delivered are requested again by the next caller,
 * those that the endpoint refused only where it answered nothing else. */
static void drop_problem(struct directions *d) {
    json_int_t least = d->problem[0] ? 0 : DIRECTION_REFUSED;
    autojson *known = json_object();
    json_each_member(d->known, key, place) {
        json_int_t at = json_integer_value(place);
        if (at >= 0 || at == least) {
            json_object_set(known, key, place);
        }
    }
    json_t *old = d->known;
    d->known = json_incref(known);
    json_decref(old);
    d->problem[0] = '\0';
    d->failed = 0;
    d->late = false;
}

static bool is_over(const struct directions *d) {
    return !d->in_flight && !json_array_size(d->queue);
}

/* Patience is had with the first look as a whole, not with each that asks meanwhile. */
static bool takes_long(const struct directions *d, char text[static 160]) {
    snprintf(text, 160,
             "%zu vectors are there and %zu are still missing: try again later", d->count,
             json_array_size(d->queue) + d->in_flight);
    return clock_ms() - d->since_ms >= PATIENCE_MS;
}

static void tell_who_waits(struct directions *d) {
    char problem[sizeof d->problem];
    if (is_over(d) && (d->late || !d->count)) {
        give_up(d, d->refusal);
    }
    memcpy(problem, d->problem, sizeof problem);
    if (is_over(d)) {
        drop_problem(d);
        tell(d, problem[0] ? problem : NULL);
    } else if (takes_long(d, problem)) {
        tell(d, problem);
    }
}

static void on_answer(struct model_call *call, const struct model_answer *a, void *data);

static int ask_next(struct directions *d, struct direction_question *q, struct err *err) {
    size_t last = json_array_size(d->queue) - 1;
    json_t *wanted = json_incref(json_array_get(d->queue, last));
    const struct model_message message = {.role = "user",
                                          .text = json_get_string(wanted, "text", "")};
    const struct model_request request = {.model = &d->model,
                                          .messages = &message,
                                          .message_count = 1,
                                          .no_cache = json_get_bool(wanted, "again", 0),
                                          .deadline_ms = PATIENCE_MS};
    json_array_remove(d->queue, last);
    q->directions = d;
    q->wanted = wanted;
    int rc = model_call_start(evaluation_room_client(d->room), &request, NULL, on_answer,
                              q, &q->call, err);
    if (rc < 0) {
        json_decref(take(q->wanted));
    }
    d->in_flight += rc == 0;
    return rc;
}

static void ask_on(struct directions *d) {
    struct err err = {0};
    for (size_t i = 0; i < AT_ONCE && !d->problem[0] && json_array_size(d->queue); i++) {
        if (!d->questions[i].call && ask_next(d, &d->questions[i], &err) < 0) {
            give_up(d, err.msg);
        }
    }
}

/* Keeps the first half, the model reads no more of it. */
static bool ask_shorter(struct directions *d, const json_t *wanted,
                        const struct model_answer *a) {
    const char *text = json_get_string(wanted, "text", "");
    size_t half = text_cut(text, strlen(text), strlen(text) / 2);
    if (strcmp(a->reason, "context_too_long") != 0 || half < SHORTEST) {
        return false;
    }
    json_array_append_new(d->queue,
                          json_pack("{s:O,s:o}", "key", json_object_get(wanted, "key"),
                                    "text", json_text(text, half)));
    return true;
}

/* Because of the text itself, as far as one failure tells. */
static bool is_refusal(const struct model_answer *a) {
    static const char *const reasons[] = {"context_too_long", "bad_request", "bad_answer",
                                          "answer_too_large", "server_error", NULL};
    return strings_have(reasons, a->reason);
}

/* The others are asked on, unless the endpoint answers none of them. */
static void set_aside(struct directions *d, const char *key,
                      const struct model_answer *a) {
    snprintf(d->refusal, sizeof d->refusal, "%s",
             a->message[0] ? a->message : "the endpoint gave no vector");
    if (is_refusal(a)) {
        json_object_set_new(d->known, key, json_integer(DIRECTION_REFUSED));
    } else {
        d->late = true;
    }
    if (++d->failed == AT_ONCE) {
        give_up(d, d->refusal);
    }
}

static void tell_other_model(struct directions *d) {
    forget_all(d);
    give_up(d, "the endpoint's vectors are not those that it gave before: where it serves "
               "another model now, say so with `model` in the configuration");
}

/* A server may serve another model under the same name than the one whose answers were
 * kept: one of them is asked again. */
static void prove(struct directions *d, const json_t *wanted) {
    d->proved = true;
    json_array_append_new(d->queue,
                          json_pack("{s:O,s:O,s:b}", "key", json_object_get(wanted, "key"),
                                    "text", json_object_get(wanted, "text"), "again", 1));
}

static void take_numbers(struct directions *d, const json_t *wanted,
                         const json_t *numbers, bool cached) {
    const char *key = json_get_string(wanted, "key", "");
    d->failed = 0;
    keep(d, key, numbers);
    if (d->list[0].count != d->list[d->count - 1].count) {
        tell_other_model(d);
    } else if (cached && !d->proved) {
        prove(d, wanted);
    }
}

static void compare_again(struct directions *d, const json_t *wanted,
                          const json_t *numbers) {
    const struct direction fresh = read_direction(numbers), *kept = find_direction(
                                       d, json_get_string(wanted, "key", ""));
    autofree int8_t *bytes = fresh.numbers;
    if (kept && fresh.count && !(cosine(kept, &fresh) > SAME_MODEL)) { /* or NAN */
        tell_other_model(d);
    }
}

static void take_answer(struct directions *d, const json_t *wanted,
                        const struct model_answer *a) {
    autofree char *text = xstrdup(a->text);
    autojson *numbers =
        a->outcome == MODEL_ANSWERED ? json_parse(text, strlen(text), NULL) : NULL;
    if (json_get_bool(wanted, "again", 0)) {
        compare_again(d, wanted, numbers);
    } else if (d->bytes > KEPT_MAX) {
        give_up(d, "the skills' vectors take more than 256 MiB");
    } else if (json_array_size(numbers)) {
        take_numbers(d, wanted, numbers, a->cached);
    } else if (!ask_shorter(d, wanted, a)) {
        set_aside(d, json_get_string(wanted, "key", ""), a);
    }
}

static void on_answer(struct model_call *, const struct model_answer *a, void *data) {
    struct direction_question *q = data;
    struct directions *d = q->directions;
    autojson *wanted = take(q->wanted);
    q->call = NULL;
    d->in_flight--;
    if (!d->problem[0]) {
        take_answer(d, wanted, a);
    }
    ask_on(d);
    tell_who_waits(d);
    free_when_over(d);
}

static void want(struct directions *d, json_t *one) {
    const char *key = json_get_string(one, "key", "");
    if (!json_object_get(d->known, key)) {
        json_object_set_new(d->known, key, ASKED);
        json_array_append(d->queue, one);
    }
}

int directions_ask(struct directions *d, const json_t *wanted,
                   struct directions_wait *wait, struct err *err) {
    char problem[160];
    if (is_over(d)) {
        d->since_ms = clock_ms();
        if (d->bytes > KEPT_MAX) {
            forget_all(d);
        }
    }
    for (size_t i = json_array_size(wanted); i-- > 0;) { /* the first is asked first */
        want(d, json_array_get(wanted, i));
    }
    ask_on(d);
    if (d->problem[0] && !d->in_flight) {
        err_set(err, -EIO, "%s", d->problem);
        drop_problem(d);
        return -EIO;
    }
    if (is_over(d)) {
        return 1;
    }
    if (takes_long(d, problem)) {
        return err_set(err, -EAGAIN, "%s", problem);
    }
    LIST_INSERT_HEAD(&d->waiting, wait, link);
    return 0;
}

void directions_leave(struct directions_wait *wait) {
    LIST_REMOVE(wait, link);
}

/* --- life --- */

static void on_room_closing(struct evaluation_guest *guest) {
    struct directions *d = container_of(guest, struct directions, guest);
    d->closing = true;
    stop_asking(d);
    tell(d, "the daemon is ending");
    free_when_over(d);
}

struct directions *directions_of(struct evaluation_room *room,
                                 const struct model *model) {
    struct evaluation_guest *guest = evaluation_room_guest(room, on_room_closing);
    if (guest) {
        return container_of(guest, struct directions, guest);
    }
    struct directions *d = xcalloc(1, sizeof *d);
    d->guest.stop = on_room_closing;
    d->room = room;
    d->known = json_object();
    d->queue = json_array();
    model_copy(&d->model, model);
    evaluation_room_enter(room, &d->guest);
    return d;
}
