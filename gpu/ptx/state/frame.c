/* Frames of calls: registers, special registers, local memory. */
#include "gpu/ptx/state/run.h"

static void fill_words(uint8_t *regs, uint32_t offset, uint32_t value) {
    uint32_t *to = (uint32_t *)(void *)(regs + offset);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        to[l] = value;
    }
}

/* Those that differ between the lanes of a warp. */
static bool fill_lane_special(const struct warp *w, unsigned special, uint32_t *to) {
    const uint32_t *dim = w->processor->run->launch->block;
    for (uint32_t l = 0; l < WARP_LANES; l++) {
        uint32_t t = w->index * WARP_LANES + l;
        switch (special) {
        case PTX_SR_TID_X:
            to[l] = t % dim[0];
            break;
        case PTX_SR_TID_Y:
            to[l] = t / dim[0] % dim[1];
            break;
        case PTX_SR_TID_Z:
            to[l] = t / dim[0] / dim[1];
            break;
        case PTX_SR_LANEID:
            to[l] = l;
            break;
        case PTX_SR_LANEMASK_EQ:
            to[l] = 1u << l;
            break;
        case PTX_SR_LANEMASK_LE:
            to[l] = UINT32_MAX >> (31 - l);
            break;
        case PTX_SR_LANEMASK_LT:
            to[l] = (1u << l) - 1;
            break;
        case PTX_SR_LANEMASK_GE:
            to[l] = UINT32_MAX << l;
            break;
        case PTX_SR_LANEMASK_GT:
            to[l] = ~(UINT32_MAX >> (31 - l));
            break;
        default:
            return false;
        }
    }
    return true;
}

static uint32_t uniform_special(const struct warp *w, unsigned special) {
    struct run *run = w->processor->run;
    const struct machine_launch *launch = run->launch;
    switch (special) {
    case PTX_SR_NTID_X:
    case PTX_SR_NTID_Y:
    case PTX_SR_NTID_Z:
        return launch->block[special - PTX_SR_NTID_X];
    case PTX_SR_CTAID_X:
    case PTX_SR_CTAID_Y:
    case PTX_SR_CTAID_Z:
        return w->block->id[special - PTX_SR_CTAID_X];
    /* Without clusters every block is its own cluster. */
    case PTX_SR_CLUSTERID_X:
    case PTX_SR_CLUSTERID_Y:
    case PTX_SR_CLUSTERID_Z:
        return w->block->id[special - PTX_SR_CLUSTERID_X] /
               run->cluster[special - PTX_SR_CLUSTERID_X];
    case PTX_SR_CLUSTER_CTAID_X:
    case PTX_SR_CLUSTER_CTAID_Y:
    case PTX_SR_CLUSTER_CTAID_Z:
        return w->block->id[special - PTX_SR_CLUSTER_CTAID_X] %
               run->cluster[special - PTX_SR_CLUSTER_CTAID_X];
    case PTX_SR_CLUSTER_CTARANK:
        return w->block->rank;
    case PTX_SR_IS_EXPLICIT_CLUSTER: /* a predicate */
        return run->explicit_cluster ? UINT32_MAX : 0;
    case PTX_SR_NCTAID_X:
    case PTX_SR_NCTAID_Y:
    case PTX_SR_NCTAID_Z:
        return launch->grid[special - PTX_SR_NCTAID_X];
    case PTX_SR_NCLUSTERID_X:
    case PTX_SR_NCLUSTERID_Y:
    case PTX_SR_NCLUSTERID_Z:
        return launch->grid[special - PTX_SR_NCLUSTERID_X] /
               run->cluster[special - PTX_SR_NCLUSTERID_X];
    case PTX_SR_CLUSTER_NCTAID_X:
    case PTX_SR_CLUSTER_NCTAID_Y:
    case PTX_SR_CLUSTER_NCTAID_Z:
        return run->cluster[special - PTX_SR_CLUSTER_NCTAID_X];
    case PTX_SR_CLUSTER_NCTARANK:
        return run->cluster_blocks;
    case PTX_SR_WARPID:
        return w->index;
    case PTX_SR_NWARPID:
        return 64; /* of an SM */
    case PTX_SR_NSMID:
        return 132;
    case PTX_SR_SMID:
        return (uint32_t)(w->block->number % 132);
    case PTX_SR_TOTAL_SMEM_SIZE:
    case PTX_SR_AGGR_SMEM_SIZE:
        return (uint32_t)(run->shared_bytes - run->program->shared_gaps);
    case PTX_SR_DYNAMIC_SMEM_SIZE:
        return launch->dynamic_shared;
    case PTX_SR_ENVREG1: /* cooperative groups: the grid's workspace */
        if (!run->workspace) {
            __atomic_store_n(&run->no_grid, 1, __ATOMIC_RELAXED);
        }
        return (uint32_t)(run->workspace >> 32);
    case PTX_SR_ENVREG2:
        return (uint32_t)run->workspace;
    default:
        return 0;
    }
}

