/* The index of skills: one row per place, one document per distinct skill, its words
 * in an FTS5 table. Every transaction leaves it whole; what a crash kept out is found
 * missing by the next look at the folder. */
#include "base/work.h"
#include "skills/catalog/catalog_internal.h"
#include "skills/check/skill_check.h"

#include <math.h>
#include <time.h>

#define BATCH 256           /* documents of one transaction */
#define FORGET_S 2592000    /* a month */
#define RECOUNT_ALWAYS 2000 /* documents up to which rarity is kept exact */
/* Bytes that the safety rules may search closely in one look at a folder: several times
 * what real skills take, 15 KiB for one of 7 KiB, and some ten seconds for a few hostile
 * ones. Of skills that come behind there is no telling, which counts against them. */
#define SEARCHED_OF_ALL (64u << 20)
#define SEARCHED_OF_EACH (64u << 10)
/* Bytes that are hashed to tell copies from others: some seconds of hostile ones. */
#define HASHED_OF_ALL (1024u << 20)
#define HASHED_OF_EACH (256u << 10)

#include "skills/catalog_index_table.h"
const struct db_schema catalog_schema = {migrations, true};

/* --- small queries --- */

static int keep_number(sqlite3_stmt *stmt, void *data) {
    *(int64_t *)data = sqlite3_column_int64(stmt, 0);
    return 0;
}

static int64_t counter(struct db *db, const char *name) {
    int64_t value = 0;
    db_query(db, NULL, keep_number, &value, "SELECT value FROM counter WHERE name = ?1",
             "s", name);
    return value;
}

int64_t index_generation(struct db *db) {
    return counter(db, "generation");
}

static int begin(struct db *db, struct err *err) {
    int rc = -EBUSY; /* another daemon's writer; each transaction of it is short */
    for (int tries = 0; rc == -EBUSY && tries < 5; tries++) {
        rc = db_run(db, err, "BEGIN IMMEDIATE", "");
    }
    return rc;
}

static int end(struct db *db, int rc, struct err *err) {
    rc = rc < 0 ? rc : db_run(db, err, "COMMIT", "");
    if (rc < 0) {
        db_run(db, NULL, "ROLLBACK", "");
    }
    return rc;
}

static int bump(struct db *db, struct err *err) {
    return db_run(db, err,
                  "UPDATE counter SET value = value + 1 WHERE name = 'generation'", "");
}

/* --- one document --- */

static int add_text(struct db *db, const struct index_document *d, struct err *err) {
    return db_run(db, err,
                  "INSERT INTO text (rowid, name, description, headings, body)"
                  " VALUES (?1, ?2, ?3, ?4, ?5)",
                  "issss", d->id, d->fields[0], d->fields[1], d->fields[2], d->fields[3]);
}

/* d->id: the row whose text is still to be added, 0 when there is none to add. */
static int add_document(struct db *db, struct index_document *d, int64_t *ret,
                        struct err *err) {
    *ret = 0;
    d->id = 0;
    int rc = db_query(db, err, keep_number, ret,
                      "SELECT id FROM document WHERE digest = ?1", "s", d->digest);
    if (rc < 0 || *ret) {
        return rc;
    }
    const int64_t *n = d->lengths;
    rc = db_run(db, err,
                "INSERT INTO document (digest, name, description, listed, n0, n1, n2, n3,"
                " meaning) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                "sssiiiiib", d->digest, d->name, d->description, (int64_t)d->listed, n[0],
                n[1], n[2], n[3], d->meaning, d->meaning_size);
    *ret = sqlite3_last_insert_rowid(db_handle(db));
    d->id = rc == 0 && d->listed ? *ret : 0;
    return rc;
}

/* --- the places of one folder --- */

struct known {
    int64_t id;
    char *path;
    struct catalog_stamp stamp;
    int64_t meta_ns, beside;
};
struct known_list {
    struct known *list;
    size_t count;
};

static int keep_known(sqlite3_stmt *stmt, void *data) {
    struct known_list *l = data;
    if (l->count % 256 == 0) {
        l->list = xreallocarray(l->list, l->count + 256, sizeof *l->list);
    }
    l->list[l->count++] =
        (struct known){sqlite3_column_int64(stmt, 0),
                       xstrdup(db_text(stmt, 1)),
                       {sqlite3_column_int64(stmt, 2), sqlite3_column_int64(stmt, 3),
                        sqlite3_column_int64(stmt, 4)},
                       sqlite3_column_int64(stmt, 5),
                       sqlite3_column_int64(stmt, 6)};
    return 0;
}

static void known_finish(struct known_list *l) {
    for (size_t i = 0; i < l->count; i++) {
        free(l->list[i].path);
    }
    free(l->list);
}

static bool is_fresh(const struct known *k, const struct found_skill *f) {
    return k->stamp.mtime_ns == f->stamp.mtime_ns && k->stamp.size == f->stamp.size &&
           k->stamp.inode == f->stamp.inode && k->meta_ns == f->meta_ns &&
           k->beside == f->beside;
}

