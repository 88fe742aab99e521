#pragma once
/* confine: what a process that compiles or runs others' code can no longer do.
 *
 * Resource limits, no_new_privs, Landlock (files: only the named folders; TCP; signals
 * and abstract sockets outside) and a seccomp list of the system calls a compiler needs;
 * all others fail with EPERM. Nothing here can be undone, and it is inherited by
 * children. What the kernel does not have is left out and reported by absence, never
 * silently. */
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum confinement { /* bits */
                   CONFINED_LANDLOCK = 1,
                   CONFINED_SECCOMP = 2,
                   CONFINED_RLIMITS = 4,
};

/* AddressSanitizer maps terabytes and wants the fatal signals for itself. */
#if defined(__SANITIZE_ADDRESS__)
#define CONFINE_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CONFINE_UNDER_ASAN 1
#endif
#endif
#ifndef CONFINE_UNDER_ASAN
#define CONFINE_UNDER_ASAN 0
#endif

struct confine_rules {
    const char *const *read_paths; /* folders and files; NULL-terminated; missing ones are
                                      skipped */
    const char *const *write_paths; /* read and write; may be NULL */
    bool may_fork;                  /* a parent of others; also keeps its socket calls */
    bool may_thread;                /* may start threads, no processes */
    bool may_drive;     /* a GPU: what its driver needs besides, ioctl above all */
    bool may_reach_mps; /* with may_drive: Unix sockets too */
    bool may_launch;    /* with may_drive: processes, pipes with names and Unix sockets:
                           what a tool needs that starts a program and watches it */
    bool may_start; /* a compiler: starts what exec_paths name and waits for it; pipes, no
                       sockets */
    bool may_compute; /* a user's program: exec of what exec_paths name, clocks, pipes; no
                         processes but by may_start, no sockets */
    const char *const *exec_paths; /* read and start; NULL = nothing */
    bool limits_only;              /* resource limits and nothing else */
    const char *const
        *device_paths;   /* device files: read, write and ioctl; may be NULL */
    unsigned cpu_s;      /* 0 = no limit, likewise below */
    size_t memory_bytes; /* address space; ignored under AddressSanitizer */
    size_t file_bytes;   /* size of any file it writes */
};

/* What this kernel offers, without applying it. */
unsigned confine_available(void);
/* Apply all of it. Returns the bits in force. Never fails: see above. */
unsigned confine_self(const struct confine_rules *rules);
/* ["landlock", "seccomp", "rlimits"]; a new reference. */
json_t *confinement_to_json(unsigned bits);

/* For a child just forked: die with the parent (whose pid is given; exits when it is gone
 * already), lead a process group, default signals, none blocked, no core file. */
void confine_child_start(int parent);
