#define LOG_MODULE "jobs"
#include "daemon/jobs.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/db.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

#include <inttypes.h>
#include <unistd.h>

#define JOBS_STORE_MS 500 /* progress is written at most this often */
#define LAST_BUSY_MS 20   /* at the end: no time to wait for another writer */

static const char *const migrations[] = {
    "CREATE TABLE job (id TEXT PRIMARY KEY, operation TEXT NOT NULL, client TEXT NOT "
    "NULL,"
    " state TEXT NOT NULL, done REAL NOT NULL, total REAL NOT NULL, message TEXT,"
    " outcome TEXT, pid INTEGER NOT NULL, pid_start TEXT NOT NULL,"
    " created TEXT NOT NULL, updated TEXT NOT NULL) STRICT, WITHOUT ROWID;"
    "CREATE INDEX job_by_time ON job (created);",
    NULL,
};

/* A kept call that has not ended, or that ended and could not be stored. */
struct live_job {
    struct call *call; /* a reference */
    char created[25], updated[25];
    uint64_t stored_ms;
    struct live_job *next;
};

struct jobs {
    char *path;
    struct db *db;
    bool opened;
    struct err problem; /* code 0 = none */
    struct live_job *live;
    struct call_observer observer;
    char pid_start[32];
};

/* A process id may have been reused: the start time (field 22 of /proc/PID/stat, clock
 * ticks since boot) distinguishes the processes. "" if it does not run; a zombie (state
 * Z) does not. */
static void process_start(int pid, char ret[32]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    ret[0] = '\0';
    FILE *f = fopen(path, "re");
    if (!f) {
        return;
    }
    char line[2048];
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = '\0';
    const char *at = strrchr(line, ')'); /* the name may hold anything */
    if (at && strncmp(at, ") Z", 3) == 0) {
        return;
    }
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at + 1, ' ');
    }
    if (at) {
        snprintf(ret, 32, "%.*s", (int)strcspn(at + 1, " \n"), at + 1);
    }
}

static void open_db(struct jobs *jobs) {
    if (jobs->opened) {
        return;
    }
    jobs->opened = true;
    static const struct db_schema schema = {.migrations = migrations, .checked = true};
    struct err err = {0};
    int rc = jobs->path
                 ? db_open(jobs->path, &schema, &jobs->db, &err)
                 : err_set(&err, -ENOENT, "neither XDG_STATE_HOME nor HOME is set");
    if (rc < 0) {
        jobs->db = NULL;
        jobs->problem = err;
        log_warning("jobs are kept in memory only: %s", jobs->problem.msg);
    } else if (db_set_aside(jobs->db)) {
        log_warning("%s was damaged: it is kept as %s, and earlier jobs are gone",
                    jobs->path, db_set_aside(jobs->db));
    }
}

static json_t *failure_json(const struct call_failure *f) {
    return json_pack("{s:o,s:{s:s,s:o*,s:o*}}", "message", json_clean_z(f->message),
                     "data", "reason", f->reason, "hint",
                     f->hint ? json_clean_z(f->hint) : NULL, "path",
                     f->path ? json_clean_z(f->path) : NULL);
}

/* The members that depend on the state. */
static json_t *outcome_json(const struct call *call) {
    enum call_state state = call_state(call);
    return json_pack(
        "{s:O*,s:O*,s:o*,s:O*}", "partial", call_ended(call) ? NULL : call_partial(call),
        "result", state == CALL_SUCCEEDED ? call_result(call) : NULL, "error",
        state == CALL_FAILED ? failure_json(call_failure(call)) : NULL, "work_order",
        state == CALL_INPUT_REQUIRED ? call_work_order(call) : NULL);
}

static json_t *status_json(const char *id, const char *state, double done, double total,
                           const char *message, json_t *outcome) {
    json_t *status =
        json_pack("{s:s,s:s,s:{s:o,s:o,s:o*}}", "job", id, "state", state, "progress",
                  "done", json_double(done), "total", json_double(total), "message",
                  message ? json_clean_z(message) : NULL);
    if (outcome) {
        json_object_update(status, outcome);
    }
    return status;
}

/* The members of a job's view apart from its state: the operation and the times. */
static json_t *with_history(json_t *status, const char *operation, const char *created,
                            const char *updated) {
    json_object_set_new(status, "operation", json_string(operation));
    json_object_set_new(status, "created", json_string(created));
    json_object_set_new(status, "updated", json_string(updated));
    return status;
}

