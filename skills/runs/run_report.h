#pragma once
/* run_report: the results of run/list and run/show in words, with bars of 20 cells. */
#include "base/json.h"

/* Appended: a line for each run, and the matrix of skills and models. */
void run_list_describe(const json_t *result, struct buf *out);
/* Appended: the verdict and a row for each model, without its cells; for CSV and HTML the
 * text itself, or where it was written. */
void run_show_describe(const json_t *result, struct buf *out);
/* Appended: a sentence for each model that a person's marks are about. */
void run_preference_describe(const json_t *result, struct buf *out);
