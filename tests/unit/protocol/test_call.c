#include "base/err.h"
#include "protocol/operation.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

/* --- operations of every temper --- */

static struct call *started; /* the latest, for operations that answer later */
static unsigned cancels;
static json_t *resumed_with;

static void start_now(struct call *call, const json_t *params) {
    call_reply(call, json_deep_copy(params));
}

static void start_fail(struct call *call, const json_t *params) {
    (void)params;
    call_fail(call, CALL_UNAVAILABLE, "no_compiler", "install it", "no compiler: %d", 7);
}

static void start_later(struct call *call, const json_t *params) {
    (void)params;
    started = call;
}

static void on_cancel(struct call *call, void *data) {
    (void)call, (void)data;
    cancels++;
}

static void on_cancel_stop(struct call *call, void *data) {
    (void)data;
    cancels++;
    call_stopped(call);
}

static void start_cancellable(struct call *call, const json_t *params) {
    started = call;
    call_on_cancel(call,
                   json_is_true(json_object_get(params, "at_once")) ? on_cancel_stop
                                                                    : on_cancel,
                   NULL);
}

static void on_input(struct call *call, const json_t *input, void *data) {
    (void)data;
    resumed_with = json_deep_copy(input);
    call_reply(call, json_true());
}

static void start_asking(struct call *call, const json_t *params) {
    (void)params;
    call_require_input(call, json_pack("{s:s}", "instructions", "write"), on_input, NULL);
}

#define ANYTHING "{\"type\":\"object\"}"
static const struct operation operations[] = {
    {.name = "now",
     .title = "t",
     .summary = "s",
     .start = start_now,
     .params_schema = "{\"type\":\"object\",\"additionalProperties\":false,"
                      "\"properties\":{\"n\":{\"type\":\"integer\"}}}"},
    {.name = "fail",
     .title = "t",
     .summary = "s",
     .start = start_fail,
     .params_schema = ANYTHING},
    {.name = "later",
     .title = "t",
     .summary = "s",
     .start = start_later,
     .params_schema = ANYTHING},
    {.name = "stop",
     .title = "t",
     .summary = "s",
     .start = start_cancellable,
     .params_schema = ANYTHING},
    {.name = "ask",
     .title = "t",
     .summary = "s",
     .start = start_asking,
     .params_schema = ANYTHING},
};

struct bench {
    uv_loop_t loop;
    struct operation_table *table;
    struct call_origin origin;
};

static void open_bench(struct bench *b) {
    struct err err;
    cr_assert(zero(int, uv_loop_init(&b->loop)));
    b->table = operation_table_new();
    cr_assert(
        zero(int, operation_table_add(b->table, operations, ARRAY_LEN(operations), &err)),
        "%s", err.msg);
    b->origin = (struct call_origin){.loop = &b->loop, .client = "tester"};
    cancels = 0;
    resumed_with = NULL;
}

static void close_bench(struct bench *b) {
    uv_run(&b->loop, UV_RUN_DEFAULT);
    cr_assert(zero(int, uv_loop_close(&b->loop)), "every handle is closed");
    operation_table_free(b->table);
}

static struct call *start(struct bench *b, const char *name, json_t *params) {
    return call_start(operation_find(b->table, name), params, &b->origin);
}

struct witness {
    struct call_view view;
    unsigned progress, ends;
    enum call_state at_end;
    struct witness *detaches; /* another view, from inside our callbacks */
    bool cancels;             /* as soon as it hears of anything */
    enum call_state at_progress;
};

static void saw_progress(struct call *call, void *data) {
    struct witness *w = data;
    w->progress++;
    w->at_progress = call_state(call);
    if (w->cancels) {
        call_cancel(call);
    }
    if (w->detaches) {
        call_detach(call, &w->detaches->view);
    }
}

static void saw_end(struct call *call, void *data) {
    struct witness *w = data;
    w->ends++;
    w->at_end = call_state(call);
    if (w->detaches) {
        call_detach(call, &w->detaches->view);
    }
}

static void watch(struct call *call, struct witness *w) {
    w->view = (struct call_view){.progress = saw_progress, .end = saw_end, .data = w};
    call_attach(call, &w->view);
}

/* --- properties --- */

