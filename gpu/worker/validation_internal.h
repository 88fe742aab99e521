#pragma once
/* validation_internal: shared by validation.c (a request, its child, its time) and
 * validation_again.c (why it may need another child after the first). */
#include "gpu/worker/validation.h"
#include "gpu/worker/worker_internal.h"

struct validation {
    struct validation *next;
    struct worker *worker;
    struct rpc_call *call;
    struct buf head; /* for the next child */
    struct attachment request;
    int arena;       /* memory for saved arrays, or -1 */
    uint64_t parcel; /* the parcel in which the arena was sent; 0: not yet */
    struct validate_limits limits;
    struct worker_child *child;
    size_t answer_bytes; /* as the child announced; 0: not yet */
    bool on_device;
    uint64_t deadline_ms;
    uint64_t killed_ms; /* 0 = not yet */
    uint64_t told_ms;   /* time of the last progress note */
    unsigned sooner;       /* notes that did not keep the distance */
    bool cancelled, timed_out;
    bool wants_devices; /* it is a `worker/devices` */
    bool is_program;    /* it is a `program`: its child is a program_child */
    bool in_trial;      /* the driver did not start: its child is a driver_trial */
    bool is_retried;    /* it runs once more after the trial */
    /* While the kernel runs once more, under compute-sanitizer: */
    json_t *answer;          /* the ordinary run's */
    char *folder;            /* of that run, or of the program */
    char key[HASH_HEX_SIZE]; /* of the request, in sanitize_memory; "": not remembered */
};

/* --- validation_again.c --- */

/* Whether this answer must wait: v->head is for another child. */
bool validation_needs_another(struct worker *w, struct validation *v, json_t *answer);
/* For v->in_trial; answer NULL: the trial did not finish. v->head is for the repeated
 * run. */
void validation_trial_ended(struct worker *w, struct validation *v, const json_t *answer);
/* The ordinary answer with the tool's findings; a new reference. report NULL: its child
 * gave none and ended with this status, or 0 if it is still running and is abandoned. */
json_t *validation_sanitized(struct validation *v, const json_t *report, int status);
