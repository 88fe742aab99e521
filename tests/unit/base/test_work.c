/* Work on a thread: each piece ends once on the loop, done, stopped or left out. */
#include "base/mem.h"
#include "base/work.h"

#include <criterion/criterion.h>
#include <stdatomic.h>

#define THREADS 4 /* libuv's */

static uv_loop_t loop;
static uv_thread_t loops_thread;

static void start(void) {
    uv_loop_init(&loop);
    loops_thread = uv_thread_self();
}

static void end(void) {
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0);
}

TestSuite(work, .init = start, .fini = end, .timeout = 60);

struct piece {
    atomic_int begun;
    int ran, done;
    bool was_stopped;
    uv_thread_t at;
};

static void run(void *data) {
    struct piece *p = data;
    p->at = uv_thread_self();
    p->ran++;
}

static void run_until_stopped(void *data) {
    struct piece *p = data;
    atomic_store(&p->begun, 1);
    while (!work_is_stopped()) {
        uv_sleep(1);
    }
    p->was_stopped = true;
}

static void done(void *data) {
    struct piece *p = data;
    uv_thread_t self = uv_thread_self();
    cr_assert(uv_thread_equal(&self, &loops_thread));
    p->done++;
}

Test(work, runs_elsewhere_and_ends_here) {
    struct piece p = {0};
    cr_assert_not_null(work_start(&loop, run, done, &p));
    cr_assert_eq(p.done, 0, "never from inside");
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(p.ran, 1);
    cr_assert_eq(p.done, 1);
    cr_assert_not(uv_thread_equal(&p.at, &loops_thread));
    cr_assert_not(work_is_stopped());
}

Test(work, may_leave_nothing_to_do) {
    struct piece p = {0};
    work_start(&loop, run, NULL, &p);
    work_cancel(NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(p.ran, 1);
}

/* All threads are taken, so one more has not begun; then each is told of once. */
Test(work, cancelling_stops_what_runs_and_leaves_out_what_waits) {
    struct piece taken[THREADS] = {0}, waiting = {0}, after = {0};
    struct work *all[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        all[i] = work_start(&loop, run_until_stopped, done, &taken[i]);
    }
    for (size_t i = 0; i < THREADS; i++) {
        while (!atomic_load(&taken[i].begun)) {
            uv_sleep(1);
        }
    }
    struct work *w = work_start(&loop, run, done, &waiting);
    work_start(&loop, run, done, &after);
    work_cancel(w);
    work_cancel(w);
    cr_assert_eq(waiting.done, 0, "never from inside");
    while (!waiting.done) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    cr_assert_eq(waiting.ran, 0);
    for (size_t i = 0; i < THREADS; i++) {
        cr_assert_eq(taken[i].done, 0);
        work_cancel(all[i]);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    for (size_t i = 0; i < THREADS; i++) {
        cr_assert(taken[i].was_stopped);
        cr_assert_eq(taken[i].done, 1);
    }
    cr_assert_eq(waiting.done, 1);
    cr_assert_eq(after.ran, 1, "the next piece is not stopped with it");
}
