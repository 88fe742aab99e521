#include "gpu/ptx/machine/lower_program.h"

#include "base/err.h"
#include "base/find.h"
#include "gpu/ptx/access/access.h"
#include "gpu/ptx/access/atomics.h"
#include "gpu/ptx/copies/copies_lower.h"
#include "gpu/ptx/image/image_access.h"
#include "gpu/ptx/lower/register_live.h"
#include "gpu/ptx/machine/calls.h"
#include "gpu/ptx/machine/control.h"
#include "gpu/ptx/machine/entry_reach.h"
#include "gpu/ptx/machine/families.h"
#include "gpu/ptx/matrix/matrix_lower.h"
#include "gpu/ptx/matrix/wgmma.h"

/* ---- the end ---- */

static void code_free(struct code *c) {
    if (c) {
        free(c->steps);
        free(c->lane_wise);
        free(c->fixed_image);
        free(c->uniform);
        register_live_free(c->live ? *c->live : NULL);
        free(c->live);
        free(c->specials);
        free(c->registers);
        free(c->param_areas);
        free(c->result_areas);
        free(c);
    }
}

void program_free(struct program *p) {
    if (!p) {
        return;
    }
    for (uint32_t i = 0; p->codes && i < p->module->function_count; i++) {
        code_free(p->codes[i]);
    }
    for (uint32_t i = 0; i < p->call_count; i++) {
        free(p->calls[i].targets);
        free(p->calls[i].argument_areas);
        free(p->calls[i].argument_bytes);
        free(p->calls[i].result_areas);
        free(p->calls[i].result_bytes);
    }
    for (uint32_t i = 0; i < p->table_count; i++) {
        free(p->tables[i].targets);
    }
    free(p->codes);
    free(p->accesses);
    free(p->images);
    free(p->vectors);
    free(p->calls);
    matrices_free(p->matrices, p->matrix_count);
    free(p->tables);
    free(p->blocks);
    free(p->shared_offsets);
    free(p->shared_variables);
    free(p);
}

/* ---- one function ---- */

static lower_family *const families[] = {
    lower_tensor_map, lower_mbarrier, lower_bulk_copy, lower_cluster,    lower_control,
    lower_call,       lower_move,     lower_access,    lower_atomic,     lower_barrier,
    lower_matrix,     lower_wgmma,    lower_warp,      lower_async_copy, lower_discard,
    lower_stack,      lower_texture,  lower_video,     lower_arithmetic, /* last: it
                                                answers for all that is left */
};

static bool remembers(lower_family *f) {
    return f == lower_tensor_map || f == lower_mbarrier || f == lower_bulk_copy ||
           f == lower_async_copy || f == lower_stack;
}

static bool lower_instruction(struct lowering *l, const struct ptx_instruction *i) {
    l->failed = false;
    l->widen_count = 0;
    memset(l->temporary_used, 0, sizeof l->temporary_used);
    enum lower_answer answer = LOWER_NOT_MINE;
    for (size_t k = 0; k < ARRAY_LEN(families) && answer == LOWER_NOT_MINE; k++) {
        answer = families[k](l, i);
        l->program->remembers |= answer != LOWER_NOT_MINE && remembers(families[k]);
    }
    lower_finish(l, i);
    return answer == LOWER_DONE && !l->failed;
}

static void block_open(struct lowering *l) {
    uint32_t block = lower_add_block(l);
    lower_step(l, NULL, step_enter_block, false)->aux = block;
}

/* The opcode's spelling; of a call also the function that is declared and nowhere. */
static json_t *spelling_of(const struct lowering *l, const struct ptx_instruction *i) {
    const struct ptx_module *m = l->module;
    for (uint32_t k = 0; i->opcode == PTX_OP_CALL && k < i->operand_count; k++) {
        const struct ptx_operand *o = lower_operand(l, i, k);
        if (o->kind == PTX_OPERAND_FUNCTION && m->functions[o->index].is_declaration) {
            return json_sprintf("call %.200s", m->functions[o->index].name);
        }
    }
    return json_clean(m->text + i->spelling, i->spelling_len);
}

/* "opcode", "file", "line", "ptx_line", "count", one per spelling. */
static void tell_unsupported(const struct lowering *l, const struct ptx_instruction *i,
                             json_t *list) {
    const struct ptx_module *m = l->module;
    autojson *opcode = spelling_of(l, i);
    json_each(list, k, known) {
        if (json_equal(json_object_get(known, "opcode"), opcode)) {
            json_int_t count = json_get_integer(known, "count", 0);
            json_object_set_new(known, "count", json_integer(count + 1));
            return;
        }
    }
    json_t *item = json_object();
    json_object_set(item, "opcode", opcode);
    const struct ptx_place *at = ptx_place_told(m, i->place);
    if (at) {
        const char *file = at->file < m->file_count ? m->files[at->file] : "";
        json_object_set_new(item, "file", json_clean_z(file));
        json_object_set_new(item, "line", json_integer(at->line));
    }
    json_object_set_new(item, "ptx_line", json_integer(i->line));
    json_object_set_new(item, "count", json_integer(1));
    json_array_append_new(list, item);
}

