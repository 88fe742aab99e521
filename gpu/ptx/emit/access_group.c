#include "gpu/ptx/emit/access_group.h"

#include "base/mem.h"

struct half half_of(const struct shape *x, unsigned k) {
    struct half h = {.deltas = x->deltas + 16 * k, .low = INT32_MAX};
    int32_t high = INT32_MIN;
    h.equal = h.rising = true;
    for (int32_t l = 0; l < 16; l++) {
        int32_t d = h.deltas[l];
        h.low = d < h.low ? d : h.low;
        high = d > high ? d : high;
        h.equal = h.equal && d == h.deltas[0];
        h.rising = h.rising && d == h.deltas[0] + 4 * l;
    }
    h.span = high - h.low + 4;
    return h;
}

static void extremes(const struct shape *x, int64_t *low, int64_t *high) {
    *low = *high = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        *low = x->deltas[l] < *low ? x->deltas[l] : *low;
        *high = x->deltas[l] > *high ? x->deltas[l] : *high;
    }
}

/* Elements of more than one that lie far apart are taken apart sooner by the handler. */
static bool fits(const struct shape *x, const struct access *a, int64_t offset) {
    int32_t size = (int32_t)bytes_of(a);
    bool fine = x->first % (uint64_t)size == 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        fine = fine && x->deltas[l] % size == 0;
    }
    for (unsigned k = 0; k < 2 && a->count > 1; k++) {
        fine = fine && half_of(x, k).span <= 128;
    }
    return x->is_known && fine && offset % size == 0 && offset > -NEAR && offset < NEAR;
}

static struct access_group *group_find(struct emit_unit *u, uint32_t first, uint32_t base,
                                       uint32_t version, bool shared, uint64_t address) {
    for (uint32_t k = first; k < u->group_count; k++) {
        struct access_group *g = &u->groups[k];
        bool here = shared ? address >= g->extent.low && address < g->extent.high
                           : g->in && address - g->in->address < g->in->bytes;
        if (g->base == base && g->version == version && g->shared == shared && here) {
            return g;
        }
    }
    return NULL;
}

static struct access_group *group_new(struct emit_unit *u, const struct shape *x,
                                      uint32_t base, uint32_t version, bool shared) {
    struct access_group g = {.base = base,
                             .version = version,
                             .shared = shared,
                             .shape = x,
                             .low = INT64_MAX,
                             .high = INT64_MIN};
    if (shared && !shared_extent_find(u->processor->run, x->first, 4, &g.extent)) {
        return NULL;
    }
    g.in = shared ? NULL : memory_find(u->processor->run->memory, x->first);
    if (!shared && !g.in) {
        return NULL;
    }
    u->groups = xreallocarray(u->groups, u->group_count + 1, sizeof g);
    u->groups[u->group_count] = g;
    return &u->groups[u->group_count++];
}

static void group_add(struct access_group *g, const struct shape *x, int64_t offset,
                      const struct access *a) {
    int64_t low, high;
    uint32_t size = bytes_of(a);
    extremes(x, &low, &high);
    g->align = size > g->align ? size : g->align;
    g->low = offset + low < g->low ? offset + low : g->low;
    g->high = offset + high + size > g->high ? offset + high + size : g->high;
    g->stores |= a->is_store;
    g->loads |= !a->is_store;
}

/* Somebody else may have changed memory, or the lanes. */
static bool is_barrier(const struct emit_unit *u, uint32_t step) {
    const struct step *s = &u->steps[step];
    return u->natives[step].kind == NATIVE_CALL &&
           (s->guard >= 0 || u->code->lane_wise[s - u->code->steps] != STEP_ARITHMETIC);
}

static void plan_access(struct emit_unit *u, uint32_t step, uint32_t first,
                        const uint32_t *versions) {
    const struct step *s = &u->steps[step];
    const struct shape *x = &u->shapes[step];
    const struct access *a = access_of(u, step);
    bool shared = a->space == PTX_SHARED;
    uint32_t version = versions[s->src[0] / 64];
    struct access_group *g = group_find(u, first, s->src[0], version, shared, x->first);
    g = g ? g : group_new(u, x, s->src[0], version, shared);
    if (g) {
        group_add(g, x, s->offset, a);
        u->group_of[step] = (uint32_t)(g - u->groups) + 1;
    }
}

static void plan_groups(struct emit_unit *u) {
    uint32_t *versions = xcalloc(u->code->arena_bytes / 64 + 1, sizeof *versions);
    uint32_t first = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        first = is_barrier(u, k) ? u->group_count : first;
        if (u->natives[k].kind == NATIVE_ACCESS &&
            fits(&u->shapes[k], access_of(u, k), u->steps[k].offset)) {
            plan_access(u, k, first, versions);
        }
        const struct native *n = &u->natives[k]; /* what is loaded is no base: 4 bytes */
        bool writes = n->kind != NATIVE_ACCESS && (n->bytes || n->kind == NATIVE_CALL);
        if (writes && u->steps[k].dst != STEP_NO_REGISTER) {
            versions[u->steps[k].dst / 64]++;
        }
    }
    free(versions);
}

bool access_group_needs_words(const struct emit_unit *u, const struct access_group *g) {
    return g->loads && u->processor->run->check_initialized &&
           (g->shared || g->in->shadow);
}

/* Which words the group's check looks at. */
static void plan_words(struct emit_unit *u, struct access_group *g, uint32_t index) {
    uint64_t words = (uint64_t)(g->high - g->low) / 4;
    bool *stored = xcalloc(words, 1);
    g->words = xcalloc(words, 1);
    for (uint32_t k = 0; k < u->count; k++) {
        if (u->group_of[k] != index + 1) {
            continue;
        }
        bool store = access_of(u, k)->is_store;
        for (unsigned l = 0; l < WARP_LANES * access_of(u, k)->count; l++) {
            int64_t at = u->steps[k].offset + u->shapes[k].deltas[l % WARP_LANES] +
                         4 * (l / WARP_LANES) - g->low;
            bool *word = store ? &stored[at / 4] : &g->words[at / 4];
            *word = store || *word || !stored[at / 4];
        }
    }
    free(stored);
}

void unit_access_plan(struct emit_unit *u) {
    u->group_of = xcalloc(u->count + 1u, sizeof *u->group_of);
    plan_groups(u);
    for (uint32_t k = 0; k < u->group_count; k++) {
        struct access_group *g = &u->groups[k];
        if (access_group_needs_words(u, g) &&
            g->high - g->low <= 4 * WINDOW_WORDS * GROUP_WINDOWS) {
            plan_words(u, g, k);
        }
    }
}

void unit_access_finish(struct emit_unit *u) {
    for (uint32_t k = 0; k < u->group_count; k++) {
        free(u->groups[k].words);
    }
    free(u->groups);
    free(u->group_of);
}

/* What the allocation is does not change while a launch runs; that it is written to has
 * been looked at when the code was made. */
bool access_group_fits(const struct emit_unit *u, const struct access_group *g) {
    if (g->high - g->low >= NEAR || g->low <= -NEAR ||
        (access_group_needs_words(u, g) && !g->words)) {
        return false;
    }
    if (!g->shared) {
        return !g->in->freed && (!g->stores || g->in->writable) &&
               (uint64_t)(g->high - g->low) <= g->in->bytes;
    }
    return g->extent.high < NEAR &&
           (uint64_t)(g->high - g->low) <= g->extent.high - g->extent.low;
}
