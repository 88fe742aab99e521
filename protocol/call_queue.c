#include "protocol/call_queue.h"

#include "base/mem.h"
#include "protocol/call.h"

/* What is started in one turn of the loop may take so long. */
#define TURN_NS 3000000u

/* Starts those that wait, while there is room. */
struct starter {
    uv_idle_t idle;
};

static unsigned running, waiting, asking;
static TAILQ_HEAD(, call_turn) queue = TAILQ_HEAD_INITIALIZER(queue);
static uv_loop_t *process_loop; /* theirs */
static struct starter *starter; /* NULL: nothing can be started */

static void unlist(struct call_turn *turn) {
    TAILQ_REMOVE(&queue, turn, link);
    waiting--;
}

static void on_closed(uv_handle_t *handle) {
    free(container_of((uv_idle_t *)handle, struct starter, idle));
}

static bool may_start(void) {
    return !TAILQ_EMPTY(&queue) && running < CALL_MAX_RUNNING;
}

static void on_idle(uv_idle_t *idle) {
    uint64_t end = uv_hrtime() + TURN_NS;
    while (may_start() && uv_hrtime() < end) {
        struct call_turn *turn = TAILQ_FIRST(&queue);
        unlist(turn);
        turn->state = CALL_TURN_RUNS;
        running++;
        turn->start(turn);
    }
    if (!may_start()) {
        starter = NULL;
        uv_idle_stop(idle);
        uv_close((uv_handle_t *)idle, on_closed);
    }
}

static void start_waiting(void) {
    if (may_start() && !starter) {
        starter = xcalloc(1, sizeof *starter);
        uv_idle_init(process_loop, &starter->idle);
        uv_idle_start(&starter->idle, on_idle);
    }
}

enum call_turn_state call_queue_enter(struct call_turn *turn, uv_loop_t *loop) {
    if (waiting >= CALL_MAX_WAITING || asking >= CALL_MAX_WAITING) {
        return CALL_TURN_NONE;
    }
    if (TAILQ_EMPTY(&queue) && running < CALL_MAX_RUNNING) {
        running++;
        return turn->state = CALL_TURN_RUNS;
    }
    process_loop = loop;
    TAILQ_INSERT_TAIL(&queue, turn, link);
    waiting++;
    return turn->state = CALL_TURN_WAITS;
}

void call_queue_ask(struct call_turn *turn) {
    if (turn->state == CALL_TURN_RUNS) {
        turn->state = CALL_TURN_ASKS;
        running--;
        asking++;
        start_waiting();
    }
}

void call_queue_go_on(struct call_turn *turn) {
    if (turn->state == CALL_TURN_ASKS) {
        turn->state = CALL_TURN_RUNS;
        asking--;
        running++;
    }
}

void call_queue_leave(struct call_turn *turn) {
    enum call_turn_state state = turn->state;
    turn->state = CALL_TURN_NONE;
    running -= state == CALL_TURN_RUNS;
    asking -= state == CALL_TURN_ASKS;
    if (state == CALL_TURN_WAITS) {
        unlist(turn);
    } else if (state != CALL_TURN_NONE) {
        start_waiting();
    }
}
