#pragma once
/* validate_child: one validation, in a fresh process.
 *
 * The worker executes itself for each (`upskilld-worker --validate FD PID`), so that
 * memory of an earlier job cannot be read. The child reads validate_run.h's request from
 * the socket (child_io.h: the params are the head), chooses the backend, confines itself
 * (for the CPU no files and no processes; for a CUDA device cuda_room.h), runs, writes
 * the answer and exits. Shortly before the wall limit it stops by itself, so that its
 * results until then are not lost. For a head {"devices": true} the child answers with
 * the CUDA devices of the machine; {"trial": true}: driver_trial.h. */

#define VALIDATE_CHILD_ARGUMENT "--validate"

_Noreturn void validate_child_run(int supervisor, int socket);
