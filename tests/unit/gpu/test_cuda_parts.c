/* What of the CUDA backend needs no device: names, devices by name, what a driver says of
 * asserts, output that nobody reads. */
#include "base/err.h"
#include "base/json.h"
#include "base/strings.h"
#include "gpu/compile/cubin_text.h"
#include "gpu/driver/cuda_device.h"
#include "gpu/driver/cuda_module.h"
#include "gpu/driver/cuda_output.h"
#include "gpu/worker/cuda_room.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- codes: the rest is compared with cuda.h by cuda_abi.py --- */

Test(cuda_codes, every_number_has_a_name) {
    cr_expect_str_eq(cuda_code_name(0), "CUDA_SUCCESS");
    cr_expect_str_eq(cuda_code_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
    cr_expect_str_eq(cuda_code_name(12345), "CUDA_ERROR_12345");
    cr_expect_str_eq(cuda_code_hint(12345), "");
    cr_expect(strlen(cuda_code_hint(222)) > 10);
    cr_expect(cuda_code_is_sticky(719) && cuda_code_is_sticky(710));
    cr_expect(!cuda_code_is_sticky(0) && !cuda_code_is_sticky(2) &&
              !cuda_code_is_sticky(701) && !cuda_code_is_sticky(720));
}

/* --- devices --- */

static const struct cuda_device devices[] = {
    {.ordinal = 0,
     .name = "NVIDIA H100 80GB HBM3",
     .uuid = "GPU-01234567-89ab-cdef-0123-456789abcdef",
     .compute_mode = 2,
     .major = 9},
    {.ordinal = 1,
     .name = "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
     .uuid = "MIG-01239999-0000-0000-0000-000000000001",
     .major = 9},
    {.ordinal = 2,
     .name = "NVIDIA A100-SXM4-40GB",
     .uuid = "GPU-aaaaaaaa-0000-0000-0000-000000000002",
     .major = 8},
};

Test(cuda_device, is_found_by_ordinal_uuid_and_name) {
    static const struct {
        const char *wanted;
        int ordinal; /* -1: none */
        const char *words;
    } cases[] = {
        {NULL, 1, NULL}, /* the first that lets a process in */
        {"0", 0, NULL},
        {"2", 2, NULL},
        {"3", -1, "no CUDA device is called '3'"},
        {"GPU-01234567-89ab-cdef-0123-456789abcdef", 0, NULL},
        {"gpu-01234567-89AB-CDEF-0123-456789abcdef", 0, NULL},
        {"01234567-89ab", 0, NULL},
        {"GPU-0123", -1, "more than one"},
        {"MIG-01239", 1, NULL},
        {"a100", 2, NULL},
        {"H100", -1, "more than one"},
        {"MIG 1g", 1, NULL},
        {"", -1, "no CUDA device"},
        {"GPU-", -1, "no CUDA device"},
        {"-1", -1, "no CUDA device"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        const struct cuda_device *d = cuda_device_find(devices, 3, cases[i].wanted, &err);
        cr_expect_eq(d ? d->ordinal : -1, cases[i].ordinal, "%s",
                     cases[i].wanted ? cases[i].wanted : "(any)");
        cr_expect(d || strstr(err.msg, cases[i].words), "%s", err.msg);
    }
    struct err err = {0};
    cr_expect_null(cuda_device_find(devices, 0, NULL, &err));
    cr_expect(strstr(err.msg, "sees no CUDA device"));
    cr_expect_null(cuda_device_find(devices, 1, NULL, &err));
    cr_expect(strstr(err.msg, "prohibited"));
}

Test(cuda_device, is_told_with_null_for_what_is_not_known) {
    autojson *json = cuda_device_to_json(&devices[2]);
    cr_expect_str_eq(json_get_string(json, "compute_capability", ""), "8.0");
    cr_expect(json_is_null(json_object_get(json, "sms")));
    cr_expect(json_is_null(json_object_get(json, "memory_bytes_per_s")));
    /* 2619 MHz, 5120 bits, two edges: the data sheet's 3.35 TB/s */
    struct cuda_device h100 = devices[0];
    h100.memory_clock_khz = 2619000;
    h100.memory_bus_bits = 5120;
    autojson *whole = cuda_device_to_json(&h100);
    cr_expect_eq(json_get_integer(whole, "memory_bytes_per_s", 0), 3352320000000);
}

Test(cuda_device, runs_what_was_made_for_it) {
    static const struct {
        const char *target;
        int major, minor;
        bool runs;
    } cases[] = {
        {"sm_90a", 9, 0, true},   {"sm_90a", 10, 0, false},  {"sm_90a", 8, 0, false},
        {"sm_90", 9, 0, true},    {"sm_90", 10, 0, true},    {"sm_90", 8, 9, false},
        {"sm_80", 8, 6, true},    {"sm_86", 8, 0, false},    {"sm_100f", 10, 3, true},
        {"sm_100f", 9, 0, false}, {"sm_100f", 12, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cuda_device d = {.major = cases[i].major, .minor = cases[i].minor};
        struct err err = {0};
        autofree char *ptx =
            xasprintf(".version 8.0\n.target %s, debug\n", cases[i].target);
        cr_expect_eq(cuda_target_check(&d, ptx, &err) == 0, cases[i].runs, "case %zu", i);
        cr_expect(cases[i].runs || strstr(err.msg, cases[i].target), "%s", err.msg);
    }
}

/* --- asserts --- */

static json_t *asserts_of(const char *text, size_t expected) {
    json_t *findings = json_array();
    cr_expect_eq(cuda_assert_read(text, strlen(text), findings), expected, "%s", text);
    return findings;
}

Test(cuda_asserts, are_read_from_the_drivers_words) {
    autojson *f =
        asserts_of("r0/k.cu:12: void k(float *): block: [1,2,3], thread: [31,0,0] "
                   "Assertion `x > 0` failed.\n",
                   1);
    const json_t *a = json_array_get(f, 0);
    cr_expect_str_eq(json_get_string(a, "code", ""), "assert");
    cr_expect_str_eq(json_get_string(a, "file", ""), "k.cu");
    cr_expect_eq(json_get_integer(a, "line", 0), 12);
    cr_expect_str_eq(json_get_string(a, "message", ""), "assertion `x > 0` failed");
    autojson *block = json_pack("[i,i,i]", 1, 2, 3);
    autojson *thread = json_pack("[i,i,i]", 31, 0, 0);
    cr_expect(json_equal(json_object_get(a, "block"), block));
    cr_expect(json_equal(json_object_get(a, "thread"), thread));
}

Test(cuda_asserts, of_one_place_are_one) {
    autojson *f = asserts_of(
        "/tmp/job-7/r0/sub/k.cu:3: void k(): block: [0,0,0], thread: [0,0,0] Assertion "
        "`a` failed.\n"
        "/tmp/job-7/r0/sub/k.cu:3: void k(): block: [0,0,0], thread: [1,0,0] Assertion "
        "`a` failed.\n"
        "some words of the driver's\n"
        "r0/sub/k.cu:4: void k(): block: [0,0,0], thread: [1,0,0] Assertion `a` "
        "failed.\n",
        2);
    cr_assert_eq(json_array_size(f), 1);
    const json_t *a = json_array_get(f, 0);
    cr_expect_eq(json_get_integer(a, "count", 0), 2);
    cr_expect_str_eq(json_get_string(a, "file", ""), "sub/k.cu");
}

Test(cuda_asserts, take_odd_functions_and_expressions) {
    autojson *f = asserts_of(
        "k.cu:7: void ns::t<T>::operator()(int) [with T=float: block: [x]]: block: "
        "[0,0,0], thread: [0,0,0] Assertion `s[0] == ':' && \"a: block: b\"` failed.\n",
        1);
    cr_expect_str_eq(json_get_string(json_array_get(f, 0), "message", ""),
                     "assertion `s[0] == ':' && \"a: block: b\"` failed");
    autojson *g =
        asserts_of("k.cu:7: void ns::t<T>::f(int) [with T=a::b]: block: [0,0,0], "
                   "thread: [0,0,0] Assertion `p[i] != \"a:1: b\"` failed.",
                   1);
    const json_t *a = json_array_get(g, 0);
    cr_expect_eq(json_get_integer(a, "line", 0), 7);
    cr_expect_str_eq(json_get_string(a, "message", ""),
                     "assertion `p[i] != \"a:1: b\"` failed");
}

/* __assertfail takes any text: as expression, function and file. */
Test(cuda_asserts, cannot_be_forged_by_the_kernels_words) {
#define FORGED                                                                           \
    "r0/other.cu:99: void f(): block: [7,7,7], thread: [7,7,7] Assertion `forged` "      \
    "failed."
    static const struct {
        const char *expression, *message;
    } all[] = {
        {"a\n" FORGED, "assertion `a…` failed"},
        {"a` failed.\n" FORGED "\n", "assertion `a` failed"},
        {"\n" FORGED "\n" FORGED, "assertion `…` failed"},
        {"x: block: [9,9,9], thread: [9,9,9] Assertion `y",
         "assertion `x: block: [9,9,9], thread: [9,9,9] Assertion `y` failed"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        autofree char *text = xasprintf("r0/k.cu:3: void k(): block: [0,0,0], thread: "
                                        "[5,0,0] Assertion `%s` failed.\n" FORGED "\n",
                                        all[i].expression);
        autojson *f = asserts_of(text, 1);
        cr_assert_eq(json_array_size(f), 1, "case %zu", i);
        const json_t *a = json_array_get(f, 0);
        autojson *thread = json_pack("[i,i,i]", 5, 0, 0);
        cr_expect_str_eq(json_get_string(a, "file", ""), "k.cu");
        cr_expect_eq(json_get_integer(a, "line", 0), 3);
        cr_expect(json_equal(json_object_get(a, "thread"), thread), "case %zu", i);
        cr_expect_str_eq(json_get_string(a, "message", ""), all[i].message);
    }
}

Test(cuda_asserts, are_not_seen_where_there_are_none) {
    static const char *const lines[] = {
        "",
        "\n\n",
        "k.cu:12: void k(): block: [0,0,0], thread: [0,0,0]",
        "k.cu:12: void k(): block: [0,0], thread: [0,0,0] Assertion `x` failed.",
        "k.cu:x: void k(): block: [0,0,0], thread: [0,0,0] Assertion `x` failed.",
        ": block: [0,0,0], thread: [0,0,0] Assertion `x` failed.",
        "k.cu:1: k(): block: [99999999999,0,0], thread: [0,0,0] Assertion `x` failed.",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        autojson *f = asserts_of(lines[i], 0);
        cr_expect_eq(json_array_size(f), 0);
    }
}

/* --- output --- */

Test(cuda_output, is_caught_however_much_there_is) {
    enum { PIECE = 4096, PIECES = 2000 };
    static char text[PIECE];
    autobuf printed = BUF_INIT(1 << 20);
    autobuf said = BUF_INIT(1 << 20);
    uint64_t lost = 0;
    memset(text, 'x', sizeof text);
    cr_assert_eq(cuda_output_start(NULL), 0);
    for (int i = 0; i < PIECES; i++) {
        cr_assert_eq(fwrite(text, 1, sizeof text, stdout), sizeof text);
    }
    cr_assert_eq(write(2, "words\n", 6), 6);
    cuda_output_take(&printed, &lost, &said);
    size_t kept = printed.len;
    cr_expect_eq(kept, CUDA_OUTPUT_KEPT);
    cr_expect_eq(lost, (uint64_t)PIECE * PIECES - kept);
    cr_expect_str_eq(said.data, "words\n");
    buf_reset(&printed);
    printf("later\n");
    cuda_output_take(&printed, &lost, &said);
    cr_expect_str_eq(printed.data, "later\n");
    cr_expect_eq(lost, 0);
}

/* --- the environment --- */

static const char *value_of(char **environment, const char *name) {
    size_t len = strlen(name);
    for (; *environment; environment++) {
        if (!strncmp(*environment, name, len) && (*environment)[len] == '=') {
            return *environment + len + 1;
        }
    }
    return NULL;
}

Test(cuda_room, passes_only_what_a_driver_needs) {
    char folder[] = "/tmp/cuda-room-XXXXXX";
    cr_assert(mkdtemp(folder) != NULL);
    autofree char *library = xasprintf("%s/libcuda.so.1", folder);
    autofree char *path = xasprintf("/nowhere:%s:relative", folder);
    FILE *f = fopen(library, "w");
    cr_assert(f != NULL);
    fclose(f);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    setenv("CUDA_MPS_PIPE_DIRECTORY", "/somewhere", 1);
    setenv("CUDA_MODULE_LOADING", "LAZY", 1);
    setenv("OPENAI_API_KEY", "secret", 1);
    setenv("LD_LIBRARY_PATH", path, 1);
    char **environment = cuda_room_environment(CUDA_CONFINEMENT_FULL);
    cr_expect_str_eq(value_of(environment, "CUDA_VISIBLE_DEVICES"), "1");
    cr_expect_str_eq(value_of(environment, "CUDA_MPS_PIPE_DIRECTORY"), "/somewhere");
    cr_expect_str_eq(value_of(environment, "CUDA_MODULE_LOADING"), "EAGER");
    cr_expect_str_eq(value_of(environment, "CUDA_CACHE_DISABLE"), "1");
    cr_expect_str_eq(value_of(environment, "LD_LIBRARY_PATH"), folder);
    cr_expect_null(value_of(environment, "OPENAI_API_KEY"));
    cr_expect_null(value_of(environment, "HOME"));
    cr_expect(cuda_room_has_driver());
    strings_free(environment);
    unlink(library);
    rmdir(folder);
}

/* --- cubins in JSON --- */

Test(cubin_text, comes_back_as_it_went) {
    unsigned char bytes[1000];
    for (size_t len = 1; len < sizeof bytes; len += 333) {
        for (size_t i = 0; i < len; i++) {
            bytes[i] = (unsigned char)(i * 37);
        }
        size_t back_len = 0;
        autojson *text = cubin_to_text(bytes, len);
        autofree unsigned char *back = cubin_from_text(text, &back_len);
        cr_assert_eq(back_len, len);
        cr_assert_eq(memcmp(back, bytes, len), 0);
    }
    size_t len = 0;
    autojson *bad = json_string("no base64!");
    cr_expect_null(cubin_from_text(bad, &len));
    cr_expect_null(cubin_from_text(NULL, &len));
    autofree unsigned char *huge = xcalloc(CUBIN_TEXT_MAX + 1, 1);
    cr_expect_null(cubin_to_text(huge, CUBIN_TEXT_MAX + 1));
}
