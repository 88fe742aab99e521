/* The table of word vectors against numpy's reading of the same file
 * (data/word_vectors.txt, written by data/make_word_vectors.py), and what a skill keeps.
 */
#include "base/buf.h"
#include "base/db.h"
#include "base/file.h"
#include "skills/catalog/catalog_meaning.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static double nearness(const char *a, const char *b) {
    struct word_vector x, y;
    uint16_t at = word_vectors_find(a), bt = word_vectors_find(b);
    cr_assert(at != VECTOR_NONE && bt != VECTOR_NONE, "%s %s", a, b);
    word_vectors_read(at, &x);
    word_vectors_read(bt, &y);
    return (double)word_vectors_nearness(&x, &y);
}

Test(word_vectors, agree_with_numpy) {
    autobuf text = BUF_INIT(1u << 20);
    int lines = 0, used = 0;
    cr_assert(zero(int, file_read(TEST_DATA "/word_vectors.txt", &text, NULL)));
    char a[48], b[48];
    double want, length, says;
    for (const char *at = text.data;
         sscanf(at, "%47s %47s %lf %lf %lf%n", a, b, &want, &length, &says, &used) == 5;
         at += used) {
        struct word_vector v;
        word_vectors_read(word_vectors_find(a), &v);
        cr_expect(fabs(nearness(a, b) - want) < 1e-5, "%s %s %g", a, b, nearness(a, b));
        cr_expect(fabs((double)v.length - length) < 1e-5);
        cr_expect(fabs((double)v.says - says) < 1e-5);
        lines++;
    }
    cr_expect(gt(int, lines, 30));
}

Test(word_vectors, know_what_is_near_and_what_is_not_there) {
    cr_expect(nearness("game", "player") > nearness("game", "tax") + 0.2);
    cr_expect(nearness("doctor", "hospit") > nearness("doctor", "compil") + 0.2);
    cr_expect(eq(u16, word_vectors_find("zorbleque"), VECTOR_NONE));
    cr_expect(eq(u16, word_vectors_find(""), VECTOR_NONE));
}

Test(word_vectors, a_skill_keeps_its_words_once_and_bad_bytes_say_little) {
    static const char *const texts[] = {"funeral burial", "The funeral and burial", ""};
    static const char *const no_migrations[] = {NULL};
    static const struct db_schema schema = {no_migrations, true};
    autobuf out = BUF_INIT(MEANING_SIZE_MAX);
    struct stemmer *stemmer;
    struct task_meaning task;
    struct meaning m;
    struct db *db;
    char path[] = "/tmp/test-vectors-XXXXXX";
    int fd = mkstemp(path);
    cr_assert(fd >= 0 && db_open(path, &schema, &db, NULL) == 0);
    cr_assert(zero(int, stemmer_new(db, &stemmer, NULL)));
    meaning_write(stemmer, texts, 3, 3, &out);
    cr_expect(eq(sz, out.len, VECTOR_SIZE + 4u));
    task_meaning_read(stemmer, "a burial", &task);
    meaning_compare(&task, (const uint8_t *)out.data, out.len, &m);
    cr_expect(fabs(m.spoken - 1) < 1e-5 && m.direction > 0.5 && m.direction < 1.05);
    memset(out.data, 0xff, out.len); /* places beyond the table */
    meaning_compare(&task, (const uint8_t *)out.data, out.len, &m);
    cr_expect(fabs(m.spoken) < 1e-9);
    meaning_compare(&task, NULL, 0, &m);
    cr_expect(fabs(m.direction) < 1e-9);
    task_meaning_read(stemmer, "", &task);
    meaning_compare(&task, (const uint8_t *)out.data, out.len, &m);
    cr_expect(task.count == 0 && fabs(m.spoken) < 1e-9);
    stemmer_free(stemmer);
    db_close(db);
    close(fd);
    remove(path);
}
