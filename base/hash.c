#include "base/hash.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

static void to_hex(const uint8_t *bytes, size_t len, char *ret) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        *ret++ = digits[bytes[i] >> 4];
        *ret++ = digits[bytes[i] & 15];
    }
    *ret = '\0';
}

void hash_init(struct hash *h) {
    sha256_init(&h->sha);
}

void hash_add(struct hash *h, const void *bytes, size_t len) {
    if (len) {
        sha256_update(&h->sha, len, bytes);
    }
}

void hash_add_field(struct hash *h, const void *bytes, size_t len) {
    uint8_t prefix[8];
    for (size_t i = 0; i < sizeof prefix; i++) {
        prefix[i] = (uint8_t)((uint64_t)len >> (8 * i));
    }
    hash_add(h, prefix, sizeof prefix);
    hash_add(h, bytes, len);
}

void hash_hex(struct hash *h, char ret[static HASH_HEX_SIZE]) {
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(&h->sha, sizeof digest, digest); /* also starts anew */
    to_hex(digest, sizeof digest, ret);
}

void hash_bytes_hex(const void *bytes, size_t len, char ret[static HASH_HEX_SIZE]) {
    struct hash h;
    hash_init(&h);
    hash_add(&h, bytes, len);
    hash_hex(&h, ret);
}

void random_hex(size_t bytes, char *ret) {
    uint8_t some[32];
    while (bytes) {
        size_t want = bytes < sizeof some ? bytes : sizeof some;
        ssize_t got = getrandom(some, want, 0);
        if (got < 0) {
            if (errno == EINTR) {
                continue;
            }
            abort(); /* a kernel without getrandom: nothing unguessable can be made */
        }
        to_hex(some, (size_t)got, ret);
        ret += 2 * got;
        bytes -= (size_t)got;
    }
    *ret = '\0';
}
