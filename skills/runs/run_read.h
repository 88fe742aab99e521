#pragma once
/* run_read: reads a batch: ours (complete, running or interrupted) or upskill's.
 *
 * Run files may come from anyone: sizes, counts and depth are bounded, and unreadable
 * parts are omitted and named in "problems". Blocking: call it from the thread pool. */
#include "base/json.h"

struct root;

#define RUN_READ_CELLS (64u << 20) /* bytes of cells.jsonl that are read */

/* A name that a batch may have: letters, digits, '_', '-' and '.', not first. */
bool run_name_is_valid(const char *name);

/* batch is a folder in dir. cell_bytes: how much of cells.jsonl to read, 0 = none unless
 * there is no evaluation (then a little). Answers
 * {"run", "folder", "origin": "upskilld|upskill", "state":
 *  "complete|running|interrupted", "meta": {…}, "evaluation": {…} | null,
 *  "runs": [upskill's RunResult with run_type, by number], "cells": [the last of each
 *  (model, arm, test, run)], "marks"?: a person's (run_marks.h), "problems"?: ["…"]}: new
 * reference, or NULL: -ENOENT when there is no such batch, -EINVAL for a bad name. */
json_t *run_read(const struct root *dir, const char *batch, size_t cell_bytes,
                 struct err *err);
