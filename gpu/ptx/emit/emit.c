#include "gpu/ptx/emit/emit.h"

#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/emit/code_pages.h"
#include "gpu/ptx/emit/registers.h"
#include "gpu/ptx/emit/unit.h"
#include "gpu/ptx/lower/lower.h"

#define BUILDS 4 /* of a block: lanes may come to lie otherwise */
#define EXITS_FREE 64

typedef void unit_run(struct warp *w, struct unit_data *data);

enum block_code { BLOCK_NONE, BLOCK_CODE, BLOCK_REFUSED };
struct emitted_block {
    uint8_t state, builds;
    uint32_t entries; /* before it was code: of fewer than all lanes */
    unit_run *run;
    uint64_t runs;
    struct unit_data *data;
    struct unit_count *counts;
    uint32_t count_count;
    uint32_t *marks;  /* by step: of how its lanes lay the last time */
    uint8_t *changes; /* by step: how often they lay otherwise */
};

struct emitted {
    struct code_pages pages;
    /* By program->blocks, for all lanes; as many again for fewer. */
    struct emitted_block *blocks;
    uint32_t **homes;             /* by function; NULL: not yet asked for */
    bool **invariant;
};

void emit_start(struct processor *p, uint32_t after) {
    const struct run *run = p->run;
    bool able = strcmp(bind_extension(), "avx512") == 0 && !run->one_lane;
    p->emit_after = able ? after : EMIT_NEVER;
    if (p->emit_after == EMIT_NEVER) {
        return;
    }
    p->emitted = run_lines(1, sizeof *p->emitted);
    p->emitted->blocks =
        run_lines(2 * (size_t)run->program->block_count, sizeof *p->emitted->blocks);
    size_t functions = run->program->module->function_count + 1u;
    p->emitted->homes = xcalloc(functions, sizeof *p->emitted->homes);
    p->emitted->invariant = xcalloc(functions, sizeof *p->emitted->invariant);
}

/* ---- counters ---- */

static void fold(struct processor *p, const struct emitted_block *b) {
    for (uint32_t k = 0; k < b->count_count; k++) {
        const struct unit_count *c = &b->counts[k];
        const uint64_t *n =
            (const uint64_t *)(const void *)((uint8_t *)b->data + c->counter);
        struct access_count *to = &p->accesses[c->access];
        for (unsigned phase = 0; phase < (c->by_phase ? 8u : 1u); phase++) {
            to->requests += n[phase];
            to->cost += n[phase] * c->cost[phase];
            to->ideal += n[phase] * c->ideal;
        }
    }
}

/* The code is not run any more. */
static void block_drop(struct processor *p, struct emitted_block *b) {
    if (b->data) {
        fold(p, b);
        __atomic_add_fetch(p->run->native_runs, b->runs - b->data->exits,
                           __ATOMIC_RELAXED);
    }
    free(b->data);
    free(b->counts);
    b->data = NULL;
    b->counts = NULL;
    b->count_count = 0;
    b->state = BLOCK_NONE;
}

void emit_finish(struct processor *p) {
    struct emitted *e = p->emitted;
    if (!e) {
        return;
    }
    for (uint32_t k = 0; k < 2 * p->run->program->block_count; k++) {
        block_drop(p, &e->blocks[k]);
        free(e->blocks[k].marks);
        free(e->blocks[k].changes);
    }
    for (uint32_t k = 0; k < p->run->program->module->function_count; k++) {
        free(e->homes[k]);
        free(e->invariant[k]);
    }
    code_pages_finish(&e->pages);
    free(e->blocks);
    free(e->homes);
    free(e->invariant);
    free(e);
    p->emitted = NULL;
}

/* ---- the straight part ---- */

/* Steps after the head, up to the first possible branch. */
static uint32_t part_count(const struct program *program, const struct code *code,
                           const struct step *head) {
    uint32_t steps = head->extra - 1, count = 0;
    if (program->blocks[head->aux].count == 0) {
        return 0; /* the end that a function has anyway */
    }
    while (count < steps &&
           !lower_ends_block(&code->function->code[head[1 + count].instruction])) {
        count++;
    }
    return count > UNIT_STEPS ? 0 : count;
}

/* ---- looking ---- */

/* A number for how lanes lie: another one is another way. */
static uint32_t mark_of(const struct shape *x) {
    uint32_t mark = 2166136261u;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        mark = (mark ^ (uint32_t)x->deltas[l]) * 16777619u;
    }
    return mark;
}

