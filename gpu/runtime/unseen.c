#include "gpu/runtime/unseen.h"

#include "base/find.h"
#include "base/mem.h"
#include "gpu/device/steady.h"
#include "gpu/runtime/launch_record.h"
#include "gpu/runtime/order.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/reuse.h"
#include "gpu/runtime/runtime.h"

#define KINDS_MAX 32
#define LAUNCHES_MAX (1u << 16)
#define HELD_MAX 64

static struct {
    struct kept { /* equal launches */
        const struct kernel *kernel;
        struct launch_shape shape;
        void *params;  /* owned */
        struct op *op; /* owned */
        struct repeats_use uses[REPEATS_USES];
        unsigned count;
        unsigned kinds; /* there were so many when it was found to be steady; 0: never */
    } kinds[KINDS_MAX];
    unsigned kind_count;
    uint8_t *order; /* of the launches: their kinds */
    uint32_t count, room;
    int (*perform)(struct op *);
    struct allocation *held[HELD_MAX]; /* freed by the program */
    unsigned held_count;               /* atomic */
    bool settles;
} unseen;

static bool is_used(const struct allocation *a, bool only_written) {
    bool any = false;
    for (unsigned k = 0; k < unseen.kind_count && !any; k++) {
        const struct kept *kind = &unseen.kinds[k];
        any = any_of(n, 0, kind->count,
                     kind->uses[n].in == a && (kind->uses[n].written || !only_written));
    }
    return any;
}

/* ---- what can be kept back ---- */

/* The parameters that point into an allocation. */
static uint64_t params_to(const struct launch_words *l, const struct allocation *a) {
    const struct ptx_function *f = l->kernel->entry;
    uint64_t bits = 0;
    for (uint32_t n = 0; n < f->param_count && n < STEADY_PARAMS; n++) {
        const struct ptx_variable *v = &l->kernel->module->ptx->variables[f->params[n]];
        for (uint64_t at = 0; at + 8 <= v->size; at += 8) {
            uint64_t word;
            memcpy(&word, (const uint8_t *)l->params + v->offset + at, sizeof word);
            bits |= word - a->address <= a->bytes ? UINT64_C(1) << n : 0;
        }
    }
    return bits;
}

/* What it reads is not what it was when an equal launch was executed. */
static bool has_changed(const struct repeats_use *u) {
    return u->written || u->version != u->in->version || is_used(u->in, true);
}

/* Sets the parameters that lead to changed memory. */
static bool is_followed(const struct launch_words *l, const struct kept *kind,
                        uint64_t *ret_changed) {
    *ret_changed = 0;
    for (unsigned n = 0; n < kind->count; n++) {
        const struct repeats_use *u = &kind->uses[n];
        if (u->in->freed || u->in->kind != MEMORY_BUFFER) {
            return false;
        }
        if (u->read && has_changed(u)) {
            uint64_t bits = params_to(l, u->in);
            if (!bits) {
                return false;
            }
            *ret_changed |= bits;
        }
    }
    return true;
}

static bool is_steady(const struct launch_words *l, struct kept *kind) {
    uint64_t changed;
    bool freed = any_of(n, 0, kind->count, kind->uses[n].in->freed);
    bool known = kind->kinds && kind->kinds == unseen.kind_count && !freed;
    bool steady = known || (is_followed(l, kind, &changed) &&
                            kernel_is_steady(l->kernel, changed));
    kind->kinds = steady ? unseen.kind_count : 0;
    return steady;
}

static bool is_kind(const struct kept *k, const struct launch_words *l) {
    return k->kernel == l->kernel && memcmp(&k->shape, l->shape, sizeof k->shape) == 0 &&
           memcmp(k->params, l->params, l->kernel->entry->param_bytes) == 0;
}

