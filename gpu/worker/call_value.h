#pragma once
/* call_value: whether a program's source uses what one of its CUDA calls returned. It is
 * read from the text around the call: the call may be a statement of its own, an argument
 * of a macro that drops it, or the value of a variable that nobody reads; everything else
 * uses the value. */
#include "gpu/source/source_set.h"

enum call_value {
    CALL_VALUE_UNKNOWN, /* no such call in that line, or several that differ */
    CALL_VALUE_DROPPED,
    CALL_VALUE_USED,
};
/* display: the file's name in findings. A launch by <<<>>> is a cudaLaunchKernel whose
 * value nobody gets. */
enum call_value call_value_of(const struct source_set *sources, const char *display,
                              int line, const char *function);
