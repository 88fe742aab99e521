#include "gpu/ptx/state/origins.h"

#define MAX_WORDS (UINT32_C(1) << 16)
#define MAX_REGIONS (UINT32_C(1) << 15)
#define REGION_SHIFT 22 /* of 80 GB there are 20,000 */
#define MAX_NAMES 1024

struct origins {
    struct entry {
        const void *word;
        struct origin from;
    } * entries; /* room of them, by a hash of the word */
    uint32_t room, count;
    char **names;
    uint32_t name_count;
};

void origin_tell(struct findings *f, const struct origin *o) {
    finding_add_of(
        f, &o->by, FINDING_UNINITIALIZED, o->buffer, (int64_t)o->offset,
        "Uninitialized %s read of %llu bytes: offset %llu of %s %s%s", o->space,
        (unsigned long long)o->bytes, (unsigned long long)o->offset, o->buffer,
        o->copied ? "is being written by a " : "had not been written when it was read",
        o->copied ? o->copied : "");
}

/* ---- a table ---- */

static struct entry *entry_of(const struct origins *o, const void *word) {
    uint64_t hash = ((uintptr_t)word >> 2) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(hash >> 32) & (o->room - 1);
    while (o->entries[at].word && o->entries[at].word != word) {
        at = (at + 1) & (o->room - 1);
    }
    return &o->entries[at];
}

static void table_grow(struct origins *o) {
    struct origins old = *o;
    o->room = old.room ? 2 * old.room : 256;
    o->entries = xcalloc(o->room, sizeof *o->entries);
    for (uint32_t k = 0; k < old.room; k++) {
        if (old.entries[k].word) {
            *entry_of(o, old.entries[k].word) = old.entries[k];
        }
    }
    free(old.entries);
}

/* No word has an odd address. */
static const void *region_of(const void *word) {
    return (const void *)(((uintptr_t)word >> REGION_SHIFT << REGION_SHIFT) | 1);
}

/* Where a new word is kept: with many there is one entry for all of a region, the first
 * one's, so that no value is told that nobody uses. NULL: too many even so. */
static struct entry *entry_new(struct origins *o, const void **word) {
    struct entry *e = entry_of(o, *word);
    if (!e->word && o->count >= MAX_WORDS) {
        *word = region_of(*word);
        e = entry_of(o, *word);
    }
    return e->word || o->count < MAX_WORDS + MAX_REGIONS ? e : NULL;
}

/* The table's own copy; NULL: too many. */
static const char *name_keep(struct origins *o, const char *name) {
    for (uint32_t k = 0; k < o->name_count; k++) {
        if (!strcmp(o->names[k], name)) {
            return o->names[k];
        }
    }
    if (o->name_count == MAX_NAMES) {
        return NULL;
    }
    o->names = o->names ? o->names : xcalloc(MAX_NAMES, sizeof *o->names);
    return o->names[o->name_count++] = xstrdup(name);
}

static bool table_put(struct origins *o, const void *word, const struct origin *from) {
    if (2 * o->count >= o->room && o->room < 2 * MAX_WORDS) {
        table_grow(o);
    }
    struct entry *e = entry_new(o, &word);
    struct origin kept = *from;
    if (e && e->word && word == region_of(word)) {
        return true;
    }
    kept.by.kernel = name_keep(o, from->by.kernel);
    kept.buffer = name_keep(o, from->buffer);
    if (!e || !kept.by.kernel || !kept.buffer) {
        return false;
    }
    o->count += !e->word;
    *e = (struct entry){word, kept};
    return true;
}

bool origins_put_own(struct origins **own, const void *word, const struct origin *o) {
    if (!*own) {
        *own = xcalloc(1, sizeof **own);
    }
    return table_put(*own, word, o);
}

bool origins_get_own(const struct origins *own, const void *word, struct origin *ret) {
    const struct entry *e = own && own->room ? entry_of(own, word) : NULL;
    e = e && !e->word ? entry_of(own, region_of(word)) : e;
    bool found = e && e->word;
    if (found) {
        *ret = e->from;
    }
    return found;
}

