/* The course of a check: joined, cancelled at each moment, with long sources. */
#include "base/buf.h"
#include "base/mem.h"
#include "check_answers.h"
#include "check_room.h"

#include <criterion/criterion.h>
#include <unistd.h>

/* Compilations that are on their way. */
static json_int_t submitted(struct gpu *gpu) {
    autojson *status = gpu_status(gpu);
    const json_t *worker = json_array_get(json_object_get(status, "workers"), 0);
    return json_get_integer(worker, "running", 0) + json_get_integer(worker, "queued", 0);
}

static void join_and_cancel(struct check_room *room, const char *source, bool compiling) {
    struct check_answer a[4] = {0};
    struct kernel_check *c[4];
    autofree char *text = xasprintf("%s\n", source);
    autojson *params = json_pack("{s:s}", "source", source);
    autojson *other = json_pack("{s:s}", "source", text);
    for (int i = 0; i < 4; i++) {
        c[i] = kernel_check_start(room->gpu, i < 3 ? params : other, &room->origin,
                                  check_answer_take, &a[i]);
    }
    while (compiling && submitted(room->gpu) < 2) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    kernel_check_cancel(c[1]);
    kernel_check_cancel(c[3]);
    cr_assert_eq(a[1].calls, 0);
    check_room_run(room, a, 4);
    cr_assert(is_ok(a[0].result));
    cr_assert(json_is_null(a[1].result));
    cr_assert(json_is_null(a[3].result));
    cr_assert(json_equal(json_object_get(a[0].result, "compile_ms"),
                         json_object_get(a[2].result, "compile_ms")));
    for (int i = 0; i < 4; i++) {
        json_decref(a[i].result);
    }
}

/* Two identical checks at once are one compilation; a cancelled one leaves the other be,
 * whether its input is still read or is compiled by now. */
Test(kernel_check, joins_and_cancels, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    check_room_open(&room, NULL);
    join_and_cancel(&room, AXPY, false);
    join_and_cancel(&room, AXPY "\n\n", true);
    check_room_close(&room);
}

static json_int_t cached(struct gpu *gpu) {
    autojson *status = gpu_status(gpu);
    return json_get_integer(json_object_get(status, "cache"), "entries", 0);
}

/* A source whose result is made on a thread: the loop makes those of short ones. */
static json_t *long_params(const char *source) {
    autofree char *text = xasprintf("%s/*%8000s*/", source, "");
    return json_pack("{s:s}", "source", text);
}

/* Two of the same whose answer has come, and is being made a result. */
static void start_making(struct check_room *room, const char *source,
                         struct check_answer a[2], struct kernel_check *c[2]) {
    autojson *params = long_params(source);
    for (int i = 0; i < 2; i++) {
        a[i] = (struct check_answer){0};
        c[i] = kernel_check_start(room->gpu, params, &room->origin, check_answer_take,
                                  &a[i]);
    }
    while (!submitted(room->gpu)) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    while (submitted(room->gpu)) {
        uv_run(&room->loop, UV_RUN_ONCE);
    }
    cr_assert_eq(a[0].calls, 0);
}

/* Cancelled while its result is made: the other still gets it, and so does who asks
 * later. The end of everything in between does no harm. */
Test(kernel_check, cancels_what_is_being_made, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    struct check_answer a[2];
    struct kernel_check *c[2];
    check_room_open(&room, NULL);
    start_making(&room, AXPY, a, c);
    kernel_check_cancel(c[0]);
    check_room_run(&room, a, 2);
    cr_assert(json_is_null(a[0].result));
    cr_assert(is_ok(a[1].result));
    json_decref(a[1].result);

    start_making(&room, AXPY "\n", a, c);
    kernel_check_cancel(c[0]);
    kernel_check_cancel(c[1]);
    check_room_run(&room, a, 2);
    cr_assert(json_is_null(a[1].result));
    while (cached(room.gpu) < 2) {
        uv_run(&room.loop, UV_RUN_ONCE);
    }
    autojson *kept = check_room_check(&room, long_params(AXPY "\n"));
    cr_assert(json_is_true(json_object_get(kept, "cached")));

    start_making(&room, AXPY "\n\n", a, c);
    kernel_check_cancel(c[1]);
    check_room_close(&room);
    cr_assert_eq(a[0].calls + a[1].calls, 2);
    json_decref(a[0].result);
}

/* The occupancy of many kernels is told on a thread; who cancels meanwhile gets nothing,
 * and the next one all of it. */
Test(kernel_check, cancels_what_is_being_completed, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    struct check_answer answer = {0};
    autobuf text = BUF_INIT(8192);
    for (int i = 0; i < 80; i++) {
        buf_addf(&text, "__global__ void k%d(int *p) { *p = %d; }\n", i, i);
    }
    check_room_open(&room, NULL);
    autojson *params = json_pack("{s:s}", "source", text.data);
    struct kernel_check *check =
        kernel_check_start(room.gpu, params, &room.origin, check_answer_take, &answer);
    while (!cached(room.gpu)) {
        uv_run(&room.loop, UV_RUN_ONCE);
    }
    cr_assert_eq(answer.calls, 0);
    kernel_check_cancel(check);
    check_room_run(&room, &answer, 1);
    cr_assert(json_is_null(answer.result));
    autojson *again = check_room_check(&room, json_incref(params));
    cr_assert_eq(json_array_size(json_object_get(again, "kernels")), 80);
    cr_assert(json_is_true(json_object_get(again, "cached")));
    check_room_close(&room);
}

/* Sources that are written on a thread are compiled like others; who cancels meanwhile
 * hears so, and so does who comes when it is too late. */
Test(kernel_check, long_sources, .timeout = 60) {
    NEED_COMPILER();
    struct check_room room;
    autobuf text = BUF_INIT(1u << 22);
    while (text.len < (1u << 20)) {
        buf_adds(&text, "// one of many lines\n");
    }
    buf_adds(&text, AXPY);
    check_room_open(&room, NULL);
    join_and_cancel(&room, text.data, false);
    struct check_answer a[2] = {0};
    buf_addc(&text, '\n');
    buf_addc(&text, '\n');
    autojson *params = json_pack("{s:s}", "source", text.data);
    struct kernel_check *c =
        kernel_check_start(room.gpu, params, &room.origin, check_answer_take, &a[0]);
    uv_run(&room.loop, UV_RUN_ONCE); /* it was read, and is written */
    kernel_check_cancel(c);
    check_room_run(&room, a, 1);
    kernel_check_start(room.gpu, params, &room.origin, check_answer_take, &a[1]);
    uv_run(&room.loop, UV_RUN_ONCE);
    check_room_close(&room);
    cr_assert_eq(a[1].calls, 1);
    cr_assert(json_is_null(a[0].result));
    cr_assert(json_is_null(a[1].result));
}
