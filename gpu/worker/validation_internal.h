#pragma once
/* validation_internal: what validation.c (a request, its child, its time) and
 * validation_again.c (why it may need another child after the first) share. */
#include "base/hash.h"
#include "gpu/worker/validation.h"
#include "gpu/worker/worker_child.h"
#include "gpu/worker/worker_internal.h"

struct validation {
    struct validation *next;
    struct worker *worker;
    struct rpc_call *call;
    struct buf head; /* for the next child */
    struct attachment request;
    int arena;       /* memory for arrays that leave, or -1 */
    uint64_t parcel; /* in which that went; 0: not yet */
    struct validate_limits limits;
    struct worker_child *child;
    size_t answer_bytes; /* as it told; 0: not yet */
    bool on_device;
    uint64_t deadline_ms;
    uint64_t killed_ms; /* 0 = not yet */
    uint64_t told_ms;   /* progress, last */
    bool cancelled, timed_out;
    bool wants_devices; /* it is a `worker/devices` */
    bool is_program;    /* it is a `program`: its child is a program_child */
    bool in_trial;      /* the driver did not start: its child is a driver_trial */
    bool is_retried;    /* after that */
    /* While the kernel runs once more, under compute-sanitizer: */
    json_t *answer;          /* the ordinary run's */
    char *folder;            /* of that run, or of the program */
    char key[HASH_HEX_SIZE]; /* of the request, in the worker's memory; "": not kept */
};

/* --- validation_again.c --- */

/* True when this answer is not yet to be given: v->head is for another child. */
bool validation_needs_another(struct worker *w, struct validation *v, json_t *answer);
/* Of v->in_trial; answer NULL: the trial came to no end. v->head is for the run, once
 * more. */
void validation_trial_ended(struct worker *w, struct validation *v, const json_t *answer);
/* The ordinary answer with what the tool found; a new reference. report NULL: its child
 * gave none and ended with this status, 0 where it lives and is left. */
json_t *validation_sanitized(struct validation *v, const json_t *report, int status);
