/* kernel/validate's spec is read and its request written on a thread: each is told of
 * once, with the loop free meanwhile, and cancelled at once where nothing has begun. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/shared_bytes.h"
#include "gpu/validate/validate_maker.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uv_loop_t loop;

static void start(void) {
    uv_loop_init(&loop);
}

static void end(void) {
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(uv_loop_close(&loop), 0);
}

TestSuite(validate_maker, .init = start, .fini = end, .timeout = 60);

static json_t *params_of(const char *more) {
    autofree char *text = xasprintf(
        "{\"source\":\"S\",\"kernel\":\"k\",\"sizes\":{\"n\":4},\"headers\":{"
        "\"h\":\"H\"},\"launch\":{\"grid\":[1],\"block\":[32]},\"args\":[{"
        "\"name\":\"x\",\"type\":\"float32\",\"shape\":[\"n\"],\"output\":true}]"
        "%s}",
        more);
    json_t *params = json_loads(text, 0, NULL);
    cr_assert_not_null(params, "%s", text);
    return params;
}

/* --- reading --- */

struct read {
    int calls, r;
    struct validate_asked asked;
    struct check_refusal refusal;
};

static void on_read(int r, const struct validate_asked *asked,
                    const struct check_refusal *refusal, void *data) {
    struct read *read = data;
    read->calls++;
    read->r = r;
    read->asked = *asked;
    read->refusal = *refusal;
}

/* params is stolen. */
static void read_now(json_t *params, const char *root, struct read *read) {
    const char *const roots[] = {root, NULL};
    *read = (struct read){0};
    validate_reading_start(&loop, params, roots, on_read, read);
    json_decref(params); /* the thread has a reference of its own */
    cr_assert_eq(read->calls, 0, "never from inside");
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(read->calls, 1);
}

Test(validate_maker, reads_a_spec_and_keeps_the_params) {
    struct read read;
    read_now(params_of(",\"trials\":5"), "/nonexistent", &read);
    cr_assert_eq(read.r, 0, "%s", read.refusal.message);
    cr_assert_eq(read.asked.spec.case_count, 1);
    cr_assert_eq(read.asked.spec.trials, 5);
    cr_assert_null(read.asked.folder);
    cr_assert_str_eq(json_get_string(read.asked.params, "source", ""), "S");
    validate_asked_finish(&read.asked, &loop);
}

static void refused(json_t *params, const char *root, enum call_fault fault,
                    const char *reason, const char *words) {
    struct read read;
    read_now(params, root, &read);
    cr_assert_lt(read.r, 0);
    cr_assert_eq(read.refusal.fault, fault);
    cr_assert_str_eq(read.refusal.reason, reason);
    cr_assert_not_null(strstr(read.refusal.message, words), "%s", read.refusal.message);
}

Test(validate_maker, says_what_is_wrong_with_a_spec) {
    refused(params_of(",\"trials\":99"), "/", CALL_BAD_PARAMS, "bad_spec", "trials");
    json_t *params = params_of("");
    json_object_set_new(params, "sizes", json_pack("{s:i}", "n", -1));
    refused(params, "/", CALL_BAD_PARAMS, "bad_spec", "case 0");
}

