#pragma once
/* trial: runs one case once on one backend, in its own memory.
 *
 * Used for the kernel under test and for reference kernels. */
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
    /* Contents before the launches, by buffer: for an input the memory that the kernel
     * reads, unless a launch may have written to it; for others an owned copy (`copied`).
     * NULL for an output without initial contents that nothing reads. */
    void **before;
    bool *copied;
    struct backend_launch *launches; /* ready to launch; owns the parameter blocks */
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
    struct trial_entries entries;
    unsigned checks;
    bool counters, ideal_sums;
    uint64_t instructions, memory;
    unsigned threads;
    struct run_notes *notes; /* for progress, or NULL */
    bool is_reference;       /* for the texts of notes */
};

/* Where a trial went wrong, for the result's `error`. */
struct trial_problem {
    const char *stage; /* "spec", "compile", "launch", "run" */
    char code[64];
    char hint[256]; /* "" = none */
    struct err err;
    json_t *unsupported; /* owned */
};

/* The mangled name of a launch's kernel, borrowed; NULL: unknown. */
const char *trial_symbol(const struct trial_options *o, const struct spec_launch *launch);
/* Whether anything other than the kernel reads an output's initial contents; poison is
 * read by expressions only. */
bool trial_reads_before(const struct kernel_spec *spec, size_t buffer);
/* Opens the backend, allocates, fills and launches: the spec's launches, or the
 * reference's if the options say so. 0 if every launch came to some end (trial->end of
 * the last one); otherwise -1 with problem filled. Call trial_finish in both cases. */
int trial_run(struct trial *ret, const struct backend_class *class,
              const struct spec_case *check, uint64_t seed,
              const struct trial_options *options, struct trial_problem *problem);
/* Only the first half: allocates and fills everything, launches nothing. */
int trial_open(struct trial *ret, const struct backend_class *class,
               const struct spec_case *check, uint64_t seed,
               const struct trial_options *options, struct trial_problem *problem);
/* Runs the launches again in the same memory with the same loaded module, on initial
 * contents from another seed. */
int trial_again(struct trial *t, uint64_t seed, struct trial_problem *problem);
/* Stops the running launch and all later ones. Async-signal-safe. */
void trials_stop(void);
bool trials_stopped(void);
/* The present bytes of a buffer: malloc'ed, or NULL with err. */
void *trial_read(const struct trial *t, size_t buffer, struct err *err);
/* The same without a copy if possible, otherwise in *ret_owned, which the caller frees.
 */
const void *trial_view(const struct trial *t, size_t buffer, void **ret_owned,
                       struct err *err);
/* The number of unwritten bytes in the judged elements of an output (NULL: in all), and
 * the first one's offset; 0 if the backend cannot know. */
uint64_t trial_unwritten(const struct trial *t, size_t buffer, const bool *judged,
                         uint64_t *ret_first);
/* After trials_stop() it does not free large buffers; the process is about to end. */
void trial_finish(struct trial *t);
/* The seed of trial k of case i, an independent stream of the run's seed. The first
 * trial of the first case has the run's own, so that case and seed suffice to repeat any
 * trial. */
uint64_t trial_seed(uint64_t seed, size_t spec_case, unsigned trial);
/* "0x0123456789abcdef": new reference. */
json_t *trial_seed_to_json(uint64_t seed);
