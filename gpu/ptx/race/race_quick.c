/* The short way for a warp's plain loads and stores in one piece of memory, whose cells hold
 * nothing that they could race with: nearly all. Whatever else there is to say or to note,
 * race_look.c says and notes. Compiled for each vector extension (lanes.h). */
#include "gpu/ptx/alu/lanes.h"
#include "gpu/ptx/race/race_cells.h"

struct quick {
    struct look look;
    const struct access *access;
    uint64_t bytes; /* of the memory */
    uint32_t mask;
    uint32_t heads; /* lanes that lie elsewhere than the one before them */
    bool level;    /* all lanes at one place */
    bool rising;   /* all lanes, one behind the other */
    bool constant; /* nobody may write there */
    unsigned more; /* cells of a lane besides its first */
    uint64_t low, high; /* offsets of the lowest and the highest lane */
    uint64_t offsets[LANES_COUNT] __attribute__((aligned(64))); /* lanes out of the */
    int32_t cells[LANES_COUNT] __attribute__((aligned(64))); /* mask: the first's */
};

/* ---- where ---- */

static bool find_shared(struct quick *q, uint64_t base) {
    struct block *b = q->look.warp->block;
    q->look.owner = b;
    q->look.shadow = &b->race->shadow;
    q->look.events = &b->race->events;
    q->look.base = base;
    q->bytes = b->shared_bytes;
    return true;
}

static bool find_global(struct quick *q, uint64_t first) {
    struct processor *p = q->look.warp->processor;
    struct allocation *in = p->last[q->look.step->extra];
    if (!in || first - in->address >= in->bytes) {
        in = memory_find(p->run->memory, first);
    }
    if (!in || in->freed) {
        return false;
    }
    q->constant = !in->writable;
    q->look.shadow = in->race;
    q->look.events = &p->run->race->events;
    q->look.base = in->address;
    q->bytes = in->bytes;
    return in->race || q->constant;
}

static bool find_memory(struct quick *q, uint64_t first) {
    switch (q->access->space) {
    case PTX_SHARED:
        return find_shared(q, 0);
    case PTX_GENERIC:
        return first - MEMORY_SHARED < MEMORY_WINDOW_BYTES
                   ? find_shared(q, MEMORY_SHARED)
                   : find_global(q, first);
    case PTX_GLOBAL:
    case PTX_CONST:
        return find_global(q, first);
    default:
        return false;
    }
}

/* All lanes are inside, and aligned. */
static bool find_offsets(struct quick *q, uint64_t first, const uint64_t *base) {
    uint64_t away = (uint64_t)q->look.step->offset - q->look.base;
    uint64_t begin = first - q->look.base, size = q->look.bytes;
    uint64_t most = 0, least = UINT64_MAX, low = 0, differ = 0, apart = 0;
    if (q->mask == UINT32_MAX) {
        LANES_FOR {
            q->offsets[l] = base[l] + away;
        }
    } else {
        const uint32_t *on = q->look.warp->masks;
        LANES_FOR {
            q->offsets[l] = on[l] ? base[l] + away : begin;
        }
    }
    LANES_FOR {
        uint64_t o = q->offsets[l];
        most = o > most ? o : most;
        least = o < least ? o : least;
        low |= o;
        differ |= o ^ begin;
        apart |= o ^ (begin + l * size);
    }
    q->low = least;
    q->high = most;
    q->level = differ == 0;
    q->rising = q->mask == UINT32_MAX && apart == 0;
    return q->bytes >= size && most <= q->bytes - size &&
           (low & ((size < 4 ? size : 4) - 1)) == 0;
}

/* The cells are there, and hold no more than the last accesses. */
static bool is_plain(const struct quick *q) {
    const struct race_shadow *s = q->look.shadow;
    bool reads = !(q->look.kind & RACE_WRITE);
    return s->write && (s->read[0] || !reads) && !s->other && !s->plain &&
           s->generation == q->look.events->generation && q->look.bytes >> s->grain &&
           q->bytes >> s->grain < INT32_MAX;
}

