/* Results of checks, made on a thread: each once or, when it was cancelled, never. */
#include "base/mem.h"
#include "base/shared_bytes.h"
#include "gpu/check/check_maker.h"
#include "gpu/check/check_result.h"

#include <criterion/criterion.h>
#include <string.h>

#define KERNELS 500

struct told {
    int calls;
    struct check_made made;
    json_t *result;
};

static void on_made(const struct check_made *made, void *data) {
    struct told *told = data;
    told->calls++;
    told->made = *made;
    json_incref(told->made.base);
}

static void on_completed(json_t *result, void *data) {
    struct told *told = data;
    told->calls++;
    told->result = result;
}

static void input_open(struct check_input *input, const char *text) {
    *input = (struct check_input){.options.arch = "sm_90a"};
    cr_assert_eq(source_set_add(&input->closure.sources, "u/k.cu", "k.cu", text,
                                strlen(text), NULL),
                 0);
    input->closure.findings = json_array();
}

static json_t *answer_new(size_t count) {
    json_t *kernels = json_array();
    for (size_t i = 0; i < count; i++) {
        autofree char *name = xasprintf("k%zu", i);
        json_array_append_new(kernels, json_pack("{s:s, s:s, s:i}", "name", name,
                                                 "symbol", name, "registers", 16));
    }
    return json_pack("{s:s, s:[], s:o}", "outcome", "compiled", "diagnostics", "kernels",
                     kernels);
}

static void make(uv_loop_t *loop, struct check_input *input, json_t *answer,
                 struct told *told) {
    struct guess_attempts attempts = {0};
    struct omissions omissions = {0};
    const struct check_material material = {input, &attempts, &omissions, answer,
                                            json_string("somebody")};
    check_making_start(loop, &material, on_made, told);
    cr_assert_eq(told->calls, 0, "never from inside");
    uv_run(loop, UV_RUN_DEFAULT);
    cr_assert_eq(told->calls, 1);
    guess_attempts_finish(&attempts);
    omissions_finish(&omissions);
}

static void on_written(struct shared_bytes *sources, void *data) {
    struct told *told = data;
    told->calls++;
    told->result = sources ? json_loadb(sources->data, sources->len, 0, NULL) : NULL;
}

/* What is written is what would be sent, if it may be sent at all. */
Test(check_maker, writes_what_is_asked, .timeout = 60) {
    enum { ESCAPED = (12 << 20) }; /* bytes that JSON tells in six each: 72 MiB */
    uv_loop_t loop;
    uv_loop_init(&loop);
    autofree char *text = xmalloc(ESCAPED + 1);
    for (int large = 0; large < 2; large++) {
        struct check_input input;
        struct told told = {0};
        size_t len = large ? ESCAPED : 1u << 20;
        memset(text, large ? 1 : '"', len);
        text[len] = '\0';
        input_open(&input, text);
        check_writing_start(&loop, &input, on_written, &told);
        cr_assert_eq(told.calls, 0, "never from inside");
        uv_run(&loop, UV_RUN_DEFAULT);
        cr_assert_eq(told.calls, 1);
        autojson *same = large ? NULL : source_set_to_json(&input.closure.sources);
        cr_assert(same == told.result || json_equal(same, told.result));
        json_decref(told.result);
        check_input_finish(&input);
    }
    cr_assert_eq(uv_loop_close(&loop), 0);
}

/* What the answer and its worker were is in the result; an answer that makes no sense
 * makes none. */
Test(check_maker, makes_a_result_or_none, .timeout = 60) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct check_input input;
    input_open(&input, "__global__ void k0() {}\n");
    struct told good = {0}, bad = {0};
    make(&loop, &input, answer_new(1), &good);
    cr_assert(good.made.keep);
    cr_assert_not(good.made.again);
    cr_assert_str_eq(json_get_string(good.made.base, "worker", ""), "somebody");
    cr_assert_eq(json_array_size(json_object_get(good.made.base, "kernels")), 1);
    make(&loop, &input, json_pack("{s:s}", "kernels", "what?"), &bad);
    cr_assert_null(bad.made.base);
    cr_assert_not(bad.made.again);
    json_decref(good.made.base);
    check_input_finish(&input);
    cr_assert_eq(uv_loop_close(&loop), 0);
}

