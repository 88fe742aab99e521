/* kernel/validate from the request to the answer, with a worker that is played: what it
 * is asked, what becomes of each of its answers, and that all ends once. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "validate_room.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *text_at(const json_t *object, const char *key) {
    return json_get_string(object, key, "");
}

TestSuite(kernel_validate, .timeout = 120);

/* --- a run --- */

Test(kernel_validate, a_worker_is_asked_for_what_the_spec_says) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    autojson *result = validate_room_run(
        &r, validate_room_params(",\"trials\":3,\"seed\":\"0xff\",\"arch\":\"sm_90\","
                                 "\"defines\":{\"N\":\"2\"},\"device\":\"H100\""));
    autojson *compile = validate_room_asked(&r, "compile", 0),
             *run = validate_room_asked(&r, "validate", 0);
    const json_t *options = json_object_get(compile, "options");
    cr_expect_str_eq(text_at(options, "arch"), "sm_90");
    cr_expect_str_eq(text_at(json_object_get(options, "defines"), "N"), "2");
    cr_expect(json_get_bool(options, "want_ptx", 0) &&
              json_get_bool(options, "want_cubin", 0));
    cr_expect_str_eq(text_at(run, "seed"), "0x00000000000000ff");
    cr_expect_str_eq(text_at(run, "ptx"), "P");
    cr_expect_str_eq(text_at(run, "cubin"), "QUJD");
    cr_expect_str_eq(
        text_at(json_object_get(json_object_get(run, "entries"), "k"), "symbol"), "k_");
    cr_expect_null(json_object_get(run, "files"));
    autojson *second = validate_room_asked(&r, "compile", 1),
             *again = validate_room_asked(&r, "validate", 1);
    cr_expect(!second && !again, "each once");
    validate_room_close(&r);
}

static double ms_of(const json_t *result, size_t i) {
    const json_t *phase = json_array_get(json_object_get(result, "phases"), i);
    return json_number_value(json_object_get(phase, "ms"));
}

Test(kernel_validate, an_answer_tells_who_ran_it_what_was_compiled_and_for_how_long) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    uint64_t before = clock_ms();
    autojson *result = validate_room_run(&r, validate_room_params(""));
    double took = (double)(clock_ms() - before);
    cr_expect_str_eq(text_at(result, "verdict"), "pass");
    cr_expect_eq(json_get_integer(result, "warnings", -1), 0);
    cr_expect_str_eq(text_at(json_object_get(result, "worker"), "host"), "fake-host");
    const json_t *check = json_object_get(result, "check"), *phase;
    cr_expect(json_get_bool(check, "ok", 0));
    cr_expect(!json_object_get(check, "ptx") && !json_object_get(check, "cubin"),
              "compiled code is for the worker alone");
    static const char *const names[] = {"compile", "run"};
    size_t i;
    json_array_foreach(json_object_get(result, "phases"), i, phase) {
        cr_assert_lt(i, ARRAY_LEN(names));
        cr_expect_str_eq(text_at(phase, "phase"), names[i]);
    }
    cr_expect_eq(i, ARRAY_LEN(names));
    cr_expect(ms_of(result, 0) >= 0 && ms_of(result, 0) <= took && ms_of(result, 1) == 5);
    validate_room_close(&r);
}

/* The first case's block and dynamic shared memory, where there is one launch. */
Test(kernel_validate, occupancy_is_of_the_first_launch) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    json_t *params = validate_room_params("");
    json_object_set_new(json_object_get(params, "launch"), "block",
                        json_loads("[1, 128, 1]", 0, NULL)); /* z may be 64 */
    autojson *result = validate_room_run(&r, params);
    const json_t *kernels = json_object_get(json_object_get(result, "check"), "kernels");
    const json_t *entry =
        json_array_get(json_object_get(json_array_get(kernels, 0), "occupancy"), 0);
    cr_expect(json_get_bool(json_object_get(result, "check"), "ok", 0));
    cr_expect_eq(json_get_integer(entry, "block_threads", 0), 128);
    cr_expect_eq(json_get_integer(entry, "dynamic_shared_bytes", 0), 1024);
    validate_room_close(&r);
}

Test(kernel_validate, without_a_seed_each_run_draws_its_own) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    for (int i = 0; i < 2; i++) {
        json_decref(validate_room_run(&r, validate_room_params("")));
    }
    autojson *first = validate_room_asked(&r, "validate", 0),
             *second = validate_room_asked(&r, "validate", 1);
    cr_expect_str_neq(text_at(first, "seed"), text_at(second, "seed"));
    cr_expect_str_neq(text_at(first, "seed"), "0x0000000000000000");
    validate_room_close(&r);
}

