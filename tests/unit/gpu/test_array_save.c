/* Files that a worker sends: whole under their names or not at all, and never outside. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "gpu/spec/spec_npy.h"
#include "gpu/validate/array_save.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct room {
    char root[64], outside[64];
    uv_loop_t loop;
    struct array_save *save;
    json_t *written;
    int calls, code;
    char message[512];
    size_t open_files;
    pthread_t thread; /* the loop's */
};

static size_t count_in(const char *folder) {
    DIR *dir = opendir(folder);
    size_t count = 0;
    while (dir && readdir(dir)) {
        count++;
    }
    if (dir) {
        closedir(dir);
    }
    return count;
}

static void room_open(struct room *r) {
    *r =
        (struct room){.root = "/tmp/array_save.XXXXXX", .outside = "/tmp/outside.XXXXXX"};
    cr_assert(mkdtemp(r->root) && mkdtemp(r->outside));
    cr_assert_eq(uv_loop_init(&r->loop), 0);
    r->thread = pthread_self();
    r->open_files = count_in("/proc/self/fd");
}

static void room_close(struct room *r) {
    array_save_free(r->save);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    cr_expect_eq(count_in("/proc/self/fd"), r->open_files, "a file stayed open");
    cr_assert_eq(uv_loop_close(&r->loop), 0);
    json_decref(r->written);
    (void)dir_remove(r->root, NULL);
    (void)dir_remove(r->outside, NULL);
}

static int begin(struct room *r, const char *dir) {
    const char *roots[] = {r->root, NULL};
    struct err err;
    return array_save_new(&r->save, &r->loop, dir, roots, &err);
}

static void part(struct room *r, const char *name, const char *bytes, size_t len,
                 bool last) {
    autojson *json = json_pack("{s:s, s:o, s:b}", "name", name, "data",
                               spec_array_encode(bytes, len), "last", last);
    array_save_part(r->save, json, -1);
}

static void on_done(const json_t *written, const struct err *err, void *data) {
    struct room *r = data;
    cr_expect(pthread_equal(pthread_self(), r->thread), "not from the loop");
    r->calls++;
    r->code = err ? err->code : 0;
    snprintf(r->message, sizeof r->message, "%s", err ? err->msg : "");
    r->written = json_deep_copy(written);
}

static void end(struct room *r) {
    array_save_end(r->save, on_done, r);
    cr_assert_eq(r->calls, 0, "it came from inside");
    uv_run(&r->loop, UV_RUN_DEFAULT);
    cr_assert_eq(r->calls, 1);
}

static bool is_there(const struct room *r, const char *name) {
    autofree char *path = path_join(r->root, name);
    struct stat st;
    return lstat(path, &st) == 0;
}

#define MAGIC "\x93NUMPY"
#define TEXT MAGIC "AAAAAAAAAA"

/* And nothing else. */
static bool holds_text(const struct room *r, const char *name) {
    autofree char *path = path_join(r->root, name);
    autobuf text = BUF_INIT(64);
    return file_read(path, &text, NULL) == 0 && text.len == strlen(TEXT) &&
           memcmp(text.data, TEXT, text.len) == 0;
}