/* Of all lanes. */
LANE_INLINE uint32_t heads_of(const int32_t *cells) {
#ifdef __AVX512F__
    __m512i low = _mm512_load_si512(cells), high = _mm512_load_si512(cells + 16);
    uint32_t differ = _mm512_cmpneq_epi32_mask(low, _mm512_alignr_epi32(low, low, 15));
    differ |= (uint32_t)_mm512_cmpneq_epi32_mask(high, _mm512_alignr_epi32(high, low, 15))
              << 16;
    return differ | 1;
#else
    uint32_t heads = 1;
    for (unsigned l = 1; l < LANES_COUNT; l++) {
        heads |= (uint32_t)(cells[l] != cells[l - 1]) << l;
    }
    return heads;
#endif
}

static void find_cells(struct quick *q) {
    unsigned grain = q->look.shadow->grain;
    q->more = (q->look.bytes >> grain) - 1;
    LANES_FOR {
        q->cells[l] = (int32_t)(q->offsets[l] >> grain);
    }
    q->heads = q->mask == UINT32_MAX ? heads_of(q->cells) : q->mask;
}

/* ---- what the cells hold ---- */

/* One cell of each lane, in a plane. */
#ifdef __AVX512F__
struct row {
    __m512i low, high;
};

/* Compilers make no gathers of loops. */
LANE_INLINE struct row row_take(const struct quick *q, const uint32_t *plane) {
    if (q->rising && q->more == 0) {
        plane += q->cells[0];
        return (struct row){_mm512_loadu_si512(plane), _mm512_loadu_si512(plane + 16)};
    }
    __m512i low = _mm512_load_si512(q->cells), high = _mm512_load_si512(q->cells + 16);
    return (struct row){_mm512_i32gather_epi32(low, plane, 4),
                        _mm512_i32gather_epi32(high, plane, 4)};
}

/* The lanes with at least this value. */
LANE_INLINE uint32_t row_reaches(struct row r, uint32_t least) {
    __m512i x = _mm512_set1_epi32((int)least);
    return _mm512_cmpge_epu32_mask(r.low, x) |
           (uint32_t)_mm512_cmpge_epu32_mask(r.high, x) << 16;
}

LANE_INLINE uint32_t row_has(struct row r, uint32_t bit) {
    __m512i x = _mm512_set1_epi32((int)bit);
    return _mm512_test_epi32_mask(r.low, x) |
           (uint32_t)_mm512_test_epi32_mask(r.high, x) << 16;
}
#else
struct row {
    uint32_t of[LANES_COUNT] __attribute__((aligned(64)));
};

LANE_INLINE struct row row_take(const struct quick *q, const uint32_t *plane) {
    struct row r;
    for (unsigned l = 0; l < LANES_COUNT; l++) {
        r.of[l] = plane[q->cells[l]];
    }
    return r;
}

LANE_INLINE uint32_t row_reaches(struct row r, uint32_t least) {
    LANES_TRUTH(reaches);
    LANES_FOR {
        reaches[l] = r.of[l] >= least ? UINT32_MAX : 0;
    }
    return lanes_bits_32(reaches);
}

LANE_INLINE uint32_t row_has(struct row r, uint32_t bit) {
    LANES_TRUTH(has);
    LANES_FOR {
        has[l] = r.of[l] & bit ? UINT32_MAX : 0;
    }
    return lanes_bits_32(has);
}
#endif

LANE_INLINE uint32_t over_of(const struct quick *q) {
    return q->look.events->first << RACE_LANE_BITS;
}

/* The lanes whose cells hold a write that is not over, or for a store also a read. */
LANE_INLINE uint32_t lanes_used(const struct quick *q, bool store) {
    const struct race_shadow *s = q->look.shadow;
    uint32_t over = over_of(q), used = 0;
    for (unsigned n = 0; n <= q->more && s->written >= q->look.events->first; n++) {
        used |= row_reaches(row_take(q, s->write + n), over);
    }
    for (unsigned n = 0; n <= q->more && store && s->read[0]; n++) {
        used |= row_reaches(row_take(q, s->read[0] + n), over) |
                row_reaches(row_take(q, s->read[1] + n), over);
    }
    return used & q->mask;
}

