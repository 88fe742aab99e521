#include "skills/runs/run_operations.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/find.h"
#include "base/work.h"
#include "skills/run_list.operation.h"
#include "skills/run_marks.operation.h"
#include "skills/run_show.operation.h"
#include "skills/runs/run_html.h"
#include "skills/runs/run_list.h"
#include "skills/runs/run_list_html.h"
#include "skills/runs/run_mark_page.h"
#include "skills/runs/run_marks.h"
#include "skills/runs/run_read.h"
#include "skills/runs/run_record.h"
#include "skills/runs/run_report.h"
#include "skills/runs/run_table.h"
#include "skills/skills.h"

#define TEXT_MAX (8u << 20)  /* of an answer */
#define FILE_MAX (64u << 20) /* of a file */
#define CELLS_MAX 5000       /* in an answer */
#define MARKS_MAX (16u << 20)

struct run_asking {
    struct call *call;
    char *dir;          /* the folder of runs */
    struct root
        runs; /* the same, opened; fd -1 if it is the default and does not exist */
    struct root out;    /* the folder beneath which to write, or path NULL */
    char *out_path;     /* relative to it */
    char *marks_path;   /* of run/marks, or NULL */
    const char *format; /* "json", "csv", "html"; of run/show */
    bool dir_is_default; /* a default folder may be missing */
    json_t *result;
    struct err err;
};

static void asking_free(struct run_asking *a) {
    call_unref(a->call);
    root_close(&a->runs);
    root_close(&a->out);
    free(a->dir);
    free(a->out_path);
    free(a->marks_path);
    free(a);
}

static void fail(struct call *call, const struct err *err) {
    if (err->code == -EACCES || err->code == -EXDEV) {
        call_fail(call, CALL_REFUSED, "outside_roots", "name a path of the workspace",
                  "%s", err->msg);
    } else if (err->code == -ENOENT) {
        call_fail(call, CALL_NOT_FOUND, "unknown_run",
                  "run/list shows all runs, skill/evaluate makes one", "%s",
                  err->msg);
    } else if (err->code == -EINVAL) {
        call_fail(call, CALL_BAD_PARAMS, "bad_run", NULL, "%s", err->msg);
    } else if (err->code == -EMSGSIZE) {
        call_fail(call, CALL_UNAVAILABLE, "too_long",
                  "name a file in the workspace as `out`", "%s", err->msg);
    } else {
        call_fail(call, CALL_UNAVAILABLE, "unreadable", NULL, "%s", err->msg);
    }
}

/* --- both: where the runs are --- */

/* NULL after the call was failed. */
static struct run_asking *asking_new(struct call *call, const json_t *params) {
    struct err err = {0};
    const char *given = json_get_string(params, "dir", NULL);
    char *dir = given ? skills_resolve(call_origin(call), given, &err)
                      : run_default_dir(call_origin(call));
    if (!dir) {
        if (!given) {
            err_set(&err, -EIO, "there is no home folder with runs; name a `dir`");
        }
        fail(call, &err);
        return NULL;
    }
    struct run_asking *a = xcalloc(1, sizeof *a);
    a->out.fd = a->runs.fd = -1;
    a->dir = dir;
    a->dir_is_default = !given;
    return a;
}

static void on_done(void *data) {
    struct run_asking *a = data;
    if (a->result) {
        call_reply(a->call, a->result);
    } else {
        fail(a->call, &a->err);
    }
    asking_free(a);
}

static void go(struct run_asking *a, struct call *call, work_step *work) {
    a->call = call_ref(call);
    work_start(call_origin(call)->loop, work, on_done, a);
}

/* --- run/list --- */

static int open_runs(struct run_asking *a) {
    int rc = root_open(&a->runs, a->dir, &a->err);
    if (rc == -ENOENT && a->dir_is_default) {
        a->err = (struct err){0};
        rc = 0;
    }
    return rc;
}

static void list_work(void *data) {
    struct run_asking *a = data;
    const json_t *params = call_params(a->call);
    if (open_runs(a) == 0) {
        a->result = run_list(&a->runs, json_get_string(params, "skill", NULL),
                             json_get_string(params, "model", NULL),
                             (size_t)json_get_integer(params, "limit", 50));
        json_object_set_new(a->result, "dir", json_clean_z(a->dir));
    }
}

