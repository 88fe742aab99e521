#pragma once
/* validation: the supervisor's side of validate_child.h: one process per `validate`
 * request, with a deadline, ended by a cancellation.
 *
 * The lines that a child writes are notes and are forwarded as `validate/note` with the
 * request's id, progress at most ten times a second. Its answer is forwarded unread, as
 * the attachment of the reply, unless it ran on a device: then it may need another
 * child. */
#include "base/json.h"

struct rpc_call;
struct worker;

#define VALIDATION_MAX_NOTE (256u << 10) /* bytes of one note's text */
enum { VALIDATE_CHILD_BAD_JOB = 93, VALIDATIONS_MAX = 64 };

/* Of one validation; out-of-range values are brought into range. */
struct validate_limits {
    unsigned wall_ms;    /* 30 000; at most an hour */
    unsigned save_ms;    /* 0; after wall_ms, for files that are still on their way */
    unsigned cpu_s;      /* of all threads: computed from wall_ms and the cores */
    size_t memory_bytes; /* address space: twice the run's limit, and 8 GiB */
};
void validate_limits_read(struct validate_limits *ret, const json_t *json);

/* Each ends with rpc_reply or rpc_error. */
void validation_start(struct worker *w, struct rpc_call *call);
void devices_start(struct worker *w, struct rpc_call *call); /* `worker/devices` */
void program_start(struct worker *w, struct rpc_call *call); /* `program` */
/* Starts waiting requests; at most as many run as there are cores. */
void validations_advance(struct worker *w);
uint64_t validations_tick(struct worker *w, uint64_t now);
void validations_free(struct worker *w);
