#include "skills/runs/run_record.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "protocol/call.h"
#include "skills/runs/run_result.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CELL_MAX (1u << 20)
#define ASSERTIONS_MAX 256
#define FILE_MODE 0600

struct run_writer {
    struct root folder;
    char batch[RUN_BATCH_SIZE];
    int cells; /* locked while the batch is written */
    off_t len; /* of the whole lines in it */
    size_t count;
    json_t *meta;
    struct run_results *results;
};

char *run_default_dir(const struct call_origin *origin) {
    const char *configured = call_lent(origin, RUNS_DIR_LENT);
    autofree char *state = configured ? NULL : xdg_state_dir();
    return configured ? xstrdup(configured) : state ? path_join(state, "runs") : NULL;
}

static void writer_free(struct run_writer *w) {
    if (w->cells >= 0) {
        close(w->cells);
    }
    root_close(&w->folder);
    json_decref(w->meta);
    run_results_free(w->results);
    free(w);
}

static int write_json(struct run_writer *w, const char *name, const json_t *value,
                      struct err *err) {
    autofree char *text = json_shown(value, JSON_INDENT(2));
    if (!text) {
        return err_set(err, -EINVAL, "%s: cannot be written as JSON", name);
    }
    return root_write(&w->folder, name, text, strlen(text), FILE_MODE, err);
}

static int fail_cells(const struct run_writer *w, int code, struct err *err) {
    return err_set(err, code, "%s/cells.jsonl: %s", w->folder.path, strerror(-code));
}

/* --- opening --- */

/* "2026-01-02T03:04:05.678Z" -> "2026_01_02_03_04_05_678_" and random digits. */
static void make_name(const char *now, char ret[static RUN_BATCH_SIZE]) {
    char random[9];
    size_t n = strlen("YYYY-MM-DDTHH:MM:SS.mmm");
    for (size_t i = 0; i < n; i++) {
        ret[i] = now[i] >= '0' && now[i] <= '9' ? now[i] : '_';
    }
    random_hex(4, random);
    snprintf(ret + n, RUN_BATCH_SIZE - n, "_%s", random);
}

static int make_folder(struct run_writer *w, const char *dir, struct err *err) {
    int rc = dir_make(dir, 0700, err);
    autofree char *path = path_join(dir, w->batch);
    if (rc < 0) {
        return rc;
    }
    if (mkdir(path, 0700) < 0) {
        int code = -errno;
        return err_set(err, code, "%s: %s", path, strerror(-code));
    }
    return root_open(&w->folder, path, err);
}

static int open_cells(struct run_writer *w, struct err *err) {
    w->cells = openat(w->folder.fd, "cells.jsonl",
                      O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                      FILE_MODE);
    if (w->cells < 0) {
        return fail_cells(w, -errno, err);
    }
    flock(w->cells, LOCK_EX | LOCK_NB); /* says to readers that it goes on */
    return 0;
}

struct run_writer *run_writer_open(const char *dir, const json_t *meta, struct err *err) {
    autofree char *standard = dir ? xstrdup(dir) : run_default_dir(NULL);
    char now[25];
    if (!standard) {
        err_set(err, -ENOENT, "there is no home folder to keep runs in; name a folder");
        return NULL;
    }
    clock_iso8601(now);
    struct run_writer *w = xcalloc(1, sizeof *w);
    w->cells = -1;
    make_name(now, w->batch);
    w->meta = meta ? json_deep_copy(meta) : json_object();
    json_object_set_new(w->meta, "batch", json_string(w->batch));
    json_object_set_new(w->meta, "started", json_string(now));
    json_object_set_new(w->meta, "version", json_string(UPSKILLD_VERSION));
    w->results = run_results_new(w->meta);
    if (make_folder(w, standard, err) < 0 || open_cells(w, err) < 0 ||
        write_json(w, "meta.json", w->meta, err) < 0) {
        writer_free(w);
        return NULL;
    }
    return w;
}

const char *run_writer_batch(const struct run_writer *w) {
    return w->batch;
}

/* --- cells --- */

static json_t *cut_text(const json_t *value, size_t max) {
    const char *text = json_string_value(value);
    return json_text(text, text_cut(text, json_string_length(value), max));
}

void run_cell_set_output(json_t *cell, const char *text, size_t len) {
    size_t kept = text_cut(text, len, RUN_MAX_OUTPUT);
    json_object_set_new(cell, "output", json_text(text, kept));
    if (kept < len) {
        json_object_set_new(cell, "output_bytes", json_integer((json_int_t)len));
    }
}