void frame_fill_specials(struct warp *w, const struct frame *f) {
    for (uint32_t k = 0; k < f->code->special_count; k++) {
        struct special_slot s = f->code->specials[k];
        uint32_t *to = (uint32_t *)(void *)(f->regs + s.offset);
        if (!fill_lane_special(w, s.special, to)) {
            fill_words(f->regs, s.offset, uniform_special(w, s.special));
        }
    }
}

static bool special_is_of_block(unsigned special) {
    return (special >= PTX_SR_CTAID_X && special <= PTX_SR_CTAID_Z) ||
           (special >= PTX_SR_CLUSTERID_X && special <= PTX_SR_CLUSTERID_Z) ||
           (special >= PTX_SR_CLUSTER_CTAID_X && special <= PTX_SR_CLUSTER_CTAID_Z) ||
           special == PTX_SR_CLUSTER_CTARANK || special == PTX_SR_SMID;
}

void frame_fill_block_specials(struct warp *w, const struct frame *f) {
    for (uint32_t k = 0; k < f->code->special_count; k++) {
        struct special_slot s = f->code->specials[k];
        if (special_is_of_block(s.special)) {
            fill_words(f->regs, s.offset, uniform_special(w, s.special));
        }
    }
}

static bool local_grow(struct warp *w, uint64_t bytes) {
    uint64_t room = (bytes + 255) & ~UINT64_C(255);
    uint64_t more = (room - w->local_bytes) * WARP_LANES;
    struct run *run = w->processor->run;
    if (room > LOCAL_MAX_BYTES) {
        return false;
    }
    bool fits =
        __atomic_add_fetch(&run->local_bytes, more, __ATOMIC_RELAXED) <= LOCAL_MAX_TOTAL;
    uint8_t *local = fits ? aligned_alloc(64, room * WARP_LANES) : NULL;
    uint8_t *shadow = fits ? malloc(room / 4 * WARP_LANES) : NULL;
    if (!local || !shadow) {
        free(local);
        free(shadow);
        __atomic_sub_fetch(&run->local_bytes, more, __ATOMIC_RELAXED);
        return false;
    }
    memset(local, 0xa5, room * WARP_LANES);
    memset(shadow, 0, room / 4 * WARP_LANES);
    if (w->local_bytes) {
        memcpy(local, w->local, w->local_bytes * WARP_LANES);
        memcpy(shadow, w->local_shadow, w->local_bytes / 4 * WARP_LANES);
    }
    free(w->local);
    free(w->local_shadow);
    w->local = local;
    w->local_shadow = shadow;
    w->local_bytes = room;
    return true;
}

/* Twice as much as there was, where that may be: many small blocks cost no more copies.
 */
bool warp_local_reserve(struct warp *w, uint64_t bytes) {
    uint64_t twice = 2 * w->local_bytes;
    bool more = twice > bytes && twice <= LOCAL_MAX_BYTES;
    return bytes <= w->local_bytes || (more && local_grow(w, twice)) ||
           local_grow(w, bytes);
}

/* ---- the stack of a device ---- */

/* The kernel returns to nobody, and the last call may call nobody. */
static uint64_t stack_below(const struct frame *parent, const struct code *code) {
    uint64_t bytes = parent->depth ? parent->stack_bytes + STACK_RETURN_BYTES
                                   : parent->code->function->local_bytes;
    return bytes + code->function->local_bytes;
}

static bool is_earlier(const struct finding_thread *a, const struct finding_thread *b) {
    return a->block != b->block ? a->block < b->block : a->thread < b->thread;
}

