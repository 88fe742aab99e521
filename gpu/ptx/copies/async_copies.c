#include "gpu/ptx/copies/async_copies.h"

#include "base/find.h"
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/coalescing.h"
#include "gpu/ptx/copies/copies_lower.h"
#include "gpu/ptx/race/proxy.h"
#include "gpu/ptx/race/race.h"

#define MAX_PENDING 65536 /* of a warp; then the oldest arrive early */

static void copy_arrive(struct warp *w, const struct async_copy *c) {
    const struct allocation *in = run_find_for(w->processor->run, c->from, true, false);
    struct block *b = w->block;
    uint8_t bytes[16] = {0};
    if (c->from_bytes && in && !in->freed) {
        memcpy(bytes, in->host + (c->from - in->address), c->from_bytes);
    }
    memcpy(b->shared + c->to, bytes, c->bytes);
    if (b->shared_shadow) {
        memset(b->shared_shadow + c->to / 4, 0xff, c->bytes / 4u);
        proxy_wrote(w, NULL, c->lane, b, c->to, c->bytes);
    }
    b->changes++;
}

static struct race_copy copy_race(const struct warp *w, const struct async_copy *c) {
    return (struct race_copy){
        .block = (uint32_t)w->block->number, .warp = w->index, .stamp = c->race};
}

/* Those of the lanes whose group is older than the lane's limit arrive, in order. */
static void copies_arrive(struct warp *w, uint32_t lanes,
                          const uint32_t limit[WARP_LANES]) {
    uint32_t kept = 0;
    list_each(k, c, w->copies, w->copy_count) {
        if ((lanes >> c->lane & 1) && c->group < limit[c->lane]) {
            copy_arrive(w, c);
            race_copy_seen(w, copy_race(w, c));
        } else {
            w->copies[kept++] = *c;
        }
    }
    w->copy_count = kept;
}

void warp_copies_arrive(struct warp *w, unsigned lane, uint64_t order, struct block *b,
                        uint32_t mbarrier) {
    uint32_t kept = 0;
    list_each(k, c, w->copies, w->copy_count) {
        if (c->lane == lane && c->order < order) {
            copy_arrive(w, c);
            race_copy_done_at(b, mbarrier, copy_race(w, c));
        } else {
            w->copies[kept++] = *c;
        }
    }
    w->copy_count = kept;
}

static void copy_add(struct warp *w, const struct async_copy *c) {
    if (w->copy_count == MAX_PENDING) {
        uint32_t all[WARP_LANES];
        memset(all, 0xff, sizeof all);
        copies_arrive(w, UINT32_MAX, all);
    }
    list_room(w->copies, w->copy_count, w->copy_room, 64);
    w->copies[w->copy_count] = *c;
    w->copies[w->copy_count++].order = w->copy_order++;
}

/* Neither what was there nor what is to come may be read. */
static void copy_begin(struct warp *w, const struct step *s, const struct async_copy *c) {
    struct block *b = w->block;
    struct race_copy race = copy_race(w, c);
    race_copy_touch(w, s, c->lane, NULL, c->from, c->from_bytes, RACE_READ, race);
    race_copy_touch(w, s, c->lane, b, c->to, c->bytes, RACE_WRITE, race);
    copy_add(w, c);
    if (b->shared_shadow) {
        memset(b->shared_shadow + c->to / 4, 0, c->bytes / 4u);
    }
}

/* src: destination, source, size of the source (absent: all) or predicate to leave it
 * out. */
static void step_copy(struct warp *w, const struct step *s, uint32_t mask) {
    struct processor *processor = w->processor;
    const uint64_t *to = LANES(const uint64_t, w, s->src[0]);
    const uint64_t *from = LANES(const uint64_t, w, s->src[1]);
    const uint32_t *size =
        s->src[2] == STEP_NO_REGISTER ? NULL : LANES(uint32_t, w, s->src[2]);
    uint64_t sources[WARP_LANES];
    uint32_t reading = 0;
    struct race_copy race = race_copy_begin(w);
    bits_each(l, mask) {
        struct async_copy c = {.lane = (uint8_t)l,
                               .bytes = s->bytes,
                               .from_bytes = s->bytes,
                               .from = from[l],
                               .race = race.stamp,
                               .group = w->copy_groups[l]};
        uint64_t offset = to[l] + (uint64_t)s->offset;
        uint8_t *shadow;
        if (size && s->vector == 0) {
            c.from_bytes = (*size >> l & 1) != s->src_negated ? 0 : s->bytes;
        } else if (size) {
            c.from_bytes = (uint8_t)(size[l] < s->bytes ? size[l] : s->bytes);
        }
        sources[l] = c.from;
        bool inside = offset % s->bytes == 0 &&
                      shared_is_inside(processor, s->extra, offset, s->bytes);
        if (!inside) {
            access_resolve(w, s, l, offset, PTX_SHARED, s->bytes, false, true, &shadow);
            continue;
        }
        c.to = (uint32_t)offset;
        if (c.from_bytes == s->bytes) {
            reading |= 1u << l;
            if (!access_resolve(w, s, l, c.from, PTX_GLOBAL, s->bytes, true, false,
                                &shadow)) {
                continue;
            }
        } else if (c.from_bytes) { /* an odd number: byte after byte */
            bool fine = true;
            for (unsigned k = 0; k < c.from_bytes && fine; k++) {
                fine = access_resolve(w, s, l, c.from + k, PTX_GLOBAL, 1, true, false,
                                      &shadow);
            }
            if (!fine) {
                continue;
            }
        }
        copy_begin(w, s, &c);
    }
    if (reading && processor->run->count) {
        coalescing_count(&processor->accesses[s->extra], sources, reading, s->bytes, 0);
    }
}