/* The lanes that read what has not been read enough. */
LANE_INLINE uint32_t lanes_new(const struct quick *q) {
    const struct race_shadow *s = q->look.shadow;
    uint32_t over = over_of(q), enough = UINT32_MAX;
    for (unsigned n = 0; n <= q->more; n++) {
        struct row two = row_take(q, s->read[1] + n);
        enough &= row_reaches(two, over) & row_has(two, RACE_APART) &
                  row_reaches(row_take(q, s->read[0] + n), over);
    }
    return ~enough & q->mask;
}

/* The same of `count` cells from `first` on, all at once: whether none of them needs a
 * look. */
LANE_INLINE bool are_read(const struct quick *q, uint64_t first, uint64_t count) {
    const struct race_shadow *s = q->look.shadow;
    const uint32_t *one = s->read[0] + first, *two = s->read[1] + first;
    const uint32_t *write = s->write + first;
    uint32_t over = over_of(q), bad = 0;
    bool written = s->written >= q->look.events->first;
#ifdef __AVX512F__
    __m512i x = _mm512_set1_epi32((int)over), apart = _mm512_set1_epi32(RACE_APART);
    for (uint64_t c = 0; c < count; c += 16) {
        __mmask16 in = (__mmask16)(count - c < 16 ? (1u << (count - c)) - 1 : 0xffff);
        __m512i b = _mm512_maskz_loadu_epi32(in, two + c);
        bad |= _mm512_mask_testn_epi32_mask(in, b, apart) |
               _mm512_mask_cmplt_epu32_mask(in, b, x) |
               _mm512_mask_cmplt_epu32_mask(
                   in, _mm512_maskz_loadu_epi32(in, one + c), x);
        bad |= written ? _mm512_mask_cmpge_epu32_mask(
                             in, _mm512_maskz_loadu_epi32(in, write + c), x)
                       : 0u;
    }
#else
    for (uint64_t c = 0; c < count; c++) {
        bad |= !(two[c] & RACE_APART) | (two[c] < over) | (one[c] < over) |
               (written & (write[c] >= over));
    }
#endif
    return !bad;
}

/* The same lane after lane. */
LANE_INLINE bool few_are_read(const struct quick *q, uint32_t lanes) {
    bits_each(lane, lanes) {
        if (!are_read(q, (uint64_t)q->cells[lane], q->more + 1)) {
            return false;
        }
    }
    return true;
}

static bool are_ordered(struct quick *q, uint32_t lanes) {
    const struct race_shadow *s = q->look.shadow;
    bool reads = (q->look.kind & RACE_WRITE) && s->read[0];
    bits_each(lane, lanes) {
        for (int32_t c = q->cells[lane], end = c + (int32_t)q->more; c <= end; c++) {
            if (!is_ordered(&q->look, s->write[c], lane) ||
                (reads && (!is_ordered(&q->look, s->read[0][c], lane) ||
                           !is_ordered(&q->look, s->read[1][c], lane)))) {
                return false;
            }
        }
    }
    return true;
}

/* ---- what the access leaves there ---- */

/* false: older events had to be dropped for this one, so what was seen of the cells no
 * longer holds. */
static bool take_event(struct quick *q) {
    uint32_t first = q->look.events->first;
    q->look.id = race_event_id(&q->look);
    return q->look.events->first == first;
}

/* Nobody has read the cells since they were last void, and each lane has its own. */
static bool note_first_reads(struct quick *q) {
    struct race_shadow *s = q->look.shadow;
    uint32_t over = over_of(q), cell = q->look.id << RACE_LANE_BITS, any = 0;
    uint32_t *one = s->read[0] + q->cells[0], *two = s->read[1] + q->cells[0];
    if (!q->rising || q->more) {
        return false;
    }
    LANES_FOR {
        any |= one[l] >= over || two[l] >= over ? UINT32_MAX : 0;
    }
    if (any) {
        return false;
    }
    LANES_FOR {
        one[l] = cell | l;
        two[l] = 0;
    }
    return true;
}

/* Further lanes at the place of this one add nothing. */
static bool is_noted(const struct quick *q, unsigned lane) {
    const struct race_shadow *s = q->look.shadow;
    uint32_t own = q->look.id, over = over_of(q);
    for (int32_t c = q->cells[lane], end = c + (int32_t)q->more; c <= end; c++) {
        uint32_t one = s->read[0][c], two = s->read[1][c];
        if (two >> RACE_LANE_BITS != own &&
            (one >> RACE_LANE_BITS != own || two < over)) {
            return false;
        }
    }
    return true;
}

