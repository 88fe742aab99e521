/* warp operations: shuffles, votes, matches, reductions and the warp's own barrier.
 *
 * All lanes that a mask names and that have not exited come together, whatever split or
 * call they are in and whichever of several equal instructions they stand at; then the
 * operation is done for all of them at once. */
#include "base/find.h"
#include "gpu/ptx/access/undefined.h"
#include "gpu/ptx/machine/families.h"
#include "gpu/ptx/race/race.h"
#include "gpu/ptx/state/block.h"

enum warp_operation {
    OP_SHFL_UP,
    OP_SHFL_DOWN,
    OP_SHFL_BFLY,
    OP_SHFL_IDX,
    OP_VOTE_ALL,
    OP_VOTE_ANY,
    OP_VOTE_UNI,
    OP_VOTE_BALLOT,
    OP_MATCH_ANY,
    OP_MATCH_ALL,
    OP_REDUX_ADD,
    OP_REDUX_MIN_U,
    OP_REDUX_MAX_U,
    OP_REDUX_MIN_S,
    OP_REDUX_MAX_S,
    OP_REDUX_AND,
    OP_REDUX_OR,
    OP_REDUX_XOR,
    OP_ELECT,
    OP_SYNC,
};

#define EACH(mask, l)                                                                    \
    for (uint32_t m_##l = (mask), l; m_##l && (l = (uint32_t)__builtin_ctz(m_##l), 1);   \
         m_##l &= m_##l - 1)

/* The values of those who have come. */
struct meeting {
    uint32_t lanes;
    uint32_t predicate; /* source, then result */
    uint32_t strange;   /* lanes that asked one that is not there */
    uint8_t asked[WARP_LANES];
    uint64_t value[WARP_LANES]; /* source, then result */
    uint32_t b[WARP_LANES], c[WARP_LANES];
};

static void meeting_join(struct meeting *t, const uint8_t *regs, const struct step *s,
                         uint32_t lanes) {
    t->lanes |= lanes;
    if (s->src[0] != STEP_NO_REGISTER) {
        const uint8_t *a = regs + s->src[0];
        if (s->bytes == 0) {
            uint32_t p = *(const uint32_t *)(const void *)a;
            t->predicate |= (s->src_negated & 1 ? ~p : p) & lanes;
        } else if (s->bytes == 8) {
            EACH(lanes, l) {
                t->value[l] = ((const uint64_t *)(const void *)a)[l];
            }
        } else {
            EACH(lanes, l) {
                t->value[l] = ((const uint32_t *)(const void *)a)[l];
            }
        }
    }
    if (s->src[1] != STEP_NO_REGISTER) {
        const uint32_t *b = (const uint32_t *)(const void *)(regs + s->src[1]);
        const uint32_t *c = (const uint32_t *)(const void *)(regs + s->src[2]);
        EACH(lanes, l) {
            t->b[l] = b[l];
            t->c[l] = c[l];
        }
    }
}

static void meeting_leave(const struct meeting *t, uint8_t *regs, const struct step *s,
                          uint32_t lanes) {
    if (s->dst != STEP_NO_REGISTER && s->vector == 0) { /* a predicate */
        uint32_t *p = (uint32_t *)(void *)(regs + s->dst);
        *p = (*p & ~lanes) | (t->predicate & lanes);
    } else if (s->dst != STEP_NO_REGISTER) {
        uint32_t *d = (uint32_t *)(void *)(regs + s->dst);
        EACH(lanes, l) {
            d[l] = (uint32_t)t->value[l];
        }
    }
    if (s->dst2 != STEP_NO_REGISTER) {
        uint32_t *p = (uint32_t *)(void *)(regs + s->dst2);
        *p = (*p & ~lanes) | (t->predicate & lanes);
    }
}

/* ---- the operations ---- */

/* PTX ISA, shfl.sync: which lane is asked, and whether that is in range. */
static int shuffle_source(enum warp_operation op, int lane, uint32_t b, uint32_t c,
                          bool *ret_inside) {
    int bval = (int)(b & 31), cval = (int)(c & 31), segment = (int)(c >> 8 & 31);
    int most = (lane & segment) | (cval & ~segment), least = lane & segment;
    int j;
    switch (op) {
    case OP_SHFL_UP:
        j = lane - bval;
        *ret_inside = j >= most;
        break;
    case OP_SHFL_DOWN:
        j = lane + bval;
        *ret_inside = j <= most;
        break;
    case OP_SHFL_BFLY:
        j = lane ^ bval;
        *ret_inside = j <= most;
        break;
    default:
        j = least | (bval & ~segment);
        *ret_inside = j <= most;
        break;
    }
    return *ret_inside ? j & 31 : lane;
}

static void do_shuffle(struct meeting *t, enum warp_operation op) {
    uint64_t from[WARP_LANES];
    memcpy(from, t->value, sizeof from);
    t->predicate = 0;
    EACH(t->lanes, l) {
        bool inside;
        int j = shuffle_source(op, (int)l, t->b[l], t->c[l], &inside);
        t->predicate |= (uint32_t)inside << l;
        if (t->lanes >> j & 1) {
            t->value[l] = from[j];
        } else {
            t->strange |= 1u << l;
            t->asked[l] = (uint8_t)j;
        }
    }
}

static void do_vote(struct meeting *t, enum warp_operation op) {
    uint32_t on = t->predicate & t->lanes;
    bool result = op == OP_VOTE_ALL   ? on == t->lanes
                  : op == OP_VOTE_ANY ? on != 0
                                      : on == 0 || on == t->lanes;
    if (op == OP_VOTE_BALLOT) {
        EACH(t->lanes, l) {
            t->value[l] = on;
        }
        return;
    }
    t->predicate = result ? UINT32_MAX : 0;
}

static void do_match(struct meeting *t, enum warp_operation op) {
    uint64_t from[WARP_LANES];
    memcpy(from, t->value, sizeof from);
    bool all = true;
    EACH(t->lanes, l) {
        uint32_t same = 0;
        EACH(t->lanes, k) {
            same |= (uint32_t)(from[k] == from[l]) << k;
        }
        t->value[l] = same;
        all = all && same == t->lanes;
    }
    if (op == OP_MATCH_ALL) {
        EACH(t->lanes, l) {
            t->value[l] = all ? t->lanes : 0;
        }
        t->predicate = all ? UINT32_MAX : 0;
    }
}

static uint32_t reduce_two(enum warp_operation op, uint32_t a, uint32_t b) {
    switch (op) {
    case OP_REDUX_ADD:
        return a + b;
    case OP_REDUX_MIN_U:
        return a < b ? a : b;
    case OP_REDUX_MAX_U:
        return a > b ? a : b;
    case OP_REDUX_MIN_S:
        return (int32_t)a < (int32_t)b ? a : b;
    case OP_REDUX_MAX_S:
        return (int32_t)a > (int32_t)b ? a : b;
    case OP_REDUX_AND:
        return a & b;
    case OP_REDUX_OR:
        return a | b;
    default:
        return a ^ b;
    }
}

static void do_reduce(struct meeting *t, enum warp_operation op) {
    unsigned first = (unsigned)__builtin_ctz(t->lanes);
    uint32_t sum = (uint32_t)t->value[first];
    EACH(t->lanes & (t->lanes - 1), l) {
        sum = reduce_two(op, sum, (uint32_t)t->value[l]);
    }
    EACH(t->lanes, l) {
        t->value[l] = sum;
    }
}

static void meeting_do(struct meeting *t, enum warp_operation op) {
    if (op <= OP_SHFL_IDX) {
        do_shuffle(t, op);
    } else if (op <= OP_VOTE_BALLOT) {
        do_vote(t, op);
    } else if (op <= OP_MATCH_ALL) {
        do_match(t, op);
    } else if (op <= OP_REDUX_XOR) {
        do_reduce(t, op);
    } else if (op == OP_ELECT) {
        uint32_t leader = (uint32_t)__builtin_ctz(t->lanes);
        EACH(t->lanes, l) {
            t->value[l] = leader;
        }
        t->predicate = 1u << leader;
    }
}

/* A tree of shuffles up or down over fewer than 32 lanes reads past the end of its mask,
 * in lanes whose result is unused: correct, but it cannot be distinguished from an
 * error. */
static void tell_strange(struct warp *w, const struct step *s, const struct meeting *t,
                         uint32_t named) {
    EACH(t->strange, l) {
        unsigned j = t->asked[l];
        bool outside = !(named >> j & 1);
        bool tree = s->aux == OP_SHFL_UP || s->aux == OP_SHFL_DOWN;
        finding_add(
            &(struct finding_place){
                .warp = w, .step = s, .lane = l, .warning = outside && tree},
            FINDING_INVALID_MASK,
            "Shuffle reads lane %u, which %s: the value is undefined%s", j,
            outside ? "is not in the mask" : "has exited",
            outside && tree ? ", which is right only where nothing uses it" : "");
    }
}

/* ---- meeting ---- */

/* Undefined bytes move along (access/undefined.h). */
static void follow_shuffle(struct warp *w, const struct meeting *t,
                           struct shuffled *through, enum warp_operation op) {
    if (!w->undefined || op > OP_SHFL_IDX) {
        return;
    }
    EACH(t->lanes, l) {
        bool inside;
        int j = shuffle_source(op, (int)l, t->b[l], t->c[l], &inside);
        through->from[l] = (uint8_t)(t->lanes >> j & 1 ? j : (int)l);
    }
    undefined_shuffle(w, through);
}

static void do_alone(struct warp *w, const struct step *s, uint32_t lanes,
                     uint32_t named) {
    struct meeting t; /* its arrays have values of the lanes that come only */
    t.lanes = t.predicate = t.strange = 0;
    warp_met(w);
    race_meet(w, lanes, s->aux == OP_SYNC);
    meeting_join(&t, w->head.regs, s, lanes);
    meeting_do(&t, (enum warp_operation)s->aux);
    meeting_leave(&t, w->head.regs, s, lanes);
    if (w->undefined) {
        struct shuffled through = {.parts = 1, .part = {{w->frame, s, lanes}}};
        follow_shuffle(w, &t, &through, (enum warp_operation)s->aux);
    }
    if (t.strange) {
        tell_strange(w, s, &t, named);
    }
}

static bool same_meeting(const struct split *a, const struct split *b) {
    return b->state == SPLIT_MEET && a->members == b->members &&
           a->at->run == b->at->run && a->at->aux == b->at->aux &&
           a->at->bytes == b->at->bytes;
}

static void meet_if_complete(struct warp *w, const struct split *p) {
    uint32_t here = 0;
    for (uint32_t k = 0; k < w->pending_count; k++) {
        here |= same_meeting(p, &w->pending[k]) ? w->pending[k].lanes : 0;
    }
    if (p->members & w->live & ~here) {
        return;
    }
    struct split key = *p;
    struct meeting t = {.lanes = 0, .predicate = 0, .strange = 0};
    list_each(k, q, w->pending, w->pending_count) {
        if (same_meeting(&key, q)) {
            meeting_join(&t, q->frame->regs, q->at, q->lanes);
        }
    }
    meeting_do(&t, (enum warp_operation)key.at->aux);
    warp_met(w);
    race_meet(w, t.lanes, key.at->aux == OP_SYNC);
    struct shuffled through = {.parts = 0};
    list_each(k, q, w->pending, w->pending_count) {
        if (same_meeting(&key, q)) {
            meeting_leave(&t, q->frame->regs, q->at, q->lanes);
            q->state = SPLIT_READY;
            through.part[through.parts++] =
                (struct shuffled_part){q->frame, q->at, q->lanes};
        }
    }
    follow_shuffle(w, &t, &through, (enum warp_operation)key.at->aux);
    if (t.strange) {
        tell_strange(w, key.at, &t, key.members);
    }
}

/* Masks that differ between lanes, or lanes that are not all here. */
static __attribute__((noinline)) void meet_groups(struct warp *w, const struct step *s,
                                                  uint32_t mask) {
    uint32_t members[WARP_LANES];
    memcpy(members, LANES(const uint32_t, w, s->src[3]), sizeof members);
    while (mask) {
        unsigned first = (unsigned)__builtin_ctz(mask);
        uint32_t group = 0;
        EACH(mask, l) {
            group |= (uint32_t)(members[l] == members[first]) << l;
        }
        mask &= ~group;
        uint32_t named = members[first];
        EACH(group & ~named, l) {
            finding_add(&(struct finding_place){.warp = w, .step = s, .lane = l},
                        FINDING_INVALID_MASK,
                        "The mask 0x%08x does not name the lane %u that uses it", named,
                        l);
        }
        named |= group;
        if ((named & w->live & ~group) == 0) {
            do_alone(w, s, group, named);
        } else {
            warp_park_to_meet(w, group, s, named, meet_if_complete);
        }
    }
    warp_check_meets(w);
}

/* ---- shuffles of whole warps in which all lanes ask alike ---- */

typedef uint32_t four_words __attribute__((vector_size(16), may_alias));

static bool all_are(const uint32_t of[WARP_LANES], uint32_t word) {
    const four_words *at = (const four_words *)(const void *)of;
    four_words same = {word, word, word, word}, differ = at[0] ^ same;
    for (unsigned k = 1; k < WARP_LANES / 4; k++) {
        differ |= at[k] ^ same;
    }
    return (differ[0] | differ[1] | differ[2] | differ[3]) == 0;
}

struct way {
    uint32_t key, inside;
    uint8_t from[WARP_LANES];
};

static const struct way *way_of(enum warp_operation op, uint32_t b, uint32_t c) {
    static __thread struct way ways[WARP_LANES];
    struct way *way = &ways[b % WARP_LANES];
    uint32_t key = UINT32_C(1) << 31 | (uint32_t)op << 16 | (c & 0x1f1f);
    if (way->key != key) {
        *way = (struct way){.key = key};
        for (int l = 0; l < WARP_LANES; l++) {
            bool inside;
            way->from[l] = (uint8_t)shuffle_source(op, l, b, c, &inside);
            way->inside |= (uint32_t)inside << l;
        }
    }
    return way;
}

static bool shuffle_whole(struct warp *w, const struct step *s) {
    const uint32_t *a = LANES(const uint32_t, w, s->src[0]);
    const uint32_t *b = LANES(const uint32_t, w, s->src[1]);
    const uint32_t *c = LANES(const uint32_t, w, s->src[2]);
    if (w->undefined || !all_are(b, b[0]) || !all_are(c, c[0])) {
        return false;
    }
    const struct way *way = way_of((enum warp_operation)s->aux, b[0], c[0]);
    uint32_t got[WARP_LANES];
    for (unsigned l = 0; l < WARP_LANES; l++) {
        got[l] = a[way->from[l]];
    }
    if (s->dst != STEP_NO_REGISTER) {
        memcpy(LANES(uint32_t, w, s->dst), got, sizeof got);
    }
    if (s->dst2 != STEP_NO_REGISTER) {
        *LANES(uint32_t, w, s->dst2) = way->inside;
    }
    warp_met(w);
    race_meet(w, UINT32_MAX, false);
    return true;
}

static void step_warp_operation(struct warp *w, const struct step *s, uint32_t mask) {
    const uint32_t *members = LANES(const uint32_t, w, s->src[3]);
    if (mask == UINT32_MAX && s->aux <= OP_SHFL_IDX && all_are(members, UINT32_MAX) &&
        shuffle_whole(w, s)) {
        return;
    }
    uint32_t named = members[__builtin_ctz(mask)], differ = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        differ |= mask >> l & 1 ? members[l] ^ named : 0;
    }
    if (differ == 0 && (mask & ~named) == 0 && (named & w->live & ~mask) == 0) {
        if (s->aux != OP_SYNC) {
            do_alone(w, s, mask, named);
        } else {
            warp_met(w);
            race_meet(w, mask, true);
        }
        return;
    }
    meet_groups(w, s, mask);
}

