/* Which launches a compiled kernel allows. */
#include "base/err.h"
#include "base/json.h"
#include "gpu/spec/launch_limits.h"
#include "gpu/spec/spec_case.h"

#include <criterion/criterion.h>
#include <string.h>

Test(launch_limits, what_the_compiled_kernel_adds) {
    static const struct {
        uint32_t block, grid, shared;
        bool cooperative;
        int registers, own_shared, max_threads;
        const char *code; /* NULL: it can be launched */
    } cases[] = {
        {256, 1000, 0, false, 32, 0, 1024, NULL},
        {256, 1, 0, false, 32, 0, 128, "CUDA_ERROR_INVALID_VALUE"},
        {128, 1, 0, false, 32, 0, 128, NULL},
        {1024, 1, 0, false, 65, 0, 1024, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {1024, 1, 0, false, 64, 0, 1024, NULL}, /* 65536 registers */
        {32, 1, 232448, false, 32, 0, 1024, NULL},
        {32, 1, 232448, false, 32, 16, 1024, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {1024, 264, 0, true, 32, 0, 1024, NULL}, /* 2 on each of 132 */
        {1024, 265, 0, true, 32, 0, 1024, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
        {1024, 265, 0, false, 32, 0, 1024, NULL},
        {1024, 133, 0, true, 33, 0, 1024, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
        {32, 4224, 0, true, 16, 0, 1024, NULL}, /* 32 blocks each */
        {32, 4225, 0, true, 16, 0, 1024, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct case_launch launch = {.grid = {cases[i].grid, 1, 1},
                                     .block = {cases[i].block, 1, 1},
                                     .shared_bytes = cases[i].shared};
        autojson *kernel = json_pack("{s:i, s:i, s:i}", "registers", cases[i].registers,
                                     "static_shared_bytes", cases[i].own_shared,
                                     "max_threads", cases[i].max_threads);
        const char *code = NULL;
        struct err err = {0};
        int n = launch_limits_check_kernel(&launch, cases[i].cooperative, kernel,
                                           "sm_90a", 0, &code, &err);
        cr_assert_eq(n == 0, !cases[i].code, "case %zu: %s", i, err.msg);
        cr_assert(!cases[i].code || !strcmp(code, cases[i].code), "case %zu: %s", i,
                  code);
    }
}
