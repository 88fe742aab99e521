#include "gpu/ptx/copies/mbarrier_steps.h"

#include "gpu/ptx/copies/bulk_copies.h"
#include "gpu/ptx/copies/mbarrier.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/race.h"
#include "gpu/ptx/state/run.h"

static uint64_t lane_address(struct warp *w, const struct step *s, unsigned lane) {
    uint64_t address = LANES(const uint64_t, w, s->src[0])[lane] + (uint64_t)s->offset;
    if (!(s->aux & AUX_GENERIC)) {
        return address;
    }
    return address - MEMORY_SHARED < MEMORY_WINDOW_BYTES ? address - MEMORY_SHARED
                                                         : address | MBARRIER_NOT_SHARED;
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
    struct block *b = mbarrier_place(w, s, lane, lane_address(w, s, lane),
                                     s->aux & AUX_REMOTE, &offset);
    uint32_t count = lane_count(w, s, lane);
    if (!b) {
        return;
    }
    if (count == 0 || count > MBARRIER_MAX_COUNT) {
        mbarrier_tell(w, s, lane, "mbarrier.init needs a count of 1 to 1048575", offset);
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
        mbarrier_tell(w, s, lane,
                      m->pending
                          ? "more arrivals in a phase than mbarrier.init announced"
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
        mbarrier_tell(w, s, lane, "arrive.noComplete completed the phase", m->offset);
    }
    mbarrier_check(b, m);
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
        mbarrier_check(b, m);
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
        return true; /* told; to wait for ever would mbarrier_tell less */
    }
    uint32_t phase =
        s->aux & AUX_PARITY
            ? LANES(const uint32_t, w, s->src[2])[lane] & 1
            : (uint32_t)(LANES(const uint64_t, w, s->src[2])[lane] >> MBARRIER_PHASE_BIT);
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

/* The lanes mostly ask for the same. */
static bool same_question(struct warp *w, const struct step *s, unsigned a, unsigned b) {
    bool parity = s->aux & AUX_PARITY;
    return LANES(const uint64_t, w, s->src[0])[a] ==
               LANES(const uint64_t, w, s->src[0])[b] &&
           (parity ? (LANES(const uint32_t, w, s->src[2])[a] & 1) ==
                         (LANES(const uint32_t, w, s->src[2])[b] & 1)
                   : LANES(const uint64_t, w, s->src[2])[a] >> MBARRIER_PHASE_BIT ==
                         LANES(const uint64_t, w, s->src[2])[b] >> MBARRIER_PHASE_BIT);
}

void step_mbarrier_wait(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t done = 0;
    wait_forget(w, s);
    for (uint32_t left = mask; left;) {
        unsigned first = (unsigned)__builtin_ctz(left);
        uint32_t same = 0;
        bits_each(lane, left) {
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
        w->yielded |= !warp_can_run(w);
    }
}

void step_mbarrier_pending_count(struct warp *w, const struct step *s, uint32_t mask) {
    const uint64_t *from = LANES(const uint64_t, w, s->src[0]);
    uint32_t *to = LANES(uint32_t, w, s->dst);
    bits_each(lane, mask) {
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
