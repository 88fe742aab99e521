/* The indexer: a thread that walks folders and writes the index, so that the loop never
 * waits for a disk. It is given one order at a time and answers each with an outcome. */
#include "base/clock.h"
#include "base/work.h"
#include "skills/catalog/catalog_internal.h"

#include <unistd.h>

#define STEPS_PER_LOOK 2000 /* of SQLite's machine between looks at `stop` */
#define BUSY_PAUSE_MS 10
#define BUSY_TRIES 200

struct indexer {
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t more;
    uv_async_t *wake;
    char *db_path; /* NULL: there is not a folder for it */
    atomic_bool stop, ended;
    struct order *order;     /* under the mutex */
    struct outcome *outcome; /* under the mutex */
    /* the thread's */
    struct db *db;
    struct err why_memory; /* code 0: the index is a file */
    unsigned memories;     /* made so far; each has a name of its own */
};

/* --- orders and outcomes --- */

void folders_copy(struct catalog_folders *ret, const struct catalog_folder *list,
                  size_t count) {
    ret->count = count;
    ret->list = xcalloc(count + 1, sizeof *ret->list);
    for (size_t i = 0; i < count; i++) {
        ret->list[i] =
            (struct catalog_folder){xstrdup(list[i].path), xstrdup(list[i].scope),
                                    list[i].agent ? xstrdup(list[i].agent) : NULL,
                                    list[i].within ? xstrdup(list[i].within) : NULL};
    }
}

/* The copies are our own, whatever the header promises callers. */
static void free_text(const char *text) {
    free((void *)(uintptr_t)text);
}

void folders_finish(struct catalog_folders *f) {
    for (size_t i = 0; i < f->count; i++) {
        free(f->list[i].path);
        free_text(f->list[i].scope);
        free_text(f->list[i].agent);
        free_text(f->list[i].within);
    }
    free(f->list);
    *f = (struct catalog_folders){0};
}

struct order *order_new(const struct catalog_folders *folders) {
    struct order *o = xcalloc(1, sizeof *o);
    folders_copy(&o->folders, folders->list, folders->count);
    o->look = xcalloc(folders->count + 1, sizeof *o->look);
    return o;
}

static void order_free(struct order *o) {
    if (o) {
        folders_finish(&o->folders);
        free(o->look);
        free(o);
    }
}

void outcome_free(struct outcome *o) {
    if (!o) {
        return;
    }
    for (size_t i = 0; i < o->folder_count; i++) {
        found_finish(&o->found[i]);
    }
    free(o->found);
    snapshot_free(o->snapshot);
    db_close(o->reader);
    free(o);
}

/* --- the work --- */

/* It is a cache: what is damaged is made anew from the folders. */
static void drop_files(const char *path) {
    static const char *const parts[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        autofree char *name = xasprintf("%s%s", path, parts[i]);
        unlink(name);
    }
}

static int is_stopping(void *data) {
    const struct indexer *i = data;
    return atomic_load(&i->stop);
}

/* Another process writes: wait, but not when everything is to end. */
static int on_busy(void *data, int tries) {
    const struct indexer *i = data;
    if (atomic_load(&i->stop) || tries >= BUSY_TRIES) {
        return 0;
    }
    uv_sleep(BUSY_PAUSE_MS);
    return 1;
}

static int open_index(struct indexer *i, struct db **ret, struct err *err) {
    if (!i->why_memory.code) {
        return db_open(i->db_path, &catalog_schema, ret, err);
    }
    autofree char *name =
        xasprintf("skills-%jx-%u", (uintmax_t)(uintptr_t)i, i->memories);
    return db_open_memory(name, &catalog_schema, ret, err);
}

static void drop_index(struct indexer *i) {
    db_close(take(i->db));
    if (i->why_memory.code) {
        i->memories++;
    } else {
        drop_files(i->db_path);
    }
}

static int reopen(struct indexer *i, bool rebuild, struct err *err) {
    if (rebuild) {
        drop_index(i);
    }
    if (i->db) {
        return 0;
    }
    int rc = open_index(i, &i->db, err);
    if (rc == 0) { /* merging words moves many pages; none of it is secret */
        db_run(i->db, NULL, "PRAGMA secure_delete = OFF", "");
        db_run(i->db, NULL, "PRAGMA cache_size = -8192", "");
        sqlite3_progress_handler(db_handle(i->db), STEPS_PER_LOOK, is_stopping, i);
        sqlite3_busy_handler(db_handle(i->db), on_busy, i);
    }
    return rc;
}

static int look_through(struct indexer *i, const struct order *o, struct outcome *out,
                        struct err *err) {
    bool changed = false;
    int rc = 0;
    for (size_t k = 0; rc == 0 && k < o->folders.count; k++) {
        if (!o->look[k] || folder_is_repeated(&o->folders, k)) {
            continue;
        }
        struct found *found = &out->found[k];
        folder_walk(&o->folders.list[k], found);
        if (atomic_load(&i->stop)) {
            return err_set(err, -ECANCELED, "the index is being closed");
        }
        rc = index_folder(i->db, o->folders.list[k].path, found, &changed, err);
        for (size_t n = 0; n < found->skill_count; n++) {
            free(found->skills[n].path);
        }
        free(found->skills);
        found->skills = NULL;
        found->skill_count = 0;
    }
    return rc < 0 ? rc : index_tidy(i->db, err);
}

