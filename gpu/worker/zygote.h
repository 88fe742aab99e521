#pragma once
/* zygote: a process with the compiler loaded, which forks a child per compilation.
 *
 * Loading and warming NVRTC takes about 100 ms, a fork 1 ms. A child is created with
 * CLONE_PARENT, so it is the supervisor's own child, which can reap and kill it without
 * a race on process ids. There is one plain zygote. A prefix zygote is forked from it and
 * has compiled one unit's leading includes into a precompiled header, which
 * works only in processes forked from the one that made it.
 *
 * The supervisor talks to a zygote over a SOCK_SEQPACKET pair: it sends requests, each
 * with one descriptor, and the zygote answers each with a pid, in order. The first packet
 * from a zygote is its greeting. */
#include "base/mem.h"

struct toolkit;

struct zygote_hello {
    int status;     /* 0, or a negative errno: it then exits */
    char text[512]; /* the compiler's version, "13.0.88"; or why not */
};
enum zygote_request {
    ZYGOTE_CHILD = 'c',  /* the descriptor is the child's end of a stream socket pair */
    ZYGOTE_PREFIX = 'p', /* … of the new zygote's SOCK_SEQPACKET pair; it first reads one
                            packet of at most ZYGOTE_MAX_PREFIX_JOB bytes from it:
                            {"folder": "/…", "job": params of compile.h}, where the
                            folder is the one that holds all jobs' folders */
};
#define ZYGOTE_MAX_PREFIX_JOB (128u << 10)

/* Runs for the rest of the calling process's life. */
_Noreturn void zygote_run(const struct toolkit *toolkits, size_t count, int supervisor,
                          int socket);

/* The supervisor's side of the packets; negative errno on failure. */
int zygote_send(int socket, enum zygote_request request, int fd);
int zygote_receive_pid(int socket,
                       int *ret_pid); /* -EAGAIN: none yet; -EPIPE: it is gone */
int zygote_receive_hello(int socket, struct zygote_hello *ret);