static void list_start(struct call *call, const json_t *params) {
    struct run_asking *a = asking_new(call, params);
    if (a) {
        go(a, call, list_work);
    }
}

/* --- run/show --- */

static const char *newest(const json_t *names) {
    return json_string_value(json_array_get(names, 0));
}

static void none_yet(struct run_asking *a) {
    err_set(&a->err, -ENOENT, "no evaluation is on record in %s yet", a->dir);
}

/* Where there must be runs. */
static bool open_some_runs(struct run_asking *a) {
    int rc = open_runs(a);
    if (rc == 0 && a->runs.fd < 0) {
        none_yet(a);
    }
    return rc == 0 && a->runs.fd >= 0;
}

static void tell_preference(json_t *batch) {
    json_t *preference = run_marks_preference(batch);
    if (preference) {
        json_object_set_new(batch, "preference", preference);
    }
}

/* Whether it is the name, or what stands behind one of its underscores. */
static bool is_end_of(const char *name, const char *run) {
    size_t len = strlen(name), n = strlen(run);
    return n < len && name[len - n - 1] == '_' && strcmp(name + len - n, run) == 0;
}

/* The folder's name, which is as given where no run is meant; NULL with the error. */
static char *full_name(struct run_asking *a, const char *run) {
    size_t omitted;
    autojson *names = run_names(&a->runs, &omitted);
    const char *found = NULL;
    if (strcmp(run, "latest") == 0) {
        found = newest(names);
        if (!found) {
            none_yet(a);
        }
        return found ? xstrdup(found) : NULL;
    }
    json_each(names, i, one) {
        const char *name = json_string_value(one);
        if (strcmp(name, run) == 0) {
            return xstrdup(run);
        }
        if (is_end_of(name, run)) {
            if (found) {
                err_set(&a->err, -EINVAL, "several runs end in %.100s: %s, %s", run, found,
                        name);
                return NULL;
            }
            found = name;
        }
    }
    return xstrdup(found ? found : run);
}

static json_t *read_batch(struct run_asking *a) {
    autofree char *name =
        full_name(a, json_get_string(call_params(a->call), "run", ""));
    json_t *batch = name ? run_read(&a->runs, name, RUN_READ_CELLS, &a->err) : NULL;
    if (batch) {
        json_object_set_new(batch, "rows", run_rows(batch));
        tell_preference(batch);
    }
    return batch;
}

static int format_batch(const struct run_asking *a, const json_t *batch,
                        struct buf *text) {
    if (strcmp(a->format, "csv") == 0) {
        return run_table_write(text, batch);
    }
    const char *mark = json_get_string(call_params(a->call), "mark", NULL);
    if (mark) {
        return run_mark_page_write(text, batch, strcmp(mark, "blind") == 0);
    }
    if (strcmp(a->format, "html") == 0) {
        return run_html_write(text, batch);
    }
    autofree char *json = json_shown(batch, JSON_INDENT(2));
    return json ? buf_adds(text, json) : -EINVAL;
}

static json_t *answer_head(const struct run_asking *a, const json_t *batch) {
    return json_pack("{s:O,s:s}", "run", json_object_get(batch, "run"), "format",
                     a->format);
}

/* To the file that was asked for; adds it to the answer, which is stolen. */
static json_t *write_text(struct run_asking *a, const struct buf *text, json_t *answer) {
    if (root_write(&a->out, a->out_path, text->data, text->len, 0644, &a->err) < 0) {
        json_decref(answer);
        return NULL;
    }
    autofree char *path = path_join(a->out.path, a->out_path);
    json_object_set_new(answer, "path", json_clean_z(path));
    json_object_set_new(answer, "bytes", json_integer((json_int_t)text->len));
    return answer;
}

static json_t *write_out(struct run_asking *a, const json_t *batch) {
    autobuf text = BUF_INIT(FILE_MAX);
    int rc = format_batch(a, batch, &text);
    if (rc == -ENODATA) {
        err_set(&a->err, -EINVAL,
                "the run has no pair of answers, one without the skill and one with it");
        return NULL;
    }
    if (rc == -EALREADY) {
        err_set(&a->err, -EINVAL,
                "there is nothing to mark: each answer with the skill is the same as the "
                "one without it");
        return NULL;
    }
    if (rc < 0) {
        err_set(&a->err, -EFBIG, "the run does not fit into %u MiB", FILE_MAX >> 20);
        return NULL;
    }
    return write_text(a, &text, answer_head(a, batch));
}

