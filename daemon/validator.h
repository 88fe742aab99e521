#pragma once
/* validator: the check kernel_passes of an evaluation is judged by kernel/validate. */
#include "skills/grading/grade.h"

extern const struct kernel_validator gpu_kernel_validator;