Test(call, an_end_inside_start_is_told_from_the_loop) {
    struct bench b;
    struct witness w = {.ends = 0}, second = {.ends = 0};
    open_bench(&b);
    struct call *call = start(&b, "now", json_pack("{s:i}", "n", 5));
    cr_assert(eq(int, call_state(call), CALL_SUCCEEDED));
    watch(call, &w);
    watch(call, &second);
    cr_assert(eq(uint, w.ends, 0));
    call_unref(call);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    cr_assert(eq(uint, w.ends, 1));
    cr_assert(eq(uint, second.ends, 1));
    close_bench(&b);
}

Test(call, a_view_that_left_hears_nothing) {
    struct bench b;
    struct witness w = {.ends = 0};
    open_bench(&b);
    struct call *call = start(&b, "now", NULL);
    watch(call, &w);
    call_detach(call, &w.view);
    call_unref(call);
    close_bench(&b);
    cr_assert(eq(uint, w.ends, 0));
}

Test(call, params_that_do_not_fit_fail_it_with_a_path) {
    struct bench b;
    open_bench(&b);
    struct call *call = start(&b, "now", json_pack("{s:s}", "n", "x"));
    cr_assert(eq(int, call_state(call), CALL_FAILED));
    const struct call_failure *f = call_failure(call);
    cr_assert(eq(int, f->fault, CALL_BAD_PARAMS));
    cr_assert_str_eq(f->path, "/n");
    cr_assert_str_eq(f->reason, "bad_params");
    cr_assert_not_null(strstr(f->message, "expected an integer"));
    call_unref(call);
    close_bench(&b);
}

Test(call, a_failure_keeps_its_words) {
    struct bench b;
    open_bench(&b);
    struct call *call = start(&b, "fail", NULL);
    const struct call_failure *f = call_failure(call);
    cr_assert(eq(int, f->fault, CALL_UNAVAILABLE));
    cr_assert_str_eq(f->reason, "no_compiler");
    cr_assert_str_eq(f->hint, "install it");
    cr_assert_str_eq(f->message, "no compiler: 7");
    cr_assert(zero(ptr, f->path));
    call_unref(call);
    close_bench(&b);
}

Test(call, progress_never_falls_and_stops_at_the_end) {
    struct bench b;
    struct witness w = {.ends = 0}, gone = {.ends = 0};
    open_bench(&b);
    struct call *call = start(&b, "later", NULL);
    w.detaches = &gone;
    watch(call, &w);
    watch(call, &gone);
    call_report(call, 3, 10, "three %s", "\x1b[31mred");
    cr_assert(eq(uint, w.progress, 1));
    cr_assert(eq(uint, gone.progress, 0), "detached by the view before it");
    call_report(call, 2, 10, NULL);
    cr_assert(eq(dbl, call_progress(call)->done, 3.0));
    cr_assert(zero(ptr, call_progress(call)->message));
    call_report(call, 4, 10, "three %s", "\x1b[31mred");
    cr_assert_str_eq(call_progress(call)->message, "three red");
    call_set_partial(call, json_pack("[i]", 1));
    cr_assert(eq(sz, json_array_size(call_partial(call)), (size_t)1));
    call_ref(call);
    call_reply(started, json_true());
    cr_assert(eq(uint, w.ends, 1));
    call_report(call, 9, 10, NULL);
    cr_assert(eq(uint, w.progress, 3));
    call_set_partial(call, json_array());
    call_unref(call);
    call_unref(call);
    close_bench(&b);
}

Test(call, cancelling_without_a_callback_ends_it_and_the_late_answer_is_dropped) {
    struct bench b;
    struct witness w = {.ends = 0};
    open_bench(&b);
    struct call *call = start(&b, "later", NULL);
    watch(call, &w);
    call_cancel(call);
    cr_assert(eq(int, w.at_end, CALL_CANCELLED));
    call_cancel(call);
    call_unref(call);
    call_reply(started, json_pack("[i]", 1)); /* its reference kept the call alive */
    cr_assert(eq(uint, w.ends, 1));
    close_bench(&b);
}

