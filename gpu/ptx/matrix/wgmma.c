#include "gpu/ptx/matrix/wgmma.h"
#include "base/find.h"

#include "gpu/ptx/matrix/tensor_core.h"
#include "gpu/ptx/matrix/wgmma_operand.h"
#include "gpu/ptx/race/race.h"

#define GROUP_WARPS 4
#define MAX_ISSUED 4096 /* not waited for, of one warp; then the oldest are forgotten */

/* ---- what is issued ---- */

struct issued {
    const struct step *step;
    const struct code *code;
    uint64_t number; /* of this warp's, from 1 */
    uint32_t group;
    bool committed_late; /* told */
    bool checked;        /* some warp has waited for it */
    uint8_t operands;
    struct wgmma_operand operand[2];
    uint64_t sum[2];
    uint32_t race; /* stamp of its reads: of its group */
};

struct wgmma_queue {
    uint64_t count; /* issued since the block began */
    uint32_t group; /* committed */
    bool fenced, told_group;
    struct race_copy reads; /* of the group that is not committed */
    uint32_t seen;          /* stamp of what the warp has waited for */
    struct issued *items;
    uint32_t item_count, item_room;
};

static struct wgmma_queue *queue_of(struct warp *w) {
    if (!w->wgmma) {
        w->wgmma = xcalloc(1, sizeof *w->wgmma);
    }
    return w->wgmma;
}

void wgmma_start(struct warp *w) {
    struct wgmma_queue *q = w->wgmma;
    if (q) {
        *q = (struct wgmma_queue){.items = q->items, .item_room = q->item_room};
    }
}

void wgmma_finish(struct warp *w) {
    if (w->wgmma) {
        free(w->wgmma->items);
        free(w->wgmma);
        w->wgmma = NULL;
    }
}

static struct issued *issued_add(struct wgmma_queue *q) {
    if (q->item_count == MAX_ISSUED) {
        q->item_count--;
        memmove(q->items, q->items + 1, q->item_count * sizeof *q->items);
    }
    list_room(q->items, q->item_count, q->item_room, 16);
    struct issued *x = &q->items[q->item_count++];
    *x = (struct issued){.number = ++q->count, .group = q->group};
    return x;
}

/* The four warps that w is one of: those the block has. */
static struct warp *group_of(const struct warp *w, unsigned *ret_count) {
    uint32_t first = w->index / GROUP_WARPS * GROUP_WARPS;
    uint32_t left = w->block->warp_count - first;
    *ret_count = left < GROUP_WARPS ? left : GROUP_WARPS;
    return &w->block->warps[first];
}

/* One warp's wait is for the reads of all four: what they know meets at this address of
 * no memory. */
static uint64_t race_place(const struct warp *w) {
    return (UINT64_C(1) << 41) + w->index / GROUP_WARPS;
}

/* ---- findings ---- */

static void tell_at(struct warp *w, const struct issued *x, enum finding_code code,
                    bool warning, const char *text) {
    struct frame *running = w->frame;
    struct frame place = {.code = x->code};
    w->frame = &place;
    finding_add(&(struct finding_place){.warp = w, .step = x->step, .warning = warning},
                code, "%s", text);
    w->frame = running;
}

static bool group_is_whole(struct warp *w, const struct step *s) {
    unsigned count;
    struct wgmma_queue *q = queue_of(w);
    group_of(w, &count);
    if (count == GROUP_WARPS) {
        return true;
    }
    if (!q->told_group) {
        q->told_group = true;
        finding_add(&(struct finding_place){.warp = w, .step = s}, FINDING_LAUNCH_ERROR,
                    "wgmma needs a warpgroup of four warps; the block's last one has %u; "
                    "the threads stop",
                    count);
        run_fault(w->processor->run);
    }
    warp_exit_lanes(w, UINT32_MAX);
    return false;
}

