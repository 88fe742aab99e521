#include "gpu/ptx/machine/calls.h"

#include "base/find.h"
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/machine/system_calls.h"

#define ROW (4 * WARP_LANES) /* bytes: a word of every lane */

/* ---- running ---- */

static void copy_arguments(const struct frame *caller, const struct frame *callee,
                           const struct call_site *site) {
    for (uint32_t k = 0; k < site->arguments; k++) {
        memcpy(callee->regs + callee->code->param_areas[k],
               caller->regs + site->argument_areas[k],
               (size_t)((site->argument_bytes[k] + 3) / 4) * ROW);
    }
}

static void copy_results(const struct frame *callee, uint32_t lanes) {
    const struct call_site *site = callee->site;
    for (uint32_t k = 0; k < site->results; k++) {
        uint32_t words = (site->result_bytes[k] + 3) / 4;
        uint32_t *to = (uint32_t *)(void *)(callee->parent->regs + site->result_areas[k]);
        const uint32_t *from =
            (const uint32_t *)(const void *)(callee->regs +
                                             callee->code->result_areas[k]);
        for (uint32_t r = 0; r < words; r++, to += WARP_LANES, from += WARP_LANES) {
            bits_each(l, lanes) {
                to[l] = from[l];
            }
        }
    }
}

static bool signature_fits(const struct ptx_module *m, const struct ptx_function *f,
                           const struct call_site *site) {
    if (f->param_count != site->arguments || f->result_count != site->results) {
        return false;
    }
    for (uint32_t k = 0; k < f->param_count; k++) {
        if (m->variables[f->params[k]].size != site->argument_bytes[k]) {
            return false;
        }
    }
    return !any_of(k, 0, f->result_count,
                   m->variables[f->results[k]].size != site->result_bytes[k]);
}

/* The function at an address, or NULL if it may not be called here. */
static const struct code *call_target(const struct warp *w, const struct call_site *site,
                                      uint64_t address) {
    const struct program *p = w->processor->run->program;
    uint64_t number = (address - MEMORY_CODE) / MEMORY_CODE_STRIDE;
    if ((address - MEMORY_CODE) % MEMORY_CODE_STRIDE || number == 0 ||
        number > p->module->function_count) {
        return NULL;
    }
    uint32_t index = (uint32_t)(number - 1);
    bool listed = site->target_count == 0 ||
                  any_of(k, 0, site->target_count, site->targets[k] == index);
    const struct code *c = p->codes[index];
    return listed && c && !c->function->is_entry &&
                   signature_fits(p->module, c->function, site)
               ? c
               : NULL;
}

static void call_group(struct warp *w, const struct step *s, const struct call_site *site,
                       const struct code *code, uint32_t lanes) {
    struct frame *f = frame_enter(w, s, code, site, lanes);
    if (!f) {
        warp_exit_lanes(w, lanes);
        return;
    }
    copy_arguments(w->frame, f, site);
    w->active &= ~lanes;
    w->pending[w->pending_count++] =
        (struct split){.frame = f, .next = code->steps, .lanes = lanes};
}

static void call_wild(struct warp *w, const struct step *s, uint64_t address,
                      uint32_t lanes) {
    struct finding_place at = {
        .warp = w, .step = s, .lane = (unsigned)__builtin_ctz(lanes)};
    finding_add(
        &at, FINDING_LAUNCH_ERROR,
        "Call of 0x%llx, which is not a function of this signature; the threads stop",
        (unsigned long long)address);
    run_fault(w->processor->run);
    warp_exit_lanes(w, lanes);
}

static void call_indirect(struct warp *w, const struct step *s,
                          const struct call_site *site, uint32_t mask) {
    const uint64_t *address = LANES(const uint64_t, w, site->address);
    uint64_t targets[WARP_LANES];
    memcpy(targets, address, sizeof targets);
    while (mask) {
        uint64_t target = targets[__builtin_ctz(mask)];
        uint32_t same = 0;
        bits_each(k, mask) {
            same |= (uint32_t)(targets[k] == target) << k;
        }
        mask &= ~same;
        const struct code *code = call_target(w, site, target);
        if (code) {
            call_group(w, s, site, code, same);
        } else {
            call_wild(w, s, target, same);
        }
    }
}

static void step_call(struct warp *w, const struct step *s, uint32_t mask) {
    const struct call_site *site = &w->processor->run->program->calls[s->extra];
    if (site->system_call >= 0) {
        system_call_run((enum system_call)site->system_call, w, s, site, mask);
        return;
    }
    uint32_t rest = w->active & ~mask;
    if (rest) {
        w->pending[w->pending_count++] =
            (struct split){.frame = w->frame, .next = w->next, .lanes = rest};
    }
    w->active = mask;
    if (site->callee < 0) {
        call_indirect(w, s, site, mask);
    } else {
        call_group(w, s, site, w->processor->run->program->codes[site->callee], mask);
    }
    w->active = 0;
}

void step_return(struct warp *w, const struct step *, uint32_t mask) {
    struct frame *f = w->frame;
    copy_results(f, mask);
    struct split back = {.frame = f->parent, .next = f->return_to, .lanes = mask};
    w->active &= ~mask;
    w->pending[w->pending_count++] = back;
    frame_leave(w, f, mask);
}

