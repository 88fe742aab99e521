/* kernel/validate's files, in and out, and how it is stopped: wherever it is, it ends
 * once and leaves nothing. The worker is played. */
#include "base/file.h"
#include "base/mem.h"
#include "gpu/spec/spec_npy.h"
#include "validate_room.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TestSuite(kernel_validate_files, .timeout = 120);

static const char *text_at(const json_t *object, const char *key) {
    return json_get_string(object, key, "");
}

/* A float32 array of one dimension as numpy writes it. */
static void write_npy(const struct validate_room *r, const char *name, size_t count) {
    autofree char *path = path_join(r->base.dir, name);
    char head[129];
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    int len =
        snprintf(head + 10, 118,
                 "{'descr': '<f4', 'fortran_order': False, 'shape': (%zu,), }", count);
    memset(head + 10 + len, ' ', (size_t)(117 - len));
    head[127] = '\n';
    FILE *f = fopen(path, "we");
    cr_assert_not_null(f);
    fwrite(head, 1, 128, f);
    for (size_t i = 0; i < 4 * count; i++) {
        fputc(0, f);
    }
    fclose(f);
}

/* One case, whose input is a file. */
static json_t *params_with(const char *file) {
    json_t *params = validate_room_params("");
    json_object_set_new(params, "sizes", json_pack("{s:i}", "n", 4));
    json_array_append_new(json_object_get(params, "args"),
                          json_pack("{s:s, s:s, s:[s], s:{s:s}}", "name", "y", "type",
                                    "float32", "shape", "n", "init", "file", file));
    return params;
}

/* --- in --- */

Test(kernel_validate_files, arrays_go_to_the_worker) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    write_npy(&r, "y.npy", 4);
    json_decref(validate_room_run(&r, params_with("y.npy")));
    autojson *run = validate_room_asked(&r, "validate", 0);
    const json_t *place = json_object_get(json_object_get(run, "files"), "y.npy");
    cr_expect_eq(json_integer_value(json_array_get(place, 0)), 0);
    cr_expect_eq(json_integer_value(json_array_get(place, 3)), 128 + 16);
    const json_t *bytes = json_object_get(run, "file_bytes"); /* behind the request */
    cr_expect_eq(json_integer_value(json_array_get(bytes, 0)), 128 + 16);
    validate_room_close(&r);
}

Test(kernel_validate_files, an_array_that_is_not_there_is_no_run) {
    static const struct {
        const char *file;
        enum call_fault fault;
        const char *words;
    } cases[] = {{"none.npy", CALL_BAD_PARAMS, "y.init.file 'none.npy'"},
                 {"short.npy", CALL_BAD_PARAMS, "shape is [3]"},
                 {"/etc/x.npy", CALL_REFUSED, "outside the folders"},
                 {"../x.npy", CALL_REFUSED, "outside the folders"}};
    static const char *const compile[] = {COMPILED(""), "{}"}; /* before it, or never */
    for (size_t i = 0; i < 2 * ARRAY_LEN(cases); i++) {
        struct validate_room r;
        validate_room_open(&r, compile[i % 2], PASSED(""));
        write_npy(&r, "short.npy", 3);
        validate_room_refuses(&r, params_with(cases[i / 2].file), cases[i / 2].fault,
                              "bad_file", cases[i / 2].words);
        autojson *run = validate_room_asked(&r, "validate", 0);
        cr_expect_null(run);
        validate_room_close(&r);
    }
}

/* --- out --- */

#define DATA "k05VTVBZQUFB" /* \x93NUMPYAAA */
#define PART(name, data, last)                                                           \
    "{\"file\":{\"name\":\"" name "\",\"data\":\"" data "\",\"last\":" last "}}"
#define SAVED                                                                            \
    "\"result\":{\"verdict\":\"pass\",\"cases\":[{\"files\":[{\"file\":\"a.npy\","       \
    "\"what\":\"output\"}]}],\"findings\":[],\"saved\":{\"bytes\":9}}"

static json_t *saving(const char *dir) {
    json_t *params = validate_room_params("");
    json_object_set_new(params, "save", json_string(dir));
    return params;
}

static size_t count_files(const struct validate_room *r, const char *dir) {
    autofree char *path = path_join(r->base.dir, dir);
    DIR *opened = opendir(path);
    size_t count = 0;
    for (struct dirent *e; opened && (e = readdir(opened));) {
        count += *e->d_name != '.' || strlen(e->d_name) > 2;
    }
    if (opened) {
        closedir(opened);
    }
    return count;
}

static const json_t *saved_file(const json_t *result) {
    const json_t *item = json_array_get(json_object_get(result, "cases"), 0);
    return json_array_get(json_object_get(item, "files"), 0);
}

Test(kernel_validate_files, what_the_worker_sends_is_written) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""),
                       "{\"notes\":[" PART("a.npy", "k05VTVBZ", "false") "," PART(
                           "a.npy", "QUFB", "true") "]," SAVED "}");
    autojson *result = validate_room_run(&r, saving("out"));
    const json_t *file = saved_file(result), *saved = json_object_get(result, "saved");
    autofree char *path = path_join(r.base.dir, "out/a.npy");
    cr_expect_str_eq(text_at(file, "path"), path);
    cr_expect_str_eq(text_at(file, "what"), "output");
    cr_expect_eq(json_get_integer(file, "bytes", 0), 9);
    cr_expect_eq(json_get_integer(saved, "files", 0), 1);
    cr_expect_null(json_object_get(saved, "error"));
    cr_expect_eq(count_files(&r, "out"), 1);
    cr_expect_str_eq(r.told[r.tellings - 1].message, "writing files");
    autojson *run = validate_room_asked(&r, "validate", 0);
    cr_expect_gt(json_get_integer(json_object_get(run, "limits"), "save_ms", 0), 0,
                 "a worker gets time for them");
    validate_room_close(&r);
}

