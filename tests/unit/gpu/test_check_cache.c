#include "base/hash.h"
#include "base/mem.h"
#include "gpu/check/check_cache.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

static void key_of(int n, char key[static HASH_HEX_SIZE]) {
    hash_bytes_hex(&n, sizeof n, key);
}

static json_int_t stat_of(const struct check_cache *c, const char *name) {
    json_t *status = check_cache_status(c);
    json_int_t n = json_integer_value(json_object_get(status, name));
    json_decref(status);
    return n;
}

/* What was put last comes back, for as long as its holder wants. */
Test(check_cache, gives_back_what_was_put) {
    struct check_cache *c = check_cache_new(1 << 20);
    char key[HASH_HEX_SIZE];
    key_of(1, key);
    cr_assert_null(check_cache_get(c, key));
    autojson *value =
        json_pack("{s:b, s:f, s:[s]}", "ok", 1, "ms", 61.25, "list", "\xc3\xa9");
    autojson *same = json_deep_copy(value);
    check_cache_put(c, key, value);
    autojson *first = check_cache_get(c, key);
    cr_assert(json_equal(first, same));
    autojson *other = json_pack("{s:b}", "ok", 0);
    check_cache_put(c, key, other);
    autojson *second = check_cache_get(c, key);
    cr_assert(json_is_false(json_object_get(second, "ok")), "a second put replaces");
    cr_assert_eq(stat_of(c, "entries"), 1);
    cr_assert_eq(stat_of(c, "hits"), 2);
    cr_assert_eq(stat_of(c, "misses"), 1);
    check_cache_free(c);
    cr_assert(json_equal(first, same), "the cache is gone, and a holder has it still");
}

/* The limit in bytes holds whatever is put, and the least recently used go first. */
Test(check_cache, forgets_the_least_recently_used) {
    enum { LIMIT = 64 << 10 };
    autoptr(check_cache_free) struct check_cache *c = check_cache_new(LIMIT);
    char key[HASH_HEX_SIZE], text[1001];
    memset(text, 'x', 1000);
    text[1000] = '\0';
    for (int i = 0; i < 1000; i++) {
        json_t *value = json_string(text);
        key_of(i, key);
        check_cache_put(c, key, value);
        json_decref(value);
        key_of(0, key);
        json_decref(check_cache_get(c, key)); /* keeps the first one young */
        cr_assert_leq(stat_of(c, "bytes"), LIMIT);
    }
    key_of(0, key);
    json_t *kept = check_cache_get(c, key);
    cr_assert_not_null(kept);
    json_decref(kept);
    key_of(1, key);
    cr_assert_null(check_cache_get(c, key));
    key_of(999, key);
    kept = check_cache_get(c, key);
    cr_assert_not_null(kept);
    json_decref(kept);
    cr_assert_gt(stat_of(c, "entries"), 40);
}

/* One answer never pushes out most of the others, and the number of entries is bounded.
 */
Test(check_cache, bounds_size_and_number) {
    autoptr(check_cache_free) struct check_cache *c = check_cache_new(32u << 20);
    char key[HASH_HEX_SIZE];
    size_t big = 9u << 20;
    char *text = xmalloc(big + 1);
    memset(text, 'y', big);
    text[big] = '\0';
    json_t *value = json_string(text);
    key_of(-1, key);
    check_cache_put(c, key, value);
    cr_assert_null(check_cache_get(c, key));
    json_decref(value);
    free(text);
    for (int i = 0; i < CHECK_CACHE_MAX_ENTRIES + 100; i++) {
        key_of(i, key);
        json_t *small = json_integer(i);
        check_cache_put(c, key, small);
        json_decref(small);
    }
    cr_assert_eq(stat_of(c, "entries"), CHECK_CACHE_MAX_ENTRIES);
}

/* The limit is one of memory: what malloc gives for the values is not more. */
Test(check_cache, reckons_no_less_than_it_takes) {
    autoptr(check_cache_free) struct check_cache *c = check_cache_new(64u << 20);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 500; i++) {
        char key[HASH_HEX_SIZE];
        key_of(i, key);
        json_t *list = json_array();
        for (int k = 0; k < 20; k++) {
            json_array_append_new(
                list, json_pack("{s:i, s:f, s:s, s:{s:[iii]}, s:s}", "line", k, "ms", 1.5,
                                "name", "kernel", "launch", "block", 1, 2, 3, "message",
                                "a sentence of some length about one kernel"));
        }
        check_cache_put(c, key, list);
        json_decref(list);
    }
    size_t taken = mallinfo2().uordblks - before;
    cr_assert_leq(taken, (size_t)stat_of(c, "bytes"));
}
