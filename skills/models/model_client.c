#include "skills/models/model_client.h"

#include "base/clock.h"
#include "skills/models/model_call.h"

#define MAX_IN_FLIGHT 64
#define START_IN_FLIGHT 20

const char *model_outcome_name(enum model_outcome outcome) {
    static const char *const names[] = {"answered", "refused", "truncated", "context_cut",
                                        "invalid",  "failed",  "budget",    "cancelled"};
    return names[outcome];
}

/* --- states --- */

static void on_turn(uv_timer_t *timer);

void client_wake(struct model_client *client) {
    client->woken = true;
    uv_timer_start(&client->timer, on_turn, 0, 0);
}

static void enter(struct model_call *call, enum model_call_state state) {
    call->state = state;
    client_wake(call->client);
}

/* Out of the list of its state. */
static void leave(struct model_call *call) {
    if (call->state == CALL_QUEUED) {
        TAILQ_REMOVE(&call->endpoint->queue, call, turn);
        call->endpoint->queued--;
    } else if (call->state == CALL_WAITING || call->lingering) {
        TAILQ_REMOVE(&call->client->waiting, call, turn);
        call->lingering = false;
    } else if (call->state == CALL_OVER) {
        TAILQ_REMOVE(&call->client->over, call, turn);
    }
}

void call_queue(struct model_call *call) {
    leave(call);
    call->endpoint->queued++;
    if (call->begun) {
        TAILQ_INSERT_HEAD(&call->endpoint->queue, call, turn);
    } else {
        TAILQ_INSERT_TAIL(&call->endpoint->queue, call, turn);
    }
    enter(call, CALL_QUEUED);
}

void call_wait(struct model_call *call, uint64_t due) {
    leave(call);
    call->due = due;
    TAILQ_INSERT_TAIL(&call->client->waiting, call, turn);
    enter(call, CALL_WAITING);
}

void call_over(struct model_call *call, enum model_outcome outcome, const char *reason,
               const char *hint) {
    leave(call);
    call->answer.outcome = outcome;
    call->answer.reason = reason;
    call->answer.hint = hint;
    TAILQ_INSERT_TAIL(&call->client->over, call, turn);
    enter(call, CALL_OVER);
}

/* --- turns --- */

static void deliver(struct model_call *call) {
    leave(call);
    TAILQ_REMOVE(&call->client->calls, call, link);
    struct model_answer *a = &call->answer;
    a->text = call->text.data;
    a->message = call->message.data;
    a->json = call->json;
    a->served_model = call->served_model;
    a->stop_reason = call->stop_reason;
    call->on_done(call, a, call->data);
    call_free(call);
}

static void on_due(struct model_call *call) {
    if (call->state ==
        CALL_SENT) { /* its answer is complete, but the transfer is still open */
        leave(call);
        http_cancel(call->http);
    } else {
        call_queue(call);
    }
}

static void wake_waiting(struct model_client *client, uint64_t now) {
    struct model_call *call, *next;
    for (call = TAILQ_FIRST(&client->waiting); call; call = next) {
        next = TAILQ_NEXT(call, turn);
        if (call->due <= now) {
            on_due(call);
        }
    }
}

static void out_of_time(struct model_call *call) {
    call_say(call, "no answer within the %u s that the call may take; last: %s",
             call->deadline_ms / 1000,
             call->message.len ? call->message.data : "waiting for its turn");
    call_over(call, MODEL_FAILED, call->busy ? "rate_limited" : "timeout",
              "allow more time, or ask for less at once");
}

/* Returns 1 if the call may start, 0 if it must wait for others that spend the same
 * budget, and -1 if the budget is spent: then the call has ended. */
static int ask_budget(struct model_call *call) {
    struct model_budget *b = call->budget;
    if (!b) {
        return 1;
    }
    if (b->max_cost > 0 &&
        (call->model.price.input < 0 || call->model.price.output < 0)) {
        call_say(call, "%s has no price, and the budget is in money", call->model.name);
        call_over(call, MODEL_BUDGET, "price_unknown",
                  "add the model's price to the configuration, or give a budget in "
                  "tokens");
        return -1;
    }
    if (model_budget_is_spent(b)) {
        call_say(call, "the budget is spent: %llu tokens, cost %.4f",
                 (unsigned long long)b->tokens, b->cost);
        call_over(call, MODEL_BUDGET, "budget_spent",
                  "allow more, or take what is there so far");
        return -1;
    }
    bool full = (b->max_tokens && b->tokens + b->reserved >= b->max_tokens) ||
                (b->max_cost > 0 && b->cost + b->reserved_cost >= b->max_cost);
    return full && b->reserved ? 0 : 1;
}

static void serve(struct endpoint *e, uint64_t now) {
    struct model_call *call, *next;
    for (call = TAILQ_FIRST(&e->queue); call; call = next) {
        next = TAILQ_NEXT(call, turn);
        if (call->deadline && now >= call->deadline) {
            out_of_time(call);
        } else if (!endpoint_has_room(e, now)) {
            if (!call->deadline) {
                break; /* those with a deadline stand before the others */
            }
        } else if (ask_budget(call) > 0) {
            leave(call);
            call->state = CALL_SENT;
            call_send(call);
        }
    }
}

