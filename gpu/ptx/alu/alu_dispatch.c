/* The choice between the compilations of alu_*.c. */
#include "gpu/ptx/alu/alu.h"
#include "gpu/ptx/alu/matrix_product.h"

typedef step_run *bind_run(const struct ptx_instruction *i, struct step *step);

struct alu_extension {
    const char *name;
    bool (*usable)(void);
    const struct matrix_arithmetic *matrix;
    bind_run *families[10]; /* NULL-terminated */
};
#define BIND(family, id) bind_##family##_##id,
#define EXTENSION(id)                                                                    \
    { #id, usable_##id, &matrix_arithmetic_##id, {ALU_FAMILIES(BIND, id)} }

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
static const struct alu_extension extensions[] = {
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
static const struct alu_extension extensions[] = {EXTENSION(neon)};
#endif
#define EXTENSIONS (sizeof(extensions) / sizeof(extensions[0]))

/* Written by bind_force_extension only, which is for tests and start-up: a module is
 * bound by one thread. */
static const struct alu_extension *forced;

static const struct alu_extension *chosen(void) {
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

const struct matrix_arithmetic *bind_matrix(void) {
    return chosen()->matrix;
}

step_run *bind_alu(const struct ptx_instruction *i, struct step *step) {
    for (bind_run *const *family = chosen()->families; *family; family++) {
        step_run *run = (*family)(i, step);
        if (run) {
            return run;
        }
    }
    return NULL;
}
