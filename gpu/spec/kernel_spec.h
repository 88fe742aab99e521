#pragma once
/* kernel_spec: a check spec of kernel/validate, read from JSON.
 *
 * The format is the public interface (docs/guide/validate.md). Reading checks everything
 * that can be checked without a kernel; a case (spec_case.h) then inserts the sizes. An
 * error names its field: "args[2].shape[0]: unknown size 'rowz'". The struct borrows
 * strings and values from its own copy of the JSON. */
#include "base/json.h"
#include "gpu/kernel_spec_schema.h"
#include "gpu/spec/integer_expression.h"
#include "gpu/spec/tolerance.h"
#include "gpu/tensor/tensor_init.h"

enum {
    SPEC_MAX_CASES = 64,
    SPEC_MAX_LAUNCHES = 32,
    SPEC_MAX_ARGS = 128,
    SPEC_MAX_BUFFERS = 128,
    SPEC_MAX_ARRAYS = 128, /* .npy files */
    SPEC_MAX_SIZES = 32,
    SPEC_MAX_TRIALS = 16,
};
#define SPEC_MAX_VALUES (1u << 22)  /* literal numbers in all */
#define SPEC_MAX_BYTES (1ull << 38) /* of one case's buffers; memory allows less */

/* The single values with defaults of an object in kernel_spec.json, by the same names, as
 * members of a struct. Strings are never NULL. */
#define SPEC_VALUE_FLAG(name, value) bool name;
#define SPEC_VALUE_COUNT(name, value) unsigned name;
#define SPEC_VALUE_FRACTION(name, value) double name;
#define SPEC_VALUE_TEXT(name, value) const char *name;
#define SPEC_VALUES(values)                                                              \
    values(SPEC_VALUE_FLAG, SPEC_VALUE_COUNT, SPEC_VALUE_FRACTION, SPEC_VALUE_TEXT)

struct spec_buffer {
    const char *name;
    enum tensor_type type;
    const json_t *shape; /* array of integers and expressions; rank <= TENSOR_MAX_RANK */
    const json_t *init;  /* object; NULL: an output is then poisoned */
    bool output;         /* the kernel may write it */
    bool is_global;      /* a __device__ or __constant__ variable of the module */
    bool judged; /* an output that needs an expectation: no scratch, no "judge": false */
    const char *judge; /* compare only elements where this expression is nonzero; NULL:
                          all */
    struct tolerance tolerance;
    /* scratch: an output that is not compared and need not be written */
    SPEC_VALUES(KERNEL_SPEC_BUFFER_VALUES)
};

/* A .npy file: a buffer's initial contents ("init": {"file": …}), or an output's expected
 * contents ("expect": {"files": {…}}). */
struct spec_array {
    const char *path;
    size_t buffer;
    bool expected;
    /* After spec_arrays_take (spec_npy.h): */
    enum tensor_type type; /* the buffer's, or a wider float's */
    const void *data;      /* row-major: in the file, or `owned` */
    void *owned;
    size_t bytes;
};

enum spec_arg_kind {
    ARG_BUFFER,
    ARG_SCALAR,
    ARG_STRUCT,
    ARG_POINTERS,
    ARG_TENSOR_MAP,
    ARG_TEXTURE,
    ARG_SURFACE,
    ARG_CONTENTS, /* by value: a buffer's contents at the start of the launch */
};
struct spec_arg {
    enum spec_arg_kind kind;
    const char *name; /* may be "" */
    size_t buffer;    /* of ARG_BUFFER, ARG_CONTENTS */
    enum tensor_type type;
    bool open;           /* a number without a type: argument_types_settle */
    const json_t *value; /* number or expression */
    const json_t *list;  /* of ARG_POINTERS: names */
    const json_t *json;  /* of ARG_STRUCT: spec_struct.h; of ARG_TENSOR_MAP: the map,
                            spec_tensor_map.h; of a texture or surface: its object,
                            spec_texture.h */
};

struct spec_launch {
    char at[40];        /* "", "launches[1]."; for errors */
    const char *kernel; /* NULL: the only one */
    const json_t *grid, *block, *cluster, *shared_bytes; /* NULL = 1, 1, none, 0 */
    bool cooperative;
    struct spec_arg *args;
    size_t arg_count;
};

