/* What a check sends, and its results. Their threads are tested with kernel_check. */
#include "base/mem.h"
#include "base/shared_bytes.h"
#include "gpu/check/check_maker.h"
#include "gpu/check/check_result.h"

#include <criterion/criterion.h>
#include <string.h>

#define KERNELS 500

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

/* Drops what only the making needed. */
static void make(struct check_making *m, json_t *answer) {
    m->answer = answer;
    m->worker = json_string("somebody");
    check_make(m);
    json_decref(m->answer);
    json_decref(m->worker);
}

static void making_finish(struct check_making *m) {
    check_making_finish(m);
    json_decref(m->base);
}

/* What is written is what would be sent, if it may be sent at all. */
Test(check_maker, writes_what_is_asked, .timeout = 60) {
    enum { ESCAPED = (12 << 20) }; /* bytes that JSON tells in six each: 72 MiB */
    autofree char *text = xmalloc(ESCAPED + 1);
    for (int large = 0; large < 2; large++) {
        struct check_input input;
        size_t len = large ? ESCAPED : 1u << 20;
        memset(text, large ? 1 : '"', len);
        text[len] = '\0';
        input_open(&input, text);
        struct shared_bytes *sources = check_sources(&input);
        cr_assert_eq(sources == NULL, large);
        if (sources) {
            autojson *sent = json_loadb(sources->data, sources->len, 0, NULL);
            autojson *same = source_set_to_json(&input.closure.sources);
            cr_assert(json_equal(same, sent));
        }
        shared_bytes_unref(sources);
        check_input_finish(&input);
    }
}

/* What the answer and its worker were is in the result; an answer that makes no sense
 * makes none. */
Test(check_maker, makes_a_result_or_none, .timeout = 60) {
    struct check_making good = {0}, bad = {0};
    input_open(&good.input, "__global__ void k0() {}\n");
    input_open(&bad.input, "__global__ void k0() {}\n");
    make(&good, answer_new(1));
    cr_assert(good.keep);
    cr_assert_not(good.again);
    cr_assert_str_eq(json_get_string(good.base, "worker", ""), "somebody");
    cr_assert_eq(json_array_size(json_object_get(good.base, "kernels")), 1);
    make(&bad, json_pack("{s:s}", "kernels", "what?"));
    cr_assert_null(bad.base);
    cr_assert_not(bad.again);
    making_finish(&good);
    making_finish(&bad);
}

static json_t *answer_outcome(const char *outcome) {
    return json_pack("{s:s, s:[], s:[]}", "outcome", outcome, "diagnostics", "kernels");
}

/* What the compiler is not given enough time for is left out, said, and not kept for
 * later; without such a thing a time-out stays one. */
Test(check_maker, a_compilation_that_takes_long_is_tried_without_instantiations,
     .timeout = 60) {
    for (int appended = 0; appended < 2; appended++) {
        struct check_making m = {0};
        static const char text[] = "#include \"k.cuh\"\n";
        input_open(&m.input, text);
        if (appended) {
            source_set_append(&m.input.closure.sources, "\nstatic_assert(&k<int>,\"\");");
        }
        make(&m, answer_outcome("timeout"));
        cr_assert_eq(m.again, appended);
        cr_assert_eq(m.base == NULL, appended);
        if (appended) {
            cr_assert_str_eq(m.input.closure.sources.files[0].text, text);
            cr_assert_eq(m.input.closure.sources.files[0].len, strlen(text));
            make(&m, answer_outcome("compiled"));
            cr_assert_not(m.again);
            cr_assert_not(m.keep);
            autofree char *told = json_dumps(m.base, 0);
            cr_assert_not_null(strstr(told, "instantiations_left_out"));
        }
        making_finish(&m);
    }
}

/* Requests of one compilation that differ in their launch get results of their own, and
 * leave what they share as it is. */
Test(check_maker, completes_for_each_request, .timeout = 60) {
    struct check_making m = {0};
    input_open(&m.input, "__global__ void k0() {}\n");
    make(&m, answer_new(KERNELS));
    cr_assert(check_is_long(m.base));
    autojson *before = json_deep_copy(m.base);
    for (int i = 0; i < 3; i++) {
        autojson *launch = json_pack("{s:[iii], s:i}", "block", 32 << i, 1, 1,
                                     "dynamic_shared_bytes", 0);
        autojson *result = check_result_complete(m.base, launch, i > 0);
        const json_t *kernels = json_object_get(result, "kernels"), *kernel;
        size_t k;
        json_array_foreach(kernels, k, kernel) {
            const json_t *row = json_array_get(json_object_get(kernel, "occupancy"), 0);
            cr_assert_eq(json_get_integer(row, "block_threads", 0), 32 << i);
        }
        cr_assert_eq(json_array_size(kernels), KERNELS);
        cr_assert_eq(json_is_true(json_object_get(result, "cached")), i > 0);
    }
    cr_assert(json_equal(before, m.base));
    making_finish(&m);
}
