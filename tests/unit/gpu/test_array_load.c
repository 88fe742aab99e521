/* The .npy files of a spec: opened beneath the roots alone, each once. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/pool/open_files.h"
#include "gpu/spec/spec_npy.h"
#include "gpu/validate/array_load.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct room {
    char root[2][64];
    const char *roots[3];
    uv_loop_t loop;
    struct kernel_spec spec;
    int calls, code;
    json_t *places;
    struct open_files *files;
    char message[512];
};

static struct room room;

static void forget(void) {
    json_decref(take(room.places));
    open_files_unref(take(room.files));
}

static void start(void) {
    room = (struct room){.root = {"/tmp/array_load.XXXXXX", "/tmp/array_load.XXXXXX"}};
    for (int i = 0; i < 2; i++) {
        cr_assert_not_null(mkdtemp(room.root[i]));
        room.roots[i] = room.root[i];
    }
    cr_assert_eq(uv_loop_init(&room.loop), 0);
}

static void end(void) {
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&room.loop), 0);
    forget();
    kernel_spec_finish(&room.spec);
    for (int i = 0; i < 2; i++) {
        (void)dir_remove(room.root[i], NULL);
    }
}

TestSuite(array_load, .init = start, .fini = end, .timeout = 60);

/* A float32 array of one dimension as numpy writes it, of zeros. */
static void write_npy(int root, const char *name, size_t count) {
    char head[128] = "\x93NUMPY\x01\x00\x76";
    head[9] = 0;
    int len =
        snprintf(head + 10, 118,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu,), }", count);
    memset(head + 10 + len, ' ', (size_t)(117 - len));
    head[127] = '\n';
    autofree char *path = path_join(room.root[root], name);
    FILE *f = fopen(path, "we");
    cr_assert_not_null(f);
    fwrite(head, 1, sizeof head, f);
    cr_assert_eq(ftruncate(fileno(f), (off_t)(sizeof head + 4 * count)), 0);
    fclose(f);
}

/* Inputs a, b, … from these files. */
static void read_spec(size_t count, const char *const *files, size_t n) {
    json_t *params = json_pack("{s:s, s:s, s:{s:I}, s:{s:[i], s:[i]}, s:[]}", "source",
                               "S", "kernel", "k", "sizes", "n", (json_int_t)count,
                               "launch", "grid", 1, "block", 1, "args");
    for (size_t i = 0; i < n; i++) {
        const char name[] = {(char)('a' + (char)i), 0};
        json_array_append_new(json_object_get(params, "args"),
                              json_pack("{s:s, s:s, s:[s], s:{s:s}}", "name", name,
                                        "type", "float32", "shape", "n", "init", "file",
                                        files[i]));
    }
    struct err err = {0};
    cr_assert_eq(kernel_spec_read(&room.spec, params, &err), 0, "%s", err.msg);
    json_decref(params);
}

static void on_loaded(json_t *places, struct open_files *files, const struct err *err,
                      void *data) {
    struct room *r = data;
    r->calls++;
    r->places = places;
    r->files = files;
    r->code = err ? err->code : 0;
    snprintf(r->message, sizeof r->message, "%s", err ? err->msg : "");
}

static void load(const char *folder) {
    array_load_start(&room.loop, &room.spec, folder, room.roots, on_loaded, &room);
    cr_assert_eq(room.calls, 0, "never from inside");
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_assert_eq(room.calls, 1);
}

static json_int_t place_of(const char *name) {
    return json_integer_value(json_array_get(json_object_get(room.places, name), 0));
}

/* 128 + 4 * 4 bytes each, whatever their number of arrays. */
Test(array_load, a_file_of_two_arrays_is_there_once) {
    write_npy(0, "x.npy", 4);
    write_npy(1, "y.npy", 4); /* in the second root */
    read_spec(4, (const char *const[]){"x.npy", "y.npy", "x.npy"}, 3);
    load(NULL);
    cr_assert_eq(room.code, 0, "%s", room.message);
    cr_expect_eq(json_object_size(room.places), 2);
    cr_assert_eq(room.files->count, 2);
    cr_expect_eq(room.files->bytes, 288);
    cr_expect_eq(place_of("x.npy"), 0);
    cr_expect_eq(place_of("y.npy"), 1);
    autobuf bytes = BUF_INIT(1000), little = BUF_INIT(287);
    cr_expect_eq(open_files_read(room.files, &bytes), 0);
    cr_expect_eq(bytes.len, 288);
    cr_expect(!memcmp(bytes.data + 144, "\x93NUMPY", 6));
    cr_expect_eq(open_files_read(room.files, &little), -EMSGSIZE);
    autofree char *path = path_join(room.root[0], "x.npy");
    cr_assert_eq(truncate(path, 100), 0); /* meanwhile */
    cr_expect_eq(open_files_read(room.files, &bytes), -EIO);
}

