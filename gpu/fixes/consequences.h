#pragma once
/* consequences: errors that only follow from another one.
 *
 * After an unknown type in a kernel's parameters NVRTC takes the whole declaration for a
 * variable and complains of everything in it: five and more errors, of which one is true.
 * The others become the true one's related notes. */
#include "base/json.h"

/* findings: array, changed in place. Call it when fixes are there: what has a cure of its
 * own stays. */
void consequences_fold(json_t *findings);
