#pragma once
/* mbarrier_steps: the steps of instructions on mbarriers, made by mbarrier_lower.c:
 * src[0] an address, src[1] a count or STEP_NO_REGISTER (one), src[2] a state or
 * parity. */
#include "gpu/ptx/state/program.h"

/* step->aux */
#define AUX_REMOTE 1u
#define AUX_GENERIC 2u
#define AUX_DROP 4u
#define AUX_EXPECT 8u
#define AUX_NO_COMPLETE 16u
#define AUX_PARITY 32u
#define AUX_NO_INCREMENT 64u

step_run step_mbarrier_init, step_mbarrier_inval, step_mbarrier_arrive;
step_run step_mbarrier_expect, step_mbarrier_complete, step_mbarrier_wait;
step_run step_mbarrier_pending_count, step_mbarrier_arrive_copies;
