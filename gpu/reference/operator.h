#pragma once
/* operator: built-in references of kernel/validate, by PyTorch's names and semantics.
 *
 * An operator is a row of operators.txt: input roles, outputs, declared attributes, a
 * function that infers the outputs' shapes and the cost, and one that computes.
 * Everything is computed in double precision on all cores, long sums with compensation
 * (sums of products only for outputs of float64), so that a reference is far closer to
 * the exact value than any kernel that it judges. Meanings of
 * attributes: the documentation of torch.nn.functional and torch; docs/guide/operators.md
 * lists all.
 *
 *   struct operator_call c;
 *   int r = operator_call_start(&c, operator_find("softmax"), "expect.op", json, &err);
 *   operator_call_input(&c, 0, "x", TENSOR_FLOAT32, data, shape, rank);
 *   r = r < 0 ? r : operator_call_infer(&c, &err);    shapes of c.out, c.flops
 *   r = r < 0 ? r : operator_call_compute(&c, &budget, &err);    c.out[0].v
 *   operator_call_finish(&c);
 *
 * An error names the field: "expect.op.dim: 3 is outside the rank 2 of 'x'". */
#include "base/json.h"
#include "gpu/tensor/tensor_type.h"

#include <stdbool.h>

struct err;

enum {
    OPERATOR_MAX_RANK = 8,
    OPERATOR_MAX_INPUTS = 8,
    OPERATOR_MAX_OUTPUTS = 3,
    OPERATOR_MAX_ATTRIBUTES = 12,
};
#define OPERATOR_MAX_ELEMENTS (1ll << 31) /* of one tensor, in double precision */

enum operator_kind {
    ATTRIBUTE_INTEGER,
    ATTRIBUTE_NUMBER,
    ATTRIBUTE_BOOL,
    ATTRIBUTE_CHOICE,   /* one of `choices`, "none|tanh" */
    ATTRIBUTE_INTEGERS, /* an integer or a list of up to OPERATOR_MAX_RANK */
};

struct operator_attribute {
    const char *name;
    enum operator_kind kind;
    const char *fallback; /* JSON; "null": may be absent; NULL: must be given */
    double low, high;     /* both 0: any */
    const char *choices;
    bool nullable; /* null has a meaning beside the fallback */
};

struct operator_role {
    const char *name; /* NULL ends the list */
    bool optional;
    bool whole;  /* integers: indices, classes, counts */
    bool repeat; /* the only role: a list of 1 to OPERATOR_MAX_INPUTS tensors */
};

struct operator_call;
struct operator{
    const char *name, *family, *summary;
    struct operator_role inputs[OPERATOR_MAX_INPUTS];
    struct operator_role outputs[OPERATOR_MAX_OUTPUTS];
    struct operator_attribute attributes[OPERATOR_MAX_ATTRIBUTES];
    int (*infer)(struct operator_call * c);   /* shapes, flops, steps */
    int (*compute)(struct operator_call * c); /* fills out[].v, allocated before */
    union {                                   /* what rows of one family differ in */
        double (*unary)(double x);
        double (*parametric)(const struct operator_call *c, double x); /* by attributes */
        double (*broadcast)(const struct operator_call *c, double x, double y, double z);
        double (*fold)(const struct operator_call *c, const double *line, int64_t n);
        int number;
    } u;
};

struct operator_value {
    bool given; /* false: null */
    double number;
    int64_t ints[OPERATOR_MAX_RANK];
    size_t count; /* of ints */
    int choice;   /* index into choices; 0 or 1 for a bool */
};

struct operator_array {
    const char *name; /* borrowed, for messages; NULL: an input that is not given */
    double *v;        /* row-major; owned by the call, unless lent */
    bool lent;
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank;
    int64_t count;
    enum tensor_type type; /* of an input's data before it was read */
    const void *data;      /* borrowed, until operator_call_compute has read it */
};

/* Blocks that calls gave back, for the next ones of the same shapes: memory that a
 * process touches for the first time costs more than what is computed in it. */
struct operator_memory {
    struct {
        void *v;
        size_t bytes;
    } blocks[16];
};
void operator_memory_finish(struct operator_memory *m);

struct operator_budget {
    uint64_t steps;                 /* inner steps, counted down; some nanoseconds each */
    bool (*stopped)(void);          /* asked by several threads */
    struct operator_memory *memory; /* until operator_call_finish; NULL: none is kept */
};

struct operator_call {
    const struct operator* op;
    const char *at; /* path in front of errors; borrowed */
    struct operator_value attributes[OPERATOR_MAX_ATTRIBUTES];
    struct operator_array in[OPERATOR_MAX_INPUTS], out[OPERATOR_MAX_OUTPUTS];
    /* Set by infer, bits: rows [a, b) of all outputs, along their first dimension, need
     * rows [a, b) of these inputs, and the others as they are; 0: all of all, or it is
     * not known. */
    unsigned by_rows;
    /* Set by infer: it reads each element when its turn comes (call_elements), so that no
     * input is kept in double precision. */
    bool streams;
    /* Set by infer: it writes every element of its outputs, which are 0 before otherwise.
     */
    bool fills;
    double flops;      /* additions, multiplications and function values, each one */
    double steps;      /* of compute, about */
    bool plain;        /* for outputs of float32 and less: sums of products are rounded to
                          double term by term, not compensated; set between start and infer */
    unsigned unwanted; /* outputs that nobody takes, as bits: those that cost much are not
                          made then, and have no name; as plain */
    struct operator_budget *budget;
    struct err *err;
};

/* NULL when there is none of that name. */
const struct operator* operator_find(const char *name);
/* The i-th of all in the order of the guide; NULL after the last. */
const struct operator* operator_at(size_t i);
/* The index of a role, an input's or an output's, or -1. */
int operator_input(const struct operator* op, const char *name);
int operator_output(const struct operator* op, const char *name);

/* json: the attributes; "op", "inputs", "outputs" and "then" among them are skipped.
 * -EINVAL: an unknown attribute, a wrong kind, out of range, one that is missing. The
 * call owns nothing then. */
int operator_call_start(struct operator_call *c, const struct operator* op,
                        const char *at, const json_t *json, struct err *err);
/* data may be NULL when only shapes are wanted. rank <= OPERATOR_MAX_RANK. */
void operator_call_input(struct operator_call *c, size_t role, const char *name,
                         enum tensor_type type, const void *data, const int64_t *shape,
                         size_t rank);
/* out[].shape, flops, steps. -EINVAL: shapes that do not fit. */
int operator_call_infer(struct operator_call *c, struct err *err);
/* After infer. -ETIME: it needs more steps than budget->steps (nothing is computed then),
 * or budget->stopped() became true; -EINVAL: a value that cannot be, like an index
 * outside its dimension. */
int operator_call_compute(struct operator_call *c, struct operator_budget *budget,
                          struct err *err);
/* Before it: where an output's elements go, which are lent. */
void operator_call_output(struct operator_call *c, size_t output, double *v);
void operator_call_finish(struct operator_call *c);