/* --- kernels --- */

/* Only what is named with its arguments has to be instantiated, and the name must be one:
 * it becomes part of a source. */
Test(kernel_validate, template_ids_are_instantiated) {
    static const struct {
        const char *kernel;
        bool instantiated;
    } cases[] = {{"k", false}, {"t<float>", true}, {"t<float>; int y", false}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct validate_room r;
        validate_room_open(&r, COMPILED(""), PASSED(""));
        json_t *params = validate_room_params("");
        json_object_set_new(params, "kernel", json_string(cases[i].kernel));
        json_decref(validate_room_run(&r, params));
        autojson *compile = validate_room_asked(&r, "compile", 0);
        autofree char *sent = json_dumps(compile, JSON_COMPACT);
        cr_expect_eq(strstr(sent, cases[i].kernel + 1) != NULL && strchr(sent, '<') &&
                         strstr(sent, "t<float>") != NULL,
                     cases[i].instantiated, "%s: %s", cases[i].kernel, sent);
        validate_room_close(&r);
    }
}

#define REFERENCE(source, kernel)                                                        \
    ",\"expect\":{\"kernel\":{" source "\"kernel\":\"" kernel                            \
    "\",\"launch\":{\"grid\":[1],\"block\":[1]}}}"
#define OTHER "\"source\":\"__global__ void k(float *x, int n) { int r; }\","

Test(kernel_validate, a_reference_is_compiled_beside_the_kernel) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    json_decref(validate_room_run(&r, validate_room_params(REFERENCE(OTHER, "k"))));
    autojson *one = validate_room_asked(&r, "compile", 0),
             *two = validate_room_asked(&r, "compile", 1);
    autofree char *first = json_dumps(one, 0), *second = json_dumps(two, 0);
    bool first_is = strstr(first, "int r;") != NULL;
    const char *reference = first_is ? first : second,
               *kernel = first_is ? second : first;
    cr_expect_not_null(strstr(reference, "int r;"));
    cr_expect_not_null(strstr(reference, "reference.cu"));
    cr_expect_null(strstr(kernel, "int r;"));
    autojson *run = validate_room_asked(&r, "validate", 0);
    cr_expect_str_eq(text_at(run, "reference_ptx"), "P");
    cr_expect_not_null(json_object_get(json_object_get(run, "reference_entries"), "k"));
    validate_room_close(&r);
}

Test(kernel_validate, a_reference_in_the_kernels_own_source_is_compiled_once) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    json_decref(validate_room_run(&r, validate_room_params(REFERENCE("", "k"))));
    autojson *second = validate_room_asked(&r, "compile", 1),
             *run = validate_room_asked(&r, "validate", 0);
    cr_expect_null(second);
    cr_expect_str_eq(text_at(run, "reference_ptx"), "P");
    validate_room_refuses(&r, validate_room_params(REFERENCE("", "t<float>")),
                          CALL_BAD_PARAMS, "bad_spec",
                          "needs its own expect.kernel.source");
    validate_room_close(&r);
}

Test(kernel_validate, what_does_not_compile_is_not_run) {
    struct validate_room r;
    validate_room_open(&r, REJECTED, PASSED(""));
    autojson *result = validate_room_run(&r, validate_room_params(""));
    const json_t *error = json_object_get(result, "error");
    cr_expect_str_neq(text_at(result, "verdict"), "pass");
    cr_expect_str_eq(text_at(error, "stage"), "compile");
    cr_expect_str_eq(text_at(error, "code"), "not_compiled");
    cr_expect_str_eq(text_at(error, "message"), "it does not compile: bad (k.cu:2)");
    const json_t *check = json_object_get(result, "check");
    cr_expect_eq(json_array_size(json_object_get(check, "diagnostics")), 1);
    cr_expect(json_is_array(json_object_get(result, "cases")) &&
              json_is_array(json_object_get(result, "findings")));
    cr_expect_eq(json_get_integer(result, "omitted", -1), 0);
    autojson *run = validate_room_asked(&r, "validate", 0);
    cr_expect_null(run);
    validate_room_close(&r);
}

/* An error of ours is no reason to hide what was compiled, but that stays here. */
Test(kernel_validate, compiled_code_with_an_error_is_neither_run_nor_told) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(ERROR), PASSED(""));
    autojson *result = validate_room_run(&r, validate_room_params(""));
    const json_t *check = json_object_get(result, "check");
    cr_expect_str_eq(text_at(json_object_get(result, "error"), "code"), "not_compiled");
    cr_expect(!json_object_get(check, "ptx") && !json_object_get(check, "cubin"));
    cr_expect_eq(json_array_size(json_object_get(check, "kernels")), 2);
    validate_room_close(&r);
}

