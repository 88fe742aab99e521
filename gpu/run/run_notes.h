#pragma once
/* run_notes: what a validation tells while it goes on: where it is, and files that were
 * asked for.
 *
 * A note is {"progress": {"done", "total", "message"}} or {"file": {"name", "bytes",
 * "data": base64, "last"}}, a part of a file of NOTES_PART_BYTES at most; the parts of
 * a file follow each other. Where the run has memory for them, a file is {"name",
 * "bytes", "at": its place there} instead. done and total count trials; what a trial is
 * made of has nominal shares of it. While something takes long a thread of its own
 * repeats the latest note twice a second, with the seconds it has taken and the share of
 * a launch's blocks that have begun. */
#include "gpu/run/backend.h"

struct run_notes;

#define NOTES_PART_BYTES (96u << 10) /* in base64 far below what is parsed on a loop */

/* Called by one thread at a time; note is borrowed. May block: so does the run then. */
typedef void run_notes_send(const json_t *note, void *data);

enum run_phase {
    PHASE_LOAD,             /* the module */
    PHASE_INPUTS,           /* are made */
    PHASE_KERNEL,           /* runs */
    PHASE_REFERENCE_INPUTS, /* the same for the reference */
    PHASE_REFERENCE,
    PHASE_COMPARE,
    PHASE_AGAIN,  /* launched again on other inputs */
    PHASE_TIMING, /* a benchmark */
    PHASE_SAVE,   /* files leave */
    PHASES,
};

/* arena: a file that files are written to, of memory as a rule; or -1. */
struct run_notes *run_notes_new(run_notes_send *send, void *data, int arena);
void run_notes_free(struct run_notes *n);

/* All of the following do nothing without notes (NULL). */

/* There are `total` trials in all. */
void run_notes_plan(struct run_notes *n, unsigned total);
/* The next trial: case i of `cases`, trial k of `trials` (from 0); added: a case that was
 * not asked for. What was before is done. */
void run_notes_trial(struct run_notes *n, const struct spec_case *c, size_t i,
                     size_t cases, unsigned k, unsigned trials, bool added);
void run_notes_phase(struct run_notes *n, enum run_phase phase);
/* How long the run has been in each, those of one name together: [{"phase", "ms"}], in
 * the order of a trial. NULL without notes. New reference. */
json_t *run_notes_times(struct run_notes *n);
/* A backend whose launch begins, to be asked how far it is; NULL: it has ended. */
void run_notes_launch(struct run_notes *n, const struct backend_class *class,
                      const struct backend *b);
int run_notes_arena(const struct run_notes *n);
/* A whole file that is in the arena. */
void run_notes_file_at(struct run_notes *n, const char *name, uint64_t bytes,
                       uint64_t at);
/* Any other. */
void run_notes_file(struct run_notes *n, const char *name, const void *bytes, size_t len);
