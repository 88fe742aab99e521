/* The detector's life: machines, launches, blocks. */
#include "gpu/ptx/race/race.h"

#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/race/race_internal.h"

#define EVENTS_GLOBAL (UINT32_C(4) << 20)
#define EVENTS_SHARED (UINT32_C(1) << 18)

/* ---- life ---- */

/* For those who ask for the plain way of everything. */
static bool never_quick(struct warp *, const struct step *, uint32_t) {
    return false;
}

static race_quick *quick_of(const char *extension) {
#if defined __x86_64__
#ifdef LANES_HAVE_AVX512
    if (strcmp(extension, "avx512") == 0) {
        return race_quick_avx512;
    }
#endif
#ifdef LANES_HAVE_AVX2
    if (strcmp(extension, "avx2") == 0) {
        return race_quick_avx2;
    }
#endif
    (void)extension;
    return race_quick_baseline;
#else
    (void)extension;
    return race_quick_neon;
#endif
}

struct race_run *race_run_new(void) {
    struct race_run *r = xcalloc(1, sizeof *r);
    r->events = RACE_EVENTS(EVENTS_GLOBAL);
    r->levels = 1;
    return r;
}

void race_run_free(struct race_run *r) {
    if (r) {
        free(r->events.items);
        free(r->stores);
        free(r);
    }
}

void race_run_begin(struct race_run *r, struct run *run) {
    r->coarse = r->forgotten = false;
    r->levels = 1;
    while (r->levels < 8 && run->blocks > UINT64_C(1) << RACE_FAN_BITS * r->levels) {
        r->levels++;
    }
    race_tick(r);
    race_events_void(&r->events);
    r->findings = run->findings;
    r->quick = run->emit_after == EMIT_NEVER ? never_quick : quick_of(bind_extension());
    free(r->stores);
    r->stores = xcalloc(run->program->access_count + 1, sizeof *r->stores);
    if (run->blocks > UINT32_MAX) {
        r->coarse = true;
        snprintf(r->limits, sizeof r->limits, "races: there are over 2^32 blocks");
    }
}

void race_run_end(struct race_run *r) {
    if (r->forgotten && !r->limits[0]) {
        snprintf(
            r->limits, sizeof r->limits,
            "races: more accesses than are kept; only those that lie near each other "
            "were compared");
    }
    race_objects_clear(r, &r->objects);
    findings_settle(r->findings);
}

const char *race_run_limits(const struct race_run *r) {
    return r && r->limits[0] ? r->limits : NULL;
}

bool race_block_new(struct block *b) {
    const struct run *run = b->processor->run;
    struct race_block *x = b->race = calloc(1, sizeof *x);
    if (!x || !(x->warps = calloc(b->warp_count, sizeof *x->warps))) {
        return false;
    }
    x->events = RACE_EVENTS(EVENTS_SHARED);
    x->shadow = (struct race_shadow){.bytes = run->shared_bytes, .grain = 2};
    x->clustered = run->cluster_blocks > 1;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        b->warps[k].race = &x->warps[k];
    }
    return true;
}

/* What it knew of its own accesses is older than the next block's and says nothing. */
static void block_clear(struct block *b) {
    struct race_block *x = b->race;
    struct race_run *r = b->processor->run->race;
    for (uint32_t k = 0; k < b->warp_count; k++) {
        race_know_unref(r, &x->warps[k].foreign);
        race_know_unref(r, &x->warps[k].fenced);
        race_know_unref(r, &x->warps[k].fenced_block);
    }
    for (unsigned k = 0; k < BLOCK_BARRIERS; k++) {
        race_know_unref(r, &x->barriers[k].foreign);
        race_know_unref(r, &x->barriers[k].fenced);
        race_know_unref(r, &x->barriers[k].fenced_block);
        x->barriers[k] = (struct race_barrier){.known = {0}};
    }
    race_objects_clear(r, &x->objects);
}

void race_block_start(struct block *b) {
    struct race_block *x = b->race;
    if (!x) {
        return;
    }
    struct race_run *r = b->processor->run->race;
    block_clear(b);
    race_events_void(&x->events);
    x->synced = r->time;
    x->seen_count = 0;
    x->copies = false;
    uint32_t stamp = race_tick(r);
    for (uint32_t k = 0; k < b->warp_count; k++) {
        x->warps[k].stamp = stamp;
    }
}

void race_block_free(struct block *b) {
    struct race_block *x = b->race;
    if (!x) {
        return;
    }
    if (x->warps) {
        block_clear(b);
    }
    race_shadow_finish(&x->shadow);
    free(x->events.items);
    free(x->warps);
    free(x);
    b->race = NULL;
}

unsigned race_kind_of(const struct ptx_instruction *i, unsigned kind) {
    bool acq_rel = ptx_has(i, PTX_M_ACQ_REL);
    bool acquire = acq_rel || ptx_has(i, PTX_M_ACQUIRE);
    bool release = acq_rel || ptx_has(i, PTX_M_RELEASE);
    bool strong = acquire || release || ptx_has(i, PTX_M_VOLATILE) ||
                  ptx_has(i, PTX_M_RELAXED) || ptx_has(i, PTX_M_MMIO);
    return kind | (strong ? RACE_STRONG : 0u) | (acquire ? RACE_ACQUIRE : 0u) |
           (release ? RACE_RELEASE : 0u) |
           (ptx_has(i, PTX_M_CTA) ? RACE_BLOCK_SCOPE : 0u);
}