/* The reference's errors are told as its own; the kernel is waited for no longer. */
Test(kernel_validate, a_reference_that_does_not_compile_ends_it) {
    struct validate_room r;
    validate_room_open(&r, "{}," REJECTED, PASSED(""));
    r.base.worker.parallel = 1;
    autojson *result = validate_room_run(&r, validate_room_params(REFERENCE(OTHER, "k")));
    const json_t *error = json_object_get(result, "error");
    const char *stage = text_at(error, "stage");
    bool is_reference = !strcmp(stage, "reference");
    cr_expect(is_reference || !strcmp(stage, "compile"), "%s", stage);
    cr_expect_eq(!strncmp(text_at(error, "message"), "the reference: ", 15),
                 is_reference);
    cr_expect_eq(json_object_get(result, "reference_diagnostics") != NULL, is_reference);
    autojson *run = validate_room_asked(&r, "validate", 0);
    cr_expect_null(run);
    validate_room_close(&r);
}

/* --- warnings --- */

#define FOUND(severity) "{\"severity\":\"" severity "\",\"code\":\"c\",\"message\":\"m\"}"
#define RAN(verdict, findings)                                                           \
    "{\"result\":{\"verdict\":\"" verdict "\",\"cases\":[],\"findings\":[" findings "]}" \
    "}"

Test(kernel_validate, warnings_of_both_are_counted_and_decide_if_strict) {
    static const struct {
        const char *compile, *run;
        bool strict;
        int warnings;
        const char *verdict;
    } cases[] = {
        {COMPILED(""), RAN("pass", ""), true, 0, "pass"},
        {COMPILED(WARNING), RAN("pass", FOUND("warning")), false, 2, "pass"},
        {COMPILED(WARNING), RAN("pass", ""), true, 1, "fail"},
        {COMPILED(""), RAN("pass", FOUND("warning")), true, 1, "fail"},
        {COMPILED(WARNING), RAN("unjudged", FOUND("warning")), true, 2, "unjudged"},
        {COMPILED(""), RAN("fail", FOUND("error")), true, 0, "fail"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct validate_room r;
        validate_room_open(&r, cases[i].compile, cases[i].run);
        autojson *result = validate_room_run(
            &r, validate_room_params(cases[i].strict ? ",\"strict\":true" : ""));
        cr_expect_eq(json_get_integer(result, "warnings", -1), cases[i].warnings, "%zu",
                     i);
        cr_expect_str_eq(text_at(result, "verdict"), cases[i].verdict, "%zu", i);
        bool told = json_object_get(result, "strict") != NULL;
        bool decided = cases[i].strict && cases[i].warnings &&
                       strstr(cases[i].run, "\"pass\"") != NULL;
        cr_expect_eq(told, decided, "%zu", i);
        validate_room_close(&r);
    }
}

#define ABOUT(kernel)                                                                    \
    "{\"source\":\"nvrtc\",\"severity\":\"warning\",\"message\":\"w\",\"kernel\":"       \
    "\"" kernel "\"}"

/* What is said of a kernel that is not run is no warning here; without a name it may be
 * any of them. */
Test(kernel_validate, findings_are_of_the_kernels_that_run) {
    static const struct {
        const char *kernel;
        size_t told;
    } cases[] = {{"k", 1}, {NULL, 2}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct validate_room r;
        validate_room_open(&r, COMPILED(ABOUT("k") "," ABOUT("t<float>")), PASSED(""));
        json_t *params = validate_room_params("");
        if (!cases[i].kernel) {
            json_object_del(params, "kernel");
        }
        autojson *result = validate_room_run(&r, params);
        const json_t *check = json_object_get(result, "check");
        cr_expect_eq(json_array_size(json_object_get(check, "diagnostics")),
                     cases[i].told, "%zu", i);
        validate_room_close(&r);
    }
}

/* Names in another order than the kernel's parameters: at the kernel's line. */
Test(kernel_validate, swapped_arguments_are_told) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), RAN("pass", FOUND("error")));
    json_t *params = validate_room_params("");
    json_t *args = json_object_get(params, "args");
    json_array_append(args, json_array_get(args, 0));
    json_array_remove(args, 0);
    autojson *result = validate_room_run(&r, params);
    const json_t *findings = json_object_get(result, "findings");
    const json_t *note = json_array_get(findings, 1);
    cr_assert_eq(json_array_size(findings), 2);
    cr_expect_str_eq(text_at(note, "code"), "argument_order");
    cr_expect_str_eq(text_at(note, "severity"), "warning");
    cr_expect_str_eq(text_at(note, "file"), "k.cu");
    cr_expect_eq(json_get_integer(note, "line", 0), 3);
    cr_expect_eq(json_get_integer(result, "warnings", 0), 1);
    validate_room_close(&r);
}

