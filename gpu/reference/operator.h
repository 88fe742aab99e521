#pragma once
/* operator: built-in references of kernel/validate with PyTorch's names and semantics.
 *
 * An operator is a row of operators.txt: input roles, outputs, attributes, a
 * function that infers the outputs' shapes and the cost, and one that computes.
 * Everything is computed in double precision on all cores, long sums with compensation
 * (sums of products only for float64 outputs), so a reference is far closer to
 * the exact value than any kernel under test. Attributes have the meaning of the
 * documentation of torch.nn.functional and torch; docs/guide/operators.md
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
    bool nullable; /* null has a meaning of its own */
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
    union {                                   /* the part that differs in a family */
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
    const char *name; /* borrowed, for messages; NULL: a missing input */
    double *v;        /* row-major; owned by the call, unless lent */
    bool lent;
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank;
    int64_t count;
    enum tensor_type type; /* of an input's data before conversion */
    const void *data;      /* borrowed, until operator_call_compute has read it */
};

/* Blocks that earlier calls released, for later calls with the same shapes: touching new
 * memory for the first time costs more than the computation. */
struct operator_memory {
    struct {
        void *v;
        size_t bytes;
    } blocks[16];
};
void operator_memory_finish(struct operator_memory *m);

struct operator_budget {
    uint64_t steps;                 /* inner steps, counted down; some nanoseconds each */
    bool (*stopped)(void);          /* polled by several threads */
    struct operator_memory *memory; /* until operator_call_finish; NULL: keep none */
};

struct operator_call {
    const struct operator* op;
    const char *at; /* prefix of errors: the path; borrowed */
    struct operator_value attributes[OPERATOR_MAX_ATTRIBUTES];
    struct operator_array in[OPERATOR_MAX_INPUTS], out[OPERATOR_MAX_OUTPUTS];
    /* Set by infer, as bits: rows [a, b) of all outputs, along the first dimension, need
     * only rows [a, b) of these inputs, and all of the others; 0: everything is needed,
     * or it is unknown. */
    unsigned by_rows;
    /* Set by infer: it reads elements in order (call_elements), so that no input is
     * stored in double precision. */
    bool streams;
    /* Set by infer: it writes every element of its outputs, so they need no zeroing. */
    bool fills;
    double flops;      /* additions, multiplications and function values, each one */
    double steps;      /* of compute, approximately */
    bool plain;        /* for outputs of float32 and less: sums of products without
                          compensation; set between start and infer */
    unsigned unwanted; /* unused outputs, as bits: expensive ones are then not computed
                          and have no name; set between start and infer */
    struct operator_budget *budget;
    struct err *err;
};

/* NULL if there is no operator of that name. */
const struct operator* operator_find(const char *name);
/* The i-th operator in the order of the guide; NULL after the last. */
const struct operator* operator_at(size_t i);
/* The index of a role, an input's or an output's, or -1. */
int operator_input(const struct operator* op, const char *name);
int operator_output(const struct operator* op, const char *name);

/* json: the attributes; "op", "inputs", "outputs" and "then" are skipped. -EINVAL: an
 * unknown, missing or out-of-range attribute, or one of the wrong type; the call then
 * owns nothing. */
int operator_call_start(struct operator_call *c, const struct operator* op,
                        const char *at, const json_t *json, struct err *err);
/* data may be NULL if only shapes are needed. rank <= OPERATOR_MAX_RANK. */
void operator_call_input(struct operator_call *c, size_t role, const char *name,
                         enum tensor_type type, const void *data, const int64_t *shape,
                         size_t rank);
/* out[].shape, flops, steps. -EINVAL: shapes that do not fit. */
int operator_call_infer(struct operator_call *c, struct err *err);
/* After infer. -ETIME: it needs more steps than budget->steps (then nothing is computed),
 * or budget->stopped() became true; -EINVAL: an invalid value, such as an index
 * outside its dimension. */
int operator_call_compute(struct operator_call *c, struct operator_budget *budget,
                          struct err *err);
/* Before compute: lends the memory for an output's elements. */
void operator_call_output(struct operator_call *c, size_t output, double *v);
void operator_call_finish(struct operator_call *c);
