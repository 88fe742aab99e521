#pragma once
/* grader: what skills have judged by the GPU's operations. */
#include "skills/check/skill_check.h"
#include "skills/grading/grade.h"

/* CUDA blocks of skills are compiled by kernel/check. */
extern const struct skill_grader gpu_skill_grader;
/* The check kernel_passes of an evaluation is judged by kernel/validate. */
extern const struct kernel_validator gpu_kernel_validator;
