#include "base/buf.h"
#include "gpu/facts/kernel_facts.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/lint/lint.h"
#include "test_data.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

TestSuite(kernel_facts);

static char *string_of(const json_t *object, const char *key) {
    return (char *)(uintptr_t)json_get_string(object, key, "");
}

static json_t *facts_of(const char *cubin, const char *source, const json_t *usage) {
    size_t len;
    autofree char *source_path = xasprintf("cubins/%s.cu", source);
    autofree char *cubin_path = xasprintf("cubins/%s.cubin", cubin);
    struct source_set sources = {0};
    struct cubin c;
    char *text = test_data_read(source_path, &len);
    cr_assert(zero(int, source_set_add(&sources, "r0/k.cu", "k.cu", text, len, NULL)));
    free(text);
    char *bytes = test_data_read(cubin_path, &len);
    cr_assert(zero(int, cubin_read(&c, bytes, len, NULL)));
    free(bytes);
    json_t *kernels = kernel_facts_new(&c, usage, &sources);
    cubin_finish(&c);
    source_set_finish(&sources);
    return kernels;
}

/* Names as a person writes them, in the order of the source, each at its own name. Lines
 * were counted in the source. */
Test(kernel_facts, names_and_places_kernels) {
    static struct {
        char name[40];
        int line, column;
    } want[] = {
        {"hidden", 1, 29}, /* in an unnamed namespace */
        {"ns::tk<float, 4, true, 33u>", 3, 67},
        {"ns::pk<ns::Tag::In>", 6, 40},
        {"ns::vk<int, float*, char const*>", 8, 44},
        {"lb1", 11, 40},
        {"lb2", 12, 43},
        {"lb3", 13, 46},
        {"cl", 14, 43},
        {"cl2", 15, 65},
        {"bs", 16, 44},
        {"bsc", 17, 55},
        {"mr", 18, 33},
        {"plainc", 19, 28},
        {"noparam", 20, 17},
        {"dynk", 22, 17},
        {"bigparam", 24, 17},
        {"over", 25, 17},
        {"over", 25, 17},
    };
    json_t *kernels = facts_of("attributes_sm_90a", "attributes", NULL);
    cr_assert(eq(u64, json_array_size(kernels), ARRAY_LEN(want)));
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        const json_t *kernel = json_array_get(kernels, i);
        cr_expect(eq(str, string_of(kernel, "name"), want[i].name));
        cr_expect(eq(str, string_of(kernel, "file"), "k.cu"));
        cr_expect(eq(int, (int)json_get_integer(kernel, "line", 0), want[i].line), "%s",
                  want[i].name);
        cr_expect(eq(int, (int)json_get_integer(kernel, "column", 0), want[i].column),
                  "%s", want[i].name);
    }
    json_decref(kernels);
}

/* Everything the compiler told, and nothing it did not. */
Test(kernel_facts, joins_cubin_and_log) {
    json_t *usage = json_pack("{s:{s:i, s:i, s:i}}", "_Z6framedPii", "registers", 99,
                              "spill_store_bytes", 8, "spill_load_bytes", 12);
    json_t *kernels = facts_of("functions_sm_90a", "functions", usage);
    autofree char *framed = json_dumps(json_array_get(kernels, 2), JSON_COMPACT);
    cr_expect(eq(
        str, framed,
        "{\"name\":\"framed\",\"symbol\":\"_Z6framedPii\",\"file\":\"k.cu\","
        "\"line\":6,\"column\":17,\"parameters\":[\"x\",\"n\"],\"registers\":32,"
        "\"spill_store_bytes\":8,"
        "\"spill_load_bytes\":12,\"stack_bytes\":400,\"static_shared_bytes\":0,"
        "\"barriers\":0,\"param_bytes\":12,\"max_threads\":1024,\"code_bytes\":3968}"));
    cr_expect(json_object_get(json_array_get(kernels, 0), "spill_store_bytes") == NULL);
    json_decref(kernels);
    json_decref(usage);
}

/* A kernel no source shows (made by a macro, say) is told without a place. */
Test(kernel_facts, places_nothing_that_is_not_there) {
    json_t *kernels = facts_of("functions_sm_90a", "attributes", NULL);
    const json_t *kernel;
    size_t i, placed = 0;
    json_array_foreach(kernels, i, kernel) {
        placed += json_object_get(kernel, "line") != NULL;
    }
    cr_expect(eq(u64, placed, 1)); /* bigparam is in both */
    cr_expect(eq(str, string_of(json_array_get(kernels, 0), "name"), "bigparam"));
    json_decref(kernels);
}

