#include "base/buf.h"
#include "base/err.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

Test(buf, an_addition_past_the_limit_adds_nothing_and_sticks) {
    autobuf b = BUF_INIT(5);
    cr_assert(zero(int, buf_adds(&b, "abc")));
    cr_assert(eq(int, buf_adds(&b, "def"), -EMSGSIZE));
    cr_assert(eq(int, buf_addc(&b, 'd'), -EMSGSIZE));
    cr_assert(eq(int, buf_addf(&b, "%d", 1), -EMSGSIZE));
    cr_assert(buf_reserve(&b, 1) == NULL);
    cr_assert(eq(str, b.data, "abc"));
    buf_reset(&b);
    cr_assert(zero(int, buf_addf(&b, "%s-%d", "ab", 12)));
    cr_assert(eq(str, b.data, "ab-12"));
}

Test(buf, an_empty_one_is_an_empty_string_that_can_be_kept) {
    autobuf b = BUF_INIT(0);
    cr_assert(eq(str, b.data, ""));
    cr_assert(zero(int, buf_add(&b, NULL, 0)));
    char *kept = buf_detach(&b);
    cr_assert(eq(str, kept, ""));
    free(kept);
    buf_commit(&b, 0);
    cr_assert(eq(int, buf_addc(&b, 'x'), -EMSGSIZE));
}

Test(buf, bytes_grow_are_consumed_and_detached) {
    autobuf b = BUF_INIT(100000);
    for (int i = 0; i < 9000; i++) {
        cr_assert(zero(int, buf_add(&b, "0123456789", 10)));
    }
    buf_consume(&b, 89995);
    cr_assert(eq(str, b.data, "56789"));
    char *to = buf_reserve(&b, 3);
    memcpy(to, "xyz", 3);
    buf_commit(&b, 3);
    char *kept = buf_detach(&b);
    cr_assert(eq(str, kept, "56789xyz"));
    free(kept);
    cr_assert(zero(sz, b.len));
    buf_consume(&b, 10);
}

Test(err, context_goes_in_front_and_long_words_are_cut) {
    struct err err = {0};
    cr_assert(eq(int, err_set(&err, -EIO, "disk %d", 3), -EIO));
    cr_assert(eq(int, err_wrap(&err, "reading %s", "x"), -EIO));
    cr_assert(eq(str, err.msg, "reading x: disk 3"));
    cr_assert(eq(int, err_set(NULL, -EPERM, "no"), -EPERM));
    char words[2000];
    memset(words, 'w', sizeof words);
    words[sizeof words - 1] = '\0';
    err_wrap(&err, "%s", words);
    cr_assert(eq(sz, strlen(err.msg), sizeof err.msg - 1));
}

/* malloc may hand out memory that was used: fill some first. */
Test(buf, reserved_room_that_is_not_used_leaves_a_terminated_text) {
    void *used = malloc(128);
    memset(used, 'x', 128);
    free(used);
    autobuf b = BUF_INIT(200);
    cr_assert(buf_reserve(&b, 120) != NULL);
    cr_assert(zero(sz, b.len));
    cr_assert(eq(chr, b.data[0], '\0'));
}
