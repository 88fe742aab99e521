/* emit: the memory that holds code: nobody can write to it, and it holds no numbers of the
 * kernel. */
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/emit/code_pages.h"
#include "tests/unit/gpu/machine_room.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#if defined __x86_64__
static bool any_writable_code(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    bool any = false;
    while (f && fgets(line, sizeof line, f)) {
        const char *rights = strchr(line, ' ');
        any = any || (rights && rights[2] == 'w' && rights[3] == 'x');
    }
    if (f) {
        fclose(f);
    }
    return any;
}

#define NUMBER 0x90c33c5au
static uint64_t seen, found; /* bytes that became code; NUMBER in them */

/* The linker puts this in the place of code_pages_add (meson.build). */
const void *__real_code_pages_add(struct code_pages *p, const uint8_t *code, size_t size);
const void *__wrap_code_pages_add(struct code_pages *p, const uint8_t *code, size_t size);
const void *__wrap_code_pages_add(struct code_pages *p, const uint8_t *code,
                                  size_t size) {
    for (size_t k = 0; k + 4 <= size; k++) {
        found += memcmp(code + k, &(uint32_t){NUMBER}, 4) == 0;
    }
    seen += size;
    const void *at = __real_code_pages_add(p, code, size);
    cr_expect_not(any_writable_code());
    return at;
}

Test(ptx_emit_pages, hold_code_that_nobody_can_write_to) {
    struct code_pages pages = {0};
    for (uint8_t k = 0; k < 100; k++) {
        const uint8_t code[] = {0xb8, k, 0, 0, 0, 0xc3}; /* mov eax, k; ret */
        int (*answer)(void) =
            (int (*)(void))(uintptr_t)code_pages_add(&pages, code, sizeof code);
        cr_assert(answer != NULL);
        cr_expect_eq(answer(), k);
    }
    const uint8_t number[] = {0xb8, 0x5a, 0x3c, 0xc3, 0x90, 0xc3};
    cr_expect(code_pages_add(&pages, number, sizeof number) != NULL);
    cr_expect_eq(seen, 606);
    cr_expect_eq(found, 1); /* so the next test would find it */
    static const uint8_t large[2 << 20];
    cr_expect(code_pages_add(&pages, large, sizeof large) == NULL);
    code_pages_finish(&pages);
}

/* NUMBER, whose bytes are instructions, is an operand of integers, floats and comparisons,
 * half of one of 64 bits, an address's offset and a parameter. */
Test(ptx_emit_pages, hold_no_number_of_the_kernel) {
    static const char kernel[] =
        ".visible .entry k(.param .u64 out, .param .u32 n)\n{\n"
        ".reg .b32 %r<9>; .reg .f32 %f<4>; .reg .f64 %d<3>; .reg .b64 %a<9>;\n"
        ".reg .pred %p<4>;\n"
        "ld.param.u64 %a0, [out]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
        "mul.wide.u32 %a1, %r2, 4; add.s64 %a0, %a0, %a1; mov.u32 %r0, 0;\n"
        "mov.f32 %f1, 0f3f800000; mov.u64 %a2, 1; mov.f64 %d1, 0d3ff0000000000000;\n"
        "L:\n"
        "add.u32 %r2, %r2, 0x90c33c5a; xor.b32 %r2, %r2, 0x90c33c5a;\n"
        "and.b32 %r3, %r2, 0x90c33c5a; mad.lo.u32 %r2, %r3, 0x90c33c5a, %r1;\n"
        "add.f32 %f1, %f1, 0f90c33c5a; fma.rn.f32 %f1, %f1, 0f90c33c5a, %f1;\n"
        "add.u64 %a2, %a2, 0x90c33c5a90c33c5a; xor.b64 %a2, %a2, 0x90c33c5a;\n"
        "add.f64 %d1, %d1, 0d90c33c5a90c33c5a;\n"
        "setp.gt.u32 %p1, %r2, 0x90c33c5a; selp.b32 %r4, %r2, 0x90c33c5a, %p1;\n"
        "add.s64 %a3, %a0, 0x90c33c5a; sub.s64 %a3, %a3, 0x90c33c5a;\n"
        "st.global.u32 [%a3], %r4; add.u32 %r0, %r0, 1;\n"
        "setp.lt.u32 %p2, %r0, 9; @%p2 bra L;\n"
        "cvt.u32.u64 %r5, %a2; mov.b32 %r6, %f1; add.u32 %r5, %r5, %r6;\n"
        "cvt.rn.f32.f64 %f2, %d1; mov.b32 %r6, %f2; add.u32 %r5, %r5, %r6;\n"
        "st.global.u32 [%a0], %r5; ret;\n}\n";
    if (strcmp(bind_extension(), "avx512") != 0) {
        cr_skip_test("no AVX-512 here");
    }
    const struct machine_config config = {.checks = MACHINE_CHECK_DEFAULT,
                                          .threads = 1,
                                          .emit_after = 1,
                                          .memory = 1 << 20};
    struct machine_room *r = room_new(kernel, &config);
    room_buffer(r, "out", 256, MACHINE_OUTPUT);
    room_u32(r, NUMBER);
    cr_assert_eq(room_launch(r, 1, 64), MACHINE_DONE);
    cr_expect_gt(machine_native_runs(r->machine), 9);
    cr_expect_gt(seen, 1000);
    cr_expect_eq(found, 0);
    room_free(r);
}
#endif