static json_t *cut_assertion(const json_t *given) {
    json_t *assertion = json_copy((json_t *)(uintptr_t)given);
    json_each_member(given, key, value) {
        if (json_string_length(value) > RUN_MAX_EVIDENCE) {
            json_object_set_new(assertion, key, cut_text(value, RUN_MAX_EVIDENCE));
        }
    }
    return assertion;
}

static json_t *cut_assertions(const json_t *given) {
    json_t *list = json_array();
    json_each(given, i, assertion) {
        if (i < ASSERTIONS_MAX) {
            json_array_append_new(list, cut_assertion(assertion));
        }
    }
    return list;
}

/* The cell as it is kept: long texts cut, the time added. */
static json_t *cell_to_keep(const json_t *given) {
    json_t *cell = json_copy((json_t *)(uintptr_t)given);
    json_t *output = json_object_get(given, "output");
    json_t *assertions = json_object_get(given, "assertions");
    char now[25];
    if (json_string_length(output) > RUN_MAX_OUTPUT) {
        run_cell_set_output(cell, json_string_value(output), json_string_length(output));
    }
    if (assertions) {
        json_object_set_new(cell, "assertions", cut_assertions(assertions));
    }
    if (!json_object_get(given, "ended")) {
        clock_iso8601(now);
        json_object_set_new(cell, "ended", json_string(now));
    }
    return cell;
}

/* A line is there whole or not at all. */
static int append_line(struct run_writer *w, const struct buf *line, struct err *err) {
    int rc = file_write_all(w->cells, line->data, line->len);
    if (rc < 0) {
        int ignored = ftruncate(w->cells, w->len);
        (void)ignored;
        return fail_cells(w, rc, err);
    }
    w->len += (off_t)line->len;
    return 0;
}

int run_writer_cell(struct run_writer *w, const json_t *cell, struct err *err) {
    const char *problem = run_cell_problem(cell);
    if (problem) {
        return err_set(err, -EINVAL, "%s", problem);
    }
    if (w->count == RUN_MAX_CELLS) {
        return err_set(err, -EFBIG, "more than %u cells are not kept", RUN_MAX_CELLS);
    }
    autojson *kept = cell_to_keep(cell);
    autobuf line = BUF_INIT(CELL_MAX);
    int rc = json_write(&line, kept);
    rc = rc < 0 ? rc : buf_addc(&line, '\n');
    if (rc < 0) {
        return err_set(err, -EFBIG, "a cell of more than %u MiB is not kept",
                       CELL_MAX >> 20);
    }
    rc = append_line(w, &line, err);
    if (rc == 0) {
        w->count++;
        run_results_add(w->results, kept);
    }
    return rc;
}

/* --- the end --- */

static int write_run(struct run_writer *w, const json_t *result, struct err *err) {
    const json_t *metadata = json_object_get(result, "metadata");
    long long number = json_get_integer(metadata, "run_number", 0);
    char name[64];
    snprintf(name, sizeof name, "run_%lld/run_metadata.json", number);
    int rc = write_json(w, name, metadata, err);
    snprintf(name, sizeof name, "run_%lld/run_result.json", number);
    return rc < 0 ? rc : write_json(w, name, result, err);
}

static int write_runs(struct run_writer *w, struct err *err) {
    char now[25];
    clock_iso8601(now);
    now[strlen(now) - 1] = '\0'; /* upskill writes and compares times without a zone */
    autojson *results = run_results_json(w->results, w->batch, now);
    autojson *summary = run_batch_summary(w->meta, w->batch, results);
    int rc = 0;
    json_each(results, i, result) {
        rc = rc < 0 ? rc : write_run(w, result, err);
    }
    return rc < 0 ? rc : write_json(w, "batch_summary.json", summary, err);
}

static int sync_cells(struct run_writer *w, struct err *err) {
    return fsync(w->cells) < 0 ? fail_cells(w, -errno, err) : 0;
}

int run_writer_finish(struct run_writer *w, const json_t *evaluation, struct err *err) {
    autojson *whole = json_copy((json_t *)(uintptr_t)evaluation);
    json_object_set_new(whole, "batch", json_string(w->batch));
    json_object_set_new(whole, "folder",
                        json_text(w->folder.path, strlen(w->folder.path)));
    json_object_set(whole, "meta", w->meta);
    int rc = sync_cells(w, err);
    rc = rc < 0 ? rc : write_runs(w, err);
    /* Last: with it the batch is whole. */
    rc = rc < 0 ? rc : write_json(w, "evaluation.json", whole, err);
    writer_free(w);
    return rc;
}

void run_writer_close(struct run_writer *w) {
    if (w) {
        sync_cells(w, NULL);
        writer_free(w);
    }
}
