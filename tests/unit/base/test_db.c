#include "base/db.h"
#include "base/err.h"
#include "base/file.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[128];

static void make_folder(void) {
    strcpy(folder, "/tmp/test-db-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/deeper/state.db", folder);
}

static void drop_folder(void) {
    cr_assert(zero(int, dir_remove(folder, NULL)));
}

static const char *const first[] = {
    "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB, x REAL)", NULL};
static const char *const second[] = {
    "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE, data BLOB, x REAL)",
    "ALTER TABLE t ADD COLUMN more TEXT DEFAULT 'm'; CREATE TABLE u (a)", NULL};
static const struct db_schema kept = {first, false}, cache = {first, true},
                              grown = {second, false};

static struct db *open_db(const struct db_schema *schema) {
    struct db *db = NULL;
    struct err err = {0};
    int rc = db_open(path, schema, &db, &err);
    cr_assert(zero(int, rc), "%s", err.msg);
    return db;
}

static int count_row(sqlite3_stmt *stmt, void *data) {
    *(int64_t *)data = sqlite3_column_int64(stmt, 0);
    return 0;
}

static int64_t count(struct db *db) {
    int64_t n = -1;
    cr_assert(zero(int, db_query(db, NULL, count_row, &n, "SELECT count(*) FROM t", "")));
    return n;
}

