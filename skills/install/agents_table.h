#pragma once
/* agents_table: the agents this program knows without being told. */
#include <stddef.h>

/* As struct agent, before expansion: `~/` is the home folder, `${NAME:-fallback}` the
 * environment's; "a|b" is the first that exists on this machine, else a. */
struct agent_row {
    const char *name, *title, *project, *user, *detect;
    const char *reads; /* further folders, separated by spaces; NULL when unknown */
};
extern const struct agent_row agents_table[];
extern const size_t agents_table_count;