/* --- all runs, in one table or on one page --- */

/* Those that cannot be read are left out and counted. */
static int add_all(struct run_asking *a, struct buf *text, json_int_t *runs,
                   json_int_t *unread) {
    size_t omitted;
    autojson *names = run_names(&a->runs, &omitted);
    int rc = run_table_begin(text);
    *unread = (json_int_t)omitted;
    json_each(names, i, name) {
        autojson *batch =
            run_read(&a->runs, json_string_value(name), RUN_READ_CELLS, NULL);
        rc = rc < 0 || !batch ? rc : run_table_add(text, batch);
        *runs += batch != NULL;
        *unread += batch == NULL;
    }
    if (rc < 0) {
        err_set(&a->err, -EFBIG, "the runs do not fit into %u MiB", FILE_MAX >> 20);
    }
    return rc;
}

static json_t *write_all(struct run_asking *a, const struct buf *text, json_int_t runs,
                         json_int_t unread) {
    return write_text(a, text,
                      json_pack("{s:s,s:s,s:I,s:I}", "run", "all", "format", a->format,
                                "runs", runs, "omitted", unread));
}

static json_t *show_page(struct run_asking *a) {
    autobuf text = BUF_INIT(FILE_MAX);
    autojson *list = run_list(&a->runs, NULL, NULL, RUN_SCAN_MAX);
    if (run_list_html_write(&text, list) < 0) {
        err_set(&a->err, -EFBIG, "the runs do not fit into %u MiB", FILE_MAX >> 20);
        return NULL;
    }
    return write_all(a, &text, (json_int_t)json_array_size(json_object_get(list, "runs")),
                     json_get_integer(list, "omitted", 0));
}

static json_t *show_all(struct run_asking *a) {
    autobuf text = BUF_INIT(FILE_MAX);
    json_int_t runs = 0, unread = 0;
    if (strcmp(a->format, "html") == 0) {
        return show_page(a);
    }
    return add_all(a, &text, &runs, &unread) < 0 ? NULL
                                                 : write_all(a, &text, runs, unread);
}

static json_t *answer_text(struct run_asking *a, const json_t *batch) {
    autobuf text = BUF_INIT(TEXT_MAX);
    if (format_batch(a, batch, &text) < 0) {
        err_set(&a->err, -EMSGSIZE, "the run is longer than %u MiB as %s", TEXT_MAX >> 20,
                a->format);
        return NULL;
    }
    json_t *answer = answer_head(a, batch);
    json_object_set_new(answer, "text", json_text(text.data, text.len));
    return answer;
}

/* The batch with as many cells and outputs as a message should hold. */
static json_t *answer_json(struct run_asking *a, const json_t *batch) {
    json_t *answer = json_copy((json_t *)(uintptr_t)batch);
    const json_t *cells = json_object_get(batch, "cells");
    json_t *some = json_array();
    size_t bytes = 0, count = json_array_size(cells);
    json_each(cells, i, cell) {
        bytes += json_string_length(json_object_get(cell, "output"));
        if (i < CELLS_MAX && bytes <= TEXT_MAX) {
            json_array_append(some, cell);
        }
    }
    size_t omitted = count - json_array_size(some);
    json_object_set_new(answer, "cells", some);
    if (omitted) {
        json_object_set_new(answer, "omitted", json_integer((json_int_t)omitted));
    }
    json_object_set_new(answer, "format", json_string(a->format));
    return answer;
}

static bool wants_all(const json_t *params) {
    return json_says(params, "run", "all");
}

static void show_work(void *data) {
    struct run_asking *a = data;
    if (!open_some_runs(a)) {
        return;
    }
    if (wants_all(call_params(a->call))) {
        a->result = show_all(a);
        return;
    }
    autojson *batch = read_batch(a);
    if (!batch) {
        return;
    }
    a->result = a->out_path                      ? write_out(a, batch)
                : strcmp(a->format, "json") == 0 ? answer_json(a, batch)
                                                 : answer_text(a, batch);
}

