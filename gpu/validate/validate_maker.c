#include "gpu/validate/validate_maker.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/json_release.h"
#include "base/shared_bytes.h"
#include "base/strings.h"
#include "base/text.h"
#include "gpu/spec/spec_blanks.h"
#include "gpu/spec/spec_case.h"
#include "gpu/spec/spec_file.h"
#include "protocol/rpc/frame.h"

#define VALUE_SHOWN 60 /* bytes */

/* --- reading --- */

struct reading {
    uv_loop_t *loop;
    json_t *params;
    char **roots;
    int r;
    struct validate_asked asked;
    struct check_refusal refusal;
    validate_reading_done *done;
    void *data;
};

void validate_asked_finish(struct validate_asked *asked, uv_loop_t *loop) {
    json_t *spec = json_incref(asked->spec.json);
    kernel_spec_finish(&asked->spec);
    json_release(loop, spec); /* with perhaps a million values */
    json_release(loop, asked->params);
    free(asked->folder);
}

static int refuse(struct reading *r, const char *reason, const struct err *err) {
    r->refusal.fault = err->code == -EACCES ? CALL_REFUSED : CALL_BAD_PARAMS;
    r->refusal.reason = reason;
    snprintf(r->refusal.message, sizeof r->refusal.message, "%s", err->msg);
    return err->code;
}

/* The value at "args[2].shape"; NULL: none is there. Borrowed. pointer: becomes the JSON
 * Pointer "/args/2/shape" of what is there of it. */
static const json_t *value_at(const json_t *spec, const char *at, size_t len,
                              struct buf *pointer) {
    const json_t *value = spec;
    for (const char *end = at + len; value && at < end;) {
        size_t size = *at == '[' ? strcspn(++at, "]") : strcspn(at, ".[: ");
        autofree char *name = xstrndup(at, size);
        value = json_is_array(value) ? json_array_get(value, strtoul(name, NULL, 10))
                                     : json_object_get(value, name);
        if (value) {
            json_pointer_add(pointer, name);
        }
        at += size + (at[size] == ']');
        at += at < end && *at == '.';
    }
    return value;
}

/* "seed: …" was said of this value. ret: its JSON Pointer. */
static void add_value(const json_t *spec, struct err *err, struct buf *ret) {
    const json_t *value = value_at(spec, err->msg, strcspn(err->msg, ": "), ret);
    bool of_name = err->code == -ENXIO;
    if (!value || of_name || json_is_object(value) || json_is_array(value)) {
        return;
    }
    autofree char *text = json_shown(value, 0);
    autofree char *quoted =
        xasprintf("'%s'", json_is_string(value) ? json_string_value(value) : "");
    if (text && !strstr(err->msg, text) && !strstr(err->msg, quoted)) {
        autofree char *said = xstrdup(err->msg);
        err_set(err, err->code, "%s; it is %.*s", said,
                (int)text_cut(text, strlen(text), VALUE_SHOWN), text);
    }
}

static int cases_check(const struct kernel_spec *spec, struct err *err) {
    for (size_t i = 0; i < spec->case_count; i++) {
        struct spec_case c;
        int n = spec_case_resolve(&c, spec, i, err);
        if (n < 0) {
            return n;
        }
        spec_case_finish(&c);
    }
    return 0;
}

/* The file is valid by itself: what the request says instead of it is wrong. */
static bool file_is_valid(const struct reading *r) {
    autojson *path = json_pack("{s:O}", "path", json_object_get(r->params, "path"));
    autofree char *folder = NULL;
    autojson *alone =
        spec_file_join(path, (const char *const *)r->roots, &folder, NULL);
    struct kernel_spec spec;
    if (!alone || kernel_spec_read(&spec, alone, NULL) < 0) {
        return false;
    }
    bool valid = cases_check(&spec, NULL) == 0;
    kernel_spec_finish(&spec);
    return valid;
}

/* Of "case 0: launch.grid[0] is …" what is behind the case. */
static const char *behind_case(const char *message) {
    const char *colon = strncmp(message, "case ", 5) == 0 ? strstr(message, ": ") : NULL;
    return colon ? colon + 2 : message;
}

/* Whether a file is meant. What a request says in place of the file's is the same for
 * all cases: their number is dropped, so that the member comes first. */
static bool is_of_file(const struct reading *r, struct err *err) {
    autofree char *words = xstrdup(behind_case(err->msg));
    autofree char *member = xstrndup(words, strcspn(words, ".[: "));
    if (!r->asked.folder) {
        return false;
    }
    if (json_object_get(r->params, member)) {
        err_set(err, err->code, "%s", words);
        return false;
    }
    return !file_is_valid(r);
}

/* Which member of which file is meant; what the request says itself needs no file. */
static int refuse_spec(struct reading *r, struct err *err) {
    autobuf pointer = BUF_INIT(sizeof r->refusal.path - 1);
    add_value(r->asked.params, err, &pointer);
    strcpy(r->refusal.path, pointer.full ? "" : pointer.data);
    if (is_of_file(r, err)) {
        autofree char *path = spec_file_path(r->params);
        err_wrap(err, "%s", path);
        snprintf(r->refusal.hint, sizeof r->refusal.hint,
                 "a check spec takes the parameters of kernel/validate");
    }
    return refuse(r, "bad_spec", err);
}

