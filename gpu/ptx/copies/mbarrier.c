/* mbarrier: the objects, and the instructions on them. */
#include "gpu/ptx/copies/mbarrier.h"

#include "base/mem.h"
#include "gpu/ptx/copies/bulk_copies.h"
#include "gpu/ptx/copies/mbarrier_steps.h"
#include "gpu/ptx/machine/access.h"
#include "gpu/ptx/machine/cluster_life.h"
#include "gpu/ptx/race/race.h"

#include <inttypes.h>
#include <string.h>

/* ---- objects ---- */

void mbarriers_reset(struct mbarriers *m) {
    for (uint32_t k = 0; k < m->count; k++) {
        m->slots[m->items[k].offset / 8] = 0;
        free(m->items[k].known);
    }
    m->count = 0;
}

void mbarriers_finish(struct mbarriers *m) {
    mbarriers_reset(m);
    free(m->items);
    free(m->slots);
}

struct mbarrier *mbarrier_find(const struct block *b, uint32_t offset) {
    const struct mbarriers *m = &b->mbarriers;
    uint16_t slot = m->slots ? m->slots[offset / 8] : 0;
    return slot && m->items[slot - 1].offset == offset ? &m->items[slot - 1] : NULL;
}

static struct mbarrier *mbarrier_add(struct block *b, uint32_t offset) {
    struct mbarriers *m = &b->mbarriers;
    if (!m->slots) {
        m->slots = xcalloc(b->processor->run->shared_window / 8 + 1, sizeof *m->slots);
    }
    if (m->count == m->room) {
        m->room = m->room ? 2 * m->room : 8;
        m->items = xreallocarray(m->items, m->room, sizeof *m->items);
    }
    m->items[m->count] = (struct mbarrier){.offset = offset};
    m->slots[offset / 8] = (uint16_t)(++m->count);
    return &m->items[m->count - 1];
}

/* What its eight bytes hold, and what a thread gets that arrives. */
#define WORD_PHASE 63
static uint64_t mbarrier_word(const struct mbarrier *m) {
    return (uint64_t)(m->phase & 1) << WORD_PHASE |
           ((uint64_t)m->bytes & 0x1fffff) << 40 | (uint64_t)m->expected << 20 |
           m->pending;
}

static void mbarrier_show(struct block *b, const struct mbarrier *m) {
    uint64_t word = mbarrier_word(m);
    memcpy(b->shared + m->offset, &word, sizeof word);
    b->changes++;
}

static void check_complete(struct block *b, struct mbarrier *m) {
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
        check_complete(b, m);
    }
}

void mbarrier_arrive_async(struct block *b, uint32_t offset) {
    struct mbarrier *m = mbarrier_find(b, offset);
    if (m && m->valid && m->pending) {
        m->pending--;
        check_complete(b, m);
    }
}

/* ---- where, and whether it is one ---- */

static void tell(struct warp *w, const struct step *s, unsigned lane, const char *words,
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

#define NOT_SHARED (UINT64_C(1) << 63)

/* The eight bytes of an operand; NULL after a finding. */
static struct block *object_place(struct warp *w, const struct step *s, unsigned lane,
                                  uint64_t address, bool remote, uint64_t *ret_offset) {
    struct access_range r = {.warp = w,
                             .step = s,
                             .lane = lane,
                             .align = 8,
                             .address = address,
                             .bytes = 8,
                             .writes = true};
    if (address & NOT_SHARED) {
        finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane},
                    FINDING_OUT_OF_BOUNDS,
                    "mbarrier: 0x%" PRIx64 " is not an address of "
                    "shared memory",
                    address & ~NOT_SHARED);
        run_fault(w->processor->run);
        return NULL;
    }
    return access_shared_range(&r, remote, ret_offset);
}

/* Is mbarrier.init known to have been before this? */
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
                                  .message = "mbarrier.init before it"};
    finding_add(&(struct finding_place){.warp = w,
                                        .step = s,
                                        .lane = lane,
                                        .buffer = "shared memory",
                                        .offset = m->offset,
                                        .other = &other},
                FINDING_INVALID_MBARRIER,
                "mbarrier at offset %u: nothing orders mbarrier.init, by another %s, "
                "before this (%s behind it is missing)",
                m->offset, same ? "lane" : "warp",
                same ? "__syncwarp()" : "__syncthreads()");
}

struct mbarrier *mbarrier_at(struct warp *w, const struct step *s, unsigned lane,
                             uint64_t address, bool remote, struct block **ret_block) {
    uint64_t offset, word;
    struct block *b = object_place(w, s, lane, address, remote, &offset);
    if (!b) {
        return NULL;
    }
    struct mbarrier *m = mbarrier_find(b, (uint32_t)offset);
    if (!m || !m->valid) {
        tell(w, s, lane,
             m ? "used after mbarrier.inval" : "used without mbarrier.init before",
             offset);
        return NULL;
    }
    check_init(w, s, lane, b, m);
    memcpy(&word, b->shared + offset, sizeof word);
    if (word != mbarrier_word(m)) {
        tell(w, s, lane, "its bytes were overwritten by a store", offset);
        mbarrier_show(b, m);
    }
    *ret_block = b;
    return m;
}

