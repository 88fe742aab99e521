/* The device that CUDA's interfaces share: its memory and its queue. */
#include "base/mem.h"
#include "gpu/device/device.h"
#include "gpu/device/module.h"
#include "gpu/ptx/state/findings.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static struct device *device_make(void) {
    static struct device device, *d = &device; /* one a process */
    const struct device_settings settings = {.checks = MACHINE_CHECK_DEFAULT,
                                             .memory = 64u << 20};
    cr_assert_eq(device_init(d, &settings, NULL), 0);
    return d;
}

Test(device, host_sees_what_is_mapped) {
    struct device *d = device_make();
    struct allocation *mapped = device_memory_new(d, "m", 10000, DEVICE_MAPPED);
    struct allocation *own = device_memory_new(d, "d", 10000, MACHINE_UNINITIALIZED);
    cr_assert_eq((uintptr_t)mapped->host, mapped->address);
    cr_assert_neq((uintptr_t)own->host, own->address);
    mapped->host[9999] = 7;
    cr_assert_eq(*(uint8_t *)(uintptr_t)(mapped->address + 9999), 7);
    cr_assert_eq(device_memory_at(d, mapped->address + 1, 9999), mapped);
    cr_assert_null(device_memory_at(d, mapped->address + 1, 10000));
    cr_assert_null(device_memory_new(d, "more than there is", 65u << 20, 0));
    cr_assert_eq(device_memory_free(d, mapped->address + 1), -EINVAL);
    cr_assert_eq(device_memory_free(d, mapped->address), 0);
    cr_assert_eq(device_memory_free(d, mapped->address), -EALREADY);
    cr_assert_null(device_memory_at(d, mapped->address, 1));
}

Test(device, copies_carry_what_is_initialised) {
    struct device *d = device_make();
    struct allocation *a = device_memory_new(d, "a", 64, MACHINE_UNINITIALIZED);
    struct allocation *b = device_memory_new(d, "b", 64, MACHINE_UNINITIALIZED);
    device_memory_wrote(a, a->address + 3, 10); /* bytes 3 to 12 */
    static const uint8_t want[] = {0x08, 0x0f, 0x0f, 0x01, 0};
    cr_assert_arr_eq(a->shadow, want, sizeof want);
    device_memory_copied(b, b->address + 1, a, a->address + 2,
                         6); /* 3 to 7 become 2 to 6 */
    static const uint8_t copied[] = {0x0c, 0x07, 0};
    cr_assert_arr_eq(b->shadow, copied, sizeof copied);
    device_memory_copied(b, b->address, a, a->address, 64);
    cr_assert_arr_eq(b->shadow, want, sizeof want);
}

Test(device, host_memory_stands_at_its_own_address) {
    struct device *d = device_make();
    static uint8_t own[4096];
    struct allocation *a = device_memory_register(d, own, sizeof own);
    struct allocation *b = device_memory_new(d, "b", 16, 0);
    cr_assert_eq(a->host, own);
    cr_assert_eq(device_memory_at(d, (uintptr_t)own + 4000, 96), a);
    cr_assert_eq(device_memory_at(d, b->address, 16), b, "a smaller address came later");
    cr_assert_null(device_memory_register(d, own + 4095, 1), "it is there already");
    own[5] = 1;
    cr_assert_eq(device_memory_free(d, a->address), 0);
    cr_assert_eq(own[5], 1, "the host's bytes stay");
    cr_assert_not_null(device_memory_register(d, own + 1, 10));
}

struct task {
    struct op op;
    int code, *count, *seen;
};

static int task_run(struct op *op) {
    struct task *s = container_of(op, struct task, op);
    *s->seen = ++*s->count;
    return s->code;
}

static void task_free(struct op *op) {
    free(container_of(op, struct task, op));
}

static struct op *task_new(int code, int *count, int *seen) {
    struct task *s = xcalloc(1, sizeof *s);
    *s = (struct task){{.run = task_run, .free = task_free}, code, count, seen};
    return &s->op;
}

static int errand(void *count) {
    return *(int *)count;
}

/* As nvcc leaves them: values that only the host reads, and a pointer to a function that
 * only a variable names. */
