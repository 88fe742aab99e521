#include "gpu/device/repeats.h"

#include "base/find.h"
#include "gpu/device/contents.h"
#include "gpu/ptx/state/findings.h"

#include <unistd.h>

#define PROVEN_MAX 256
#define TOUCHED_MAX REPEATS_USES /* allocations of one launch */
#define FILLS_MAX 16
/* Copying a byte costs as much as a lane-instruction, comparing it a quarter of that. An
 * eighth of the launches' work may be spent on finding repeats. */
#define COMPARED 4
#define LAUNCHED 4096 /* lane-instructions: the fixed cost of a launch */
#define SHARE 8
#define CONTENTS_MAX (UINT64_C(2) << 30)
#define CONTENTS_SHARE 16 /* of the machine's memory */
#define PROGRAM_SHARE 4   /* times the contents: device memory beside which they fit */

struct touched {
    struct allocation *in; /* its structure stays when it is freed */
    uint64_t version;      /* after the launch */
    bool read, written;
    struct content *before, *after; /* owned, or NULL; after: if written */
    struct memory_sample sample[2]; /* launch 0: none */
};

struct proven {
    const struct kernel *kernel;
    struct launch_shape shape;
    void *params;
    struct touched *touched;
    unsigned count;
    uint64_t *found; /* how often each of the first findings was found in it, or NULL */
    size_t found_count;
    uint64_t work; /* lane-instructions */
};

struct filled {
    const struct allocation *in;
    uint64_t version, offset, bytes;
    unsigned value;
};

/* Of equal launches. Another launch with the same place starts from zero. */
#define TALLIES 256
struct tally {
    uint64_t key;
    uint32_t runs, tries, known; /* tries: contents were saved; known: skipped */
};

struct repeats {
    struct tally tallies[TALLIES];
    uint64_t keys[PROVEN_MAX]; /* of items */
    struct proven items[PROVEN_MAX];
    unsigned count, oldest;
    struct filled fills[FILLS_MAX];
    unsigned oldest_fill;
    struct contents contents;
    struct content *before[TOUCHED_MAX]; /* owned: for the launch that runs */
    unsigned before_count;
    uint64_t *found; /* likewise, before it */
    uint64_t work, looked; /* lane-instructions: executed or skipped, spent here */
};

struct repeats *repeats_new(bool saves) {
    struct repeats *r = xcalloc(1, sizeof *r);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t share = (uint64_t)sysconf(_SC_PHYS_PAGES) * page / CONTENTS_SHARE;
    r->contents.limit = !saves ? 0 : share < CONTENTS_MAX ? share : CONTENTS_MAX;
    return r;
}

/* ---- executed launches ---- */

static uint64_t key_add(uint64_t key, const void *data, size_t len) {
    for (const uint8_t *at = data; len--; at++) {
        key = (key ^ *at) * UINT64_C(0x100000001b3);
    }
    return key;
}

static uint64_t key_of(const struct launch_words *l) {
    uint64_t key = (uintptr_t)l->kernel;
    key = key_add(key, l->shape->grid, sizeof l->shape->grid);
    return key_add(key, l->params, l->kernel->entry->param_bytes);
}

static bool same_shape(const struct launch_shape *a, const struct launch_shape *b) {
    return memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0 &&
           memcmp(a->cluster, b->cluster, sizeof a->cluster) == 0 &&
           a->shared_bytes == b->shared_bytes && a->cooperative == b->cooperative;
}

/* The next launch that is equal to l, from number n on. */
static struct proven *proven_next(struct repeats *r, unsigned n,
                                  const struct launch_words *l, uint64_t key) {
    for (; n < r->count; n++) {
        struct proven *p = &r->items[n];
        if (r->keys[n] == key && p->kernel == l->kernel &&
            same_shape(&p->shape, l->shape) &&
            memcmp(p->params, l->params, l->kernel->entry->param_bytes) == 0) {
            return p;
        }
    }
    return NULL;
}