/* Symbols that are no mangled names, or stand for more than anybody reads, stay. */
Test(kernel_facts, demangles_with_limits) {
    static struct {
        const char *symbol;
        char name[64];
    } cases[] = {
        {"_Z4axpyfPKfPfi", "axpy"},
        {"_ZN2ns1qEPf", "ns::q"},
        {"_ZN2ns2tkIfLi4EEEvPT_", "ns::tk<float, 4>"},
        {"plain", "plain"},
        {"_Znonsense", "_Znonsense"},
        {"_Z", "_Z"},
        {"", ""},
        {"_ZN12_GLOBAL__N_11kEv", "k"},
        {"_ZN1a12_GLOBAL__N_11b1kEv", "a::b::k"},
        {"_Z1kIXadL_Z1fPfEEEvS0_", "k<&f>"}, /* k<f>, of g++ */
        {"_Z1kIXadL_ZN2ns1gILi4EEEvPfEEEvS2_", "k<&ns::g<4>>"},
        {"_Z2k2IXadL_Z1fPfEELi3EEvS0_", "k2<&f, 3>"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *name = kernel_name_new(cases[i].symbol);
        cr_expect(eq(str, name, cases[i].name));
    }
    autofree char *both = kernel_signature_new("_Z4bothIiEvPT_S0_");
    cr_expect(eq(str, both, "both<int>(int*, int)"));
    autobuf deep = BUF_INIT(1u << 20);
    buf_adds(&deep, "_Z1f");
    for (int i = 0; i < 3000; i++) {
        buf_adds(&deep, "P");
    }
    buf_adds(&deep, "i");
    autofree char *name = kernel_name_new(deep.data);
    cr_expect(le(u64, strlen(name), 4096));
    autobuf wide = BUF_INIT(1u << 20); /* run(int, int, …): as long as CUTLASS's */
    buf_adds(&wide, "_Z3run");
    for (int i = 0; i < 3000; i++) {
        buf_adds(&wide, "i");
    }
    autofree char *run = kernel_name_new(wide.data);
    cr_expect(eq(str, run, "run"));
}

/* --- Judging launches
 * ------------------------------------------------------------------- */

static json_t *kernel(int registers, int shared, int max_threads, const char *more) {
    autofree char *text = xasprintf(
        "{\"name\": \"ns::k<float>\", \"symbol\": \"k\", \"file\": \"k.cu\", \"line\": "
        "3, "
        "\"column\": 7, \"registers\": %d, \"static_shared_bytes\": %d, \"barriers\": 1, "
        "\"max_threads\": %d%s}",
        registers, shared, max_threads, more);
    json_t *json = json_loads(text, 0, NULL);
    cr_assert(json != NULL, "%s", text);
    return json_pack("[o]", json);
}

static struct {
    int registers, shared, max_threads;
    const char *more, *launch, *arch;
    char code[32], severity[8];
    const char *says[3];
} judged_launches[] = {
    {40,
     0,
     256,
     "",
     "{\"block\": [16, 16, 2]}",
     "sm_90a",
     "block_exceeds_launch_bounds",
     "error",
     {"512", "256", "__launch_bounds__"}},
    {40,
     1024,
     1024,
     "",
     "{\"block\": [256,1,1], \"dynamic_shared_bytes\": 231425}",
     "sm_90",
     "shared_memory_exceeds_block",
     "error",
     {"232449", "232448", "1024"}},
    {40,
     1024,
     1024,
     "",
     "{\"block\": [256,1,1], \"dynamic_shared_bytes\": 48129}",
     "sm_90",
     "dynamic_shared_needs_attribute",
     "info",
     {"49153", "cudaFuncAttributeMaxDynamicSharedMemorySize", "48129"}},
    {40,
     0,
     1024,
     ", \"spill_store_bytes\": 8, \"spill_load_bytes\": 12",
     "null",
     "sm_90a",
     "register_spills",
     "warning",
     {"8 bytes", "12 bytes", "40 registers"}},
    {168,
     0,
     1024,
     "",
     "{\"block\": [1024,1,1]}",
     "sm_90",
     "not_launchable",
     "error",
     {"168 registers", "65536", "384"}},
    {40,
     0,
     1024,
     "",
     "{\"block\": [2048,1,1]}",
     "sm_90",
     "not_launchable",
     "error",
     {"2048", "1024", ""}},
    {40,
     0,
     1024,
     "",
     "{\"block\": [1,1,128]}",
     "sm_90",
     "not_launchable",
     "error",
     {"64", "128", ""}},
    {40,
     0,
     1024,
     "",
     "{\"block\": [64,1,1], \"cluster\": [4,4,2]}",
     "sm_90",
     "cluster_too_large",
     "error",
     {"32", "16", ""}},
    {40,
     0,
     1024,
     ", \"cluster\": [16,1,1]",
     "null",
     "sm_90",
     "cluster_too_large",
     "warning",
     {"16", "8", "NonPortable"}},
    {40,
     0,
     1024,
     ", \"cluster\": [2,1,1]",
     "null",
     "sm_80",
     "cluster_too_large",
     "error",
     {"2 blocks", "sm_80", ""}},
    {40,
     0,
     128,
     ", \"required_block\": [32,4,1]",
     "{\"block\": [128,1,1]}",
     "sm_90",
     "block_differs_from_required",
     "error",
     {"32x4x1", "128x1x1", ""}},
};

static struct compile_options options_for(const char *arch) {
    struct compile_options options = {0};
    snprintf(options.arch, sizeof options.arch, "%s", arch);
    return options;
}

/* What a launch is told, by code; the figures and the cure are in the words. */
Test(kernel_facts, judges_launches) {
    for (size_t i = 0; i < ARRAY_LEN(judged_launches); i++) {
        json_t *kernels = kernel(judged_launches[i].registers, judged_launches[i].shared,
                                 judged_launches[i].max_threads, judged_launches[i].more);
        json_t *launch = json_loads(judged_launches[i].launch, JSON_DECODE_ANY, NULL);
        json_t *findings = json_array();
        const struct compile_options options = options_for(judged_launches[i].arch);
        lint_compiled(kernels, &options, NULL, findings);
        lint_launched(kernels, judged_launches[i].arch, launch, findings);
        cr_assert(eq(u64, json_array_size(findings), 1), "%s", judged_launches[i].code);
        const json_t *finding = json_array_get(findings, 0);
        cr_expect(eq(str, string_of(finding, "code"), judged_launches[i].code));
        cr_expect(eq(str, string_of(finding, "severity"), judged_launches[i].severity),
                  "%s", judged_launches[i].code);
        cr_expect(eq(str, string_of(finding, "source"), "upskilld"));
        cr_expect(eq(int, (int)json_get_integer(finding, "line", 0), 3));
        cr_expect(eq(int, (int)json_get_integer(finding, "end_column", 0), 8)); /* "k" */
        for (size_t w = 0; w < 3; w++) {
            cr_expect(strstr(string_of(finding, "message"), judged_launches[i].says[w]) !=
                          NULL,
                      "%s: \"%s\" not in %s", judged_launches[i].code,
                      judged_launches[i].says[w], string_of(finding, "message"));
        }
        json_decref(findings);
        json_decref(launch);
        json_decref(kernels);
    }
}

/* A launch that works is not commented on, low occupancy or not. */
Test(kernel_facts, is_silent_about_good_launches) {
    static const struct {
        int registers, shared, max_threads;
        const char *more, *launch;
    } cases[] = {
        {40, 0, 256, "", "{\"block\": [256,1,1]}"},
        {255, 48000, 256, "", "{\"block\": [32,1,1]}"},
        {40, 1024, 1024, "", "{\"block\": [256,1,1], \"dynamic_shared_bytes\": 48128}"},
        {64, 0, 1024, "", "{\"block\": [1024,1,1]}"},
        {40, 0, 1024, "", "{\"block\": [64,1,1], \"cluster\": [8,1,1]}"},
        {40, 0, 128, ", \"required_block\": [32,4,1]", "{\"block\": [32,4,1]}"},
        {40, 0, 1024, ", \"spill_store_bytes\": 0, \"spill_load_bytes\": 0", "null"},
        {168, 0, 1024, "", "null"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *kernels = kernel(cases[i].registers, cases[i].shared,
                                 cases[i].max_threads, cases[i].more);
        json_t *launch = json_loads(cases[i].launch, JSON_DECODE_ANY, NULL);
        json_t *findings = json_array();
        const struct compile_options options = options_for("sm_90a");
        lint_compiled(kernels, &options, NULL, findings);
        lint_launched(kernels, "sm_90a", launch, findings);
        autofree char *text = json_dumps(findings, 0);
        cr_expect(eq(str, text, "[]"), "%zu", i);
        json_decref(findings);
        json_decref(launch);
        json_decref(kernels);
    }
}

/* Of several kernels the launch may be another's: then it is no error. */
Test(kernel_facts, warns_when_a_launch_may_be_anothers) {
    json_t *kernels = kernel(40, 0, 256, "");
    json_t *launch = json_pack("{s:[i,i,i]}", "block", 512, 1, 1),
           *findings = json_array();
    json_array_append_new(kernels, json_deep_copy(json_array_get(kernels, 0)));
    json_object_set_new(json_array_get(kernels, 1), "max_threads", json_integer(1024));
    lint_launched(kernels, "sm_90a", launch, findings);
    cr_assert(eq(u64, json_array_size(findings), 1));
    cr_expect(eq(str, string_of(json_array_get(findings, 0), "severity"), "warning"));
    json_decref(findings);
    json_decref(launch);
    json_decref(kernels);
}

/* Without a launch, the usual block sizes that the kernel allows. */
/* 1,024 threads with 128 registers are 131,072 of 65,536, whatever the shared memory is.
 */
Test(kernel_facts, a_launch_of_unknown_shared_memory_is_judged_by_the_rest) {
    autojson *kernels = kernel(128, 0, 1024, ""), *findings = json_array();
    json_object_set_new(json_array_get(kernels, 0), "source_launches",
                        json_pack("[{s:[i,i,i], s:i, s:i}]", "block", 1024, 1, 1, "line",
                                  3, "column", 1));
    lint_launched(kernels, "sm_90a", NULL, findings);
    cr_assert(eq(sz, json_array_size(findings), 1));
    cr_expect(eq(str, (char *)json_get_string(json_array_get(findings, 0), "code", ""),
                 "not_launchable"));
}

Test(kernel_facts, lists_occupancy_of_usual_blocks) {
    static const struct {
        int max_threads;
        const char *more, *arch;
        int sizes[6];
    } cases[] = {
        {1024, "", "sm_90a", {64, 128, 256, 512, 1024, 0}},
        {256, "", "sm_90a", {64, 128, 256, 0}},
        {48, "", "sm_90a", {48, 0}},
        {128, ", \"required_block\": [32,4,1]", "sm_90a", {128, 0}},
        {1024, "", "sm_75", {0}}, /* no figures for it: none are made up */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        json_t *kernels = kernel(40, 0, cases[i].max_threads, cases[i].more);
        json_t *findings = json_array();
        lint_launched(kernels, cases[i].arch, NULL, findings);
        const json_t *list = json_object_get(json_array_get(kernels, 0), "occupancy");
        size_t n = 0;
        for (; cases[i].sizes[n]; n++) {
            const json_t *entry = json_array_get(list, n);
            cr_expect(eq(int, (int)json_get_integer(entry, "block_threads", 0),
                         cases[i].sizes[n]));
        }
        cr_expect(eq(u64, json_array_size(list), n), "%zu", i);
        cr_expect(eq(u64, json_array_size(findings), 0));
        json_decref(findings);
        json_decref(kernels);
    }
}

/* With one, its own: the bytes of dynamic shared memory count. */
Test(kernel_facts, computes_the_occupancy_of_a_launch) {
    json_t *kernels = kernel(40, 1200, 1024, "");
    json_t *findings = json_array();
    json_t *launch =
        json_pack("{s:[i,i,i], s:i}", "block", 32, 8, 1, "dynamic_shared_bytes", 40000);
    lint_launched(kernels, "sm_90a", launch, findings);
    autofree char *text = json_dumps(
        json_object_get(json_array_get(kernels, 0), "occupancy"), JSON_COMPACT);
    cr_expect(
        eq(str, text,
           "[{\"block_threads\":256,\"dynamic_shared_bytes\":40000,\"blocks_per_sm\":5,"
           "\"percent\":62.5,\"limited_by\":[\"shared_memory\"]}]"));
    json_decref(findings);
    json_decref(launch);
    json_decref(kernels);
}

/* Figures that no launch has, and no figures at all, are judged without harm. */
Test(kernel_facts, bears_absurd_launches) {
    static const char *const launches[] = {
        "{}",
        "{\"block\": []}",
        "{\"block\": [2147483647,2147483647,2147483647], \"dynamic_shared_bytes\": "
        "9223372036854775807, \"cluster\": [9223372036854775807,2,2]}",
        "{\"block\": [-1,-1,-1], \"dynamic_shared_bytes\": -5, \"cluster\": [-1,0,0]}",
        "{\"block\": \"x\", \"cluster\": 7}",
        "[]",
        "7",
    };
    for (size_t i = 0; i < ARRAY_LEN(launches); i++) {
        json_t *kernels = kernel(40, 0, 64, "");
        json_array_append_new(kernels, json_object());
        json_t *launch = json_loads(launches[i], JSON_DECODE_ANY, NULL),
               *findings = json_array();
        lint_launched(kernels, "sm_90a", launch, findings);
        cr_expect(json_object_get(json_array_get(kernels, 0), "occupancy") != NULL);
        json_decref(findings);
        json_decref(launch);
        json_decref(kernels);
    }
}
