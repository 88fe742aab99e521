#pragma once
/* consequences: errors that only follow from another error. After an unknown type in a
 * kernel's parameters, NVRTC parses the whole declaration as a variable and reports five
 * or more errors, of which one is real. The others become related notes of the real
 * one. */
#include "base/json.h"

/* findings: array, changed in place. Call it after fixes are added: a finding with its
 * own fix stays. */
void consequences_fold(json_t *findings);
