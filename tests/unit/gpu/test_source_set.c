#include "base/err.h"
#include "gpu/source/source_set.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>

TestSuite(source_set);

/* A path that could leave the job's folder, or fool who reads it, is none. */
Test(source_set, takes_only_plain_relative_paths) {
    static const char *const bad[] = {
        "",    "/",   "/etc/passwd", "..",   "../a",  "a/..",    "a/../b", "a//b",
        "./a", "a/.", "a/",          "a\nb", "a\x1b", "a\x7f/b", "a\xff",
    };
    static const char *const good[] = {"a", "r0/src/k.cu", "r0/..a/b..c/...",
                                       "r1/\xc3\xa9 (2).cuh"};
    struct source_set s = {0};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        cr_expect(eq(int, source_set_add(&s, bad[i], "x", "", 0, NULL), -EINVAL), "%s",
                  bad[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        cr_expect(zero(int, source_set_add(&s, good[i], "x", "", 0, NULL)), "%s",
                  good[i]);
        cr_expect(source_set_find(&s, good[i]) != NULL, "%s", good[i]);
    }
    autofree char *long_path = xmalloc(5000);
    memset(long_path, 'a', 4999);
    long_path[4999] = '\0';
    cr_expect(eq(int, source_set_add(&s, long_path, "x", "", 0, NULL), -EINVAL));
    cr_expect(eq(u64, s.count, ARRAY_LEN(good)));
    source_set_finish(&s);
}

Test(source_set, refuses_a_path_twice) {
    struct source_set s = {0};
    struct err err = {0};
    cr_expect(zero(int, source_set_add(&s, "a.cu", "a.cu", "1", 1, &err)));
    cr_expect(eq(int, source_set_add(&s, "a.cu", "b.cu", "2", 1, &err), -EEXIST));
    cr_expect(strstr(err.msg, "a.cu") != NULL);
    cr_expect(eq(u64, s.bytes, 1));
    source_set_finish(&s);
}

Test(source_set, is_bounded_in_files_and_bytes) {
    struct source_set s = {0};
    char path[32];
    for (int i = 0; i < SOURCE_SET_MAX_FILES; i++) {
        snprintf(path, sizeof path, "f%d", i);
        cr_assert(zero(int, source_set_add(&s, path, path, "x", 1, NULL)));
    }
    cr_expect(eq(int, source_set_add(&s, "more", "more", "x", 1, NULL), -E2BIG));
    source_set_finish(&s);
    autofree char *big = xcalloc(1, SOURCE_SET_MAX_BYTES);
    cr_expect(
        zero(int, source_set_add(&s, "a", "a", big, SOURCE_SET_MAX_BYTES - 1, NULL)));
    cr_expect(eq(int, source_set_add(&s, "b", "b", "xy", 2, NULL), -E2BIG));
    cr_expect(zero(int, source_set_add(&s, "b", "b", "x", 1, NULL)));
    source_set_finish(&s);
}

/* Text holds any bytes that UTF-8 allows, U+0000 too, and ends in a NUL of its own. */
Test(source_set, travels_as_json) {
    struct source_set s = {0}, back;
    source_set_add(&s, "r0/k.cu", "k.cu", "int \xc3\xa9;\0\tx\r\n", 12, NULL);
    source_set_add(&s, "r0/a.cuh", "inc/a.cuh", "", 0, NULL);
    s.files[0].original = xstrdup("not sent");
    json_t *json = source_set_to_json(&s);
    autofree char *text = json_dumps(json, 0);
    cr_expect(strstr(text, "not sent") == NULL);
    cr_assert(zero(int, source_set_from_json(&back, json, NULL)));
    cr_assert(eq(u64, back.count, 2));
    cr_expect(eq(u64, back.bytes, s.bytes));
    for (size_t i = 0; i < s.count; i++) {
        cr_expect(eq(str, back.files[i].path, s.files[i].path));
        cr_expect(eq(str, back.files[i].display, s.files[i].display));
        cr_expect(eq(u64, back.files[i].len, s.files[i].len));
        cr_expect(
            zero(int, memcmp(back.files[i].text, s.files[i].text, s.files[i].len + 1)));
    }
    json_decref(json);
    source_set_finish(&s);
    source_set_finish(&back);
}

/* The worker's side trusts no message. */
Test(source_set, refuses_json_that_is_no_source_set) {
    static const char *const texts[] = {
        "{}",
        "{\"files\": 1}",
        "{\"files\": []}",
        "{\"files\": [1]}",
        "{\"files\": [{\"path\": \"a\"}]}",
        "{\"files\": [{\"text\": \"a\"}]}",
        "{\"files\": [{\"path\": 1, \"text\": \"\"}]}",
        "{\"files\": [{\"path\": \"a\", \"text\": 1}]}",
        "{\"files\": [{\"path\": \"a\", \"text\": \"\", \"display\": 1}]}",
        "{\"files\": [{\"path\": \"a\\u0000b\", \"text\": \"\"}]}",
        "{\"files\": [{\"path\": \"../a\", \"text\": \"\"}]}",
        "{\"files\": [{\"path\": \"a\", \"text\": \"\"}, {\"path\": \"a\", \"text\": "
        "\"\"}]}",
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct source_set s;
        struct err err = {0};
        json_t *json = json_loads(texts[i], JSON_ALLOW_NUL, NULL);
        cr_assert(json != NULL, "%s", texts[i]);
        cr_expect(lt(int, source_set_from_json(&s, json, &err), 0), "%s", texts[i]);
        cr_expect(err.msg[0] != '\0', "%s", texts[i]);
        cr_expect(eq(u64, s.count, 0), "%s", texts[i]);
        json_decref(json);
    }
}