static int store(struct jobs *jobs, struct live_job *job) {
    const struct call *call = job->call;
    const struct call_progress *p = call_progress(call);
    autojson *outcome = outcome_json(call);
    autobuf text = BUF_INIT(JOBS_MAX_RESULT);
    struct err err = {0};
    if (json_write(&text, outcome) < 0) {
        buf_reset(&text);
        buf_adds(&text, "{\"error\":{\"message\":\"the result is too large to keep\","
                        "\"data\":{\"reason\":\"result_too_large\"}}}");
    }
    char now[25];
    clock_iso8601(now);
    int rc =
        db_run(jobs->db, &err,
               "INSERT INTO job VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12)"
               " ON CONFLICT (id) DO UPDATE SET state=?4, done=?5, total=?6, message=?7,"
               " outcome=?8, updated=?12",
               "ssssddssisss", call_keep((struct call *)(uintptr_t)call),
               call_operation(call)->name, call_origin(call)->client,
               call_state_name(call_state(call)), p->done, p->total, p->message,
               text.data, (int64_t)getpid(), jobs->pid_start, job->created, now);
    job->stored_ms = clock_ms();
    if (rc < 0) {
        log_warning("a job was not stored: %s", err.msg);
    }
    return rc;
}

static void prune(struct jobs *jobs) {
    db_run(
        jobs->db, NULL,
        "DELETE FROM job WHERE created < (SELECT created FROM job ORDER BY created DESC"
        " LIMIT 1 OFFSET ?1)",
        "i", (int64_t)JOBS_KEEP);
}

static void forget(struct live_job **at) {
    struct live_job *job = *at;
    *at = job->next;
    call_unref(job->call);
    free(job);
}

/* Ended jobs that could not be stored are kept in memory, as many as there would be
 * rows. */
static void forget_old(struct jobs *jobs) {
    size_t ended = 0;
    for (struct live_job **at = &jobs->live; *at;) {
        bool over = call_ended((*at)->call) && ++ended > JOBS_KEEP;
        if (over) {
            forget(at);
        } else {
            at = &(*at)->next;
        }
    }
}

/* A call may have ended before it was kept; then no further event follows. */
static void on_kept(struct call *call, void *data) {
    struct jobs *jobs = data;
    struct live_job *job = xcalloc(1, sizeof *job);
    job->call = call_ref(call);
    clock_iso8601(job->created);
    clock_iso8601(job->updated);
    job->next = jobs->live;
    jobs->live = job;
    open_db(jobs);
    bool stored = jobs->db && store(jobs, job) == 0;
    if (jobs->db) {
        prune(jobs);
    }
    if (stored && call_ended(call)) {
        forget(&jobs->live);
    }
    forget_old(jobs);
    log_debug("kept job=%s operation=%s", call_keep(call), call_operation(call)->name);
}

static struct live_job **find_live(struct jobs *jobs, const char *id) {
    struct live_job **at = &jobs->live;
    while (*at && strcmp(call_keep((*at)->call), id) != 0) {
        at = &(*at)->next;
    }
    return at;
}

static void on_changed(struct call *call, void *data) {
    struct jobs *jobs = data;
    struct live_job **at = find_live(jobs, call_keep(call));
    if (!*at) {
        return;
    }
    clock_iso8601((*at)->updated);
    if (!jobs->db) {
        return;
    }
    bool running = call_state(call) == CALL_RUNNING;
    if (running && clock_ms() - (*at)->stored_ms < JOBS_STORE_MS) {
        return;
    }
    if (store(jobs, *at) == 0 && call_ended(call)) {
        forget(at);
    }
}

static char *default_path(void) {
    autofree char *dir = xdg_state_dir();
    return dir ? path_join(dir, "jobs.db") : NULL;
}

struct jobs *jobs_new(const char *path) {
    struct jobs *jobs = xcalloc(1, sizeof *jobs);
    jobs->path = path ? xstrdup(path) : default_path();
    process_start(getpid(), jobs->pid_start);
    jobs->observer =
        (struct call_observer){.kept = on_kept, .changed = on_changed, .data = jobs};
    call_set_observer(&jobs->observer);
    return jobs;
}

/* Only while it is open: its daemon may just have stored its end. */
static int mark_interrupted(struct jobs *jobs, const char *id) {
    return db_run(jobs->db, NULL,
                  "UPDATE job SET state='interrupted'"
                  " WHERE id=?1 AND state IN ('running','input_required')",
                  "s", id);
}

/* A row that cannot be written now is seen to be abandoned when it is read. */
static void interrupt_live(struct jobs *jobs) {
    int rc = 0;
    if (jobs->db) {
        sqlite3_busy_timeout(db_handle(jobs->db), LAST_BUSY_MS);
    }
    for (const struct live_job *job = jobs->live; jobs->db && job && rc == 0;
         job = job->next) {
        rc = call_ended(job->call) ? 0 : mark_interrupted(jobs, call_keep(job->call));
    }
}

void jobs_free(struct jobs *jobs) {
    if (!jobs) {
        return;
    }
    call_set_observer(NULL);
    interrupt_live(jobs);
    while (jobs->live) {
        forget(&jobs->live);
    }
    db_close(jobs->db);
    free(jobs->path);
    free(jobs);
}

static bool is_open_state(const char *state) {
    return strcmp(state, "running") == 0 || strcmp(state, "input_required") == 0;
}

static bool is_abandoned(const char *state, int pid, const char *start) {
    char now[32];
    if (!is_open_state(state)) {
        return false;
    }
    process_start(pid, now);
    return strcmp(now, start) != 0;
}

