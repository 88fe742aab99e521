/* Loads and stores lane by lane: everything that is not plain, and every finding. */
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/undefined.h"
#include "gpu/ptx/race/cluster_life.h"
#include "gpu/ptx/race/proxy.h"

/* ---- one lane ---- */

static bool shadow_is_set(const uint8_t *shadow, uint64_t offset, uint64_t bytes) {
    uint8_t all = 0x0f;
    for (; offset % 4 == 0 && bytes >= 4; offset += 4, bytes -= 4) {
        all &= shadow[offset >> 2];
    }
    if (all != 0x0f) {
        return false;
    }
    for (uint64_t k = offset; k < offset + bytes; k++) {
        if (!(shadow[k >> 2] >> (k & 3) & 1)) {
            return false;
        }
    }
    return true;
}

void access_shadow_set(uint8_t *shadow, uint64_t offset, uint64_t bytes) {
    for (; offset % 4 == 0 && bytes >= 4; offset += 4, bytes -= 4) {
        shadow[offset >> 2] = 0xff;
    }
    for (uint64_t k = offset; k < offset + bytes; k++) {
        __atomic_fetch_or(&shadow[k >> 2], (uint8_t)(0x11u << (k & 3)), __ATOMIC_RELAXED);
    }
}

/* Bytes of an access of at most 32 that are not initialised, as bits. */
static uint32_t missing_bytes(const uint8_t *shadow, uint64_t offset, uint64_t bytes) {
    uint32_t missing = 0;
    for (uint64_t k = 0; k < bytes && k < 32; k++) {
        missing |= (uint32_t) !(shadow[(offset + k) / 4] >> ((offset + k) & 3) & 1) << k;
    }
    return missing;
}

/* The load that `from` tells of, or the one that gave what a kernel stored there. own: in
 * the blocks' own memory. */
static void tell_missing(const struct access_fault *f, struct origin *from, bool own,
                         const uint8_t *word, uint8_t shadow, uint32_t missing) {
    const struct processor *p = f->warp->processor;
    if (shadow >> 4 & ~shadow) {
        (void)(own ? origins_get_own(p->origins, word, from)
                   : origins_get(p->run->memory, word, from));
    }
    if (f->follows) {
        undefined_loaded(f, from, missing);
    } else {
        origin_tell(f->warp->processor->run->findings, from);
    }
}

/* Bytes from `offset` on of memory that has this shadow, some of them not initialised. b:
 * the block whose memory it is, or NULL. */
static void tell_undefined(const struct access_fault *f, const struct block *b,
                           const char *buffer, uint64_t named, const uint8_t *host,
                           const uint8_t *shadow, uint64_t offset) {
    uint64_t first = offset;
    while (shadow[first / 4] >> (first & 3) & 1) {
        first++;
    }
    struct origin from = access_origin(f, b, buffer, named);
    tell_missing(f, &from, b != NULL, host + first / 4 * 4, shadow[first / 4],
                 missing_bytes(shadow, offset, f->bytes));
}

static void fault_input(const struct access_fault *f, const struct allocation *in,
                        uint64_t offset) {
    struct finding_place at = {.warp = f->warp,
                               .step = f->step,
                               .lane = f->lane,
                               .buffer = in->name,
                               .offset = (int64_t)offset};
    finding_add(&at, FINDING_INPUT_MODIFIED, "Write of %llu bytes to the input %s",
                (unsigned long long)f->bytes, in->name);
}

void access_atomic_changed(struct warp *w, const struct step *s, unsigned lane,
                           uint64_t address, unsigned bytes) {
    const struct allocation *in = run_find(w->processor->run, address);
    const struct access_fault f = {.warp = w, .step = s, .lane = lane, .bytes = bytes};
    if (in && !in->writable) {
        fault_input(&f, in, address - in->address);
    }
}

/* The allocation that holds the bytes, if they may be accessed so; else NULL. */
static struct allocation *find_global(const struct access_fault *f, bool reads,
                                      uint64_t *ret_offset) {
    struct run *run = f->warp->processor->run;
    struct allocation *in =
        run_find_for(run, f->address, reads || f->atomic, f->writes || f->atomic);
    uint64_t offset = in ? f->address - in->address : 0;
    if (!in || in->freed || f->bytes > in->bytes - offset ||
        (f->writes && in->kind == MEMORY_CONSTANT)) {
        access_fault_global(f);
        return NULL;
    }
    if (f->writes && !in->writable && !f->atomic) {
        fault_input(f, in, offset);
    }
    if (reads && in->shadow && run->check_initialized &&
        !shadow_is_set(in->shadow, offset, f->bytes)) {
        tell_undefined(f, NULL, in->name, offset, in->host, in->shadow, offset);
    }
    *ret_offset = offset;
    return in;
}

