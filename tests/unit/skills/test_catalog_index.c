/* The index of the catalog: killed at any moment, damaged, without a disk. */
#include "base/clock.h"
#include "base/db.h"
#include "catalog_room.h"
#include "skills/catalog/catalog_internal.h"
#include "tests/unit/skills/lookup.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void sleep_ms(long ms) {
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

Test(catalog, closes_at_once_while_it_indexes, .timeout = 60) {
    struct fixture f;
    autobuf body = BUF_INIT(1u << 20);
    fixture_make(&f);
    for (int i = 0; i < 3000; i++) {
        buf_addf(&body, "word%d ", i);
    }
    for (int i = 0; i < 400; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%d", i);
        fixture_skill(&f, "user", name, "A skill of many words.", body.data);
    }
    static const long moments[] = {20, 100, 250, 500};
    for (size_t i = 0; i < ARRAY_LEN(moments); i++) {
        dir_remove(f.db, NULL);
        fixture_open(&f);
        fixture_folders(&f, user_scope);
        catalog_when_current(f.catalog, fixture_ready, &f);
        sleep_ms(moments[i]);
        uint64_t began = clock_ms();
        cr_expect(zero(int, fixture_close(&f)));
        uint64_t took = clock_ms() - began;
        cr_expect(lt(u64, took, 1000), "closed after %ld ms of indexing", moments[i]);
    }
    fixture_drop(&f);
}

Test(catalog, closes_at_once_while_another_process_writes) {
    struct fixture f;
    struct db *other;
    fixture_make(&f);
    fixture_skill(&f, "user", "one", "A skill.", "");
    open_with(&f, user_scope);
    cr_assert(zero(int, db_open(f.db, &catalog_schema, &other, NULL)));
    cr_assert(zero(int, db_run(other, NULL, "BEGIN IMMEDIATE", "")));
    fixture_skill(&f, "user", "two", "A second skill.", "");
    catalog_when_current(f.catalog, fixture_ready, &f);
    for (uint64_t until = clock_ms() + 200; clock_ms() < until;) {
        uv_run(&f.loop, UV_RUN_ONCE);
    }
    uint64_t began = clock_ms();
    cr_expect(zero(int, fixture_close(&f)));
    cr_expect(lt(u64, clock_ms() - began, 1000)); /* of the 2 s that a writer waits */
    db_close(other);
    fixture_drop(&f);
}

/* A catalog in a process of its own, busy until it is killed. */
static void live(const struct fixture *original, unsigned seed) {
    struct fixture f = *original;
    srand(seed);
    fixture_open(&f);
    fixture_folders(&f, user_scope);
    for (;;) {
        char name[32], description[64];
        snprintf(name, sizeof name, "skill-%d", rand() % 40);
        snprintf(description, sizeof description, "Version %d of a thing.", rand());
        fixture_skill(&f, "user", name, description, "Words in a body.");
        fixture_wait(&f);
    }
}

static int keep_integer(sqlite3_stmt *stmt, void *data) {
    *(int64_t *)data = sqlite3_column_int64(stmt, 0);
    return 0;
}

/* The words and the rows belong together. */
static void check_index(const struct fixture *f) {
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int64_t n = -1;
    cr_assert(zero(int, sqlite3_open(f->db, &db)));
    cr_expect(
        zero(int, sqlite3_exec(db, "INSERT INTO text (text) VALUES ('integrity-check')",
                               NULL, NULL, NULL)),
        "%s", sqlite3_errmsg(db));
    cr_assert(
        zero(int, sqlite3_prepare_v2(db,
                                     "SELECT (SELECT count(*) FROM document WHERE listed"
                                     " AND id NOT IN (SELECT rowid FROM text))"
                                     " + (SELECT count(*) FROM text WHERE rowid NOT IN"
                                     " (SELECT id FROM document))",
                                     -1, &stmt, NULL)));
    cr_assert(eq(int, sqlite3_step(stmt), SQLITE_ROW));
    keep_integer(stmt, &n);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    cr_expect(eq(i64, n, 0));
}

static size_t count_on_disk(const struct fixture *f) {
    char path[256];
    size_t n = 0;
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "%s/user/skill-%d/SKILL.md", f->folder, i);
        n += access(path, F_OK) == 0;
    }
    return n;
}

