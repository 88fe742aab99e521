/* check_result: what a worker answers is not trusted. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/shared_bytes.h"
#include "gpu/check/check_result.h"
#include "gpu/check/check_verdict.h"
#include "gpu/check/kernel_entries.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

TestSuite(check_result, .timeout = 60);

static void input_open(struct check_input *input, const char *text) {
    struct err err = {0};
    *input = (struct check_input){.options.arch = "sm_90a"};
    cr_assert_eq(source_set_add(&input->closure.sources, "u/k.cu", "k.cu", text,
                                strlen(text), &err),
                 0);
    input->closure.findings = json_array();
}

static json_t *answer_new(const char *outcome, json_t *diagnostics) {
    return json_pack("{s:s, s:o, s:[]}", "outcome", outcome, "diagnostics", diagnostics,
                     "kernels");
}

static json_t *error_new(const char *message, json_int_t line, json_int_t column) {
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "source", "nvrtc", "code",
                     "177", "severity", "error", "message", message, "file", "k.cu",
                     "line", line, "column", column);
}

/* Figures beyond every bound neither overflow nor lead out of the text. */
Test(check_result, absurd_figures_do_no_harm) {
    static const char *const messages[] = {
        "expected a \";\"",
        "identifier \"x\" is undefined",
        "cannot open source file \"stdio.h\"",
        "expression must be a modifiable lvalue",
        ". Consider using",
        "namespace \"\" has no member \"\"",
        "attribute \"__global__\" does not apply here",
        "expected a \"}\"",
        "variable \"x\" was declared but never referenced",
        "variable \"",
    };
    static const json_int_t figures[] = {INT64_MIN, INT32_MIN, -1,        0,
                                         1,         2,         INT32_MAX, INT64_MAX};
    for (size_t i = 0; i < ARRAY_LEN(messages) * ARRAY_LEN(figures); i++) {
        struct check_input input;
        input_open(&input, "const int x = 1;\nvoid f() { x = 2 \n");
        input.host_left_out = true;
        json_int_t figure = figures[i % ARRAY_LEN(figures)];
        autojson *answer = answer_new("rejected", json_array());
        json_t *list = json_object_get(answer, "diagnostics");
        for (size_t k = 0; k < ARRAY_LEN(figures); k++) {
            json_array_append_new(
                list, error_new(messages[i / ARRAY_LEN(figures)], figure, figures[k]));
        }
        json_object_set_new(answer, "omitted", json_integer(figure));
        bool keep;
        json_t *result = check_result_new(&input, answer, NULL, &keep);
        cr_assert_not_null(result);
        autojson *complete = check_result_complete(result, NULL, false);
        check_verdict_set(complete, false, false);
        cr_expect_geq(json_get_integer(complete, "omitted", -1), 0);
        cr_expect_not(json_is_true(json_object_get(complete, "ok")));
        json_decref(result);
        check_input_finish(&input);
    }
}

/* Nor does a flood of findings hold the daemon up. */
Test(check_result, floods_are_no_answer) {
    struct check_input input;
    input_open(&input, "int x\n");
    json_t *list = json_array();
    for (int i = 0; i < 200000; i++) {
        json_array_append_new(list, error_new("expected a \";\"", 1, 6));
    }
    autojson *answer = answer_new("rejected", list);
    bool keep;
    uint64_t start = clock_ms();
    cr_expect_null(check_result_new(&input, answer, NULL, &keep));
    cr_expect_lt(clock_ms() - start, 1000);
    check_input_finish(&input);
}

/* An assignment at the end of a very long expression is looked at in bounded time. */
Test(check_result, long_expressions_take_bounded_time) {
    struct buf text = BUF_INIT(1u << 24);
    buf_adds(&text, "void f() { ");
    while (text.len < (2u << 20)) {
        buf_adds(&text, "x + ");
    }
    json_int_t column = (json_int_t)text.len + 1;
    buf_adds(&text, "x = 1;\n}\n");
    struct check_input input;
    input_open(&input, text.data);
    autojson *answer =
        answer_new("rejected", json_pack("[o]", error_new("expression must be a "
                                                          "modifiable lvalue",
                                                          1, column)));
    bool keep;
    uint64_t start = clock_ms();
    json_t *result = check_result_new(&input, answer, NULL, &keep);
    cr_expect_not_null(result);
    cr_expect_lt(clock_ms() - start, 10000);
    json_decref(result);
    check_input_finish(&input);
    buf_finish(&text);
}

