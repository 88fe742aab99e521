#include "gpu/runtime/unseen.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/device/steady.h"
#include "gpu/runtime/launch_record.h"
#include "gpu/runtime/order.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/rehearsal.h"
#include "gpu/runtime/reuse.h"
#include "gpu/runtime/runtime.h"

#define KINDS_MAX 128
#define ENTRIES_MAX (1u << 16)
#define HELD_MAX 64
#define REHEARSED_FROM 8 /* operations that wait */

/* An allocation that the program has freed and got again. */
struct renewal {
    struct op op;
    struct allocation *in;
};

static struct {
    struct kept { /* equal operations */
        int (*perform)(struct op *);
        void *words; /* owned: they differ between operations that differ */
        size_t words_bytes;
        struct op *op;               /* owned */
        const struct kernel *kernel; /* of a launch, or NULL */
        struct repeats_use uses[REPEATS_USES];
        unsigned count;
        unsigned kinds; /* there were so many when it was found to be steady; 0: never */
        bool rehearsed; /* the first one was executed */
    } kinds[KINDS_MAX];
    unsigned kind_count;
    uint8_t *order; /* of the operations: their kinds */
    uint32_t count, room;
    struct allocation *held[HELD_MAX]; /* freed by the program */
    unsigned held_count;               /* atomic */
    struct allocation *fresh[HELD_MAX]; /* renewed, and not filled since then */
    unsigned fresh_count;
    bool settles;
} unseen;

static unsigned place_in(struct allocation *const *list, unsigned count,
                         const struct allocation *a) {
    return first_of(n, 0, count, list[n] == a);
}

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

/* What it reads is not what it was when an equal launch was executed. */
static bool has_changed(const struct repeats_use *u) {
    return u->written || u->version != u->in->version || is_used(u->in, true);
}

