#pragma once
/* worker: the supervisor of compilations, one process on its own stdio.
 *
 * Speaks compile.h's protocol, a JSON text per line. It never loads the compiler itself:
 * parents (parent.h) do, and fork a child for each compile (compile_run.h).
 * Single-threaded around poll(2). When its input ends, or at SIGTERM, SIGINT and SIGHUP,
 * everything it started is killed and it returns at once. */

/* in, out: descriptors of the protocol, owned by the caller; channel: the daemon's for
 * descriptors (fd_channel.h), or -1, moved away. Returns the exit status. */
int worker_run(int in, int out, int channel);