Test(array_load, names_are_looked_up_in_the_specs_folder) {
    autofree char *deeper = path_join(room.root[0], "deeper");
    cr_assert_eq(dir_make(deeper, 0700, NULL), 0);
    write_npy(0, "deeper/x.npy", 4);
    write_npy(0, "x.npy", 5); /* another */
    read_spec(4, (const char *const[]){"x.npy"}, 1);
    load(deeper);
    cr_expect_eq(room.code, 0, "%s", room.message);
    cr_expect_eq(json_object_size(room.places), 1);
}

static void fails(const char *file, int code, const char *words) {
    room.calls = 0;
    kernel_spec_finish(&room.spec);
    read_spec(4, (const char *const[]){"good.npy", file, "good.npy"}, 3);
    load(NULL);
    cr_expect_null(room.files, "%s", file);
    cr_expect_eq(room.code, code, "%s: %d", file, room.code);
    cr_expect(strstr(room.message, words), "%s", room.message);
    autofree char *field = xasprintf("b.init.file '%s'", file);
    cr_expect(strstr(room.message, field), "%s: %s", field, room.message);
}

Test(array_load, what_cannot_be_read_is_named) {
    write_npy(0, "good.npy", 4);
    write_npy(0, "long.npy", 5);
    read_spec(4, (const char *const[]){"good.npy"}, 1);
    fails("none.npy", -ENOENT, "No such file");
    fails("/etc/x.npy", -EACCES, "outside");
    fails("../x.npy", -EACCES, "outside");
    fails("long.npy", -EINVAL, "[5]");
}

/* No element is read: a file of 16 GiB of holes takes no time and no memory. */
Test(array_load, a_file_may_be_as_large_as_it_likes) {
    write_npy(0, "a.npy", (size_t)1 << 32);
    read_spec((size_t)1 << 32, (const char *const[]){"a.npy"}, 1);
    load(NULL);
    cr_expect_eq(room.code, 0, "%s", room.message);
    cr_expect_eq(room.files->bytes, ((uint64_t)1 << 34) + 128);
}

/* --- cancelling --- */

#define THREADS 4 /* libuv's */

static uv_sem_t gate;

static void wait_for_gate(uv_work_t *work) {
    (void)work;
    uv_sem_wait(&gate);
}

static void waited(uv_work_t *work, int status) {
    (void)work, (void)status;
}

/* Before a thread has begun, and while one may be at it. */
Test(array_load, cancelled_it_says_so_once) {
    uv_work_t others[THREADS];
    write_npy(0, "x.npy", 4);
    read_spec(4, (const char *const[]){"x.npy"}, 1);
    uv_sem_init(&gate, 0);
    for (int i = 0; i < THREADS; i++) {
        uv_queue_work(&room.loop, &others[i], wait_for_gate, waited);
    }
    array_load_cancel(
        array_load_start(&room.loop, &room.spec, NULL, room.roots, on_loaded, &room));
    cr_assert_eq(room.calls, 0, "never from inside");
    while (!room.calls) {
        uv_run(&room.loop, UV_RUN_ONCE);
    }
    cr_expect_eq(room.code, -ECANCELED);
    cr_expect_null(room.files);
    for (int i = 0; i < THREADS; i++) {
        uv_sem_post(&gate);
    }
    uv_run(&room.loop, UV_RUN_DEFAULT);
    cr_expect_eq(room.calls, 1);
    uv_sem_destroy(&gate);
    for (int i = 0; i < 20; i++) {
        room.calls = 0;
        struct array_load *l =
            array_load_start(&room.loop, &room.spec, NULL, room.roots, on_loaded, &room);
        usleep((useconds_t)i * 20);
        array_load_cancel(l);
        uv_run(&room.loop, UV_RUN_DEFAULT);
        cr_assert_eq(room.calls, 1);
        cr_assert_eq(room.files != NULL, room.code == 0);
        cr_assert(room.code == 0 || room.code == -ECANCELED);
        forget();
    }
}