/* All four warps do the same. */
static void check_same(struct warp *w, const struct issued *x) {
    unsigned count;
    struct warp *group = group_of(w, &count);
    for (unsigned k = 0; k < count; k++) {
        const struct wgmma_queue *q = group[k].wgmma;
        for (uint32_t n = 0; q && &group[k] != w && n < q->item_count; n++) {
            if (q->items[n].number == x->number && q->items[n].step != x->step) {
                tell_at(w, x, FINDING_INVALID_MASK, false,
                        "The warps of a warpgroup are at different wgmma instructions");
                return;
            }
        }
    }
}

/* ---- issuing ---- */

static bool scale_is_on(const struct warp *w, const struct step *s) {
    uint32_t bits =
        *(const uint32_t *)(const void *)(w->head.regs + s->src[MATRIX_PREDICATE]);
    return ((s->src_negated >> MATRIX_PREDICATE & 1 ? ~bits : bits) & 1) != 0;
}

static void product_real(struct warp *w, const struct matrix *m, bool add,
                         const uint8_t *a, const uint8_t *b) {
    double sums[MATRIX_MAX_SUMS] __attribute__((aligned(64)));
    if (add) {
        accumulators_take(w, m, sums);
    } else {
        memset(sums, 0, (size_t)m->product.m * m->product.n * sizeof *sums);
    }
    m->arithmetic->real(&m->product, a, b, sums);
    accumulators_give(w, m, sums);
}

static void product_whole(struct warp *w, const struct matrix *m, bool add,
                          const uint8_t *a, const uint8_t *b) {
    int32_t c[MATRIX_MAX_SUMS], sums[MATRIX_MAX_SUMS];
    bool bits = m->product.a == PTX_B1;
    (bits ? m->arithmetic->bits : m->arithmetic->whole)(&m->product, a, b, sums);
    if (add) {
        accumulators_take_whole(w, m, c);
    } else {
        memset(c, 0, (size_t)m->product.m * m->product.n * sizeof *c);
    }
    accumulators_add_whole(w, m, c, sums);
}

static void product_sparse(struct warp *w, const struct step *s, const struct matrix *m,
                           const uint8_t *a, const uint8_t *b) {
    uint8_t spread[2][16 * ROW_BYTES], split[2][MATRIX_MAX_N * ROW_BYTES];
    uint8_t places[16 * ROW_BYTES];
    uint8_t *as[2] = {spread[0], spread[1]}, *bs[2] = {split[0], split[1]};
    size_t count = (size_t)m->product.m * m->product.n;
    bool add = scale_is_on(w, s);
    sparse_places(w, s, m, places);
    if (matrix_is_tensor_core(w, m)) {
        tensor_core_multiply(w, m, add, a, places, b);
        return;
    }
    sparse_spread(m, a, places, as);
    sparse_split(m, b, bs);
    if (matrix_is_whole((enum ptx_type)m->type_d)) {
        int32_t c[MATRIX_MAX_SUMS], sums[MATRIX_MAX_SUMS];
        sparse_whole(m, as, bs, sums, c);
        memset(c, 0, count * sizeof *c);
        if (add) {
            accumulators_take_whole(w, m, c);
        }
        accumulators_add_whole(w, m, c, sums);
        return;
    }
    double sums[MATRIX_MAX_SUMS] __attribute__((aligned(64)));
    memset(sums, 0, count * sizeof *sums);
    if (add) {
        accumulators_take(w, m, sums);
    }
    sparse_real(m, as, bs, sums);
    accumulators_give(w, m, sums);
}

/* The tensor core reads independently until a warp waits for the group. */
static struct race_copy reads_of_group(struct warp *w) {
    struct wgmma_queue *q = w->wgmma;
    q->reads = q->reads.stamp ? q->reads : race_copy_begin(w);
    return q->reads;
}