static bool note_reads(struct quick *q, uint32_t lanes) {
    if (!take_event(q)) {
        return false;
    }
    if (note_first_reads(q)) {
        return true;
    }
    bool noted = false;
    bits_each(lane, lanes) {
        if (!noted || (q->heads >> lane & 1)) {
            lane_note(&q->look, lane, q->offsets[lane]);
            noted = is_noted(q, lane);
        }
    }
    return true;
}

static bool note_writes(struct quick *q) {
    struct race_shadow *s = q->look.shadow;
    if (!take_event(q)) {
        return false;
    }
    uint32_t cell = q->look.id << RACE_LANE_BITS, hidden = 0;
    bits_each(l, q->mask) {
        lane_note(&q->look, l, q->offsets[l]);
    }
    bits_each(l, q->rising ? 0 : q->mask) {
        hidden |= s->write[q->cells[l]] ^ (cell | l);
    }
    if (hidden) { /* lanes at one place */
        uint64_t addresses[LANES_COUNT];
        LANES_FOR {
            addresses[l] = q->offsets[l] + q->look.base;
        }
        race_check_lanes(&q->look, q->access, addresses, q->mask);
    }
    return true;
}

/* ---- all ---- */

/* All lanes at one place: what holds for the first and the last holds for each. */
static void keep_ends(struct quick *q) {
    q->mask = 1u << __builtin_ctz(q->mask) | 1u << (31 - __builtin_clz(q->mask));
    q->heads = q->mask;
}

enum { FEW = 4, NEAR = 64 };

/* Without exactness: cells between the lanes' may be the reason for false. */
static bool was_all_read(const struct quick *q) {
    unsigned grain = q->look.shadow->grain;
    uint64_t first = q->low >> grain, count = (q->high >> grain) - first + q->more + 1;
    return (unsigned)__builtin_popcount(q->heads) <= FEW ? few_are_read(q, q->heads)
           : count <= NEAR                               ? are_read(q, first, count)
                                                         : false;
}

static bool read_quick(struct quick *q) {
    if (was_all_read(q)) {
        return true;
    }
    if (q->level) {
        keep_ends(q);
        return are_ordered(q, q->mask) && note_reads(q, q->mask);
    }
    uint32_t used = lanes_used(q, false), fresh = lanes_new(q);
    return are_ordered(q, used) && (!fresh || note_reads(q, fresh));
}

static bool write_quick(struct quick *q) {
    return are_ordered(q, q->level ? q->mask : lanes_used(q, true)) && note_writes(q);
}

/* A store of one lane behind a fence may be a flag: race_synchronise. */
static bool is_plain_access(const struct warp *w, const struct access *a, uint32_t mask) {
    bool lone = (mask & (mask - 1)) == 0;
    bool fenced = w->race->fenced || w->race->fenced_block;
    return a->race == RACE_READ || (a->race == RACE_WRITE && !(lone && fenced));
}

static bool cells_quick(struct quick *q) {
    bool store = q->access->race == RACE_WRITE;
    uint32_t mask = q->mask;
    if (!is_plain(q)) {
        return false;
    }
    find_cells(q);
    if (!(store ? write_quick(q) : read_quick(q))) {
        return false;
    }
    if (store && !q->look.owner) {
        race_store_note(q->look.warp, q->look.step, mask);
    }
    return true;
}

bool LANES_NAME(race_quick)(struct warp *w, const struct step *s, uint32_t mask) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    struct quick q; /* not all of it is set */
    if (!is_plain_access(w, a, mask)) {
        return false;
    }
    q.look = (struct look){.warp = w,
                           .step = s,
                           .kind = a->race | (w->race->fenced ? RACE_FENCED : 0u),
                           .bytes = (unsigned)a->bytes * a->count,
                           .judged = UINT32_MAX};
    q.access = a;
    q.mask = mask;
    q.constant = false;
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    uint64_t first = base[__builtin_ctz(mask)] + (uint64_t)s->offset;
    return find_memory(&q, first) && find_offsets(&q, first, base) &&
           (q.constant || cells_quick(&q));
}
