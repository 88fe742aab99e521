#include "skills/evaluation/baseline.h"

#include "base/err.h"
#include "base/file.h"
#include "skills/evaluation/cells.h"
#include "skills/runs/run_read.h"
#include "skills/runs/run_record.h"

/* --- reading a record --- */

static int agrees(const json_t *meta, const char *tests_digest, unsigned runs,
                  struct err *err) {
    if (!json_says(meta, "tests_digest", tests_digest)) {
        return err_set(err, -EINVAL, "that run had other tests (%.71s)",
                       json_get_string(meta, "tests_digest", "unknown"));
    }
    json_int_t had = json_get_integer(meta, "runs", 0);
    if (had != (json_int_t)runs) {
        return err_set(err, -EINVAL, "that run had %d runs of each test, not %u",
                       (int)had, runs);
    }
    return 0;
}

static char *key_of(const char *model, const char *test, json_int_t run) {
    return xasprintf("%s\n%s\n%lld", model, test, (long long)run);
}

static bool is_wanted(const json_t *cell, const char *prompt_digest) {
    const char *outcome = json_get_string(cell, "outcome", "");
    return json_says(cell, "arm", "baseline") &&
           json_says(cell, "prompt_digest", prompt_digest) &&
           (strcmp(outcome, "passed") == 0 || strcmp(outcome, "failed") == 0);
}

static void add_cell(json_t *cells, json_t *cell) {
    autofree char *key =
        key_of(json_get_string(cell, "model", ""), json_get_string(cell, "test", ""),
               json_get_integer(cell, "run", 0));
    json_object_del(cell, "output");
    json_object_del(cell, "assertions");
    json_object_set(cells, key, cell);
}

static int take_cells(const json_t *record, const char *prompt_digest, json_t *ret,
                      struct err *err) {
    json_each(json_object_get(record, "cells"), i, cell) {
        if (is_wanted(cell, prompt_digest)) {
            add_cell(ret, cell);
        }
    }
    return json_object_size(ret)
               ? 0
               : err_set(err, -EINVAL, "that run has no baseline with today's prompt");
}

static json_t *read_record(const char *runs_dir, const char *batch, struct err *err) {
    autofree char *path = runs_dir ? xstrdup(runs_dir) : run_default_dir(NULL);
    struct root dir;
    if (!path || root_open(&dir, path, NULL) < 0) {
        err_set(err, -ENOENT, "there is no record of such a run");
        return NULL;
    }
    json_t *record = run_read(&dir, batch, RUN_READ_CELLS, err);
    root_close(&dir);
    return record;
}

int baseline_load(json_t **ret, const char *runs_dir, const char *batch,
                  const char *tests_digest, const char *prompt_digest, unsigned runs,
                  struct err *err) {
    autojson *record = read_record(runs_dir, batch, err), *cells = json_object();
    if (!record) {
        return err && err->code ? err->code : -ENOENT;
    }
    int rc = agrees(json_object_get(record, "meta"), tests_digest, runs, err);
    rc = rc < 0 ? rc : take_cells(record, prompt_digest, cells, err);
    if (rc == 0) {
        *ret = take(cells);
    }
    return rc;
}

/* --- using it --- */

bool baseline_take(const json_t *cells, const char *model, const char *test,
                   const char *prompt_digest, struct cell *cell) {
    autofree char *key = key_of(model, test, (json_int_t)cell->run + 1);
    const json_t *found = json_object_get(cells, key);
    if (!found || !is_wanted(found, prompt_digest)) {
        return false;
    }
    const json_t *tokens = json_object_get(found, "tokens");
    bool passed = json_says(found, "outcome", "passed");
    cell->state = passed ? CELL_PASSED : CELL_FAILED;
    cell->reused = true;
    cell->assertions_passed = (unsigned)json_get_integer(found, "assertions_passed", 0);
    cell->assertions_total = (unsigned)json_get_integer(found, "assertions_total", 0);
    cell->input = (uint64_t)json_get_integer(tokens, "input", 0);
    cell->output = (uint64_t)json_get_integer(tokens, "output", 0);
    cell->reported = json_get_bool(tokens, "reported", 0);
    cell->cost = json_get_number(found, "cost", -1);
    return true;
}
