#pragma once
/* control: branches, exits, and instructions without effect here. */
#include "gpu/ptx/lower/lower.h"

lower_family lower_control;

/* The head of a basic block; aux: of program->blocks, target: its instructions, extra:
 * its steps. */
step_run step_enter_block;
/* To the step `target`. */
step_run step_branch;
/* The lanes have reached the end of the entry. */
step_run step_exit;