static void lower_body(struct lowering *l, json_t *unsupported) {
    const struct ptx_function *f = l->function;
    bool open = false;
    for (l->index = 0; l->index < f->code_count; l->index++) {
        const struct ptx_instruction *i = &f->code[l->index];
        l->starts[l->index] = l->code->step_count;
        if (!open || f->leader[l->index]) {
            block_open(l);
            open = true;
        }
        l->program->blocks[l->program->block_count - 1].count++;
        if (l->early && l->early[l->index]) {
            lower_step(l, i, step_wgmma_early, false);
        }
        if (!lower_instruction(l, i)) {
            tell_unsupported(l, i, unsupported);
        }
        open = !lower_ends_block(i);
    }
    /* A function that runs off its end returns. */
    l->starts[f->code_count] = l->code->step_count;
    block_open(l);
    lower_step(l, NULL, f->is_entry ? step_exit : step_return, false);
}

static void patch_targets(struct lowering *l, uint32_t first_table) {
    list_each(k, s, l->code->steps, l->code->step_count) {
        if (s->run == step_branch) {
            s->target = l->starts[s->target];
        }
    }
    for (uint32_t t = first_table; t < l->program->table_count; t++) {
        struct branch_table *table = &l->program->tables[t];
        for (uint32_t k = 0; k < table->count; k++) {
            table->targets[k] = l->starts[table->targets[k]];
        }
    }
    list_each(k, s, l->code->steps, l->code->step_count) {
        if (s->run == step_enter_block) {
            uint32_t end = k + 1;
            while (end < l->code->step_count &&
                   l->code->steps[end].run != step_enter_block) {
                end++;
            }
            s->extra = end - k;
            s->target = l->program->blocks[s->aux].count;
        }
    }
}

/* Those that a path may read unwritten, or the others. */
static void place_registers(struct lowering *l, const bool *unwritten, bool which) {
    const struct ptx_function *f = l->function;
    for (uint32_t k = 0; k < f->register_count; k++) {
        unsigned bytes = lower_register_bytes(l, k);
        if (unwritten[k] == which) {
            l->registers[k] = lower_arena(l, bytes ? (uint64_t)bytes * WARP_LANES : 4);
        }
    }
}

/* Parameter memory of a function: rows of 128 bytes, as local memory. */
static uint32_t area_new(struct lowering *l, uint32_t variable) {
    uint64_t words = (l->module->variables[variable].size + 3) / 4;
    uint32_t at = lower_arena(l, words * 4 * WARP_LANES);
    l->areas[variable] = at;
    return at;
}

static void place_areas(struct lowering *l) {
    const struct ptx_function *f = l->function;
    for (uint32_t v = 0; v < l->module->variable_count; v++) {
        l->areas[v] = STEP_NO_REGISTER;
    }
    l->code->param_areas = xcalloc(f->param_count + 1, sizeof(uint32_t));
    l->code->result_areas = xcalloc(f->result_count + 1, sizeof(uint32_t));
    if (f->is_entry) {
        return;
    }
    for (uint32_t k = 0; k < f->param_count; k++) {
        l->code->param_areas[k] = area_new(l, f->params[k]);
    }
    for (uint32_t k = 0; k < f->result_count; k++) {
        l->code->result_areas[k] = area_new(l, f->results[k]);
    }
}

/* .param variables of calls in the body; calls that do not nest share their bytes. */
static void place_call_areas(struct lowering *l) {
    const struct ptx_function *f = l->function;
    uint32_t block = lower_arena(l, (f->call_bytes + 3) / 4 * 4 * WARP_LANES);
    for (uint32_t k = 0; k < f->operand_count + f->element_count; k++) {
        const struct ptx_operand *o =
            k < f->operand_count ? &f->operands[k] : &f->elements[k - f->operand_count];
        bool symbol = o->kind == PTX_OPERAND_SYMBOL ||
                      (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_BASE_SYMBOL);
        if (!symbol) {
            continue;
        }
        const struct ptx_variable *v = &l->module->variables[o->index];
        if (v->space != PTX_PARAM || v->param_block != PTX_BLOCK_CALL ||
            v->function != (int32_t)l->code->index ||
            l->areas[o->index] != STEP_NO_REGISTER) {
            continue;
        }
        if (v->offset % 4 == 0) {
            l->areas[o->index] = block + (uint32_t)v->offset * WARP_LANES;
        } else {
            area_new(l, o->index);
        }
    }
}

/* Of %ctaid, %ntid and %nctaid, which lanes share. */
static bool special_is_uniform(unsigned special) {
    return (special >= PTX_SR_NTID_X && special <= PTX_SR_NTID_Z) ||
           (special >= PTX_SR_CTAID_X && special <= PTX_SR_CTAID_Z) ||
           (special >= PTX_SR_NCTAID_X && special <= PTX_SR_NCTAID_Z);
}

