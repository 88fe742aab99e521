/* The machine: bulk copies, and what of all this does not run. The kernels are PTX
 * written here; what they must give follows from the ISA's words, computed here. */
#include "tests/unit/gpu/async_room.h"

#include "base/buf.h"
#include "base/err.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

/* ---- bulk copies ---- */

static uint32_t twice(uint32_t i) {
    return 2 * i + 1;
}

/* out[i] = 2 i + 1 is copied in, the next launch's word comes back from shared memory. */
#define FILL "mad.lo.u32 %r2, %i, 2, 1; st.global.u32 [%at], %r2; bar.sync 0;\n"
#define FETCH                                                                            \
    "@%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;\n"                     \
    "mul.wide.u32 %rd5, %r0, 256; add.s64 %rd6, %rd1, %rd5;\n"                           \
    "@%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "     \
    "[%rd6], 256, [bar];\n"
Test(ptx_async, bulk_copy_in_and_out) {
    check_all_ways(
        HEAD INIT("1") FILL FETCH MINE WAIT(
            "W") "ld.shared.u32 %r3, [%rd3];\n"
                 "st.global.u32 [%at], 0;\n"
                 "st.shared.u32 [%rd3], %r3;\n"
                 "fence.proxy.async; bar.sync 0;\n"
                 "@!%q bra END;\n"
                 "cp.async.bulk.global.shared::cta.bulk_group [%rd6], [tile], 256;\n"
                 "cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;\n"
                 "END: ret; }\n",
        3, 64, twice);
}

/* Two groups: waiting for all but one leaves the younger away. */
static uint32_t older(uint32_t i) {
    return i < 32 ? 7 : 5;
}
Test(ptx_async, groups_arrive_in_their_order) {
    check_kernel(
        HEAD "mov.u32 %r2, 7; st.global.u32 [%at], 5;\n" MINE
             "st.shared.u32 [%rd3], %r2; fence.proxy.async; bar.sync 0;\n"
             "@!%q bra END;\n"
             "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n"
             "cp.async.bulk.commit_group;\n"
             "cp.async.bulk.global.shared::cta.bulk_group [%rd1+128], [tile+128], 128;\n"
             "cp.async.bulk.commit_group;\n"
             "cp.async.bulk.wait_group.read 1;\n"
             "mov.u32 %r3, 5; mov.u64 %rd7, tile; mov.u32 %r4, 0;\n"
             "L: st.shared.u32 [%rd7+128], %r3; add.s64 %rd7, %rd7, 4;\n"
             "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 32; @%p1 bra L;\n"
             "cp.async.bulk.wait_group 0;\n"
             "END: ret; }\n",
        1, 64, older,
        &(struct machine_config){.checks = MACHINE_CHECK_DEFAULT, .threads = 1});
}

static uint32_t added(uint32_t i) {
    return i % 64 * 3 + 100;
}

/* Three blocks add to the same words; the first launch's order does not matter. */
Test(ptx_async, bulk_reduction_to_global_memory) {
    struct machine_config c = {.checks = ALL_CHECKS, .threads = 3};
    struct machine_room *r = room_new(
        HEAD MINE "st.shared.u32 [%rd3], %t; fence.proxy.async.shared::cta; bar.sync 0;\n"
                  "@!%q bra END;\n"
                  "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], "
                  "[tile], 256;\n"
                  "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;\n"
                  "END: ret; }\n",
        &c);
    uint32_t *out = room_buffer(r, "out", 256, MACHINE_OUTPUT);
    for (unsigned k = 0; k < 64; k++) {
        out[k] = 100;
    }
    cr_expect_eq(room_launch(r, 3, 64), MACHINE_DONE);
    for (unsigned k = 0; k < 64; k++) {
        cr_assert_eq(out[k], added(k));
    }
    no_findings(r);
    room_free(r);
}

