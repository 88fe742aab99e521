#include "gpu/check/check_cache.h"

#include "base/hash.h"

#define BUCKETS 1024

struct entry {
    char key[HASH_HEX_SIZE];
    json_t *value;
    size_t bytes;        /* of value and of this */
    struct entry *chain; /* next in its bucket */
    struct entry *newer, *older;
};

struct check_cache {
    struct entry *buckets[BUCKETS];
    struct entry *newest, *oldest;
    size_t max_bytes, bytes, entries;
    uint64_t hits, misses;
};

static struct entry **bucket_of(struct check_cache *c, const char *key) {
    char digits[9] = "";
    memcpy(digits, key, strnlen(key, 8));
    return &c->buckets[strtoul(digits, NULL, 16) % BUCKETS];
}

static struct entry *entry_find(struct check_cache *c, const char *key) {
    struct entry *e = *bucket_of(c, key);
    while (e && strcmp(e->key, key) != 0) {
        e = e->chain;
    }
    return e;
}

static void age_unlink(struct check_cache *c, struct entry *e) {
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void age_renew(struct check_cache *c, struct entry *e) {
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void entry_remove(struct check_cache *c, struct entry *e) {
    struct entry **link = bucket_of(c, e->key);
    while (*link != e) {
        link = &(*link)->chain;
    }
    *link = e->chain;
    age_unlink(c, e);
    c->bytes -= e->bytes;
    c->entries--;
    json_decref(e->value);
    free(e);
}

struct check_cache *check_cache_new(size_t max_bytes) {
    struct check_cache *c = xcalloc(1, sizeof *c);
    c->max_bytes = max_bytes;
    return c;
}

void check_cache_free(struct check_cache *c) {
    if (!c) {
        return;
    }
    while (c->oldest) {
        entry_remove(c, c->oldest);
    }
    free(c);
}

json_t *check_cache_get(struct check_cache *c, const char *key) {
    struct entry *e = entry_find(c, key);
    if (!e) {
        c->misses++;
        return NULL;
    }
    c->hits++;
    age_unlink(c, e);
    age_renew(c, e);
    return json_incref(e->value);
}

/* The memory that jansson uses for a value and its slot, including malloc's overhead:
 * slightly overestimated, for 64 bits. */
#define VALUE_BYTES 64u
#define MEMBER_BYTES 96u /* of an object, without its value */
#define OBJECT_BYTES 256u

static size_t bytes_of(const json_t *value) {
    size_t bytes = VALUE_BYTES + json_string_length(value);
    if (json_is_object(value)) {
        bytes += OBJECT_BYTES;
        json_each_member(value, key, part) {
            bytes += MEMBER_BYTES + strlen(key) + bytes_of(part);
        }
    }
    json_each(value, i, part) {
        bytes += 2 * sizeof part + bytes_of(part);
    }
    return bytes;
}

void check_cache_put(struct check_cache *c, const char *key, json_t *value) {
    struct entry *old = entry_find(c, key);
    if (old) {
        entry_remove(c, old);
    }
    size_t bytes = bytes_of(value) + sizeof(struct entry);
    if (bytes > c->max_bytes / 4) {
        return;
    }
    struct entry *e = xcalloc(1, sizeof *e);
    memcpy(e->key, key, strnlen(key, sizeof e->key - 1));
    e->value = json_incref(value);
    e->bytes = bytes;
    e->chain = *bucket_of(c, key);
    *bucket_of(c, key) = e;
    age_renew(c, e);
    c->bytes += bytes;
    c->entries++;
    while (c->oldest && c->oldest != e &&
           (c->bytes > c->max_bytes || c->entries > CHECK_CACHE_MAX_ENTRIES)) {
        entry_remove(c, c->oldest);
    }
}

json_t *check_cache_status(const struct check_cache *c) {
    return json_pack("{s:I, s:I, s:I, s:I}", "entries", (json_int_t)c->entries, "bytes",
                     (json_int_t)c->bytes, "hits", (json_int_t)c->hits, "misses",
                     (json_int_t)c->misses);
}