static void step_commit(struct warp *w, const struct step *, uint32_t mask) {
    bits_each(lane, mask) {
        w->copy_groups[lane]++;
    }
}

/* aux: groups that may stay away; UINT32_MAX: none, not even what is not committed. */
static void step_wait(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t limit[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t groups = w->copy_groups[l];
        limit[l] = s->aux == UINT32_MAX ? groups + 1
                   : groups > s->aux    ? groups - s->aux
                                        : 0;
    }
    copies_arrive(w, mask, limit);
}

/* ---- lowering ---- */

/* The last operand is a cache policy, which is a register: without effect here. ptxas
 * takes .L2::cache_hint without one, too. */
static bool has_policy(const struct lowering *l, const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_L2_CACHE_HINT) && i->operand_count > 3 &&
           lower_operand(l, i, i->operand_count - 1)->kind == PTX_OPERAND_REGISTER;
}

static enum lower_answer lower_copy(struct lowering *l, const struct ptx_instruction *i) {
    unsigned count = i->operand_count - has_policy(l, i);
    if (count < 3 || i->space_count != 2 || i->spaces[0] != PTX_SHARED ||
        i->spaces[1] != PTX_GLOBAL) {
        return LOWER_REFUSED;
    }
    const struct ptx_operand *to = lower_operand(l, i, 0), *from = lower_operand(l, i, 1);
    const struct ptx_operand *size = lower_operand(l, i, 2);
    const struct ptx_operand *rest = count > 3 ? lower_operand(l, i, 3) : NULL;
    bool known = size->kind == PTX_OPERAND_IMMEDIATE &&
                 (size->bits == 4 || size->bits == 8 || size->bits == 16);
    if (!known || to->kind != PTX_OPERAND_ADDRESS || from->kind != PTX_OPERAND_ADDRESS) {
        return LOWER_REFUSED;
    }
    uint32_t bases[2], third = STEP_NO_REGISTER;
    int64_t offsets[2];
    if (!lower_address(l, i, to, PTX_SHARED, &bases[0], &offsets[0]) ||
        !lower_address(l, i, from, PTX_GLOBAL, &bases[1], &offsets[1])) {
        return LOWER_REFUSED;
    }
    bool predicate = rest && rest->kind == PTX_OPERAND_REGISTER &&
                     lower_register_bytes(l, rest->index) == 0;
    if (rest) {
        third = lower_source(l, i, rest, predicate ? 0 : 4, PTX_U32);
    }
    struct access a = {.space = PTX_GLOBAL, .bytes = (uint8_t)size->bits, .count = 1};
    uint32_t extra = lower_add_access(l, &a);
    uint32_t source = bases[1];
    if (offsets[1] != 0) { /* the step has room for one offset */
        source = lower_temporary(l, 8);
        struct step *add = lower_step(l, i, step_add_offset, true);
        add->src[0] = bases[1];
        add->dst = source;
        add->offset = offsets[1];
    }
    struct step *s = lower_step(l, i, step_copy, true);
    s->src[0] = bases[0];
    s->src[1] = source;
    s->src[2] = third;
    s->offset = offsets[0];
    s->bytes = (uint8_t)size->bits;
    s->vector = !predicate;
    s->src_negated = predicate && rest->negated;
    s->extra = extra;
    return LOWER_DONE;
}

enum lower_answer lower_async_copy(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode != PTX_OP_CP || !ptx_has(i, PTX_M_ASYNC)) {
        return LOWER_NOT_MINE;
    }
    if (ptx_has(i, PTX_M_COMMIT_GROUP)) {
        lower_step(l, i, step_commit, true);
        return LOWER_DONE;
    }
    if (ptx_has(i, PTX_M_WAIT_ALL)) {
        lower_step(l, i, step_wait, true)->aux = UINT32_MAX;
        return LOWER_DONE;
    }
    if (ptx_has(i, PTX_M_WAIT_GROUP)) {
        const struct ptx_operand *n = i->operand_count ? lower_operand(l, i, 0) : NULL;
        if (!n || n->kind != PTX_OPERAND_IMMEDIATE || n->bits >= UINT32_MAX) {
            return LOWER_REFUSED;
        }
        lower_step(l, i, step_wait, true)->aux = (uint32_t)n->bits;
        return LOWER_DONE;
    }
    return lower_copy(l, i);
}
