#pragma once
/* Kernels of PTX for tests of mbarriers, asynchronous copies and clusters: what every one
 * of them begins and ends with, and what is expected of a launch. */
#include "tests/unit/gpu/machine_room.h"

#define OUT_FLAGS (MACHINE_UNINITIALIZED | MACHINE_OUTPUT)
#define ALL_CHECKS (MACHINE_CHECK_DEFAULT | MACHINE_CHECK_RACE)

/* Every thread has its number in the grid in %i, in its block in %t, the address of its
 * word of `out` in %at; `more` are further parameters and directives. */
#define HEAD_WITH(params, directives, shared)                                            \
    ".visible .entry k(.param .u64 out" params ") " directives                           \
    "{ .reg .b32 %r<60>, %i, %t; .reg .b64 %rd<30>, %at, %s<4>; .reg .b16 %h<4>;\n"      \
    ".reg .pred %p<10>, %q; .reg .b32 %parity;\n" shared                                 \
    "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %t, %tid.x;\n"                 \
    "mad.lo.s32 %i, %r0, %r1, %t; mul.wide.u32 %rd0, %i, 4;\n"                           \
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd1, %rd1;\n"                         \
    "add.s64 %at, %rd1, %rd0; setp.eq.u32 %q, %t, 0; mov.u32 %parity, 0;\n"
#define BAR ".shared .align 8 .b64 bar;\n"
#define HEAD HEAD_WITH("", "", BAR ".shared .align 128 .b8 tile[4096];\n")
#define CLUSTER(n)                                                                       \
    HEAD_WITH("", ".reqnctapercluster " n ", 1, 1\n",                                    \
              BAR ".shared .align 128 .b8 tile[4096];\n")
#define TAIL(r) "st.global.u32 [%at], " r "; ret; }\n"
#define WAIT(label)                                                                      \
    label ": mbarrier.try_wait.parity.shared::cta.b64 %p9, [bar], %parity;\n"            \
          "@!%p9 bra " label ";\n"
#define INIT(count)                                                                      \
    "@%q mbarrier.init.shared::cta.b64 [bar], " count ";\n"                              \
    "fence.mbarrier_init.release.cluster; fence.proxy.async; bar.sync 0;\n"
#define MEET "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n"
/* The address of this thread's word of tile in %rd3. */
#define MINE "mul.wide.u32 %rd2, %t, 4; mov.u64 %rd3, tile; add.s64 %rd3, %rd3, %rd2;\n"

void no_findings(struct machine_room *r);
/* out[i] is expect(i), and nothing is found. */
void check_kernel(const char *body, uint32_t blocks, uint32_t threads,
                  uint32_t (*expect)(uint32_t), const struct machine_config *c);
/* Warps together and lane after lane, other orders of the warps, more threads. */
void check_all_ways(const char *body, uint32_t blocks, uint32_t threads,
                    uint32_t (*expect)(uint32_t));
/* The message of the first finding of a kind; all occurrences are counted. */
void check_finding(const char *body, uint32_t blocks, uint32_t threads,
                   enum machine_end end, const char *code, const char *words);
