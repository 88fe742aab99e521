#include "skills/runs/run_read.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/text.h"
#include "skills/format/skill.h"
#include "skills/runs/run_record.h"
#include "skills/runs/run_result.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARKS_MAX (16u << 20)
#define META_MAX (1u << 20)
#define EVALUATION_MAX (16u << 20)
#define RESULT_MAX (1u << 20)
#define RUNS_MAX 1000
#define LINE_MAX_BYTES (2u << 20)
#define FEW_CELLS (4u << 20)
#define PROBLEMS_MAX 20

struct reading {
    const struct root *dir;
    const char *batch;
    json_t *problems;
};

bool run_name_is_valid(const char *name) {
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
    size_t len = strlen(name);
    return len > 0 && len <= 128 && name[0] != '.' && strspn(name, letters) == len;
}

static void add_problem(const struct reading *r, const char *text) {
    if (json_array_size(r->problems) < PROBLEMS_MAX) {
        json_array_append_new(r->problems, json_clean_z(text));
    }
}

/* --- one file --- */

/* An object; NULL without the file, or with a problem noted. */
static json_t *read_object(const struct reading *r, const char *name, size_t max) {
    autofree char *path = path_join(r->batch, name);
    autobuf text = BUF_INIT(max);
    struct err err = {0};
    int rc = root_read(r->dir, path, &text, &err);
    if (rc == -ENOENT || rc == -ENOTDIR) {
        return NULL;
    }
    autojson *value = rc < 0 ? NULL : json_parse(text.data, text.len, &err);
    if (json_is_object(value)) {
        return json_clean_all(value);
    }
    autofree char *problem =
        xasprintf("%s: %s", name, *err.msg ? err.msg : "not a JSON object");
    add_problem(r, problem);
    return NULL;
}

/* --- cells --- */

static int open_cells(const struct reading *r) {
    autofree char *path = path_join(r->batch, "cells.jsonl");
    struct stat st;
    int fd = skill_open_file(r->dir->fd, path);
    if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Up to max bytes; sets *cut when there were more. */
static void read_some(int fd, struct buf *text, size_t max, bool *cut) {
    while (text->len < max) {
        size_t want = max - text->len < (1u << 16) ? max - text->len : 1u << 16;
        char *room = buf_reserve(text, want);
        ssize_t got = room ? read(fd, room, want) : 0;
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return;
        }
        buf_commit(text, (size_t)got);
    }
    char more;
    *cut = read(fd, &more, 1) > 0;
}

/* The last of each (model, arm, test, run) stays, in the place of the first. */
static void put_cell(json_t *cells, json_t *index, json_t *cell) {
    autofree char *key =
        xasprintf("%s\n%s\n%s\n%lld", json_get_string(cell, "model", ""),
                  json_get_string(cell, "arm", ""), json_get_string(cell, "test", ""),
                  (long long)json_get_integer(cell, "run", 0));
    json_t *at = json_object_get(index, key);
    if (at) {
        json_array_set(cells, (size_t)json_integer_value(at), cell);
    } else if (json_array_size(cells) < RUN_MAX_CELLS) {
        json_object_set_new(index, key, json_integer((json_int_t)json_array_size(cells)));
        json_array_append(cells, cell);
    }
}

/* Skips lines that are not cells: the incomplete last line of a killed writer, or
 * damage. */
static size_t parse_cells(char *text, size_t len, json_t *cells) {
    autojson *index = json_object();
    size_t bad = 0;
    for (char *line = text, *all = text + len; line < all;) {
        char *end = memchr(line, '\n', (size_t)(all - line));
        size_t line_len = end ? (size_t)(end - line) : (size_t)(all - line);
        autojson *given = line_len && line_len <= LINE_MAX_BYTES
                              ? json_parse(line, line_len, NULL)
                              : NULL;
        autojson *cell = given ? json_clean_all(given) : NULL;
        if (cell && !run_cell_problem(cell)) {
            put_cell(cells, index, cell);
        } else {
            bad += line_len > 0;
        }
        line += line_len + 1;
    }
    return bad;
}

static json_t *read_cells(const struct reading *r, int fd, size_t max) {
    json_t *cells = json_array();
    bool cut = false;
    autobuf text = BUF_INIT(max);
    if (fd < 0 || max == 0) {
        return cells;
    }
    read_some(fd, &text, max, &cut);
    size_t bad = parse_cells(text.data, text.len, cells);
    if (bad) {
        autofree char *problem = xasprintf("cells.jsonl: %zu line%s that hold%s no cell",
                                           bad, bad == 1 ? "" : "s", bad == 1 ? "s" : "");
        add_problem(r, problem);
    }
    if (cut) {
        char size[TEXT_SIZE_MAX];
        autofree char *problem =
            xasprintf("cells.jsonl: only the first %s were read", text_size(size, max));
        add_problem(r, problem);
    }
    return cells;
}

/* --- runs --- */

/* The number in "run_12", or 0. */
static long run_number(const char *name) {
    char *end;
    if (strncmp(name, "run_", 4) != 0 || name[4] < '1' || name[4] > '9') {
        return 0;
    }
    long n = strtol(name + 4, &end, 10);
    return *end == '\0' && n < 1000000 ? n : 0;
}

