#pragma once
/* findings: faults of kernels, one finding per instruction and code.
 *
 * Of several occurrences the one with the lowest launch, block and thread is kept and all
 * are counted, so the result does not depend on the order of threads. Any
 * thread may add findings. */
#include "base/json.h"
#include "gpu/ptx/state/program.h"

struct findings;

enum finding_code {
    FINDING_OUT_OF_BOUNDS,
    FINDING_MISALIGNED,
    FINDING_UNINITIALIZED,
    FINDING_BARRIER_DIVERGENCE,
    FINDING_INVALID_MASK,
    FINDING_DEADLOCK,
    FINDING_ASSERT,
    FINDING_TRAP,
    FINDING_INPUT_MODIFIED,
    FINDING_LAUNCH_ERROR,
    FINDING_STACK_OVERFLOW,
    FINDING_RACE,        /* through shared memory */
    FINDING_GLOBAL_RACE, /* through global memory, also inside a block */
    FINDING_INVALID_MBARRIER,
    FINDING_INVALID_TENSOR_MAP,
    FINDING_UNWAITED_COPY, /* a block ended before a bulk copy had */
    FINDING_MISSING_FENCE, /* nothing orders the writes that an engine or thread reads */
    FINDING_EARLY_EXIT,    /* a block exits while others may access its shared memory */
    FINDING_INVALID_METADATA, /* of a sparse matrix */
    FINDING_UNCONFIRMED_SUMS, /* of a sparse product */
    FINDING_UNFINISHED,       /* where a warp was when budget or time ended the launch */
};

/* The message of related places that are calls of inlined functions, from the innermost
 * outwards. In `related` they follow the place to which they belong; the finding's own
 * come first. */
#define FINDING_CALL "called from here"

/* max: told at most; 0 = all that are kept apart. */
struct findings *findings_new(unsigned max);
void findings_free(struct findings *f);
/* Call before each launch. label: borrowed until the next call. */
void findings_launch(struct findings *f, const char *label, const uint32_t block_dim[3]);
/* Call after a launch: turns errors that proved harmless into warnings. */
void findings_settle(struct findings *f);
/* The number of different findings so far, how often anything was found, and the finding
 * with a number from 0 in order of arrival (a new reference): for reporting between
 * launches. */
size_t findings_kept(const struct findings *f);
uint64_t findings_told(const struct findings *f);
json_t *findings_get(const struct findings *f, size_t number);
/* The latest launch, counted from 1, and the one whose thread a finding names. */
uint32_t findings_launches(const struct findings *f);
uint32_t findings_launch_of(const struct findings *f, size_t number);
/* The address of the allocation that it is about; 0: it is about none. */
uint64_t findings_memory_of(const struct findings *f, size_t number);
/* How often each of the findings_kept was found (owned; NULL: none is kept). */
uint64_t *findings_counts(const struct findings *f);
/* Counts the first ones once more, as an equal launch would. */
void findings_count_again(struct findings *f, const uint64_t *counts, size_t count);
/* All findings; a new reference. */
json_t *findings_json(const struct findings *f, uint64_t *ret_omitted);

/* {"file", "line", "column"?, "related"?: the calls that led there} of an instruction. */
json_t *finding_place_json(const struct ptx_module *m, uint32_t function,
                           uint32_t instruction);

/* The other access of a finding that involves two. */
struct finding_other {
    uint32_t function, instruction; /* of the module */
    uint64_t block;                 /* x fastest */
    uint32_t thread;                /* of the block, x fastest */
    char message[96];
};

/* An instruction, and the thread that ran it. */
struct finding_thread {
    const struct ptx_module *module;
    const char *kernel; /* the launch's label: borrowed until the next launch */
    uint64_t block;
    uint32_t function, instruction, launch;
    uint32_t thread; /* of the block, x fastest */
    uint32_t block_id[3], block_dim[3];
};
struct finding_thread finding_thread(const struct warp *w, const struct step *s,
                                     unsigned lane);
/* Adds an error of a thread that may have exited. */
void finding_add_of(struct findings *f, const struct finding_thread *by,
                    enum finding_code code, const char *buffer, int64_t offset,
                    const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/* The same as a warning. */
void finding_warn_of(struct findings *f, const struct finding_thread *by,
                     enum finding_code code, const char *buffer, int64_t offset,
                     const char *text);

/* Adds a remark on an instruction of the launch that begins, as of its first thread. */
void findings_remark(struct findings *f, const struct ptx_module *m, uint32_t function,
                     uint32_t instruction, enum finding_code code, const char *message);

/* The thread is lane `lane` of w; buffer: NULL or a name, with an offset. */
struct finding_place {
    struct warp *warp;
    const struct step *step;
    unsigned lane;
    const char *buffer;
    int64_t offset;
    bool warning, info; /* else an error; info goes first */
    /* NULL, or set at the end of the launch if the error is only a warning */
    const bool *harmless;
    const struct finding_other *other; /* or NULL */
    uint64_t memory;                   /* the allocation's address; 0: none is known */
    /* ordered after the launch's others, also when the occurrence to keep is chosen */
    bool last;
};
void finding_add(const struct finding_place *at, enum finding_code code, const char *fmt,
                 ...) __attribute__((format(printf, 3, 4)));
/* A block or a thread, [x, y, z]. */
json_t *finding_triple(const uint32_t v[3]);