/* What has to be done for one folder. */
struct plan {
    const struct found_skill **read;
    int64_t *gone;
    size_t read_count, gone_count;
};

/* Both lists are sorted by path. */
static void make_plan(const struct found *found, const struct known_list *known,
                      struct plan *ret) {
    *ret = (struct plan){.read = xcalloc(found->skill_count + 1, sizeof *ret->read),
                         .gone = xcalloc(known->count + 1, sizeof *ret->gone)};
    for (size_t i = 0, k = 0; i < found->skill_count || k < known->count;) {
        const struct found_skill *f = i < found->skill_count ? &found->skills[i] : NULL;
        int order = !f                  ? 1
                    : k == known->count ? -1
                                        : strcmp(f->path, known->list[k].path);
        if (order > 0) {
            ret->gone[ret->gone_count++] = known->list[k++].id;
            continue;
        }
        if (order < 0 || !is_fresh(&known->list[k], f)) {
            ret->read[ret->read_count++] = f;
        }
        i++;
        k += order == 0;
    }
}

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A file written within its clock's tick could change again unseen: read it next time
 * too. */
static int64_t trusted_mtime(int64_t mtime_ns) {
    return now_ns() - mtime_ns < 50000000 ? -1 : mtime_ns;
}

struct fresh {
    struct index_document document;
    int64_t mtime;
    double lift;
    char *lifts;
    bool readable;
};

static int put_place(struct db *db, int64_t root, const struct found_skill *f,
                     struct fresh *fresh, struct err *err) {
    int64_t document = 0;
    int rc = fresh->readable ? add_document(db, &fresh->document, &document, err) : 0;
    return rc < 0 ? rc
                  : db_run(db, err, put_place_sql, "isiiiidisis", root, f->path,
                           fresh->mtime, f->stamp.size, f->stamp.inode, f->meta_ns,
                           fresh->lift, document, fresh->lifts, f->beside,
                           fresh->document.danger);
}

/* A transaction's texts are written after all else of it: FTS5 collects them in memory,
 * and every statement that may have to be undone by itself makes it write what it has,
 * a segment for each document, which then are merged again and again. */
static int put_texts(struct db *db, const struct fresh *fresh, size_t count,
                     struct err *err) {
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = fresh[i].readable && fresh[i].document.id
                 ? add_text(db, &fresh[i].document, err)
                 : 0;
    }
    return rc;
}

static int put_all(struct db *db, int64_t root, const struct found_skill *const *list,
                   struct fresh *fresh, size_t count, struct err *err) {
    int64_t added = 0;
    int rc = begin(db, err);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = put_place(db, root, list[i], &fresh[i], err);
        added += fresh[i].readable && fresh[i].document.id;
    }
    rc = rc < 0 ? rc
                : db_run(db, err,
                         "UPDATE counter SET value = value + ?1 WHERE name = 'changes'",
                         "i", added);
    rc = rc < 0 ? rc : bump(db, err);
    rc = rc < 0 ? rc : put_texts(db, fresh, count, err);
    return end(db, rc, err);
}

/* Read first, then write: no file is waited for inside a transaction. */
static int put_batch(struct db *db, struct stemmer *stemmer, int64_t root,
                     const struct found_skill *const *list, size_t count,
                     struct reading_left *left, struct err *err) {
    struct fresh fresh[BATCH];
    size_t asked = count;
    for (count = 0; count < asked; count++) {
        size_t i = count;
        fresh[i].mtime = trusted_mtime(list[i]->stamp.mtime_ns);
        fresh[i].readable =
            document_read(list[i], stemmer, left, &fresh[i].document) == 0;
        fresh[i].lifts = NULL;
        fresh[i].lift =
            list[i]->meta_ns ? lifts_read(list[i]->path, &fresh[i].lifts) : NAN;
        if (work_is_stopped()) { /* what was not looked through is not kept */
            document_finish(&fresh[i].document);
            free(fresh[i].lifts);
            break;
        }
    }
    int rc = put_all(db, root, list, fresh, count, err);
    for (size_t i = 0; i < count; i++) {
        document_finish(&fresh[i].document);
        free(fresh[i].lifts);
    }
    return rc;
}

/* Statements without parameters, one after the other. */
static int run_all(struct db *db, const char *const *statements, struct err *err) {
    int rc = 0;
    for (; rc == 0 && *statements; statements++) {
        rc = db_run(db, err, *statements, "");
    }
    return rc;
}

static int drop_gone(struct db *db, const struct plan *plan, struct err *err) {
    int rc = begin(db, err);
    for (size_t i = 0; rc == 0 && i < plan->gone_count; i++) {
        rc = db_run(db, err, "DELETE FROM place WHERE id = ?1", "i", plan->gone[i]);
    }
    rc = rc < 0 ? rc : run_all(db, drop_orphans, err);
    rc = rc < 0 ? rc : bump(db, err);
    return end(db, rc, err);
}

