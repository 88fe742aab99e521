#pragma once
/* spec_internal: what the parts of kernel_spec's reading share. */
#include "gpu/spec/kernel_spec.h"

struct spec_reader {
    struct kernel_spec *spec;
    struct err *err;
    size_t numbers; /* written out so far */
};

/* What the schema says of a member (kernel_spec_schema.h, by operations.py). */
struct spec_member {
    const char *name; /* NULL ends a list */
    enum {
        SPEC_ANY, /* it has a reader of its own */
        SPEC_TEXT,
        SPEC_FLAG,
        SPEC_INTEGER,
        SPEC_WORD,
        SPEC_WORDS,  /* a list of them */
        SPEC_NUMBER, /* one of these integers */
    } kind;
    const char *expected;     /* of an integer or of words: "1 to 16", "h100 or ideal" */
    const char *const *words; /* NULL ends them */
    int64_t low, high;
};

/* ---- spec_launch.c ---- */

/* One launch: {"kernel"?, "launch", "args"} with `at` as the path in front of errors. */
int spec_read_launch(struct spec_reader *r, struct spec_launch *ret, const json_t *json,
                     const char *at);
void spec_launch_finish(struct spec_launch *launch);
/* A list of them; what was read belongs to the spec, on failure too. */
int spec_read_launch_list(struct spec_reader *r, const json_t *list, const char *at,
                          struct spec_launch **ret, size_t *ret_count);
/* "launch" is there: one block of one thread is hardly what is meant. */
int spec_need_launch(struct spec_reader *r, const json_t *json, const char *at);
/* -EINVAL when members of a single launch stand beside "launches". */
int spec_refuse_launch(struct spec_reader *r, const json_t *json, const char *at);
/* ---- spec_args.c ---- */

/* A launch's "args"; NULL is fine. */
int spec_read_args(struct spec_reader *r, struct spec_launch *ret, const json_t *args,
                   const char *at);
/* The index of a buffer that may be written anew ({"name", "type", "shape", …}) or name
 * one that exists; negative errno. */
int spec_read_buffer(struct spec_reader *r, const json_t *json, const char *at,
                     bool is_global);
/* ---- spec_member.c ---- */

/* Members that nobody reads are mistakes of spelling: -EINVAL names the first that is not
 * among `known`, or is not what that says. */
int spec_check_members(struct spec_reader *r, const json_t *json,
                       const struct spec_member *known, const char *at);
/* The place of a member's word in the schema's list; 0 when it is not there. The member
 * was checked. */
int spec_word(const struct spec_member *known, const json_t *json, const char *name);
/* Of a list of words: a bit for each that is in it. */
unsigned spec_words(const struct spec_member *known, const json_t *json,
                    const char *name);
/* A .npy file's path, `expected` or a buffer's first contents. */
int spec_read_array(struct spec_reader *r, const json_t *path, size_t buffer,
                    bool expected, const char *at);
int spec_check_type(struct spec_reader *r, const json_t *json, const char *at,
                    enum tensor_type *ret);
/* A number or an expression that a value of this type can be. */
int spec_check_value(struct spec_reader *r, enum tensor_type type, const json_t *value,
                     const char *at);
/* An integer that it can be. */
int spec_check_range(struct spec_reader *r, enum tensor_type type, const json_t *value,
                     const char *at);
/* {"type", "value"} */
int spec_check_scalar(struct spec_reader *r, const json_t *json, const char *at,
                      enum tensor_type *ret);
/* A member that must be an integer or an expression. */
int spec_check_size(struct spec_reader *r, const json_t *value, const char *at);
/* ---- the other parts ---- */

/* A buffer's "init"; NULL is fine. */
int spec_check_init(struct spec_reader *r, enum tensor_type type, const json_t *init,
                    const char *at);
/* A list of numbers that a type can hold, counted among those that are written out. */
int spec_check_values(struct spec_reader *r, enum tensor_type type, const json_t *value,
                      const char *at);
/* "save"; NULL: it is not there. */
int spec_read_save(struct spec_reader *r, const json_t *save);
/* "expect"; NULL is fine. Launches and buffers were read before. */
int spec_read_expect(struct spec_reader *r, const json_t *expect);
/* trials, strict, seed, timeout_s, instructions, arch, backend, checks, benchmark,
 * roofline and device of the spec. */
int spec_read_course(struct spec_reader *r, const json_t *params);
