#pragma once
/* machine: runs kernels of a PTX module on the CPU, a warp of 32 lanes per step.
 *
 * One machine is one device: memory, a module, and launches one after the other. Blocks
 * are spread over threads; a block's warps take turns (a quantum of instructions), so
 * that spin waits progress. Results, findings and counters do not depend on the number
 * of threads. Device addresses exist only in the emulator (guard gaps between
 * allocations, never host pointers). A kernel's faults become findings or a named end of
 * the launch, never a crash. Semantics: PTX ISA 9.0; rules of checks and counters:
 * docs/architecture/emulator.md.
 *
 * Call from one thread. */
#include "base/json.h"
#include "gpu/ptx/image/image_make.h"
#include "gpu/ptx/state/launch.h"

struct findings;
struct images;
struct machine;
struct memory;
struct race_run;

enum machine_check { /* bits */
                     MACHINE_CHECK_MEMORY =
                         1, /* bounds, alignment, read-only: needed for safety, so
                               bounds are always enforced; without the bit a fault
                               ends the launch with no further looking */
                     MACHINE_CHECK_INITIALIZED = 2, /* global, shared, local */
                     MACHINE_CHECK_RACE = 4, /* shared and global memory; launches then
                                                run on one thread */
                     MACHINE_CHECK_BARRIER = 8,
                     MACHINE_COUNTERS = 16,
                     MACHINE_CHECK_DEFAULT = 1 | 2 | 8 | 16,
};

/* State that the machines of several modules of one device share. Its owner initialises
 * it before and finishes it after all of them. */
struct machine_space {
    struct memory *memory; /* also of the device's heap */
    struct images *images;
    struct findings *findings;
    struct race_run *race; /* NULL unless MACHINE_CHECK_RACE is set */
    /* Whether code other than kernels may still write memory that kernels poll; then
     * polling threads are no deadlock. NULL: it cannot. */
    bool (*awaits_host)(const struct machine_space *space);
    /* Of a thread's stack: what deeper recursions are told of. A launch raises it to what
     * its code takes if each function is called once, and it stays so, as CUDA's driver
     * does it. NULL: no limit. */
    uint64_t *stack_bytes;
};

struct machine_config {
    const struct machine_space *space; /* borrowed; NULL: a space of its own */
    unsigned checks;                   /* bits above */
    unsigned threads;                  /* 0 = as many as there are CPUs */
    uint64_t instructions; /* budget in lane-instructions of all launches; 0 = 2e9 */
    uint64_t memory;       /* bytes of device memory; 0 = 1 GiB */
    uint64_t seed;         /* poison patterns and schedules */
    bool one_lane;   /* execute lane after lane: for benches and differential tests */
    bool ideal_sums; /* matrix products of floats: exact products, summed in binary64 in
                        the order of k and rounded once; else an H100's bits
                        (alu/fused_sum.h) */
    uint32_t emit_after;   /* entries after which a block becomes code (emit.h); 0 = the
                              environment's UPSKILLD_EMULATOR_CODE */
    unsigned max_findings; /* told; 0 = all that are kept apart (findings.c) */
    size_t max_printf;     /* bytes; 0 = 64 KiB */
};

/* module is borrowed for the machine's life. With a space, the space determines
 * `memory`, `seed` and `max_findings`. -ENOTSUP if functions that `entries`
 * (NULL-terminated mangled names; NULL = every entry) reach contain instructions that
 * cannot run: *ret_unsupported (may be NULL) is then an array of {"opcode", "file"?,
 * "line"?, "ptx_line", "count"}, one per spelling. */
int machine_new(struct machine **ret, const struct ptx_module *module,
                const char *const *entries, const struct machine_config *config,
                json_t **ret_unsupported, struct err *err);
void machine_free(struct machine *m);
/* Lowers an entry that was not among machine_new's; no-op if done before. Errors as for
 * machine_new, and -ENOENT. */
int machine_prepare(struct machine *m, const char *entry, json_t **ret_unsupported,
                    struct err *err);

/* Allocates `bytes` (may be 0) of device memory, 256-byte aligned. name: its name in
 * findings (copied). *ret_host: its bytes, valid until released. -ENOMEM over the
 * budget. */
int machine_alloc(struct machine *m, const char *name, uint64_t bytes, unsigned flags,
                  uint64_t *ret_address, void **ret_host, struct err *err);
int machine_release(struct machine *m, uint64_t address); /* later use is a finding */
/* A __device__ or __constant__ variable by its PTX name; -ENOENT. Marks it written. */
int machine_global(struct machine *m, const char *name, uint64_t *ret_address,
                   uint64_t *ret_bytes, void **ret_host);
/* *ret_handle: a cudaTextureObject_t or cudaSurfaceObject_t for kernels, valid for the
 * machine's life. -EINVAL: err says what does not fit. */
int machine_image(struct machine *m, const struct machine_image *image,
                  uint64_t *ret_handle, struct err *err);
/* The number of bytes of an output that no launch wrote, and the first such offset. */
uint64_t machine_unwritten(const struct machine *m, uint64_t address,
                           uint64_t *ret_first);
/* Whether a launch may have written to the buffer at `address`. */
bool machine_is_touched(const struct machine *m, uint64_t address);
/* Whether launches wrote all these bytes of an output. */
bool machine_is_written(const struct machine *m, uint64_t address, uint64_t bytes);

/* REFUSED fills err (too many threads, shared memory, wrong parameter size …). */
enum machine_end machine_launch(struct machine *m, const struct machine_launch *launch,
                                struct err *err);
void machine_stop(struct machine *m); /* from any thread or a signal handler */

/* New references. Findings: finding.h's format ({"source": "run", "code", "severity",
 * "message", "file", "line", "column"?, "kernel", "block", "thread", "buffer"?,
 * "offset"?, "count"}), deduplicated by instruction and code, in an order that does not
 * depend on threads; *ret_omitted counts what was not kept. */
json_t *machine_findings(const struct machine *m, uint64_t *ret_omitted);
/* kernel/validate's "counters", all launches together, with "by_line" and "by_kernel". */
json_t *machine_counters(const struct machine *m);
const char *machine_printf(const struct machine *m); /* what kernels printed */
/* The first matrix product with an H100's sums among those that keep the fewest bits:
 * {"kernel", "file", "line", "column"?, "related"?, "bits": of fraction}, new reference;
 * NULL: there was none, or sums are ideal. */
json_t *machine_tensor_sum(const struct machine *m);
/* A text on what a check left out, or NULL: races beyond the size of their history. */
const char *machine_unchecked(const struct machine *m);
uint64_t machine_spent(const struct machine *m); /* lane-instructions */
/* How often a warp ran a block as host code (emit.h), in all launches. */
uint64_t machine_native_runs(const struct machine *m);
/* The number of blocks of the latest launch that have started, out of *ret_blocks. From
 * any thread. */
uint64_t machine_progress(const struct machine *m, uint64_t *ret_blocks);