/* Names are escaped as RFC 6901 says; of a member that is missing, the parent is named. */
Test(validate_maker, points_at_the_member_that_is_wrong) {
    static const struct {
        const char *more, *pointer;
    } rows[] = {
        {",\"trials\":99", "/trials"},
        {",\"launch\":{\"grid\":[1,true]}", "/launch/grid/1"},
        {",\"launch\":{\"grid\":[1]}", "/launch"},
        {",\"args\":[{\"name\":\"x\",\"type\":\"flot\",\"shape\":[1]}]", "/args/0/type"},
        {",\"args\":[{\"name\":\"x\",\"type\":\"float32\",\"a~/b\":1}]", "/args/0/a~0~1b"},
        {",\"sizes\":{\"n\":-1}", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct read read;
        read_now(params_of(rows[i].more), "/", &read);
        cr_assert_lt(read.r, 0);
        cr_expect_str_eq(read.refusal.path, rows[i].pointer, "%s: %s: %s", rows[i].more,
                         read.refusal.path, read.refusal.message);
    }
}

/* All at once, each with what belongs there; what is expected may be null. */
Test(validate_maker, names_all_that_is_left_open) {
    json_t *params = params_of(",\"expect\":{\"op\":\"clamp\",\"min\":null}");
    json_object_set_new(json_object_get(params, "sizes"), "n", json_null());
    json_object_set_new(params, "launch", json_pack("{s:n, s:[i, n]}", "block", "grid", 1));
    json_t *args = json_object_get(params, "args");
    json_object_set_new(json_array_get(args, 0), "shape", json_null());
    json_array_append_new(
        args, json_pack("{s:s, s:n, s:n}", "name", "p", "type", "shape"));
    refused(params, "/", CALL_BAD_PARAMS, "bad_spec",
            "left to fill in: sizes.n (an integer), launch.block (threads in x, y, z), "
            "launch.grid[1] (blocks in x, y, z), args[0].shape (extents in row-major "
            "order), args[1].type (the element type, by its numpy or PyTorch name), "
            "args[1].shape");
    params = params_of("");
    for (int i = 0; i < 20; i++) {
        json_array_append_new(json_object_get(params, "args"), json_null());
    }
    refused(params, "/", CALL_BAD_PARAMS, "bad_spec", "args[12] and 8 more");
}

Test(validate_maker, reads_the_file_of_a_spec_beneath_the_roots) {
    char root[] = "/tmp/maker-XXXXXX";
    cr_assert_not_null(mkdtemp(root));
    autofree char *path = path_join(root, "k.check.json");
    autojson *spec = params_of("");
    json_object_del(spec, "source");
    cr_assert_eq(json_dump_file(spec, path, 0), 0);
    struct read read;
    read_now(json_pack("{s:s}", "path", "k.cu"), root, &read);
    cr_assert_eq(read.r, 0, "%s", read.refusal.message);
    cr_assert_not_null(read.asked.folder);
    cr_assert_str_eq(json_get_string(read.asked.params, "path", ""), "k.cu");
    validate_asked_finish(&read.asked, &loop);
    refused(json_pack("{s:s}", "path", "other.cu"), root, CALL_BAD_PARAMS, "no_file",
            "other.cu: No such file");
    autofree char *other = path_join(root, "other.cu");
    cr_assert_eq(json_dump_file(spec, other, 0), 0);
    refused(json_pack("{s:s}", "path", "other.cu"), root, CALL_BAD_PARAMS, "no_spec",
            "other.check.json");
    unlink(other);
    refused(json_pack("{s:s}", "path", path), "/usr", CALL_REFUSED, "outside_roots",
            "outside");
    unlink(path);
    rmdir(root);
}

/* --- writing --- */

struct written {
    int calls;
    json_t *request;
    const char *stage, *code;
};

static void on_written(struct shared_bytes *request,
                       const struct request_problem *problem, void *data) {
    struct written *written = data;
    written->calls++;
    written->stage = problem->stage;
    written->code = problem->code;
    written->request = request ? json_loadb(request->data, request->len, 0, NULL) : NULL;
}

static void write_now(const struct kernel_spec *spec, json_t *kernel, json_t *files,
                      struct written *written) {
    const struct validate_material material = {
        .spec = spec, .kernel = kernel, .places = files};
    *written = (struct written){0};
    validate_writing_start(&loop, &material, on_written, written);
    cr_assert_eq(written->calls, 0, "never from inside");
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(written->calls, 1);
}

static json_t *compiled(void) {
    return json_pack("{s:b, s:[{s:s, s:s}], s:s, s:s}", "ok", 1, "kernels", "name", "k",
                     "symbol", "k_", "ptx", "P\"\n", "cubin", "QUJD");
}

Test(validate_maker, writes_what_a_worker_is_asked) {
    struct written written;
    struct kernel_spec spec;
    autojson *params = params_of("");
    cr_assert_eq(kernel_spec_read(&spec, params, NULL), 0);
    autojson *kernel = compiled();
    write_now(&spec, kernel, NULL, &written);
    autojson *request = written.request;
    cr_assert_not_null(request);
    cr_assert_str_eq(json_get_string(request, "ptx", ""), "P\"\n");
    cr_assert_str_eq(json_get_string(request, "cubin", ""), "QUJD");
    autojson *small = validate_params(&spec, 255);
    cr_assert_str_eq(json_get_string(small, "seed", ""), "0x00000000000000ff");
    cr_assert_gt(json_get_integer(json_object_get(small, "limits"), "wall_ms", 0), 0);
    cr_assert_null(json_object_get(request, "seed"), "the same whatever the seed");
    const json_t *entry = json_object_get(json_object_get(request, "entries"), "k");
    cr_assert_str_eq(json_get_string(entry, "symbol", ""), "k_");
    const json_t *own = json_object_get(request, "spec");
    cr_assert(json_equal(json_object_get(own, "args"), json_object_get(params, "args")));
    cr_assert_null(json_object_get(own, "source"), "it is compiled already");
    cr_assert_null(json_object_get(own, "headers"));
    cr_assert_null(json_object_get(kernel, "ptx"), "the result is told without");
    cr_assert_not_null(json_object_get(kernel, "kernels"));
    kernel_spec_finish(&spec);
}

/* The worker stops at the spec's limit by itself: it is killed less than a second later.
 */
Test(validate_maker, a_run_has_the_seconds_of_its_spec) {
    for (json_int_t seconds = 1; seconds <= 3600; seconds *= 60) {
        struct kernel_spec spec;
        autojson *params = params_of("");
        json_object_set_new(params, "timeout_s", json_integer(seconds));
        cr_assert_eq(kernel_spec_read(&spec, params, NULL), 0);
        autojson *small = validate_params(&spec, 1);
        json_int_t ms = json_get_integer(json_object_get(small, "limits"), "wall_ms", 0);
        cr_expect(ms > seconds * 1000 && ms < (seconds + 1) * 1000, "%lld",
                  (long long)ms);
        kernel_spec_finish(&spec);
    }
}

Test(validate_maker, says_why_there_is_nothing_to_ask) {
    struct written written;
    struct kernel_spec spec;
    autojson *params = params_of("");
    cr_assert_eq(kernel_spec_read(&spec, params, NULL), 0);
    autojson *other =
        json_pack("{s:[{s:s, s:s}]}", "kernels", "name", "other", "symbol", "other");
    write_now(&spec, other, NULL, &written);
    cr_assert_null(written.request);
    cr_assert_str_eq(written.stage, "spec");
    cr_assert_str_eq(written.code, "unknown_kernel");
    /* What does not fit a message with its files. */
    enum { MOST = 64 << 20 };
    autofree char *bytes = xmalloc(MOST);
    memset(bytes, 'A', MOST);
    for (size_t spare = 0; spare < 2; spare++) {
        autojson *files = json_object();
        json_object_set_new(files, "x.npy",
                            json_stringn_nocheck(bytes, MOST - (spare ? 8192 : 256)));
        autojson *kernel = compiled();
        write_now(&spec, kernel, files, &written);
        cr_assert_eq(written.request != NULL, spare == 1);
        cr_assert(spare || !strcmp(written.code, "too_large"));
        json_decref(written.request);
    }
    kernel_spec_finish(&spec);
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

static void open_gate(uv_timer_t *timer) {
    for (int i = 0; i < THREADS; i++) {
        uv_sem_post(&gate);
    }
    uv_close((uv_handle_t *)timer, NULL);
}

/* While the threads have other things to do. */
Test(validate_maker, what_has_not_begun_is_cancelled_at_once) {
    uv_work_t others[THREADS];
    uv_timer_t timer;
    uv_sem_init(&gate, 0);
    for (int i = 0; i < THREADS; i++) {
        uv_queue_work(&loop, &others[i], wait_for_gate, waited);
    }
    struct read read = {0};
    struct written written = {0};
    struct kernel_spec spec;
    autojson *params = params_of("");
    autojson *kernel = compiled();
    cr_assert_eq(kernel_spec_read(&spec, params, NULL), 0);
    const char *const roots[] = {"/", NULL};
    const struct validate_material material = {.spec = &spec, .kernel = kernel};
    work_cancel(validate_reading_start(&loop, params, roots, on_read, &read));
    work_cancel(validate_writing_start(&loop, &material, on_written, &written));
    cr_assert_eq(read.calls + written.calls, 0, "never from inside");
    uv_timer_init(&loop, &timer);
    while (!read.calls || !written.calls) {
        uv_run(&loop, UV_RUN_ONCE);
    }
    uv_timer_start(&timer, open_gate, 0, 0);
    uv_run(&loop, UV_RUN_DEFAULT);
    cr_assert_eq(read.calls, 1);
    cr_assert_eq(read.r, -ECANCELED);
    cr_assert_eq(written.calls, 1);
    cr_assert_null(written.request);
    cr_assert_not_null(json_object_get(kernel, "ptx"), "nobody touched it");
    kernel_spec_finish(&spec);
    uv_sem_destroy(&gate);
}

/* While a thread is at it: its answer comes all the same. */
Test(validate_maker, what_has_begun_is_told_once) {
    for (int i = 0; i < 20; i++) {
        struct read read = {0};
        autojson *params = params_of("");
        const char *const roots[] = {"/", NULL};
        struct work *making =
            validate_reading_start(&loop, params, roots, on_read, &read);
        usleep((useconds_t)i * 20);
        work_cancel(making);
        uv_run(&loop, UV_RUN_DEFAULT);
        cr_assert_eq(read.calls, 1);
        cr_assert(read.r == 0 || read.r == -ECANCELED);
        if (read.r == 0) {
            validate_asked_finish(&read.asked, &loop);
        }
    }
}
