#include "gpu/validate/array_load.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/work.h"
#include "gpu/pool/open_files.h"
#include "gpu/spec/spec_file.h"
#include "gpu/spec/spec_npy.h"
#include "gpu/tensor/npy.h"

#include <sys/stat.h>
#include <unistd.h>

struct array_load {
    struct work *work;
    const struct kernel_spec *spec;
    char *folder;
    char **roots; /* NULL-terminated */
    json_t *places;
    struct open_files *files;
    int status;
    struct err err;
    array_load_done *done;
    void *data;
};

/* --- on a thread --- */

/* As much of a file as its header can be, and its whole size. */
static int read_head(int fd, struct buf *out, struct stat *ret, struct err *err) {
    char *to = buf_reserve(out, NPY_HEAD);
    ssize_t n = fstat(fd, ret) == 0 ? pread(fd, to, NPY_HEAD, 0) : -1;
    if (n < 0) {
        return err_set(err, -errno, "it cannot be read: %s", strerror(errno));
    }
    buf_commit(out, (size_t)n);
    return 0;
}

/* What tells a file from what it was before, and from others. */
static json_t *place_of(size_t at, const struct stat *st) {
    return json_pack("[I, I, I, I, I, I]", (json_int_t)at, (json_int_t)st->st_dev,
                     (json_int_t)st->st_ino, (json_int_t)st->st_size,
                     (json_int_t)st->st_mtim.tv_sec, (json_int_t)st->st_mtim.tv_nsec);
}

static int load_file(struct array_load *l, size_t i, int fd_given) {
    autofd int fd = fd_given;
    const char *path = l->spec->arrays[i].path;
    autobuf head = BUF_INIT(NPY_HEAD);
    struct stat st;
    int n = read_head(fd, &head, &st, &l->err);
    n = n < 0 ? (err_wrap(&l->err, "%s", path), n)
              : spec_array_check(l->spec, i, head.data, head.len, (size_t)st.st_size,
                                 &l->err);
    if (n == 0 && !json_object_get(l->places, path)) {
        json_object_set_new_nocheck(l->places, path, place_of(l->files->count, &st));
        n = open_files_add(l->files, take_fd(fd), (uint64_t)st.st_size);
    }
    return n;
}

/* A file that several arrays name is looked at for each, and sent once. */
static int load_one(struct array_load *l, size_t i) {
    const char *path = l->spec->arrays[i].path;
    autofree char *joined = l->folder ? path_join(l->folder, path) : xstrdup(path);
    int fd = spec_file_open((const char *const *)l->roots, joined, &l->err);
    if (fd >= 0) {
        return load_file(l, i, fd);
    }
    char name[300];
    spec_array_name(l->spec, i, name, sizeof name);
    return err_wrap(&l->err, "%s", name), fd;
}

static void on_thread(void *data) {
    struct array_load *l = data;
    l->status = 0;
    for (size_t i = 0; i < l->spec->array_count && l->status == 0; i++) {
        l->status = work_is_stopped() ? -ECANCELED : load_one(l, i);
    }
}

/* --- on the loop --- */

static void load_free(struct array_load *l) {
    strings_free(l->roots);
    json_decref(l->places);
    open_files_unref(l->files);
    free(l->folder);
    free(l);
}

static void on_end(void *data) {
    struct array_load *l = data;
    bool ended_well = l->status >= 0;
    l->done(ended_well ? take(l->places) : NULL, ended_well ? take(l->files) : NULL,
            ended_well ? NULL : &l->err, l->data);
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
        .places = json_object(),
        .files = open_files_new(),
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