static void take_operands(struct warp *w, const struct step *s, const struct matrix *m,
                          struct issued *x, uint8_t *a, uint8_t *b) {
    unsigned rank = w->index % GROUP_WARPS;
    uint64_t second = LANES(const uint64_t, w, s->src[MATRIX_SECOND])[0];
    struct race_copy reads = reads_of_group(w);
    x->race = reads.stamp;
    if (m->a_shared) {
        uint64_t first = LANES(const uint64_t, w, s->src[MATRIX_ADDRESS])[0];
        x->operand[0] = wgmma_operand_of(first, rank * 16, 16, m->a_transposed);
        x->sum[0] = wgmma_operand_take(w, s, &x->operand[0], reads, a);
        x->operands = 1;
    } else {
        struct matrix_tiles t = matrix_tiles_a(m);
        fragment_pack(w, m->registers + m->a.first, &t, a);
    }
    x->operand[x->operands] = wgmma_operand_of(second, 0, m->product.n, m->b_transposed);
    x->operand[x->operands].doubled = m->sparse;
    x->sum[x->operands] = wgmma_operand_take(w, s, &x->operand[x->operands], reads, b);
    x->operands++;
}

bool wgmma_run_product(struct warp *w, const struct step *s, const struct matrix *m) {
    uint8_t a[16 * ROW_BYTES], b[MATRIX_MAX_N * 2 * ROW_BYTES];
    if (!group_is_whole(w, s)) {
        return true;
    }
    struct wgmma_queue *q = queue_of(w);
    struct issued *x = issued_add(q);
    x->step = s;
    x->code = w->frame->code;
    if (!q->fenced) {
        q->fenced = true;
        tell_at(w, x, FINDING_UNINITIALIZED, true,
                "No wgmma.fence in front of the first wgmma.mma_async: its registers may "
                "not have been written yet");
    }
    take_operands(w, s, m, x, a, b);
    bool add = scale_is_on(w, s), whole = matrix_is_whole((enum ptx_type)m->type_d);
    if (m->sparse) {
        product_sparse(w, s, m, a, b);
    } else if (whole) {
        product_whole(w, m, add, a, b);
    } else if (matrix_is_tensor_core(w, m)) {
        tensor_core_multiply(w, m, add, a, NULL, b);
    } else {
        product_real(w, m, add, a, b);
    }
    race_release_at(w, w->block, race_place(w));
    check_same(w, x);
    wgmma_check_group(w);
    return true;
}

bool wgmma_run_fence(struct warp *w, const struct step *s, const struct matrix *) {
    if (group_is_whole(w, s)) {
        queue_of(w)->fenced = true;
    }
    return true;
}

bool wgmma_run_commit(struct warp *w, const struct step *s, const struct matrix *) {
    if (group_is_whole(w, s)) {
        queue_of(w)->group++;
        w->wgmma->reads = (struct race_copy){.stamp = 0};
    }
    return true;
}

/* ---- waiting ---- */

/* The last product that a wait is for; 0: none. */
static uint64_t last_awaited(const struct wgmma_queue *q, uint32_t groups) {
    for (uint32_t k = q->item_count; k-- > 0;) {
        if (q->items[k].group < q->group && q->group - q->items[k].group > groups) {
            return q->items[k].number;
        }
    }
    return 0;
}

static bool group_has_issued(const struct warp *w, uint64_t number) {
    unsigned count;
    const struct warp *group = group_of(w, &count);
    return !any_of(k, 0, count, !group[k].wgmma || group[k].wgmma->count < number);
}

static void check_operands(struct warp *w, struct issued *x) {
    for (unsigned k = 0; k < x->operands; k++) {
        if (wgmma_operand_sum(w->block, &x->operand[k]) != x->sum[k]) {
            tell_at(w, x, FINDING_RACE, false,
                    "Shared memory that this wgmma reads was written before "
                    "wgmma.wait_group: which bytes it saw is undefined");
            return;
        }
    }
}

