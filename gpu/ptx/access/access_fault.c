#include "gpu/ptx/access/access_fault.h"

#include "gpu/ptx/access/access.h"

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

void access_fault(const struct access_fault *f, enum finding_code code,
                  const char *buffer, int64_t offset, const char *text) {
    struct finding_place at = {.warp = f->warp,
                               .step = f->step,
                               .lane = f->lane,
                               .buffer = buffer,
                               .offset = offset,
                               .other = f->other,
                               .memory = f->memory};
    finding_add(&at, code, "Invalid %s %s of %llu bytes: %s", space_word(f->space),
                f->writes ? "write" : "read", (unsigned long long)f->bytes, text);
    run_fault(f->warp->processor->run);
}

/* The owner of the memory that contains the address, whatever else is wrong with it;
 * NULL: none. */
static const char *global_holder(const struct access_fault *f, uint64_t *ret_offset) {
    struct allocation *before, *after;
    memory_around(f->warp->processor->run->memory, f->address, &before, &after);
    *ret_offset = before ? f->address - before->address : 0;
    return before && *ret_offset < before->bytes ? before->name : NULL;
}

static const char *shared_holder(const struct access_fault *f, uint64_t *ret_offset) {
    const struct run *run = f->warp->processor->run;
    struct shared_extent e;
    uint64_t offset = f->address;
    if (f->remote && offset >> CLUSTER_TAG_SHIFT <= f->warp->block->cluster->count) {
        offset &= (UINT64_C(1) << CLUSTER_TAG_SHIFT) - 1;
    }
    return shared_extent_find(run, offset, 1, &e) ? shared_name(run, offset, ret_offset)
                                                  : NULL;
}

void access_fault_misaligned(const struct access_fault *f, unsigned align) {
    char text[2304], place[2200] = ""; /* a template's names are long */
    uint64_t offset = 0;
    bool shared = f->space == PTX_SHARED;
    const char *name = shared ? shared_holder(f, &offset)
                       : f->space == PTX_LOCAL || f->space == PTX_PARAM
                           ? NULL
                           : global_holder(f, &offset);
    if (name) {
        snprintf(place, sizeof place, "offset %llu of %s, ", (unsigned long long)offset,
                 name);
    }
    snprintf(text, sizeof text, "%saddress 0x%llx%s is not a multiple of %u", place,
             (unsigned long long)f->address, name ? "," : "", align);
    access_fault(f, FINDING_MISALIGNED, name, (int64_t)offset, text);
}

#define FAR (UINT64_C(1) << 34) /* bytes beyond which an address is not near a buffer */

static void fault_near(const struct access_fault *f, const struct allocation *near,
                       int64_t offset, const char *text) {
    struct access_fault told = *f;
    told.memory = near->address;
    access_fault(&told, FINDING_OUT_OF_BOUNDS, near->name, offset, text);
}

/* Which allocation was meant: the one it begins in, else the nearest. */
void access_fault_global(const struct access_fault *f) {
    struct allocation *before, *after;
    memory_around(f->warp->processor->run->memory, f->address, &before, &after);
    char text[2304]; /* names of variables are symbols, of templates long ones */
    uint64_t past = before ? f->address - before->address : 0;
    uint64_t gap = after ? after->address - f->address : UINT64_MAX;
    const struct allocation *near = before;
    uint64_t behind = before && past >= before->bytes ? past - before->bytes : 0;
    if ((!before && gap > FAR) || (behind > FAR && gap > FAR)) {
        const struct memory_bytes *bytes = f->warp->processor->run->memory->bytes;
        snprintf(text, sizeof text, "0x%llx is not an address of device memory%s",
                 (unsigned long long)f->address,
                 f->address < 4096 ? " (null pointer)"
                 : bytes->is_hosts && bytes->is_hosts(f->address)
                     ? ", but of the host's own, which kernels cannot use: give them "
                       "memory of cudaMalloc or cudaMallocManaged"
                     : "");
        access_fault(f, FINDING_OUT_OF_BOUNDS, NULL, 0, text);
        return;
    }
    if (!before || (past >= before->bytes && gap < past - before->bytes)) {
        near = after;
        snprintf(text, sizeof text, "%llu bytes in front of %s (%llu bytes)",
                 (unsigned long long)gap, near->name, (unsigned long long)near->bytes);
        fault_near(f, near, -(int64_t)gap, text);
        return;
    }
    if (past < near->bytes && near->freed) {
        snprintf(text, sizeof text, "offset %llu of %s, which %s", (unsigned long long)past,
                 near->name, near->gone ? near->gone : "has been freed");
    } else if (past < near->bytes && past + f->bytes <= near->bytes) {
        snprintf(text, sizeof text, "%s is constant memory", near->name);
    } else {
        snprintf(text, sizeof text, "%llu bytes past the end of %s (%llu bytes)",
                 (unsigned long long)(past >= near->bytes
                                          ? past - near->bytes
                                          : past + f->bytes - near->bytes),
                 near->name, (unsigned long long)near->bytes);
    }
    fault_near(f, near, (int64_t)past, text);
}

