/* Parts of a unit that its steps request while their code is made: data, constants, exits,
 * and which registers a step writes. */
#include "gpu/ptx/emit/access_group.h"

int32_t unit_data_add(struct emit_unit *u, uint32_t bytes) {
    uint32_t at = (u->data_size + 63) & ~63u;
    uint32_t size = at + ((bytes + 63) & ~63u);
    u->data = xreallocarray(u->data, size, 1);
    memset(u->data + u->data_size, 0, size - u->data_size);
    u->data_size = size;
    return (int32_t)at;
}

int32_t unit_constant(struct emit_unit *u, uint64_t value) {
    for (uint32_t k = 0; k < u->constant_count; k++) {
        uint64_t known;
        memcpy(&known, u->data + u->constants[k], sizeof known);
        if (known == value) {
            return u->constants[k];
        }
    }
    int32_t at = u->constant_count % 8 ? u->constants[u->constant_count - 1] + 8
                                       : unit_data_add(u, 64);
    memcpy(u->data + at, &value, sizeof value);
    u->constants = xreallocarray(u->constants, u->constant_count + 1, sizeof at);
    u->constants[u->constant_count++] = at;
    return at;
}

void unit_exit_if(struct emit_unit *u, enum condition condition) {
    u->exits = xreallocarray(u->exits, u->exit_count + 1, sizeof *u->exits);
    struct unit_exit *e = &u->exits[u->exit_count++];
    u->segment++;
    *e = (struct unit_exit){.jump = asm_jump(&u->out, condition), .step = u->at};
    e->dirty = xreallocarray(NULL, VECTOR_POOL + 1, sizeof *e->dirty);
    for (uint32_t k = 0; k < u->values.count; k++) {
        const struct value *x = &u->values.items[k];
        if (!x->is_stored && x->count) {
            e->dirty[e->dirty_count++] = *x;
        }
    }
}

uint32_t unit_results(const struct emit_unit *u, uint32_t step, uint32_t *to) {
    const struct step *s = &u->steps[step];
    const struct native *n = &u->natives[step];
    uint32_t count = 0;
    const uint32_t *registers = NULL;
    if (n->kind == NATIVE_ACCESS && !access_of(u, step)->is_store) {
        registers = access_of(u, step)->registers;
        count = access_of(u, step)->count;
    } else if (n->kind == NATIVE_SPLIT) {
        registers = u->program->vectors[s->extra].registers;
        count = 2;
    } else if (n->bytes) {
        registers = &s->dst;
        count = 1;
    }
    uint32_t written = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (registers[k] != STEP_NO_REGISTER) {
            to[written++] = registers[k];
        }
    }
    return written;
}

/* ---- calls ---- */

int32_t unit_step_at(const struct emit_unit *u, uint32_t index) {
    return (int32_t)((u->steps - u->code->steps + index) * (long)sizeof(struct step));
}

void unit_load_constants(struct emit_unit *u) {
    asm_vector(&u->out, VPBROADCASTD, VECTOR_NAN, 0, in_memory(HOST_DATA, DATA_AT(nan)));
    asm_vector(&u->out, VPBROADCASTD, VECTOR_ONES, 0,
               in_memory(HOST_DATA, DATA_AT(ones)));
}

void unit_call(struct emit_unit *u, step_run *run) {
    struct assembler *out = &u->out;
    values_store_all(&u->values);
    values_release(&u->values);
    asm_scalar(out, MOV, RDI, in_register(HOST_WARP));
    asm_scalar(out, LEA, RSI, in_memory(HOST_STEPS, unit_step_at(u, u->at)));
    asm_load_constant(out, RDX, UINT32_MAX);
    asm_load_constant(out, RAX, (uint64_t)(uintptr_t)run);
    asm_forget_uppers(out);
    asm_scalar(out, CALL, RAX, in_register(RAX));
    unit_load_constants(u);
}
