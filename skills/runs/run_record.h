#pragma once
/* run_record: the record of an evaluation on disk.
 *
 * One evaluation is one batch, a folder beneath the runs folder, in upskill's layout with
 * additions:
 *
 *   <runs>/<batch>/meta.json              written by run_writer_open
 *   <runs>/<batch>/cells.jsonl            one line per cell, appended as it ends
 *   <runs>/<batch>/evaluation.json        skill/evaluate's result + "batch", "meta"
 *   <runs>/<batch>/batch_summary.json     upskill's BatchSummary
 *   <runs>/<batch>/run_<n>/run_metadata.json, run_result.json   upskill's RunMetadata,
 *                                         RunResult: all tests of one (model, run, arm)
 *
 * Runs are numbered model by model, run by run: baseline odd, with_skill even, as upskill
 * pairs them; further arms (placebo, previous, trace) come after all pairs. A batch is
 * named YYYY_MM_DD_HH_MM_SS_mmm_xxxxxxxx (UTC, and 8 random hex digits), so that names
 * sort by time and do not collide. A batch without evaluation.json was interrupted; its
 * cells are still read.
 *
 * A cell is one graded answer to one test (repeated attempts are one cell; the last
 * attempt counts):
 *
 * {"model": "generic.qwen3",        as the request named it
 *  "arm": "baseline|skill|placebo|previous|trace",
 *  "test": "test-1", "split": "report", "run": 1,      runs count from 1
 *  "outcome": "passed|failed|errored|refused",
 *  "why"?: "…",                     a sentence, of errored and refused
 *  "assertions_passed": 2, "assertions_total": 3, "assertions"?: […],   as grade.h
 *  "output"?: "…",                  the answer
 *  "tokens": {"input", "output", "total", "cache_read"?, "cache_write"?, "thinking"?,
 *             "reported": true},
 *  "cost": 0.0012 | null, "requests": 1, "cached": false, "attempts": 1,
 *  "served_model": "…", "base_url": "…", "stop_reason": "…", "ms": 812.5,
 *  "files"?: {path: bytes}, "prompt_digest"?: "sha256:…", "ended"?:
 * "2026-01-02T03:04:05.678Z"}
 *
 * model, arm, test, run and outcome are required; "ended" is filled in where missing. The
 * output is kept up to RUN_MAX_OUTPUT bytes (then "output_bytes" says how long it was),
 * each text of an assertion up to RUN_MAX_EVIDENCE.
 *
 * Threads: a writer is used by one thread at a time. open and cell make a few small
 * writes and may run on the loop; finish writes a file per run and syncs: call it from
 * the thread pool. */
#include "base/json.h"

struct call_origin;
struct run_writer;

#define RUN_MAX_OUTPUT (64u << 10)
#define RUN_MAX_EVIDENCE 2048u
#define RUN_MAX_CELLS 200000u
#define RUN_BATCH_SIZE 48 /* of a batch's name, with its NUL */

/* The user's configured folder of runs, else $XDG_STATE_HOME/upskilld/runs; NULL
 * without a home. Freed by the caller. */
char *run_default_dir(const struct call_origin *origin);
/* by the host of an origin: an absolute path, or NULL */
#define RUNS_DIR_LENT "runs_dir"

/* Begin a batch. dir NULL = run_default_dir(NULL); it is made (0700) where missing.
 * meta (borrowed): {"skill": {"name", "path"?, "uri"?, "digest"}, "tests_digest",
 * "task"?, "questions"?: {test: text}, "kind"?: "evaluate|generate|refine|aa|trigger",
 * "models":
 * ["…"], "arms": ["…"], "runs": 3, "mode"?: "inject|installed", "job"?, "baseline_from"?,
 * …other members kept}; "batch", "started" and "version" are added. NULL with err when
 * the folder cannot be written. */
struct run_writer *run_writer_open(const char *dir, const json_t *meta, struct err *err);
const char *run_writer_batch(const struct run_writer *w); /* its name */

/* Sets its output, cut to RUN_MAX_OUTPUT, so that a long answer is not twice in memory.
 */
void run_cell_set_output(json_t *cell, const char *text, size_t len);
/* Appends a cell (borrowed), which then survives the process. -EINVAL if it is no
 * cell, -EFBIG over RUN_MAX_CELLS, else the error of write(2). After an error the
 * evaluation may continue. */
int run_writer_cell(struct run_writer *w, const json_t *cell, struct err *err);
/* End the batch with the result of skill/evaluate (borrowed; "batch", "folder" and "meta"
 * are added in the file): runs, summary and evaluation are written and synced. Frees w in
 * any case. */
int run_writer_finish(struct run_writer *w, const json_t *evaluation, struct err *err);
/* End it without a result: cancelled or failed. cells.jsonl is synced and stays. Frees w;
 * NULL is fine. */
void run_writer_close(struct run_writer *w);
DEFINE_CLEANUP(struct run_writer *, run_writer_close);

/* Adds an evaluation to the skill's own skill_meta.json: one entry per student in
 * "evaluations" (newest RUN_MAX_EVALUATIONS kept), and upskill's metadata.test_pass_rate
 * (the skill arm's mean rate over the students). All other members and fields stay
 * unchanged. The entry: {"model", "verdict", "lift": {"estimate", "low", "high", "p",
 * "n_tests"}, "arms": {"baseline": 0.4, "skill": 0.85, …}, "skill_digest",
 * "tests_digest", "ended", "run": batch}. folder: the skill's own, which the caller knows
 * to be the user's (not bundled, not installed from elsewhere). -EACCES and -EROFS if it
 * may not be written, -EBADMSG if the file is not a JSON object (it stays unchanged). */
#define RUN_MAX_EVALUATIONS 50
int run_record_in_skill(const char *folder, const json_t *evaluation, const char *batch,
                        struct err *err);
