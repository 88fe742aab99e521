#include "gpu/ptx/copies/mbarrier.h"

#include "gpu/ptx/access/access.h"
#include "gpu/ptx/race/cluster_life.h"

#include <inttypes.h>

/* ---- objects ---- */

struct mbarrier *mbarrier_add(struct block *b, uint32_t offset) {
    struct mbarriers *m = &b->mbarriers;
    if (!m->slots) {
        m->slots = xcalloc(b->processor->run->shared_window / 8 + 1, sizeof *m->slots);
    }
    list_room(m->items, m->count, m->room, 8);
    m->items[m->count] = (struct mbarrier){.offset = offset};
    m->slots[offset / 8] = (uint16_t)(++m->count);
    return &m->items[m->count - 1];
}

uint64_t mbarrier_word(const struct mbarrier *m) {
    return (uint64_t)(m->phase & 1) << MBARRIER_PHASE_BIT |
           ((uint64_t)m->bytes & 0x1fffff) << 40 | (uint64_t)m->expected << 20 |
           m->pending;
}

void mbarrier_show(struct block *b, const struct mbarrier *m) {
    uint64_t word = mbarrier_word(m);
    memcpy(b->shared + m->offset, &word, sizeof word);
    b->changes++;
}

void mbarrier_check(struct block *b, struct mbarrier *m) {
    if (m->pending == 0 && m->bytes == 0) {
        m->phase++;
        m->pending = m->expected;
    }
    mbarrier_show(b, m);
}

void mbarrier_complete_bytes(struct block *b, uint32_t offset, uint64_t bytes) {
    struct mbarrier *m = mbarrier_find(b, offset);
    if (m && m->valid) {
        m->bytes -= (int64_t)bytes;
        mbarrier_check(b, m);
    }
}

void mbarrier_arrive_async(struct block *b, uint32_t offset) {
    struct mbarrier *m = mbarrier_find(b, offset);
    if (m && m->valid && m->pending) {
        m->pending--;
        mbarrier_check(b, m);
    }
}

/* ---- where, and whether it is one ---- */

void mbarrier_tell(struct warp *w, const struct step *s, unsigned lane, const char *words,
                   uint64_t offset) {
    finding_add(&(struct finding_place){.warp = w,
                                        .step = s,
                                        .lane = lane,
                                        .buffer = "shared memory",
                                        .offset = (int64_t)offset},
                FINDING_INVALID_MBARRIER, "mbarrier at offset %" PRIu64 ": %s", offset,
                words);
    run_fault(w->processor->run);
}

struct block *mbarrier_place(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool remote, uint64_t *ret_offset) {
    struct access_range r = {.warp = w,
                             .step = s,
                             .lane = lane,
                             .align = 8,
                             .address = address,
                             .bytes = 8,
                             .writes = true};
    if (address & MBARRIER_NOT_SHARED) {
        finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                    FINDING_OUT_OF_BOUNDS,
                    "mbarrier: 0x%" PRIx64 " is not an address of "
                    "shared memory",
                    address & ~MBARRIER_NOT_SHARED);
        run_fault(w->processor->run);
        return NULL;
    }
    return access_shared_range(&r, remote, ret_offset);
}

/* Checks that mbarrier.init is known to have happened before. */
static void check_init(struct warp *w, const struct step *s, unsigned lane,
                       struct block *b, const struct mbarrier *m) {
    const struct mbarrier_init *i = &m->init;
    if (b != w->block) {
        life_check_init(w, s, lane, b, m);
        return;
    }
    bool same = i->warp == w->index;
    if (same ? i->lane == lane || i->time < w->met : i->time < w->synced) {
        return;
    }
    struct finding_other other = {.function = i->function,
                                  .instruction = i->step->instruction,
                                  .block = b->number,
                                  .thread = i->warp * WARP_LANES + i->lane,
                                  .message = "the earlier mbarrier.init"};
    finding_add(&(struct finding_place){.warp = w,
                                        .step = s,
                                        .lane = lane,
                                        .buffer = "shared memory",
                                        .offset = m->offset,
                                        .other = &other},
                FINDING_INVALID_MBARRIER,
                "mbarrier at offset %u: nothing orders mbarrier.init, by another %s, "
                "before this (%s after it is missing)",
                m->offset, same ? "lane" : "warp",
                same ? "__syncwarp()" : "__syncthreads()");
}

struct mbarrier *mbarrier_at(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool remote, struct block **ret_block) {
    uint64_t offset, word;
    struct block *b = mbarrier_place(w, s, lane, address, remote, &offset);
    if (!b) {
        return NULL;
    }
    struct mbarrier *m = mbarrier_find(b, (uint32_t)offset);
    if (!m || !m->valid) {
        mbarrier_tell(w, s, lane,
                      m ? "used after mbarrier.inval"
                        : "used without mbarrier.init before",
                      offset);
        return NULL;
    }
    check_init(w, s, lane, b, m);
    memcpy(&word, b->shared + offset, sizeof word);
    if (word != mbarrier_word(m)) {
        mbarrier_tell(w, s, lane, "its bytes were overwritten by a store", offset);
        mbarrier_show(b, m);
    }
    *ret_block = b;
    return m;
}

/* ---- telling ---- */

static void describe_wait(const struct mbarrier *m, char *to, size_t room) {
    size_t len = 0;
    if (m->pending) {
        len = (size_t)snprintf(to, room, "%u of %u arrivals", m->pending, m->expected);
    }
    if (m->bytes > 0) {
        snprintf(to + len, room - len, "%s%" PRId64 " bytes of asynchronous copies",
                 len ? " and " : "", m->bytes);
    } else if (m->bytes < 0) {
        snprintf(to + len, room - len,
                 "%s%" PRId64 " bytes came that expect_tx did not announce",
                 len ? "; " : "nothing; ", -m->bytes);
    }
}

bool mbarriers_tell_waits(struct warp *w) {
    bool told = false;
    for (unsigned k = 0; k < MBARRIER_WAITS; k++) {
        const struct mbarrier_wait *x = &w->waits[k];
        const struct mbarrier *m = x->step ? mbarrier_find(x->block, x->offset) : NULL;
        if (!m || !m->valid || (m->phase & 1) != x->phase) {
            continue;
        }
        char words[160] = "";
        describe_wait(m, words, sizeof words);
        struct frame *running = w->frame, place = {.code = x->code};
        w->frame = &place;
        finding_add(&(struct finding_place){.warp = w, .step = x->step, .lane = x->lane},
                    FINDING_DEADLOCK,
                    "Deadlock at the mbarrier at offset %u of shared memory: phase %u "
                    "waits for %s",
                    m->offset, m->phase, words);
        w->frame = running;
        told = true;
    }
    return told;
}