/* A template kernel that was left out is told of however long the file is. */
Test(check_result, kernels_left_out_are_told_in_long_files) {
    struct buf text = BUF_INIT(1u << 24);
    buf_adds(&text, "__global__ void k() {}\n");
    while (text.len < (1u << 20)) {
        buf_adds(&text, "// one of many lines\n");
    }
    buf_adds(&text, "template <class T> __global__ void left(T *x) { *x = 1; }\n");
    struct check_input input;
    input_open(&input, text.data);
    autojson *answer = answer_new("compiled", json_array());
    json_array_append_new(json_object_get(answer, "kernels"),
                          json_pack("{s:s, s:s}", "name", "k", "symbol", "k"));
    bool keep;
    autojson *result = check_result_new(&input, answer, NULL, &keep);
    const json_t *note = json_array_get(json_object_get(result, "diagnostics"), 0);
    cr_assert_str_eq(json_get_string(note, "code", ""), "not_compiled");
    cr_expect_not_null(strstr(json_get_string(note, "message", ""), "\"left\""));
    check_input_finish(&input);
    buf_finish(&text);
}

/* A template-id is found in the source's spelling as well as in the compiler's; where the
 * source alone knows which is meant, no wrong one is taken. */
Test(check_result, kernels_are_found_by_their_arguments_in_any_spelling) {
    autojson *kernels = json_array();
    static const char *const names[] = {
        "k<__half, 3>",          "k<float, 3>",           "k<__half, 4>",
        "ns::m<float, (E)1>",    "s<128ul, true>",        "s<64ul, true>",
        "one<(Kind)2, (char)7>", "d<unsigned int, 5, 0>", "plain"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        json_array_append_new(
            kernels, json_pack("{s:s, s:s}", "name", names[i], "symbol", names[i]));
    }
    static const char *const mangled[][2] = {{"with<&f, 3>", "w1"},
                                             {"with<&g, 3>", "w2"},
                                             {"both", "_Z4bothPd"},
                                             {"both", "_Z4bothPfi"},
                                             {"both<int>", "_Z4bothIiEvPT_S0_"}};
    for (size_t i = 0; i < ARRAY_LEN(mangled); i++) {
        json_array_append_new(kernels, json_pack("{s:s, s:s}", "name", mangled[i][0],
                                                 "symbol", mangled[i][1]));
    }
    static const struct {
        const char *wanted, *name; /* name NULL: not one kernel */
    } cases[] = {{"k<half, 3>", "k<__half, 3>"},
                 {"k<half,0x4>", "k<__half, 4>"},
                 {"k<float, N>", "k<float, 3>"},
                 {"k<T, 4>", "k<__half, 4>"},
                 {"k<T, 3>", NULL},
                 {"k<int, 3>", NULL},
                 {"m<float, E::B>", "ns::m<float, (E)1>"},
                 {"ns::m<float, (E)1>", "ns::m<float, (E)1>"},
                 {"s<128, true>", "s<128ul, true>"},
                 {"s<64u, 1>", "s<64ul, true>"},
                 {"s<64, false>", NULL},
                 {"s<128, true, 1>", NULL},
                 {"one<Kind::C, 7>", "one<(Kind)2, (char)7>"},
                 {"d<std::uint32_t, 2 + 3>", "d<unsigned int, 5, 0>"},
                 {"plain<1>", NULL},
                 {"k<", NULL},
                 {"m", "ns::m<float, (E)1>"},
                 {"ns::m", "ns::m<float, (E)1>"},
                 {"k", NULL}, /* which of the three? */
                 {"on", NULL},
                 {"plain", "plain"},
                 {"with<&f, 3>", "with<&f, 3>"},
                 {"with<g,3>", "with<&g, 3>"},
                 {"with<h, 3>", NULL},
                 {"both", NULL}, /* types tell them apart */
                 {"both(double *)", "both"},
                 {"both(float*, int)", "both"},
                 {"both(int)", NULL},
                 {"both<int>(int*, int)", "both<int>"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t count;
        const json_t *found = kernel_entry_find(kernels, cases[i].wanted, &count);
        if (cases[i].name) {
            cr_assert_eq(count, 1, "%s: %zu", cases[i].wanted, count);
            cr_expect_str_eq(json_get_string(found, "name", ""), cases[i].name);
        } else {
            cr_expect_neq(count, 1, "%s", cases[i].wanted);
        }
    }
}

/* strict turns warnings into failure, and nothing else: a remark does not, an error says
 * no more for it. */
Test(check_result, strict_fails_on_warnings_alone) {
    static const struct {
        const char *severity;
        bool ok, strict_ok, says_why;
    } rows[] = {{"info", true, true, false},
                {"warning", true, false, true},
                {"error", false, false, false}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autojson *result = json_pack("{s:[{s:s, s:s}]}", "diagnostics", "severity",
                                     rows[i].severity, "message", "m");
        check_verdict_set(result, false, false);
        cr_expect_eq(json_get_bool(result, "ok", -1), rows[i].ok, "%zu", i);
        check_verdict_set(result, true, false);
        cr_expect_eq(json_get_bool(result, "ok", -1), rows[i].strict_ok, "%zu", i);
        cr_expect_eq(json_get_bool(result, "strict", 0), rows[i].says_why, "%zu", i);
    }
}

/* Figures of code that nobody runs are told as such. */
Test(check_result, quick_figures_are_told) {
    autojson *result = json_pack("{s:[{}]}", "kernels");
    check_verdict_set(result, false, true);
    cr_expect_str_eq(json_get_string(result, "summary", ""),
                     "ok: 1 kernel; quick: registers and occupancy are those of "
                     "unoptimized code");
}

/* ok is said of what was compiled, and the sentence of all that was looked at. */
Test(check_result, verdicts_say_what_was_looked_at) {
    static const struct {
        const char *result, *summary;
        bool ok;
    } rows[] = {
        {"{'kernels': [{}, {}]}", "ok: 2 kernels", true},
        {"{'kernels': [{}], 'host_code': 'not_checked'}",
         "device code ok: 1 kernel; host code not checked", true},
        {"{'kernels': [{}], 'diagnostics': [{'severity': 'info'}], 'omitted': 3}",
         "ok: 1 kernel, 1 note, 3 more not shown", true},
        {"{'kernels': [], 'functions': 2}", "ok: 2 device functions", true},
        {"{'kernels': [{}], 'diagnostics': [{'severity': 'error'}]}", "not ok: 1 error",
         false},
        {"{'kernels': [], 'outcome': 'timeout', 'diagnostics': [{'severity': 'error'}]}",
         "no verdict: the compiler ended with \"timeout\"", false},
        {"{'kernels': [], 'outcome': 'nothing_compiled', 'summary': 'nothing was "
         "compiled: "
         "why', 'host_code': 'not_checked'}",
         "nothing was compiled: why; host code not checked", false},
        {"{'kernels': [], 'outcome': 'no_kernels', 'summary': 'no device code'}",
         "no device code", true},
        {"{'kernels': [], 'outcome': 'nothing_compiled', 'summary': 'nothing was "
         "compiled: "
         "why', 'diagnostics': [{'severity': 'error'}]}",
         "not ok: 1 error", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        autofree char *text = xstrdup(rows[i].result);
        for (char *c = text; (c = strchr(c, '\''));) {
            *c = '"';
        }
        autojson *result = json_loads(text, 0, NULL);
        cr_assert_not_null(result, "%zu", i);
        check_verdict_set(result, false, false);
        cr_expect_str_eq(json_get_string(result, "summary", ""), rows[i].summary);
        cr_expect_eq(json_get_bool(result, "ok", -1), rows[i].ok, "%zu", i);
    }
}

/* --- what a check sends, and its results from one attempt to the next --- */

#define KERNELS 500

static json_t *answer_of_kernels(size_t count) {
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
Test(check_result, writes_what_is_asked) {
    enum { ESCAPED = (12 << 20) }; /* bytes that JSON tells in six each: 72 MiB */
    autofree char *text = xmalloc(ESCAPED + 1);
    for (int large = 0; large < 2; large++) {
        struct check_input input;
        size_t len = large ? ESCAPED : 1u << 20;
        memset(text, large ? 1 : '"', len);
        text[len] = '\0';
        input_open(&input, text);
        struct shared_bytes *sources = check_input_sources(&input);
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
Test(check_result, makes_a_result_or_none) {
    struct check_making good = {0}, bad = {0};
    input_open(&good.input, "__global__ void k0() {}\n");
    input_open(&bad.input, "__global__ void k0() {}\n");
    make(&good, answer_of_kernels(1));
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

/* What the compiler is not given enough time for is left out, said, and not kept for
 * later; without such a thing a time-out stays one. */
Test(check_result, a_compilation_that_takes_long_is_tried_without_instantiations) {
    for (int appended = 0; appended < 2; appended++) {
        struct check_making m = {0};
        static const char text[] = "#include \"k.cuh\"\n";
        input_open(&m.input, text);
        if (appended) {
            source_set_append(&m.input.closure.sources, "\nstatic_assert(&k<int>,\"\");");
        }
        make(&m, answer_new("timeout", json_array()));
        cr_assert_eq(m.again, appended);
        cr_assert_eq(m.base == NULL, appended);
        if (appended) {
            cr_assert_str_eq(m.input.closure.sources.files[0].text, text);
            cr_assert_eq(m.input.closure.sources.files[0].len, strlen(text));
            make(&m, answer_new("compiled", json_array()));
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
Test(check_result, completes_for_each_request) {
    struct check_making m = {0};
    input_open(&m.input, "__global__ void k0() {}\n");
    make(&m, answer_of_kernels(KERNELS));
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
