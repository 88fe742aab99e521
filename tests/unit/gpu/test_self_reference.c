/* When a reference is the kernel itself. */
#include "gpu/run/self_reference.h"

#include "base/mem.h"

#include <criterion/criterion.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
#define NAMED_HEAD(name)                                                                 \
    ".visible .entry " name "(\n\t.param .u64 " name "_param_0\n)\n{\n"                  \
    "\t.reg .b32 \t%r<2>;\n"
#define NAMED_TAIL "\tmov.u32 %r1, 7;\n\tret;\n}\n"
#define BODY(line) NAMED_HEAD("k") line NAMED_TAIL
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
        cr_expect_eq(
            ptx_entry_is_same(cases[i].a, cases[i].symbol, cases[i].b, cases[i].symbol),
            cases[i].same, "case %zu", i);
    }
}

#define USES(s, label, to)                                                               \
    ".shared .b8 " s "[4];\nst.shared.u32 [" s "], %r1;\n" label ":\nbra " to ";\n"

/* A copy has the names of another function: its parameters, static variables, labels. */
Test(self_reference, copies_under_another_name) {
    static const struct {
        const char *a, *b; /* of the one k, of the other _Z1rf */
        bool same;
    } cases[] = {
        {"", "", true},
        {"ld.param.u64 %rd1, [k_param_0];\n", "ld.param.u64 %rd1, [_Z1rf_param_0];\n",
         true},
        {"ld.param.u64 %rd1, [k_param_0];\n", "ld.param.u64 %rd1, [_Z1rf_param_1];\n",
         false}, /* where _param_0 already stands for _param_0 */
        {USES("_ZZ1kE1s", "$L0_1", "$L0_1"), USES("_ZZ1rfE1s", "$L1_1", "$L1_1"), true},
        {USES("_ZZ1kE1s", "$L0_1", "$L0_1"), USES("_ZZ1rfE1s", "$L1_1", "$L1_2"), false},
        {"mov.u32 %r1, 5;\n", "mov.u32 %r1, 6;\n", false},
        {"ld.global.u32 %r1, [_ZN1a1xE];\n", "ld.global.u32 %r1, [_ZN1b1xE];\n", false},
        {"mov.b32 %f1, 0f3F800000;\n", "mov.b32 %f1, 0f40000000;\n", false},
        {"add.s32 %r1, %r1, 1;\n", "add.s32 %r1, %r11;\n", false},
        {"call.uni _Z1f;\n", "call.uni _Z1f;\n", true}, /* one module: one function */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        autofree char *ptx = xasprintf(HEAD ".func _Z1f() { ret; }\n%s%s%s%s%s%s",
                                       NAMED_HEAD("k"), cases[i].a, NAMED_TAIL,
                                       NAMED_HEAD("_Z1rf"), cases[i].b, NAMED_TAIL);
        cr_expect_eq(ptx_entry_is_same(ptx, "k", ptx, "_Z1rf"), cases[i].same, "case %zu",
                     i);
    }
}