/* An index below 0 wraps, of 32 bits or of 64: no window is so large. */
static int64_t window_offset(uint64_t address) {
    return address >> 31 == 1 ? (int64_t)address - (INT64_C(1) << 32) : (int64_t)address;
}

/* The distance from the end, of memory that ends at `high`. */
static uint64_t past_end(const struct access_fault *f, uint64_t high) {
    return f->address >= high ? f->address - high : f->address + f->bytes - high;
}

/* Between variables, or after the last one. */
static void fault_behind_variable(const struct access_fault *f, const char *name,
                                  const struct shared_extent *e) {
    char text[2304]; /* a template's names are long */
    uint64_t offset = f->address - e->low;
    snprintf(text, sizeof text, "offset %llu, %llu bytes past the end of %s (%llu bytes)",
             (unsigned long long)offset, (unsigned long long)past_end(f, e->high), name,
             (unsigned long long)(e->high - e->low));
    access_fault(f, FINDING_OUT_OF_BOUNDS, name, (int64_t)offset, text);
}

static void fault_outside(const struct access_fault *f, const char *name, uint64_t size) {
    char text[160], dynamic[48] = "";
    int64_t offset = window_offset(f->address);
    if (f->space == PTX_SHARED) {
        snprintf(dynamic, sizeof dynamic, ", %u of them dynamic",
                 f->warp->processor->run->launch->dynamic_shared);
    }
    if (offset < 0) {
        snprintf(text, sizeof text, "offset %lld, in front of the beginning",
                 (long long)offset);
    } else {
        snprintf(text, sizeof text, "offset %llu, %llu bytes past the end (%llu bytes%s)",
                 (unsigned long long)f->address, (unsigned long long)past_end(f, size),
                 (unsigned long long)size, dynamic);
    }
    access_fault(f, FINDING_OUT_OF_BOUNDS, name, offset, text);
}

void access_fault_shared(const struct access_fault *f) {
    const struct run *run = f->warp->processor->run;
    struct shared_extent e;
    const char *name = shared_owner(run, f->address, &e);
    if (name && window_offset(f->address) >= 0) {
        fault_behind_variable(f, name, &e);
    } else {
        fault_outside(f, "shared memory", run->shared_bytes - run->program->shared_gaps);
    }
}

void access_fault_window(const struct access_fault *f, uint64_t size) {
    fault_outside(f, f->space == PTX_LOCAL ? "local memory" : "parameters", size);
}

struct origin access_origin(const struct access_fault *f, const struct block *b,
                            const char *buffer, uint64_t offset) {
    return (struct origin){.by = finding_thread(f->warp, f->step, f->lane),
                           .space = space_word(f->space),
                           .bytes = f->bytes,
                           .offset = offset,
                           .buffer = buffer,
                           .copied = b ? block_copies_to(b, f->warp, f->lane, f->address, f->bytes) : NULL};
}
