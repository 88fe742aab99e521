#pragma once
/* call_queue: how many operations the process has under way, and the calls that wait for
 * their turn. Part of call.
 *
 * A call that waits for its caller's input takes no turn: the input may itself come with
 * a call that waits. */
#include <stdbool.h>
#include <sys/queue.h>
#include <uv.h>

struct call_turn { /* embedded in a call */
    enum call_turn_state {
        CALL_TURN_NONE,
        CALL_TURN_WAITS,
        CALL_TURN_RUNS,
        CALL_TURN_ASKS, /* for input */
    } state;
    void (*start)(struct call_turn *turn); /* from the loop, when it waited */
    TAILQ_ENTRY(call_turn) link;           /* of those that wait */
};

/* CALL_TURN_RUNS: begin at once. CALL_TURN_WAITS: start comes, unless it leaves before.
 * CALL_TURN_NONE: too many wait. */
enum call_turn_state call_queue_enter(struct call_turn *turn, uv_loop_t *loop);
void call_queue_ask(struct call_turn *turn);
void call_queue_go_on(struct call_turn *turn);
void call_queue_leave(struct call_turn *turn); /* also of one that is not in it */
