/* Every operator with attributes, shapes and values that nobody in their right mind
 * gives: an answer or an error that names the field, never more than that. Most useful
 * under sanitizers. The numbers are the same in every run. */
#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "gpu/reference/operator.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#ifndef TRIES
#define TRIES 400 /* of each operator */
#endif
#define ELEMENTS 4096

static uint64_t state = 1;
/* Knuth's MMIX generator; the upper bits of it. */
static unsigned draw(unsigned below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static bool never(void) {
    return false;
}

static int64_t odd_integer(void) {
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT32_MAX, INT32_MIN, 65536,
                                  -65536,    1000003,   1 << 28,   -100,      255};
    return draw(6) ? (int64_t)draw(7) - 2 : odd[draw(ARRAY_LEN(odd))];
}

static json_t *odd_list(void) {
    json_t *list = json_array();
    for (unsigned n = draw(10); n; n--) {
        json_array_append_new(list, json_integer(odd_integer()));
    }
    return list;
}

static json_t *odd_value(const struct operator_attribute *a) {
    if (!draw(20)) {
        return draw(2) ? json_null() : json_string("Infinity");
    }
    switch (a->kind) {
    case ATTRIBUTE_INTEGER:
        return json_integer(odd_integer());
    case ATTRIBUTE_NUMBER:
        return draw(2) ? json_real((draw(9) - 4.0) / 2) : json_real(draw(2) ? 1e300 : 0);
    case ATTRIBUTE_BOOL:
        return json_boolean(draw(2));
    case ATTRIBUTE_INTEGERS:
        return draw(3) ? odd_list() : json_integer(odd_integer());
    default: {
        autofree char *choices = xstrdup(a->choices);
        char *rest = choices, *word = strsep(&rest, "|");
        while (rest && draw(3)) {
            word = strsep(&rest, "|");
        }
        return json_string(word);
    }
    }
}

static json_t *odd_attributes(const struct operator* op) {
    json_t *json = json_object();
    for (size_t i = 0; i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        if (!op->attributes[i].fallback || !draw(3)) {
            json_object_set_new(json, op->attributes[i].name,
                                odd_value(&op->attributes[i]));
        }
    }
    return json;
}

static double odd_number(void) {
    static const double odd[] = {NAN,   INFINITY, -INFINITY, -0.0,
                                 1e300, -1e-300,  0.5,       1e18};
    return draw(8) ? (double)draw(4) : odd[draw(ARRAY_LEN(odd))];
}

/* Often the shape of the input before, so that calls get far. */
static void odd_inputs(struct operator_call *c, const double *numbers) {
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank = draw(6);
    for (size_t k = 0; k < OPERATOR_MAX_RANK; k++) {
        shape[k] = draw(8) ? 1 + draw(4) : 0;
    }
    for (size_t i = 0; i < OPERATOR_MAX_INPUTS; i++) {
        bool repeated = c->op->inputs[0].repeat && draw(2);
        if ((!c->op->inputs[i].name && !repeated) || !draw(12) ||
            (c->op->inputs[i].optional && draw(3))) {
            continue;
        }
        if (!draw(5)) {
            rank = draw(6);
        }
        if (!draw(5)) {
            shape[draw(OPERATOR_MAX_RANK)] = draw(5);
        }
        operator_call_input(
            c, i, "x", draw(5) ? TENSOR_FLOAT64 : (enum tensor_type)draw(TENSOR_TYPES),
            numbers, shape, rank);
    }
}

static unsigned answered;

static void try_one(const struct operator* op, const double *numbers) {
    autojson *attributes = odd_attributes(op);
    struct operator_call c;
    struct operator_budget budget = {100000, never};
    struct err err = {0};
    int r = operator_call_start(&c, op, "expect.op", attributes, &err);
    if (r == 0) {
        odd_inputs(&c, numbers);
        r = operator_call_infer(&c, &err);
        r = r < 0 ? r : operator_call_compute(&c, &budget, &err);
    }
    cr_assert(r == 0 || r == -EINVAL || r == -ETIME, "%s: %d", op->name, r);
    cr_assert(r == 0 || !strncmp(err.msg, "expect.op", 9), "%s: %s", op->name, err.msg);
    for (size_t i = 0; r == 0 && i < OPERATOR_MAX_OUTPUTS && op->outputs[i].name; i++) {
        int64_t count = 1;
        for (size_t k = 0; k < c.out[i].rank; k++) {
            count *= c.out[i].shape[k];
        }
        cr_assert(c.out[i].v && c.out[i].count == count, "%s", op->name);
    }
    answered += r == 0;
    operator_call_finish(&c);
}

Test(reference_hostile, every_operator) {
    autofree double *numbers = xcalloc(ELEMENTS, sizeof *numbers);
    const struct operator* op;
    for (size_t i = 0; (op = operator_at(i)); i++) {
        unsigned before = answered;
        for (unsigned k = 0; k < TRIES; k++) {
            for (size_t n = 0; n < ELEMENTS / 8; n++) {
                numbers[n] = odd_number();
            }
            try_one(op, numbers);
        }
        if (getenv("REFERENCE_HOSTILE")) {
            fprintf(stderr, "%s %u\n", op->name, answered - before);
        }
    }
    cr_expect(answered > 5000, "only %u calls were answered", answered);
}
