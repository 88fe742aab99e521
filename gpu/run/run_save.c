#include "gpu/run/run_save.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/run/foresight.h"
#include "gpu/tensor/npy.h"

#include <ctype.h>
#include <unistd.h>

enum { MAX_NAME = 160 };

struct saved_file {
    char name[MAX_NAME];
    struct buf bytes; /* its header alone where the rest is in the arena */
    uint64_t len, at; /* of all of it; in the arena */
};

/* An array of a trial. */
struct saved_array {
    const char *what;
    size_t buffer;
    enum tensor_type type;
    const void *data;
};

uint64_t run_arena_bytes(void) {
    return memory_here() / 4;
}

void run_save_start(struct run_save *s, const struct spec_save *wanted, int arena) {
    *s = (struct run_save){.wanted = wanted, .arena = arena};
}

void run_save_finish(struct run_save *s) {
    for (size_t i = 0; i < s->count; i++) {
        buf_finish(&s->files[i].bytes);
    }
    free(s->files);
    *s = (struct run_save){0};
}

/* --- one file --- */

/* A variable may be called "ns::table": its number keeps names apart that look alike. */
static void name_file(char ret[static MAX_NAME], const struct trial *t,
                      const struct saved_array *a, size_t i, unsigned k) {
    const char *name = t->check->spec->buffers[a->buffer].name;
    char plain[65], number[24] = "";
    size_t len = 0;
    bool same = true;
    for (; name[len] && len < sizeof plain - 1; len++) {
        bool good = isalnum((unsigned char)name[len]) || name[len] == '_';
        plain[len] = (char)(good ? name[len] : '_');
        same = same && good;
    }
    plain[len] = '\0';
    if (!same || name[len]) {
        snprintf(number, sizeof number, "-%zu", a->buffer);
    }
    snprintf(ret, MAX_NAME, "case%zu.trial%u.%s%s.%s.npy", i, k, plain, number, a->what);
}

static const char *note_of(enum tensor_type type) {
    switch (type) {
    case TENSOR_BFLOAT16:
        return "bfloat16, as its bits: (a.astype('u4') << 16).view('f4')";
    case TENSOR_FLOAT8_E4M3:
        return "float8_e4m3, as its bits: a.view(ml_dtypes.float8_e4m3fn)";
    case TENSOR_FLOAT8_E5M2:
        return "float8_e5m2, as its bits: a.view(ml_dtypes.float8_e5m2)";
    default:
        return NULL;
    }
}

static json_t *file_json(const struct trial *t, const struct saved_array *a,
                         const struct saved_file *f) {
    const struct case_buffer *b = &t->check->buffers[a->buffer];
    json_t *shape = json_list(d, 0, b->rank, json_integer(b->shape[d]));
    return json_pack("{s:s, s:s, s:s, s:I, s:s, s:s, s:o, s:s*}", "name",
                     t->check->spec->buffers[a->buffer].name, "what", a->what, "file",
                     f->name, "bytes", (json_int_t)f->len, "type",
                     tensor_type_name(a->type), "dtype", npy_descr(a->type), "shape", shape, "note", note_of(a->type));
}

static bool write_at(int fd, const void *bytes, uint64_t len, uint64_t at) {
    for (uint64_t done = 0; done < len;) {
        ssize_t n =
            pwrite(fd, (const char *)bytes + done, len - done, (off_t)(at + done));
        if (n <= 0 && errno != EINTR) {
            return false;
        }
        done += n > 0 ? (uint64_t)n : 0;
    }
    return true;
}

/* Behind the header that f has. False: there is no room for it. */
static bool put_elements(struct run_save *s, struct saved_file *f, const void *data,
                         uint64_t bytes) {
    uint64_t head = f->bytes.len, room = run_arena_bytes();
    f->len = head + bytes;
    f->at = s->end;
    if (s->arena < 0) {
        return buf_add(&f->bytes, data, bytes) == 0;
    }
    if (f->len > room || s->end > room - f->len ||
        !write_at(s->arena, f->bytes.data, head, f->at) ||
        !write_at(s->arena, data, bytes, f->at + head)) {
        return false;
    }
    s->end = (s->end + f->len + SAVE_ALIGNED - 1) / SAVE_ALIGNED * SAVE_ALIGNED;
    return true;
}

static void keep(struct run_save *s, const struct trial *t, const struct saved_array *a,
                 size_t i, unsigned k, json_t *list) {
    const struct case_buffer *b = &t->check->buffers[a->buffer];
    uint64_t bytes = b->count * tensor_type_bytes(a->type);
    struct saved_file own = {
        .bytes = BUF_INIT(s->arena < 0 ? SAVE_MAX_BYTES - s->bytes : SAVE_MAX_BYTES)};
    if (s->count == SAVE_MAX_FILES ||
        npy_write_header(&own.bytes, a->type, b->shape, b->rank) < 0 ||
        !put_elements(s, &own, a->data, bytes)) {
        buf_finish(&own.bytes);
        s->omitted++;
        return;
    }
    name_file(own.name, t, a, i, k);
    s->files = xreallocarray(s->files, s->count + 1, sizeof *s->files);
    s->files[s->count++] = own;
    s->bytes += own.len;
    json_array_append_new(list, file_json(t, a, &own));
}

