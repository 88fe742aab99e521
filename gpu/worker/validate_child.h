#pragma once
/* validate_child: one validation, inside a fresh process.
 *
 * The worker starts itself anew for each (`upskilld-worker --validate FD PID`), so that
 * no memory of an earlier job is in reach. The child reads validate_run.h's request from
 * the socket (child_io.h: the params are the head), chooses the backend, confines itself
 * (for the CPU no files and no processes; for a CUDA device cuda_room.h), runs, writes
 * the answer and exits. Some time before the wall limit it stops by itself, so that what
 * was found until then is not lost. A head {"devices": true}: the child answers with the
 * CUDA devices there are;
 * {"trial": true}: driver_trial.h. */

#define VALIDATE_CHILD_ARGUMENT "--validate"

_Noreturn void validate_child_run(int supervisor, int socket);