Test(call, cancelling_asks_the_operation_once_and_the_first_end_counts) {
    struct bench b;
    struct witness w = {.ends = 0};
    open_bench(&b);
    struct call *call = start(&b, "stop", NULL);
    watch(call, &w);
    call_cancel(call);
    call_cancel(call);
    cr_assert(eq(uint, cancels, 1));
    cr_assert(eq(uint, w.ends, 0), "not over before the operation says so");
    call_reply(started, json_true()); /* it had finished meanwhile */
    cr_assert(eq(uint, w.ends, 1));
    cr_assert(eq(int, w.at_end, CALL_SUCCEEDED));
    call_unref(call);

    struct witness at_once = {.ends = 0};
    call = start(&b, "stop", json_pack("{s:b}", "at_once", 1));
    watch(call, &at_once);
    call_cancel(call);
    cr_assert(eq(int, at_once.at_end, CALL_CANCELLED));
    call_unref(call);
    close_bench(&b);
}

Test(call, a_call_may_ask_and_goes_on_with_the_answer) {
    struct bench b;
    struct witness w = {.ends = 0};
    open_bench(&b);
    struct call *call = start(&b, "ask", NULL);
    watch(call, &w);
    cr_assert(eq(int, call_state(call), CALL_INPUT_REQUIRED));
    cr_assert_str_eq(json_get_string(call_work_order(call), "instructions", ""), "write");
    autojson *input = json_pack("{s:s}", "draft", "d");
    cr_assert(zero(int, call_input(call, input)));
    cr_assert(eq(int, json_equal(resumed_with, input), 1));
    cr_assert(eq(int, w.at_end, CALL_SUCCEEDED));
    cr_assert(lt(int, call_input(call, input), 0));
    json_decref(resumed_with);
    call_unref(call);
    call = start(&b, "ask", NULL);
    call_cancel(call);
    cr_assert(eq(int, call_state(call), CALL_CANCELLED));
    call_stopped(call); /* what the operation still owes */
    call_unref(call);
    close_bench(&b);
}

Test(call, views_hear_that_a_call_goes_on_before_it_gets_its_input) {
    struct bench b;
    struct witness w = {.ends = 0}, killer = {.cancels = true};
    open_bench(&b);
    autojson *input = json_pack("{s:s}", "draft", "d");
    struct call *call = start(&b, "ask", NULL);
    watch(call, &w);
    cr_assert(zero(int, call_input(call, input)));
    cr_assert(eq(uint, w.progress, 1));
    cr_assert(eq(int, w.at_progress, CALL_RUNNING));
    cr_assert(eq(uint, w.ends, 1));
    json_decref(take(resumed_with));
    call_unref(call);

    call = start(&b, "ask", NULL);
    watch(call, &killer);
    cr_assert(zero(int, call_input(call, input)));
    cr_assert(zero(ptr, resumed_with), "who was cancelled gets no input");
    cr_assert(eq(int, killer.at_end, CALL_CANCELLED));
    call_stopped(call);
    call_unref(call);
    close_bench(&b);
}

/* More calls than may run wait, in their order, and begin as others end. */
Test(call, so_many_calls_run_and_others_wait) {
    static struct call *calls[CALL_MAX_RUNNING], *waiting[CALL_MAX_RUNNING];
    struct bench b;
    struct witness w = {.ends = 0};
    open_bench(&b);
    for (unsigned i = 0; i < CALL_MAX_RUNNING; i++) {
        calls[i] = start(&b, "later", NULL);
        waiting[i] = started;
    }
    struct call *bad = start(&b, "now", json_pack("{s:s}", "n", "no number"));
    cr_assert(eq(int, call_state(bad), CALL_FAILED), "that needs no turn");
    struct call *next = start(&b, "stop", NULL), *more[3];
    watch(next, &w);
    for (int i = 0; i < 3; i++) {
        more[i] = start(&b, "now", json_pack("{s:i}", "n", i));
    }
    uv_run(&b.loop, UV_RUN_DEFAULT);
    cr_assert(eq(int, call_state(next), CALL_RUNNING));
    cr_assert(eq(int, call_state(more[0]), CALL_RUNNING));
    call_cancel(more[0]);
    cr_assert(eq(int, call_state(more[0]), CALL_CANCELLED));
    call_reply(waiting[0], NULL);
    cr_assert(ne(ptr, started, next), "not from inside");
    uv_run(&b.loop, UV_RUN_DEFAULT);
    cr_assert(eq(ptr, started, next));
    cr_assert(eq(int, call_state(more[1]), CALL_RUNNING), "one ended, one began");
    call_cancel(next);
    cr_assert(eq(uint, cancels, 1u), "it runs and hears of it");
    call_stopped(next);
    uv_run(&b.loop, UV_RUN_DEFAULT);
    cr_assert(eq(int, call_state(more[1]), CALL_SUCCEEDED));
    cr_assert(eq(int, call_state(more[2]), CALL_SUCCEEDED));
    cr_assert(eq(uint, w.ends, 1));
    for (unsigned i = 0; i < CALL_MAX_RUNNING; i++) {
        if (i) {
            call_reply(waiting[i], NULL);
        }
        call_unref(calls[i]);
    }
    for (int i = 0; i < 3; i++) {
        call_unref(more[i]);
    }
    call_unref(bad);
    call_unref(next);
    close_bench(&b);
}