static int carry_out(struct db *db, int64_t root, const struct plan *plan,
                     struct err *err) {
    struct stemmer *stemmer = NULL;
    struct reading_left left = {
        .searched = SEARCHED_OF_ALL + plan->read_count * SEARCHED_OF_EACH,
        .hashed = HASHED_OF_ALL + plan->read_count * HASHED_OF_EACH};
    int rc = plan->read_count ? stemmer_new(db, &stemmer, err) : 0;
    for (size_t at = 0; rc == 0 && at < plan->read_count; at += BATCH) {
        size_t count = plan->read_count - at < BATCH ? plan->read_count - at : BATCH;
        rc = work_is_stopped()
                 ? err_set(err, -ECANCELED, "the index is being closed")
                 : put_batch(db, stemmer, root, plan->read + at, count, &left, err);
    }
    stemmer_free(stemmer);
    return rc == 0 && (plan->gone_count || plan->read_count) ? drop_gone(db, plan, err)
                                                             : rc;
}

/* The row of a folder; its use is noted once a day, so that a look writes nothing. What
 * other rules were asked about is read again. */
static int find_root(struct db *db, const char *path, int64_t *ret, struct err *err) {
    int64_t rules = safety_rules_version(), now = (int64_t)time(NULL);
    *ret = 0;
    int rc = db_query(db, err, keep_number, ret,
                      "SELECT id FROM root WHERE path = ?1 AND used > ?2 AND rules = ?3",
                      "sii", path, now - 86400, rules);
    if (rc < 0 || *ret) {
        return rc;
    }
    rc = db_run(db, err,
                "UPDATE place SET mtime = -1 WHERE root IN"
                " (SELECT id FROM root WHERE path = ?1 AND rules != ?2)",
                "si", path, rules);
    rc = rc < 0 ? rc
                : db_run(db, err,
                         "INSERT INTO root (path, used, rules) VALUES (?1, ?2, ?3)"
                         " ON CONFLICT (path) DO UPDATE SET used = excluded.used,"
                         " rules = excluded.rules",
                         "sii", path, now, rules);
    return rc < 0 ? rc
                  : db_query(db, err, keep_number, ret,
                             "SELECT id FROM root WHERE path = ?1", "s", path);
}

int index_folder(struct db *db, const char *path, const struct found *found,
                 bool *changed, struct err *err) {
    struct known_list known = {0};
    struct plan plan;
    int64_t root;
    int rc = find_root(db, path, &root, err);
    rc = rc < 0 ? rc
                : db_query(db, err, keep_known, &known,
                           "SELECT id, path, mtime, size, inode, meta, beside FROM place"
                           " WHERE root = ?1 ORDER BY path",
                           "i", root);
    if (rc == 0) {
        make_plan(found, &known, &plan);
        *changed |= plan.read_count || plan.gone_count;
        rc = carry_out(db, root, &plan, err);
        free(plan.read);
        free(plan.gone);
    }
    known_finish(&known);
    return rc;
}

/* --- after the folders --- */

static int forget_folders(struct db *db, struct err *err) {
    int64_t old = 0, before = (int64_t)time(NULL) - FORGET_S;
    int rc = db_query(db, err, keep_number, &old,
                      "SELECT count(*) FROM root WHERE used < ?1", "i", before);
    if (rc < 0 || !old) {
        return rc;
    }
    rc = begin(db, err);
    rc = rc < 0 ? rc : db_run(db, err, "DELETE FROM root WHERE used < ?1", "i", before);
    rc = rc < 0 ? rc : run_all(db, drop_orphans, err);
    rc = rc < 0 ? rc : bump(db, err);
    return end(db, rc, err);
}

/* A question looks into every segment that the writing left: after many changes they are
 * made one, which halves its time. */
static int merge_segments(struct db *db, struct err *err) {
    return db_run(db, err, "INSERT INTO text (text) VALUES ('optimize')", "");
}

static int recount(struct db *db, int64_t changes, bool many, struct err *err) {
    int rc = begin(db, err);
    rc = rc < 0 || !many ? rc : merge_segments(db, err);
    rc = rc < 0 ? rc : run_all(db, count_terms, err);
    rc = rc < 0 ? rc
                : db_run(db, err, "UPDATE counter SET value = ?1 WHERE name = 'counted'",
                         "i", changes);
    return end(db, rc, err);
}

int index_tidy(struct db *db, struct err *err) {
    int64_t documents = 0;
    int rc = forget_folders(db, err);
    rc = rc < 0 ? rc
                : db_query(db, err, keep_number, &documents,
                           "SELECT count(*) FROM document", "");
    int64_t changes = counter(db, "changes"), counted = counter(db, "counted");
    int64_t allowed = documents > RECOUNT_ALWAYS ? documents / 50 : 0;
    return rc < 0 || changes - counted <= allowed
               ? rc
               : recount(db, changes, changes - counted >= BATCH, err);
}