static int carry_out(struct indexer *i, const struct order *o, struct outcome *out,
                     struct err *err) {
    int rc = reopen(i, o->rebuild, err);
    rc = rc < 0 ? rc : look_through(i, o, out, err);
    if (rc == 0 && o->known != index_generation(i->db)) {
        rc = snapshot_load(i->db, &o->folders, &out->snapshot, err);
    }
    if (rc == 0 && (o->wants_reader || o->rebuild)) {
        rc = open_index(i, &out->reader, err);
    }
    if (out->reader) { /* KiB: the common words' lists of some ten thousand skills */
        db_run(out->reader, NULL, "PRAGMA cache_size = -16384", "");
    }
    return rc;
}

static int start_over(struct indexer *i, struct order *o, struct outcome *out,
                      struct err *err) {
    db_close(take(out->reader));
    for (size_t k = 0; k < o->folders.count; k++) {
        found_finish(&out->found[k]);
        o->look[k] = true;
    }
    o->rebuild = true;
    o->known = -1;
    return carry_out(i, o, out, err);
}

/* Its folder is read-only, full, missing: nothing that another process or the end of this
 * one explains. */
static bool cannot_be_kept(const struct indexer *i, int rc) {
    return rc < 0 && rc != -EBUSY && rc != -EBADMSG && !i->why_memory.code &&
           !atomic_load(&i->stop);
}

/* Found damaged, or impossible to write, only while it was used: once more, from nothing.
 */
static struct outcome *execute(struct indexer *i, struct order *o) {
    struct outcome *out = xcalloc(1, sizeof *out);
    struct err err = {0};
    uint64_t began = clock_ms();
    out->found = xcalloc(o->folders.count + 1, sizeof *out->found);
    out->folder_count = o->folders.count;
    int rc = carry_out(i, o, out, &err);
    if (rc == -EBADMSG) {
        rc = start_over(i, o, out, &err);
    }
    if (cannot_be_kept(i, rc)) {
        db_close(take(i->db));
        i->why_memory = err;
        rc = start_over(i, o, out, &err);
    }
    if (rc < 0) {
        db_close(take(i->db)); /* opened afresh next time */
        snprintf(out->problem, sizeof out->problem, "%.255s", err.msg);
    } else if (i->why_memory.code) {
        snprintf(out->problem, sizeof out->problem, "kept in memory only: %.200s",
                 i->why_memory.msg);
    }
    out->status = rc;
    out->took_ms = clock_ms() - began;
    return out;
}

/* --- the thread --- */

static struct order *next_order(struct indexer *i) {
    uv_mutex_lock(&i->mutex);
    while (!i->order && !atomic_load(&i->stop)) {
        uv_cond_wait(&i->more, &i->mutex);
    }
    struct order *o = atomic_load(&i->stop) ? NULL : take(i->order);
    uv_mutex_unlock(&i->mutex);
    return o;
}

static void run(void *data) {
    struct indexer *i = data;
    work_stop_watch(&i->stop);
    for (struct order *o; (o = next_order(i));) {
        struct outcome *out = execute(i, o);
        order_free(o);
        uv_mutex_lock(&i->mutex);
        i->outcome = out;
        uv_mutex_unlock(&i->mutex);
        uv_async_send(i->wake);
    }
    if (i->db) { /* who opens it next takes the journal in */
        sqlite3_db_config(db_handle(i->db), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    }
    db_close(i->db);
    atomic_store(&i->ended, true);
    uv_async_send(i->wake);
}

struct indexer *indexer_start(const char *db_path, uv_async_t *wake) {
    struct indexer *i = xcalloc(1, sizeof *i);
    uv_thread_options_t options = {.flags = UV_THREAD_HAS_STACK_SIZE,
                                   .stack_size = 1u << 20};
    i->wake = wake;
    i->db_path = db_path ? xstrdup(db_path) : NULL;
    if (!db_path) {
        err_set(&i->why_memory, -ENOENT, "neither XDG_CACHE_HOME nor HOME is set");
    }
    uv_mutex_init(&i->mutex);
    uv_cond_init(&i->more);
    if (uv_thread_create_ex(&i->thread, &options, run, i) != 0) {
        uv_cond_destroy(&i->more);
        uv_mutex_destroy(&i->mutex);
        free(i->db_path);
        free(i);
        return NULL;
    }
    return i;
}

void indexer_order(struct indexer *i, struct order *order) {
    uv_mutex_lock(&i->mutex);
    i->order = order;
    uv_cond_signal(&i->more);
    uv_mutex_unlock(&i->mutex);
}

struct outcome *indexer_take(struct indexer *i) {
    uv_mutex_lock(&i->mutex);
    struct outcome *out = take(i->outcome);
    uv_mutex_unlock(&i->mutex);
    return out;
}

void indexer_stop(struct indexer *i) {
    uv_mutex_lock(&i->mutex);
    atomic_store(&i->stop, true);
    uv_cond_signal(&i->more);
    uv_mutex_unlock(&i->mutex);
}

bool indexer_ended(struct indexer *i) {
    return atomic_load(&i->ended);
}

void indexer_free(struct indexer *i) {
    uv_thread_join(&i->thread);
    order_free(i->order);
    outcome_free(i->outcome);
    uv_cond_destroy(&i->more);
    uv_mutex_destroy(&i->mutex);
    free(i->db_path);
    free(i);
}
