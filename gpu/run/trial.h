#pragma once
/* trial: one case run once on one backend, in memory of its own.
 *
 * Both the kernel under test and a reference kernel are run this way. */
#include "base/err.h"
#include "gpu/run/run_notes.h"

/* The kernels of a module by the name that the spec gives them. */
struct trial_entries {
    const json_t *json; /* {"name or \"\"": {"symbol", "name"}} */
};

struct trial {
    const struct backend_class *class;
    struct backend *backend;
    const struct spec_case *check;
    uint64_t seed;
    uint64_t *addresses; /* by the spec's buffers */
    /* Their contents before the launches, by buffer: an input's where the kernel reads
     * it, unless it may have written there; others' in a copy (`copied`), which is owned.
     * NULL of an output without first contents that nothing reads. */
    void **before;
    bool *copied;
    struct backend_launch *launches; /* ready to be carried out; blocks owned */
    size_t launch_count;
    struct trial_contents *contents; /* of ARG_CONTENTS, in the order of the launches */
    size_t content_count;
    enum backend_end end;
    struct run_notes *notes; /* or NULL */
    bool is_reference;
};

struct trial_options {
    const char *ptx;
    const void *cubin; /* of the same module, or NULL */
    size_t cubin_len;
    const char *device; /* or NULL */
    struct trial_entries entries;
    unsigned checks;
    bool counters, ideal_sums;
    uint64_t instructions, memory;
    unsigned threads;
    struct run_notes *notes; /* where to tell how far it is, or NULL */
    bool is_reference;       /* so called there */
};

/* Where a trial went wrong, for the result's `error`. */
struct trial_problem {
    const char *stage; /* "spec", "compile", "launch", "run" */
    char code[64];
    char hint[256]; /* "" = none */
    struct err err;
    json_t *unsupported; /* owned */
};

/* The mangled name of what a launch launches; NULL. Borrowed. */
const char *trial_symbol(const struct trial_options *o, const struct spec_launch *launch);
/* Are an output's first contents read by anyone but the kernel? Poison is by expressions
 * alone. */
bool trial_reads_before(const struct kernel_spec *spec, size_t buffer);
/* Open, allocate, fill and launch: the spec's launches, or where the options say so the
 * reference's. 0 when every launch was carried out to some end
 * (trial->end of the last one); else -1 with problem filled. Finish it in both cases. */
int trial_run(struct trial *ret, const struct backend_class *class,
              const struct spec_case *check, uint64_t seed,
              const struct trial_options *options, struct trial_problem *problem);
/* The first half of it: everything is placed, nothing launched. */
int trial_open(struct trial *ret, const struct backend_class *class,
               const struct spec_case *check, uint64_t seed,
               const struct trial_options *options, struct trial_problem *problem);
/* Once more in the same memory and with the same loaded module: first contents are
 * restored, those of another seed, and the launches carried out. */
int trial_again(struct trial *t, uint64_t seed, struct trial_problem *problem);
/* Stops the launch that is going on, and those that would follow. Async-signal-safe. */
void trials_stop(void);
bool trials_stopped(void);
/* The bytes of a buffer now; malloc'ed, NULL with err. */
void *trial_read(const struct trial *t, size_t buffer, struct err *err);
/* The same where they are, or in *ret_owned, which the caller frees. */
const void *trial_view(const struct trial *t, size_t buffer, void **ret_owned,
                       struct err *err);
/* Bytes of an output that nothing wrote, of the elements that are judged (NULL: of all),
 * and the first one's offset; 0 where the backend cannot know. */
uint64_t trial_unwritten(const struct trial *t, size_t buffer, const bool *judged,
                         uint64_t *ret_first);
/* After trials_stop() large buffers are left to the end of the process. */
void trial_finish(struct trial *t);
/* Case i, trial k of a run's seed: independent streams. The first trial of the first case
 * has the run's own, so that any trial can be repeated by its case and seed alone. */
uint64_t trial_seed(uint64_t seed, size_t spec_case, unsigned trial);
/* "0x0123456789abcdef": new reference. */
json_t *trial_seed_to_json(uint64_t seed);