/* NULL: it cannot be kept back. */
static struct kept *kind_of(const struct launch_words *l, struct op *op) {
    struct kept *kind =
        list_find(k, unseen.kinds, unseen.kind_count, is_kind(k, l));
    if (kind || unseen.kind_count == KINDS_MAX) {
        return kind && is_steady(l, kind) ? kind : NULL;
    }
    kind = &unseen.kinds[unseen.kind_count];
    *kind = (struct kept){.kernel = l->kernel, .shape = *l->shape};
    kind->count = repeats_uses(runtime.repeats, l, kind->uses);
    if (!kind->count || !is_steady(l, kind)) {
        return NULL;
    }
    kind->params = xmalloc(l->kernel->entry->param_bytes + 1);
    memcpy(kind->params, l->params, l->kernel->entry->param_bytes);
    kind->op = op->copy(op);
    kind->kinds = ++unseen.kind_count;
    return kind;
}

bool unseen_keep(const struct launch_words *l, struct op *op,
                 int (*perform)(struct op *)) {
    if (unseen.settles || runtime.runs_all || order_is_on() || launch_record_is_open() ||
        runtime.device.space.race || unseen.count == LAUNCHES_MAX) {
        return false;
    }
    const struct kept *kind = kind_of(l, op);
    if (kind) {
        list_room(unseen.order, unseen.count, unseen.room, 256);
        unseen.order[unseen.count++] = (uint8_t)(kind - unseen.kinds);
        unseen.perform = perform;
    }
    return kind != NULL;
}

/* ---- what becomes of it ---- */

static void held_release(void) {
    for (unsigned k = 0; k < unseen.held_count; k++) {
        unseen.held[k]->freed = false;
        (void)device_memory_free(&runtime.device, unseen.held[k]->address);
        reuse_freed(unseen.held[k]);
    }
    __atomic_store_n(&unseen.held_count, 0, __ATOMIC_RELEASE);
}

static void forget(void) {
    for (unsigned k = 0; k < unseen.kind_count; k++) {
        unseen.kinds[k].op->free(unseen.kinds[k].op);
        free(unseen.kinds[k].params);
    }
    unseen.kind_count = 0;
    unseen.count = 0;
    held_release();
}

void unseen_settle(void) {
    if (unseen.settles || !unseen.count) {
        return;
    }
    unseen.settles = true;
    for (unsigned k = 0; k < unseen.held_count; k++) {
        unseen.held[k]->freed = false;
    }
    int code = 0;
    for (uint32_t n = 0; n < unseen.count && !code; n++) {
        code = unseen.perform(unseen.kinds[unseen.order[n]].op);
    }
    if (code) {
        queue_fail(&runtime.device.queue, code);
    }
    forget();
    unseen.settles = false;
}

void unseen_use(const struct allocation *a, bool writes) {
    if (unseen.count && a && is_used(a, !writes)) {
        unseen_settle();
    }
}

void unseen_drop(void) {
    for (uint32_t n = 0; n < unseen.count; n++) {
        outcome_skipped(unseen.kinds[unseen.order[n]].kernel);
    }
    forget();
}

static bool is_all_freed(void) {
    bool all = true;
    for (unsigned k = 0; k < unseen.kind_count && all; k++) {
        const struct kept *kind = &unseen.kinds[k];
        all = !any_of(n, 0, kind->count,
                      kind->uses[n].written && !kind->uses[n].in->freed);
    }
    return all;
}

bool unseen_free(struct allocation *a) {
    if (unseen.count && is_used(a, false) && unseen.held_count == HELD_MAX) {
        unseen_settle();
    }
    if (!unseen.count || a->freed || !is_used(a, false)) {
        return false;
    }
    a->freed = true;
    unseen.held[unseen.held_count] = a;
    __atomic_store_n(&unseen.held_count, unseen.held_count + 1, __ATOMIC_RELEASE);
    if (is_all_freed()) {
        unseen_drop();
    }
    return true;
}

bool unseen_holds(void) {
    return __atomic_load_n(&unseen.held_count, __ATOMIC_ACQUIRE) != 0;
}