static struct tally *tally_of(struct repeats *r, uint64_t key) {
    struct tally *t = &r->tallies[key % TALLIES];
    if (t->key != key) {
        *t = (struct tally){.key = key};
    }
    return t;
}

/* A loop that continues from its own results never meets the same content again, so it is
 * tried less and less often. A loop that starts again meets a saved content; from then on
 * all of its launches are saved. */
static bool is_worth_a_try(struct repeats *r, uint64_t key) {
    struct tally *t = tally_of(r, key);
    bool worth = t->known || t->tries < 3 || t->runs >> (t->tries < 31 ? t->tries : 31);
    t->runs++;
    t->tries += worth;
    return worth;
}

static unsigned behind(const struct repeats *r, const struct proven *p) {
    return (unsigned)(p - r->items) + 1;
}

static bool has_contents(const struct proven *p) {
    return any_of(n, 0, p->count, p->touched[n].before);
}

static void proven_clear(struct repeats *r, struct proven *p) {
    for (unsigned n = 0; n < p->count; n++) {
        content_release(&r->contents, p->touched[n].before);
        content_release(&r->contents, p->touched[n].after);
    }
    free(p->touched);
    free(p->params);
    free(p->found);
    *p = (struct proven){0};
}

/* ---- cost ---- */

static bool may_look(struct repeats *r, uint64_t cost) {
    bool may = r->looked + cost <= r->work / SHARE;
    r->looked += may ? cost : 0;
    return may;
}

/* NULL if it does not fit even when all others are gone. */
static struct content *content_now(struct repeats *r, struct allocation *a) {
    if (!may_look(r, content_bytes(a))) {
        return NULL;
    }
    struct content *c = content_new(&r->contents, a);
    bool fits = content_bytes(a) <= r->contents.limit;
    for (unsigned n = 0; fits && !c && n < r->count; n++) {
        struct proven *p = &r->items[(r->oldest + n) % r->count];
        if (has_contents(p)) {
            proven_clear(r, p);
            c = content_new(&r->contents, a);
        }
    }
    return c;
}

/* ---- whether the outcome of a launch is known ---- */

static bool is_there(struct content *c, bool look) {
    return c && content_is_there(c, look);
}

static bool stands(const struct touched *t, bool look) {
    bool known = !t->in->freed && t->in->version == t->version;
    if (t->read && t->written) {
        return t->after && is_there(t->before, look);
    }
    if (!t->written) {
        return known || is_there(t->before, look);
    }
    return known || is_there(t->after, look) || (t->after && is_there(t->before, look));
}

/* The cost of comparing, and of restoring what differs. */
static uint64_t cost_of(const struct proven *p) {
    uint64_t cost = 0;
    list_each(n, t, p->touched, p->count) {
        bool open = t->before && !t->in->freed && t->in->version != t->version;
        uint64_t bytes = open ? content_bytes(t->in) : 0;
        cost += bytes / COMPARED + (t->written ? bytes : 0);
    }
    return cost;
}

static bool proven_stands(struct repeats *r, const struct proven *p) {
    uint64_t cost = cost_of(p), compared = r->contents.compared;
    bool look = cost < p->work / 2 && r->looked + cost <= r->work / SHARE;
    unsigned standing = 0;
    while (standing < p->count && stands(&p->touched[standing], look)) {
        standing++;
    }
    bool all = standing == p->count; /* then it cost less than the launch */
    r->looked += all ? 0 : (r->contents.compared - compared) / COMPARED;
    return all;
}

/* As if it had been executed. */
static void touch_again(struct touched *t, uint32_t launch) {
    if (t->written && t->in->version != t->version && !is_there(t->after, false)) {
        content_restore(t->after);
    }
    t->version = t->in->version;
    for (unsigned k = 0; k < 2; k++) {
        if (t->sample[k].launch) {
            t->in->sample[k] =
                (struct memory_sample){.launch = launch, .offset = t->sample[k].offset};
        }
    }
}