/* --- the arrays of a trial --- */

static void keep_output(struct run_save *s, const struct trial *t, size_t buffer,
                        size_t i, unsigned k, json_t *list) {
    struct err err;
    autofree void *owned = NULL;
    const void *contents = trial_view(t, buffer, &owned, &err);
    if (contents) {
        keep(s, t,
             &(struct saved_array){"output", buffer, t->check->spec->buffers[buffer].type,
                                   contents},
             i, k, list);
    }
}

/* Whether the output's own type can represent every expected value. Then a file of that
 * type is equivalent, and can be read as an expectation again. */
static bool fits_type(enum tensor_type type, const double *values, uint64_t count) {
    uint64_t room;
    for (uint64_t i = 0; i < count; i++) {
        tensor_set(type, &room, 0, values[i]);
        if (!(tensor_get(type, &room, 0) == values[i])) {
            return false;
        }
    }
    return true;
}

static void keep_expected(struct run_save *s, const struct trial *t, size_t buffer,
                          const struct expected_output *e, size_t i, unsigned k,
                          json_t *list) {
    enum tensor_type own = t->check->spec->buffers[buffer].type;
    uint64_t count = t->check->buffers[buffer].count;
    struct saved_array a = {"expected", buffer, e->type, e->data};
    autofree void *converted = NULL;
    if (!tensor_type_float(own) && e->type == TENSOR_FLOAT64 &&
        fits_type(own, e->data, count)) {
        converted = xcalloc(count ? count : 1, tensor_type_bytes(own));
        tensor_store(own, converted, 0, count, e->data);
        a.type = own;
        a.data = converted;
    }
    keep(s, t, &a, i, k, list);
}

static void keep_buffer(struct run_save *s, const struct trial *t, size_t buffer,
                        const struct expectation *expected, size_t i, unsigned k,
                        json_t *list) {
    const struct spec_buffer *spec = &t->check->spec->buffers[buffer];
    unsigned what = s->wanted->what;
    if ((what & SAVE_OUTPUTS) && spec->output) {
        keep_output(s, t, buffer, i, k, list);
    }
    if ((what & SAVE_EXPECTED) && expected && buffer < expected->count &&
        expected->outputs[buffer].data) {
        keep_expected(s, t, buffer, &expected->outputs[buffer], i, k, list);
    }
    if ((what & SAVE_INPUTS) && spec->init && t->before && t->before[buffer]) {
        keep(s, t, &(struct saved_array){"input", buffer, spec->type, t->before[buffer]},
             i, k, list);
    }
}

static bool is_wanted(struct run_save *s, size_t i, unsigned k, bool failed) {
    bool first_failure = failed && !s->case_has_failed[i];
    s->case_has_failed[i] |= failed;
    switch (s->wanted->cases) {
    case SAVE_FAILED:
        return failed;
    case SAVE_FIRST:
        return !k || first_failure;
    case SAVE_ALL:
        return true;
    }
    return false;
}

void run_save_trial(struct run_save *s, const struct trial *t, size_t i, unsigned k,
                    bool failed, const struct expectation *expected, json_t *case_json) {
    if (!s->wanted || !s->wanted->dir || !t->backend || !is_wanted(s, i, k, failed)) {
        return;
    }
    json_t *list = json_array();
    for (size_t b = 0; b < t->check->spec->buffer_count; b++) {
        keep_buffer(s, t, b, expected, i, k, list);
    }
    json_object_set_new(case_json, "files", list);
}

json_t *run_save_send(struct run_save *s, struct run_notes *notes) {
    if (!s->wanted || !s->wanted->dir) {
        return NULL;
    }
    run_notes_phase(notes, PHASE_SAVE);
    for (size_t i = 0; i < s->count; i++) {
        struct saved_file *f = &s->files[i];
        if (s->arena < 0) {
            run_notes_file(notes, f->name, f->bytes.data, f->bytes.len);
        } else {
            run_notes_file_at(notes, f->name, f->len, f->at);
        }
        buf_finish(&f->bytes);
    }
    json_t *json = json_pack("{s:I, s:I}", "files", (json_int_t)s->count, "bytes",
                             (json_int_t)s->bytes);
    if (s->omitted) {
        json_object_set_new(json, "omitted", json_integer((json_int_t)s->omitted));
    }
    return json;
}
