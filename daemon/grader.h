#pragma once
/* grader: CUDA blocks of skills are compiled by kernel/check. */
#include "skills/check/skill_check.h"

extern const struct skill_grader gpu_skill_grader;