static int memory_of(const char *bytes, size_t len, int seals) {
    int fd = memfd_create("array", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    cr_assert_eq(pwrite(fd, bytes, len, 65536), (ssize_t)len);
    cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

static void memory_part(struct room *r, json_int_t bytes, json_int_t at, int seals) {
    int fd = memory_of(MAGIC "AAAAAAAAAA", 16, seals);
    autojson *json =
        json_pack("{s:s, s:I, s:I}", "name", "x.npy", "bytes", bytes, "at", at);
    array_save_part(r->save, json, fd);
    close(fd);
}

Test(array_save, parts_become_files) {
    struct room r;
    room_open(&r);
    cr_assert_eq(begin(&r, "out/deep"), 0);
    cr_assert(!is_there(&r, "out"), "made before anything came");
    part(&r, "x.npy", TEXT, 8, false);
    part(&r, "x.npy", TEXT + 8, 8, true);
    part(&r, "y.npy", TEXT, 16, true);
    part(&r, "z.npy", TEXT, 16, false); /* never whole */
    end(&r);
    cr_assert_eq(r.code, -EPIPE);
    cr_assert_eq(json_object_size(r.written), 2);
    const json_t *x = json_object_get(r.written, "x.npy");
    autofree char *path = path_join(r.root, "out/deep/x.npy");
    cr_assert_str_eq(json_get_string(x, "path", ""), path);
    cr_assert_eq(json_get_integer(x, "bytes", 0), 16);
    const json_t *y = json_object_get(r.written, "y.npy");
    cr_assert_eq(json_get_integer(y, "bytes", 0), 16);
    cr_assert(holds_text(&r, "out/deep/x.npy") && holds_text(&r, "out/deep/y.npy"));
    array_save_free(take(r.save));
    autofree char *folder = path_join(r.root, "out/deep");
    cr_assert_eq(count_in(folder), 2 + 2, "not even a part of z.npy");
    room_close(&r);
}

Test(array_save, what_lies_is_refused) {
    static const struct {
        const char *name, *bytes;
    } lies[] = {
        {"../x.npy", TEXT}, {"/tmp/x.npy", TEXT}, {"a/x.npy", TEXT},
        {".npy", TEXT},     {".x.npy", TEXT},     {"x.txt", TEXT},
        {"", TEXT},         {"x\n.npy", TEXT},    {"x.npy", "#!/bin/sh\nls"},
        {"x.npy", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        struct room r;
        room_open(&r);
        cr_assert_eq(begin(&r, "."), 0);
        part(&r, lies[i].name, lies[i].bytes, strlen(lies[i].bytes), true);
        part(&r, "later.npy", TEXT, 16, true); /* the first thing that is wrong ends it */
        end(&r);
        cr_expect_eq(r.code, -EBADMSG, "%s: %d", lies[i].name, r.code);
        cr_expect_eq(json_object_size(r.written), 0, "%s", lies[i].name);
        cr_expect(!is_there(&r, "x.npy") && !is_there(&r, "later.npy"));
        room_close(&r);
    }
}

/* Another name before the first file is whole. */
Test(array_save, parts_belong_together) {
    struct room r;
    room_open(&r);
    cr_assert_eq(begin(&r, "."), 0);
    part(&r, "x.npy", TEXT, 16, false);
    part(&r, "y.npy", TEXT, 16, true);
    end(&r);
    cr_assert_eq(r.code, -EBADMSG);
    cr_assert(!is_there(&r, "x.npy") && !is_there(&r, "y.npy"));
    room_close(&r);
}

/* "k05VTVBZ" is the magic number. RFC 4648: four characters at a time, of the alphabet,
 * and = only at the end. */
Test(array_save, what_is_no_base64_is_refused) {
    static const struct {
        const char *data;
        int code;
    } rows[] = {
        {"k05VTVBZ", 0},         {"k05VTVBZQQ==", 0},           {"=%%%", -EBADMSG},
        {"k05VTVBZ%", -EBADMSG}, {"k05VTVBZ%%%%", -EBADMSG},    {"k05VTVBZQUJ", -EBADMSG},
        {"k05VTVBZQ", -EBADMSG}, {"k05VTVBZQQ==QQ==", -EBADMSG}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct room r;
        room_open(&r);
        cr_assert_eq(begin(&r, "."), 0);
        autojson *json = json_pack("{s:s, s:s, s:b}", "name", "x.npy", "data",
                                   rows[i].data, "last", 1);
        array_save_part(r.save, json, -1);
        end(&r);
        cr_expect_eq(r.code, rows[i].code, "%s: %d %s", rows[i].data, r.code, r.message);
        cr_expect_eq(is_there(&r, "x.npy"), rows[i].code == 0, "%s", rows[i].data);
        room_close(&r);
    }
}

/* Of the worker's files there may be 1024, with names of 200 bytes at most. */
Test(array_save, files_and_their_names_have_limits) {
    static const struct {
        size_t files, length;
        int code;
    } cases[] = {
        {1024, 9, 0}, {1025, 9, -EFBIG}, {1, 5, 0}, {1, 200, 0}, {1, 201, -EBADMSG}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct room r;
        room_open(&r);
        cr_assert_eq(begin(&r, "."), 0);
        for (size_t k = 0; k < cases[i].files; k++) {
            char name[256];
            snprintf(name, sizeof name, "%0*zu.npy", (int)cases[i].length - 4, k);
            part(&r, name, TEXT, 16, true);
        }
        end(&r);
        cr_expect_eq(r.code, cases[i].code, "%zu: %s", i, r.message);
        bool too_many = cases[i].code == -EFBIG;
        cr_expect_eq(strstr(r.message, "more than 256 MiB or 1024 files") != NULL,
                     too_many);
        cr_expect_eq(json_object_size(r.written), too_many         ? 1024
                                                  : !cases[i].code ? cases[i].files
                                                                   : 0);
        room_close(&r);
    }
}

/* Each file has to be an array, not only the first, and a part holds 96 KiB. */
Test(array_save, every_file_is_looked_at) {
    struct room r;
    room_open(&r);
    cr_assert_eq(begin(&r, "."), 0);
    part(&r, "x.npy", TEXT, 16, true);
    part(&r, "y.npy", "#!/bin/sh\nls", 12, true);
    end(&r);
    cr_expect_eq(r.code, -EBADMSG);
    cr_expect(strstr(r.message, "y.npy"), "%s", r.message);
    cr_expect_eq(json_object_size(r.written), 1);
    room_close(&r);
    static char large[1 << 20] = MAGIC;
    room_open(&r);
    cr_assert_eq(begin(&r, "."), 0);
    part(&r, "x.npy", large, 96 << 10, false);
    part(&r, "x.npy", large, sizeof large, true);
    end(&r);
    cr_expect_eq(r.code, -EBADMSG);
    room_close(&r);
}

Test(array_save, nothing_is_written_outside) {
    struct room r;
    while (fcntl(STDIN_FILENO, F_GETFD) < 0) {
        cr_assert_geq(open("/dev/null", O_RDONLY), 0);
    }
    room_open(&r);
    cr_expect_eq(begin(&r, "../x"), -EACCES);
    cr_expect_geq(fcntl(STDIN_FILENO, F_GETFD), 0, "it closed what is not its own");
    cr_expect_eq(begin(&r, "/tmp"), -EACCES);
    const char *none[] = {NULL};
    struct err err;
    cr_expect_eq(array_save_new(&r.save, &r.loop, "x", none, &err), -EACCES);
    cr_expect_eq(array_save_new(&r.save, &r.loop, "x", NULL, &err), -EACCES);
    autofree char *whole = path_join(r.root, "out");
    cr_assert_eq(begin(&r, whole), 0, "an absolute place beneath a root");
    array_save_free(take(r.save));
    cr_expect_eq(begin(&r, r.outside), -EACCES);
    autofree char *link = path_join(r.root, "link"), *file = path_join(r.root, "file");
    cr_assert_eq(symlink(r.outside, link), 0);
    cr_expect_lt(begin(&r, "link"), 0);
    cr_expect_lt(begin(&r, "link/deeper"), 0);
    FILE *plain = fopen(file, "w");
    cr_assert(plain != NULL);
    fclose(plain);
    cr_expect_lt(begin(&r, "file"), 0);
    cr_assert(!r.save);
    /* A link that appears later leads out no less. */
    cr_assert_eq(begin(&r, "late"), 0);
    autofree char *late = path_join(r.root, "late");
    cr_assert_eq(symlink(r.outside, late), 0);
    part(&r, "x.npy", TEXT, 16, true);
    end(&r);
    cr_expect_lt(r.code, 0);
    autofree char *leaked = path_join(r.outside, "x.npy");
    cr_expect_neq(access(leaked, F_OK), 0);
    room_close(&r);
}

Test(array_save, another_worker_begins_anew) {
    struct room r;
    room_open(&r);
    cr_assert_eq(begin(&r, "."), 0);
    part(&r, "x.npy", TEXT, 16, true);
    part(&r, "y.npy", "no array", 8, true);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    array_save_again(r.save);
    part(&r, "x.npy", TEXT, 16, true);
    end(&r);
    cr_assert_eq(r.code, 0);
    cr_assert_eq(json_object_size(r.written), 1);
    room_close(&r);
    /* That sends nothing: what was written before is not this one's. */
    room_open(&r);
    cr_assert_eq(begin(&r, "."), 0);
    part(&r, "x.npy", TEXT, 16, true);
    part(&r, "y.npy", TEXT, 16, false);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    array_save_again(r.save);
    end(&r);
    cr_assert_eq(r.code, 0);
    cr_assert_eq(json_object_size(r.written), 0);
    room_close(&r);
}

Test(array_save, freed_it_says_nothing_more) {
    struct room r;
    room_open(&r);
    cr_assert_eq(begin(&r, "."), 0);
    part(&r, "x.npy", TEXT, 16, false);
    array_save_end(r.save, on_done, &r);
    array_save_free(take(r.save));
    uv_run(&r.loop, UV_RUN_DEFAULT);
    cr_assert_eq(r.calls, 0);
    cr_assert(!is_there(&r, "x.npy"));
    cr_assert_eq(begin(&r, "."), 0);
    array_save_end(r.save, on_done, &r); /* of nothing */
    array_save_free(take(r.save));
    uv_run(&r.loop, UV_RUN_DEFAULT);
    cr_assert_eq(r.calls, 0);
    room_close(&r);
}

Test(array_save, a_result_tells_what_became_of_its_files) {
    struct room r;
    room_open(&r);
    cr_assert_eq(begin(&r, "out"), 0);
    autojson *result = json_pack("{s:[{s:[{s:s, s:i},{s:s}]}]}", "cases", "files", "file",
                                 "x.npy", "rank", 1, "file", "gone.npy");
    autojson *written = json_pack("{s:{s:s, s:i}}", "x.npy", "path", "/p", "bytes", 5);
    array_save_tell(r.save, result, written, NULL);
    const json_t *files =
        json_object_get(json_array_get(json_object_get(result, "cases"), 0), "files");
    cr_assert_eq(json_array_size(files), 1);
    autojson *want = json_pack("{s:s, s:i, s:i}", "path", "/p", "bytes", 5, "rank", 1);
    cr_assert(json_equal(json_array_get(files, 0), want));
    const json_t *saved = json_object_get(result, "saved");
    cr_assert_eq(json_get_integer(saved, "files", 0), 1);
    autofree char *dir = path_join(r.root, "out");
    cr_assert_str_eq(json_get_string(saved, "dir", ""), dir);
    cr_assert(strstr(json_get_string(saved, "error", ""), "this worker sends no files"));
    room_close(&r);
}

/* Memory that its sender can no longer change or cut short, and no other. */
Test(array_save, sealed_memory_becomes_a_file) {
    enum { SEALS = F_SEAL_SHRINK | F_SEAL_WRITE };
    static const struct {
        json_int_t bytes, at;
        int seals;
    } bad[] = {{16, 65536, F_SEAL_SHRINK},
               {16, 65536, F_SEAL_WRITE},
               {17, 65536, SEALS},
               {16, 65552, SEALS},
               {0, 65536, SEALS},
               {-1, 0, SEALS},
               {16, -65536, SEALS},
               {16, 7, SEALS},
               {1ll << 62, 1ll << 62, SEALS},
               {16, 0, SEALS}};
    struct room r;
    room_open(&r);
    cr_assert_eq(begin(&r, "out"), 0);
    memory_part(&r, 16, 65536, SEALS);
    end(&r);
    cr_expect_eq(r.code, 0, "%s", r.message);
    cr_expect(holds_text(&r, "out/x.npy"));
    room_close(&r);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        room_open(&r);
        cr_assert_eq(begin(&r, "out"), 0);
        memory_part(&r, bad[i].bytes, bad[i].at, bad[i].seals);
        end(&r);
        cr_expect_eq(r.code, -EBADMSG, "%zu: %d", i, r.code);
        cr_expect(!is_there(&r, "out/x.npy"), "%zu", i);
        room_close(&r);
    }
}
