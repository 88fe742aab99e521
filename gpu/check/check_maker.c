#include "gpu/check/check_maker.h"

#include "base/buf.h"
#include "base/json_release.h"
#include "base/mem.h"
#include "base/shared_bytes.h"
#include "base/work.h"
#include "gpu/check/check_result.h"
#include "gpu/check/script_fields.h"
#include "protocol/rpc/frame.h"

/* --- what a worker is asked --- */

#define COMPILE_MEMORY_BYTES ((size_t)6 << 30)

json_t *check_params(struct check_input *input, unsigned wall_ms) {
    const struct compile_job job = {
        .include_dirs = input->closure.include_dirs,
        .options = input->options,
        .prefix = input->closure.prefix,
        .limits = {.wall_ms = wall_ms,
                   .cpu_s = wall_ms / 1000 + 10,
                   .memory_bytes = COMPILE_MEMORY_BYTES},
    };
    return compile_job_to_json(&job);
}

struct check_writing {
    struct check_input *input;
    struct buf text;
    check_writing_done *done;
    void *data;
};

static void write_on_thread(void *data) {
    struct check_writing *w = data;
    autojson *json = source_set_to_json(&w->input->closure.sources);
    json_write(&w->text, json);
}

static void on_written(void *data) {
    struct check_writing *w = data;
    struct shared_bytes *sources = w->text.len ? shared_bytes_new(&w->text) : NULL;
    w->done(sources, w->data);
    shared_bytes_unref(sources);
    buf_finish(&w->text); /* what was written before it became too much */
    free(w);
}

void check_writing_start(uv_loop_t *loop, struct check_input *input,
                         check_writing_done *done, void *data) {
    struct check_writing *w = xcalloc(1, sizeof *w);
    w->input = input;
    w->text = BUF_INIT(FRAME_MAX_BODY);
    w->done = done;
    w->data = data;
    work_start(loop, write_on_thread, on_written, w);
}

/* --- from an answer to a result that every request shares --- */

struct check_making {
    uv_loop_t *loop;
    struct check_material from;
    struct check_made made;
    check_making_done *done;
    void *data;
};

static void make_base(struct check_making *m) {
    const struct check_material *from = &m->from;
    autojson *left = omissions_settle(from->omissions, from->answer);
    const json_t *last = left ? left : from->answer;
    autojson *own = guess_attempts_settle(from->attempts, from->input, last);
    json_t *note = guess_attempts_note(from->attempts, from->input, last);
    bool missed = omissions_missed(from->omissions, from->answer);
    const json_t *answer = own && !missed ? own : last;
    autojson *filled = script_fields_settle(from->input, answer, &note);
    m->made.base =
        check_result_new(from->input, filled ? filled : answer, note, &m->made.keep);
    json_decref(note);
    m->made.keep &= !from->attempts->shortened; /* the time may be this moment's */
    if (m->made.base) {
        json_object_set(m->made.base, "worker", from->worker);
    }
}

static void make_on_thread(void *data) {
    struct check_making *m = data;
    m->made.again = omissions_next(m->from.omissions, m->from.input, m->from.answer) ||
                    guess_attempts_next(m->from.attempts, m->from.input, m->from.answer);
    if (!m->made.again) {
        make_base(m);
    }
}

static void on_made(void *data) {
    struct check_making *m = data;
    m->done(&m->made, m->data);
    json_release(m->loop, m->from.answer);
    json_release(m->loop, m->made.base);
    json_decref(m->from.worker);
    free(m);
}

void check_making_start(uv_loop_t *loop, const struct check_material *material,
                        check_making_done *done, void *data) {
    struct check_making *m = xcalloc(1, sizeof *m);
    m->loop = loop;
    m->from = *material;
    m->done = done;
    m->data = data;
    work_start(loop, make_on_thread, on_made, m);
}

/* --- what the single request adds --- */

struct check_completing {
    uv_loop_t *loop;
    json_t *base, *launch, *result;
    bool cached;
    check_completing_done *done; /* NULL: cancelled */
    void *data;
};

/* Kernels; a turn of the loop has a millisecond or two for them. */
#define MAX_INLINE 64

bool check_is_long(const json_t *base) {
    return json_array_size(json_object_get(base, "kernels")) > MAX_INLINE;
}

static void complete_on_thread(void *data) {
    struct check_completing *c = data;
    c->result = check_result_complete(c->base, c->launch, c->cached);
}

static void on_completed(void *data) {
    struct check_completing *c = data;
    if (c->done) {
        c->done(c->result, c->data);
    } else {
        json_release(c->loop, c->result);
    }
    json_release(c->loop, c->base);
    json_decref(c->launch);
    free(c);
}

struct check_completing *check_completing_start(uv_loop_t *loop, json_t *base,
                                                json_t *launch, bool cached,
                                                check_completing_done *done, void *data) {
    struct check_completing *c = xcalloc(1, sizeof *c);
    c->loop = loop;
    c->base = json_incref(base);
    c->launch = json_incref(launch);
    c->cached = cached;
    c->done = done;
    c->data = data;
    work_start(loop, complete_on_thread, on_completed, c);
    return c;
}

void check_completing_cancel(struct check_completing *completing) {
    completing->done = NULL;
}
