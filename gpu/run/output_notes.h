#pragma once
/* output_notes: findings on how the outputs of a run were judged: tolerances that are too
 * wide or too narrow, expected values that are inexact, shapes that may be wrong. */
#include "gpu/run/run_course.h"

/* Adds to the report what may explain wrong outputs. */
void output_notes_failed(struct course *run);
/* Adds to the report why outputs that are right prove little. */
void output_notes_passed(struct course *run);
