/* The choice between the compilations of alu_*.c. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/matrix_product.h"

#include <errno.h>
#include <string.h>

typedef step_run *bind_run(const struct ptx_instruction *i, struct step *step);

struct extension {
    const char *name;
    bool (*usable)(void);
    bind_run *integer, *carry, *bits, *flt, *half, *special, *convert, *convert_small,
        *select;
    const struct matrix_arithmetic *matrix;
};
#define EXTENSION(id)                                                                    \
    {                                                                                    \
#id, usable_##id, bind_integer_##id, bind_carry_##id, bind_bits_##id,            \
            bind_float_##id, bind_half_##id, bind_special_function_##id,                 \
            bind_convert_##id, bind_convert_small_##id, bind_select_##id,                \
            &matrix_arithmetic_##id                                                      \
    }

/* The build says which compilations there are: LANES_HAVE_… */
#if defined __x86_64__
#ifdef LANES_HAVE_AVX512
static bool usable_avx512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2");
}
#endif
#ifdef LANES_HAVE_AVX2
static bool usable_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
#endif
static bool usable_baseline(void) {
    return true;
}
/* Best first. */
static const struct extension extensions[] = {
#ifdef LANES_HAVE_AVX512
    EXTENSION(avx512),
#endif
#ifdef LANES_HAVE_AVX2
    EXTENSION(avx2),
#endif
    EXTENSION(baseline)};
#else
static bool usable_neon(void) {
    return true;
}
static const struct extension extensions[] = {EXTENSION(neon)};
#endif
#define EXTENSIONS (sizeof(extensions) / sizeof(extensions[0]))

/* Written by bind_force_extension only, which is for tests and start-up: a module is
 * bound by one thread. */
static const struct extension *forced;

static const struct extension *chosen(void) {
    if (forced) {
        return forced;
    }
    for (size_t k = 0; k < EXTENSIONS; k++) {
        if (extensions[k].usable()) {
            return &extensions[k];
        }
    }
    return &extensions[EXTENSIONS - 1];
}

const char *bind_extension(void) {
    return chosen()->name;
}

int bind_force_extension(const char *name) {
    if (name == NULL) {
        forced = NULL;
        return 0;
    }
    for (size_t k = 0; k < EXTENSIONS; k++) {
        if (strcmp(extensions[k].name, name) == 0 && extensions[k].usable()) {
            forced = &extensions[k];
            return 0;
        }
    }
    return -ENOTSUP;
}

step_run *bind_integer(const struct ptx_instruction *i, struct step *step) {
    const struct extension *e = chosen();
    step_run *run = e->integer(i, step);
    run = run ? run : e->carry(i, step);
    return run ? run : e->bits(i, step);
}
step_run *bind_float(const struct ptx_instruction *i, struct step *step) {
    return chosen()->flt(i, step);
}
step_run *bind_half(const struct ptx_instruction *i, struct step *step) {
    return chosen()->half(i, step);
}
step_run *bind_special_function(const struct ptx_instruction *i, struct step *step) {
    return chosen()->special(i, step);
}
step_run *bind_convert(const struct ptx_instruction *i, struct step *step) {
    step_run *run = chosen()->convert(i, step);
    return run ? run : chosen()->convert_small(i, step);
}
step_run *bind_select(const struct ptx_instruction *i, struct step *step) {
    return chosen()->select(i, step);
}

const struct matrix_arithmetic *bind_matrix(void) {
    return chosen()->matrix;
}

step_run *bind_alu(const struct ptx_instruction *i, struct step *step) {
    bind_run *const families[] = {bind_integer,          bind_float,
                                  bind_select,           bind_convert,
                                  bind_special_function, bind_half};
    for (size_t k = 0; k < sizeof(families) / sizeof(families[0]); k++) {
        step_run *run = families[k](i, step);
        if (run) {
            return run;
        }
    }
    return NULL;
}
