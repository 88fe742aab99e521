#pragma once
/* run_list: the evaluations in a folder of runs, and their results for each skill and
 * model. Blocking: call it from the thread pool. */
#include "base/json.h"

struct root;

#define RUN_SCAN_MAX 2000u /* batches that are read, newest first */

/* skill, model: NULL = any. Answers
 * {"runs": [{"run", "folder", "origin", "state", "skill", "model", "verdict": word |
 * null, "lift": {"estimate", "low"?, "high"?, "p"?, …} | null, "baseline_rate": 0.4 |
 * null, "skill_rate", "tests", "tokens", "cost", "ended"}],   newest first, one per model
 *  "matrix": {"skills": ["…"], "models": ["…"],
 *   "cells": [[{"baseline_rate", "skill_rate", "verdict", "run"} | null, …], …]},
 *  "omitted"?: n, "problems"?: ["…"]}: new reference. The matrix has the newest complete
 * evaluation of each pair, over all batches that were read, not only the rows shown. */
json_t *run_list(const struct root *dir, const char *skill, const char *model,
                 size_t limit);

/* The rows of one batch as run_read gives it: new reference. */
json_t *run_rows(const json_t *batch);
/* Names of batches in dir, newest first, at most RUN_SCAN_MAX: new reference. */
json_t *run_names(const struct root *dir, size_t *ret_omitted);