bool repeats_launch(struct repeats *r, const struct launch_words *l) {
    uint64_t key = key_of(l);
    struct proven *p = proven_next(r, 0, l, key);
    while (p && !proven_stands(r, p)) {
        p = proven_next(r, behind(r, p), l, key);
    }
    if (p) {
        struct device *d = l->kernel->module->device;
        uint32_t launch = ++d->memory.launch;
        findings_count_again(d->space.findings, p->found, p->found_count);
        for (unsigned n = 0; n < p->count; n++) {
            touch_again(&p->touched[n], launch);
        }
        r->work += p->work;
        tally_of(r, key)->known++;
    }
    return p != NULL;
}

/* ---- launches that are executed ---- */

/* An equal launch was executed, and something else changes what it uses. If this is the
 * second in a loop, the third will start from the same content. Undefined values are
 * recorded by address (origins.h), so nothing is restored while there are any. */
static void keep_before(struct repeats *r, const struct launch_words *l) {
    uint64_t key = key_of(l);
    const struct proven *p = proven_next(r, 0, l, key);
    const struct memory *m = &l->kernel->module->device->memory;
    bool room = m->used <= PROGRAM_SHARE * r->contents.limit;
    bool fine = p && room && !m->origins && is_worth_a_try(r, key);
    for (unsigned n = 0; fine && n < p->count; n++) {
        struct touched *t = &p->touched[n];
        bool changes = (t->read && t->written) || t->in->version != t->version;
        if (!t->in->freed && changes) {
            struct content *c = content_now(r, t->in);
            fine = c != NULL;
            r->before[r->before_count] = c;
            r->before_count += c != NULL;
        }
    }
}

static struct repeats_before repeats_state(const struct launch_words *l) {
    const struct machine *machine = l->kernel->module->machine;
    const struct device *d = l->kernel->module->device;
    return (struct repeats_before){.told = findings_told(d->space.findings),
                                   .next = d->memory.next,
                                   .heap = d->memory.heap,
                                   .printed = strlen(machine_printf(machine)),
                                   .kept = findings_kept(d->space.findings),
                                   .spent = machine_spent(machine)};
}

struct repeats_before repeats_begin(struct repeats *r, const struct launch_words *l) {
    keep_before(r, l);
    r->found = findings_counts(l->kernel->module->device->space.findings);
    return repeats_state(l);
}

/* The launch did nothing but read and write device memory, and found nothing new. */
static bool did_no_more(const struct repeats_before *b,
                        const struct repeats_before *now) {
    return now->kept == b->kept && now->next == b->next && now->heap == b->heap &&
           now->printed == b->printed;
}

/* What the launch found, of what had been found before it: so often in all. */
static uint64_t found_since(const struct repeats *r, const struct findings *f,
                            struct proven *p) {
    uint64_t all = 0;
    p->found = findings_counts(f);
    p->found_count = findings_kept(f);
    for (size_t k = 0; k < p->found_count; k++) {
        p->found[k] -= r->found[k];
        all += p->found[k];
    }
    return all;
}

static struct content *before_of(const struct repeats *r, const struct allocation *a) {
    unsigned at = first_of(n, 0, r->before_count, content_is_of(r->before[n], a));
    return at < r->before_count ? content_again(r->before[at]) : NULL;
}

static struct touched touched_now(struct repeats *r, const struct device *d,
                                  struct allocation *a) {
    uint32_t launch = d->memory.launch;
    struct touched t = {.in = a,
                        .version = a->version,
                        .read = a->read_in == launch,
                        .written = a->written_in == launch,
                        .before = before_of(r, a)};
    if (t.before && t.written) {
        t.after = d->memory.origins                  ? NULL
                  : content_is_there(t.before, true) ? content_again(t.before)
                                                     : content_now(r, a);
    }
    for (unsigned k = 0; k < 2; k++) {
        t.sample[k] =
            a->sample[k].launch == launch ? a->sample[k] : (struct memory_sample){0};
    }
    return t;
}

