#include "base/clock.h"
#include "base/hash.h"
#include "base/lines.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Examples of FIPS 180-4 (SHA-256), and the empty message. */
Test(hash, known_messages_have_their_known_digests) {
    char hex[HASH_HEX_SIZE];
    hash_bytes_hex("abc", 3, hex);
    cr_assert(
        eq(str, hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    hash_bytes_hex(NULL, 0, hex);
    cr_assert(
        eq(str, hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    struct hash h;
    hash_init(&h);
    for (int i = 0; i < 1000; i++) {
        char block[1000];
        memset(block, 'a', sizeof block);
        hash_add(&h, block, sizeof block);
    }
    hash_hex(&h, hex);
    cr_assert(
        eq(str, hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
    hash_add(&h, "abc", 3); /* it began anew */
    hash_hex(&h, hex);
    cr_assert(zero(int, strncmp(hex, "ba7816bf", 8)));
}

Test(hash, fields_do_not_slide_into_each_other) {
    char one[HASH_HEX_SIZE], two[HASH_HEX_SIZE];
    struct hash h;
    hash_init(&h);
    hash_add_field(&h, "ab", 2);
    hash_add_field(&h, "c", 1);
    hash_hex(&h, one);
    hash_add_field(&h, "a", 1);
    hash_add_field(&h, "bc", 2);
    hash_hex(&h, two);
    cr_assert(ne(str, one, two));
    /* Eight bytes of length, little-endian, then the field. */
    char by_hand[HASH_HEX_SIZE];
    hash_bytes_hex("\1\0\0\0\0\0\0\0a\2\0\0\0\0\0\0\0bc", 19, by_hand);
    cr_assert(eq(str, two, by_hand));
}

Test(hash, random_names_are_long_enough_and_differ) {
    char one[2 * 100 + 1], two[2 * 100 + 1];
    random_hex(100, one);
    random_hex(100, two);
    cr_assert(eq(sz, strspn(one, "0123456789abcdef"), 200));
    cr_assert(ne(str, one, two));
}

Test(clock, timestamps_have_their_form_and_time_goes_forward) {
    char stamp[25];
    struct tm tm = {0};
    uint64_t before = clock_us();
    clock_iso8601(stamp);
    cr_assert(eq(sz, strlen(stamp), 24));
    const char *rest = strptime(stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    cr_assert(rest && rest[0] == '.' && rest[4] == 'Z');
    time_t difference = time(NULL) - timegm(&tm);
    /* time() lags behind clock_gettime by a tick of the kernel's. */
    cr_assert(difference >= -1 && difference < 3);
    cr_assert(clock_us() >= before && clock_ms() >= before / 1000);
}

Test(lines, every_kind_of_line_ending_ends_a_line) {
    const char text[] = "one\ntwo\r\nthree\rfour\n\r\n";
    static const size_t starts[] = {0, 4, 9, 15, 20, 22};
    static const size_t ends[] = {3, 7, 14, 19, 20, 22};
    struct lines l;
    lines_init(&l, text, sizeof text - 1);
    cr_assert(eq(sz, l.count, 6));
    for (size_t i = 0; i < 6; i++) {
        cr_assert(eq(sz, l.starts[i], starts[i]), "line %zu", i);
        cr_assert(eq(sz, lines_end(&l, text, i), ends[i]), "line %zu", i);
        cr_assert(eq(sz, lines_at(&l, starts[i]), i), "line %zu", i);
        cr_assert(eq(sz, lines_at(&l, ends[i]), i), "line %zu", i);
    }
    cr_assert(eq(sz, lines_at(&l, 1000), 5));
    lines_finish(&l);
    lines_init(&l, "", 0);
    cr_assert(eq(sz, l.count, 1));
    cr_assert(zero(sz, lines_end(&l, "", 0)));
    lines_finish(&l);
}
