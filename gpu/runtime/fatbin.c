#include "gpu/runtime/fatbin.h"

#include "base/err.h"

#define WRAPPER_MAGIC 0x466243b1u
#define DATA_MAGIC 0xba55ed50u
#define VERSION_ALONE 1u
#define VERSION_LINKED 2u /* -rdc=true: parts that nvlink joined */
#define KIND_PTX 1
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_EXACT 0x100000u /* of sm_90a */
#define NEWEST_ARCH 90u

struct wrapper {
    uint32_t magic, version;
    const uint8_t *data;
    const void *const *parts; /* version 2: the fat binaries that were linked */
};
struct header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of what follows */
};
struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* of what follows the entry's header */
    uint32_t packed_bytes;
    uint32_t unknown[2];
    uint32_t arch;
    uint64_t unknown_too;
    uint64_t flags;
    uint64_t unknown_again;
    uint64_t unpacked_bytes;
};
_Static_assert(sizeof(struct entry) == 64, "");

/* Which of two is to be taken: the higher, 0 = cannot run. */
static unsigned rank_of(const struct entry *e) {
    bool exact = e->flags & FLAG_EXACT;
    if (e->kind != KIND_PTX || e->arch > NEWEST_ARCH ||
        (exact && e->arch != NEWEST_ARCH)) {
        return 0;
    }
    return e->arch * 2 + exact;
}

/* The best entry of one fat binary; NULL: none. */
static const struct entry *entry_choose(const struct header *h) {
    const uint8_t *at = (const uint8_t *)h + h->header_bytes, *end = at + h->bytes;
    const struct entry *best = NULL;
    while ((size_t)(end - at) >= sizeof(struct entry)) {
        const struct entry *e = (const void *)at;
        if ((uintptr_t)at % _Alignof(struct entry) || e->header_bytes < sizeof *e ||
            e->bytes > (size_t)(end - at) ||
            e->header_bytes > (size_t)(end - at) - e->bytes) {
            break;
        }
        best = rank_of(e) > (best ? rank_of(best) : 0) ? e : best;
        at += e->header_bytes + e->bytes;
    }
    return best;
}

/* *ret NULL: it has none that can run here. */
static int data_choose(const void *data, const struct entry **ret, struct err *err) {
    const struct header *h = data;
    if (!h || h->magic != DATA_MAGIC) {
        return err_set(err, -EINVAL, "the program's device code is not a fat binary");
    }
    *ret = entry_choose(h);
    if (*ret && (*ret)->flags & (FLAG_LZ4 | FLAG_ZSTD)) {
        return err_set(err, -ENOTSUP,
                       "the program's PTX is compressed: compile it with --no-compress");
    }
    return 0;
}

static int data_add(const void *data, struct buf *ret, struct err *err) {
    const struct entry *e = NULL;
    int rc = data_choose(data, &e, err);
    if (rc || !e) {
        return rc;
    }
    const char *text = (const char *)e + e->header_bytes;
    rc = buf_add(ret, text, strnlen(text, e->bytes));
    return rc ? rc : buf_add(ret, "\n", 1);
}

int fatbin_ptx(const void *of, struct buf *ret, struct err *err) {
    const struct wrapper *w = of;
    int rc = 0;
    bool bare = w && w->magic == DATA_MAGIC;
    if (!w || (w->magic != WRAPPER_MAGIC && !bare)) {
        return err_set(err, -EINVAL, "the program's device code is not a fat binary");
    }
    if (bare || w->version == VERSION_ALONE) {
        rc = data_add(bare ? of : w->data, ret, err);
    }
    for (size_t k = 0; !bare && w->version == VERSION_LINKED && !rc && w->parts[k]; k++) {
        rc = data_add(w->parts[k], ret, err);
    }
    return rc || ret->len
               ? rc
               : err_set(err, -ENOENT,
                         "the program has no PTX for sm_90 or older: compile it with "
                         "-arch=compute_90a -code=compute_90a");
}
