/* Which kernels do the same whatever a parameter's memory contains. */
#include "base/err.h"
#include "base/mem.h"
#include "gpu/device/steady.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#define A 1u /* changed is what the first parameter points to */
#define B 2u

static struct module *module_of(const char *body) {
    static struct device device; /* one: it lives until the process ends */
    static bool began;
    const struct device_settings settings = {.checks = MACHINE_CHECK_DEFAULT,
                                             .memory = 64u << 20};
    struct err err = {0};
    struct module *m = NULL;
    cr_assert(began || device_init(&device, &settings, &err) == 0, "%s", err.msg);
    began = true;
    autofree char *text =
        xasprintf(".version 8.0\n.target sm_90a\n.address_size 64\n"
                  ".func f() { ret; }\n"
                  ".visible .entry k(.param .u64 k0, .param .u64 k1) {\n"
                  ".reg .b64 %%a, %%b, %%c; .reg .b32 %%r<4>; .reg .pred %%p;\n"
                  ".shared .b32 s[32];\n"
                  "ld.param.u64 %%a, [k0]; cvta.to.global.u64 %%a, %%a;\n"
                  "ld.param.u64 %%b, [k1]; cvta.to.global.u64 %%b, %%b;\n"
                  "%s\nout: ret;\n}\n",
                  body);
    cr_assert_eq(module_new(&m, &device, text, strlen(text), &err), 0, "%s", err.msg);
    return m;
}

static bool is_steady(const char *body, uint64_t changed) {
    return kernel_is_steady(module_kernel(module_of(body), "k"), changed);
}

#define LOADED "ld.global.u32 %r0, [%a+4];\n"

Test(steady, values_that_are_only_stored) {
    static const char *const bodies[] = {
        LOADED "add.u32 %r0, %r0, 1; st.global.u32 [%a], %r0;",
        LOADED "setp.eq.u32 %p, %r0, 3; selp.u32 %r1, 1, 0, %p; st.global.u32 [%b], %r1;",
        LOADED "shfl.sync.down.b32 %r1, %r0, 1, 31, -1; st.global.u32 [%b], %r1;",
        LOADED "st.shared.u32 [s], %r0; bar.sync 0; ld.shared.u32 %r1, [s+4];"
               "red.global.add.u32 [%b], %r1;",
        "atom.global.add.u32 %r1, [%a], 1;",
    };
    for (size_t k = 0; k < ARRAY_LEN(bodies); k++) {
        cr_expect(is_steady(bodies[k], A), "%s", bodies[k]);
        cr_expect(is_steady(bodies[k], A | B), "%s", bodies[k]);
    }
}

/* Each in the first parameter; the second one's memory decides nothing. */
Test(steady, values_that_decide) {
    static const char *const bodies[] = {
        LOADED "setp.eq.u32 %p, %r0, 3; @%p bra out; st.global.u32 [%b], 1;",
        LOADED "setp.eq.u32 %p, %r0, 3; @%p st.global.u32 [%b], 1;",
        LOADED "cvt.u64.u32 %c, %r0; add.u64 %c, %b, %c; st.global.u32 [%c], 1;",
        LOADED "cvt.u64.u32 %c, %r0; add.u64 %c, %b, %c; ld.global.u32 %r1, [%c];",
        LOADED "st.shared.u32 [s], %r0; bar.sync 0; ld.shared.u32 %r1, [s+4];"
               "setp.eq.u32 %p, %r1, 3; @%p bra out; st.global.u32 [%b], 1;",
        "add.u64 %c, %a, 8;" LOADED "shfl.sync.idx.b32 %r1, %r2, %r0, 31, -1;",
        "atom.global.add.u32 %r1, [%a], 1; setp.eq.u32 %p, %r1, 3; @%p bra out;"
        "st.global.u32 [%b], 1;",
    };
    for (size_t k = 0; k < ARRAY_LEN(bodies); k++) {
        cr_expect(not(is_steady(bodies[k], A)), "%s", bodies[k]);
        cr_expect(not(is_steady(bodies[k], A | B)), "%s", bodies[k]);
        cr_expect(is_steady(bodies[k], B), "%s", bodies[k]);
    }
}

/* What a pointer from memory leads to may be the changed memory. */
Test(steady, what_is_not_known) {
    static const char *const bodies[] = {
        "ld.global.u64 %c, [%b]; ld.global.u32 %r0, [%c];"
        "setp.eq.u32 %p, %r0, 3; @%p bra out; st.global.u32 [%b], 1;",
        "ld.u32 %r0, [%b]; st.u32 [%a], %r0; mov.u64 %c, s; ld.u32 %r1, [%c];"
        "setp.eq.u32 %p, %r1, 3; @%p bra out; st.global.u32 [%b], 1;",
        "call f;",
    };
    for (size_t k = 0; k < ARRAY_LEN(bodies); k++) {
        cr_expect(not(is_steady(bodies[k], A)), "%s", bodies[k]);
    }
}