Test(catalog, survives_being_killed_at_any_moment, .timeout = 100) {
    struct fixture f;
    fixture_make(&f);
    for (unsigned i = 0; i < 50; i++) {
        pid_t children[2];
        for (size_t k = 0; k < 2; k++) { /* two daemons at once */
            children[k] = fork();
            if (children[k] == 0) {
                live(&f, i * 2 + (unsigned)k);
            }
        }
        sleep_ms(5 + rand() % 60);
        for (size_t k = 0; k < 2; k++) {
            kill(children[k], SIGKILL);
            waitpid(children[k], NULL, 0);
        }
    }
    open_with(&f, user_scope);
    check_index(&f);
    cr_expect(eq(sz, count(&f), count_on_disk(&f)));
    close_and_drop(&f);
}

static void damage(const char *path, size_t from) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    char garbage[4096];
    memset(garbage, 0x5a, sizeof garbage);
    struct stat st;
    cr_assert(fd >= 0 && fstat(fd, &st) == 0);
    for (off_t at = (off_t)from; at < st.st_size; at += (off_t)sizeof garbage) {
        cr_assert(pwrite(fd, garbage, sizeof garbage, at) == sizeof garbage);
    }
    close(fd);
}

Test(catalog, rebuilds_a_damaged_index) {
    static const size_t from[] = {0, 4096, 16384};
    struct fixture f;
    fixture_make(&f);
    for (int i = 0; i < 30; i++) {
        char name[32];
        snprintf(name, sizeof name, "skill-%d", i);
        fixture_skill(&f, "user", name, "Convert invoices.", name);
    }
    for (size_t i = 0; i < ARRAY_LEN(from); i++) {
        open_with(&f, user_scope);
        cr_assert(zero(int, fixture_close(&f)));
        damage(f.db, from[i]);
        open_with(&f, user_scope);
        struct err err = {0};
        json_t *found = catalog_find(f.catalog, "convert invoices", 5, NULL, NULL, &err);
        if (!found) { /* noticed while searching: made anew for the next question */
            cr_assert(zero(int, fixture_wait(&f)));
            found = catalog_find(f.catalog, "convert invoices", 5, NULL, NULL, &err);
        }
        cr_assert(ne(ptr, found, NULL), "%s", err.msg);
        cr_expect(eq(sz, json_array_size(json_object_get(found, "matches")), 5));
        json_decref(found);
        cr_expect(eq(sz, count(&f), 30));
        cr_expect(zero(int, fixture_close(&f)));
    }
    fixture_drop(&f);
}

/* In memory, as in a file: built, followed, searched; and said so. */
static void answers_from_memory(struct fixture *f, const char *why) {
    struct err err = {0};
    fixture_folders(f, user_scope);
    cr_assert(zero(int, fixture_wait(f)));
    cr_expect(eq(sz, count(f), 1));
    fixture_skill(f, "user", "two", "Turns invoices into tables.", "");
    for (int i = 0; i < 500 && count(f) < 2; i++) {
        sleep_ms(10);
        cr_assert(zero(int, fixture_wait(f)));
    }
    autojson *found = catalog_find(f->catalog, "invoices", 5, NULL, NULL, &err);
    cr_assert(ne(ptr, found, NULL), "%s", err.msg);
    cr_expect(eq(sz, json_array_size(json_object_get(found, "matches")), 1));
    autojson *status = catalog_status(f->catalog);
    const char *problem = json_get_string(status, "problem", "");
    cr_expect(strstr(problem, "kept in memory") && strstr(problem, why), "%s", problem);
}

Test(catalog, lives_in_memory_without_a_folder_for_its_index) {
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "one", "A skill.", "");
    uv_loop_init(&f.loop);
    uv_timer_init(&f.loop, &f.tick);
    f.catalog = catalog_new(&f.loop, NULL);
    answers_from_memory(&f, "HOME");
    close_and_drop(&f);
}

Test(catalog, lives_in_memory_where_its_folder_cannot_be_made) {
    struct fixture f;
    fixture_make(&f);
    fixture_skill(&f, "user", "one", "A skill.", "");
    fixture_write(&f, "cache", "a file where a folder should be");
    fixture_open(&f);
    answers_from_memory(&f, "cache");
    close_and_drop(&f);
}

/* The index is begun, then nothing more can be written: what was a disk is full. */
Test(catalog, moves_into_memory_when_its_disk_is_full) {
    struct fixture f;
    struct rlimit few = {20480, 20480};
    fixture_make(&f);
    fixture_skill(&f, "user", "one", "A skill.", "");
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &few);
    fixture_open(&f);
    answers_from_memory(&f, "skills.db");
    close_and_drop(&f);
}
