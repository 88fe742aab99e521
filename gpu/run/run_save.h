#pragma once
/* run_save: the arrays of a run that were asked for, as .npy files.
 *
 * They are copied when their trial ends, to the run's arena (run_notes.h) where it has
 * one, and leave when the run has ended, so that writing them takes nothing from the
 * run's time. Nothing here touches a disk: whoever asked writes them. Names are
 * "case0.trial0.y.output.npy": letters, digits, '_', '-' and '.'. */
#include "gpu/run/expectation.h"

#define SAVE_MAX_BYTES (256u << 20) /* of all files, with headers, without an arena */
#define SAVE_ALIGNED (64u << 10)    /* places in an arena, for whoever maps them */
#define SAVE_MAX_FILES 1024

struct saved_file;
struct run_save {
    const struct spec_save *wanted;
    struct saved_file *files;
    size_t count;
    uint64_t bytes;
    int arena;        /* or -1 */
    uint64_t end;     /* of what is in the arena */
    uint64_t omitted; /* files that the limits kept out */
    bool case_has_failed[SPEC_MAX_CASES];
};

/* Bytes that an arena may have: a quarter of what a run may take. */
uint64_t run_arena_bytes(void);
void run_save_start(struct run_save *s, const struct spec_save *wanted, int arena);
void run_save_finish(struct run_save *s);
/* A trial that has ended, well or not. expected may be NULL. `files` is added to
 * case_json: [{"name": the buffer's, "what": "output|expected|input", "file", "bytes",
 * "type", "dtype", "shape", "note"?}], where dtype is numpy's and note says how to read what
 * numpy has no type for. */
void run_save_trial(struct run_save *s, const struct trial *t, size_t i, unsigned k,
                    bool failed, const struct expectation *expected, json_t *case_json);
/* {"files", "bytes", "omitted"?} or NULL when nothing was asked for; and all bytes into
 * notes. */
json_t *run_save_send(struct run_save *s, struct run_notes *notes);