static uint8_t *resolve_global(const struct access_fault *f, bool reads,
                               uint8_t **ret_shadow) {
    uint64_t offset;
    struct allocation *in = find_global(f, reads, &offset);
    if (!in) {
        return NULL;
    }
    if (f->writes && in->shadow) {
        access_shadow_set(in->shadow, offset, f->bytes);
    }
    *ret_shadow = in->shadow ? in->shadow + offset / 4 : NULL;
    return in->host + offset;
}

/* The block that an address of shared memory means; f->address becomes its offset. */
static struct block *find_block(struct access_fault *f) {
    struct block *own = f->warp->block;
    uint64_t tag = f->address >> CLUSTER_TAG_SHIFT;
    if (__builtin_expect(tag == 0, 1)) {
        return own;
    }
    const struct cluster *c = own->cluster;
    if (tag > c->count) { /* far out of bounds: stays as it is */
        return own;
    }
    struct block *b = c->blocks[tag - 1];
    if (b != own && (!f->remote || b->finished)) {
        char text[128];
        struct finding_other exit;
        bool gone = b->finished && f->remote;
        snprintf(text, sizeof text,
                 gone
                     ? "block %u of the cluster has exited, its shared memory is gone (a "
                       "cluster.sync() before the end is missing)"
                     : "the address is in shared memory of block %u of the cluster, the "
                       "instruction is one for the own",
                 (unsigned)tag - 1);
        f->other = gone && life_exit_place(b, &exit) ? &exit : NULL;
        access_fault(f, FINDING_OUT_OF_BOUNDS, NULL, 0, text);
        f->other = NULL;
        return NULL;
    }
    f->address &= (UINT64_C(1) << CLUSTER_TAG_SHIFT) - 1;
    life_touch(f->warp, f->step, f->lane, b, f->address);
    return b;
}

static struct block *find_shared(struct access_fault *f, bool reads) {
    struct block *b = find_block(f);
    if (!b) {
        return NULL;
    }
    struct shared_extent extent;
    if (!shared_extent_find(f->warp->processor->run, f->address, f->bytes, &extent)) {
        access_fault_shared(f);
        return NULL;
    }
    if (b->shared_shadow && reads &&
        !shadow_is_set(b->shared_shadow, f->address, f->bytes)) {
        uint64_t offset;
        const char *name = shared_name(f->warp->processor->run, f->address, &offset);
        tell_undefined(f, b, name, offset, b->shared, b->shared_shadow, f->address);
    }
    return b;
}

static uint8_t *resolve_shared(struct access_fault *f, bool reads, uint8_t **ret_shadow) {
    struct block *b = find_shared(f, reads);
    if (!b) {
        return NULL;
    }
    if (b->shared_shadow) {
        if (f->writes) {
            access_shadow_set(b->shared_shadow, f->address, f->bytes);
            proxy_wrote(f->warp, f->step, f->lane, b, f->address, f->bytes);
        }
        *ret_shadow = b->shared_shadow + f->address / 4;
    }
    return b->shared + f->address;
}

static uint8_t *resolve(struct access_fault f, enum ptx_space space, bool reads,
                        uint8_t **ret_shadow) {
    *ret_shadow = NULL;
    f.remote = space != PTX_SHARED;
    if (space == PTX_GENERIC && f.address - MEMORY_SHARED < MEMORY_WINDOW_BYTES) {
        space = PTX_SHARED;
        f.address -= MEMORY_SHARED;
    }
    f.space = space == PTX_SHARED_CLUSTER ? PTX_SHARED : space;
    if ((f.address & (f.bytes - 1)) != 0) {
        access_fault_misaligned(&f, (unsigned)f.bytes);
        return NULL;
    }
    return f.space == PTX_SHARED ? resolve_shared(&f, reads, ret_shadow)
                                 : resolve_global(&f, reads, ret_shadow);
}

uint8_t *access_resolve(struct warp *w, const struct step *s, unsigned lane,
                        uint64_t address, enum ptx_space space, unsigned bytes,
                        bool reads, bool writes, uint8_t **ret_shadow) {
    const struct access_fault f = {.warp = w,
                                   .step = s,
                                   .lane = lane,
                                   .address = address,
                                   .bytes = bytes,
                                   .writes = writes,
                                   .atomic = reads && writes};
    return resolve(f, space, reads, ret_shadow);
}

