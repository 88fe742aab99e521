#pragma once
/* launch: forks and executes one program with pipes; only for child.c. */
#include <sys/types.h>

struct child_options;

struct launch {
    pid_t pid;
    int in, out, error; /* our ends of its pipes; in is -1 without want_stdin */
};

/* Returns 0 once the program runs, or a negative errno (also of exec or chdir); then
 * everything is cleaned up. */
int launch_program(const struct child_options *options, struct launch *ret);
void launch_close(
    /* closes the descriptors that were not passed on (-1 = passed on) */
    struct launch *launch);
