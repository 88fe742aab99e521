#pragma once
/* check_verdict: what a check's findings, outcome and kernels come to, in one place. */
#include "base/json.h"

#include <stdbool.h>

/* Sets "ok", and "summary": the verdict in a sentence that every face shows. strict:
 * warnings alone make it not ok, and "strict" says so. */
void check_verdict_set(json_t *result, bool strict);

struct buf;
/* Why a check is not ok, for whoever wanted to run the kernel: its first error with its
 * place, else the verdict. */
void check_verdict_explain(const json_t *result, struct buf *out);