/* A layout that differs each time is not a shape. */
static void look_at_access(struct emitted_block *b, struct warp *w, const struct step *s,
                           struct shape *ret, uint32_t index) {
    const uint64_t *base = LANES(const uint64_t, w, s->src[0]);
    *ret = (struct shape){.is_known = true, .first = base[0] + (uint64_t)s->offset};
    for (unsigned l = 0; l < WARP_LANES; l++) {
        int64_t delta = (int64_t)(base[l] - base[0]);
        ret->deltas[l] = (int32_t)delta;
        ret->is_known = ret->is_known && delta > -(1 << 28) && delta < 1 << 28;
    }
    uint32_t mark = mark_of(ret);
    if (b->builds > 0 && mark != b->marks[index] && b->changes[index] < 2) {
        b->changes[index]++;
    }
    b->marks[index] = mark;
    ret->is_known = ret->is_known && b->changes[index] < 2;
}

/* Runs the part as the interpreter does, and notes where lanes lie. false: it did not
 * come to its end together. */
static bool look(struct emitted_block *b, struct warp *w, const struct step *first,
                 uint32_t count, struct shape *shapes) {
    const struct program *program = w->processor->run->program;
    const struct code *code = w->frame->code;
    for (uint32_t k = 0; k < count; k++) {
        const struct step *s = &first[k];
        if (w->active != UINT32_MAX || w->next != s) {
            return false;
        }
        w->next = s + 1;
        if (s->guard < 0 && native_of(program, code, s).kind == NATIVE_ACCESS) {
            look_at_access(b, w, s, &shapes[k], k);
        }
        warp_step(w, s);
    }
    return w->active == UINT32_MAX;
}

/* ---- making ---- */

/* What is known of the function's registers, at first use. */
static void look_at_registers(struct processor *p, const struct code *code) {
    struct emitted *e = p->emitted;
    if (!e->homes[code->index]) {
        e->homes[code->index] = registers_homes(p->run->program, code);
        e->invariant[code->index] = registers_invariant(p->run->program, code);
    }
}

/* Stays refused where there is no room. */
static void block_keep(struct emitted *e, struct emitted_block *b, struct emit_unit *u) {
    void *data = aligned_alloc(64, u->data_size);
    b->run = (unit_run *)(uintptr_t)code_pages_add(&e->pages, u->out.bytes, u->out.size);
    if (!data || !b->run) {
        free(data);
        return;
    }
    b->data = memcpy(data, u->data, u->data_size);
    b->counts = take(u->counts);
    b->count_count = u->count_count;
    b->state = BLOCK_CODE;
    b->runs = 0;
}

static void block_build(struct warp *w, struct emitted_block *b, const struct step *head,
                        bool all) {
    struct processor *p = w->processor;
    struct emit_unit u = {.processor = p,
                          .program = p->run->program,
                          .code = w->frame->code,
                          .steps = head + 1,
                          .is_masked = !all};
    u.count = part_count(u.program, u.code, head);
    b->state = BLOCK_REFUSED;
    if (u.count == 0 || b->builds == BUILDS) {
        return;
    }
    if (!b->marks) {
        b->marks = xcalloc(u.count, sizeof *b->marks);
        b->changes = xcalloc(u.count, 1);
    }
    autofree struct shape *shapes = xcalloc(u.count, sizeof *shapes);
    u.shapes = all ? shapes : NULL;
    bool together = !all || look(b, w, head + 1, u.count, shapes);
    b->builds++;
    if (!together) {
        b->state = BLOCK_NONE;
        return;
    }
    look_at_registers(p, u.code);
    if (unit_make(&u, p->emitted->homes[u.code->index],
                  p->emitted->invariant[u.code->index], head->aux)) {
        block_keep(p->emitted, b, &u);
    }
    unit_finish(&u);
}

void emit_enter(struct warp *w, const struct step *head, bool all) {
    struct processor *p = w->processor;
    struct emitted_block *b =
        &p->emitted->blocks[head->aux + (all ? 0 : p->run->program->block_count)];
    if (b->state == BLOCK_CODE) {
        b->runs++;
        b->run(w, b->data);
        if (b->data->exits > EXITS_FREE + b->runs / 4) {
            block_drop(p, b);
        }
    } else if (b->state == BLOCK_NONE && (all || ++b->entries >= p->emit_after)) {
        block_build(w, b, head, all);
    }
}
