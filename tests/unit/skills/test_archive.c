/* Skills in archives: their names; entries that must not be. */
#include "base/err.h"
#include "base/mem.h"
#include "skills/install/archive.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

Test(archive, words_that_mean_one) {
    static const struct {
        const char *words;
        bool meant;
    } table[] = {
        {"https://h.example/a.zip", true},
        {"https://h.example/a.skill#sha256=" HEX, true},
        {"https://h.example/a.tar.gz?raw=1", true},
        {"https://h.example/a.tgz#x", true},
        {"./a.skill", true},
        {"dist/a.tar", true},
        {"dist/a.zip#subdirectory=b", true},
        {"https://h.example/a.git@v1", false},
        {"https://h.example/a?x=.zip", false},
        {"owner/repo@v1", false},
        {"a-skill", false},
        {"my.skillet", false},
        {"./a.zip/", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        cr_expect(archive_is_meant(table[i].words) == table[i].meant, "%s",
                  table[i].words);
    }
}

Test(archive, what_stands_behind_the_number_sign) {
    static const struct {
        const char *words, *sha256, *path;
        int rc;
    } table[] = {
        {"https://h/a.zip", "", "", 0},
        {"https://h/a.zip#sha256=" HEX, HEX, "", 0},
        {"https://h/a.zip#subdirectory=x/y&sha256=" HEX, HEX, "x/y", 0},
        {"https://h/a.zip#sha256=" HEX "&subdirectory=x/", HEX, "x", 0},
        {"a.skill#subdirectory=x", "", "x", 0},
        {"https://h/a.zip#sha256=0123", NULL, NULL, -EINVAL},
        {"https://h/a.zip#sha256=" HEX "0", NULL, NULL, -EINVAL},
        {"https://h/"
         "a.zip#sha256=ABCDEF6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
         NULL, NULL, -EINVAL},
        {"https://h/a.zip#subdirectory=../x", NULL, NULL, -EINVAL},
        {"https://h/a.zip#subdirectory=/etc", NULL, NULL, -EINVAL},
        {"https://h/a.zip#subdirectory=", NULL, NULL, -EINVAL},
        {"https://h/a.zip#md5=1", NULL, NULL, -EINVAL},
        {"https://u:p@h/a.zip", NULL, NULL, -EINVAL},
        {"https://h/a b.zip", NULL, NULL, -EINVAL},
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        struct archive_source a;
        struct err err = {0};
        int rc = archive_read(&a, table[i].words, &err);
        cr_expect(rc == table[i].rc, "%s: %d %s", table[i].words, rc, err.msg);
        if (rc == 0) {
            cr_expect(strcmp(a.sha256, table[i].sha256) == 0, "%s", table[i].words);
            cr_expect(strcmp(a.path, table[i].path) == 0, "%s: %s", table[i].words,
                      a.path);
            archive_finish(&a);
        }
    }
}
