#include "gpu/ptx/emit/unit.h"

#include "gpu/ptx/emit/access_group.h"
#include "gpu/ptx/emit/registers.h"

/* ---- ways out ---- */

static void leave(struct emit_unit *u) {
    u->leaves = xreallocarray(u->leaves, u->leave_count + 1, sizeof *u->leaves);
    u->leaves[u->leave_count++] = asm_jump(&u->out, ALWAYS);
}

static void go_on_with(struct emit_unit *u, uint32_t index) {
    asm_scalar(&u->out, LEA, RAX, in_memory(HOST_STEPS, unit_step_at(u, index)));
    asm_scalar(&u->out, MOV_STORE, RAX,
               in_memory(HOST_WARP, (int32_t)offsetof(struct warp, next)));
}

static void make_exits(struct emit_unit *u) {
    for (uint32_t k = 0; k < u->exit_count; k++) {
        const struct unit_exit *e = &u->exits[k];
        asm_land(&u->out, e->jump);
        for (uint32_t d = 0; d < e->dirty_count; d++) {
            values_store(&u->values, &e->dirty[d]);
        }
        asm_scalar(&u->out, INC, RAX, in_memory(HOST_DATA, DATA_AT(exits)));
        go_on_with(u, e->step);
        leave(u);
    }
}

/* ---- begin and end of the function ---- */

static const enum gpr kept[] = {RBX, RBP, R12, R13, R14}; /* an odd number: calls are
                                                             aligned */

static void make_begin(struct emit_unit *u) {
    struct assembler *out = &u->out;
    for (size_t k = 0; k < ARRAY_LEN(kept); k++) {
        asm_push(out, kept[k]);
    }
    asm_scalar(out, MOV, HOST_WARP, in_register(RDI));
    asm_scalar(out, MOV, HOST_DATA, in_register(RSI));
    asm_scalar(out, MOV, HOST_STEPS, in_memory(HOST_DATA, DATA_AT(steps)));
    asm_scalar(out, MOV, HOST_REGS,
               in_memory(HOST_WARP, (int32_t)offsetof(struct warp_head, regs)));
    if (u->values.is_masked) {
        asm_scalar(out, MOV_32, HOST_LANES,
                   in_memory(HOST_WARP, (int32_t)offsetof(struct warp, active)));
    } else if (u->group_count) {
        asm_scalar(out, MOV_32, HOST_OWN,
                   in_memory(HOST_WARP, (int32_t)offsetof(struct warp, index)));
        for (unsigned k = 0; k < 3; k++) {
            asm_scalar(out, ADD, HOST_OWN, in_register(HOST_OWN));
        }
        asm_scalar(out, ADD, HOST_OWN, in_register(HOST_DATA));
    }
    unit_load_constants(u);
}

static void make_end(struct emit_unit *u) {
    for (uint32_t k = 0; k < u->leave_count; k++) {
        asm_land(&u->out, u->leaves[k]);
    }
    asm_forget_uppers(&u->out);
    for (size_t k = ARRAY_LEN(kept); k-- > 0;) {
        asm_pop(&u->out, kept[k]);
    }
    asm_return(&u->out);
}

/* ---- a step without native code ---- */

/* The interpreter's way for one step, with its guard. */
static void run_guarded(struct warp *w, const struct step *s, uint32_t) {
    warp_step(w, s);
}

/* Whoever was called may have parted lanes or gone elsewhere; all is stored then. */
static void make_check_of_control(struct emit_unit *u) {
    struct assembler *out = &u->out;
    struct asm_place active =
        in_memory(HOST_WARP, (int32_t)offsetof(struct warp, active));
    if (u->values.is_masked) {
        asm_scalar(out, CMP_32, HOST_LANES, active);
    } else {
        asm_constant(out, CMP_C_32, active, -1);
    }
    u->leaves = xreallocarray(u->leaves, u->leave_count + 2, sizeof *u->leaves);
    u->leaves[u->leave_count++] = asm_jump(out, IF_NOT_EQUAL);
    asm_scalar(out, LEA, RAX, in_memory(HOST_STEPS, unit_step_at(u, u->at + 1)));
    asm_scalar(out, CMP, RAX, in_memory(HOST_WARP, (int32_t)offsetof(struct warp, next)));
    u->leaves[u->leave_count++] = asm_jump(out, IF_NOT_EQUAL);
}

