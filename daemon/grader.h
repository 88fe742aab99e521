#pragma once
/* grader: lets skills use the GPU's operations for grading. */
#include "skills/check/skill_check.h"
#include "skills/grading/grade.h"

/* kernel/check compiles CUDA blocks of skills. */
extern const struct skill_grader gpu_skill_grader;
/* kernel/validate decides the check kernel_passes of an evaluation. */
extern const struct kernel_validator gpu_kernel_validator;