/* Products up to that number are complete for all four warps: so w knows. */
static void group_retire(struct warp *w, uint64_t number) {
    unsigned count;
    struct warp *group = group_of(w, &count);
    for (unsigned k = 0; k < count; k++) {
        struct wgmma_queue *q = group[k].wgmma;
        struct race_copy reads = {.block = (uint32_t)w->block->number,
                                  .warp = group[k].index,
                                  .stamp = q->seen};
        for (uint32_t n = 0; n < q->item_count && q->items[n].number <= number; n++) {
            reads.stamp = q->items[n].race;
            if (!q->items[n].checked) {
                q->items[n].checked = true;
                check_operands(&group[k], &q->items[n]);
            }
        }
        race_copy_seen(w, reads);
    }
}

void wgmma_exit(struct warp *w) {
    struct wgmma_queue *q = w->wgmma;
    for (uint32_t k = 0; k < q->item_count; k++) {
        if (!q->items[k].checked) {
            q->items[k].checked = true;
            check_operands(w, &q->items[k]);
        }
    }
}

static void tell_uncommitted(struct warp *w) {
    struct wgmma_queue *q = w->wgmma;
    for (uint32_t k = 0; k < q->item_count; k++) {
        if (q->items[k].group == q->group && !q->items[k].committed_late) {
            q->items[k].committed_late = true;
            tell_at(w, &q->items[k], FINDING_UNINITIALIZED, true,
                    "No wgmma.commit_group between this and wgmma.wait_group, which "
                    "does not wait for it");
        }
    }
}

static bool wait_is_over(struct warp *w, const struct matrix *m) {
    struct wgmma_queue *q = queue_of(w);
    uint64_t number = last_awaited(q, m->groups);
    if (number == 0) {
        return true;
    }
    if (!group_has_issued(w, number)) {
        return false;
    }
    group_retire(w, number);
    race_acquire_at(w, UINT32_MAX, w->block, race_place(w));
    uint32_t kept = 0;
    for (uint32_t k = 0; k < q->item_count; k++) {
        if (q->items[k].number > number) {
            q->items[kept++] = q->items[k];
        } else {
            q->seen = q->items[k].race;
        }
    }
    q->item_count = kept;
    return true;
}

bool wgmma_run_wait(struct warp *w, const struct step *s, const struct matrix *m) {
    if (!group_is_whole(w, s)) {
        return true;
    }
    queue_of(w);
    tell_uncommitted(w);
    return wait_is_over(w, m);
}

void wgmma_check_group(struct warp *w) {
    unsigned count;
    struct warp *group = group_of(w, &count);
    const struct matrix *matrices = w->processor->run->program->matrices;
    for (unsigned k = 0; k < count; k++) {
        for (uint32_t n = 0; n < group[k].pending_count; n++) {
            struct split *p = &group[k].pending[n];
            if (p->state == SPLIT_GROUP &&
                wait_is_over(&group[k], &matrices[p->at->extra])) {
                p->state = SPLIT_READY;
                w->block->changes++;
            }
        }
    }
}

void wgmma_describe(const struct warp *w, char *to, size_t room) {
    unsigned count;
    const struct warp *group = group_of(w, &count);
    size_t len = (size_t)snprintf(to, room, "missing:");
    for (unsigned k = 0; k < count && len < room; k++) {
        const struct wgmma_queue *q = group[k].wgmma;
        if (!q || q->count < w->wgmma->count) {
            len += (size_t)snprintf(to + len, room - len, " warp %u%s", group[k].index,
                                    group[k].live ? "" : " (exited)");
        }
    }
}

void step_wgmma_early(struct warp *w, const struct step *s, uint32_t mask) {
    const struct wgmma_queue *q = w->wgmma;
    struct finding_place at = {
        .warp = w, .step = s, .lane = (unsigned)__builtin_ctz(mask), .warning = true};
    if (q && q->item_count) {
        finding_add(&at, FINDING_UNINITIALIZED,
                    "Reads registers that a wgmma.mma_async is still writing: undefined "
                    "without wgmma.wait_group in between; a ptxas that sees it puts one "
                    "in (C7517)");
    }
}
