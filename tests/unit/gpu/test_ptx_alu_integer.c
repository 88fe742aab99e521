/* Vectors of tests/kernels/make_alu_vectors.py. */
#include "alu_vectors.h"

#include <criterion/criterion.h>

Test(ptx_alu_integer, vectors) {
    cr_assert(alu_vectors_check("alu_integer.bin") > 1000);
}