static json_t *answer_outcome(const char *outcome) {
    return json_pack("{s:s, s:[], s:[]}", "outcome", outcome, "diagnostics", "kernels");
}

/* What the compiler is not given enough time for is left out, said, and not kept for
 * later; without such a thing a time-out stays one. */
Test(check_maker, a_compilation_that_takes_long_is_tried_without_instantiations,
     .timeout = 60) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    for (int appended = 0; appended < 2; appended++) {
        struct check_input input;
        static const char text[] = "#include \"k.cuh\"\n";
        input_open(&input, text);
        if (appended) {
            source_set_append(&input.closure.sources, "\nstatic_assert(&k<int>,\"\");");
        }
        struct guess_attempts attempts = {0};
        struct told first = {0}, second = {0};
        struct omissions omissions = {0};
        struct check_material m = {&input, &attempts, &omissions,
                                   answer_outcome("timeout"), json_string("somebody")};
        check_making_start(&loop, &m, on_made, &first);
        uv_run(&loop, UV_RUN_DEFAULT);
        cr_assert_eq(first.made.again, appended);
        cr_assert_eq(first.made.base == NULL, appended);
        json_decref(first.made.base);
        if (appended) {
            cr_assert_str_eq(input.closure.sources.files[0].text, text);
            cr_assert_eq(input.closure.sources.files[0].len, strlen(text));
            m.answer = answer_outcome("compiled");
            m.worker = json_string("somebody");
            check_making_start(&loop, &m, on_made, &second);
            uv_run(&loop, UV_RUN_DEFAULT);
            cr_assert_not(second.made.again);
            cr_assert_not(second.made.keep);
            autofree char *told = json_dumps(second.made.base, 0);
            cr_assert_not_null(strstr(told, "instantiations_left_out"));
            json_decref(second.made.base);
        }
        guess_attempts_finish(&attempts);
        omissions_finish(&omissions);
        check_input_finish(&input);
    }
    cr_assert_eq(uv_loop_close(&loop), 0);
}

/* Requests of one compilation that differ in their launch get results of their own, at
 * once, and leave what they share as it is. One that is cancelled gets none. */
Test(check_maker, completes_for_each_request, .timeout = 60) {
    uv_loop_t loop;
    uv_loop_init(&loop);
    struct check_input input;
    input_open(&input, "__global__ void k0() {}\n");
    struct told made = {0}, told[3] = {0};
    make(&loop, &input, answer_new(KERNELS), &made);
    check_input_finish(&input);
    json_t *base = made.made.base;
    cr_assert(check_is_long(base));
    autojson *before = json_deep_copy(base);
    for (int i = 0; i < 3; i++) {
        autojson *launch = json_pack("{s:[iii], s:i}", "block", 32 << i, 1, 1,
                                     "dynamic_shared_bytes", 0);
        struct check_completing *c =
            check_completing_start(&loop, base, launch, i > 0, on_completed, &told[i]);
        if (i == 1) {
            check_completing_cancel(c);
        }
    }
    json_decref(base);
    uv_run(&loop, UV_RUN_DEFAULT);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(told[i].calls, i != 1);
        const json_t *kernels = json_object_get(told[i].result, "kernels"), *kernel;
        size_t k;
        json_array_foreach(kernels, k, kernel) {
            const json_t *row = json_array_get(json_object_get(kernel, "occupancy"), 0);
            cr_assert_eq(json_get_integer(row, "block_threads", 0), 32 << i);
        }
        cr_assert_eq(json_array_size(kernels), i != 1 ? KERNELS : 0);
        cr_assert_eq(json_is_true(json_object_get(told[i].result, "cached")), i == 2);
        json_decref(told[i].result);
    }
    struct told again = {0};
    input_open(&input, "__global__ void k0() {}\n");
    make(&loop, &input, answer_new(KERNELS), &again);
    cr_assert(json_equal(before, again.made.base));
    json_decref(again.made.base);
    check_input_finish(&input);
    cr_assert_eq(uv_loop_close(&loop), 0);
}
