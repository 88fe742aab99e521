#pragma once
/* confine: restricts a process that compiles or runs others' code.
 *
 * Uses resource limits, no_new_privs, Landlock (only the named folders; no TCP; no
 * signals and abstract sockets to the outside) and a seccomp list of the system calls
 * that a compiler needs; all others fail with EPERM. None of it can be undone, and
 * children inherit it. Mechanisms that the kernel lacks are missing from the reported
 * bits. */
#include "base/json.h"

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
    const char *const *output_paths; /* write only: files; may be NULL */
    bool may_fork;                  /* a parent of others; also keeps its socket calls */
    bool may_thread;                /* may start threads, no processes */
    bool may_drive;                 /* a GPU: the calls of its driver, above all ioctl */
    bool may_reach_mps;             /* with may_drive: Unix sockets too */
    bool may_launch;  /* with may_drive: processes, named pipes and Unix sockets, for
                         a tool that starts a program and watches it */
    bool may_start;   /* a compiler: starts programs of exec_paths and waits for them;
                         pipes, no sockets */
    bool may_compute; /* a user's program: exec of exec_paths, clocks, pipes; no
                         processes except by may_start, no sockets */
    const char *const *exec_paths; /* read and execute; NULL = nothing */
    bool limits_only;              /* only resource limits */
    const char *const
        *device_paths;   /* device files: read, write and ioctl; may be NULL */
    unsigned cpu_s;      /* 0 = no limit, likewise below */
    size_t memory_bytes; /* address space; ignored under AddressSanitizer */
    size_t file_bytes;   /* size of any file it writes */
};

/* What this kernel offers, without applying it. */
unsigned confine_available(void);
/* Applies the rules and returns the bits in force. Never fails: see above. */
unsigned confine_self(const struct confine_rules *rules);
/* ["landlock", "seccomp", "rlimits"]; a new reference. */
json_t *confinement_to_json(unsigned bits);

/* For a newly forked child: die with the parent (exit now if the given pid is gone
 * already), lead a process group, default signals, none blocked, no core file. */
void confine_child_start(int parent);