enum spec_expect_kind {
    EXPECT_NONE,
    EXPECT_KERNEL,
    EXPECT_EXPRESSION,
    EXPECT_VALUES,
    EXPECT_FILES,
    EXPECT_OPERATOR,
};

/* {"benchmark": {"samples": 50, "cache": "cold"}}; true means the defaults. */
struct spec_benchmark {
    bool wanted; /* else nothing is timed, and the others are not set */
    SPEC_VALUES(KERNEL_SPEC_BENCHMARK_VALUES)
};

/* {"roofline": {"flops": "2 * m * n * k", "bytes": …, "type": "float16"}}: the minimal
 * work of the launches of one case, as integers or expressions over its sizes
 * (case_size_value); NULL if the spec does not say. */
struct spec_roofline {
    const json_t *flops, *bytes;
    enum tensor_type type; /* of the arithmetic; TENSOR_TYPES if unspecified */
};

/* {"save": {"dir": "out", "what": ["outputs", "expected", "inputs"], "cases": "first"}},
 * or {"save": "out"}: arrays of the run as .npy files (run_save.h). */
enum spec_save_what { /* bits */
                      SAVE_OUTPUTS = 1,
                      SAVE_EXPECTED = 2,
                      SAVE_INPUTS = 4,
};
enum spec_save_cases {
    SAVE_FIRST,  /* of each case the first trial, and the first that failed */
    SAVE_FAILED, /* trials that failed */
    SAVE_ALL,
};
struct spec_save {
    const char *dir; /* NULL: nothing is saved */
    unsigned what;
    enum spec_save_cases cases;
};

enum spec_check { /* bits */
                  SPEC_CHECK_MEMORY = 1,
                  SPEC_CHECK_INITIALIZED = 2,
                  SPEC_CHECK_RACE = 4,
                  SPEC_CHECK_BARRIER = 8,
};

struct kernel_spec {
    SPEC_VALUES(KERNEL_SPEC_VALUES)
    json_t *json;                        /* owned */
    const json_t *cases[SPEC_MAX_CASES]; /* objects name -> integer */
    size_t case_count;                   /* at least 1: without sizes one empty case */
    json_t *added;                       /* sizes of added odd cases, owned; or NULL */
    size_t added_base;                   /* the case from which they are made */
    struct spec_launch *launches;
    size_t launch_count;
    struct spec_buffer *buffers;
    size_t buffer_count;
    struct spec_array *arrays;
    size_t array_count;
    enum spec_expect_kind expect;
    const json_t *expected;        /* EXPRESSION, VALUES, FILES: object by output */
    const json_t *expect_operator; /* OPERATOR: {"op": "softmax", …} */
    struct spec_launch *reference; /* KERNEL: its launches */
    size_t reference_count;
    const char *reference_source; /* NULL: the kernel's own source */
    bool has_seed;
    uint64_t seed;
    unsigned checks;
    bool default_checks; /* the spec names none */
    const char *device;  /* UUID or ordinal of a CUDA device, NULL = any */
    struct spec_benchmark benchmark;
    struct spec_roofline roofline;
    struct spec_save save;
    const char *arch;      /* "sm_90a" */
    uint64_t instructions; /* lane-instructions; 0 = the backend's default */
};

/* params: kernel/validate's (other members are ignored). -EINVAL. */
int kernel_spec_read(struct kernel_spec *ret, const json_t *params, struct err *err);
void kernel_spec_finish(struct kernel_spec *spec);
/* The buffer's index; SIZE_MAX if there is none. */
size_t kernel_spec_buffer(const struct kernel_spec *spec, const char *name);
/* The file of a buffer's initial or expected contents; NULL if there is none. */
const struct spec_array *kernel_spec_array(const struct kernel_spec *spec, size_t buffer,
                                           bool expected);
/* Whether value is "NaN", "Infinity" or "-Infinity". */
bool spec_is_special(const json_t *value);
/* The value of a number, a boolean or one of those strings. */
double spec_number(const json_t *value);
/* Reads a seed: a number, decimal digits or "0x1f…"; -EINVAL. */
int spec_seed_read(const json_t *value, uint64_t *ret);
