#include "gpu/device/contents.h"

#define GLANCES 64 /* places that are compared first */
#define GLANCE 16u /* bytes */

struct content {
    struct contents *list;
    struct content *next, **link;
    struct allocation *in;
    uint64_t version; /* of the allocation when it was last known to have this content */
    unsigned owners;
    uint64_t size;
    uint8_t bytes[]; /* of the allocation, then of its shadow */
};

static uint64_t shadow_bytes(const struct allocation *a) {
    return a->shadow ? (a->bytes + 3) / 4 : 0;
}

uint64_t content_bytes(const struct allocation *a) {
    return a->bytes + shadow_bytes(a);
}

struct content *content_again(struct content *c) {
    if (c) {
        c->owners++;
    }
    return c;
}

static struct content *content_find(const struct contents *in,
                                    const struct allocation *a) {
    struct content *c = in->all;
    while (c && (c->in != a || c->version != a->version)) {
        c = c->next;
    }
    return c;
}

struct content *content_new(struct contents *in, struct allocation *a) {
    struct content *c = content_find(in, a);
    uint64_t bytes = content_bytes(a);
    if (c || bytes > in->limit - in->bytes || !(c = malloc(sizeof *c + bytes))) {
        return content_again(c);
    }
    *c = (struct content){in, in->all, &in->all, a, a->version, 1, bytes};
    memory_advise_huge(c->bytes, bytes);
    memcpy(c->bytes, a->host, a->bytes);
    if (a->shadow) {
        memcpy(c->bytes + a->bytes, a->shadow, shadow_bytes(a));
    }
    if (c->next) {
        c->next->link = &c->next;
    }
    in->all = c;
    in->bytes += bytes;
    return c;
}

void content_release(struct contents *in, struct content *c) {
    if (!c || --c->owners > 0) {
        return;
    }
    in->bytes -= c->size;
    *c->link = c->next;
    if (c->next) {
        c->next->link = c->link;
    }
    free(c);
}

bool content_is_of(const struct content *c, const struct allocation *a) {
    return c->in == a;
}

/* Contents that differ mostly differ in one of a few places. */
static bool same_bytes(struct contents *list, const uint8_t *a, const uint8_t *b,
                       uint64_t bytes) {
    for (uint64_t k = 0; bytes > GLANCES * GLANCE && k < GLANCES; k++) {
        uint64_t at = (bytes - GLANCE) / (GLANCES - 1) * k;
        if (memcmp(a + at, b + at, GLANCE) != 0) {
            return false;
        }
    }
    list->compared += bytes;
    return memcmp(a, b, bytes) == 0;
}

bool content_is_there(struct content *c, bool may_look) {
    const struct allocation *a = c->in;
    if (a->freed || c->version == a->version) {
        return !a->freed;
    }
    bool same = may_look && same_bytes(c->list, c->bytes, a->host, a->bytes) &&
                (!a->shadow ||
                 same_bytes(c->list, c->bytes + a->bytes, a->shadow, shadow_bytes(a)));
    c->version = same ? a->version : c->version;
    return same;
}

/* Eight bytes at a time: some loops spend most of their time here. */
static void add_bits(uint8_t *to, const uint8_t *from, uint64_t bytes) {
    uint64_t k = 0, had, more;
    for (; bytes - k >= sizeof had; k += sizeof had) {
        memcpy(&had, to + k, sizeof had);
        memcpy(&more, from + k, sizeof more);
        had |= more;
        memcpy(to + k, &had, sizeof had);
    }
    for (; k < bytes; k++) {
        to[k] |= from[k];
    }
}

void content_restore(struct content *c) {
    struct allocation *a = c->in;
    memcpy(a->host, c->bytes, a->bytes);
    if (a->shadow) {
        add_bits(a->shadow, c->bytes + a->bytes, shadow_bytes(a));
    }
    c->version = ++a->version;
}