/* Those that wait for their callers keep nobody from running, and there is a limit to
 * those that wait for whatever. */
Test(call, calls_that_wait_are_bounded) {
    static struct call *calls[CALL_MAX_WAITING + CALL_MAX_RUNNING];
    for (int asks = 0; asks < 2; asks++) {
        struct bench b;
        open_bench(&b);
        unsigned count = asks ? CALL_MAX_WAITING : ARRAY_LEN(calls);
        for (unsigned i = 0; i < count; i++) {
            calls[i] = start(&b, asks ? "ask" : "stop", json_pack("{s:b}", "at_once", 1));
            cr_assert(not(call_ended(calls[i])));
        }
        struct call *more = start(&b, "now", NULL);
        cr_assert(eq(int, call_state(more), CALL_FAILED));
        cr_assert(eq(int, call_failure(more)->fault, CALL_REFUSED));
        cr_assert(zero(int, strcmp(call_failure(more)->reason, "too_many_calls")));
        call_unref(more);
        autojson *input = json_object();
        for (unsigned i = 0; i < count; i++) {
            if (asks) {
                cr_assert(zero(int, call_input(calls[i], input)));
                json_decref(take(resumed_with));
                more = start(&b, "now", NULL);
                cr_assert(eq(int, call_state(more), CALL_SUCCEEDED));
                call_unref(more);
            } else {
                call_cancel(calls[i]);
            }
            cr_assert(call_ended(calls[i]));
            call_unref(calls[i]);
        }
        cr_assert(eq(uint, cancels, asks ? 0 : CALL_MAX_RUNNING), "those that ran");
        close_bench(&b);
    }
}

static unsigned kept, changed;

static void on_kept(struct call *call, void *data) {
    (void)data;
    cr_assert(call_kept(call));
    kept++;
}

static void on_changed(struct call *call, void *data) {
    (void)call, (void)data;
    changed++;
}

Test(call, a_kept_call_has_an_unguessable_id_and_an_observer) {
    struct bench b;
    const struct call_observer observer = {on_kept, on_changed, NULL};
    open_bench(&b);
    call_set_observer(&observer);
    struct call *one = start(&b, "later", NULL), *op_one = started;
    struct call *two = start(&b, "later", NULL), *op_two = started;
    call_report(one, 1, 2, NULL);
    cr_assert(eq(uint, changed, 0), "nobody kept it yet");
    autofree char *id = strdup(call_keep(one));
    cr_assert(eq(sz, strlen(id), (size_t)32));
    cr_assert(eq(sz, strspn(id, "0123456789abcdef"), (size_t)32));
    cr_assert_str_eq(call_keep(one), id);
    cr_assert(eq(uint, kept, 1));
    cr_assert_str_neq(call_keep(two), id);
    call_report(one, 2, 2, NULL);
    cr_assert(eq(uint, changed, 1));
    call_reply(op_one, NULL);
    cr_assert(eq(uint, changed, 2));
    call_stopped(op_two);
    cr_assert(eq(uint, changed, 3));
    call_set_observer(NULL);
    call_unref(one);
    call_unref(two);
    close_bench(&b);
}

Test(call, the_origin_is_the_calls_own) {
    struct bench b;
    char client[] = "editor", root[] = "/work";
    const char *roots[] = {root, NULL};
    open_bench(&b);
    b.origin.client = client;
    b.origin.roots = roots;
    struct call *call = start(&b, "later", NULL);
    strcpy(client, "xxxxxx");
    strcpy(root, "/xxxx");
    cr_assert_str_eq(call_origin(call)->client, "editor");
    cr_assert_str_eq(call_origin(call)->roots[0], "/work");
    cr_assert(zero(ptr, (void *)(uintptr_t)call_origin(call)->roots[1]));
    call_reply(started, NULL);
    call_unref(call);
    close_bench(&b);
}
