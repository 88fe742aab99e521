#include "gpu/runtime/rehearsal.h"

#include "gpu/device/steady.h"
#include "gpu/ptx/state/findings.h"
#include "gpu/runtime/runtime.h"

#define SAVED_MAX (UINT64_C(2) << 30)

struct saved {
    struct allocation *in;
    uint8_t *bytes, *shadow; /* owned; shadow: NULL if it has none */
};

struct stage {
    struct saved saved[REPEATS_USES];
    unsigned count;
    uint64_t bytes;
};

/* ---- what a launch may touch ---- */

static bool param_points(const struct launch_words *l, uint32_t n,
                         const struct allocation *a) {
    const struct ptx_function *f = l->kernel->entry;
    const struct ptx_variable *v = &l->kernel->module->ptx->variables[f->params[n]];
    for (uint64_t at = 0; at + 8 <= v->size; at += 8) {
        uint64_t word;
        memcpy(&word, (const uint8_t *)l->params + v->offset + at, sizeof word);
        if (word - a->address <= a->bytes) {
            return true;
        }
    }
    return false;
}

uint64_t rehearsal_params(const struct launch_words *l, const struct allocation *a) {
    const struct ptx_function *f = l->kernel->entry;
    uint64_t bits = 0;
    for (uint32_t n = 0; n < f->param_count && n < STEADY_PARAMS; n++) {
        bits |= param_points(l, n, a) ? UINT64_C(1) << n : 0;
    }
    return bits;
}

static bool is_initialised(const struct allocation *a) {
    uint64_t words = a->shadow ? (a->bytes + 3) / 4 : 0, k = 0;
    uint8_t all = 0x0f;
    for (; k + 1 < words; k++) {
        all &= a->shadow[k];
    }
    uint8_t last = (uint8_t)((1u << ((a->bytes - 1) % 4 + 1)) - 1);
    return all == 0x0f && (!words || (a->shadow[k] & last) == last);
}

/* Nothing that it reads can be told as not written, whatever waits. */
static bool may_touch(const struct allocation *a) {
    return !a->freed && a->kind == MEMORY_BUFFER && a->writable &&
           !device_is_mapped(&runtime.device, a) && is_initialised(a);
}

/* ---- saving and restoring ---- */

static bool save(struct stage *s, struct allocation *a) {
    uint64_t words = a->shadow ? (a->bytes + 3) / 4 : 0;
    if (s->count == REPEATS_USES || a->bytes + words > SAVED_MAX - s->bytes) {
        return false;
    }
    struct saved *x = &s->saved[s->count++];
    *x = (struct saved){a, malloc(a->bytes), words ? malloc(words) : NULL};
    s->bytes += a->bytes + words;
    if (!x->bytes || (words && !x->shadow)) {
        return false;
    }
    memcpy(x->bytes, a->host, a->bytes);
    if (words) {
        memcpy(x->shadow, a->shadow, words);
    }
    return true;
}

static void restore(struct stage *s) {
    for (unsigned k = 0; k < s->count; k++) {
        struct saved *x = &s->saved[k];
        memcpy(x->in->host, x->bytes, x->in->bytes);
        if (x->shadow) {
            memcpy(x->in->shadow, x->shadow, (x->in->bytes + 3) / 4);
        }
        x->in->version++;
    }
}

static void stage_free(struct stage *s) {
    for (unsigned k = 0; k < s->count; k++) {
        free(s->saved[k].bytes);
        free(s->saved[k].shadow);
    }
}

/* Saves what the launch writes. false: it might do more than that, or there is no room.
 */
static bool stage_set(struct stage *s, const struct launch_words *l) {
    const struct memory *m = &runtime.device.memory;
    uint64_t stores;
    bool fine = kernel_is_plain(l->kernel, &stores);
    for (uint32_t n = 0; n < m->count && fine; n++) {
        uint64_t bits = rehearsal_params(l, m->table[n]);
        fine = !bits || (may_touch(m->table[n]) &&
                         (!(bits & stores) || save(s, m->table[n])));
    }
    return fine;
}

bool rehearse(const struct launch_words *l, struct op *op, int (*perform)(struct op *)) {
    struct stage s = {.count = 0};
    const struct findings *found = runtime.device.space.findings;
    uint64_t told = findings_told(found);
    bool fine = stage_set(&s, l);
    if (fine) {
        fine = perform(op) == 0 && findings_told(found) == told;
        restore(&s);
    }
    stage_free(&s);
    return fine;
}
