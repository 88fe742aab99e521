#include "base/db.h"

#include "base/err.h"
#include "base/file.h"
#include "base/find.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define BUSY_MS 2000

/* Prepared once, found by its text's address. */
struct db_statement {
    const char *text;
    sqlite3_stmt *stmt;
};

struct db {
    sqlite3 *handle;
    char *set_aside; /* or NULL */
    struct db_statement *statements;
    size_t count;
};

/* --- errors --- */

static int code_of(int rc) {
    static const int codes[][2] = {
        {SQLITE_OK, 0},
        {SQLITE_ROW, 0},
        {SQLITE_DONE, 0},
        {SQLITE_BUSY, -EBUSY},
        {SQLITE_LOCKED, -EBUSY},
        {SQLITE_CORRUPT, -EBADMSG},
        {SQLITE_NOTADB, -EBADMSG},
        {SQLITE_CONSTRAINT, -EEXIST},
        {SQLITE_FULL, -ENOSPC},
        {SQLITE_READONLY, -EROFS},
        {SQLITE_CANTOPEN, -EACCES},
        {SQLITE_PERM, -EACCES},
        {SQLITE_TOOBIG, -EFBIG},
        {SQLITE_INTERRUPT, -EINTR},
        {SQLITE_NOMEM, -ENOMEM},
        {SQLITE_ERROR, -EINVAL},
        {SQLITE_MISUSE, -EINVAL},
        {SQLITE_RANGE, -EINVAL},
        {SQLITE_MISMATCH, -EINVAL},
    };
    size_t at = first_of(i, 0, ARRAY_LEN(codes), codes[i][0] == (rc & 0xff));
    return at < ARRAY_LEN(codes) ? codes[at][1] : -EIO;
}

static int failed(sqlite3 *handle, int rc, struct err *err) {
    return err_set(err, code_of(rc), "database: %s", sqlite3_errmsg(handle));
}

/* --- opening --- */