struct block *access_shared_range(const struct access_range *r, bool remote,
                                  uint64_t *ret_offset) {
    struct access_fault f = {.warp = r->warp,
                             .step = r->step,
                             .lane = r->lane,
                             .space = PTX_SHARED,
                             .address = r->address,
                             .bytes = r->bytes,
                             .writes = r->writes,
                             .remote = remote};
    if (f.address % r->align) {
        access_fault_misaligned(&f, r->align);
        return NULL;
    }
    struct block *b = find_shared(&f, r->reads);
    *ret_offset = f.address;
    return b;
}

struct allocation *access_global_range(const struct access_range *r,
                                       uint64_t *ret_offset) {
    struct access_fault f = {.warp = r->warp,
                             .step = r->step,
                             .lane = r->lane,
                             .space = PTX_GLOBAL,
                             .address = r->address,
                             .bytes = r->bytes,
                             .writes = r->writes};
    if (f.address % r->align) {
        access_fault_misaligned(&f, r->align);
        return NULL;
    }
    return find_global(&f, r->reads, ret_offset);
}

/* An element of a lane's register. */
static uint8_t *lane_register(struct warp *w, const struct access *a, unsigned k,
                              unsigned lane) {
    return LANES(uint8_t, w, a->registers[k]) + (size_t)lane * a->bytes;
}

static void lane_move(struct warp *w, const struct access *a, unsigned lane,
                      uint8_t *at) {
    for (unsigned k = 0; k < a->count; k++) {
        if (a->registers[k] == STEP_NO_REGISTER) {
            continue;
        }
        uint8_t *r = lane_register(w, a, k, lane);
        if (a->is_store) {
            memcpy(at + (size_t)k * a->bytes, r, a->bytes);
        } else if (at) {
            memcpy(r, at + (size_t)k * a->bytes, a->bytes);
        } else {
            memset(r, 0, a->bytes);
        }
    }
}

void access_slow(struct warp *w, const struct step *s, uint32_t mask,
                 const uint64_t addresses[WARP_LANES], enum ptx_space space) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    if (space == PTX_SHARED && a->space != PTX_SHARED) {
        space = PTX_SHARED_CLUSTER; /* may be another block's */
    }
    bits_each(lane, mask) {
        const struct access_fault f = {.warp = w,
                                       .step = s,
                                       .lane = lane,
                                       .address = addresses[lane],
                                       .bytes = (uint64_t)a->bytes * a->count,
                                       .writes = a->is_store,
                                       .follows = !a->is_store};
        uint8_t *shadow;
        uint8_t *at = resolve(f, space, !a->is_store, &shadow);
        if (at || !a->is_store) {
            lane_move(w, a, lane, at);
        }
    }
}

/* ---- local memory: rows of 128 bytes ---- */

static bool local_rows(struct warp *w, const struct access *a, uint32_t mask,
                       uint64_t offset, bool check) {
    unsigned words = a->bytes / 4;
    size_t row = offset / 4 * WARP_LANES;
    for (unsigned k = 0; check && !a->is_store && k < words * a->count; k++) {
        const uint8_t *shadow = w->local_shadow + row + (size_t)k * WARP_LANES;
        for (unsigned l = 0; l < WARP_LANES; l++) {
            if ((mask >> l & 1) && (shadow[l] & 0x0f) != 0x0f) {
                return false;
            }
        }
    }
    for (unsigned k = 0; k < a->count; k++) {
        if (a->registers[k] == STEP_NO_REGISTER) {
            row += (size_t)words * WARP_LANES;
            continue;
        }
        uint32_t *r = LANES(uint32_t, w, a->registers[k]);
        for (unsigned word = 0; word < words; word++, row += WARP_LANES) {
            uint32_t *memory = (uint32_t *)(void *)w->local + row;
            for (unsigned l = 0; l < WARP_LANES; l++) {
                bool on = mask >> l & 1;
                uint32_t *reg = &r[l * words + word];
                if (a->is_store) {
                    memory[l] = on ? *reg : memory[l];
                    w->local_shadow[row + l] |= on ? 0xff : 0;
                } else {
                    *reg = on ? memory[l] : *reg;
                }
            }
        }
    }
    return true;
}

