#include "base/work.h"

#include "base/mem.h"

struct work {
    uv_work_t request;
    atomic_bool stopped;
    work_step *run, *done;
    void *data;
};

static _Thread_local const atomic_bool *watched;

void work_stop_watch(const atomic_bool *flag) {
    watched = flag;
}

bool work_is_stopped(void) {
    return watched && atomic_load_explicit(watched, memory_order_relaxed);
}

static void on_thread(uv_work_t *request) {
    const struct work *w = container_of(request, struct work, request);
    work_stop_watch(&w->stopped);
    w->run(w->data);
    work_stop_watch(NULL);
}

static void on_loop(uv_work_t *request, int) {
    struct work *w = container_of(request, struct work, request);
    work_step *done = w->done;
    void *data = w->data;
    free(w);
    if (done) {
        done(data);
    }
}

struct work *work_start(uv_loop_t *loop, work_step *run, work_step *done, void *data) {
    struct work *w = xcalloc(1, sizeof *w);
    *w = (struct work){.run = run, .done = done, .data = data};
    uv_queue_work(loop, &w->request, on_thread, on_loop); /* fails without run alone */
    return w;
}

void work_cancel(struct work *w) {
    if (w) {
        atomic_store(&w->stopped, true);
        uv_cancel((uv_req_t *)&w->request); /* refused once it runs */
    }
}
