#pragma once
/* worker_commands: `upskillctl worker pack|check`, for workers on other machines.
 *
 *   worker pack [--with-compiler] [--output FILE.tar.gz]
 *       one archive with all that another machine needs
 *   worker check NAME | [--] PROGRAM ARGUMENT…
 *       starts the worker, shows what it has, compiles and runs a kernel there
 * Exit status as everywhere: 0 good, 1 no, 2 could not be asked. */
#include "clients/ctl/terminal.h"

struct worker_command {
    const struct terminal *terminal;
    const char *const *words; /* after "worker" */
    int count;
    bool json, help;
    const char *const *daemon_args; /* NULL-terminated */
    bool keep_stderr;
};

int worker_command_run(const struct worker_command *command);

/* The parts. status: daemon/status of the user's own daemon, borrowed. */
int worker_pack(const struct worker_command *command, const json_t *status);
int worker_check(const struct worker_command *command, const json_t *status);
