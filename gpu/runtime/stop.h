#pragma once
/* stop: a program that has to end in the middle of a launch (its time is over) says first
 * what its kernels did until then. */

#include "gpu/runtime/host_site.h"

struct machine;

/* From now on SIGTERM and SIGXCPU end the running launch, and then the program. */
void stop_watch(void);
/* This machine runs a launch; NULL: none does. */
void stop_running(struct machine *m);
/* The launch has ended and what was found is told: ends the program if that is due. */
void stop_if_due(const struct host_site *launch);
