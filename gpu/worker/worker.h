#pragma once
/* worker: the supervisor of compilations and runs, one process that serves its stdio.
 *
 * It speaks the protocol of gpu/compile/compile.h. It never loads the compiler itself:
 * parents (parent.c) do, and fork a child for each compilation (compile_run.c).
 * Single-threaded around poll(2). At the end of its input, and at SIGTERM, SIGINT and
 * SIGHUP, it kills everything it started and returns at once. */

/* in, out: the protocol's descriptors, owned by the caller. channel: the daemon's channel
 * for descriptors (fd_channel.h), or -1; its ownership passes on. Returns the exit
 * status. */
int worker_run(int in, int out, int channel);