/* What the step writes is the arena's. */
static void forget_results(struct emit_unit *u, const struct step *s, bool pure) {
    uint32_t results[8];
    if (pure) {
        values_forget(&u->values, s->dst);
        values_forget(&u->values, s->dst2);
    } else if (u->natives[u->at].kind != NATIVE_ACCESS) {
        values_forget_all(&u->values);
    } else {
        for (uint32_t k = unit_results(u, u->at, results); k-- > 0;) {
            values_forget(&u->values, results[k]);
        }
    }
}

static void make_call(struct emit_unit *u, const struct step *s) {
    bool pure = s->guard < 0 && u->code->lane_wise[s - u->code->steps] == STEP_ARITHMETIC;
    bool direct = s->guard < 0 && !u->values.is_masked;
    if (!pure) {
        go_on_with(u, u->at + 1);
    }
    unit_call(u, direct ? s->run : run_guarded);
    if (!pure) {
        make_check_of_control(u);
        u->segment++;
    }
    forget_results(u, s, pure);
}

/* ---- which values the block keeps to itself ---- */

enum { NOT_SEEN, READ_FIRST, WRITTEN_FIRST };

static void note_read(struct emit_unit *u, uint32_t offset) {
    if (offset != STEP_NO_REGISTER) {
        struct slot_use *use = &u->values.uses[offset / 64];
        use->first = use->first == NOT_SEEN ? READ_FIRST : use->first;
        use->last = u->at;
    }
}

/* A temporary is read by further steps of its instruction, from whatever table. */
static void note_written(struct emit_unit *u, uint32_t offset) {
    struct slot_use *use = &u->values.uses[offset / 64];
    use->first = use->first == NOT_SEEN ? WRITTEN_FIRST : use->first;
    uint32_t last = u->at;
    while (offset >= u->code->fixed && last < u->count &&
           u->steps[last].instruction == u->steps[u->at].instruction) {
        last++;
    }
    use->last = last > use->last ? last : use->last;
}

/* All registers that the instruction names: its handler may read them. */
static void note_operand(const struct ptx_operand *o, uint32_t, void *data) {
    struct emit_unit *u = data;
    note_read(u, u->code->registers[o->index]);
}

static void note_step(struct emit_unit *u, const struct step *s, const struct native *n) {
    for (unsigned k = 0; k < 4; k++) {
        if (n->kind == NATIVE_CALL || (k < 3 && n->from[k])) {
            note_read(u, s->src[k]);
        }
    }
    if (n->kind == NATIVE_CALL) {
        note_read(u, s->dst);
        note_read(u, s->dst2);
        code_each_register(u->code, s->instruction, note_operand, u);
        return;
    }
    const uint32_t *read = n->kind == NATIVE_JOIN
                               ? u->program->vectors[s->extra].registers
                           : n->kind == NATIVE_ACCESS && access_of(u, u->at)->is_store
                               ? access_of(u, u->at)->registers
                               : NULL;
    unsigned reads = n->kind == NATIVE_JOIN ? 2 : read ? access_of(u, u->at)->count : 0;
    for (unsigned k = 0; k < reads; k++) {
        note_read(u, read[k]);
    }
    uint32_t results[8];
    for (uint32_t k = unit_results(u, u->at, results); k-- > 0;) {
        note_written(u, results[k]);
    }
}

/* Values that are written first here and belong to this block need not outlive it:
 * temporaries, and registers that no other block names. */