/* The allocations that the launch used, with their versions after it. false if it cannot
 * be skipped. */
static bool touched_list(struct repeats *r, struct device *d, struct proven *p) {
    struct allocation *touched[TOUCHED_MAX];
    bool fine = true;
    for (uint32_t n = 0; n < d->memory.count; n++) {
        struct allocation *a = d->memory.table[n];
        bool written = a->written_in == d->memory.launch;
        if (written || a->read_in == d->memory.launch) {
            a->version += written;
            fine = fine && !device_is_mapped(d, a) && !(a->flags & DEVICE_DOUBLE) &&
                   !a->freed && p->count < TOUCHED_MAX;
            if (fine) {
                touched[p->count++] = a;
            }
        }
    }
    p->count = fine ? p->count : 0;
    p->touched = xcalloc(p->count + 1u, sizeof *p->touched);
    for (unsigned n = 0; n < p->count; n++) {
        p->touched[n] = touched_now(r, d, touched[n]);
    }
    return fine;
}

/* Replaces an equal launch without saved contents. */
static struct proven *proven_room(struct repeats *r, const struct launch_words *l,
                                  uint64_t key) {
    struct proven *p = proven_next(r, 0, l, key);
    while (p && has_contents(p)) {
        p = proven_next(r, behind(r, p), l, key);
    }
    if (!p) {
        p = &r->items[r->count < PROVEN_MAX ? r->count++ : r->oldest++ % PROVEN_MAX];
    }
    proven_clear(r, p);
    r->keys[p - r->items] = key;
    return p;
}

void repeats_end(struct repeats *r, const struct launch_words *l,
                 const struct repeats_before *before, enum machine_end end) {
    struct repeats_before now = repeats_state(l);
    struct proven p = {.kernel = l->kernel, .shape = *l->shape};
    p.work = now.spent - before->spent + LAUNCHED;
    r->work += p.work;
    const struct findings *f = l->kernel->module->device->space.findings;
    bool fine = touched_list(r, l->kernel->module->device, &p);
    fine = fine && end == MACHINE_DONE && did_no_more(before, &now);
    if (fine && now.told != before->told) {
        fine = found_since(r, f, &p) == now.told - before->told;
    }
    if (fine) {
        p.params = xmalloc(l->kernel->entry->param_bytes + 1);
        memcpy(p.params, l->params, l->kernel->entry->param_bytes);
        *proven_room(r, l, key_of(l)) = p;
    } else {
        proven_clear(r, &p);
    }
    while (r->before_count > 0) {
        content_release(&r->contents, r->before[--r->before_count]);
    }
    free(r->found);
    r->found = NULL;
}

unsigned repeats_uses(struct repeats *r, const struct launch_words *l,
                      struct repeats_use ret[REPEATS_USES]) {
    const struct proven *p = proven_next(r, 0, l, key_of(l));
    bool open = p && p->found_count == 0 && !l->kernel->module->device->memory.origins;
    unsigned count = open ? p->count : 0;
    for (unsigned n = 0; n < count; n++) {
        const struct touched *t = &p->touched[n];
        ret[n] = (struct repeats_use){t->in, t->version, t->read, t->written};
    }
    return count;
}

/* ---- fills ---- */

bool repeats_fill(struct repeats *r, struct allocation *in, uint64_t offset,
                  uint64_t bytes, unsigned value) {
    list_each(n, f, r->fills, FILLS_MAX) {
        if (f->in == in && f->version == in->version && f->offset == offset &&
            f->bytes == bytes && f->value == value) {
            return true;
        }
    }
    in->version++;
    r->fills[r->oldest_fill++ % FILLS_MAX] =
        (struct filled){in, in->version, offset, bytes, value};
    return false;
}
