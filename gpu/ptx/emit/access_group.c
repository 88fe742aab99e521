#include "gpu/ptx/emit/access_group.h"

#include "base/find.h"

struct part part_of(const struct shape *x, unsigned k, unsigned bytes) {
    int32_t lanes = (int32_t)part_lanes(bytes), size = (int32_t)bytes;
    struct part p = {.deltas = x->deltas + (unsigned)lanes * k, .low = INT32_MAX};
    int32_t high = INT32_MIN;
    p.equal = p.rising = true;
    for (int32_t l = 0; l < lanes; l++) {
        int32_t d = p.deltas[l];
        p.low = d < p.low ? d : p.low;
        high = d > high ? d : high;
        p.equal = p.equal && d == p.deltas[0];
        p.rising = p.rising && d == p.deltas[0] + size * l;
    }
    p.span = high - p.low + size;
    return p;
}

static void extremes(const struct shape *x, int64_t *low, int64_t *high) {
    *low = *high = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        *low = x->deltas[l] < *low ? x->deltas[l] : *low;
        *high = x->deltas[l] > *high ? x->deltas[l] : *high;
    }
}

/* Elements of more than one that lie far apart are taken apart sooner by the handler;
 * those of 2 bytes are neither gathered nor scattered, and what is stored of them is
 * whole words. */
static bool parts_fit(const struct shape *x, const struct access *a, int64_t offset) {
    bool fine = a->bytes > 2 || !a->is_store || offset % 4 == 0;
    for (unsigned k = 0; k < WARP_LANES / part_lanes(a->bytes); k++) {
        struct part p = part_of(x, k, a->bytes);
        bool near = a->count == 1 || p.span <= 128;
        bool plain = p.rising || (p.equal && !a->is_store);
        bool whole = !a->is_store || p.deltas[0] == 32 * (int32_t)k;
        fine = fine && near && (a->bytes > 2 || (plain && whole));
    }
    return fine;
}

static bool fits(const struct shape *x, const struct access *a, int64_t offset) {
    int32_t size = (int32_t)bytes_of(a);
    bool fine = x->first % (uint64_t)size == 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        fine = fine && x->deltas[l] % size == 0;
    }
    return x->is_known && fine && offset % size == 0 && offset > -NEAR && offset < NEAR &&
           parts_fit(x, a, offset);
}

static bool is_among(const int32_t *list, unsigned count, int64_t x) {
    return any_of(k, 0, count, list[k] == x);
}

unsigned access_group_lines(const struct access_group *g, int32_t to[GROUP_LINES]) {
    unsigned count = 0;
    int64_t low, high;
    extremes(g->shape, &low, &high);
    int64_t each = g->high - g->low - (high - low); /* bytes of a lane */
    for (unsigned l = 0; l < WARP_LANES; l++) {
        int64_t from = g->shape->deltas[l] - low, at = from - from % GROUP_LINE;
        for (; at < from + each; at += GROUP_LINE) {
            if (is_among(to, count, at)) {
                continue;
            }
            if (count == GROUP_LINES) {
                return 0;
            }
            to[count++] = (int32_t)at;
        }
    }
    return count;
}

static struct access_group *group_find(struct emit_unit *u, uint32_t first,
                                       struct value_of_register of, bool shared,
                                       uint64_t address) {
    for (uint32_t k = first; k < u->group_count; k++) {
        struct access_group *g = &u->groups[k];
        bool here = shared ? address >= g->extent.low && address < g->extent.high
                           : g->in && address - g->in->address < g->in->bytes;
        if (g->origin.offset == of.offset && g->origin.version == of.version &&
            g->shared == shared && here) {
            return g;
        }
    }
    return NULL;
}