static void build_image(struct lowering *l, uint32_t fixed) {
    struct code *c = l->code;
    c->fixed = fixed;
    c->arena_bytes = (l->top + 63) & ~63u;
    uint32_t bytes = c->arena_bytes - fixed;
    c->fixed_image = xcalloc(1, bytes + 1);
    c->uniform = xcalloc(1, bytes / 64 + 1);
    list_each(k, x, l->constants, l->constant_room) {
        if (x->bytes == UINT32_MAX) {
            continue;
        }
        uint8_t *to = c->fixed_image + (x->offset - fixed);
        c->uniform[(x->offset - fixed) / 64] = 1;
        if (x->bytes == 0) {
            memset(to, x->value ? 0xff : 0, 4);
            continue;
        }
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            memcpy(to + (size_t)lane * x->bytes, &x->value, x->bytes > 8 ? 8 : x->bytes);
        }
    }
    uint32_t count = 0;
    for (unsigned k = 0; k < PTX_SPECIALS; k++) {
        count += l->specials[k] != 0;
    }
    c->specials = xcalloc(count + 1, sizeof *c->specials);
    for (unsigned k = 0; k < PTX_SPECIALS; k++) {
        if (l->specials[k]) {
            c->specials[c->special_count++] = (struct special_slot){
                .special = (uint16_t)k, .offset = l->specials[k] - 1};
            c->uniform[(l->specials[k] - 1 - fixed) / 64] = special_is_uniform(k);
        }
    }
}

static int lower_function(struct program *p, uint32_t index,
                          struct allocation **variables, json_t *unsupported,
                          struct err *err) {
    const struct ptx_module *m = p->module;
    const struct ptx_function *f = &m->functions[index];
    struct code *c = xcalloc(1, sizeof *c);
    p->codes[index] = c;
    c->function = f;
    c->index = index;
    c->live = xcalloc(1, sizeof(struct register_live *));
    c->local_bytes = (f->local_bytes + 15) / 16 * 16;
    struct lowering l = {
        .program = p, .module = m, .variables = variables, .code = c, .function = f};
    l.early = wgmma_early(f);
    l.registers = xcalloc(f->register_count + 1u, sizeof *l.registers);
    l.starts = xcalloc(f->code_count + 1u, sizeof *l.starts);
    l.areas = xcalloc(m->variable_count + 1u, sizeof *l.areas);
    uint32_t first_table = p->table_count;
    bool *unwritten = lower_unwritten(f);
    place_registers(&l, unwritten, true);
    place_areas(&l);
    place_call_areas(&l);
    c->poison_bytes = l.top;
    place_registers(&l, unwritten, false);
    free(unwritten);
    uint32_t fixed = l.top;
    if (l.top < ARENA_MAX) {
        lower_body(&l, unsupported);
        patch_targets(&l, first_table);
    }
    p->steps += c->step_count;
    int rc = 0;
    if (l.top >= ARENA_MAX || p->steps > STEP_MAX) {
        rc = err_set(err, -EFBIG,
                     "%s is too large to run: %u bytes of registers a warp, %llu steps",
                     f->name, l.top, (unsigned long long)p->steps);
    } else {
        build_image(&l, fixed);
    }
    c->registers = l.registers;
    free(l.early);
    free(l.starts);
    free(l.areas);
    free(l.constants);
    return rc;
}

/* By cvta. */
static bool makes_generic(const struct ptx_function *f) {
    return list_any(i, f->code, f->code_count,
                    i->opcode == PTX_OP_CVTA && !ptx_has(i, PTX_M_TO) &&
                        i->space_count == 1 && i->spaces[0] != PTX_GLOBAL &&
                        i->spaces[0] != PTX_CONST);
}

int program_new(struct program **ret, const struct ptx_module *module, uint32_t entry,
                struct allocation **variables, json_t *unsupported, struct err *err) {
    struct program *p = xcalloc(1, sizeof *p);
    p->module = module;
    p->entry = entry;
    p->codes = xcalloc(module->function_count + 1u, sizeof *p->codes);
    struct reach r;
    reach_entry(&r, module, entry);
    shared_place(p, r.variables);
    p->generic = any_of(k, 0, r.queued, makes_generic(&module->functions[r.queue[k]]));
    size_t before = json_array_size(unsupported);
    int rc = 0;
    for (uint32_t k = 0; k < r.queued && rc == 0; k++) {
        if (!module->functions[r.queue[k]].is_declaration) {
            rc = lower_function(p, r.queue[k], variables, unsupported, err);
            p->stack_bytes +=
                module->functions[r.queue[k]].local_bytes + STACK_RETURN_BYTES;
        }
    }
    reach_free(&r);
    if (rc == 0 && json_array_size(unsupported) > before) {
        rc = err_set(err, -ENOTSUP, "%s has instructions that cannot run here",
                     module->functions[entry].name);
    }
    if (rc) {
        program_free(p);
        return rc;
    }
    *ret = p;
    return 0;
}
