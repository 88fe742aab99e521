/* Loads and stores lane by lane: everything that is not plain, and every finding. */
#include "gpu/ptx/access.h"
#include "gpu/ptx/cluster_life.h"
#include "gpu/ptx/proxy.h"

#include <stdio.h>
#include <string.h>

/* ---- words for findings ---- */

static const char *space_word(enum ptx_space space) {
    switch (space) {
    case PTX_SHARED:
    case PTX_SHARED_CLUSTER:
        return "shared";
    case PTX_LOCAL:
        return "local";
    case PTX_PARAM:
        return "parameter";
    case PTX_CONST:
        return "constant";
    default:
        return "global";
    }
}

struct fault {
    struct warp *warp;
    const struct step *step;
    unsigned lane;
    enum ptx_space space;
    uint64_t address;
    uint64_t bytes;
    bool writes;
    bool remote; /* may be another block's shared memory */
};

static void fault_add(const struct fault *f, enum finding_code code, const char *buffer,
                      int64_t offset, const char *text) {
    struct finding_place at = {.warp = f->warp,
                               .step = f->step,
                               .lane = f->lane,
                               .buffer = buffer,
                               .offset = offset};
    finding_add(&at, code, "Invalid %s %s of %llu bytes: %s", space_word(f->space),
                f->writes ? "write" : "read", (unsigned long long)f->bytes, text);
    run_fault(f->warp->worker->run);
}

static void fault_misaligned(const struct fault *f, unsigned align) {
    char text[96];
    snprintf(text, sizeof text, "address 0x%llx is not a multiple of %u",
             (unsigned long long)f->address, align);
    fault_add(f, FINDING_MISALIGNED, NULL, 0, text);
}

#define FAR (UINT64_C(1) << 34) /* bytes beyond which an address is not near a buffer */

/* Which allocation was meant: the one it begins in, else the nearest. */
static void fault_global(const struct fault *f) {
    struct allocation *before, *after;
    memory_around(run_memory(f->warp->worker->run), f->address, &before, &after);
    char text[2304]; /* names of variables are symbols, of templates long ones */
    uint64_t past = before ? f->address - before->address : 0;
    uint64_t gap = after ? after->address - f->address : UINT64_MAX;
    const struct allocation *near = before;
    uint64_t behind = before && past >= before->bytes ? past - before->bytes : 0;
    if ((!before && gap > FAR) || (behind > FAR && gap > FAR)) {
        snprintf(text, sizeof text, "0x%llx is no address of device memory%s",
                 (unsigned long long)f->address,
                 f->address < 4096 ? " (null pointer)" : "");
        fault_add(f, FINDING_OUT_OF_BOUNDS, NULL, 0, text);
        return;
    }
    if (!before || (past >= before->bytes && gap < past - before->bytes)) {
        near = after;
        snprintf(text, sizeof text, "%llu bytes in front of %s (%llu bytes)",
                 (unsigned long long)gap, near->name, (unsigned long long)near->bytes);
        fault_add(f, FINDING_OUT_OF_BOUNDS, near->name, -(int64_t)gap, text);
        return;
    }
    if (past < near->bytes && near->freed) {
        snprintf(text, sizeof text, "offset %llu of %s, which has been freed",
                 (unsigned long long)past, near->name);
    } else if (past < near->bytes && past + f->bytes <= near->bytes) {
        snprintf(text, sizeof text, "%s is constant memory", near->name);
    } else {
        snprintf(text, sizeof text, "%llu bytes past the end of %s (%llu bytes)",
                 (unsigned long long)(past >= near->bytes
                                          ? past - near->bytes
                                          : past + f->bytes - near->bytes),
                 near->name, (unsigned long long)near->bytes);
    }
    fault_add(f, FINDING_OUT_OF_BOUNDS, near->name, (int64_t)past, text);
}

const char *block_shared_name(const struct run *run, uint64_t offset,
                              uint64_t *ret_offset) {
    const struct program *p = run->program;
    *ret_offset = offset;
    for (uint32_t k = 0; k < p->shared_count; k++) {
        const struct ptx_variable *v = &p->module->variables[p->shared_variables[k]];
        uint64_t at = p->shared_offsets[p->shared_variables[k]];
        if (offset >= at && offset - at < v->size) {
            *ret_offset = offset - at;
            return v->name;
        }
    }
    return "dynamic shared memory";
}

/* An index below 0 wraps, of 32 bits or of 64: no window is so large. */
static int64_t window_offset(uint64_t address) {
    return address >> 31 == 1 ? (int64_t)address - (INT64_C(1) << 32) : (int64_t)address;
}