/* Of a file that kernel/init began. */
static int refuse_blanks(struct reading *r, struct err *err) {
    int n = refuse_spec(r, err);
    snprintf(r->refusal.hint, sizeof r->refusal.hint,
             "write what belongs there in place of each null");
    return n;
}

/* Nothing in the file begins a kernel, and it includes none of the project's files:
 * kernel/init would find none either. */
static bool lacks_kernel(const struct reading *r) {
    autobuf text = BUF_INIT(SPEC_FILE_MAX);
    const char *path = json_get_string(r->params, "path", "");
    const char *source = json_get_string(r->params, "source", NULL);
    if (!source && spec_file_read((const char *const *)r->roots, path, &text, NULL) < 0) {
        return false;
    }
    source = source ? source : text.data;
    return !source || !(strstr(source, "__global__") || strstr(source, ".entry") ||
                        strstr(source, "include \""));
}

static int refuse_file(struct reading *r, struct err *err) {
    if (err->code == -ENODATA) {
        snprintf(r->refusal.hint, sizeof r->refusal.hint,
                 lacks_kernel(r)
                     ? "%s has no kernel: name the file that has the __global__ function"
                     : "kernel/init %s begins that check spec from the host's code",
                 json_get_string(r->params, "path", ""));
    }
    if (err->code == -EBADMSG) {
        snprintf(r->refusal.hint, sizeof r->refusal.hint,
                 "correct it there (JSON has no comments, and no comma after the last "
                 "member), or delete it and let kernel/init begin another");
    }
    bool is_there = err->code == -EINVAL || err->code == -EBADMSG;
    return refuse(r,
                  is_there               ? "bad_spec"
                  : err->code == -ENOENT ? "no_file"
                  : err->code == -EACCES ? "outside_roots"
                                         : "no_spec",
                  err);
}

static int read_params(struct reading *r, struct err *err) {
    struct validate_asked *asked = &r->asked;
    if (spec_file_is_needed(r->params)) {
        asked->params = spec_file_join(r->params, (const char *const *)r->roots,
                                       &asked->folder, err);
        bool whole = err->code == -ENODATA && json_object_get(r->params, "launch");
        if (!asked->params && !whole) {
            return refuse_file(r, err);
        }
    }
    if (!asked->params) {
        asked->params = json_incref(r->params);
    }
    return 0;
}

static int read_spec(struct reading *r) {
    struct validate_asked *asked = &r->asked;
    struct err err = {0};
    int n = read_params(r, &err);
    if (n < 0) {
        return n;
    }
    if (spec_blanks_refuse(asked->params, &err) < 0) {
        return refuse_blanks(r, &err);
    }
    if (kernel_spec_read(&asked->spec, asked->params, &err) < 0) {
        return refuse_spec(r, &err);
    }
    if (cases_check(&asked->spec, &err) < 0) {
        kernel_spec_finish(&asked->spec);
        return refuse_spec(r, &err);
    }
    return 0;
}

static void read_on_thread(void *data) {
    struct reading *r = data;
    r->r = read_spec(r);
    if (r->r < 0) {
        json_decref(take(r->asked.params));
        free(take(r->asked.folder));
    }
}

static void on_read(void *data) {
    struct reading *r = data;
    r->done(r->r, &r->asked, &r->refusal, r->data);
    json_release(r->loop, r->params);
    strings_free(r->roots);
    free(r);
}

struct work *validate_reading_start(uv_loop_t *loop, const json_t *params,
                                    const char *const *roots, validate_reading_done *done,
                                    void *data) {
    struct reading *r = xcalloc(1, sizeof *r);
    r->loop = loop;
    r->params = json_incref((json_t *)(uintptr_t)params);
    r->roots = strings_copy(roots);
    r->done = done;
    r->data = data;
    r->r = -ECANCELED; /* until it begins */
    return work_start(loop, read_on_thread, on_read, r);
}

/* --- writing --- */

struct writing {
    struct validate_material from;
    struct buf text;
    struct shared_bytes *request; /* or NULL */
    struct err err;
    struct request_problem problem;
    validate_writing_done *done;
    void *data;
};

static void write_on_thread(void *data) {
    struct writing *w = data;
    const struct validate_material *from = &w->from;
    if (worker_request(from->spec, from->kernel, from->reference, from->places, &w->text,
                       &w->problem) == 0) {
        w->request = shared_bytes_new(&w->text);
    }
}

/* Without text and problem when it was cancelled before it began. */
static void on_written(void *data) {
    struct writing *w = data;
    w->done(w->request, &w->problem, w->data);
    shared_bytes_unref(w->request);
    buf_finish(&w->text); /* what was written before it became too much */
    free(w);
}

struct work *validate_writing_start(uv_loop_t *loop,
                                    const struct validate_material *material,
                                    validate_writing_done *done, void *data) {
    struct writing *w = xcalloc(1, sizeof *w);
    w->from = *material;
    w->text = BUF_INIT(FRAME_MAX_BODY);
    w->problem.err = &w->err;
    w->done = done;
    w->data = data;
    return work_start(loop, write_on_thread, on_written, w);
}
