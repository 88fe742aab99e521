#pragma once
/* launch: fork and exec one program with pipes; used by child.c alone. */
#include <sys/types.h>

struct child_options;

struct launch {
    pid_t pid;
    int in, out, error; /* our ends of its pipes; in is -1 without want_stdin */
};

/* Returns 0 once the program runs, or a negative errno (of exec or chdir, too) with
 * nothing left behind. */
int launch_program(const struct child_options *options, struct launch *ret);
void launch_close(
    struct launch *launch); /* the descriptors not yet handed on (-1 = was) */