static void fault_window(const struct fault *f, uint64_t size) {
    char text[128];
    int64_t offset = window_offset(f->address);
    uint64_t end = f->address + f->bytes;
    if (offset < 0) {
        snprintf(text, sizeof text, "offset %lld, in front of the beginning",
                 (long long)offset);
    } else {
        snprintf(
            text, sizeof text, "offset %llu, %llu bytes past the end (%llu bytes)",
            (unsigned long long)f->address,
            (unsigned long long)(f->address >= size ? f->address - size : end - size),
            (unsigned long long)size);
    }
    fault_add(f, FINDING_OUT_OF_BOUNDS,
              f->space == PTX_SHARED
                  ? "shared memory"
                  : (f->space == PTX_LOCAL ? "local memory" : "parameters"),
              offset, text);
}

/* b: of shared memory, whose. */
static void tell_uninitialized(const struct fault *f, const struct block *b,
                               const char *buffer, uint64_t offset) {
    const char *copied = b ? block_copies_to(b, f->address, f->bytes) : NULL;
    struct finding_place at = {.warp = f->warp,
                               .step = f->step,
                               .lane = f->lane,
                               .buffer = buffer,
                               .offset = (int64_t)offset};
    finding_add(&at, FINDING_UNINITIALIZED,
                "Uninitialized %s read of %llu bytes: offset %llu of %s %s%s%s",
                space_word(f->space), (unsigned long long)f->bytes,
                (unsigned long long)offset, buffer,
                copied ? "is being written by a " : "was never written",
                copied ? copied : "", copied ? " that nobody has waited for" : "");
}

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

/* The allocation that holds the bytes, if they may be accessed so; else NULL. */
static struct allocation *find_global(const struct fault *f, bool reads,
                                      uint64_t *ret_offset) {
    struct run *run = f->warp->worker->run;
    struct allocation *in = run_find(run, f->address);
    uint64_t offset = in ? f->address - in->address : 0;
    if (!in || in->freed || f->bytes > in->bytes - offset ||
        (f->writes && in->kind == MEMORY_CONSTANT)) {
        fault_global(f);
        return NULL;
    }
    if (f->writes && !in->writable) {
        struct finding_place at = {.warp = f->warp,
                                   .step = f->step,
                                   .lane = f->lane,
                                   .buffer = in->name,
                                   .offset = (int64_t)offset};
        finding_add(&at, FINDING_INPUT_MODIFIED, "Write of %llu bytes to the input %s",
                    (unsigned long long)f->bytes, in->name);
    }
    if (reads && in->shadow && run->check_initialized &&
        !shadow_is_set(in->shadow, offset, f->bytes)) {
        tell_uninitialized(f, NULL, in->name, offset);
    }
    *ret_offset = offset;
    return in;
}

