#pragma once
/* compile_options: the allowed compiler options. User strings are never passed on as
 * compiler arguments: every option is parsed, checked and rebuilt here. nvcc's spellings
 * in editors and build files are understood; options that have no effect here (-O3,
 * --extended-lambda …) are accepted and dropped. */
#include "base/json.h"

struct compile_options {
    char arch[16];  /* "sm_90a" */
    char std[8];    /* "c++17" */
    bool std_given; /* it was requested */
    bool fast_math, line_info, quick, relocatable;
    bool want_ptx;       /* the answer should contain the PTX */
    bool want_cubin;     /* and the cubin */
    bool default_device; /* functions without an execution space are device code */
    /* kernels may call the host's constexpr functions, including those of std */
    bool relaxed_constexpr;
    unsigned shims;    /* from std_names_wanted: included first */
    int max_registers; /* 0 = unset */
    json_t *defines;   /* {"NAME": "value"}: checked */
};

/* From kernel/check's params: arch, std, defines, fast_math, line_info, quick, options[].
 * project: the same from a project's flags, with lower precedence than the params; NULL:
 * none. default_arch: where neither names one; NULL: sm_90a. -EINVAL with a sentence that
 * names the bad one. */
int compile_options_read(struct compile_options *ret, const char *default_arch,
                         const json_t *project, const json_t *params, struct err *err);
bool compile_std_is_known(const char *std);
/* Whether a macro may be defined like this. Function-like ones may not. */
bool compile_define_is_sound(const char *name, size_t name_len, const char *value,
                             size_t value_len);
/* The number of words that the option at `at` takes among nvcc's words, and whether it
 * affects the code for one target; 0: not a known option. */
size_t compile_option_words(const json_t *words, size_t at, bool *ret_matters);
void compile_options_finish(struct compile_options *o);
json_t *compile_options_to_json(const struct compile_options *o);
int compile_options_from_json(struct compile_options *ret, const json_t *json,
                              struct err *err);
/* NVRTC arguments, NULL-terminated, freed with strings_free. include_dirs come
 * after. */
char **compile_options_argv(const struct compile_options *o);