static void find_own(struct emit_unit *u, const uint32_t *homes, uint32_t block) {
    const struct code *code = u->code;
    for (uint32_t k = 0; k < code->arena_bytes / 64; k++) {
        struct slot_use *use = &u->values.uses[k];
        bool home = 64 * (uint64_t)k >= code->fixed || homes[k] == block + 1;
        use->is_own = use->first == WRITTEN_FIRST && home;
    }
}

static void look_through(struct emit_unit *u, const uint32_t *homes, uint32_t block) {
    for (u->at = 0; u->at < u->count; u->at++) {
        const struct step *s = &u->steps[u->at];
        u->natives[u->at] = s->guard < 0 ? native_of(u->program, u->code, s)
                                         : (struct native){.kind = NATIVE_CALL};
        note_step(u, s, &u->natives[u->at]);
    }
    /* The steps that end the block read, too. */
    const struct step *s = &u->steps[u->count];
    while (s->run != u->steps[-1].run && s < u->code->steps + u->code->step_count) {
        note_step(u, s++, &(struct native){.kind = NATIVE_CALL});
    }
    find_own(u, homes, block);
}

/* ---- all ---- */

static void make_step(struct emit_unit *u) {
    const struct step *s = &u->steps[u->at];
    const struct native *n = &u->natives[u->at];
    values_step(&u->values, u->at);
    switch (n->kind) {
    case NATIVE_NOTHING:
        return;
    case NATIVE_CALL:
        make_call(u, s);
        break;
    case NATIVE_ACCESS:
        if (!unit_access(u, s)) {
            make_call(u, s);
        }
        break;
    default:
        unit_arithmetic(u, s, n);
    }
    values_drop_dead(&u->values);
}

static void make_all(struct emit_unit *u) {
    make_begin(u);
    for (u->at = 0; u->at < u->count; u->at++) {
        make_step(u);
    }
    values_store_all(&u->values);
    go_on_with(u, u->count);
    leave(u);
    make_exits(u);
    make_end(u);
}

static void data_init(struct emit_unit *u) {
    unit_data_add(u, sizeof(struct unit_data));
    *(struct unit_data *)(void *)u->data =
        (struct unit_data){.steps = u->code->steps,
                           .params = u->processor->run->params,
                           .nan = 0x7fffffff,
                           .ones = UINT32_MAX};
}

/* Calls store what the vectors hold, and load it again. */
static bool is_worth_it(const struct emit_unit *u) {
    uint32_t native = 0;
    for (uint32_t k = 0; k < u->count; k++) {
        bool call = u->natives[k].kind == NATIVE_CALL ||
                    (u->natives[k].kind == NATIVE_ACCESS && u->group_of[k] == 0);
        native += !call;
    }
    return u->processor->emit_after == UNIT_ALWAYS ||
           (native >= 2 && native >= 4 * (u->count - native));
}

bool unit_make(struct emit_unit *u, const uint32_t *homes, const bool *invariant,
               uint32_t block) {
    u->out = (struct assembler){.bytes = xmalloc(UNIT_CODE), .room = UNIT_CODE};
    u->segment = 1;
    u->natives = xcalloc(u->count + 1u, sizeof *u->natives);
    values_init(&u->values, &u->out, u->code, invariant);
    u->values.is_masked = u->is_masked;
    data_init(u);
    look_through(u, homes, block);
    unit_access_plan(u);
    if (!is_worth_it(u)) {
        return false;
    }
    make_all(u);
    return !u->out.full;
}

void unit_finish(struct emit_unit *u) {
    for (uint32_t k = 0; k < u->exit_count; k++) {
        free(u->exits[k].dirty);
    }
    values_finish(&u->values);
    unit_access_finish(u);
    free(u->natives);
    free(u->exits);
    free(u->leaves);
    free(u->out.bytes);
    free(u->data);
    free(u->counts);
    free(u->constants);
}
