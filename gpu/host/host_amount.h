#pragma once
/* host_amount: an integer of the host code, as an expression over sizes. A size is a
 * variable that the host sets to a number, or that comes from outside the text (the
 * command line, a caller); it keeps its name, so that a check spec can try other values.
 * Everything else becomes a number. */
#include "gpu/host/amount.h"
#include "gpu/host/host_variables.h"

enum { HOST_SIZES_MAX = 16, HOST_SIZE_NAME = 64 };

struct host_size {
    char name[HOST_SIZE_NAME];
    size_t variable; /* its token */
    uint64_t word;
    int64_t value;
    bool stands_in; /* the text does not give a value: this is an example */
    bool fixed;     /* only this value is valid: it is used as a number from now on */
};

struct host_sizes {
    struct host_size list[HOST_SIZES_MAX];
    size_t count;
    bool fixes; /* values read from now on stay numbers */
};

/* False: not known. */
bool host_amount(struct host_program *p, struct host_sizes *sizes,
                 const struct place *place, struct amount *ret);
/* "dim3(a, b)", one number, or a variable that is one: three extents. */
bool host_extents(struct host_program *p, struct host_sizes *sizes,
                  const struct place *place, struct amount ret[3]);
/* A floating-point number, or the place of one, as in JSON. False: not known. */
bool host_decimal(struct host_program *p, const struct place *place, double *ret);