static void earliest(uint64_t *at, uint64_t other) {
    *at = other < *at ? other : *at;
}

/* The time at which the client has something to do again. */
static uint64_t next_turn(const struct model_client *client, uint64_t now) {
    uint64_t at = UINT64_MAX;
    const struct endpoint *e;
    const struct model_call *call;
    TAILQ_FOREACH(call, &client->waiting, turn) {
        earliest(&at, call->due);
    }
    TAILQ_FOREACH(e, &client->endpoints, link) {
        if (e->queued && e->held_until > now) {
            earliest(&at, e->held_until);
        }
        TAILQ_FOREACH(call, &e->queue, turn) {
            if (!call->deadline) {
                break;
            }
            earliest(&at, call->deadline);
        }
    }
    return TAILQ_EMPTY(&client->over) ? at : now;
}

static void on_timer_closed(uv_handle_t *handle) {
    struct model_client *client = handle->data;
    endpoint_list_finish(&client->endpoints);
    if (client->closed) {
        client->closed(client->closed_data);
    }
    free(client);
}

static void on_turn(uv_timer_t *timer) {
    struct model_client *client = timer->data;
    uint64_t now = clock_ms();
    struct endpoint *e;
    client->woken = false;
    wake_waiting(client, now);
    TAILQ_FOREACH(e, &client->endpoints, link) {
        serve(e, now);
    }
    /* Calls that end because of these callbacks are delivered next time. */
    struct model_call *last = TAILQ_LAST(&client->over, model_queue);
    for (bool more = last != NULL; more;) {
        struct model_call *call = TAILQ_FIRST(&client->over);
        more = call != last;
        deliver(call);
    }
    if (client->closing && TAILQ_EMPTY(&client->calls)) {
        uv_close((uv_handle_t *)timer, on_timer_closed);
        return;
    }
    uint64_t at = client->woken ? now : next_turn(client, now);
    if (at == UINT64_MAX) {
        uv_timer_stop(timer);
    } else {
        uv_timer_start(timer, on_turn, at > now ? at - now : 0, 0);
    }
}

/* --- the public face --- */

struct model_client *model_client_new(uv_loop_t *loop, struct http *http,
                                      const struct model_client_options *options) {
    struct model_client *c = xcalloc(1, sizeof *c);
    c->http = http;
    c->options = options ? *options : (struct model_client_options){0};
    struct model_client_options *o = &c->options;
    o->max_in_flight = o->max_in_flight ? o->max_in_flight : MAX_IN_FLIGHT;
    o->start_in_flight = o->start_in_flight ? o->start_in_flight : START_IN_FLIGHT;
    o->max_attempts = o->max_attempts ? o->max_attempts : CALL_ATTEMPTS;
    TAILQ_INIT(&c->endpoints);
    TAILQ_INIT(&c->calls);
    TAILQ_INIT(&c->waiting);
    TAILQ_INIT(&c->over);
    uv_timer_init(loop, &c->timer);
    c->timer.data = c;
    return c;
}

void model_client_close(struct model_client *c, void (*closed)(void *data), void *data) {
    struct model_call *call;
    if (c->closing) {
        return;
    }
    c->closing = true;
    c->closed = closed;
    c->closed_data = data;
    TAILQ_FOREACH(call, &c->calls, link) {
        model_call_cancel(call);
    }
    client_wake(c);
}

int model_call_start(struct model_client *c, const struct model_request *request,
                     model_text *text, model_done *done, void *data,
                     struct model_call **ret, struct err *err) {
    if (c->closing) {
        return err_set(err, -ECANCELED, "shutting down");
    }
    struct model_call *call = call_new(c, request, err);
    if (!call) {
        return -EINVAL;
    }
    call->on_text = text;
    call->on_done = done;
    call->data = data;
    call->state = CALL_SENT; /* in no list yet */
    TAILQ_INSERT_TAIL(&c->calls, call, link);
    if (!call_read_cache(call)) {
        call_queue(call);
    }
    if (ret) {
        *ret = call;
    }
    return 0;
}

void model_call_cancel(struct model_call *call) {
    if (call->cancelled || call->state == CALL_OVER) {
        return;
    }
    call->cancelled = true;
    if (call->state == CALL_SENT && call->http) {
        http_cancel(call->http);
    } else if (call->state != CALL_SENT) { /* else its attempt is just being judged */
        call_over(call, MODEL_CANCELLED, "cancelled", "");
    }
}

json_t *model_client_status(const struct model_client *c) {
    json_t *list = json_array();
    const struct endpoint *e;
    TAILQ_FOREACH(e, &c->endpoints, link) {
        json_array_append_new(list, endpoint_to_json(e));
    }
    return list;
}