static uint64_t lane_address(struct warp *w, const struct step *s, unsigned lane) {
    uint64_t address = LANES(const uint64_t, w, s->src[0])[lane] + (uint64_t)s->offset;
    if (!(s->aux & AUX_GENERIC)) {
        return address;
    }
    return address - MEMORY_SHARED < MEMORY_WINDOW_BYTES ? address - MEMORY_SHARED
                                                         : address | NOT_SHARED;
}

static struct mbarrier *lane_mbarrier(struct warp *w, const struct step *s, unsigned lane,
                                      struct block **ret_block) {
    return mbarrier_at(w, s, lane, lane_address(w, s, lane), s->aux & AUX_REMOTE,
                       ret_block);
}

static uint32_t lane_count(struct warp *w, const struct step *s, unsigned lane) {
    return s->src[1] == STEP_NO_REGISTER ? 1 : LANES(const uint32_t, w, s->src[1])[lane];
}

/* ---- the instructions ---- */

static void lane_init(struct warp *w, const struct step *s, unsigned lane) {
    uint64_t offset;
    struct block *b =
        object_place(w, s, lane, lane_address(w, s, lane), s->aux & AUX_REMOTE, &offset);
    uint32_t count = lane_count(w, s, lane);
    if (!b) {
        return;
    }
    if (count == 0 || count > MBARRIER_MAX_COUNT) {
        tell(w, s, lane, "mbarrier.init needs a count of 1 to 1048575", offset);
        return;
    }
    struct mbarrier *m = mbarrier_find(b, (uint32_t)offset);
    m = m ? m : mbarrier_add(b, (uint32_t)offset);
    *m = (struct mbarrier){.offset = (uint32_t)offset,
                           .expected = count,
                           .pending = count,
                           .valid = true,
                           .known = m->known,
                           .init = {s, w->frame->code->index, ++b->cluster->time,
                                    (uint16_t)w->index, (uint8_t)lane}};
    if (b->shared_shadow) {
        memset(b->shared_shadow + offset / 4, 0x0f, 2);
    }
    mbarrier_show(b, m);
}

static void lane_inval(struct warp *w, const struct step *s, unsigned lane) {
    struct block *b;
    struct mbarrier *m = lane_mbarrier(w, s, lane, &b);
    if (m) {
        m->valid = false;
    }
}

static void lane_arrive(struct warp *w, const struct step *s, unsigned lane) {
    struct block *b;
    struct mbarrier *m = lane_mbarrier(w, s, lane, &b);
    uint64_t *to = s->dst == STEP_NO_REGISTER ? NULL : &LANES(uint64_t, w, s->dst)[lane];
    if (!m) {
        if (to) {
            *to = 0;
        }
        return;
    }
    uint32_t count = s->aux & AUX_EXPECT ? 1 : lane_count(w, s, lane);
    if (to) {
        *to = mbarrier_word(m);
    }
    if (s->aux & AUX_EXPECT) {
        m->bytes += lane_count(w, s, lane);
    }
    if (count == 0 || count > m->pending) {
        tell(w, s, lane,
             m->pending ? "more arrivals in a phase than mbarrier.init was told"
                        : "all arrivals of the phase have come already, its bytes have "
                          "not: one arrival too many",
             m->offset);
        mbarrier_show(b, m);
        return;
    }
    life_arrive_at(w, m);
    race_release_at(w, b, m->offset);
    w->mbarrier_lanes |= 1u << lane;
    m->pending -= count;
    if (s->aux & AUX_DROP) {
        m->expected -= count < m->expected ? count : m->expected;
    }
    if ((s->aux & AUX_NO_COMPLETE) && m->pending == 0 && m->bytes == 0) {
        tell(w, s, lane, "arrive.noComplete completed the phase", m->offset);
    }
    check_complete(b, m);
}

static void lane_expect(struct warp *w, const struct step *s, unsigned lane) {
    struct block *b;
    struct mbarrier *m = lane_mbarrier(w, s, lane, &b);
    if (m) {
        m->bytes += lane_count(w, s, lane);
        mbarrier_show(b, m);
    }
}

static void lane_complete(struct warp *w, const struct step *s, unsigned lane) {
    struct block *b;
    struct mbarrier *m = lane_mbarrier(w, s, lane, &b);
    if (m) {
        m->bytes -= lane_count(w, s, lane);
        check_complete(b, m);
    }
}

#define EACH_LANE(name, each)                                                            \
    void name(struct warp *w, const struct step *s, uint32_t mask) {                     \
        for (uint32_t m = mask; m; m &= m - 1) {                                         \
            each(w, s, (unsigned)__builtin_ctz(m));                                      \
        }                                                                                \
    }
EACH_LANE(step_mbarrier_init, lane_init)
EACH_LANE(step_mbarrier_inval, lane_inval)
EACH_LANE(step_mbarrier_arrive, lane_arrive)
EACH_LANE(step_mbarrier_expect, lane_expect)
EACH_LANE(step_mbarrier_complete, lane_complete)