static void step_activemask(struct warp *w, const struct step *s, uint32_t mask) {
    uint32_t *d = LANES(uint32_t, w, s->dst);
    EACH(mask, l) {
        d[l] = mask;
    }
}

/* ---- lowering ---- */

static int shuffle_operation(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_UP)     ? OP_SHFL_UP
           : ptx_has(i, PTX_M_DOWN) ? OP_SHFL_DOWN
           : ptx_has(i, PTX_M_BFLY) ? OP_SHFL_BFLY
           : ptx_has(i, PTX_M_IDX)  ? OP_SHFL_IDX
                                    : -1;
}

static int vote_operation(const struct ptx_instruction *i) {
    return ptx_has(i, PTX_M_ALL)      ? OP_VOTE_ALL
           : ptx_has(i, PTX_M_ANY)    ? OP_VOTE_ANY
           : ptx_has(i, PTX_M_UNI)    ? OP_VOTE_UNI
           : ptx_has(i, PTX_M_BALLOT) ? OP_VOTE_BALLOT
                                      : -1;
}

static int redux_operation(const struct ptx_instruction *i) {
    bool is_signed = i->types[0] == PTX_S32;
    if (ptx_type_bytes(i->types[0]) != 4 || ptx_type_float(i->types[0])) {
        return -1;
    }
    return ptx_has(i, PTX_M_ADD)   ? OP_REDUX_ADD
           : ptx_has(i, PTX_M_MIN) ? (is_signed ? OP_REDUX_MIN_S : OP_REDUX_MIN_U)
           : ptx_has(i, PTX_M_MAX) ? (is_signed ? OP_REDUX_MAX_S : OP_REDUX_MAX_U)
           : ptx_has(i, PTX_M_AND) ? OP_REDUX_AND
           : ptx_has(i, PTX_M_OR)  ? OP_REDUX_OR
           : ptx_has(i, PTX_M_XOR) ? OP_REDUX_XOR
                                   : -1;
}