Test(kernel_validate_files, without_a_folder_files_are_nobodys) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""),
                       "{\"notes\":[" PART("a.npy", DATA, "true") "]," SAVED "}");
    autojson *result = validate_room_run(&r, validate_room_params(""));
    cr_expect_str_eq(text_at(result, "verdict"), "pass");
    cr_expect_eq(count_files(&r, "."), 0);
    autojson *run = validate_room_asked(&r, "validate", 0);
    cr_expect_null(json_object_get(json_object_get(run, "limits"), "save_ms"));
    validate_room_close(&r);
}

/* Half a file of a worker that died is not put in front of the other's. */
Test(kernel_validate_files, another_worker_begins_anew) {
    struct validate_room r;
    validate_room_open(
        &r, COMPILED(""),
        "{\"notes\":[" PART("a.npy", DATA, "false") "],\"die\":true},"
        "{\"notes\":[" PART("a.npy", DATA, "true") "]," SAVED "}");
    autojson *result = validate_room_run(&r, saving("out"));
    cr_expect_eq(json_get_integer(saved_file(result), "bytes", 0), 9);
    cr_expect_null(json_object_get(json_object_get(result, "saved"), "error"));
    cr_expect_eq(count_files(&r, "out"), 1);
    validate_room_close(&r);
}

Test(kernel_validate_files, what_was_not_written_is_told_beside_the_verdict) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""),
                       PASSED("") ",{\"notes\":["
                       PART("a.npy", DATA, "false") "]," SAVED "}");
    autojson *none = validate_room_run(&r, saving("out"));
    cr_expect_str_eq(text_at(none, "verdict"), "pass");
    cr_expect(strstr(text_at(json_object_get(none, "saved"), "error"), "sends no files"));
    autojson *half = validate_room_run(&r, saving("out"));
    cr_expect(strstr(text_at(json_object_get(half, "saved"), "error"), "a.npy"));
    cr_expect_null(saved_file(half));
    uv_run(&r.base.loop, UV_RUN_NOWAIT); /* what closes after the answer */
    uv_run(&r.base.loop, UV_RUN_NOWAIT);
    cr_expect_eq(count_files(&r, "out"), 0);
    validate_room_close(&r);
}

/* --- cancelled --- */

static void cancelled(const char *compile, const char *validate, json_t *params,
                      size_t at) {
    struct validate_room r;
    validate_room_open(&r, compile, validate);
    write_npy(&r, "y.npy", 4);
    r.cancel_at = at;
    struct call *call = validate_room_begin(&r, params);
    if (!at) {
        call_cancel(call);
    }
    validate_room_wait(&r, call);
    cr_expect_eq(call_state(call), CALL_CANCELLED, "telling %zu: %d", at,
                 (int)call_state(call));
    cr_expect_eq(r.tellings, at, "nothing is told afterwards: %zu", r.tellings);
    call_unref(call);
    validate_room_close(&r); /* it asserts that the loop is empty */
}

#define THREADS 4 /* libuv's */

static uv_sem_t gate;

static void wait_for_gate(uv_work_t *work) {
    (void)work;
    uv_sem_wait(&gate);
}

static void waited(uv_work_t *work, int status) {
    (void)work, (void)status;
}

/* While the threads have other things to do, it does not wait for them. */
Test(kernel_validate_files, what_no_thread_has_begun_stops_at_once) {
    uv_work_t others[THREADS];
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    uv_sem_init(&gate, 0);
    for (int i = 0; i < THREADS; i++) {
        uv_queue_work(&r.base.loop, &others[i], wait_for_gate, waited);
    }
    struct call *call = validate_room_begin(&r, validate_room_params(""));
    call_cancel(call);
    validate_room_wait(&r, call);
    cr_expect_eq(call_state(call), CALL_CANCELLED);
    call_unref(call);
    for (int i = 0; i < THREADS; i++) {
        uv_sem_post(&gate);
    }
    validate_room_close(&r);
    uv_sem_destroy(&gate);
}

/* Before it has read the spec; while it compiles, one source or two, reading a file; as
 * the run begins; while it runs; while files are written. */
Test(kernel_validate_files, wherever_it_is_it_stops) {
#define NOTE "{\"progress\":{\"done\":1,\"total\":2}}"
#define REFERENCE                                                                        \
    ",\"expect\":{\"kernel\":{\"source\":\"__global__ void k(float *x, int n) {}\","     \
    "\"kernel\":\"k\",\"launch\":{\"grid\":[1],\"block\":[1]}}}"
    cancelled(COMPILED(""), PASSED(""), validate_room_params(""), 0);
    cancelled("{}", PASSED(""), validate_room_params(""), 1);
    cancelled("{}", PASSED(""), validate_room_params(REFERENCE), 1);
    cancelled("{}", PASSED(""), params_with("y.npy"), 1);
    cancelled(COMPILED(""), PASSED(""), params_with("y.npy"), 1);
    cancelled(COMPILED(""), "{}", validate_room_params(""), 2);
    cancelled(COMPILED(""), "{\"notes\":[" NOTE "]}", validate_room_params(""), 3);
    cancelled(COMPILED(""), "{\"notes\":[" NOTE "]}", saving("out"), 3);
    cancelled(COMPILED(""), "{\"notes\":[" PART("a.npy", DATA, "true") "]," SAVED "}",
              saving("out"), 3);
}
