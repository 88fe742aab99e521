/* When a reference is the kernel itself. */
#include "gpu/validate/self_reference.h"

#include "base/mem.h"

#include <criterion/criterion.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
#define BODY(line)                                                                       \
    ".visible .entry k(\n\t.param .u64 k_param_0\n)\n{\n\t.reg .b32 \t%r<2>;\n" line     \
    "\tmov.u32 %r1, 7;\n\tret;\n}\n"
#define OTHER ".visible .entry other()\n{\n\tret;\n}\n"

Test(self_reference, entries) {
    static const struct {
        const char *a, *b, *symbol;
        bool same;
    } cases[] = {
        {HEAD BODY(""), HEAD BODY(""), "k", true},
        /* another file's name, places, comments and blanks */
        {HEAD BODY("\t.loc 1 3 5\n"),
         "// reference.cu\n" HEAD BODY("\n  .loc 2 9 1\n // x\n"), "k", true},
        /* beside others, and in another order */
        {HEAD BODY("") OTHER, HEAD OTHER BODY(""), "k", true},
        /* another instruction, another name, no entry */
        {HEAD BODY(""), HEAD BODY("\tadd.s32 %r1, %r1, 1;\n"), "k", false},
        {HEAD BODY(""), HEAD BODY(""), "kk", false},
        {HEAD BODY(""), HEAD OTHER, "k", false},
        {HEAD BODY(""), "", "k", false},
        {HEAD ".entry k { ret;", HEAD ".entry k { ret;", "k", false}, /* no end */
        {HEAD ".entry k2() { ret; }" BODY(""), HEAD BODY(""), "k", true},
        /* what it calls is elsewhere */
        {HEAD ".func f() { ret; }" BODY("call.uni f;\n"),
         HEAD ".func f() { ret; }" BODY("call.uni f;\n"), "k", true},
        {HEAD ".func f() { ret; }" BODY("call.uni f;\n"),
         HEAD ".func f() { trap; }" BODY("call.uni f;\n"), "k", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_expect_eq(ptx_entry_is_same(cases[i].a, cases[i].b, cases[i].symbol),
                     cases[i].same, "case %zu", i);
    }
}