/* One operation and type of a reduction on 16 bytes of shared memory of the own block. */
struct reduction {
    const char *words;
    uint64_t old[2], value[2], now[2];
};
Test(ptx_async, reductions_by_type) {
    static const struct reduction cases[] = {
        {"min.s32",
         {0xfffffffb00000005, 7},
         {0x00000003fffffffe, 9},
         {0xfffffffbfffffffe, 7}},
        {"max.u32",
         {0xfffffffb00000005, 7},
         {0x00000003fffffffe, 9},
         {0xfffffffbfffffffe, 9}},
        {"inc.u32",
         {0x0000000900000005, 0},
         {0x0000000900000009, 0},
         {0x0000000000000006, 0}},
        {"dec.u32",
         {0x0000000000000005, 0},
         {0x0000000900000009, 0},
         {0x0000000900000004, 0}},
        {"xor.b32",
         {0xff00ff00ff00ff00, 1},
         {0x0ff00ff00ff00ff0, 3},
         {0xf0f0f0f0f0f0f0f0, 2}},
        {"add.u64", {0xffffffffffffffff, 1}, {2, 3}, {1, 4}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct reduction *x = &cases[k];
        autobuf body = BUF_INIT(8192);
        buf_adds(
            &body,
            HEAD INIT("1") "@!%q bra END; ld.global.v2.u64 {%rd2, %rd3}, [%rd1];\n"
                           "st.shared.v2.u64 [tile], {%rd2, %rd3};\n"
                           "ld.global.v2.u64 {%rd2, %rd3}, [%rd1+16];\n"
                           "st.shared.v2.u64 [tile+16], {%rd2, %rd3};\n"
                           "fence.proxy.async;\n"
                           "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
                           "cp.reduce.async.bulk.shared::cluster.shared::cta"
                           ".mbarrier::complete_tx::bytes.");
        buf_adds(&body, x->words);
        buf_adds(&body, " [tile], [tile+16], 16, [bar];\n" WAIT(
                            "W") "ld.shared.v2.u64 {%rd2, %rd3}, [tile];\n"
                                 "st.global.v2.u64 [%rd1], {%rd2, %rd3}; END: ret; }\n");
        struct machine_room *r = room_new(body.data, NULL);
        uint64_t *out = room_buffer(r, "out", 32, MACHINE_OUTPUT);
        memcpy(out, x->old, 16);
        memcpy(out + 2, x->value, 16);
        cr_expect_eq(room_launch(r, 1, 32), MACHINE_DONE);
        cr_expect(memcmp(out, x->now, 16) == 0, "%s: %llx %llx", x->words,
                  (unsigned long long)out[0], (unsigned long long)out[1]);
        no_findings(r);
        room_free(r);
    }
}

Test(ptx_async, wrong_bulk_copies_are_told) {
    static const struct {
        const char *body, *code, *words;
        enum machine_end end;
    } cases[] = {
        {HEAD INIT("1") FILL
         "@%q cp.async.bulk.shared::cluster.global.mbarrier::"
         "complete_tx::bytes [tile+8], [%rd1], 16, [bar];\n" TAIL("%t"),
         "misaligned", "is not a multiple of 16", MACHINE_FAULT},
        {HEAD INIT("1") FILL
         "@%q cp.async.bulk.shared::cluster.global.mbarrier::"
         "complete_tx::bytes [tile], [%rd1+64], 128, [bar];\n" TAIL("%t"),
         "out_of_bounds", "past the end of out", MACHINE_FAULT},
        {HEAD INIT("1") FILL
         "@%q cp.async.bulk.shared::cluster.global.mbarrier::"
         "complete_tx::bytes [tile+4080], [%rd1], 32, [bar];\n" TAIL("%t"),
         "out_of_bounds", "past the end", MACHINE_FAULT},
        {HEAD "@%q cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;\n"
              "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret; }\n",
         "uninitialized", "offset 0 of tile had not been written when it was read", MACHINE_DONE},
        {HEAD "mapa.shared::cluster.u32 %r2, %t, 1; ret; }\n", "out_of_bounds",
         "mapa of block 1 in a cluster of 1 blocks", MACHINE_FAULT},
        {HEAD "barrier.cluster.wait; ret; }\n", "barrier_divergence",
         "without barrier.cluster.arrive", MACHINE_DONE},
        {HEAD "barrier.cluster.arrive; barrier.cluster.arrive; barrier.cluster.wait;"
              "ret; }\n",
         "barrier_divergence", "a second time", MACHINE_DONE},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_finding(cases[k].body, 1, 32, cases[k].end, cases[k].code, cases[k].words);
    }
}

/* A race with a copy says how many bytes it moves, be they more than other accesses have.
 */
Test(ptx_async, a_race_with_a_copy_tells_its_bytes) {
    static const unsigned sizes[] = {16, 256, 4096, 32752, 32768, 40000};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        autobuf body = BUF_INIT(8192);
        buf_adds(&body, HEAD_WITH("", "", BAR ".shared .align 128 .b8 tile[40960];\n")
                            INIT("1"));
        buf_addf(&body,
                 "@%%q mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], %u;\n"
                 "@%%q cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                 "bytes [tile], [%%rd1], %u, [bar];\n",
                 sizes[k], sizes[k]);
        buf_adds(&body,
                 "bar.sync 0; ld.shared.u32 %r4, [tile+12];\n" WAIT("W") TAIL("%r4"));
        struct machine_room *r =
            room_new(body.data, &(struct machine_config){.checks = ALL_CHECKS});
        room_buffer(r, "out", 40960, MACHINE_OUTPUT);
        room_launch(r, 1, 32);
        json_t *first = NULL;
        cr_expect(room_found(r, "race", &first) > 0);
        const json_t *other = json_array_get(json_object_get(first, "related"), 0);
        char want[64];
        snprintf(want, sizeof want, "asynchronous write of %u bytes", sizes[k]);
        const char *said = json_get_string(other, "message", "");
        cr_expect(strstr(said, want), "%s: %s", want, said);
        json_decref(first);
        room_free(r);
    }
}

/* ---- what is refused, by name ---- */

Test(ptx_async, what_does_not_run_is_named) {
    static const char *const lines[] = {
        "multimem.ld_reduce.relaxed.gpu.global.add.u32 %r2, [%rd2];",
        "multimem.red.relaxed.gpu.global.add.u32 [%rd2], %r2;",
    };
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        autobuf text = BUF_INIT(4096);
        buf_adds(&text, ".version 9.0\n.target sm_90a\n.address_size 64\n"
                        ".visible .entry k(.param .u64 out) { .reg .b64 %rd<9>;\n"
                        ".reg .b32 %r<9>; .reg .b16 %h<2>;\n"
                        ".shared .align 128 .b8 tile[1024];\n" BAR);
        buf_adds(&text, lines[k]);
        buf_adds(&text, "\nret; }\n");
        struct ptx_module *module = NULL;
        struct machine *m = NULL;
        struct err err = {0};
        json_t *list = NULL;
        struct machine_config c = {.threads = 1};
        cr_assert_eq(ptx_module_read(&module, text.data, text.len, &err), 0, "%s",
                     err.msg);
        cr_expect_eq(machine_new(&m, module, NULL, &c, &list, &err), -ENOTSUP, "%s",
                     lines[k]);
        const char *name = json_get_string(json_array_get(list, 0), "opcode", "");
        cr_expect(strncmp(lines[k], name, strlen(name)) == 0 && *name, "%s", name);
        json_decref(list);
        ptx_module_free(module);
    }
}