/* --- what is going on --- */

#define PROGRESS(done, total, message)                                                   \
    "{\"progress\":{\"done\":" done ",\"total\":" total ",\"message\":\"" message "\"}}"

Test(kernel_validate, tells_how_far_it_is) {
    struct validate_room r;
    validate_room_open(
        &r, COMPILED(""),
        "{\"notes\":["
        PROGRESS("0.5", "6", "first") "," PROGRESS("2.5", "6", "second") ","
        PROGRESS("6", "6", "last") "," PROGRESS("7", "6", "too much") ","
        "{\"progress\":{\"done\":6,\"total\":-3}}],\"result\":{\"verdict\":\"pass\"}}");
    json_decref(validate_room_run(&r, validate_room_params(",\"trials\":3")));
    /* Two cases of three trials, and the compilation. */
    static const struct told wanted[] = {
        {0, 7, "compiling"}, {1, 7, "starting the run"},
        {1.5, 7, "first"},   {3.5, 7, "second"},
        {7, 7, "last"},      {7, 7, "too much"},
        {7, 1, "running"},
    };
    cr_assert_eq(r.tellings, ARRAY_LEN(wanted), "%zu", r.tellings);
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        cr_expect_eq(r.told[i].done, wanted[i].done, "%zu: %g", i, r.told[i].done);
        cr_expect_eq(r.told[i].total, wanted[i].total, "%zu: %g", i, r.told[i].total);
        cr_expect_str_eq(r.told[i].message, wanted[i].message);
    }
    validate_room_close(&r);
}

/* What takes long without a word of the worker's is told again, with its seconds every
 * second. */
Test(kernel_validate, waiting_is_told_again) {
    struct validate_room r;
    validate_room_open(&r, "{}", PASSED(""));
    r.cancel_at = 2;
    struct call *call = validate_room_begin(&r, validate_room_params(""));
    validate_room_wait(&r, call);
    cr_expect_eq(call_state(call), CALL_CANCELLED);
    cr_expect_str_eq(r.told[0].message, "compiling");
    cr_expect_str_eq(r.told[1].message, "compiling, 1 s");
    cr_expect_eq(r.told[1].done, 0);
    call_unref(call);
    validate_room_close(&r);
}

/* --- what goes wrong --- */

Test(kernel_validate, what_a_worker_lacks_is_said) {
    static const struct {
        const char *compile, *validate, *more;
        enum call_fault fault;
        const char *reason, *words;
    } cases[] = {
        {COMPILED(""),
         "{\"result\":{\"error\":{\"code\":\"no_gpu\",\"message\":\"none\"}}}", "",
         CALL_UNAVAILABLE, "no_gpu", "none"},
        {COMPILED(""), "{\"result\":{\"error\":{\"code\":\"no_gpu\"}}}", "",
         CALL_UNAVAILABLE, "no_gpu", "there is no CUDA device"},
        {COMPILED(""), PASSED(""), ",\"backend\":\"cuda\"", CALL_UNAVAILABLE, "no_gpu",
         ""},
        {COMPILED(""), "{\"error\":{\"code\":-32603,\"message\":\"oh\"}}", "",
         CALL_INTERNAL, "worker", "oh"},
        {COMPILED(""), "{\"error\":{\"code\":-32603}}", "", CALL_INTERNAL, "worker",
         "the worker failed"},
        {COMPILED(""), "{\"result\":{}}", "", CALL_INTERNAL, "worker", "is invalid"},
        {COMPILED(""), "{\"result\":[]}", "", CALL_INTERNAL, "worker", "is invalid"},
        {COMPILED(""), "{\"die\":true}", "", CALL_UNAVAILABLE, "no_worker", ""},
        {"{\"error\":{\"code\":1,\"message\":\"x\",\"data\":{\"reason\":\"no_compiler\"}}"
         "}",
         PASSED(""), "", CALL_UNAVAILABLE, "no_compiler", "x"},
        {"{\"die\":true}", PASSED(""), REFERENCE(OTHER, "k"), CALL_UNAVAILABLE,
         "no_worker", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct validate_room r;
        validate_room_open(&r, cases[i].compile, cases[i].validate);
        validate_room_refuses(&r, validate_room_params(cases[i].more), cases[i].fault,
                              cases[i].reason, cases[i].words);
        validate_room_close(&r);
    }
}

/* A worker that dies is tried once more; the second answer counts. */
Test(kernel_validate, a_worker_that_dies_once_harms_nothing) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), "{\"die\":true}," PASSED(""));
    autojson *result = validate_room_run(&r, validate_room_params(",\"seed\":\"0x12\""));
    autojson *one = validate_room_asked(&r, "validate", 0),
             *two = validate_room_asked(&r, "validate", 1);
    cr_expect_str_eq(text_at(result, "verdict"), "pass");
    cr_expect(json_equal(one, two), "the same question");
    validate_room_close(&r);
}