/* Sets the parameters that lead to changed memory. */
static bool is_followed(const struct launch_words *l, const struct kept *kind,
                        uint64_t *ret_changed) {
    *ret_changed = 0;
    list_each(n, u, kind->uses, kind->count) {
        if (u->in->freed || u->in->kind != MEMORY_BUFFER) {
            return false;
        }
        if (u->read && has_changed(u)) {
            uint64_t bits = rehearsal_params(l, u->in);
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

/* The kind of an operation with these words, new if there is none; NULL: no room. */
static struct kept *kind_of(int (*perform)(struct op *), const void *words,
                            size_t bytes) {
    list_each(n, k, unseen.kinds, unseen.kind_count) {
        if (k->perform == perform && k->words_bytes == bytes &&
            memcmp(k->words, words, bytes) == 0) {
            return k;
        }
    }
    if (unseen.kind_count == KINDS_MAX) {
        return NULL;
    }
    struct kept *kind = &unseen.kinds[unseen.kind_count];
    *kind = (struct kept){.perform = perform, .words_bytes = bytes};
    kind->words = xmalloc(bytes);
    memcpy(kind->words, words, bytes);
    return kind;
}

static bool is_new(const struct kept *kind) {
    return kind == &unseen.kinds[unseen.kind_count];
}

static void kind_forget(struct kept *kind) {
    free(kind->words);
    *kind = (struct kept){0};
}

static bool entry_add(struct kept *kind, struct op *op) {
    if (is_new(kind)) {
        kind->op = op->copy(op);
        kind->op->moment = NULL; /* it is gone when the operation is executed */
        unseen.kind_count++;
    }
    list_room(unseen.order, unseen.count, unseen.room, 256);
    unseen.order[unseen.count++] = (uint8_t)(kind - unseen.kinds);
    return true;
}

/* It reads memory that the program has got again and not filled. */
static bool reads_fresh(const struct kept *kind) {
    return any_of(n, 0, kind->count,
                  kind->uses[n].read &&
                      place_in(unseen.fresh, unseen.fresh_count, kind->uses[n].in) <
                          unseen.fresh_count);
}

static struct kept *kind_of_launch(const struct launch_words *l,
                                   int (*perform)(struct op *)) {
    size_t bytes = l->kernel->entry->param_bytes;
    autobuf words = BUF_INIT(sizeof *l + sizeof *l->shape + bytes);
    (void)buf_add(&words, &l->kernel, sizeof l->kernel);
    (void)buf_add(&words, l->shape, sizeof *l->shape);
    (void)buf_add(&words, l->params, bytes);
    struct kept *kind = kind_of(perform, words.data, words.len);
    if (kind && is_new(kind)) {
        kind->kernel = l->kernel;
        kind->count = repeats_uses(runtime.repeats, l, kind->uses);
    }
    bool fine = kind && kind->count && !reads_fresh(kind) && is_steady(l, kind);
    if (kind && is_new(kind) && !fine) {
        kind_forget(kind);
    }
    return fine ? kind : NULL;
}

static bool may_keep(void) {
    return !unseen.settles && !runtime.runs_all && !order_is_on() &&
           !launch_record_is_open() && !runtime.device.space.race &&
           unseen.count < ENTRIES_MAX;
}

static void held_mark(bool freed) {
    for (unsigned k = 0; k < unseen.held_count; k++) {
        unseen.held[k]->freed = freed;
    }
}

static bool points_to_one(const struct launch_words *l, struct allocation *const *list,
                          unsigned count) {
    return any_of(n, 0, count, rehearsal_params(l, list[n]) != 0);
}

/* Instead of executing all that waits, for the first launch of a kind. The end of a
 * launch takes the bytes of freed memory. */
static bool rehearse_it(const struct launch_words *l, struct op *op,
                        int (*perform)(struct op *)) {
    struct repeats_use uses[REPEATS_USES];
    if (unseen.count < REHEARSED_FROM || repeats_uses(runtime.repeats, l, uses) ||
        points_to_one(l, unseen.fresh, unseen.fresh_count) ||
        points_to_one(l, unseen.held, unseen.held_count)) {
        return false;
    }
    held_mark(false);
    bool rehearsed = rehearse(l, op, perform);
    held_mark(true);
    return rehearsed;
}

bool unseen_keep(const struct launch_words *l, struct op *op,
                 int (*perform)(struct op *)) {
    bool may = may_keep();
    struct kept *kind = may ? kind_of_launch(l, perform) : NULL;
    if (may && !kind && rehearse_it(l, op, perform)) {
        kind = kind_of_launch(l, perform);
        if (kind) {
            kind->rehearsed = true;
        }
    }
    return kind && entry_add(kind, op);
}

/* An operation that writes to an allocation of which launches wait. */
static bool write_keep(struct allocation *in, const void *words, size_t bytes,
                       struct op *op, int (*perform)(struct op *)) {
    bool may = may_keep() && unseen.count && is_used(in, false);
    struct kept *kind = may ? kind_of(perform, words, bytes) : NULL;
    if (kind) {
        kind->uses[0] = (struct repeats_use){.in = in, .written = true};
        kind->count = 1;
        in->version++;
        return entry_add(kind, op);
    }
    return false;
}

bool unseen_keep_fill(const struct fill_words *f, struct op *op,
                      int (*perform)(struct op *)) {
    bool kept = write_keep(f->in, f, sizeof *f, op, perform);
    unsigned at = place_in(unseen.fresh, unseen.fresh_count, f->in);
    if (kept && at < unseen.fresh_count && f->bytes == f->in->bytes) {
        unseen.fresh[at] = unseen.fresh[--unseen.fresh_count];
    }
    return kept;
}

static int renewal_run(struct op *op) {
    struct allocation *a = container_of(op, struct renewal, op)->in;
    bool done = device_memory_free(&runtime.device, a->address) == 0 &&
                memory_renew(&runtime.device.memory, a) == 0;
    return done ? CUDART_SUCCESS : CUDART_OUT_OF_MEMORY;
}

static struct op *renewal_copy(struct op *op) {
    struct renewal *r = xmalloc(sizeof *r);
    *r = *container_of(op, struct renewal, op);
    return &r->op;
}

static void renewal_free(struct op *op) {
    free(container_of(op, struct renewal, op));
}

bool unseen_renew(struct allocation *a) {
    unsigned at = place_in(unseen.held, unseen.held_count, a);
    struct renewal r = {{.free = renewal_free, .copy = renewal_copy}, a};
    if (at == unseen.held_count) {
        return false;
    }
    if (unseen.fresh_count == HELD_MAX ||
        !write_keep(a, &a, sizeof a, &r.op, renewal_run)) {
        unseen_settle();
        return false;
    }
    a->freed = false;
    unseen.held[at] = unseen.held[unseen.held_count - 1];
    __atomic_store_n(&unseen.held_count, unseen.held_count - 1, __ATOMIC_RELEASE);
    if (place_in(unseen.fresh, unseen.fresh_count, a) == unseen.fresh_count) {
        unseen.fresh[unseen.fresh_count++] = a;
    }
    return true;
}

/* ---- what becomes of it ---- */

static void held_release(void) {
    held_mark(false);
    for (unsigned k = 0; k < unseen.held_count; k++) {
        (void)device_memory_free(&runtime.device, unseen.held[k]->address);
    }
    __atomic_store_n(&unseen.held_count, 0, __ATOMIC_RELEASE);
}

static void forget(void) {
    for (unsigned k = 0; k < unseen.kind_count; k++) {
        unseen.kinds[k].op->free(unseen.kinds[k].op);
        kind_forget(&unseen.kinds[k]);
    }
    unseen.kind_count = unseen.fresh_count = 0;
    unseen.count = 0;
    held_release();
}

void unseen_settle(void) {
    if (unseen.settles || !unseen.count) {
        return;
    }
    unseen.settles = true;
    held_mark(false);
    int code = 0;
    for (uint32_t n = 0; n < unseen.count && !code; n++) {
        const struct kept *kind = &unseen.kinds[unseen.order[n]];
        code = kind->perform(kind->op);
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
        struct kept *kind = &unseen.kinds[unseen.order[n]];
        if (kind->perform != renewal_run && !kind->rehearsed) {
            outcome_skipped(kind->kernel);
        }
        kind->rehearsed = false;
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
    reuse_freed(a);
    if (is_all_freed()) {
        unseen_drop();
    }
    return true;
}

bool unseen_holds(void) {
    return __atomic_load_n(&unseen.held_count, __ATOMIC_ACQUIRE) != 0;
}
