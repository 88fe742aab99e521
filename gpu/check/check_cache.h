#pragma once
/* check_cache: answers of kernel/check, by the hash of their input. Values are shared and
 * must not be changed after put or get. Their sizes are estimated, slightly too high. The
 * least recently used are evicted first. In memory only. */
#include "base/json.h"

struct check_cache;

#define CHECK_CACHE_MAX_ENTRIES 4096

struct check_cache *check_cache_new(size_t max_bytes);
void check_cache_free(struct check_cache *c); /* NULL is fine */
/* key: 64 hex digits (hash_hex). A new reference, or NULL. Counts a hit or a miss. */
json_t *check_cache_get(struct check_cache *c, const char *key);
/* Keeps a reference; replaces the key's value. A value larger than a quarter of the cache
 * is not kept. */
void check_cache_put(struct check_cache *c, const char *key, json_t *value);
/* {"entries", "bytes", "hits", "misses"}: new reference. */
json_t *check_cache_status(const struct check_cache *c);

DEFINE_CLEANUP(struct check_cache *, check_cache_free);
