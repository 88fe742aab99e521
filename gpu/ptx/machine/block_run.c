#include "gpu/ptx/machine/block_run.h"

#include "gpu/ptx/access/pattern.h"
#include "gpu/ptx/access/undefined.h"
#include "gpu/ptx/machine/barriers.h"
#include "gpu/ptx/machine/cluster.h"
#include "gpu/ptx/machine/warp_run.h"
#include "gpu/ptx/matrix/wgmma.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/proxy.h"
#include "gpu/ptx/race/race.h"

/* ---- life ---- */

static uint32_t warp_lanes(const struct run *run, uint32_t warp) {
    uint64_t left = run->threads - (uint64_t)warp * WARP_LANES;
    return left >= WARP_LANES ? UINT32_MAX : (1u << left) - 1;
}

static bool block_memory(struct block *b, const struct run *run) {
    const struct code *code = run->program->codes[run->program->entry];
    uint64_t window = run->shared_window;
    b->warps = aligned_alloc(64, b->warp_count * sizeof *b->warps);
    b->arena = aligned_alloc(64, (uint64_t)b->warp_count * code->arena_bytes + 64);
    b->shared = aligned_alloc(256, window);
    /* A pattern looks at so many words at once, whatever it touches of them. */
    b->shared_shadow = run->check_initialized ? malloc(window / 4 + PATTERN_NEAR) : NULL;
    return b->warps && b->arena && b->shared &&
           (b->shared_shadow || !run->check_initialized);
}

static void warp_first(struct warp *w, struct block *b, uint32_t index) {
    const struct run *run = b->processor->run;
    const struct code *code = run->program->codes[run->program->entry];
    memset(w, 0, sizeof *w);
    w->processor = b->processor;
    w->block = b;
    w->index = index;
    w->head.lane_mask = w->masks;
    w->root = (struct frame){.code = code,
                             .regs = b->arena + (size_t)index * code->arena_bytes,
                             .local_top = code->local_bytes};
    w->frame = &w->root;
    memset(w->root.regs, run->poison, code->fixed);
    memcpy(w->root.regs + code->fixed, code->fixed_image,
           code->arena_bytes - code->fixed);
}

struct block *block_new(struct processor *processor) {
    struct run *run = processor->run;
    struct block *b = calloc(1, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->processor = processor;
    b->warp_count = (uint32_t)((run->threads + WARP_LANES - 1) / WARP_LANES);
    b->shared_bytes = run->shared_bytes;
    if (!block_memory(b, run)) {
        free(b->warps);
        b->warps = NULL;
        block_free(b);
        return NULL;
    }
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp_first(&b->warps[k], b, k);
    }
    for (uint32_t k = 0; k < b->warp_count; k++) {
        if (!warp_local_reserve(&b->warps[k], b->warps[k].root.code->local_bytes)) {
            block_free(b);
            return NULL;
        }
        frame_fill_specials(&b->warps[k], &b->warps[k].root);
    }
    if ((run->race && !race_block_new(b)) || !proxy_new(b)) {
        block_free(b);
        return NULL;
    }
    return b;
}

void block_free(struct block *b) {
    if (!b) {
        return;
    }
    b->ended = true;
    b->own = (struct cluster){.open = false};
    b->cluster = &b->own; /* others may be gone */
    for (uint32_t k = 0; b->warps && k < b->warp_count; k++) {
        struct warp *w = &b->warps[k];
        warp_exit_lanes(w, w->live); /* frees its calls */
        __atomic_sub_fetch(&b->processor->run->local_bytes, w->local_bytes * WARP_LANES,
                           __ATOMIC_RELAXED);
        free(w->local);
        free(w->local_shadow);
        free(w->copies);
        wgmma_finish(w);
        undefined_free(w->undefined);
    }
    bulk_list_reset(&b->arrivals);
    bulk_list_reset(&b->stores);
    free(b->arrivals.items);
    free(b->stores.items);
    mbarriers_finish(&b->mbarriers);
    race_block_free(b);
    proxy_free(b);
    life_free(b->life);
    free(b->warps);
    free(b->arena);
    free(b->shared);
    free(b->shared_shadow);
    free(b);
}

void block_lanes_left(struct warp *w) {
    w->block->changes++;
    if (w->wgmma && w->live == 0 && !w->block->ended) {
        wgmma_exit(w);
    }
    if (w->pending_count > 0) {
        warp_check_meets(w);
    }
    block_check_barriers(w->block);
    if (w->block->cluster->open) {
        cluster_check_barrier(w->block->cluster);
    }
}

/* Clears the state that only some programs keep in a warp. */
static void warp_forget(struct warp *w) {
    memset(w->root.taken, 0, sizeof w->root.taken);
    w->copy_count = 0;
    memset(w->copy_groups, 0, sizeof w->copy_groups);
    memset(w->bulk_groups, 0, sizeof w->bulk_groups);
    memset(w->waits, 0, sizeof w->waits);
    w->copy_order = 0;
}

