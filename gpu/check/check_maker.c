#include "gpu/check/check_maker.h"

#include "base/buf.h"
#include "base/shared_bytes.h"
#include "gpu/check/check_result.h"
#include "gpu/check/script_fields.h"
#include "protocol/rpc/frame.h"

#include <string.h>

#define COMPILE_MEMORY_BYTES ((size_t)6 << 30)

json_t *check_params(const struct check_input *input, unsigned wall_ms) {
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

struct shared_bytes *check_sources(const struct check_input *input) {
    autobuf text = BUF_INIT(FRAME_MAX_BODY);
    autojson *json = source_set_to_json(&input->closure.sources);
    return json_write(&text, json) == 0 ? shared_bytes_new(&text) : NULL;
}

/* NULL note: nothing is to be told of other attempts. */
static void make_base(struct check_making *m, const json_t *answer, json_t *note) {
    m->base = check_result_new(&m->input, answer, note, &m->keep);
    if (m->base) {
        json_object_set(m->base, "worker", m->worker);
    }
}

/* Of the attempts that were made, what is to be told. */
static void settle(struct check_making *m) {
    autojson *left = omissions_settle(&m->omissions, m->answer);
    const json_t *last = left ? left : m->answer;
    autojson *own = guess_attempts_settle(&m->attempts, &m->input, last);
    json_t *note = guess_attempts_note(&m->attempts, &m->input, last);
    bool missed = omissions_missed(&m->omissions, m->answer);
    const json_t *answer = own && !missed ? own : last;
    autojson *filled = script_fields_settle(&m->input, answer, &note);
    make_base(m, filled ? filled : answer, note);
    json_decref(note);
    m->keep &= !m->attempts.shortened; /* the time may be this moment's */
}

void check_make(struct check_making *m) {
    bool compiled = !strcmp(json_get_string(m->answer, "outcome", ""), "compiled");
    m->failed |= !compiled;
    m->again = !compiled && !m->input.is_ptx &&
               (omissions_next(&m->omissions, &m->input, m->answer) ||
                guess_attempts_next(&m->attempts, &m->input, m->answer));
    if (!m->failed) {
        make_base(m, m->answer, NULL);
    } else if (!m->again) {
        settle(m);
    }
}

void check_making_finish(struct check_making *m) {
    check_input_finish(&m->input);
    if (m->failed) {
        guess_attempts_finish(&m->attempts);
        omissions_finish(&m->omissions);
    }
}

/* Kernels; a turn of the loop has a millisecond or two for them. */
#define MAX_INLINE 64

bool check_is_long(const json_t *base) {
    return json_array_size(json_object_get(base, "kernels")) > MAX_INLINE;
}