static size_t count_files(const char *pattern) {
    char full[200];
    glob_t found;
    snprintf(full, sizeof full, "%s/deeper/%s", folder, pattern);
    size_t n = glob(full, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n;
}

static void overwrite(long offset, const char *bytes, size_t len) {
    FILE *f = fopen(path, "r+");
    fseek(f, offset, SEEK_SET);
    fwrite(bytes, len, 1, f);
    fclose(f);
}

static int check_row(sqlite3_stmt *stmt, void *data) {
    (void)data;
    cr_assert(eq(str, (char *)db_text(stmt, 0), "caf\xc3\xa9"));
    cr_assert(eq(int, sqlite3_column_bytes(stmt, 1), 3));
    cr_assert(zero(int, memcmp(sqlite3_column_blob(stmt, 1), "a\0b", 3)));
    cr_assert(sqlite3_column_double(stmt, 2) == 0.5);
    cr_assert(eq(i64, sqlite3_column_int64(stmt, 3), INT64_MIN));
    return -ECANCELED;
}

static int same_again(sqlite3_stmt *stmt, void *data) {
    struct db *db = data;
    (void)stmt;
    return count(db) == 2 ? 0 : -EIO;
}

Test(db, what_is_bound_comes_back, .init = make_folder, .fini = drop_folder) {
    static const char insert[] = "INSERT INTO t (id, name, data, x) VALUES (?, ?, ?, ?)";
    struct err err = {0};
    struct db *db = open_db(&kept);
    struct stat st;
    cr_assert(zero(int, stat(path, &st)));
    cr_assert(eq(int, st.st_mode & 0777, 0600));
    cr_assert(zero(int, db_run(db, &err, insert, "isbd", INT64_MIN, "caf\xc3\xa9", "a\0b",
                               (size_t)3, 0.5)),
              "%s", err.msg);
    cr_assert(zero(
        int, db_run(db, &err, insert, "isbd", INT64_C(2), NULL, NULL, (size_t)0, 1.0)));
    cr_assert(eq(i64, count(db), 2));
    cr_assert(eq(int,
                 db_query(db, &err, check_row, NULL,
                          "SELECT name, data, x, id FROM t ORDER BY id", ""),
                 -ECANCELED));
    cr_assert(
        zero(int, db_query(db, &err, same_again, db, "SELECT count(*) FROM t", "")));
    cr_assert(eq(int,
                 db_run(db, &err, insert, "isbd", INT64_C(2), "n", "", (size_t)0, 1.0),
                 -EEXIST));
    cr_assert(strstr(err.msg, "UNIQUE") != NULL, "%s", err.msg);
    cr_assert(eq(int, db_run(db, &err, insert, "i", INT64_C(3)), -EINVAL));
    cr_assert(eq(int, db_run(db, &err, "SELEC", ""), -EINVAL));
    cr_assert(eq(int, db_run(db, &err, "SELECT 1; SELECT 2", ""), -EINVAL));
    cr_assert(eq(int, db_run(db, &err, "SELECT \"text\"", ""), -EINVAL));
    cr_assert(eq(i64, count(db), 2));
    db_close(db);
    db_close(NULL);
    db = open_db(&kept);
    cr_assert(eq(i64, count(db), 2));
    db_close(db);
}

Test(db, an_older_schema_is_brought_forward, .init = make_folder, .fini = drop_folder) {
    struct db *db = open_db(&kept);
    cr_assert(zero(int, db_run(db, NULL, "INSERT INTO t (name) VALUES (?)", "s", "old")));
    db_close(db);
    db = open_db(&grown);
    cr_assert(
        zero(int, db_run(db, NULL, "UPDATE t SET more = ? WHERE more = 'm'", "s", "x")));
    cr_assert(eq(i64, count(db), 1));
    db_close(db);
    db_close(open_db(&grown));
}

Test(db, a_failing_migration_changes_nothing, .init = make_folder, .fini = drop_folder) {
    const char *const broken[] = {first[0], "CREATE TABLE u (a); CREATE TABEL v", NULL};
    const struct db_schema bad = {broken, true};
    struct db *db = open_db(&kept);
    db_close(db);
    struct err err = {0};
    cr_assert(eq(int, db_open(path, &bad, &db, &err), -EINVAL));
    cr_assert(strstr(err.msg, path) != NULL);
    db_close(open_db(&grown)); /* u does not exist yet */
}

Test(db, a_newer_schema_is_refused_and_a_newer_cache_replaced, .init = make_folder,
     .fini = drop_folder) {
    struct err err = {0};
    struct db *db = open_db(&grown);
    cr_assert(zero(int, db_run(db, NULL, "INSERT INTO t (name) VALUES ('x')", "")));
    db_close(db);
    cr_assert(eq(int, db_open(path, &kept, &db, &err), -EPROTONOSUPPORT));
    cr_assert(zero(sz, count_files("*newer*")));
    db = open_db(&cache);
    cr_assert(zero(i64, count(db)));
    db_close(db);
    cr_assert(eq(sz, count_files("state.db.newer"), 1));
}

Test(db, a_damaged_file_is_refused_and_a_damaged_cache_made_anew, .init = make_folder,
     .fini = drop_folder) {
    static const struct {
        long offset;
        const char *bytes;
    } damages[] = {{0, "this is no database file"},
                   {100, "\xff\xff\xff\xff\xff\xff\xff\xff"}};
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        struct err err = {0};
        struct db *db = open_db(&cache);
        cr_assert(zero(int, db_run(db, NULL, "INSERT INTO t (name) VALUES ('x')", "")));
        db_close(db);
        overwrite(damages[i].offset, damages[i].bytes, strlen(damages[i].bytes));
        cr_assert(eq(int, db_open(path, &kept, &db, &err), -EBADMSG), "%s", err.msg);
        cr_assert(zero(sz, count_files("*damaged*")));
        db = open_db(&cache);
        cr_assert(zero(i64, count(db)));
        db_close(db);
        cr_assert(eq(sz, count_files("state.db.damaged-*"), 1));
        dir_remove(folder, NULL);
        mkdir(folder, 0700);
    }
}

Test(db, a_place_that_cannot_hold_it_is_an_error, .init = make_folder,
     .fini = drop_folder) {
    struct err err = {0};
    struct db *db = NULL;
    cr_assert(db_open(folder, &cache, &db, &err) < 0);
    cr_assert(db_open("/dev/null/x.db", &cache, &db, &err) < 0);
    cr_assert(db == NULL);
}

static int write_rows(int who) {
    struct db *db = NULL;
    int rc = db_open(path, &grown, &db, NULL);
    for (int64_t i = 0; rc == 0 && i < 100; i++) {
        rc = db_run(db, NULL, "INSERT INTO t (id) VALUES (?)", "i", who * 1000 + i);
    }
    db_close(db);
    return rc;
}

Test(db, processes_that_open_and_write_at_once_wait_for_each_other, .init = make_folder,
     .fini = drop_folder) {
    enum { N = 4 };
    pid_t pids[N];
    for (int i = 0; i < N; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            _exit(write_rows(i) == 0 ? 0 : 1);
        }
    }
    for (int i = 0; i < N; i++) {
        int status = -1;
        waitpid(pids[i], &status, 0);
        cr_assert(zero(int, status));
    }
    struct db *db = open_db(&grown);
    cr_assert(eq(i64, count(db), N * 100));
    db_close(db);
}
