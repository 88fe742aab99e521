#include "gpu/ptx/state/shared_layout.h"

#include "base/find.h"
#include "gpu/ptx/state/run.h"

static bool is_placed(const struct ptx_variable *v, const bool *reached, uint32_t index) {
    return v->space == PTX_SHARED && reached[index];
}

static uint64_t round_up(uint64_t value, uint64_t align) {
    return (value + align - 1) / align * align;
}

/* Bytes between variables. */
static uint64_t gap_for(const struct ptx_module *m, const bool *reached) {
    uint64_t count = 0;
    bool is_dynamic = false;
    list_each(k, v, m->variables, m->variable_count) {
        if (!is_placed(v, reached, k)) {
            continue;
        }
        if (v->align > SHARED_GAP) {
            return 0;
        }
        count += !v->is_unsized;
        is_dynamic |= v->is_unsized;
    }
    return count + is_dynamic > 1 && count <= SHARED_GAPS_MAX ? SHARED_GAP : 0;
}

/* Sized variables from 0 on; returns the largest alignment of those without a size. */
static uint64_t place_sized(struct program *p, const bool *reached, uint64_t gap) {
    const struct ptx_module *m = p->module;
    uint64_t top = 0, extern_align = 16;
    list_each(k, v, m->variables, m->variable_count) {
        uint64_t align = v->align ? v->align : 1;
        p->shared_offsets[k] = UINT64_MAX;
        if (!is_placed(v, reached, k)) {
            continue;
        }
        if (v->is_unsized) {
            extern_align = align > extern_align ? align : extern_align;
            continue;
        }
        top = round_up(top, align);
        p->shared_offsets[k] = top;
        p->shared_variables[p->shared_count++] = k;
        top += v->size + gap;
        p->shared_gaps += gap;
    }
    p->shared_bytes = top;
    return extern_align;
}

void shared_place(struct program *p, const bool *reached) {
    const struct ptx_module *m = p->module;
    p->shared_offsets = xmalloc((m->variable_count + 1) * sizeof *p->shared_offsets);
    p->shared_variables = xmalloc((m->variable_count + 1) * sizeof *p->shared_variables);
    uint64_t align = place_sized(p, reached, gap_for(m, reached));
    uint64_t dynamic = round_up(p->shared_bytes, align);
    for (uint32_t k = 0; k < m->variable_count; k++) {
        if (is_placed(&m->variables[k], reached, k) && m->variables[k].is_unsized) {
            p->shared_offsets[k] = dynamic;
            p->shared_bytes = dynamic;
        }
    }
}

/* ---- whose ---- */

static struct shared_extent extent_of(const struct program *p, uint32_t k) {
    uint64_t low = p->shared_offsets[p->shared_variables[k]];
    return (struct shared_extent){
        low, low + p->module->variables[p->shared_variables[k]].size};
}

bool shared_extent_find(const struct run *run, uint64_t offset, uint64_t bytes,
                        struct shared_extent *ret) {
    const struct program *p = run->program;
    struct shared_extent e = {0, run->shared_bytes};
    if (p->shared_gaps) {
        e.low = p->shared_bytes; /* dynamic */
        for (uint32_t k = 0; k < p->shared_count && offset < e.low; k++) {
            struct shared_extent of = extent_of(p, k);
            e = offset >= of.low && offset < of.high ? of : e;
        }
    }
    *ret = e;
    return offset >= e.low && offset < e.high && bytes <= e.high - offset;
}

bool shared_is_inside(struct processor *processor, uint32_t access, uint64_t offset,
                      uint64_t bytes) {
    struct shared_extent *last = &processor->extents[access];
    if (offset >= last->low && offset < last->high && bytes <= last->high - offset) {
        return true;
    }
    return shared_extent_find(processor->run, offset, bytes, last);
}

const char *shared_owner(const struct run *run, uint64_t offset,
                         struct shared_extent *ret) {
    const struct program *p = run->program;
    const char *name = NULL;
    bool is_dynamic = run->shared_bytes > p->shared_bytes;
    if (!p->shared_gaps && p->shared_count + is_dynamic > 1) {
        return NULL;
    }
    if (is_dynamic && offset >= p->shared_bytes) {
        *ret = (struct shared_extent){p->shared_bytes, run->shared_bytes};
        return "dynamic shared memory";
    }
    for (uint32_t k = 0; k < p->shared_count; k++) {
        struct shared_extent e = extent_of(p, k);
        if (e.low <= offset) {
            *ret = e;
            name = p->module->variables[p->shared_variables[k]].name;
        }
    }
    return name;
}

const char *shared_name(const struct run *run, uint64_t offset, uint64_t *ret_offset) {
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
    *ret_offset = offset >= p->shared_bytes ? offset - p->shared_bytes : offset;
    return "dynamic shared memory";
}
