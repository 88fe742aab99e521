#pragma once
/* run_result: sums cells up to upskill's RunResult, one per (model, run, arm).
 *
 * As there, "assertions_passed" and "assertions_total" count TESTS: upskill's pass rates
 * are their quotient. Tests that errored or were refused are in neither. "passed" means
 * that more than half of the graded tests passed. Added to upskill's members: "arm",
 * "run", "skill_digest", "tests_digest", "tests", "tests_errored", "tests_refused",
 * "checks_passed", "checks_total", "split" ("mixed" if there are several), "cost" (null
 * if one is unknown), "requests", "cached" (answers), "served_models", "base_url",
 * "stop_reasons" (word -> count). */
#include "base/json.h"

struct run_results;

/* meta as in run_record.h (borrowed; may be {}). */
struct run_results *run_results_new(const json_t *meta);
void run_results_free(struct run_results *r);
DEFINE_CLEANUP(struct run_results *, run_results_free);
/* A valid cell (run_cell_problem); more than RUN_RESULTS_MAX (model, run, arm) are
 * dropped. */
#define RUN_RESULTS_MAX 20000u
void run_results_add(struct run_results *r, const json_t *cell);
/* All of them by their number: new reference. Add no cell after it. */
json_t *run_results_json(struct run_results *r, const char *batch, const char *timestamp);

/* What is wrong with a cell, or NULL. */
const char *run_cell_problem(const json_t *cell);
/* upskill's BatchSummary over results: new reference. */
json_t *run_batch_summary(const json_t *meta, const char *batch, const json_t *results);