Test(device, variables_that_no_kernel_uses_have_their_first_values) {
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .global .align 4 .b8 a[8] = {1, 0, 0, 0, 2, 0, 0, 0};\n"
        ".visible .const .align 4 .u32 c = 3;\n"
        ".func f() { ret; }\n"
        ".visible .global .align 8 .u64 p = f;\n"
        ".visible .entry k() { ret; }\n";
    struct device *d = device_make();
    static struct module *m;
    cr_assert_eq(module_new(&m, d, text, strlen(text), NULL), 0);
    const struct allocation *a = module_variable(m, "a"), *c = module_variable(m, "c"),
                            *p = module_variable(m, "p");
    cr_assert(a && c && p);
    cr_expect_eq(((const uint32_t *)(const void *)a->host)[1], 2);
    cr_expect_eq(*(const uint32_t *)(const void *)c->host, 3);
    cr_expect_neq(*(const uint64_t *)(const void *)p->host, 0);
    cr_expect_null(module_variable(m, "f"));
}

static void launch_one(struct module *m, const char *name, uint32_t n) {
    struct kernel *k = module_kernel(m, name);
    const struct launch_shape shape = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
    uint8_t params[64] = {0};
    void *const args[] = {&n};
    cr_assert_eq(kernel_prepare(k, NULL, NULL), 0);
    kernel_pack(k, args, params);
    cr_assert_eq(kernel_launch(k, &shape, params, NULL), MACHINE_DONE);
}

/* Calls of 64 bytes of local memory, d deep: 64 d + 8 (d - 1). CUDA gives a thread 1,024,
 * the driver more if it knows before the launch that more is needed. */
Test(device, recursions_deeper_than_the_stack_are_found) {
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".func f(.param .b32 n) { .local .b8 a[64]; .reg .b32 %r<3>; .reg .pred %p;\n"
        "ld.param.b32 %r1, [n]; st.local.b32 [a], %r1; sub.s32 %r2, %r1, 1;\n"
        "setp.eq.s32 %p, %r2, 0; @%p bra OUT;\n"
        "{ .param .b32 param0; st.param.b32 [param0+0], %r2; call.uni f, (param0); }\n"
        "OUT: ret; }\n"
        ".visible .entry deep(.param .b32 n) { .reg .b32 %r<2>; ld.param.b32 %r1, [n];\n"
        "{ .param .b32 param0; st.param.b32 [param0+0], %r1; call.uni f, (param0); } ret; }\n"
        ".visible .entry wide(.param .b32 n) { .local .b8 a[1064]; ret; }\n";
    struct device *d = device_make();
    static struct module *m; /* it lives as long as the process */
    cr_assert_eq(module_new(&m, d, text, strlen(text), NULL), 0);
    launch_one(m, "deep", 14); /* 1000 */
    cr_expect_eq(findings_kept(d->space.findings), 0);
    d->stack_bytes = 1072;
    launch_one(m, "deep", 15);
    d->stack_bytes = 1024;
    launch_one(m, "wide", 0);
    launch_one(m, "deep", 15);
    cr_expect_eq(findings_kept(d->space.findings), 0);
    d->stack_bytes = 1024;
    launch_one(m, "deep", 15);
    cr_assert_eq(findings_kept(d->space.findings), 1);
    json_t *f = findings_get(d->space.findings, 0);
    cr_expect_str_eq(json_get_string(f, "code", ""), "stack_overflow");
    const char *message = json_get_string(f, "message", "");
    cr_expect(strstr(message, "15 deep take at least 1072 bytes"), "%s", message);
    cr_expect(strstr(message, "there are 1024"), "%s", message);
    json_decref(f);
}

Test(device, queue_keeps_the_order_and_the_first_error) {
    struct device *d = device_make();
    struct queue *q = &d->queue;
    int count = 0, seen[100] = {0};
    for (unsigned k = 0; k < 100; k++) {
        cr_assert_eq(queue_add(q, task_new(0, &count, &seen[k])), k + 1u);
    }
    cr_assert_eq(queue_wait(q, 100), 0);
    for (int k = 0; k < 100; k++) {
        cr_assert_eq(seen[k], k + 1);
    }
    cr_assert_eq(queue_do(q, errand, &count), 100);
    int last = 0;
    queue_add(q, task_new(7, &count, &seen[0]));
    queue_add(q, task_new(8, &count, &last));
    cr_assert_eq(queue_wait_all(q), 7);
    cr_assert_eq(last, 0, "what comes behind an error is dropped");
    cr_assert_eq(queue_do(q, errand, &count), 7);
    queue_forgive(q);
    cr_assert_eq(queue_do(q, errand, &count), 101);
}