static int warp_operation(const struct ptx_instruction *i) {
    if (!ptx_has(i, PTX_M_SYNC)) {
        return -1;
    }
    switch (i->opcode) {
    case PTX_OP_SHFL:
        return shuffle_operation(i);
    case PTX_OP_VOTE:
        return vote_operation(i);
    case PTX_OP_MATCH:
        return ptx_has(i, PTX_M_ANY)   ? OP_MATCH_ANY
               : ptx_has(i, PTX_M_ALL) ? OP_MATCH_ALL
                                       : -1;
    case PTX_OP_REDUX:
        return i->type_count ? redux_operation(i) : -1;
    case PTX_OP_ELECT:
        return OP_ELECT;
    default:
        return OP_SYNC;
    }
}

/* Results first, then a (, b, c), then the mask. */
static enum lower_answer lower_operation(struct lowering *l,
                                         const struct ptx_instruction *i, int op) {
    bool vote = i->opcode == PTX_OP_VOTE;
    unsigned results = op == OP_SYNC ? 0 : i->has_pair ? 2 : 1;
    unsigned sources = i->operand_count - results;
    unsigned want = op <= OP_SHFL_IDX ? 4 : op == OP_SYNC || op == OP_ELECT ? 1 : 2;
    unsigned bytes = vote ? 0 : i->type_count ? ptx_type_bytes(i->types[0]) : 4;
    if (i->operand_count <= results || sources != want) {
        return LOWER_REFUSED;
    }
    uint32_t src[4] = {STEP_NO_REGISTER, STEP_NO_REGISTER, STEP_NO_REGISTER, 0};
    for (unsigned k = 0; k + 1 < sources; k++) {
        src[k] = lower_source(l, i, lower_operand(l, i, results + k), k ? 4 : bytes,
                              vote ? PTX_PRED : PTX_B32);
    }
    src[3] = lower_source(l, i, lower_operand(l, i, i->operand_count - 1), 4, PTX_B32);
    bool predicate = vote && op != OP_VOTE_BALLOT;
    uint32_t dst = STEP_NO_REGISTER, dst2 = STEP_NO_REGISTER;
    if (results > 0) {
        dst = lower_result(l, lower_operand(l, i, 0), predicate ? 0 : 4, false);
    }
    if (results > 1) {
        dst2 = lower_result(l, lower_operand(l, i, 1), 0, false);
    }
    struct step *s = lower_step(l, i, step_warp_operation, false);
    memcpy(s->src, src, sizeof src);
    s->dst = dst;
    s->dst2 = dst2;
    s->aux = (uint32_t)op;
    s->bytes = (uint8_t)bytes;
    s->vector = !predicate;
    s->src_negated = sources > 1 && lower_operand(l, i, results)->negated;
    return LOWER_DONE;
}

enum lower_answer lower_warp(struct lowering *l, const struct ptx_instruction *i) {
    switch (i->opcode) {
    case PTX_OP_ACTIVEMASK: {
        uint32_t to = lower_result(l, lower_operand(l, i, 0), 4, false);
        lower_step(l, i, step_activemask, false)->dst = to;
        return LOWER_DONE;
    }
    case PTX_OP_BAR:
        if (!ptx_has(i, PTX_M_WARP)) {
            return LOWER_NOT_MINE;
        }
        break;
    case PTX_OP_SHFL:
    case PTX_OP_VOTE:
    case PTX_OP_MATCH:
    case PTX_OP_REDUX:
    case PTX_OP_ELECT:
        break;
    default:
        return LOWER_NOT_MINE;
    }
    int op = warp_operation(i);
    return op < 0 ? LOWER_REFUSED : lower_operation(l, i, op);
}
