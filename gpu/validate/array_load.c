#include "gpu/validate/array_load.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strings.h"
#include "base/work.h"
#include "base/work_stop.h"
#include "gpu/spec/spec_file.h"
#include "gpu/spec/spec_npy.h"

#include <errno.h>
#include <string.h>

struct array_load {
    struct work *work;
    const struct kernel_spec *spec;
    char *folder;
    char **roots; /* NULL-terminated */
    json_t *files;
    size_t bytes; /* of all files so far */
    int status;
    struct err err;
    array_load_done *done;
    void *data;
};

/* --- on a thread --- */

static int read_file(struct array_load *l, const char *path, struct buf *out,
                     struct err *err) {
    autofree char *joined = l->folder ? path_join(l->folder, path) : xstrdup(path);
    int n = spec_file_read((const char *const *)l->roots, joined, out, err);
    return n == -EFBIG ? err_set(err, n, "the files of a spec may have %u MiB in all",
                                 SPEC_MAX_FILE_BYTES >> 20)
                       : n;
}

/* A file that several arrays name is read once for each, and sent once. */
static int load_one(struct array_load *l, size_t i) {
    const char *path = l->spec->arrays[i].path;
    bool is_new = !json_object_get(l->files, path);
    size_t room = SPEC_MAX_FILE_BYTES - l->bytes;
    autobuf bytes = BUF_INIT(is_new ? room : SPEC_MAX_FILE_BYTES);
    int n = read_file(l, path, &bytes, &l->err);
    if (n < 0) {
        char name[300];
        spec_array_name(l->spec, i, name, sizeof name);
        err_wrap(&l->err, "%s", name);
        return n;
    }
    n = spec_array_check(l->spec, i, bytes.data, bytes.len, &l->err);
    if (n == 0 && is_new) {
        l->bytes += bytes.len;
        json_object_set_new_nocheck(l->files, path,
                                    spec_array_encode(bytes.data, bytes.len));
    }
    return n;
}

static void on_thread(void *data) {
    struct array_load *l = data;
    l->status = 0;
    for (size_t i = 0; i < l->spec->array_count && l->status == 0; i++) {
        l->status = work_is_stopped() ? -ECANCELED : load_one(l, i);
    }
    if (l->status < 0) {
        json_decref(take(l->files)); /* here: it may be much */
    }
}

/* --- on the loop --- */

static void load_free(struct array_load *l) {
    strings_free(l->roots);
    free(l->folder);
    free(l);
}

static void on_end(void *data) {
    struct array_load *l = data;
    if (l->status < 0) {
        json_decref(l->files); /* empty, or gone */
        l->done(NULL, &l->err, l->data);
    } else {
        l->done(l->files, NULL, l->data);
    }
    load_free(l);
}

struct array_load *array_load_start(uv_loop_t *loop, const struct kernel_spec *spec,
                                    const char *folder, const char *const *roots,
                                    array_load_done *done, void *data) {
    struct array_load *l = xcalloc(1, sizeof *l);
    *l = (struct array_load){
        .spec = spec,
        .folder = folder ? xstrdup(folder) : NULL,
        .roots = strings_copy(roots),
        .files = json_object(),
        .done = done,
        .data = data,
    };
    l->status = err_set(&l->err, -ECANCELED, "cancelled"); /* unless a thread begins */
    l->work = work_start(loop, on_thread, on_end, l);
    return l;
}

void array_load_cancel(struct array_load *load) {
    work_cancel(load->work);
}