static struct access_group *group_new(struct emit_unit *u, const struct shape *x,
                                      uint32_t base, struct value_of_register of,
                                      bool shared, unsigned bytes) {
    struct access_group g = {.align = 4,
                             .base = base,
                             .origin = of,
                             .shared = shared,
                             .shape = x,
                             .low = INT64_MAX,
                             .high = INT64_MIN};
    if (shared && !shared_extent_find(u->processor->run, x->first, bytes, &g.extent)) {
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
    low = (offset + low) & ~INT64_C(3);
    g->align = size > g->align ? size : g->align;
    g->low = low < g->low ? low : g->low;
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
                        const struct value_of_register *origins) {
    const struct step *s = &u->steps[step];
    const struct shape *x = &u->shapes[step];
    const struct access *a = access_of(u, step);
    bool shared = a->space == PTX_SHARED;
    struct value_of_register of = origins[s->src[0] / 64];
    struct access_group *g = group_find(u, first, of, shared, x->first);
    g = g ? g : group_new(u, x, s->src[0], of, shared, bytes_of(a));
    if (g) {
        group_add(g, x, s->offset, a);
        u->group_of[step] = (uint32_t)(g - u->groups) + 1;
    }
}

/* Addresses in 4 bytes are widened for each access. */
static bool is_widened(const struct emit_unit *u, uint32_t step) {
    const struct native *n = &u->natives[step];
    return n->kind == NATIVE_WIDEN && n->how == 0 &&
           (n->vector == VPMOVZXDQ || n->vector == VPMOVSXDQ);
}

/* A number that no value had before. */
static void note_origins(const struct emit_unit *u, uint32_t step,
                         struct value_of_register *origins) {
    const struct step *s = &u->steps[step];
    uint32_t results[8], count = unit_results(u, step, results);
    if (is_widened(u, step)) {
        origins[s->dst / 64] = origins[s->src[0] / 64];
        return;
    }
    if (u->natives[step].kind == NATIVE_CALL && s->dst != STEP_NO_REGISTER) {
        results[count++] = s->dst;
    }
    for (uint32_t k = 0; k < count; k++) {
        origins[results[k] / 64] =
            (struct value_of_register){.offset = results[k], .version = step + 1};
    }
}

static void plan_groups(struct emit_unit *u) {
    uint32_t slots = u->code->arena_bytes / 64 + 1, first = 0;
    autofree struct value_of_register *origins = xcalloc(slots, sizeof *origins);
    for (uint32_t k = 0; k < slots; k++) {
        origins[k].offset = 64 * k;
    }
    for (uint32_t k = 0; k < u->count; k++) {
        first = is_barrier(u, k) ? u->group_count : first;
        if (u->natives[k].kind == NATIVE_ACCESS &&
            fits(&u->shapes[k], access_of(u, k), u->steps[k].offset)) {
            plan_access(u, k, first, origins);
        }
        note_origins(u, k, origins);
    }
}

/* Behind the check nobody reads an access's address, but the race check. */
static void drop_widening(struct emit_unit *u) {
    if (u->processor->run->race) {
        return;
    }
    autofree bool *checked = xcalloc(u->group_count + 1u, sizeof *checked);
    for (uint32_t k = 1; k < u->count; k++) {
        const struct step *s = &u->steps[k];
        uint32_t group = u->group_of[k];
        if (group == 0 || !access_group_fits(u, &u->groups[group - 1])) {
            continue;
        }
        bool last = k + 1 == u->count || s[1].instruction != s->instruction;
        if (checked[group] && last && is_widened(u, k - 1) && s[-1].dst == s->src[0] &&
            s[-1].instruction == s->instruction && s->src[0] >= u->code->fixed) {
            u->natives[k - 1] = (struct native){.kind = NATIVE_NOTHING};
        }
        checked[group] = true;
    }
}

bool access_group_needs_words(const struct emit_unit *u, const struct access_group *g) {
    return g->loads && u->processor->run->check_initialized &&
           (g->shared || g->in->shadow);
}

/* NULL: there are too many. */
static struct shadow_window *window_of(struct access_group *g, uint64_t word) {
    uint64_t first = word - word % WINDOW_WORDS;
    for (uint32_t k = g->window_count; k-- > 0;) {
        if (g->windows[k].first == first) {
            return &g->windows[k];
        }
    }
    if (g->window_count == GROUP_WINDOWS) {
        return NULL;
    }
    g->windows[g->window_count] = (struct shadow_window){.first = first};
    return &g->windows[g->window_count++];
}

/* An access's byte, from the group's low. */
static bool plan_byte(struct access_group *g, uint64_t at, bool is_store) {
    struct shadow_window *x = window_of(g, at / 4);
    uint8_t bit = (uint8_t)(1 << at % 4);
    if (x) {
        uint8_t stored = x->stored[at / 4 % WINDOW_WORDS];
        uint8_t *note = is_store ? x->stored : x->loaded;
        note[at / 4 % WINDOW_WORDS] |= is_store ? bit : bit & ~stored;
    }
    return x;
}

/* Which bytes the group's check looks at. */
static void plan_windows(struct emit_unit *u, struct access_group *g, uint32_t index) {
    bool fine = true;
    g->windows = xcalloc(GROUP_WINDOWS, sizeof *g->windows);
    for (uint32_t k = 0; k < u->count; k++) {
        const struct access *a = access_of(u, k);
        uint32_t bytes = u->group_of[k] == index + 1 ? WARP_LANES * bytes_of(a) : 0;
        for (unsigned l = 0; fine && l < bytes; l++) { /* each byte */
            int64_t at = u->steps[k].offset + u->shapes[k].deltas[l % WARP_LANES] +
                         l / WARP_LANES - g->low;
            fine = plan_byte(g, (uint64_t)at, a->is_store);
        }
    }
    if (!fine) {
        free(g->windows);
        g->windows = NULL;
    }
}

void unit_access_plan(struct emit_unit *u) {
    u->group_of = xcalloc(u->count + 1u, sizeof *u->group_of);
    if (!u->shapes) {
        return;
    }
    plan_groups(u);
    for (uint32_t k = 0; k < u->group_count; k++) {
        if (access_group_needs_words(u, &u->groups[k])) {
            plan_windows(u, &u->groups[k], k);
        }
    }
    drop_widening(u);
}

void unit_access_finish(struct emit_unit *u) {
    for (uint32_t k = 0; k < u->group_count; k++) {
        free(u->groups[k].windows);
    }
    free(u->groups);
    free(u->group_of);
}

/* The allocation's properties do not change while a launch runs; that it may be written
 * was checked when the code was made. */
bool access_group_fits(const struct emit_unit *u, const struct access_group *g) {
    if (g->high - g->low >= NEAR || g->low <= -NEAR ||
        (access_group_needs_words(u, g) && !g->windows)) {
        return false;
    }
    if (!g->shared) {
        return !g->in->freed && (!g->stores || g->in->writable) &&
               (uint64_t)(g->high - g->low) <= g->in->bytes;
    }
    return g->extent.high < NEAR &&
           (uint64_t)(g->high - g->low) <= g->extent.high - g->extent.low;
}