static int execute(sqlite3 *handle, const char *sql, struct err *err) {
    int rc = sqlite3_exec(handle, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : failed(handle, rc, err);
}

#define WORD_SIZE 16

static int keep_word(void *data, int columns, char **values, char **) {
    snprintf(data, WORD_SIZE, "%s", columns && values[0] ? values[0] : "");
    return 0;
}

/* The one word that a pragma answers. */
static int ask_word(sqlite3 *handle, const char *sql, char ret[static WORD_SIZE],
                    struct err *err) {
    ret[0] = '\0';
    int rc = sqlite3_exec(handle, sql, keep_word, ret, NULL);
    return rc == SQLITE_OK ? 0 : failed(handle, rc, err);
}

static int run_migrations(sqlite3 *handle, const struct db_schema *schema,
                          struct err *err) {
    int latest = 0;
    char pragma[48], word[WORD_SIZE];
    while (schema->migrations[latest]) {
        latest++;
    }
    int rc = ask_word(handle, "PRAGMA user_version", word, err);
    int version = (int)strtol(word, NULL, 10);
    if (rc == 0 && version > latest) {
        return err_set(err, -EPROTONOSUPPORT,
                       "database: made by a newer version (schema %d, %d is known)",
                       version, latest);
    }
    if (rc < 0 || version == latest) {
        return rc;
    }
    for (int i = version; rc == 0 && i < latest; i++) {
        rc = execute(handle, schema->migrations[i], err);
    }
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %d", latest);
    return rc < 0 ? rc : execute(handle, pragma, err);
}

/* The version is read under the write lock, so that of two processes one migrates. */
static int migrate(sqlite3 *handle, const struct db_schema *schema, struct err *err) {
    int rc = execute(handle, "BEGIN IMMEDIATE", err);
    if (rc < 0) {
        return rc;
    }
    rc = run_migrations(handle, schema, err);
    rc = rc < 0 ? rc : execute(handle, "COMMIT", err);
    if (rc < 0) {
        sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

/* SQLite answers "busy" at once, without waiting, while another process turns WAL on. */
static int set_wal(sqlite3 *handle, struct err *err) {
    int rc = -EBUSY;
    for (int tries = 0; rc == -EBUSY && tries < BUSY_MS / 20; tries++) {
        if (tries) {
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        }
        rc = execute(handle, "PRAGMA journal_mode = WAL", err);
    }
    return rc;
}

static int configure(sqlite3 *handle, struct err *err) {
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, BUSY_MS);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int rc = set_wal(handle, err);
    return rc < 0 ? rc
                  : execute(handle,
                            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON", err);
}

/* For its owner's eyes only. A file that exists is not opened here: closing it again
 * would drop the POSIX locks of another connection of this process. */
static void create_private(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    fd_close_p(&fd);
}

/* Damage after the first page is only found by reading the file. */
static int look_through(sqlite3 *handle, struct err *err) {
    char said[WORD_SIZE];
    int rc = ask_word(handle, "PRAGMA quick_check(1)", said, err);
    return rc < 0 || strcmp(said, "ok") == 0
               ? rc
               : err_set(err, -EBADMSG, "database: the file is damaged");
}

static int open_handle(const char *name, int flags, const struct db_schema *schema,
                       sqlite3 **ret, struct err *err) {
    sqlite3 *handle = NULL;
    int rc = sqlite3_open_v2(
        name, &handle,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | flags, NULL);
    rc = rc == SQLITE_OK ? 0 : failed(handle, rc, err);
    rc = rc < 0 ? rc : configure(handle, err);
    rc = rc < 0 || !schema->checked ? rc : look_through(handle, err);
    rc = rc < 0 ? rc : migrate(handle, schema, err);
    if (rc < 0) {
        sqlite3_close(handle);
        return rc;
    }
    *ret = handle;
    return 0;
}

static int open_once(const char *path, const struct db_schema *schema, sqlite3 **ret,
                     struct err *err) {
    create_private(path);
    return open_handle(path, 0, schema, ret, err);
}

/* The journal is renamed with its file: a remaining WAL would be replayed into the new
 * one. */
static int move_aside(const char *path, const char *suffix, struct err *err) {
    static const char *const parts[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        autofree char *from = xasprintf("%s%s", path, parts[i]);
        autofree char *to = xasprintf("%s%s%s", path, suffix, parts[i]);
        if (rename(from, to) < 0 && errno != ENOENT) {
            return err_set(err, -errno, "%s: cannot be moved aside: %s", from,
                           strerror(errno));
        }
    }
    return 0;
}

static int replace(const char *path, int why, char **ret_aside, struct err *err) {
    char suffix[64] = ".newer"; /* one is kept: two versions may alternate for months */
    if (why == -EBADMSG) {
        snprintf(suffix, sizeof suffix, ".damaged-%lld", (long long)time(NULL));
    }
    int rc = move_aside(path, suffix, err);
    if (rc == 0) {
        *ret_aside = xasprintf("%s%s", path, suffix);
    }
    return rc;
}

static int make_parent(const char *path, struct err *err) {
    autofree char *folder = xstrdup(path);
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder) {
        return 0;
    }
    *slash = '\0';
    return dir_make(folder, 0700, err);
}

int db_open(const char *path, const struct db_schema *schema, struct db **ret,
            struct err *err) {
    sqlite3 *handle = NULL;
    autofree char *aside = NULL;
    int rc = make_parent(path, err);
    rc = rc < 0 ? rc : open_once(path, schema, &handle, err);
    if ((rc == -EBADMSG && (schema->rebuildable || schema->checked)) ||
        (rc == -EPROTONOSUPPORT && schema->rebuildable)) {
        rc = replace(path, rc, &aside, err);
        rc = rc < 0 ? rc : open_once(path, schema, &handle, err);
    }
    if (rc < 0) {
        err_wrap(err, "%s", path);
        return rc;
    }
    *ret = xcalloc(1, sizeof **ret);
    **ret = (struct db){.handle = handle, .set_aside = take(aside)};
    return 0;
}

const char *db_set_aside(const struct db *db) {
    return db->set_aside;
}

int db_open_memory(const char *name, const struct db_schema *schema, struct db **ret,
                   struct err *err) {
    sqlite3 *handle = NULL;
    autofree char *uri = xasprintf("file:/%s?vfs=memdb", name);
    int rc = open_handle(uri, SQLITE_OPEN_URI, schema, &handle, err);
    if (rc == 0) {
        *ret = xcalloc(1, sizeof **ret);
        (*ret)->handle = handle;
    }
    return rc;
}

void db_close(struct db *db) {
    if (!db) {
        return;
    }
    for (size_t i = 0; i < db->count; i++) {
        sqlite3_finalize(db->statements[i].stmt);
    }
    free(db->statements);
    free(db->set_aside);
    sqlite3_close(db->handle);
    free(db);
}

sqlite3 *db_handle(struct db *db) {
    return db->handle;
}

/* --- statements --- */

static int prepare(struct db *db, const char *sql, unsigned flags, sqlite3_stmt **ret,
                   struct err *err) {
    const char *rest = NULL;
    int rc = sqlite3_prepare_v3(db->handle, sql, -1, flags, ret, &rest);
    if (rc != SQLITE_OK) {
        return failed(db->handle, rc, err);
    }
    if (!*ret || rest[strspn(rest, " \n\t;")]) {
        sqlite3_finalize(*ret);
        return err_set(err, -EINVAL, "database: not one statement");
    }
    return 0;
}

/* A statement that is not being stepped. *ret_own: the caller finalizes it, because the
 * kept one is in use further up the stack. */
static int get_statement(struct db *db, const char *sql, sqlite3_stmt **ret,
                         bool *ret_own, struct err *err) {
    *ret_own = false;
    list_each(i, kept, db->statements, db->count) {
        if (kept->text == sql && strcmp(sqlite3_sql(kept->stmt), sql) == 0) {
            *ret = kept->stmt;
            *ret_own = sqlite3_stmt_busy(*ret);
            return *ret_own ? prepare(db, sql, 0, ret, err) : 0;
        }
    }
    int rc = prepare(db, sql, SQLITE_PREPARE_PERSISTENT, ret, err);
    if (rc < 0) {
        return rc;
    }
    db->statements = xreallocarray(db->statements, db->count + 1, sizeof *db->statements);
    db->statements[db->count++] = (struct db_statement){sql, *ret};
    return 0;
}

/* The values outlive the step, so SQLite need not copy them. */
static int bind_all(sqlite3_stmt *stmt, const char *format, va_list ap) {
    if ((size_t)sqlite3_bind_parameter_count(stmt) != strlen(format)) {
        return SQLITE_RANGE;
    }
    int rc = SQLITE_OK;
    for (int i = 1; rc == SQLITE_OK && format[i - 1]; i++) {
        const void *bytes;
        switch (format[i - 1]) {
        case 'i':
            rc = sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
            break;
        case 'd':
            rc = sqlite3_bind_double(stmt, i, va_arg(ap, double));
            break;
        case 's':
            rc = sqlite3_bind_text(stmt, i, va_arg(ap, const char *), -1, SQLITE_STATIC);
            break;
        case 'b':
            bytes = va_arg(ap, const void *);
            rc = sqlite3_bind_blob64(stmt, i, bytes, va_arg(ap, size_t), SQLITE_STATIC);
            break;
        default:
            rc = SQLITE_MISUSE;
            break;
        }
    }
    return rc;
}

static int step_all(struct db *db, sqlite3_stmt *stmt, db_row *row, void *data,
                    struct err *err) {
    int rc;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        int stop = row ? row(stmt, data) : 0;
        if (stop) {
            return stop < 0 ? err_set(err, stop, "database: a row was refused") : 0;
        }
    }
    return rc == SQLITE_DONE ? 0 : failed(db->handle, rc, err);
}

static int query(struct db *db, struct err *err, db_row *row, void *data, const char *sql,
                 const char *format, va_list ap) {
    sqlite3_stmt *stmt = NULL;
    bool own;
    int rc = get_statement(db, sql, &stmt, &own, err);
    if (rc < 0) {
        return rc;
    }
    int bound = bind_all(stmt, format, ap);
    if (bound == SQLITE_OK) {
        rc = step_all(db, stmt, row, data, err);
    } else {
        rc = err_set(err, code_of(bound), "database: the parameters do not fit \"%s\"",
                     sql);
    }
    if (own) {
        sqlite3_finalize(stmt);
    } else {
        sqlite3_reset(stmt);
        sqlite3_clear_bindings(stmt);
    }
    return rc;
}

int db_run(struct db *db, struct err *err, const char *sql, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int rc = query(db, err, NULL, NULL, sql, format, ap);
    va_end(ap);
    return rc;
}

int db_query(struct db *db, struct err *err, db_row *row, void *data, const char *sql,
             const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    int rc = query(db, err, row, data, sql, format, ap);
    va_end(ap);
    return rc;
}

const char *db_text(sqlite3_stmt *stmt, int column) {
    const unsigned char *text = sqlite3_column_text(stmt, column);
    return text ? (const char *)text : "";
}