static void local_lane(struct warp *w, const struct access *a, struct access_fault *f,
                       bool check) {
    unsigned size = (unsigned)a->bytes * a->count;
    uint8_t bytes[64];
    for (unsigned k = 0; a->is_store && k < a->count; k++) {
        memcpy(bytes + (size_t)k * a->bytes, lane_register(w, a, k, f->lane), a->bytes);
    }
    /* Compilers copy structures with their padding, which is never written: a load counts
     * as initialised if any of its bytes is. */
    bool missing = !a->is_store;
    for (unsigned k = 0; k < size; k++) {
        uint64_t at = f->address + k;
        size_t word = at / 4 * WARP_LANES + f->lane;
        uint8_t *memory = w->local + word * 4 + at % 4;
        uint8_t bit = (uint8_t)(0x11u << (at & 3));
        if (a->is_store) {
            *memory = bytes[k];
            w->local_shadow[word] |= bit;
        } else {
            bytes[k] = *memory;
            missing = missing && (w->local_shadow[word] & bit & 0x0f) == 0;
        }
    }
    if (missing && check) {
        size_t word = f->address / 4 * WARP_LANES + f->lane;
        struct origin from = access_origin(f, NULL, "local memory", f->address);
        tell_missing(f, &from, true, w->local + word * 4, w->local_shadow[word],
                     UINT32_MAX);
    }
    for (unsigned k = 0; !a->is_store && k < a->count; k++) {
        if (a->registers[k] != STEP_NO_REGISTER) {
            memcpy(lane_register(w, a, k, f->lane), bytes + (size_t)k * a->bytes,
                   a->bytes);
        }
    }
}

void access_local(struct warp *w, const struct step *s, uint32_t mask,
                  const uint64_t offsets[WARP_LANES]) {
    const struct access *a = &w->processor->run->program->accesses[s->extra];
    bool check = w->processor->run->check_initialized;
    unsigned size = (unsigned)a->bytes * a->count;
    uint64_t first = offsets[__builtin_ctz(mask)], differ = 0;
    uint64_t top = w->frame->local_top;
    bits_each(lane, mask) {
        differ |= offsets[lane] ^ first;
    }
    bool inside = first < top && size <= top - first && first % size == 0;
    if (differ == 0 && inside && a->bytes >= 4 && a->bytes <= 8 &&
        local_rows(w, a, mask, first, check)) {
        return;
    }
    bits_each(lane, mask) {
        struct access_fault f = {.warp = w,
                                 .step = s,
                                 .lane = lane,
                                 .space = PTX_LOCAL,
                                 .address = offsets[lane],
                                 .bytes = size,
                                 .writes = a->is_store,
                                 .follows = !a->is_store};
        if (f.address % size) {
            access_fault_misaligned(&f, size);
        } else if (f.address >= top || size > top - f.address) {
            access_fault_window(&f, top);
        } else {
            local_lane(w, a, &f, check);
            continue;
        }
        if (!a->is_store) {
            lane_move(w, a, lane, NULL);
        }
    }
}

/* ---- the launch's parameters ---- */

static void access_params(struct warp *w, const struct step *s, uint32_t mask,
                          const uint64_t offsets[WARP_LANES]) {
    struct run *run = w->processor->run;
    const struct access *a = &run->program->accesses[s->extra];
    unsigned size = (unsigned)a->bytes * a->count;
    bits_each(lane, mask) {
        struct access_fault f = {.warp = w,
                                 .step = s,
                                 .lane = lane,
                                 .space = PTX_PARAM,
                                 .address = offsets[lane],
                                 .bytes = size,
                                 .writes = a->is_store};
        uint8_t *at = NULL;
        if (f.address % size) {
            access_fault_misaligned(&f, size);
        } else if (a->is_store || f.address >= run->param_bytes ||
                   size > run->param_bytes - f.address) {
            access_fault_window(&f, run->param_bytes);
        } else {
            at = run->params + f.address;
        }
        if (!a->is_store) {
            lane_move(w, a, lane, at);
        }
    }
}

/* ---- generic addresses of several spaces ---- */

void access_generic_mixed(struct warp *w, const struct step *s, uint32_t mask,
                          const uint64_t addresses[WARP_LANES]) {
    uint32_t local = 0, param = 0, other = 0;
    uint64_t offsets[WARP_LANES];
    bits_each(l, mask) {
        uint64_t a = addresses[l];
        bool is_local = a - MEMORY_LOCAL < MEMORY_WINDOW_BYTES;
        bool is_param = a - MEMORY_PARAM < MEMORY_WINDOW_BYTES;
        offsets[l] = is_local ? a - MEMORY_LOCAL : is_param ? a - MEMORY_PARAM : a;
        local |= (uint32_t)is_local << l;
        param |= (uint32_t)is_param << l;
        other |= (uint32_t)(!is_local && !is_param) << l;
    }
    if (local) {
        access_local(w, s, local, offsets);
    }
    if (param) {
        access_params(w, s, param, offsets);
    }
    if (other) {
        access_slow(w, s, other, offsets, PTX_GENERIC);
    }
}
