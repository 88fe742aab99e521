#pragma once
/* check_verdict: derives the verdict from a check's findings, outcome and kernels. */
#include "base/json.h"

/* Sets "ok", and "summary": the verdict in a sentence that every face shows. strict:
 * warnings alone also make it not ok, and "strict" says so. quick: the figures are not
 * those of the program that people run. */
void check_verdict_set(json_t *result, bool strict, bool quick);

/* Explains why a check is not ok, for a caller that wanted to run the kernel: its first
 * error with its place, otherwise the verdict. */
void check_verdict_explain(const json_t *result, struct buf *out);
