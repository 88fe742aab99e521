#pragma once
/* validate_child: one validation on this machine's CPU, inside a fresh process.
 *
 * The worker starts itself anew for each (`upskilld-worker --validate FD PID`), so that no
 * memory of an earlier job is in reach. The child reads validate_run.h's request from the
 * socket, confines itself (no files, no processes, threads allowed), runs, writes the
 * answer and exits. Some time before the wall limit it stops by itself, so that what was
 * found until then is not lost. */

#define VALIDATE_CHILD_ARGUMENT "--validate"

/* The text on the socket, to its end, is the request. */
_Noreturn void validate_child_run(int supervisor, int socket);
