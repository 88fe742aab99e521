#include "gpu/run/trial_checks.h"

#include "gpu/spec/expect_operator.h"

#include <math.h>

enum { AT_ONCE = 1 << 20 }; /* elements, until the time may be up */

/* The largest magnitude of a buffer's first contents, or 0 where that is no measure. */
static double size_of_input(const struct trial *t, size_t buffer) {
    const struct spec_buffer *spec = &t->check->spec->buffers[buffer];
    uint64_t count = t->check->buffers[buffer].count;
    double largest = 0;
    if (!spec->init || spec->scratch || !tensor_type_float(spec->type)) {
        return 0;
    }
    for (uint64_t at = 0, n; at < count && !trials_stopped(); at += n) {
        n = count - at < AT_ONCE ? count - at : AT_ONCE;
        double most = tensor_largest(spec->type, t->before[buffer], at, n);
        largest = fmax(largest, most);
    }
    return largest < COMPARE_MASK ? largest : 0;
}

/* Some roundings of terms as large as the inputs: they may cancel, as in the gradient of
 * a norm over a row of one element. */
static double rounding_noise(const struct trial *t, enum tensor_type output) {
    double largest = 0;
    for (size_t i = 0; i < t->check->spec->buffer_count; i++) {
        largest = fmax(largest, size_of_input(t, i));
    }
    return largest * COMPARE_ROUNDING(output);
}

static struct compare_input input_of(const struct trial *t, size_t buffer,
                                     const struct expected_output *expected,
                                     const void *actual) {
    const struct spec_buffer *spec = &t->check->spec->buffers[buffer];
    const struct case_buffer *b = &t->check->buffers[buffer];
    return (struct compare_input){
        .spec = t->check->spec,
        .buffer = spec,
        .expected_type = expected->type,
        .inexact = expected->inexact,
        .actual = actual,
        .expected = expected->data,
        .count = b->count,
        .shape = b->shape,
        .rank = b->rank,
        .judged = expected->judged,
        .stopped = trials_stopped,
        .noise = tensor_type_float(spec->type) ? rounding_noise(t, spec->type) : 0,
    };
}

/* --- what is expected, by rows --- */

struct rows_made {
    const struct trial *t;
    struct expect_work *work;
    size_t buffer;
};

static int make_rows(void *data, int64_t from, int64_t to, double *ret, struct err *err) {
    const struct rows_made *m = data;
    run_notes_phase(m->t->notes, PHASE_REFERENCE);
    int r = expect_work_part(m->work, m->buffer, from, to, ret, err);
    run_notes_phase(m->t->notes, PHASE_COMPARE);
    return r;
}

/* As compare_output; where it must be made, what is expected is. */
static void compare_expected(struct compare_result *ret, const struct trial *t,
                             size_t buffer, const struct expected_output *expected,
                             struct compare_input *in, struct err *err) {
    struct rows_made rows = {t, expected->work, buffer};
    struct compare_source source = {.make = make_rows, .data = &rows, .err = err};
    if (expectation_source(expected, buffer, &source)) {
        source.row = in->count / (uint64_t)source.rows;
        in->source = &source;
    }
    compare_output(ret, in);
    in->source = NULL;
}

bool trial_unchanged_passes(const struct trial *t, size_t buffer,
                            const struct expected_output *expected) {
    struct compare_input input = input_of(t, buffer, expected, t->before[buffer]);
    struct compare_result result;
    struct err err;
    compare_expected(&result, t, buffer, expected, &input, &err);
    json_decref(result.json);
    return result.pass;
}

struct touched {
    const struct trial *t;
    size_t buffer;
    const char *actual;
};

/* Whether the kernel left an element alone. Of a buffer with an init nobody knows whether
 * it was written, only that it is the same. */
static const char *state_of(const void *data, uint64_t i) {
    const struct touched *o = data;
    const struct trial *t = o->t;
    const struct spec_buffer *spec = &t->check->spec->buffers[o->buffer];
    size_t size = tensor_type_bytes(spec->type);
    uint64_t at = i * size;
    if (spec->init || spec->is_global) {
        const char *before = t->before[o->buffer];
        return memcmp(o->actual + at, before + at, size) ? NULL : "as before the launch";
    }
    return t->class->written &&
                   !t->class->written(t->backend, t->addresses[o->buffer] + at, size)
               ? "never written"
               : NULL;
}

int trial_compare_output(const struct trial *t, size_t buffer,
                         const struct expected_output *expected,
                         struct compare_result *ret, uint64_t *ret_unwritten,
                         uint64_t *ret_first, struct err *err) {
    const struct spec_buffer *spec = &t->check->spec->buffers[buffer];
    size_t size = tensor_type_bytes(spec->type);
    autofree void *owned = NULL;
    const void *actual = trial_view(t, buffer, &owned, err);
    if (!actual) {
        return -EIO;
    }
    *ret_first = *ret_unwritten = 0;
    if (!spec->init && !spec->is_global) {
        uint64_t bytes = trial_unwritten(t, buffer, expected->judged, ret_first);
        *ret_unwritten = (bytes + size - 1) / size;
    }
    struct compare_input input = input_of(t, buffer, expected, actual);
    struct touched touched = {t, buffer, actual};
    input.unwritten = *ret_unwritten;
    input.state = state_of;
    input.state_data = &touched;
    compare_expected(ret, t, buffer, expected, &input, err);
    if (ret->failed) {
        return ret->failed;
    }
    if (ret->stopped) {
        json_decref(ret->json);
        return err_set(err, -ETIME, "time ran out while outputs were compared");
    }
    return 0;
}

int trial_compare(const struct trial *t, const struct expectation *expected,
                  struct trial_difference *ret, struct err *err) {
    *ret = (struct trial_difference){0};
    for (size_t i = 0; i < expected->count && !ret->output; i++) {
        const struct spec_buffer *spec = &t->check->spec->buffers[i];
        struct compare_result result;
        uint64_t unwritten, first;
        if (!spec->output || !expectation_has(&expected->outputs[i])) {
            continue;
        }
        int r = trial_compare_output(t, i, &expected->outputs[i], &result, &unwritten,
                                     &first, err);
        if (r < 0) {
            return r;
        }
        json_decref(result.json);
        if (!result.pass) {
            *ret = (struct trial_difference){spec->name, result.mismatches,
                                             t->check->buffers[i].count};
        }
    }
    return 0;
}

int64_t trial_input_changes(const struct trial *t, size_t buffer, uint64_t *ret_first,
                            struct err *err) {
    const struct spec_buffer *spec = &t->check->spec->buffers[buffer];
    uint64_t bytes = t->check->buffers[buffer].bytes;
    if (spec->output || spec->is_global) {
        return 0;
    }
    autofree void *owned = NULL;
    const unsigned char *now = trial_view(t, buffer, &owned, err);
    const unsigned char *before = t->before[buffer];
    int64_t count = 0;
    if (!now) {
        return -EIO;
    }
    if (!bytes || !memcmp(now, before, bytes)) {
        return 0;
    }
    for (uint64_t i = bytes; i-- > 0;) {
        count += now[i] != before[i];
        *ret_first = now[i] != before[i] ? i : *ret_first;
    }
    return count;
}
