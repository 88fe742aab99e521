#pragma once
/* db: SQLite with this project's settings.
 *
 * WAL, foreign keys, a busy timeout of 2 s, double-quoted strings off. Schemas are lists
 * of migrations counted by PRAGMA user_version. If the caller says that the file is only
 * a cache, db_open renames a damaged file to NAME.damaged-<time>, or one of a newer
 * schema to NAME.newer, and creates a new one; otherwise it fails with -EBADMSG or
 * -EPROTONOSUPPORT. Other errors: -EBUSY (locked for over 2 s), -EEXIST (a constraint),
 * -ENOSPC, -EROFS, -EACCES, -EINVAL (wrong SQL or parameters), -EIO. */
#include "base/mem.h"

#include <sqlite3.h>

struct db;

struct db_schema {
    const char *const *migrations; /* SQL texts, in order, NULL-terminated */
    bool rebuildable;              /* a cache: a damaged or newer file is replaced */
    bool checked; /* small, and no cache: checked for damage when opened, and replaced if
                     damaged */
};

/* Creates path's folder (0700) if needed. */
int db_open(const char *path, const struct db_schema *schema, struct db **ret,
            struct err *err);
/* Opens a database in memory, shared within the process by name; it disappears when the
 * last user closes it. name: letters, digits and "-". */
int db_open_memory(const char *name, const struct db_schema *schema, struct db **ret,
                   struct err *err);
/* The new path of a file that was replaced; NULL: none was. */
const char *db_set_aside(const struct db *db);
void db_close(struct db *db); /* NULL is fine */
sqlite3 *db_handle(struct db *db);

/* Prepare (cached by the text's address, so pass string literals), bind and step in one
 * go. format: one letter per parameter: i int64_t, d double, s const char * (NULL =
 * NULL), b const void * and size_t. Returns 0 or a negative errno. */
int db_run(struct db *db, struct err *err, const char *sql, const char *format, ...);
/* The same for a query: `row` is called per row. A nonzero result stops the query; a
 * negative one is returned. `row` may run other statements, including the same one. */
typedef int db_row(sqlite3_stmt *stmt, void *data);
int db_query(struct db *db, struct err *err, db_row *row, void *data, const char *sql,
             const char *format, ...);
/* A column as text, never NULL. */
const char *db_text(sqlite3_stmt *stmt, int column);