/* ---- lowering ---- */

/* An argument or result: a .param variable, or a register that gets an area. */
static bool call_area(struct lowering *l, const struct ptx_instruction *i,
                      const struct ptx_operand *o, bool is_result, uint32_t *ret_area,
                      uint32_t *ret_bytes) {
    if (o->kind == PTX_OPERAND_SYMBOL &&
        l->module->variables[o->index].space == PTX_PARAM &&
        l->areas[o->index] != STEP_NO_REGISTER) {
        *ret_area = l->areas[o->index];
        *ret_bytes = (uint32_t)l->module->variables[o->index].size;
        return true;
    }
    if (o->kind != PTX_OPERAND_REGISTER &&
        (is_result || o->kind != PTX_OPERAND_IMMEDIATE)) {
        return false;
    }
    unsigned bytes =
        o->kind == PTX_OPERAND_REGISTER ? lower_register_bytes(l, o->index) : 4;
    if (bytes != 4 && bytes != 8) {
        return false;
    }
    *ret_area = lower_arena(l, (uint64_t)bytes * WARP_LANES);
    *ret_bytes = bytes;
    if (!is_result) {
        uint32_t from = lower_source(l, i, o, bytes, bytes == 4 ? PTX_B32 : PTX_B64);
        struct step *s = lower_step(l, i, step_area_store(bytes), true);
        s->src[0] = from;
        s->dst = *ret_area;
    }
    return true;
}

static bool call_list(struct lowering *l, const struct ptx_instruction *i,
                      const struct ptx_operand *vector, bool is_result,
                      uint32_t *ret_count, uint32_t **ret_areas, uint32_t **ret_bytes) {
    *ret_areas = xcalloc(vector->count + 1u, sizeof **ret_areas);
    *ret_bytes = xcalloc(vector->count + 1u, sizeof **ret_bytes);
    *ret_count = vector->count;
    return all_of(k, 0, vector->count,
                  call_area(l, i, lower_element(l, vector, k), is_result,
                            &(*ret_areas)[k], &(*ret_bytes)[k]));
}

static bool call_callee(struct lowering *l, const struct ptx_instruction *i,
                        struct call_site *site) {
    const struct ptx_operand *o = lower_operand(l, i, 0);
    site->callee = -1;
    site->system_call = -1;
    if (o->kind == PTX_OPERAND_REGISTER) {
        site->address = lower_source(l, i, o, 8, PTX_U64);
        const struct ptx_operand *t =
            i->operand_count > 3 ? lower_operand(l, i, 3) : NULL;
        if (t && t->kind == PTX_OPERAND_TABLE) {
            const struct ptx_table *table = &l->function->tables[t->index];
            site->target_count = table->count;
            site->targets = xreallocarray(NULL, table->count + 1u, sizeof(uint32_t));
            memcpy(site->targets, table->targets, table->count * sizeof(uint32_t));
        }
        return !l->failed;
    }
    if (o->kind != PTX_OPERAND_FUNCTION) {
        return false;
    }
    const struct ptx_function *f = &l->module->functions[o->index];
    if (f->is_declaration) {
        site->system_call = (int16_t)system_call_find(f->name);
        l->program->order_sensitive |=
            site->system_call >= 0 &&
            system_call_is_ordered((enum system_call)site->system_call);
        return site->system_call >= 0 &&
               system_call_fits((enum system_call)site->system_call, site);
    }
    site->callee = (int32_t)o->index;
    return !f->is_entry && signature_fits(l->module, f, site);
}

static void call_register_results(struct lowering *l, const struct ptx_instruction *i,
                                  const struct ptx_operand *results,
                                  const struct call_site *site) {
    for (uint32_t k = 0; k < results->count; k++) {
        const struct ptx_operand *o = lower_element(l, results, k);
        if (o->kind == PTX_OPERAND_REGISTER) {
            uint32_t to = lower_result(l, o, site->result_bytes[k], false);
            struct step *s =
                lower_step(l, i, step_area_load(site->result_bytes[k]), true);
            s->src[0] = site->result_areas[k];
            s->dst = to;
        }
    }
}

enum lower_answer lower_call(struct lowering *l, const struct ptx_instruction *i) {
    if (i->opcode != PTX_OP_CALL) {
        return LOWER_NOT_MINE;
    }
    if (i->operand_count < 3) {
        return LOWER_REFUSED;
    }
    const struct ptx_operand *results = lower_operand(l, i, 1);
    const struct ptx_operand *arguments = lower_operand(l, i, 2);
    if (results->kind != PTX_OPERAND_VECTOR || arguments->kind != PTX_OPERAND_VECTOR) {
        return LOWER_REFUSED;
    }
    struct call_site site = {0};
    bool fine = call_list(l, i, results, true, &site.results, &site.result_areas,
                          &site.result_bytes) &&
                call_list(l, i, arguments, false, &site.arguments, &site.argument_areas,
                          &site.argument_bytes) &&
                call_callee(l, i, &site);
    uint32_t extra = lower_add_call(l, &site); /* also owns it when it is refused */
    if (!fine) {
        return LOWER_REFUSED;
    }
    lower_step(l, i, step_call, false)->extra = extra;
    call_register_results(l, i, results, &site);
    return LOWER_DONE;
}
