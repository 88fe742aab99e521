#define LOG_MODULE "answers"
#include "skills/models/answer_cache.h"

#include "base/buf.h"
#include "base/db.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

#include <time.h>

#define TRIM_EVERY                                                                       \
    (ANSWER_CACHE_BYTES / 64) /* bytes written between two checks of the total */

struct answer_cache {
    char *path; /* NULL = the default */
    struct db *db;
    bool tried;
    uint64_t put; /* bytes since the last look */
    char problem[512];
};

static const char *const migrations[] = {
    "CREATE TABLE answers ("
    "  key TEXT PRIMARY KEY,"
    "  answer TEXT NOT NULL,"
    "  size INTEGER NOT NULL,"
    "  used INTEGER NOT NULL" /* seconds since 1970 */
    ") WITHOUT ROWID;"
    "CREATE INDEX answers_used ON answers (used, size);", /* the sum of sizes needs only
                                                             this index */
    NULL,
};

struct answer_cache *answer_cache_new(const char *path) {
    struct answer_cache *c = xcalloc(1, sizeof *c);
    c->path = path ? xstrdup(path) : NULL;
    return c;
}

void answer_cache_free(struct answer_cache *c) {
    if (c) {
        db_close(c->db);
        free(c->path);
        free(c);
    }
}

const char *answer_cache_problem(const struct answer_cache *c) {
    return c->problem[0] ? c->problem : NULL;
}

static char *default_path(void) {
    autofree char *dir = xdg_state_dir();
    return dir ? path_join(dir, "answers.db") : NULL;
}

static void note_problem(struct answer_cache *c, const struct err *err) {
    if (!c->problem[0]) {
        log_warning("answers are not kept: %s", err->msg);
    }
    snprintf(c->problem, sizeof c->problem, "%s", err->msg);
}

static struct db *database(struct answer_cache *c) {
    static const struct db_schema schema = {migrations, .rebuildable = true};
    if (c->tried) {
        return c->db;
    }
    c->tried = true;
    struct err err = {0};
    autofree char *path = c->path ? xstrdup(c->path) : default_path();
    if (!path) {
        err_set(&err, -ENOENT, "neither XDG_STATE_HOME nor HOME is set");
    } else if (db_open(path, &schema, &c->db, &err) < 0) {
        c->db = NULL;
    }
    if (!c->db) {
        note_problem(c, &err);
    }
    return c->db;
}

struct found_answer {
    json_t *answer;
    int64_t used;
};

static int on_answer(sqlite3_stmt *stmt, void *data) {
    struct found_answer *found = data;
    autofree char *text = xstrdup(db_text(stmt, 0));
    found->answer = json_parse(text, strlen(text), NULL);
    found->used = sqlite3_column_int64(stmt, 1);
    return 1;
}

/* "Used" is as fine as the cleaning needs: one write a day per answer. */
static void touch(struct db *db, const char *key, int64_t used) {
    int64_t now = time(NULL);
    if (now - used > 24 * 3600 || now < used) {
        db_run(db, NULL, "UPDATE answers SET used = ? WHERE key = ?", "is", now, key);
    }
}

json_t *answer_cache_get(struct answer_cache *c, const char *key) {
    struct db *db = database(c);
    struct found_answer found = {0};
    if (!db || db_query(db, NULL, on_answer, &found,
                        "SELECT answer, used FROM answers WHERE key = ?", "s", key) < 0) {
        json_decref(found.answer);
        return NULL;
    }
    if (found.answer) {
        touch(db, key, found.used);
    }
    return found.answer;
}

static int on_sum(sqlite3_stmt *stmt, void *data) {
    *(int64_t *)data = sqlite3_column_int64(stmt, 0);
    return 1;
}

/* The longest unused go, a few at a time: the loop waits for this, and other daemons. */
static int trim(struct answer_cache *c, struct err *err) {
    int64_t sum = 0;
    int rc = db_query(c->db, err, on_sum, &sum,
                      "SELECT COALESCE(SUM(size), 0) FROM answers", "");
    if (rc < 0 || sum <= (int64_t)ANSWER_CACHE_BYTES) {
        c->put = 0;
        return rc < 0 ? rc : 0;
    }
    return db_run(c->db, err,
                  "DELETE FROM answers WHERE key IN "
                  "(SELECT key FROM answers ORDER BY used LIMIT 64)",
                  "");
}

int answer_cache_put(struct answer_cache *c, const char *key, const json_t *answer,
                     struct err *err) {
    struct db *db = database(c);
    if (!db) {
        return err_set(err, -EIO, "%s", c->problem);
    }
    autobuf text = BUF_INIT(16u << 20);
    int rc = json_write(&text, answer);
    if (rc < 0) {
        return err_set(err, rc, "answer too large to keep");
    }
    int64_t size = (int64_t)(text.len + strlen(key));
    rc = db_run(db, err,
                "INSERT OR REPLACE INTO answers (key, answer, size, used) "
                "VALUES (?, ?, ?, ?)",
                "ssii", key, text.data, size, (int64_t)time(NULL));
    c->put += (uint64_t)size;
    return rc == 0 && c->put > TRIM_EVERY ? trim(c, err) : rc;
}
