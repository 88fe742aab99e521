#include "skills/evaluation/baseline.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "skills/evaluation/cells.h"
#include "skills/evaluation/run_record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- reading a record --- */

static int read_meta(const char *folder, json_t **ret, struct err *err) {
    autobuf text = BUF_INIT(1u << 20);
    autofree char *path = path_join(folder, "meta.json");
    int rc = file_read(path, &text, err);
    *ret = rc < 0 ? NULL : json_parse(text.data, text.len, err);
    return *ret ? 0 : err_set(err, -ENOENT, "there is no record of such a run");
}

static int agrees(const json_t *meta, const char *tests_digest, unsigned runs,
                  struct err *err) {
    if (strcmp(json_get_string(meta, "tests_digest", ""), tests_digest) != 0) {
        return err_set(err, -EINVAL, "that run had other tests (%.71s)",
                       json_get_string(meta, "tests_digest", "unknown"));
    }
    if (json_get_integer(meta, "runs", 0) != (json_int_t)runs) {
        return err_set(err, -EINVAL, "that run had %d runs of each test, not %u",
                       (int)json_get_integer(meta, "runs", 0), runs);
    }
    return 0;
}

/* The object at key, made where it is missing. */
static json_t *object_at(json_t *holder, const char *key) {
    json_t *found = json_object_get(holder, key);
    if (!found) {
        found = json_object();
        json_object_set_new(holder, key, found);
    }
    return found;
}

static bool is_wanted(const json_t *cell, const char *prompt_digest) {
    const char *outcome = json_get_string(cell, "outcome", "");
    return strcmp(json_get_string(cell, "arm", ""), "baseline") == 0 &&
           strcmp(json_get_string(cell, "prompt_digest", ""), prompt_digest) == 0 &&
           (strcmp(outcome, "passed") == 0 || strcmp(outcome, "failed") == 0);
}

static void add_line(json_t *cells, char *line, size_t len, const char *prompt_digest) {
    autojson *cell = json_parse(line, len, NULL);
    char run[24];
    if (!cell || !is_wanted(cell, prompt_digest)) {
        return;
    }
    json_object_del(cell, "output");
    json_object_del(cell, "assertions");
    snprintf(run, sizeof run, "%lld", (long long)json_get_integer(cell, "run", 0));
    json_t *tests = object_at(cells, json_get_string(cell, "model", ""));
    json_object_set(object_at(tests, json_get_string(cell, "test", "")), run, cell);
}

static int read_cells(const char *folder, const char *prompt_digest, json_t *cells,
                      struct err *err) {
    autobuf text = BUF_INIT(BASELINE_MAX_BYTES);
    autofree char *path = path_join(folder, "cells.jsonl");
    int rc = file_read(path, &text, err);
    if (rc < 0) {
        return rc;
    }
    for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        add_line(cells, line, (size_t)(end - line), prompt_digest);
    }
    return json_object_size(cells)
               ? 0
               : err_set(err, -EINVAL, "that run has no baseline with today's prompt");
}

int baseline_load(json_t **ret, const char *runs_dir, const char *batch,
                  const char *tests_digest, const char *prompt_digest, unsigned runs,
                  struct err *err) {
    autofree char *dir = runs_dir ? xstrdup(runs_dir) : run_default_dir();
    if (!dir || strchr(batch, '/') || *batch == '.') {
        return err_set(err, -ENOENT, "there is no record of such a run");
    }
    autofree char *folder = path_join(dir, batch);
    autojson *meta = NULL, *cells = json_object();
    int rc = read_meta(folder, &meta, err);
    rc = rc < 0 ? rc : agrees(meta, tests_digest, runs, err);
    rc = rc < 0 ? rc : read_cells(folder, prompt_digest, cells, err);
    if (rc == 0) {
        *ret = take(cells);
    }
    return rc;
}

/* --- using it --- */

bool baseline_take(const json_t *cells, const char *model, const char *test,
                   const char *prompt_digest, struct cell *cell) {
    char run[24];
    snprintf(run, sizeof run, "%u", cell->run + 1);
    const json_t *found =
        json_object_get(json_object_get(json_object_get(cells, model), test), run);
    if (!found || !is_wanted(found, prompt_digest)) {
        return false;
    }
    const json_t *tokens = json_object_get(found, "tokens"),
                 *cost = json_object_get(found, "cost");
    bool passed = strcmp(json_get_string(found, "outcome", ""), "passed") == 0;
    cell->state = passed ? CELL_PASSED : CELL_FAILED;
    cell->reused = true;
    cell->assertions_passed = (unsigned)json_get_integer(found, "assertions_passed", 0);
    cell->assertions_total = (unsigned)json_get_integer(found, "assertions_total", 0);
    cell->input = (uint64_t)json_get_integer(tokens, "input", 0);
    cell->output = (uint64_t)json_get_integer(tokens, "output", 0);
    cell->reported = json_get_bool(tokens, "reported", 0);
    cell->cost = json_is_number(cost) ? json_number_value(cost) : -1;
    return true;
}
