#include "gpu/ptx/emit/registers.h"

#include "base/find.h"
#include "gpu/ptx/emit/native.h"
#include "gpu/ptx/lower/register_flow.h"

static void each_operand(const struct ptx_operand *operands, uint32_t count,
                         uint32_t instruction, register_named *named, void *data) {
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_operand *o = &operands[k];
        if (o->kind == PTX_OPERAND_REGISTER ||
            (o->kind == PTX_OPERAND_ADDRESS && o->base == PTX_BASE_REGISTER)) {
            named(o, instruction, data);
        }
    }
}

void code_each_register(const struct code *code, uint32_t instruction,
                        register_named *named, void *data) {
    const struct ptx_function *f = code->function;
    const struct ptx_instruction *i = &f->code[instruction];
    const struct ptx_operand *operands = &f->operands[i->operands];
    each_operand(operands, i->operand_count, instruction, named, data);
    for (uint32_t k = 0; k < i->operand_count; k++) {
        if (operands[k].kind == PTX_OPERAND_VECTOR ||
            operands[k].kind == PTX_OPERAND_ADDRESS) {
            each_operand(&f->elements[operands[k].first], operands[k].count, instruction,
                         named, data);
        }
    }
}

struct homes {
    const struct code *code;
    uint32_t *homes;
    uint32_t block;
};

static void home_add(struct homes *h, uint32_t reg) {
    uint32_t *home = &h->homes[h->code->registers[reg] / 64];
    *home = *home == 0 || *home == h->block + 1 ? h->block + 1 : UINT32_MAX;
}

static void operand_home(const struct ptx_operand *o, uint32_t, void *data) {
    home_add(data, o->index);
}

uint32_t *registers_homes(const struct program *program, const struct code *code) {
    struct homes h = {.code = code,
                      .homes = xcalloc(code->arena_bytes / 64 + 1, sizeof(uint32_t))};
    for (h.block = 0; h.block < program->block_count; h.block++) {
        const struct basic_block *b = &program->blocks[h.block];
        for (uint32_t k = 0; b->code == code->index && k < b->count; k++) {
            code_each_register(code, b->first + k, operand_home, &h);
        }
    }
    return h.homes;
}

/* ---- registers with one value ---- */

struct invariants {
    const struct program *program;
    const struct code *code;
    uint8_t *writers; /* by 64 bytes: 2 stands for more, or not known */
    bool *found;
};

static void note_any(const struct ptx_operand *o, uint32_t, void *data) {
    const struct invariants *v = data;
    v->writers[v->code->registers[o->index] / 64] = 2;
}

static void note_writers(const struct invariants *v, uint32_t instruction) {
    const struct ptx_function *f = v->code->function;
    const struct ptx_instruction *i = &f->code[instruction];
    unsigned results = instruction_results(i);
    if (results == 0 && !instruction_only_reads(i)) {
        code_each_register(v->code, instruction, note_any, (void *)(uintptr_t)v);
    }
    for (unsigned n = 0; n < results; n++) {
        const struct ptx_operand *o = &f->operands[i->operands + n];
        for (uint32_t k = 0; k < operand_parts(o); k++) {
            uint32_t r = operand_register(f, o, k);
            if (r != UINT32_MAX) {
                uint8_t *writers = &v->writers[v->code->registers[r] / 64];
                *writers = *writers ? 2 : 1;
            }
        }
    }
}

static bool is_one_number(const struct invariants *v, uint32_t offset) {
    return offset >= v->code->fixed ? v->code->uniform[(offset - v->code->fixed) / 64]
                                    : v->found[offset / 64];
}

/* The result of arithmetic with numbers alone. */
static bool makes_one_number(const struct invariants *v, const struct step *s) {
    struct native n = native_of(v->program, v->code, s);
    bool alone = n.kind != NATIVE_CALL && n.kind != NATIVE_NOTHING &&
                 n.kind != NATIVE_ACCESS && n.kind != NATIVE_SELECT &&
                 n.kind != NATIVE_JOIN && n.bytes != 0;
    for (unsigned k = 0; alone && k < 3; k++) {
        alone = n.from[k] == 0 || is_one_number(v, s->src[k]);
    }
    return alone;
}

static bool find_more(const struct invariants *v) {
    const struct code *code = v->code;
    bool more = false;
    list_each(k, s, code->steps, code->step_count) {
        bool own = s->dst < code->fixed && s->dst >= code->poison_bytes && s->guard < 0 &&
                   s->dst2 == STEP_NO_REGISTER;
        if (own && v->writers[s->dst / 64] == 1 && !v->found[s->dst / 64] &&
            makes_one_number(v, s)) {
            v->found[s->dst / 64] = more = true;
        }
    }
    return more;
}

bool *registers_invariant(const struct program *program, const struct code *code) {
    enum { ROUNDS = 4 }; /* results mostly stand in front of what uses them */
    struct invariants v = {.program = program,
                           .code = code,
                           .writers = xcalloc(code->arena_bytes / 64 + 1, 1),
                           .found = xcalloc(code->arena_bytes / 64 + 1, sizeof(bool))};
    for (uint32_t k = 0; k < code->function->code_count; k++) {
        note_writers(&v, k);
    }
    for (unsigned round = 0; round < ROUNDS && find_more(&v); round++) {
    }
    free(v.writers);
    return v.found;
}
