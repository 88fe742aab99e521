/* The machine's checks: what a kernel does wrong is found, named and survived. */
#include "tests/unit/gpu/machine_checks.h"

#include "base/err.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define TWO                                                                              \
    HEAD ".shared .align 4 .b8 s[64]; .shared .align 4 .b8 t[64];\n"                     \
         "mov.u32 %r3, s; shl.b32 %r4, %r2, 2; and.b32 %r5, %r4, 60;\n"                  \
         "mov.u32 %r6, t; add.u32 %r6, %r6, %r5; add.u32 %r5, %r3, %r5;\n"               \
         "add.u32 %r3, %r3, %r4;\n"

/* What lies behind a variable is nobody's, though on a device the next one is there. */
Test(ptx_machine_checks, no_shared_variable_reaches_into_the_next) {
    static const struct {
        const char *body, *buffer;
        long count, offset;
        unsigned thread;
    } wrong[] = {
        {TWO "st.shared.u32 [%r3], 1;" END, "s", 48, 64, 16},
        {TWO "cvt.u64.u32 %rd3, %r3; cvta.shared.u64 %rd3, %rd3; st.u32 [%rd3], 1;" END,
         "s", 48, 64, 16},
        {TWO "atom.shared.add.u32 %r7, [%r5+64], 1;" END, "s", 64, 64, 0},
        {TWO "ld.shared.u32 %r7, [%r6+64];" END, "t", 64, 64, 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        expect_finding(run(wrong[i].body, 0), MACHINE_FAULT, "out_of_bounds",
                       wrong[i].count, wrong[i].buffer, wrong[i].offset, wrong[i].thread);
    }
    /* Lanes of one instruction may be in different ones. */
    expect_finding(run(TWO "st.shared.u32 [%r5], 1; st.shared.u32 [%r6], 2;\n"
                           "setp.lt.u32 %p1, %r2, 7; selp.b32 %r7, %r5, %r6, %p1;\n"
                           "ld.shared.u32 %r8, [%r7];" END,
                       0),
                   MACHINE_DONE, "out_of_bounds", 0, NULL, 0, 0);
}

/* Of an unrolled loop around x[i - 2] the compiler keeps x + 4 * i - 8 in a register, and
 * reads [register + 8]: the sum of 32 bits is what counts. */
#define BEFORE                                                                           \
    HEAD ".shared .align 4 .b8 s[256]; mov.u32 %r3, s; shl.b32 %r4, %r2, 2;\n"           \
         "add.s32 %r3, %r3, %r4; add.s32 %r3, %r3, -8;\n"

Test(ptx_machine_checks, a_register_may_lie_before_the_window) {
    static const char *const bodies[] = {
        BEFORE "st.shared.u32 [%r3+8], %i; ld.shared.u32 %r7, [%r3+8];" END,
        BEFORE "st.shared.u32 [%r3+8], %i; setp.lt.u32 %p1, %r2, 7;\n"
               "@%p1 ld.shared.u32 %r7, [%r3+8];" END,
        BEFORE "st.volatile.shared.u32 [%r3+8], %i; ld.volatile.shared.u32 %r7, [%r3+8];" END,
        BEFORE "st.shared.u32 [%r3+8], %i; atom.shared.add.u32 %r7, [%r3+8], 1;" END,
        BEFORE "cp.async.ca.shared.global [%r3+8], [%rd1], 4; cp.async.wait_all;" END,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        expect_finding(run(bodies[i], 0), MACHINE_DONE, "out_of_bounds", 0, NULL, 0, 0);
    }
}

/* The manual: addresses are "truncated if the register width exceeds the state space
 * address width": a generic address of shared memory does as one of its window, as
 * asm("ld.shared.u32 …" :: "l"(pointer)) gives it. */
#define GENERIC                                                                          \
    HEAD ".shared .align 16 .b8 s[256]; .reg .b64 %g<4>; mov.u64 %g1, s;\n"              \
         "cvta.shared.u64 %g2, %g1; mul.wide.u32 %g3, %r2, 4; add.s64 %g3, %g2, %g3;\n"

Test(ptx_machine_checks, a_generic_address_is_one_of_the_window) {
    static const char *const bodies[] = {
        GENERIC "st.shared.u32 [%g3], %i; ld.shared.u32 %r7, [%g3];" END,
        GENERIC "st.volatile.shared.u32 [%g3], %i; ld.volatile.shared.u32 %r7, [%g3];" END,
        GENERIC "st.shared.u32 [%g3], %i; atom.shared.add.u32 %r7, [%g3], 1;" END,
        GENERIC "cp.async.ca.shared.global [%g3], [%rd1], 4; cp.async.wait_all;" END,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        expect_finding(run(bodies[i], 0), MACHINE_DONE, "out_of_bounds", 0, NULL, 0, 0);
    }
    /* 64 threads and words: the last has nothing behind it. */
    expect_finding(run(GENERIC "st.shared.u32 [%g3+4], %i;" END, 0), MACHINE_FAULT,
                   "out_of_bounds", 1, NULL, 0, 63);
}

Test(ptx_machine_checks, out_of_bounds_of_every_space) {
    /* Threads 60 to 63 pass the end by 16 bytes. */
    expect_finding(run(HEAD "st.global.u32 [%at+16], %i;\n" END, 0), MACHINE_FAULT,
                   "out_of_bounds", 4, "out", 256, 60);
    expect_finding(run(HEAD "ld.u32 %r3, [%at+-8];\n" END, 0), MACHINE_FAULT,
                   "out_of_bounds", 2, "out", -8, 0);
    expect_finding(run(HEAD "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd1+256];\n" END, 0),
                   MACHINE_FAULT, "out_of_bounds", 64, "out", 256, 0);
    expect_finding(
        run(HEAD ".shared .align 4 .b8 s[64]; mov.u32 %r3, s; shl.b32 %r4, %r2, 2;\n"
                 "add.u32 %r3, %r3, %r4; st.shared.u32 [%r3], %i;\n" END,
            0),
        MACHINE_FAULT, "out_of_bounds", 48, "s", 64, 16);
    /* An index below 0, of 32 bits. */
    expect_finding(
        run(HEAD ".shared .align 4 .b8 s[64]; mov.u32 %r3, s; add.u32 %r3, %r3, -8;\n"
                 "st.shared.u32 [%r3], 1;\n" END,
            0),
        MACHINE_FAULT, "out_of_bounds", 64, "shared memory", -8, 0);
    expect_finding(
        run(HEAD ".local .align 4 .b8 d[16]; mov.u64 %rd3, d; shl.b32 %r4, %r2, 2;\n"
                 "cvt.u64.u32 %rd4, %r4; add.u64 %rd3, %rd3, %rd4;\n"
                 "st.local.u32 [%rd3], %i;\n" END,
            0),
        MACHINE_FAULT, "out_of_bounds", 60, "local memory", 16, 4);
    expect_finding(run(HEAD "mov.b64 %rd3, out; cvta.param.u64 %rd3, %rd3;\n"
                            "ld.u32 %r3, [%rd3+8];\n" END,
                       0),
                   MACHINE_FAULT, "out_of_bounds", 64, "parameters", 8, 0);
    expect_finding(run(HEAD "mov.u64 %rd3, 0; ld.global.u32 %r3, [%rd3];\n" END, 0),
                   MACHINE_FAULT, "out_of_bounds", 64, NULL, 0, 0);
    expect_finding(run(HEAD "mov.u64 %rd3, -4; ld.u64 %rd4, [%rd3+-4];\n" END, 0),
                   MACHINE_FAULT, "out_of_bounds", 64, NULL, 0, 0);
    expect_finding(run(HEAD "atom.global.add.u32 %r3, [%at+252], 1;\n" END, 0),
                   MACHINE_FAULT, "out_of_bounds", 63, "out", 256, 1);
}

Test(ptx_machine_checks, constants_are_not_written) {
    struct machine_room *r =
        room_new(".const .align 4 .b8 c[8] = {1,2,3,4};\n" HEAD
                 "mov.u64 %rd3, c; cvta.const.u64 %rd3, %rd3; st.u32 [%rd3], %i;\n" END,
                 NULL);
    room_buffer(r, "out", 256, 0);
    room_launch(r, 1, 64);
    uint64_t address, bytes;
    void *host;
    cr_assert_eq(machine_global(r->machine, "c", &address, &bytes, &host), 0);
    cr_expect_eq(bytes, 8);
    cr_expect_eq(memcmp(host, "\1\2\3\4\0\0\0", 8), 0);
    expect_finding(r, MACHINE_FAULT, "out_of_bounds", 64, "c", 0, 0);
}

Test(ptx_machine_checks, misaligned_accesses) {
    expect_finding(run(HEAD "add.u64 %at, %at, 2; st.global.u32 [%at], %i;\n" END, 0),
                   MACHINE_FAULT, "misaligned", 64, "out", 2, 0);
    expect_finding(run(HEAD "ld.global.v2.u32 {%r3, %r4}, [%rd1+4];\n" END, 0),
                   MACHINE_FAULT, "misaligned", 64, "out", 4, 0);
    expect_finding(run(HEAD ".shared .align 8 .b8 s[64], t[64];\n"
                            "ld.shared.u64 %rd4, [s+4]; ld.shared.u32 %r3, [t];\n" END,
                       MACHINE_CHECK_MEMORY),
                   MACHINE_FAULT, "misaligned", 64, "s", 4, 0);
    /* Behind the end of what is there, and of nothing. */
    expect_finding(run(HEAD "ld.global.u32 %r3, [%rd1+258];\n" END, 0), MACHINE_FAULT,
                   "misaligned", 64, NULL, 0, 0);
    expect_finding(run(HEAD ".shared .align 8 .b8 s[64]; mov.u32 %r3, s;\n"
                            "ld.shared.u32 %r3, [%r3+66];\n" END,
                       0),
                   MACHINE_FAULT, "misaligned", 64, NULL, 0, 0);
}

Test(ptx_machine_checks, inputs_and_freed_memory) {
    expect_finding(run(HEAD "st.global.u32 [%at], %i;\n" END, MACHINE_READ_ONLY),
                   MACHINE_DONE, "input_modified", 64, "out", 0, 0);
    struct machine_room *r = room_new(HEAD "st.global.u32 [%at], %i;\n" END, NULL);
    room_buffer(r, "out", 256, 0);
    cr_assert_eq(room_launch(r, 1, 64), MACHINE_DONE);
    cr_assert_eq(machine_release(r->machine, r->address[0]), 0);
    cr_assert_eq(machine_release(r->machine, r->address[0]), -EALREADY);
    room_launch(r, 1, 64);
    expect_finding(r, MACHINE_FAULT, "out_of_bounds", 64, "out", 0, 0);
}

Test(ptx_machine_checks, the_device_heap) {
    expect_finding(
        run(".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
            ".extern .func free(.param .b64 p);\n" HEAD
            "{ .param .b64 param0; st.param.b64 [param0+0], 16; .param .b64 retval0;\n"
            "call.uni (retval0), malloc, (param0); ld.param.b64 %rd3, [retval0+0]; }\n"
            "st.u32 [%rd3+12], %i; ld.u32 %r3, [%rd3+12];\n"
            "{ .param .b64 param0; st.param.b64 [param0+0], %rd3;\n"
            "call.uni free, (param0); }\n"
            "ld.u32 %r3, [%rd3+12];\n" END,
            0),
        MACHINE_FAULT, "out_of_bounds", 64, "device heap", 12, 0);
}

Test(ptx_machine_checks, barriers_that_part_the_block) {
    /* The lanes of a warp at two different barriers: two warps, each told at both. */
    expect_finding(run(HEAD "and.b32 %r3, %r2, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra E;\n"
                            "bar.sync 0; bra O; E: bar.sync 0; O:\n" END,
                       0),
                   MACHINE_DONE, "barrier_divergence", 4, NULL, 0, 0);
    /* One warp waits at 1, the other at 2. */
    expect_finding(run(HEAD "setp.lt.u32 %p1, %r2, 32; @%p1 bra E; bar.sync 1; bra O;\n"
                            "E: bar.sync 2; O:\n" END,
                       0),
                   MACHINE_DEADLOCK, "deadlock", 2, NULL, 0, 0);
    /* Three warps are expected, there are two. */
    expect_finding(run(HEAD "bar.sync 1, 96;\n" END, 0), MACHINE_DEADLOCK, "deadlock", 2,
                   NULL, 0, 0);
    /* Lanes that no shuffle of theirs will ever meet. */
    expect_finding(run(HEAD
                       "setp.lt.u32 %p1, %r2, 16; @%p1 bra E; bar.sync 0; bra O;\n"
                       "E: shfl.sync.idx.b32 %r4, %r2, 0, 31, -1; bar.sync 0; O:\n" END,
                       0),
                   MACHINE_DEADLOCK, "invalid_mask", 1, NULL, 0, 0);
    /* A lane asks one that has left. */
    expect_finding(run(HEAD "setp.gt.u32 %p1, %r2, 40; @%p1 exit;\n"
                            "shfl.sync.down.b32 %r4, %r2, 1, 31, -1;\n" END,
                       0),
                   MACHINE_DONE, "invalid_mask", 1, NULL, 0, 40);
    expect_finding(run(HEAD "shfl.sync.idx.b32 %r4, %r2, 0, 31, 65534;\n" END, 0),
                   MACHINE_DONE, "invalid_mask", 34, NULL, 0, 0);
}

/* Eight lanes of a tree: the upper four read beyond the mask, whether those lanes wait
 * elsewhere or are gone, and nobody uses what they get. A lane that the mask names and
 * that is gone, and a butterfly, are something else. */
Test(ptx_machine_checks, the_edge_of_a_tree_of_shuffles_is_a_warning) {
#define EIGHT "setp.ge.u32 %p1, %r2, 8; "
    static const struct {
        const char *body, *severity;
        long count;
    } cases[] = {
        {EIGHT "@%p1 bra O; shfl.sync.down.b32 %r4, %r2, 4, 31, 255; O:\n", "warning", 4},
        {EIGHT "@%p1 exit; shfl.sync.down.b32 %r4, %r2, 4, 31, 255;\n", "warning", 4},
        {EIGHT "@!%p1 bra O; setp.ge.u32 %p1, %r2, 32; @%p1 bra O;\n"
               "shfl.sync.up.b32 %r4, %r2, 4, 0, 0xffffff00; O:\n",
         "warning", 4},
        {EIGHT "@%p1 exit; shfl.sync.down.b32 %r4, %r2, 4, 31, -1;\n", "error", 4},
        {EIGHT "@%p1 bra O; shfl.sync.bfly.b32 %r4, %r2, 8, 31, 255; O:\n", "error", 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *source = xasprintf("%s%s%s", HEAD, cases[i].body, END);
        struct machine_room *r = run(source, 0);
        json_t *first = NULL;
        cr_expect_eq(room_found(r, "invalid_mask", &first), cases[i].count, "case %zu",
                     i);
        cr_expect_str_eq(json_get_string(first, "severity", ""), cases[i].severity,
                         "case %zu", i);
        json_decref(first);
        room_free(r);
    }
}

/* CUDA: all threads that the mask names and that have not exited execute the operation.
 * Who exits at once is no such thread; who runs on behind the operation is one. */
Test(ptx_machine_checks, lanes_that_pass_by_an_operation_are_told) {
#define SHUFFLE "shfl.sync.idx.b32 %r4, %r2, 0, 31, -1;\n"
#define STORE "st.global.u32 [%at], %r2;\n"
    static const struct {
        const char *body;
        long count;
    } cases[] = {
        {EIGHT "@%p1 bra O;" SHUFFLE "O:" STORE, 1},
        {EIGHT "@%p1 bra O; bar.warp.sync -1; O:" STORE, 1},
        {EIGHT "@%p1 bra O; bar.warp.sync 255; O:" STORE, 0},
        {EIGHT "@%p1 bra O;" SHUFFLE "bra P; O:" SHUFFLE "P:" STORE, 0},
        {EIGHT "@%p1 exit;" SHUFFLE STORE, 0},
        {EIGHT "@%p1 bra O;" SHUFFLE STORE "O:\n", 0},
        {EIGHT "@%p1 bra O;" SHUFFLE "bra P; O:" STORE "ret; P:\n", 0},
        /* A loop in which lanes go round twice or once. */
        {"mov.u32 %r3, %r2; L:" SHUFFLE "add.u32 %r3, %r3, 20; setp.lt.u32 %p1, %r3, 32;\n"
         "@%p1 bra L;" STORE,
         1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *body = xasprintf("%s%s%s", HEAD, cases[i].body, END);
        struct machine_room *r = run(body, 0);
        json_t *first = NULL;
        cr_expect_eq(room_found(r, "invalid_mask", &first), cases[i].count, "case %zu", i);
        cr_expect(!first || strstr(json_get_string(first, "message", ""), "pass by"));
        cr_expect(!first || json_says(first, "severity", "warning"));
        cr_expect_eq(r->end, MACHINE_DONE, "case %zu", i);
        json_decref(first);
        room_free(r);
    }
}

#define COPY                                                                             \
    HEAD ".shared .align 16 .b8 s[1024]; mov.u32 %r3, s; shl.b32 %r4, %r2, 2;\n"         \
         "add.u32 %r3, %r3, %r4; add.u64 %rd3, %at, 0;\n"                                \
         "cp.async.ca.shared.global [%r3], [%rd3], 4; cp.async.commit_group;\n"          \
         "cp.async.ca.shared.global [%r3+256], [%rd3], 4, 2; cp.async.commit_group;\n"

/* The first word has been waited for and is filled anew: neither value may be read, until
 * the second copy has been waited for too. */
Test(ptx_machine_checks, what_is_copied_to_is_not_read) {
    static const char again[] =
        "cp.async.wait_all; cp.async.ca.shared.global [%r3], [%rd3], 4;\n";
    static const struct {
        const char *wait;
        long found;
    } cases[] = {{"", 64}, {"cp.async.wait_all;\n", 0}};
    for (size_t i = 0; i < 2; i++) {
        autofree char *body = xasprintf("%s%s%sld.shared.u32 %%r5, [%%r3];\n%s", COPY,
                                        again, cases[i].wait, END);
        struct machine_room *r = run(body, 0);
        json_t *first = NULL;
        cr_expect_eq(room_found(r, "uninitialized", &first), cases[i].found);
        cr_expect(!first == !cases[i].found);
        cr_expect(!first || strstr(json_get_string(first, "message", ""), "cp.async"));
        json_decref(first);
        room_free(r);
    }
}

/* What keeps the value away is named: the wait, or the barrier behind another's wait, or
 * the one in front of the copy. The second warp reads what the first one copies. */
Test(ptx_machine_checks, what_a_read_of_a_copy_lacks_is_told) {
#define OTHERS "xor.b32 %r3, %r3, 128;\n"
#define SECOND "setp.lt.u32 %p1, %r2, 32; @%p1 bra ON;\n"
    static const struct {
        const char *before, *after, *words;
    } cases[] = {
        {COPY "bar.sync 0;", OTHERS "ld.shared.u32 %r5, [%r3];\n", "cp.async that nobody has waited for"},
        /* the second warp runs when the first waits at a barrier in front of its own wait */
        {COPY SECOND "cp.async.wait_all;" OTHERS "ld.shared.u32 %r5, [%r3]; bar.sync 0; ret;\n",
         "ON: bar.sync 0; cp.async.wait_all;\n",
         "no barrier, such as __syncthreads(), is between the other thread's wait and"},
        /* … and its next copy, which has not arrived, is no news of this one */
        {COPY "cp.async.wait_all; bar.sync 0; cp.async.ca.shared.global [%r3+512], [%rd3], 4;\n"
              "cp.async.commit_group;" SECOND OTHERS
              "bar.sync 0; ld.shared.u32 %r5, [%r3]; bar.sync 0; ret;\n",
         "ON: cp.async.ca.shared.global [%r3], [%rd3], 4; cp.async.commit_group;\n"
         "bar.sync 0; bar.sync 0; cp.async.wait_all;\n",
         "no barrier, such as __syncthreads(), keeps the copy behind this read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autofree char *body = xasprintf("%s%s%s", cases[i].before, cases[i].after, END);
        struct machine_room *r = run(body, 0);
        json_t *first = NULL;
        cr_expect_gt(room_found(r, "uninitialized", &first), 0, "case %zu", i);
        const char *message = json_get_string(first, "message", "");
        cr_expect(strstr(message, cases[i].words), "case %zu: %s", i, message);
        json_decref(first);
        room_free(r);
    }
}

Test(ptx_machine_checks, asynchronous_copies_arrive_when_waited_for) {
    /* The second group may still be away: its word is read too early. */
    expect_finding(run(COPY "cp.async.wait_group 1; ld.shared.u32 %r5, [%r3];\n"
                            "ld.shared.u32 %r6, [%r3+256];\n" END,
                       0),
                   MACHINE_DONE, "uninitialized", 64, "s", 256, 0);
    struct machine_room *r =
        room_new(COPY "cp.async.wait_all; ld.shared.u32 %r5, [%r3];\n"
                      "ld.shared.u32 %r6, [%r3+256];\n"
                      "sub.u32 %r5, %r5, %r6; st.global.u32 [%at], %r5;\n" END,
                 NULL);
    uint32_t *out = room_buffer(r, "out", 256, 0);
    for (uint32_t k = 0; k < 64; k++) {
        out[k] = k << 16 | 7;
    }
    room_launch(r, 1, 64);
    for (uint32_t k = 0; k < 64; k++) {
        cr_expect_eq(out[k], k << 16); /* the copy of two bytes took the 7 off */
    }
    expect_finding(r, MACHINE_DONE, "uninitialized", 0, NULL, 0, 0);
    expect_finding(run(HEAD ".shared .align 16 .b8 s[64]; mov.u32 %r3, s;\n"
                            "cp.async.cg.shared.global [%r3+56], [%rd1], 16;\n" END,
                       0),
                   MACHINE_FAULT, "misaligned", 64, "s", 56, 0);
    expect_finding(run(HEAD ".shared .align 16 .b8 s[64]; mov.u32 %r3, s;\n"
                            "cp.async.cg.shared.global [%r3], [%rd1+256], 16;\n" END,
                       0),
                   MACHINE_FAULT, "out_of_bounds", 64, "out", 256, 0);
}

Test(ptx_machine_checks, traps_asserts_and_printf) {
    expect_finding(run(HEAD "setp.eq.u32 %p1, %r2, 33; @%p1 trap;\n" END, 0),
                   MACHINE_FAULT, "trap", 1, NULL, 0, 33);
    /* grid.sync() traps where the grid has no workspace. */
    struct machine_room *grid = run(HEAD "mov.u32 %r3, %envreg1; trap;\n" END, 0);
    char *told = room_findings(grid);
    cr_expect(strstr(told, "grid.sync() needs a cooperative launch"), "%s", told);
    free(told);
    room_free(grid);
    struct machine_room *r = room_new(
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 f[24] = {105, 61, 37, 53, 100, 32, 37, 46, 50, 102, 32, "
        "37, 108,\n"
        "108, 120, 37, 37, 10};\n" HEAD
        ".local .align 8 .b8 d[24]; .reg .f64 %fd1; st.local.u32 [d], %i;\n"
        "cvt.rn.f64.u32 %fd1, %i; st.local.f64 [d+8], %fd1; st.local.u64 [d+16], %rd0;\n"
        "setp.ne.u32 %p1, %i, 3; @%p1 bra O;\n"
        "mov.u64 %rd3, f; cvta.global.u64 %rd3, %rd3; mov.u64 %rd4, d;\n"
        "cvta.local.u64 %rd4, %rd4;\n"
        "{ .param .b64 param0; st.param.b64 [param0+0], %rd3;\n"
        ".param .b64 param1; st.param.b64 [param1+0], %rd4; .param .b32 retval0;\n"
        "call.uni (retval0), vprintf, (param0, param1); }\n"
        "O:\n" END,
        NULL);
    room_buffer(r, "out", 256, 0);
    cr_expect_eq(room_launch(r, 1, 64), MACHINE_DONE);
    cr_expect_str_eq(machine_printf(r->machine), "i=    3 3.00 c%\n");
    room_free(r);
}

Test(ptx_machine_checks, endless_loops_end) {
    struct machine_config c = {
        .checks = MACHINE_CHECK_DEFAULT, .threads = 1, .instructions = 3000000};
    struct machine_room *r = room_new(HEAD "L: add.u32 %r3, %r3, 1; bra L;\n" END, &c);
    room_buffer(r, "out", 256, 0);
    cr_expect_eq(room_launch(r, 4, 64), MACHINE_BUDGET);
    cr_expect_geq(machine_spent(r->machine), 3000000);
    cr_expect_lt(machine_spent(r->machine), 6000000);
    uint64_t omitted;
    json_t *findings = machine_findings(r->machine, &omitted);
    cr_assert_geq(json_array_size(findings), 1);
    cr_expect_str_eq(
        json_string_value(json_object_get(json_array_get(findings, 0), "code")),
        "unfinished");
    json_decref(findings);
    room_free(r);
    /* Nobody will ever write what all wait for. */
    expect_finding(run(HEAD
                       "L: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0;\n"
                       "@%p1 bra L;\n" END,
                       0),
                   MACHINE_DEADLOCK, "deadlock", 2, NULL, 0, 0);
}

static void *stopper(void *machine) {
    usleep(50000);
    machine_stop(machine);
    return NULL;
}

Test(ptx_machine_checks, a_launch_can_be_stopped) {
    struct machine_config c = {.threads = 2, .instructions = UINT64_MAX / 2};
    struct machine_room *r = room_new(HEAD "L: add.u32 %r3, %r3, 1; bra L;\n" END, &c);
    room_buffer(r, "out", 256, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, stopper, r->machine);
    cr_expect_eq(room_launch(r, 4, 64), MACHINE_STOPPED);
    pthread_join(thread, NULL);
    room_free(r);
}

Test(ptx_machine_checks, impossible_launches_are_refused) {
    struct machine_room *r = room_new(HEAD END, NULL);
    room_buffer(r, "out", 256, 0);
    cr_expect_eq(room_launch(r, 1, 1025), MACHINE_REFUSED);
    cr_expect_neq(r->refused[0], 0);
    cr_expect_eq(room_launch(r, 0, 32), MACHINE_REFUSED);
    r->param_bytes = 4;
    cr_expect_eq(room_launch(r, 1, 32), MACHINE_REFUSED);
    struct err err = {0};
    uint64_t address;
    void *host;
    cr_expect_eq(
        machine_alloc(r->machine, "big", UINT64_C(1) << 40, 0, &address, &host, &err),
        -ENOMEM);
    room_free(r);
}

Test(ptx_machine_checks, what_cannot_run_is_named_before_anything_runs) {
    const char *text = ".version 9.0\n.target sm_90a\n.address_size 64\n"
                       ".visible .entry k() { tcgen05.wait::ld.sync.aligned;\n"
                       "tcgen05.wait::ld.sync.aligned;\n.reg .f32 f; .reg .b16 h;\n"
                       "add.f32.bf16 f, h, f;\nsub.f32.f16 f, h, f;\n"
                       "fma.rn.f32.bf16 f, h, h, f; ret; }\n"
                       ".visible .entry fine() { ret; }\n";
    struct ptx_module *module = NULL;
    struct machine *m = NULL;
    struct err err = {0};
    json_t *list = NULL;
    struct machine_config c = {.threads = 1};
    cr_assert_eq(ptx_module_read(&module, text, strlen(text), &err), 0, "%s", err.msg);
    cr_expect_eq(machine_new(&m, module, NULL, &c, &list, &err), -ENOTSUP);
    static const struct {
        const char *opcode;
        int count, line;
    } rows[] = {{"tcgen05.wait::ld.sync.aligned", 2, 4},
                {"add.f32.bf16", 1, 7},
                {"sub.f32.f16", 1, 8},
                {"fma.rn.f32.bf16", 1, 9}};
    cr_assert_eq(json_array_size(list), ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        json_t *one = json_array_get(list, i);
        cr_expect_str_eq(json_get_string(one, "opcode", ""), rows[i].opcode);
        cr_expect_eq(json_get_integer(one, "count", 0), rows[i].count);
        cr_expect_eq(json_get_integer(one, "ptx_line", 0), rows[i].line);
    }
    json_decref(list);
    const char *entries[] = {"fine", NULL};
    cr_assert_eq(machine_new(&m, module, entries, &c, NULL, &err), 0);
    machine_free(m);
    ptx_module_free(module);
}

/* Findings, counters and results are the same whatever the number of threads. The second
 * load is 7^3 elements ahead, which no other block writes either. */
Test(ptx_machine_checks, threads_change_nothing) {
    char *expected = NULL;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct machine_config c = {.checks = MACHINE_CHECK_DEFAULT, .threads = threads};
        struct machine_room *r = room_new(
            HEAD "rem.u32 %r3, %i, 7; setp.eq.u32 %p1, %r3, 3; @%p1 bra S;\n"
                 "st.global.u32 [%at], %i;\n"
                 "S: ld.global.u32 %r4, [%at]; @%p1 ld.global.u32 %r4, [%at+9604];\n" END,
            &c);
        uint32_t *out =
            room_buffer(r, "out", 50 * 96 * 4, MACHINE_UNINITIALIZED | MACHINE_OUTPUT);
        room_launch(r, 50, 96);
        json_t *counters = machine_counters(r->machine);
        char *text = json_dumps(counters, 0), *found = room_findings(r), *all = NULL;
        cr_assert_gt(asprintf(&all, "%s %s %d %u", text, found, r->end, out[3]), 0);
        if (expected) {
            cr_expect_str_eq(all, expected);
        } else {
            expected = strdup(all);
        }
        free(text), free(found), free(all);
        json_decref(counters);
        room_free(r);
    }
    free(expected);
}

static json_t *count_of(const char *body, uint32_t threads) {
    struct machine_room *r = room_new(body, NULL);
    room_buffer(r, "out", 65536, 0);
    cr_expect_eq(room_launch(r, 1, threads), MACHINE_DONE);
    json_t *counters = machine_counters(r->machine);
    room_free(r);
    return counters;
}

static void expect_count(const char *body, const char *key, json_int_t expect) {
    json_t *counters = count_of(body, 32);
    cr_expect_eq(json_get_integer(counters, key, -1), expect, "%s: %lld instead of %lld",
                 key, (long long)json_get_integer(counters, key, -1), (long long)expect);
    json_decref(counters);
}

Test(ptx_machine_checks, sectors_and_banks_by_the_rules) {
    expect_count(HEAD "ld.global.u32 %r3, [%at];\n" END, "global_sectors", 4);
    expect_count(HEAD "ld.global.u32 %r3, [%at+4];\n" END, "global_sectors", 5);
    expect_count(HEAD "ld.global.u32 %r3, [%rd1];\n" END, "global_sectors", 1);
    /* Every eighth word, by turns in shared memory, 8 wavefronts, and in global. */
    expect_count(HEAD ".shared .align 16 .b8 sm[1024]; mov.u64 %rd2, sm;\n"
                      "cvta.shared.u64 %rd3, %rd2; shl.b64 %rd4, %rd0, 3;\n"
                      "add.u64 %rd5, %rd2, %rd4; st.shared.u32 [%rd5], %r2;\n"
                      "mov.u32 %r4, 0;\n"
                      "AGAIN: and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 0;\n"
                      "selp.b64 %rd6, %rd3, %rd1, %p1;\n"
                      "add.u64 %rd6, %rd6, %rd4; ld.u32 %r3, [%rd6];\n"
                      "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 6;\n"
                      "@%p1 bra AGAIN;\n" END,
                 "global_sectors", 3 * 8 + 3 * 32);
    expect_count(HEAD "shl.b64 %rd3, %rd0, 3; add.u64 %rd3, %rd1, %rd3;\n"
                      "ld.global.u32 %r3, [%rd3];\n" END,
                 "global_sectors", 32);
    expect_count(HEAD "shl.b64 %rd3, %rd0, 2; add.u64 %rd3, %rd1, %rd3;\n"
                      "ld.global.v4.u32 {%r3,%r4,%r5,%r6}, [%rd3];\n" END,
                 "global_sectors", 16);
#define BANKS(stride)                                                                    \
    HEAD ".shared .align 16 .b8 s[16384]; mov.u32 %r3, s;\n"                             \
         "mad.lo.u32 %r4, %r2, " stride ", %r3; st.shared.u32 [%r4], %i;\n" END
    expect_count(BANKS("4"), "shared_bank_conflicts", 0);
    expect_count(BANKS("8"), "shared_bank_conflicts", 1);
    expect_count(BANKS("128"), "shared_bank_conflicts", 31);
    expect_count(BANKS("132"), "shared_bank_conflicts", 0);
    expect_count(BANKS("0"), "shared_bank_conflicts", 0);
    expect_count(HEAD
                 "setp.lt.u32 %p1, %r2, 8; @%p1 bra X; add.u32 %r3, %r2, 1; X:\n" END,
                 "divergent_branches", 1);
}