static int compare_numbers(const void *a, const void *b) {
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static size_t find_runs(const struct reading *r, long *ret) {
    autofd int fd = root_open_folder(r->dir, r->batch, NULL);
    autodir *entries = dir_entries(fd);
    size_t count = 0;
    for (const struct dirent *e; count < RUNS_MAX && (e = dir_next(entries));) {
        long n = run_number(e->d_name);
        if (n) {
            ret[count++] = n;
        }
    }
    qsort(ret, count, sizeof *ret, compare_numbers);
    return count;
}

/* Older files lack run_type: upskill numbers baselines odd and runs with the skill even.
 */
static void complete_run(json_t *result, long number) {
    json_t *metadata = json_object_get(result, "metadata");
    if (!json_is_object(metadata)) {
        metadata = json_object();
        json_object_set_new(result, "metadata", metadata);
    }
    if (!json_is_integer(json_object_get(metadata, "run_number"))) {
        json_object_set_new(metadata, "run_number", json_integer(number));
    }
    if (!json_is_string(json_object_get(result, "run_type"))) {
        json_object_set_new(result, "run_type",
                            json_string(number % 2 ? "baseline" : "with_skill"));
    }
}

/* A run of which only the metadata was written did not end. */
static json_t *read_run(const struct reading *r, long number) {
    autofree char *of_result = xasprintf("run_%ld/run_result.json", number);
    autofree char *of_metadata = xasprintf("run_%ld/run_metadata.json", number);
    json_t *result = read_object(r, of_result, RESULT_MAX);
    json_t *metadata = result ? NULL : read_object(r, of_metadata, RESULT_MAX);
    if (metadata) {
        result = json_pack("{s:o,s:b,s:s}", "metadata", metadata, "passed", 0,
                           "error_message", "No result file found");
    }
    if (result) {
        complete_run(result, number);
    }
    return result;
}

static json_t *read_runs(const struct reading *r) {
    autofree long *numbers = xreallocarray(NULL, RUNS_MAX, sizeof *numbers);
    size_t count = find_runs(r, numbers);
    json_t *runs = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *result = read_run(r, numbers[i]);
        if (result) {
            json_array_append_new(runs, result);
        }
    }
    return runs;
}

/* --- a batch --- */

static const char *state_of(const json_t *evaluation, const json_t *meta, int cells) {
    if (evaluation || !meta) {
        return "complete";
    }
    bool held = cells >= 0 && flock(cells, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    return held ? "running" : "interrupted";
}

/* What an unfinished batch would have written. */
static json_t *runs_of_cells(const struct reading *r, const json_t *meta,
                             const json_t *cells) {
    autoptr(run_results_free) struct run_results *results = run_results_new(meta);
    json_each(cells, i, cell) {
        run_results_add(results, cell);
    }
    return run_results_json(results, r->batch, json_get_string(meta, "started", ""));
}

static json_t *batch_json(const struct reading *r, size_t cell_bytes) {
    autojson *meta = read_object(r, "meta.json", META_MAX);
    autojson *evaluation = read_object(r, "evaluation.json", EVALUATION_MAX);
    autojson *runs = read_runs(r);
    if (!meta && !evaluation && json_array_size(runs) == 0) {
        return NULL;
    }
    bool ours = meta || evaluation;
    autofd int fd = ours ? open_cells(r) : -1;
    if (!evaluation && cell_bytes == 0) {
        cell_bytes = FEW_CELLS;
    }
    autojson *cells = read_cells(r, fd, cell_bytes);
    if (json_array_size(runs) == 0) {
        json_decref(runs);
        runs = runs_of_cells(r, meta, cells);
    }
    autojson *kept = read_object(r, "marks.json", MARKS_MAX);
    const char *state = state_of(evaluation, meta, fd);
    autofree char *folder = path_join(r->dir->path, r->batch);
    return json_pack("{s:s,s:o,s:s,s:s,s:o,s:O?,s:O,s:O,s:O*,s:O*}", "run", r->batch,
                     "folder", json_clean_z(folder), "origin",
                     ours ? "upskilld" : "upskill", "state", state, "meta",
                     meta ? json_incref(meta) : json_object(), "evaluation", evaluation,
                     "runs", runs, "cells", cells, "problems",
                     json_array_size(r->problems) ? r->problems : NULL, "marks",
                     json_object_get(kept, "marks"));
}

json_t *run_read(const struct root *dir, const char *batch, size_t cell_bytes,
                 struct err *err) {
    if (!run_name_is_valid(batch)) {
        err_set(err, -EINVAL, "\"%.64s\" is not the name of a run", batch);
        return NULL;
    }
    struct reading r = {.dir = dir, .batch = batch, .problems = json_array()};
    json_t *value = batch_json(&r, cell_bytes);
    json_decref(r.problems);
    if (!value) {
        err_set(err, -ENOENT, "%s has no run \"%s\"", dir->path, batch);
    }
    return value;
}