static void deepest_note(struct warp *w, const struct step *s, const struct frame *f) {
    struct run *run = w->processor->run;
    struct deep_stack *d = &run->deepest;
    const struct deep_stack here = {
        f->stack_bytes, f->depth, finding_thread(w, s, (unsigned)__builtin_ctz(f->lanes))};
    pthread_mutex_lock(&run->memory->lock);
    if (here.bytes > d->bytes ||
        (here.bytes == d->bytes && is_earlier(&here.by, &d->by))) {
        d->depth = here.depth;
        d->by = here.by;
        __atomic_store_n(&d->bytes, here.bytes, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&run->memory->lock);
}

void stack_tell(const struct run *run) {
    const struct deep_stack *d = &run->deepest;
    char text[512];
    if (d->bytes == 0) {
        return;
    }
    int len = snprintf(text, sizeof text,
                       "Stack overflow on a GPU: calls %u deep take at least %llu bytes of "
                       "stack a thread, and there are %llu: ",
                       d->depth, (unsigned long long)d->bytes,
                       (unsigned long long)run->stack_limit);
    if (d->bytes < LOCAL_MAX_BYTES) {
        snprintf(text + len, sizeof text - (size_t)len,
                 "call cudaDeviceSetLimit(cudaLimitStackSize, BYTES) before the launch, "
                 "with well over %llu bytes",
                 (unsigned long long)d->bytes);
    } else {
        snprintf(text + len, sizeof text - (size_t)len,
                 "no GPU has so much, so write a loop");
    }
    finding_add_of(run->findings, &d->by, FINDING_STACK_OVERFLOW, NULL, 0, "%s",
                   text);
}

/* ---- calls ---- */

#define FRAMES_KEPT 8

static void frame_free(struct frame *f) {
    if (f) {
        free(f->regs);
        free(f);
    }
}

void frames_free(struct processor *p) {
    while (p->frames) {
        struct frame *f = p->frames;
        p->frames = f->parent;
        frame_free(f);
    }
}

/* With the code's constants in its registers. NULL: no memory. */
static struct frame *frame_take(struct processor *p, const struct code *code) {
    for (struct frame **at = &p->frames; *at; at = &(*at)->parent) {
        if ((*at)->code == code) {
            struct frame *f = *at;
            *at = f->parent;
            p->frame_count--;
            return f;
        }
    }
    struct frame *f = malloc(sizeof *f);
    uint8_t *regs = f ? aligned_alloc(64, code->arena_bytes + 64u) : NULL;
    if (!regs) {
        free(f);
        return NULL;
    }
    f->regs = regs;
    memcpy(regs + code->fixed, code->fixed_image, code->arena_bytes - code->fixed);
    return f;
}

/* Registers, special registers and local memory of a new frame. */
static void frame_prepare(struct warp *w, struct frame *f) {
    const struct code *c = f->code;
    memset(f->regs, w->processor->run->poison, c->poison_bytes);
    frame_fill_specials(w, f);
    if (c->local_bytes) {
        size_t from = f->local_base * WARP_LANES, bytes = c->local_bytes * WARP_LANES;
        memset(w->local + from, w->processor->run->poison, bytes);
        memset(w->local_shadow + from / 4, 0, bytes / 4);
    }
}

struct frame *frame_enter(struct warp *w, const struct step *s, const struct code *code,
                          const struct call_site *site, uint32_t lanes) {
    struct run *run = w->processor->run;
    struct frame *parent = w->frame;
    uint64_t base = parent->local_top;
    struct frame *f = NULL;
    uint64_t more = code->arena_bytes + sizeof *f;
    if (parent->depth < WARP_MAX_DEPTH &&
        warp_local_reserve(w, base + code->local_bytes) &&
        __atomic_add_fetch(&run->local_bytes, more, __ATOMIC_RELAXED) <=
            LOCAL_MAX_TOTAL) {
        f = frame_take(w->processor, code);
    }
    if (!f) {
        struct finding_place at = {
            .warp = w, .step = s, .lane = (unsigned)__builtin_ctz(lanes)};
        finding_add(&at, FINDING_STACK_OVERFLOW,
                    "Stack overflow: calls are %u deep with %llu bytes of local memory a "
                    "thread; the threads stop",
                    parent->depth, (unsigned long long)base);
        run_fault(run);
        return NULL;
    }
    *f = (struct frame){.parent = parent,
                        .return_to = w->next,
                        .site = site,
                        .code = code,
                        .regs = f->regs,
                        .lanes = lanes,
                        .depth = parent->depth + 1,
                        .stack_bytes = stack_below(parent, code),
                        .local_base = base,
                        .local_top = base + code->local_bytes};
    frame_prepare(w, f);
    if (run->stack_limit && f->stack_bytes > run->stack_limit &&
        f->stack_bytes >= __atomic_load_n(&run->deepest.bytes, __ATOMIC_RELAXED)) {
        deepest_note(w, s, f);
    }
    return f;
}

void frame_leave(struct warp *w, struct frame *f, uint32_t lanes) {
    struct processor *p = w->processor;
    f->lanes &= ~lanes;
    if (f->lanes != 0 || f == &w->root) {
        return;
    }
    __atomic_sub_fetch(&p->run->local_bytes, f->code->arena_bytes + sizeof *f,
                       __ATOMIC_RELAXED);
    if (p->frame_count == FRAMES_KEPT) {
        frame_free(f);
        return;
    }
    f->parent = p->frames;
    p->frames = f;
    p->frame_count++;
}