/* ---- waiting: a poll, after which others have their turn ---- */

static void wait_note(struct warp *w, const struct mbarrier_wait *wait) {
    unsigned k = 0;
    while (k < MBARRIER_WAITS && w->waits[k].step && w->waits[k].step != wait->step) {
        k++;
    }
    w->waits[k % MBARRIER_WAITS] = *wait;
}

static void wait_forget(struct warp *w, const struct step *s) {
    for (unsigned k = 0; k < MBARRIER_WAITS; k++) {
        if (w->waits[k].step == s) {
            w->waits[k].step = NULL;
        }
    }
}

/* lanes: that are answered with it. */
static bool lane_wait(struct warp *w, const struct step *s, unsigned lane,
                      uint32_t lanes) {
    struct block *b;
    struct mbarrier *m = lane_mbarrier(w, s, lane, &b);
    if (!m) {
        return true; /* told; to wait for ever would tell less */
    }
    uint32_t phase =
        s->aux & AUX_PARITY
            ? LANES(const uint32_t, w, s->src[2])[lane] & 1
            : (uint32_t)(LANES(const uint64_t, w, s->src[2])[lane] >> WORD_PHASE);
    uint32_t offset = m->offset;
    if ((m->phase & 1) == phase && b->arrivals.count) {
        bulk_deliver(b, offset);
        m = mbarrier_find(b, offset);
    }
    if ((m->phase & 1) != phase) {
        warp_synced(w);
        life_pass_at(w->block, m);
        race_acquire_at(w, lanes, b, offset);
        race_meet(w, lanes & w->mbarrier_lanes, true); /* the lanes of a warp meet here */
        w->mbarrier_lanes &= ~lanes;
        return true;
    }
    wait_note(w, &(struct mbarrier_wait){.step = s,
                                         .code = w->frame->code,
                                         .block = b,
                                         .offset = offset,
                                         .phase = phase,
                                         .lane = (uint8_t)lane});
    return false;
}

static bool others_ready(const struct warp *w) {
    for (uint32_t k = 0; k < w->pending_count; k++) {
        if (w->pending[k].state == SPLIT_READY) {
            return true;
        }
    }
    return false;
}

/* The lanes mostly ask for the same. */
static bool same_question(struct warp *w, const struct step *s, unsigned a, unsigned b) {
    bool parity = s->aux & AUX_PARITY;
    return LANES(const uint64_t, w, s->src[0])[a] ==
               LANES(const uint64_t, w, s->src[0])[b] &&
           (parity ? (LANES(const uint32_t, w, s->src[2])[a] & 1) ==
                         (LANES(const uint32_t, w, s->src[2])[b] & 1)
                   : LANES(const uint64_t, w, s->src[2])[a] >> WORD_PHASE ==
                         LANES(const uint64_t, w, s->src[2])[b] >> WORD_PHASE);
}

void step_mbarrier_wait(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t done = 0;
    wait_forget(w, s);
    for (uint32_t left = mask; left;) {
        unsigned first = (unsigned)__builtin_ctz(left);
        uint32_t same = 0;
        for (uint32_t m = left; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctz(m);
            same |= (uint32_t)same_question(w, s, first, lane) << lane;
        }
        done |= lane_wait(w, s, first, same) ? same : 0;
        left &= ~same;
    }
    if (s->dst != STEP_NO_REGISTER) {
        uint32_t *to = LANES(uint32_t, w, s->dst);
        *to = (*to & ~mask) | done;
    }
    if (done != mask) {
        w->polled = true;
        w->yielded |= !others_ready(w);
    }
}

void step_mbarrier_pending_count(struct warp *w, const struct step *s, uint32_t mask) {
    const uint64_t *from = LANES(const uint64_t, w, s->src[0]);
    uint32_t *to = LANES(uint32_t, w, s->dst);
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        to[lane] = (uint32_t)from[lane] & MBARRIER_MAX_COUNT;
    }
}

/* cp.async.mbarrier.arrive: what the lane copied before arrives, then the lane does. */
static void lane_arrive_copies(struct warp *w, const struct step *s, unsigned lane) {
    struct block *b;
    struct mbarrier *m = lane_mbarrier(w, s, lane, &b);
    if (!m) {
        return;
    }
    life_arrive_at(w, m);
    race_release_at(w, b, m->offset);
    w->mbarrier_lanes |= 1u << lane;
    if (!(s->aux & AUX_NO_INCREMENT)) {
        m->pending++;
        mbarrier_show(b, m);
    }
    struct bulk_copy c = {.kind = BULK_ARRIVE,
                          .lane = (uint8_t)lane,
                          .warp = w,
                          .step = s,
                          .code = w->frame->code,
                          .block = b,
                          .mbarrier = m->offset,
                          .order = w->copy_order};
    bulk_add(b, &b->arrivals, &c);
}
EACH_LANE(step_mbarrier_arrive_copies, lane_arrive_copies)

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