static void warp_start(struct warp *w) {
    const struct run *run = w->processor->run;
    const struct code *code = w->root.code;
    memset(w->root.regs, run->poison, code->poison_bytes);
    frame_fill_block_specials(w, &w->root);
    if (code->local_bytes) {
        memset(w->local, run->poison, code->local_bytes * WARP_LANES);
        memset(w->local_shadow, 0, code->local_bytes / 4 * WARP_LANES);
    }
    if (run->program->remembers) {
        warp_forget(w);
    }
    w->root.local_top = code->local_bytes;
    w->live = w->root.lanes = warp_lanes(run, w->index);
    w->block->live_warps |= 1u << w->index;
    w->active = 0;
    w->spins = w->hold = 0;
    w->polled = false;
    w->frame = &w->root;
    w->head.carry = 0;
    wgmma_start(w);
    undefined_start(w);
    w->cluster_arrived = w->cluster_owed = w->mbarrier_lanes = 0;
    w->synced = w->met = 0;
    w->pending_count = 1;
    w->pending[0] =
        (struct split){.frame = &w->root, .next = code->steps, .lanes = w->live};
}

static void block_start(struct block *b) {
    const struct run *run = b->processor->run;
    const uint32_t *grid = run->launch->grid;
    uint64_t number =
        b->id[0] + (uint64_t)grid[0] * (b->id[1] + (uint64_t)grid[1] * b->id[2]);
    b->number = number;
    b->finished = false;
    mbarriers_reset(&b->mbarriers);
    bulk_list_reset(&b->arrivals);
    bulk_list_reset(&b->stores);
    b->open = 0;
    if (b->arrives) {
        memset(b->arrive_lanes, 0, sizeof b->arrive_lanes);
        b->arrives = false;
    }
    b->clock = number * 64;
    b->changes = 0;
    b->ended = false;
    b->released = 0;
    b->maps.count = 0;
    b->live_warps = 0;
    b->live_threads = (uint32_t)run->threads;
    if (b->shared_bytes) {
        memset(b->shared, run->poison, b->shared_bytes);
        if (b->shared_shadow) {
            memset(b->shared_shadow, 0, run->shared_window / 4);
        }
    }
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp_start(&b->warps[k]);
    }
    race_block_start(b);
    proxy_start(b);
}

void block_start_cluster(struct block *const *blocks, uint64_t number) {
    const struct run *run = blocks[0]->processor->run;
    const uint32_t *grid = run->launch->grid, *dim = run->cluster;
    const uint32_t many[3] = {grid[0] / dim[0], grid[1] / dim[1], grid[2] / dim[2]};
    const uint64_t at[3] = {number % many[0], number / many[0] % many[1],
                            number / many[0] / many[1]};
    struct cluster *c = &blocks[0]->own;
    *c = (struct cluster){
        .count = run->cluster_blocks, .left = run->cluster_blocks, .time = 1};
    for (uint32_t r = 0; r < c->count; r++) {
        const uint32_t in[3] = {r % dim[0], r / dim[0] % dim[1], r / dim[0] / dim[1]};
        struct block *b = c->blocks[r] = blocks[r];
        b->cluster = c;
        b->rank = r;
        for (unsigned k = 0; k < 3; k++) {
            b->id[k] = (uint32_t)at[k] * dim[k] + in[k];
        }
        block_start(b);
    }
    c->life = life_start(blocks, c->count);
}

void block_end(struct block *b) {
    b->ended = true;
    b->live_warps = b->live_threads = 0;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        b->warps[k].live = 0; /* no lane waits for them any more */
    }
    for (uint32_t k = 0; k < b->warp_count; k++) {
        warp_exit_lanes(&b->warps[k], UINT32_MAX);
    }
}

/* Seed 0 is the natural order; others begin elsewhere, odd ones go backwards. */
static struct warp *warp_in_turn(const struct block *b, uint32_t first, uint32_t turn) {
    uint32_t k = first + turn;
    k -= k >= b->warp_count ? b->warp_count : 0;
    return &b->warps[b->processor->run->seed & 1 ? b->warp_count - 1 - k : k];
}

/* Its turn comes soon: what it takes to begin one. */
static inline void warp_expect(const struct warp *w) {
    __builtin_prefetch(w);
    __builtin_prefetch(w->pending);
    __builtin_prefetch(&w->root.regs);
}

enum block_state block_turn(struct block *b) {
    bool ran = false;
    uint32_t first = (uint32_t)(b->processor->run->seed / 2 % b->warp_count);
    struct warp *next = warp_in_turn(b, first, 0);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        struct warp *w = next;
        next = warp_in_turn(b, first, k + 1 < b->warp_count ? k + 1 : 0);
        warp_expect(next);
        if (!warp_can_run(w)) {
            continue;
        }
        ran = true;
        warp_run(w, BLOCK_TURN);
        if (b->ended) {
            block_end(b);
            return BLOCK_DONE;
        }
        if (!run_charge_turn(b->processor)) {
            return BLOCK_RUNNING;
        }
    }
    if (ran) {
        return BLOCK_RUNNING;
    }
    return b->live_warps ? BLOCK_WAITING : BLOCK_DONE;
}