struct row {
    json_t *status; /* NULL: there is none */
    bool abandoned; /* its daemon is gone, and could not say so */
};

/* An order is answered by the daemon that gave it alone: another one says who waits, or
 * that nobody does. */
static void tell_end(json_t *status, const char *state, int pid) {
    bool order = json_object_del(status, "work_order") == 0;
    if (strcmp(state, "interrupted") == 0) {
        json_object_set_new(
            status, "error",
            json_pack("{s:s,s:{s:s,s:s}}", "message",
                      order ? "the daemon that waited for the answer to its order has ended: none is taken"
                            : "the daemon that ran it ended before it was done",
                      "data", "reason", "interrupted", "hint", "start it again"));
    } else if (order) {
        autofree char *who = xasprintf("the daemon with process id %d waits for the answer to its order; "
                                       "only its own client can give it", pid);
        json_object_set_new(json_object_get(status, "progress"), "message", json_string(who));
    }
}

static int read_row(sqlite3_stmt *stmt, void *data) {
    struct row *row = data;
    const char *state = db_text(stmt, 1);
    bool told = sqlite3_column_type(stmt, 4) != SQLITE_NULL;
    autojson *outcome = json_loads(db_text(stmt, 5), JSON_ALLOW_NUL, NULL);
    row->abandoned = is_abandoned(state, sqlite3_column_int(stmt, 6), db_text(stmt, 7));
    row->status = with_history(
        status_json(db_text(stmt, 0), row->abandoned ? "interrupted" : state,
                    sqlite3_column_double(stmt, 2), sqlite3_column_double(stmt, 3),
                    told ? db_text(stmt, 4) : NULL, outcome),
        db_text(stmt, 8), db_text(stmt, 9), db_text(stmt, 10));
    tell_end(row->status, row->abandoned ? "interrupted" : state, sqlite3_column_int(stmt, 6));
    return 1;
}

static struct row find_row(struct jobs *jobs, const char *id) {
    struct row row = {0};
    if (jobs->db) {
        db_query(jobs->db, NULL, read_row, &row,
                 "SELECT id, state, done, total, message, outcome, pid, pid_start,"
                 " operation, created, updated FROM job WHERE id=?1",
                 "s", id);
    }
    return row;
}

/* An abandoned one is read again once it is marked: its daemon may just have stored its
 * end. */
static json_t *stored_status(struct jobs *jobs, const char *id) {
    open_db(jobs);
    struct row row = find_row(jobs, id);
    if (row.abandoned) {
        mark_interrupted(jobs, id);
        json_decref(row.status);
        row = find_row(jobs, id);
    }
    return row.status;
}

json_t *jobs_status(struct jobs *jobs, const char *id, struct call **live) {
    struct live_job *job = *find_live(jobs, id);
    if (live) {
        *live = job ? job->call : NULL;
    }
    if (!job) {
        return stored_status(jobs, id);
    }
    const struct call_progress *p = call_progress(job->call);
    autojson *outcome = outcome_json(job->call);
    json_t *status = status_json(id, call_state_name(call_state(job->call)), p->done,
                                 p->total, p->message, outcome);
    return with_history(status, call_operation(job->call)->name, job->created,
                        job->updated);
}

static void add_listed(json_t *list, const char *id, const char *operation,
                       const char *state, const char *client, const char *created,
                       const char *updated) {
    json_array_append_new(list,
                          json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", "job", id, "operation",
                                    operation, "state", state, "client", client,
                                    "created", created, "updated", updated));
}

static int list_row(sqlite3_stmt *stmt, void *data) {
    const char *state = db_text(stmt, 2);
    bool gone = is_abandoned(state, sqlite3_column_int(stmt, 6), db_text(stmt, 7));
    add_listed(data, db_text(stmt, 0), db_text(stmt, 1), gone ? "interrupted" : state,
               db_text(stmt, 3), db_text(stmt, 4), db_text(stmt, 5));
    return 0;
}

/* Without a database: this daemon's jobs. */
static void list_live(const struct jobs *jobs, json_t *list) {
    for (const struct live_job *job = jobs->live; job; job = job->next) {
        add_listed(list, call_keep(job->call), call_operation(job->call)->name,
                   call_state_name(call_state(job->call)), call_origin(job->call)->client,
                   job->created, job->updated);
    }
}

json_t *jobs_list(struct jobs *jobs, const char *state, unsigned limit) {
    autojson *all = json_array();
    open_db(jobs);
    if (jobs->db) {
        db_query(jobs->db, NULL, list_row, all,
                 "SELECT id, operation, state, client, created, updated, pid, pid_start"
                 " FROM job ORDER BY created DESC LIMIT ?1",
                 "i", (int64_t)JOBS_KEEP);
    } else {
        list_live(jobs, all);
    }
    json_t *list = json_array();
    json_each(all, i, job) {
        if (json_array_size(list) < limit && (!state || json_says(job, "state", state))) {
            json_array_append(list, job);
        }
    }
    return list;
}

const char *jobs_problem(const struct jobs *jobs) {
    return jobs->problem.code ? jobs->problem.msg : NULL;
}