/* The format that was asked for, or that out's ending says. */
static const char *format_of(const json_t *params) {
    static const char *const formats[] = {"json", "csv", "html"};
    const char *out = json_get_string(params, "out", "");
    const char *dot = strrchr(path_basename(out), '.');
    const char *format = json_get_string(params, "format", dot ? dot + 1 : "json");
    size_t at = first_of(i, 0, ARRAY_LEN(formats),
                         strcmp(format, formats[i]) == 0 &&
                             (!*out || (dot && strcmp(dot + 1, format) == 0)));
    return at < ARRAY_LEN(formats) ? formats[at] : NULL;
}

static void show_start(struct call *call, const json_t *params) {
    const char *out = json_get_string(params, "out", NULL);
    const char *format = format_of(params);
    struct err err = {0};
    if (!run_name_is_valid(json_get_string(params, "run", ""))) {
        call_fail_param(call, "/run", "that is not the name of a run");
        return;
    }
    if (!format) {
        call_fail_param(call, "/out",
                        "the file's extension must match its format: .json, .csv or "
                        ".html");
        return;
    }
    if (wants_all(params) && (!out || strcmp(format, "json") == 0)) {
        call_fail_param(
            call, "/out",
            "all runs need a file: name one that ends in .csv (every answer) or .html "
            "(their history)");
        return;
    }
    if (json_object_get(params, "mark") &&
        (!out || strcmp(format, "html") != 0 || wants_all(params))) {
        call_fail_param(call, "/mark",
                        "a page for marks needs one run and a .html file as `out`");
        return;
    }
    struct run_asking *a = asking_new(call, params);
    if (!a) {
        return;
    }
    a->format = format;
    if (out && skills_out(call_origin(call), out, &a->out, &a->out_path, &err) < 0) {
        fail(call, &err);
        a->call = call_ref(call);
        asking_free(a);
        return;
    }
    go(a, call, show_work);
}

/* --- run/marks --- */

static json_t *read_marks(struct run_asking *a) {
    const json_t *given = json_object_get(call_params(a->call), "marks");
    autobuf text = BUF_INIT(MARKS_MAX);
    if (!a->marks_path) {
        return json_incref((json_t *)(uintptr_t)given);
    }
    if (file_read(a->marks_path, &text, &a->err) < 0) {
        return NULL;
    }
    json_t *value = json_parse(text.data, text.len, &a->err);
    if (!value) {
        a->err.code = -EINVAL;
    }
    return value;
}

static int keep_marks(struct run_asking *a, json_t *batch, json_t *marks) {
    autojson *kept = json_pack("{s:O}", "marks", marks);
    autofree char *text = json_shown(kept, JSON_INDENT(1));
    autofree char *path = path_join(json_get_string(batch, "run", ""), "marks.json");
    json_object_set(batch, "marks", marks);
    return root_write(&a->runs, path, text, strlen(text), 0644, &a->err);
}

static void marks_work(void *data) {
    struct run_asking *a = data;
    if (!open_some_runs(a)) {
        return;
    }
    autojson *given = read_marks(a);
    autojson *batch = given ? read_batch(a) : NULL;
    autojson *marks = batch ? run_marks_take(batch, given, &a->err) : NULL;
    if (!marks || keep_marks(a, batch, marks) < 0) {
        return;
    }
    json_t *preference = run_marks_preference(batch);
    a->result = json_pack("{s:O,s:I,s:o}", "run", json_object_get(batch, "run"), "marks",
                          (json_int_t)json_array_size(marks), "preference",
                          preference ? preference : json_array());
}

static void marks_start(struct call *call, const json_t *params) {
    const char *path = json_get_string(params, "marks", NULL);
    struct err err = {0};
    if (!run_name_is_valid(json_get_string(params, "run", "")) || wants_all(params)) {
        call_fail_param(call, "/run", "that is not the name of a run");
        return;
    }
    autofree char *found = path ? skills_resolve(call_origin(call), path, &err) : NULL;
    if (path && !found) {
        call_fail_param(call, "/marks", "%s", err.msg);
        return;
    }
    struct run_asking *a = asking_new(call, params);
    if (a) {
        a->marks_path = take(found);
        go(a, call, marks_work);
    }
}

/* --- the table --- */

const struct operation run_operations[] = {
    {RUN_LIST_OPERATION, .start = list_start, .describe = run_list_describe},
    {RUN_SHOW_OPERATION, .start = show_start, .describe = run_show_describe},
    {RUN_MARKS_OPERATION, .start = marks_start, .describe = run_preference_describe},
};
const size_t run_operation_count = ARRAY_LEN(run_operations);
