#pragma once
/* calls: of functions, with parameters in areas of the arena, and of the system. */
#include "gpu/ptx/lower/lower.h"

lower_family lower_call;

/* The lanes go back to who called; of an entry they leave. */
step_run step_return;
