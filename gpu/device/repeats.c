#include "gpu/device/repeats.h"

#include "base/mem.h"
#include "gpu/ptx/state/findings.h"

#include <string.h>

#define PROVEN_MAX 64
#define TOUCHED_MAX 64 /* allocations of one launch; more are not followed */
#define FILLS_MAX 16

struct touched {
    struct allocation *in;
    uint64_t address, version;
    struct memory_sample sample[2]; /* launch 0: there is none */
};

struct proven {
    const struct kernel *kernel;
    struct launch_shape shape;
    void *params;
    struct touched touched[TOUCHED_MAX];
    unsigned count;
};

struct filled {
    const struct allocation *in;
    uint64_t address, version, offset, bytes;
    unsigned value;
};

struct repeats {
    struct proven items[PROVEN_MAX];
    unsigned count, oldest;
    struct filled fills[FILLS_MAX];
    unsigned oldest_fill;
};

struct repeats *repeats_new(void) {
    return xcalloc(1, sizeof(struct repeats));
}

/* ---- launches ---- */

static bool same_shape(const struct launch_shape *a, const struct launch_shape *b) {
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 &&
           a->shared_bytes == b->shared_bytes && a->cooperative == b->cooperative;
}

static struct proven *proven_find(struct repeats *r, const struct kernel *k,
                                  const struct launch_shape *shape, const void *params) {
    for (unsigned n = 0; n < r->count; n++) {
        struct proven *p = &r->items[n];
        if (p->kernel == k && same_shape(&p->shape, shape) &&
            memcmp(p->params, params, k->entry->param_bytes) == 0) {
            return p;
        }
    }
    return NULL;
}

/* Allocations of a table of the device are forgotten only when it is compacted; addresses
 * are never used twice. */
static bool stands(const struct touched *t) {
    return t->in->address == t->address && !t->in->freed && t->in->version == t->version;
}

/* As if it had been carried out. */
static void touch_again(const struct proven *p, uint32_t launch) {
    for (unsigned n = 0; n < p->count; n++) {
        for (unsigned k = 0; k < 2; k++) {
            const struct memory_sample *s = &p->touched[n].sample[k];
            if (s->launch) {
                p->touched[n].in->sample[k] =
                    (struct memory_sample){.launch = launch, .offset = s->offset};
            }
        }
    }
}

bool repeats_launch(struct repeats *r, const struct kernel *k,
                    const struct launch_shape *shape, const void *params) {
    const struct proven *p = proven_find(r, k, shape, params);
    for (unsigned n = 0; p && n < p->count; n++) {
        if (!stands(&p->touched[n])) {
            return false;
        }
    }
    if (p) {
        touch_again(p, ++k->module->device->memory.launch);
    }
    return p != NULL;
}

struct repeats_before repeats_begin(const struct kernel *k) {
    const struct device *d = k->module->device;
    return (struct repeats_before){.told = findings_told(d->space.findings),
                                   .next = d->memory.next,
                                   .heap = d->memory.heap,
                                   .printed = strlen(machine_printf(k->module->machine))};
}

/* Nothing but reading and writing memory of the device. */
static bool did_no_more(const struct repeats_before *b, enum machine_end end,
                        const struct kernel *k) {
    const struct repeats_before now = repeats_begin(k);
    return end == MACHINE_DONE && now.told == b->told && now.next == b->next &&
           now.heap == b->heap && now.printed == b->printed;
}

/* What the launch touched, with the versions behind it; false: it may not be followed. */
static bool touched_list(struct device *d, struct proven *p) {
    bool fine = true;
    for (uint32_t n = 0; n < d->memory.count; n++) {
        struct allocation *a = d->memory.table[n];
        bool read = a->read_in == d->memory.launch;
        bool written = a->written_in == d->memory.launch;
        if (!read && !written) {
            continue;
        }
        a->version += written;
        fine = fine && !(read && written) && !device_is_mapped(d, a) && !a->freed &&
               p->count < TOUCHED_MAX;
        if (fine) {
            struct touched *t = &p->touched[p->count++];
            *t = (struct touched){.in = a, .address = a->address, .version = a->version};
            for (unsigned k = 0; k < 2; k++) {
                bool is = a->sample[k].launch == d->memory.launch;
                t->sample[k] = is ? a->sample[k] : (struct memory_sample){0};
            }
        }
    }
    return fine;
}

void repeats_end(struct repeats *r, const struct repeats_before *before,
                 enum machine_end end, const struct kernel *k,
                 const struct launch_shape *shape, const void *params) {
    struct proven p = {.kernel = k, .shape = *shape};
    bool fine = touched_list(k->module->device, &p);
    struct proven *at = proven_find(r, k, shape, params);
    if (!fine || !did_no_more(before, end, k)) {
        if (at) {
            at->kernel = NULL;
        }
        return;
    }
    if (!at) {
        at = &r->items[r->count < PROVEN_MAX ? r->count++ : r->oldest++ % PROVEN_MAX];
    }
    free(at->params);
    p.params = xmalloc(k->entry->param_bytes + 1);
    memcpy(p.params, params, k->entry->param_bytes);
    *at = p;
}

/* ---- fills ---- */

bool repeats_fill(struct repeats *r, struct allocation *in, uint64_t offset,
                  uint64_t bytes, unsigned value) {
    for (unsigned n = 0; n < FILLS_MAX; n++) {
        const struct filled *f = &r->fills[n];
        if (f->in == in && f->address == in->address && f->version == in->version &&
            f->offset == offset && f->bytes == bytes && f->value == value) {
            return true;
        }
    }
    in->version++;
    r->fills[r->oldest_fill++ % FILLS_MAX] =
        (struct filled){in, in->address, in->version, offset, bytes, value};
    return false;
}
