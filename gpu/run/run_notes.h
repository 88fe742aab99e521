#pragma once
/* run_notes: sends a validation's progress and the requested files while it runs.
 *
 * A note is {"progress": {"done", "total", "message"}} or {"file": {"name", "bytes",
 * "data": base64, "last"}}, a part of a file of at most NOTES_PART_BYTES; the parts of a
 * file are consecutive. If the run has memory for files, a file is {"name", "bytes",
 * "at": its offset there} instead. done and total count trials; each phase of a trial
 * counts as a nominal share of it. During a long phase, a separate thread repeats the
 * latest note twice a second, with its duration in seconds and the share of a launch's
 * blocks that have begun. */
#include "gpu/run/backend.h"

struct run_notes;

/* its base64 is far below the size that is parsed on a loop */
#define NOTES_PART_BYTES (96u << 10)

/* Called by one thread at a time; note is borrowed. If it blocks, the run does too. */
typedef void run_notes_send(const json_t *note, void *data);

enum run_phase {
    PHASE_LOAD,             /* loading the module */
    PHASE_INPUTS,           /* creating the inputs */
    PHASE_KERNEL,           /* running the kernel */
    PHASE_REFERENCE_INPUTS, /* the same for the reference */
    PHASE_REFERENCE,
    PHASE_COMPARE,
    PHASE_AGAIN,  /* launching again on other inputs */
    PHASE_TIMING, /* a benchmark */
    PHASE_SAVE,   /* sending files */
    PHASES,
};

/* arena: a file to which files are written, usually in memory; or -1. */
struct run_notes *run_notes_new(run_notes_send *send, void *data, int arena);
void run_notes_free(struct run_notes *n);

/* All functions below do nothing if n is NULL. */

/* Sets the number of trials. */
void run_notes_plan(struct run_notes *n, unsigned total);
/* The next trial begins: case i of `cases`, trial k of `trials` (from 0); added: a case
 * that was not requested. Earlier trials count as done. */
void run_notes_trial(struct run_notes *n, const struct spec_case *c, size_t i,
                     size_t cases, unsigned k, unsigned trials, bool added);
void run_notes_phase(struct run_notes *n, enum run_phase phase);
/* The time spent in each phase, summed over phases of the same name: [{"phase", "ms"}],
 * in the order of a trial. NULL if n is. New reference. */
json_t *run_notes_times(struct run_notes *n);
/* A launch of the backend begins, whose progress can be queried; NULL: it has ended. */
void run_notes_launch(struct run_notes *n, const struct backend_class *class,
                      const struct backend *b);
int run_notes_arena(const struct run_notes *n);
/* A whole file in the arena. */
void run_notes_file_at(struct run_notes *n, const char *name, uint64_t bytes,
                       uint64_t at);
/* Any other file. */
void run_notes_file(struct run_notes *n, const char *name, const void *bytes, size_t len);
