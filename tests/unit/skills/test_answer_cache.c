#include "base/buf.h"
#include "base/db.h"
#include "base/err.h"
#include "base/file.h"
#include "base/mem.h"
#include "skills/models/answer_cache.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/upskilld-cache-XXXXXX";
static char path[128];

static void setup(void) {
    cr_assert(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/state/answers.db", folder);
}

static void teardown(void) {
    chmod(folder, 0700);
    dir_remove(folder, NULL);
}

TestSuite(answer_cache, .init = setup, .fini = teardown);

Test(answer_cache, what_is_put_is_got_by_every_daemon_also_later) {
    struct answer_cache *a = answer_cache_new(path), *b = answer_cache_new(path);
    autojson *answer = json_pack("{s:s, s:i}", "text", "gr\xc3\xbc\xc3\x9f\n\"", "ms", 7);
    cr_assert(access(path, F_OK) < 0); /* nothing before the first use */
    cr_assert(answer_cache_get(a, "k1") == NULL);
    cr_assert(zero(int, answer_cache_put(a, "k1", answer, NULL)));
    for (int i = 0; i < 3; i++) {
        struct answer_cache *c = i == 0 ? a : i == 1 ? b : answer_cache_new(path);
        autojson *got = answer_cache_get(c, "k1");
        cr_assert(json_equal(got, answer));
        cr_assert(answer_cache_get(c, "k2") == NULL);
        cr_assert(answer_cache_problem(c) == NULL);
        if (i == 2) {
            answer_cache_free(c);
        }
    }
    autojson *other = json_pack("{s:s}", "text", "other");
    cr_assert(zero(int, answer_cache_put(b, "k1", other, NULL)));
    autojson *got = answer_cache_get(a, "k1");
    cr_assert(json_equal(got, other));
    answer_cache_free(a);
    answer_cache_free(b);
    struct stat st;
    autofree char *dir = xasprintf("%s/state", folder);
    cr_assert(zero(int, stat(dir, &st)));
    cr_assert(eq(uint, st.st_mode & 0777, 0700));
}

Test(answer_cache, without_a_database_answers_are_not_kept_and_it_says_why) {
    autofree char *file = xasprintf("%s/file", folder);
    fclose(fopen(file, "w"));
    autofree char *wrong = xasprintf("%s/file/answers.db", folder);
    struct answer_cache *c = answer_cache_new(wrong);
    struct err err = {0};
    autojson *answer = json_pack("{s:s}", "text", "x");
    cr_assert(answer_cache_get(c, "k") == NULL);
    cr_assert(answer_cache_problem(c) != NULL);
    cr_assert(answer_cache_put(c, "k", answer, &err) < 0);
    cr_assert(err.msg[0] != '\0');
    answer_cache_free(c);
    answer_cache_free(NULL);
}

Test(answer_cache, a_damaged_file_is_made_anew) {
    autofree char *dir = xasprintf("%s/state", folder);
    cr_assert(zero(int, mkdir(dir, 0700)));
    FILE *f = fopen(path, "w");
    for (int i = 0; i < 5000; i++) {
        fputs("this is no database ", f);
    }
    fclose(f);
    struct answer_cache *c = answer_cache_new(path);
    autojson *answer = json_pack("{s:s}", "text", "x");
    cr_assert(zero(int, answer_cache_put(c, "k", answer, NULL)));
    autojson *got = answer_cache_get(c, "k");
    cr_assert(json_equal(got, answer));
    answer_cache_free(c);
}

/* Rows that claim a size stand for a gigabyte of answers. */
Test(answer_cache, over_its_limit_the_longest_unused_answers_go) {
    struct answer_cache *c = answer_cache_new(path);
    autojson *answer = json_pack("{s:s}", "text", "x");
    cr_assert(zero(int, answer_cache_put(c, "first", answer, NULL)));
    sqlite3 *db;
    cr_assert(zero(int, sqlite3_open(path, &db)));
    static const char insert[] =
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        "INSERT INTO answers (key, answer, size, used) "
        "SELECT 'old' || i, '{}', 1200000, i FROM n";
    cr_assert(zero(int, sqlite3_exec(db, insert, NULL, NULL, NULL)));
    sqlite3_close(db);
    autofree char *text = malloc((9u << 20) + 1);
    memset(text, 'y', 9u << 20);
    text[9u << 20] = '\0';
    autojson *large = json_pack("{s:s}", "text", text);
    for (int i = 0; i < 5; i++) {
        autofree char *key = xasprintf("large%d", i);
        cr_assert(zero(int, answer_cache_put(c, key, large, NULL)));
    }
    cr_assert(answer_cache_get(c, "old1") == NULL);
    cr_assert(answer_cache_get(c, "old64") == NULL);
    autojson *kept = answer_cache_get(c, "old1000");
    autojson *first = answer_cache_get(c, "first"), *last = answer_cache_get(c, "large4");
    cr_assert(kept != NULL && first != NULL && last != NULL);
    answer_cache_free(c);
}
