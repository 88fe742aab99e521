#include "skills/finding/directions.h"

#include "base/clock.h"
#include "base/err.h"
#include "skills/evaluation/evaluation_room.h"
#include "skills/models/model_client.h"

#include <math.h>
#include <stdio.h>

#define AT_ONCE 16u
#define PATIENCE_MS 10000u     /* of a waiter, and of one question */
#define KEPT_MAX (256u << 20)  /* bytes of all directions */
#define ASKED json_integer(-1) /* in `known`, of what is not there yet */

struct direction {
    int8_t *numbers;
    size_t count;
    double length;
};

struct direction_question {
    struct directions *directions;
    struct model_call *call; /* NULL: the place is free */
    json_t *wanted;          /* {"key", "text"} */
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
    char problem[512]; /* what ends all questions */
};

/* --- what is kept --- */

static void forget_all(struct directions *d) {
    for (size_t i = 0; i < d->count; i++) {
        free(d->list[i].numbers);
    }
    free(take(d->list));
    d->count = d->bytes = 0;
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
static void keep(struct directions *d, const char *key, const json_t *numbers) {
    struct direction kept = {.count = json_array_size(numbers)};
    double squares = 0;
    kept.numbers = xcalloc(kept.count, 1);
    json_each(numbers, i, number) {
        kept.numbers[i] = (int8_t)json_integer_value(number);
        squares += kept.numbers[i] * kept.numbers[i];
    }
    kept.length = sqrt(squares);
    if (!(d->count & (d->count - 1))) {
        d->list = xreallocarray(d->list, d->count ? 2 * d->count : 1, sizeof *d->list);
    }
    json_object_set_new(d->known, key, json_integer((json_int_t)d->count));
    d->list[d->count++] = kept;
    d->bytes += kept.count + sizeof kept;
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

/* Texts that were requested and not delivered are requested again by the next caller. */
static void drop_problem(struct directions *d) {
    d->problem[0] = '\0';
    autojson *known = json_object();
    json_each_member(d->known, key, place) {
        if (json_integer_value(place) >= 0) {
            json_object_set(known, key, place);
        }
    }
    json_t *old = d->known;
    d->known = json_incref(known);
    json_decref(old);
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

static void on_answer(struct model_call *call, const struct model_answer *a, void *data) {
    struct direction_question *q = data;
    struct directions *d = q->directions;
    (void)call;
    autojson *wanted = take(q->wanted);
    autofree char *text = xstrdup(a->text);
    autojson *numbers =
        a->outcome == MODEL_ANSWERED ? json_parse(text, strlen(text), NULL) : NULL;
    q->call = NULL;
    d->in_flight--;
    if (d->bytes > KEPT_MAX) {
        give_up(d, "the skills' vectors take more than 256 MiB");
    } else if (json_array_size(numbers)) {
        keep(d, json_get_string(wanted, "key", ""), numbers);
    } else {
        give_up(d, a->message[0] ? a->message : "the endpoint gave no vector");
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