static uint8_t *resolve_global(const struct fault *f, bool reads, uint8_t **ret_shadow) {
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
static struct block *find_block(struct fault *f) {
    struct block *own = f->warp->block;
    uint64_t tag = f->address >> CLUSTER_TAG_SHIFT;
    if (__builtin_expect(tag == 0, 1)) {
        return own;
    }
    const struct cluster *c = own->cluster;
    if (tag > c->count) { /* far out of bounds, as it stands */
        return own;
    }
    struct block *b = c->blocks[tag - 1];
    if (b != own && (!f->remote || b->finished)) {
        char text[128];
        snprintf(text, sizeof text,
                 b->finished && f->remote
                     ? "block %u of the cluster has exited, its shared memory is gone"
                     : "the address is in shared memory of block %u of the cluster, the "
                       "instruction is one for the own",
                 (unsigned)tag - 1);
        fault_add(f, FINDING_OUT_OF_BOUNDS, NULL, 0, text);
        return NULL;
    }
    f->address &= (UINT64_C(1) << CLUSTER_TAG_SHIFT) - 1;
    life_touch(f->warp, f->step, f->lane, b, f->address);
    return b;
}

static struct block *find_shared(struct fault *f, bool reads) {
    struct block *b = find_block(f);
    if (!b) {
        return NULL;
    }
    if (f->address >= b->shared_bytes || f->bytes > b->shared_bytes - f->address) {
        fault_window(f, b->shared_bytes);
        return NULL;
    }
    if (b->shared_shadow && reads &&
        !shadow_is_set(b->shared_shadow, f->address, f->bytes)) {
        uint64_t offset;
        const char *name = block_shared_name(f->warp->worker->run, f->address, &offset);
        tell_uninitialized(f, b, name, offset);
    }
    return b;
}

static uint8_t *resolve_shared(struct fault *f, bool reads, uint8_t **ret_shadow) {
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

uint8_t *access_resolve(struct warp *w, const struct step *s, unsigned lane,
                        uint64_t address, enum ptx_space space, unsigned bytes,
                        bool reads, bool writes, uint8_t **ret_shadow) {
    *ret_shadow = NULL;
    bool remote = space != PTX_SHARED;
    if (space == PTX_GENERIC && address - MEMORY_SHARED < MEMORY_WINDOW_BYTES) {
        space = PTX_SHARED;
        address -= MEMORY_SHARED;
    }
    struct fault f = {.warp = w,
                      .step = s,
                      .lane = lane,
                      .space = space == PTX_SHARED_CLUSTER ? PTX_SHARED : space,
                      .address = address,
                      .bytes = bytes,
                      .writes = writes,
                      .remote = remote};
    if ((address & (bytes - 1)) != 0) {
        fault_misaligned(&f, bytes);
        return NULL;
    }
    return f.space == PTX_SHARED ? resolve_shared(&f, reads, ret_shadow)
                                 : resolve_global(&f, reads, ret_shadow);
}

struct block *access_shared_range(const struct access_range *r, bool remote,
                                  uint64_t *ret_offset) {
    struct fault f = {.warp = r->warp,
                      .step = r->step,
                      .lane = r->lane,
                      .space = PTX_SHARED,
                      .address = r->address,
                      .bytes = r->bytes,
                      .writes = r->writes,
                      .remote = remote};
    if (f.address % r->align) {
        fault_misaligned(&f, r->align);
        return NULL;
    }
    struct block *b = find_shared(&f, r->reads);
    *ret_offset = f.address;
    return b;
}

struct allocation *access_global_range(const struct access_range *r,
                                       uint64_t *ret_offset) {
    struct fault f = {.warp = r->warp,
                      .step = r->step,
                      .lane = r->lane,
                      .space = PTX_GLOBAL,
                      .address = r->address,
                      .bytes = r->bytes,
                      .writes = r->writes};
    if (f.address % r->align) {
        fault_misaligned(&f, r->align);
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
    const struct access *a = &w->worker->run->program->accesses[s->extra];
    if (space == PTX_SHARED && a->space != PTX_SHARED) {
        space = PTX_SHARED_CLUSTER; /* may be another block's */
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        uint8_t *shadow;
        uint8_t *at = access_resolve(w, s, lane, addresses[lane], space,
                                     (unsigned)a->bytes * a->count, !a->is_store,
                                     a->is_store, &shadow);
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

static void local_lane(struct warp *w, const struct access *a, struct fault *f,
                       bool check) {
    unsigned size = (unsigned)a->bytes * a->count;
    uint8_t bytes[64];
    for (unsigned k = 0; a->is_store && k < a->count; k++) {
        memcpy(bytes + (size_t)k * a->bytes, lane_register(w, a, k, f->lane), a->bytes);
    }
    /* Compilers copy structures with their padding, which nobody writes: a load is of
     * something when any of its bytes is. */
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
        tell_uninitialized(f, NULL, "local memory", f->address);
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
    const struct access *a = &w->worker->run->program->accesses[s->extra];
    bool check = w->worker->run->check_initialized;
    unsigned size = (unsigned)a->bytes * a->count;
    uint64_t first = offsets[__builtin_ctz(mask)], differ = 0;
    uint64_t top = w->frame->local_top;
    for (uint32_t m = mask; m; m &= m - 1) {
        differ |= offsets[__builtin_ctz(m)] ^ first;
    }
    bool inside = first < top && size <= top - first && first % size == 0;
    if (differ == 0 && inside && a->bytes >= 4 && a->bytes <= 8 &&
        local_rows(w, a, mask, first, check)) {
        return;
    }
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        struct fault f = {.warp = w,
                          .step = s,
                          .lane = lane,
                          .space = PTX_LOCAL,
                          .address = offsets[lane],
                          .bytes = size,
                          .writes = a->is_store};
        if (f.address % size) {
            fault_misaligned(&f, size);
        } else if (f.address >= top || size > top - f.address) {
            fault_window(&f, top);
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
    struct run *run = w->worker->run;
    const struct access *a = &run->program->accesses[s->extra];
    unsigned size = (unsigned)a->bytes * a->count;
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m);
        struct fault f = {.warp = w,
                          .step = s,
                          .lane = lane,
                          .space = PTX_PARAM,
                          .address = offsets[lane],
                          .bytes = size,
                          .writes = a->is_store};
        uint8_t *at = NULL;
        if (f.address % size) {
            fault_misaligned(&f, size);
        } else if (a->is_store || f.address >= run->param_bytes ||
                   size > run->param_bytes - f.address) {
            fault_window(&f, run->param_bytes);
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
    for (uint32_t m = mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
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
