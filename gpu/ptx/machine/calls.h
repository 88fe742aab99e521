#pragma once
/* calls: calls of functions, with parameters in areas of the arena, and of the system. */
#include "gpu/ptx/lower/lower.h"

lower_family lower_call;

/* The lanes return to the caller; in an entry they exit. */
step_run step_return;