static void ignore(struct pool_job *job, int status, const json_t *answer,
                   const json_t *error, const char *why, void *data) {
    (void)job, (void)status, (void)answer, (void)error, (void)why, (void)data;
}

static void fill_pool(struct call *call, void *data) {
    struct validate_room *r = data;
    validate_room_told(call, data);
    if (!strcmp(r->told[r->tellings - 1].message, "starting the run")) {
        for (int i = 0; i < 2 * POOL_MAX_QUEUED; i++) {
            pool_submit(gpu_pool(r->base.gpu), "stubborn", json_object(), NULL, NULL,
                        ignore, NULL);
        }
    }
}

Test(kernel_validate, many_others_before_it_are_told) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    struct call *call = validate_room_begin(&r, validate_room_params(""));
    r.view.progress = fill_pool;
    validate_room_wait(&r, call);
    cr_assert_eq(call_state(call), CALL_FAILED);
    cr_expect_str_eq(call_failure(call)->reason, "busy");
    cr_expect_eq(call_failure(call)->fault, CALL_UNAVAILABLE);
    call_unref(call);
    validate_room_close(&r);
}

Test(kernel_validate, a_spec_that_is_wrong_asks_nobody) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    validate_room_refuses(&r, validate_room_params(",\"tolerance\":{\"atol\":-1}"),
                          CALL_BAD_PARAMS, "bad_params", "atol");
    validate_room_refuses(&r, validate_room_params(",\"save\":\"../out\""), CALL_REFUSED,
                          "bad_folder", "outside");
    validate_room_refuses(&r, json_pack("{s:s}", "path", "none.cu"), CALL_BAD_PARAMS,
                          "no_file", "none.cu: No such file");
    json_t *params = validate_room_params("");
    json_object_set_new(params, "sizes", json_pack("{s:i}", "n", -1));
    validate_room_refuses(&r, params, CALL_BAD_PARAMS, "bad_spec", "case 0");
    autojson *compile = validate_room_asked(&r, "compile", 0);
    cr_expect_null(compile);
    validate_room_close(&r);
}

/* Nor does the answer wait for the second in which it would be told that it goes on. */
Test(kernel_validate, a_refusal_comes_at_once) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    uint64_t before = clock_ms();
    for (int i = 0; i < 8; i++) {
        validate_room_refuses(&r, json_pack("{s:s}", "path", "none.cu"), CALL_BAD_PARAMS,
                              "no_file", "");
    }
    cr_expect_lt(clock_ms() - before, 5000);
    validate_room_close(&r);
}

Test(kernel_validate, a_process_without_kernels_says_so) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    struct gpu *gpu = take(r.base.origin.host);
    validate_room_refuses(&r, validate_room_params(""), CALL_UNAVAILABLE, "no_gpu_domain",
                          "validates no kernels");
    r.base.origin.host = gpu;
    validate_room_close(&r);
}

/* A launch that the compiled kernel cannot have: told without a run. */
Test(kernel_validate, an_impossible_launch_is_told_with_its_case) {
    struct validate_room r;
    validate_room_open(&r, COMPILED(""), PASSED(""));
    json_t *params = validate_room_params("");
    json_object_set_new(json_object_get(params, "launch"), "block",
                        json_loads("[\"128 * n\"]", 0, NULL)); /* 512, then 640 */
    autojson *result = validate_room_run(&r, params);
    const json_t *error = json_object_get(result, "error");
    cr_expect_str_eq(text_at(error, "stage"), "launch");
    cr_expect(strstr(text_at(error, "message"), "case 1: "), "%s",
              text_at(error, "message"));
    params = validate_room_params("");
    json_object_set_new(params, "kernel", json_string("other"));
    autojson *unknown = validate_room_run(&r, params);
    error = json_object_get(unknown, "error");
    cr_expect_str_eq(text_at(error, "stage"), "spec");
    cr_expect_str_eq(text_at(error, "code"), "unknown_kernel");
    autojson *run = validate_room_asked(&r, "validate", 0);
    cr_expect_null(run);
    validate_room_close(&r);
}
