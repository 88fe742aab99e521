#pragma once
/* hash: SHA-256 (FIPS 180-4), from nettle. */
#include <stddef.h>

#include <nettle/sha2.h>

struct hash {
    struct sha256_ctx sha;
};
#define HASH_HEX_SIZE 65 /* 64 lower-case hex digits and a NUL */

void hash_init(struct hash *h);
void hash_add(struct hash *h, const void *bytes, size_t len);
/* Adds the length (8 bytes, little-endian) and then the bytes, so that moving bytes from
 * one field to the next changes the hash. */
void hash_add_field(struct hash *h, const void *bytes, size_t len);
void hash_hex(struct hash *h, char ret[static HASH_HEX_SIZE]); /* h is then reset */
void hash_bytes_hex(const void *bytes, size_t len, char ret[static HASH_HEX_SIZE]);

/* `bytes` random bytes from the kernel as lower-case hex; ret needs 2 * bytes + 1 bytes.
 */
void random_hex(size_t bytes, char *ret);