bool origins_put(struct memory *m, const void *word, const struct origin *o) {
    pthread_mutex_lock(&m->lock);
    bool kept = origins_put_own(&m->origins, word, o);
    pthread_mutex_unlock(&m->lock);
    return kept;
}

bool origins_get(struct memory *m, const void *word, struct origin *ret) {
    pthread_mutex_lock(&m->lock);
    bool found = origins_get_own(m->origins, word, ret);
    pthread_mutex_unlock(&m->lock);
    return found;
}

void origins_free(struct origins *o) {
    if (!o) {
        return;
    }
    for (uint32_t k = 0; k < o->name_count; k++) {
        free(o->names[k]);
    }
    free(o->names);
    free(o->entries);
    free(o);
}

/* ---- between launches ---- */

void origins_copied(struct memory *m, struct findings *f, struct allocation *to,
                    uint64_t to_offset, const struct allocation *from,
                    uint64_t from_offset, uint64_t bytes) {
    for (uint64_t k = 0; m->origins && to->shadow && from->shadow && k < bytes; k++) {
        uint64_t t = to_offset + k, s = from_offset + k;
        struct origin o;
        if ((from->shadow[s / 4] >> 4 & ~from->shadow[s / 4]) == 0) {
            k += 3 - s % 4; /* nothing of this word */
        } else if (origins_has(from->shadow[s / 4], s % 4) &&
                   origins_get(m, from->host + s / 4 * 4, &o) &&
                   !origins_put(m, to->host + t / 4 * 4, &o)) {
            origin_tell(f, &o);
        }
    }
}

/* The first byte of the allocation that a kernel stored undefined; a->bytes: none. */
static uint64_t first_stored(const struct allocation *a) {
    uint64_t words = a->shadow && !a->freed ? (a->bytes + 3) / 4 : 0, k = 0;
    while (k < words && !(a->shadow[k] >> 4 & ~a->shadow[k])) {
        k++;
    }
    return k < words ? 4 * k : a->bytes;
}

void origins_tell_unused(struct memory *m, struct findings *f) {
    for (uint32_t k = 0; m->origins && k < m->count; k++) {
        const struct allocation *a = m->table[k];
        uint64_t at = first_stored(a);
        struct origin o;
        char text[1024];
        if (at < a->bytes && origins_get(m, a->host + at, &o)) {
            snprintf(text, sizeof text,
                     "Uninitialized %s read of %llu bytes: offset %llu of %.200s had not "
                     "been written when it was read. A value that was computed from it "
                     "was stored at offset %llu of %.200s, and nothing had used that when "
                     "the time ended the launch",
                     o.space, (unsigned long long)o.bytes, (unsigned long long)o.offset,
                     o.buffer, (unsigned long long)at, a->name);
            finding_warn_of(f, &o.by, FINDING_UNINITIALIZED, o.buffer, (int64_t)o.offset,
                            text);
        }
    }
}

static bool same_load(const struct origin *a, const struct origin *b) {
    return !memcmp(&a->by, &b->by, sizeof a->by) && a->offset == b->offset;
}

void origins_tell_bytes(struct memory *m, struct findings *f, struct allocation *a,
                        uint64_t offset, uint64_t bytes) {
    struct origin before = {0};
    if (!m->origins || !a->shadow) {
        return;
    }
    for (uint64_t at = offset; at < offset + bytes; at++) {
        uint8_t *shadow = &a->shadow[at / 4];
        struct origin o;
        if (at % 4 == 0 && (*shadow >> 4 & ~*shadow) == 0) {
            at += 3;
        } else if (origins_has(*shadow, at % 4)) {
            *shadow |= *shadow >> 4;
            if (origins_get(m, a->host + at / 4 * 4, &o) && !same_load(&o, &before)) {
                origin_tell(f, &o);
                before = o;
            }
        }
    }
}
