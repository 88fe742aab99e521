#pragma once
/* db: SQLite with this project's settings.
 *
 * WAL, foreign keys, a busy timeout of 2 s, double-quoted strings off. Schemas are lists
 * of migrations counted by PRAGMA user_version; a file that is damaged is moved aside as
 * NAME.damaged-<time>, one of a newer schema as NAME.newer, and made anew when the caller
 * says that it is only a cache; else db_open fails with -EBADMSG or -EPROTONOSUPPORT.
 * Other codes: -EBUSY (locked for over 2 s), -EEXIST (a constraint), -ENOSPC, -EROFS,
 * -EACCES, -EINVAL (wrong SQL or parameters), -EIO. */
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct err;
struct db;

struct db_schema {
    const char *const *migrations; /* SQL texts, in order, NULL-terminated */
    bool rebuildable;              /* a cache: a damaged or newer file is replaced */
    bool checked; /* small, and no cache: looked through when it is opened, and replaced
                     when damaged */
};

/* path's folder is made (0700). */
int db_open(const char *path, const struct db_schema *schema, struct db **ret,
            struct err *err);
/* In memory: all of this process that give the same name open the same one, which is gone
 * when the last of them closes. name: letters, digits and "-". */
int db_open_memory(const char *name, const struct db_schema *schema, struct db **ret,
                   struct err *err);
/* Where a file that was replaced lies now; NULL: none was. */
const char *db_set_aside(const struct db *db);
void db_close(struct db *db); /* NULL is fine */
sqlite3 *db_handle(struct db *db);

/* Prepare (cached by the text's address, so pass string literals), bind and step in one
 * go. format: one letter per parameter: i int64_t, d double, s const char * (NULL =
 * NULL), b const void * and size_t. Returns 0 or a negative errno. */
int db_run(struct db *db, struct err *err, const char *sql, const char *format, ...);
/* The same for a query: `row` is called per row; nonzero from it stops, and a negative
 * value is what db_query then returns. A row may run other statements, and the same one.
 */
typedef int db_row(sqlite3_stmt *stmt, void *data);
int db_query(struct db *db, struct err *err, db_row *row, void *data, const char *sql,
             const char *format, ...);
/* A column as text, never NULL. */
const char *db_text(sqlite3_stmt *stmt, int column);
