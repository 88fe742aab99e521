/* A race in words. */
#include "gpu/ptx/race/race_internal.h"

static const char *verb(unsigned kind, bool copy) {
    bool writes = (kind & RACE_WRITE) != 0;
    return copy                 ? (writes ? "asynchronous write" : "asynchronous read")
           : kind & RACE_ATOMIC ? "atomic operation"
           : kind & RACE_STRONG
               ? (writes ? "volatile or ordered write" : "volatile or ordered read")
           : writes ? "write"
                    : "read";
}

/* By what came first. */
static const char *hazard(const struct race_conflict *c) {
    bool now = (c->kind & RACE_WRITE) != 0, before = (c->other->kind & RACE_WRITE) != 0;
    return now && before ? "write after write"
           : now         ? "write after read"
                         : "read after write";
}

/* Whether the other side is a factor of a product. */
static bool is_wgmma(const struct race_conflict *c) {
    const struct ptx_module *m = c->warp->processor->run->program->module;
    const struct ptx_instruction *code = m->functions[c->other->function].code;
    return code[c->other->step->instruction].opcode == PTX_OP_WGMMA;
}

/* Of lanes of one warp among several: where other warps race there too, __syncwarp() is
 * no cure. */
static bool is_of_a_part(const struct race_conflict *c) {
    const struct block *b = c->warp->block;
    return b->warp_count > 1 && c->other->block == (uint32_t)b->number &&
           c->other->agent == c->warp->index;
}

/* Whether both stand between a compare-and-swap that takes a lock and the write that
 * gives it back. */
static bool is_locked(const struct race_conflict *c) {
    const struct program *p = c->warp->processor->run->program;
    uint32_t code = c->other->function, a = c->step->instruction,
             b = c->other->step->instruction;
    bool taken = false, given = false;
    for (uint32_t k = 0; p->locks && k < p->access_count; k++) {
        const struct access *x = &p->accesses[k];
        bool in = x->code == code && code == c->warp->frame->code->index;
        taken |= in && (x->race & RACE_SIGNAL) && x->is_atomic && x->compares &&
                 x->instruction < (a < b ? a : b);
        given |= in && (x->race & RACE_UNLOCK) && x->instruction > (a > b ? a : b);
    }
    return taken && given;
}

/* The synchronisation missing between the two. */
static const char *missing(const struct race_conflict *c) {
    const struct race_event *e = c->other;
    const struct warp *w = c->warp;
    if (e->agent >= RACE_COPIES) {
        return is_wgmma(c) ? "no wgmma.wait_group for its product before this memory was "
                             "given back"
                           : "this thread has neither waited for the copy nor met one "
                             "that has, at a barrier such as __syncthreads()";
    }
    if (is_locked(c)) {
        return "no __threadfence() before the lock is given back, or none after it was "
               "taken";
    }
    if (e->block != (uint32_t)w->block->number) {
        return (c->kind | e->kind) & RACE_BLOCK_SCOPE ? "its scope is one block"
               : c->owner ? "nothing orders the two blocks (a barrier of the cluster, "
                            "or an mbarrier)"
                          : "nothing orders the two blocks: no fence and flag, no "
                            "grid barrier";
    }
    if (e->agent != w->index) {
        return "no barrier, such as __syncthreads(), between them";
    }
    return c->met ? "only a warp operation that orders no memory between them: "
                    "__syncwarp() is missing"
           : is_of_a_part(c)
               ? "no barrier between them: __syncthreads(), or __syncwarp() if no other "
                 "warp uses this memory"
               : "no __syncwarp() between them";
}

/* A flag that is stored plainly and polled as it should be works in practice. */
static bool is_plain_flag(const struct race_conflict *c) {
    return (c->kind & RACE_STRONG) && !(c->kind & RACE_WRITE) &&
           (c->other->kind & (RACE_STRONG | RACE_FENCED)) == RACE_FENCED &&
           race_bytes(c->other) <= 8 && c->bytes <= 8;
}

/* Between a plain load and a plain store to global memory: what is known of the store. */
static const bool *store_is_harmless(const struct race_conflict *c) {
    const struct race_event *e = c->other;
    const struct step *store = c->kind & RACE_WRITE ? c->step : e->step;
    const struct program *p = c->warp->processor->run->program;
    bool one_writes = ((c->kind ^ e->kind) & RACE_WRITE) != 0;
    bool plain = !((c->kind | e->kind) & (RACE_STRONG | RACE_ATOMIC));
    return !c->owner && one_writes && plain && e->agent < RACE_COPIES &&
                   store->extra < p->access_count && p->accesses[store->extra].is_store
               ? &race_of(c->warp)->stores[store->extra].harmless
               : NULL;
}

/* What the finding says of the earlier access. */
static struct finding_other other_of(const struct race_conflict *c) {
    const struct race_event *e = c->other;
    struct finding_other other = {.function = e->function,
                                  .instruction = e->step->instruction,
                                  .block = e->block,
                                  .thread = e->agent % RACE_COPIES * WARP_LANES +
                                            c->other_lane};
    snprintf(other.message, sizeof other.message, "the earlier %s of %u bytes",
             verb(e->kind, e->agent >= RACE_COPIES), race_bytes(e));
    return other;
}

/* The place of the later access, with the name of its memory. */
static struct finding_place place_of(const struct race_conflict *c,
                                     const struct finding_other *other) {
    const struct run *run = c->warp->processor->run;
    struct finding_place at = {
        .warp = c->warp, .step = c->step, .lane = c->lane, .other = other};
    uint64_t offset = c->address;
    if (c->owner) {
        at.buffer = shared_name(run, c->address, &offset);
    } else {
        const struct allocation *in = run_find(run, c->address);
        at.buffer = in ? in->name : NULL;
        offset -= in ? in->address : 0;
    }
    at.offset = (int64_t)offset;
    return at;
}

static const struct ptx_place *place_told(const struct race_conflict *c,
                                          uint32_t function, const struct step *s) {
    const struct ptx_module *m = c->warp->processor->run->program->module;
    return ptx_place_told(m, m->functions[function].code[s->instruction].place);
}

/* "sum += x" by two threads: one line that reads and writes. */
static bool is_one_update(const struct race_conflict *c) {
    const struct ptx_place *a = place_told(c, c->warp->frame->code->index, c->step);
    const struct ptx_place *b = place_told(c, c->other->function, c->other->step);
    return a && b && a->line && a->line == b->line && a->file == b->file &&
           ((c->kind ^ c->other->kind) & RACE_WRITE) != 0;
}

void race_tell(const struct race_conflict *c) {
    struct finding_other other = other_of(c);
    struct finding_place at = place_of(c, &other);
    at.warning = c->same_instruction || c->met || is_plain_flag(c);
    at.info = c->same_value;
    at.harmless = store_is_harmless(c);
    at.last = is_of_a_part(c);
    enum finding_code code = c->owner ? FINDING_RACE : FINDING_GLOBAL_RACE;
    const char *buffer = at.buffer ? at.buffer : "memory";
    if (c->same_instruction) {
        finding_add(
            &at, code,
            "Lanes %u and %u store different values to offset %lld of %s with one "
            "instruction: which one stays is undefined",
            c->other_lane, c->lane, (long long)at.offset, buffer);
        return;
    }
    finding_add(&at, code, "Race, %s%s: %s of %u bytes at offset %lld of %s; %s%s",
                hazard(c), c->same_value ? " of the same value" : "",
                verb(c->kind, false), c->bytes, (long long)at.offset, buffer, missing(c),
                is_one_update(c) && !is_locked(c)
                    ? " (or, for sums and counts of several threads, no atomic "
                      "operation, such as atomicAdd)"
                    : "");
}

/* The line of an event's instruction in words; "" where it has none. */
static const char *line_of(const struct race_conflict *c, const struct race_event *e,
                           char text[32]) {
    const struct ptx_place *at = place_told(c, e->function, e->step);
    text[0] = '\0';
    if (at && at->line) {
        snprintf(text, 32, " (line %u)", at->line);
    }
    return text;
}

void race_tell_signal(const struct race_conflict *c, const struct race_seen *signal) {
    struct finding_other other = other_of(c);
    struct finding_place at = place_of(c, &other);
    char data[32], flag[32];
    finding_add(&at, FINDING_MISSING_FENCE,
                "This %s of offset %lld of %s may still get the old value: the flag or "
                "counter%s that says that it is there was written after it%s, but without "
                "a fence between the two writes. volatile and relaxed atomics keep no "
                "order between two places: %s is missing",
                verb(c->kind, false), (long long)at.offset,
                at.buffer ? at.buffer : "memory", line_of(c, &signal->write, flag),
                line_of(c, c->other, data),
                c->owner ? "__threadfence_block()" : "__threadfence()");
}

void race_tell_lock_step(const struct race_conflict *c) {
    struct finding_other other = other_of(c);
    struct finding_place at = place_of(c, &other);
    char line[32];
    at.warning = true;
    finding_add(&at, FINDING_MISSING_FENCE,
                "This volatile read of offset %lld of %s may get the old value: another "
                "lane of the warp writes it%s, and since Volta lanes do not run in lock "
                "step. volatile keeps no order between them: __syncwarp() is missing",
                (long long)at.offset, at.buffer ? at.buffer : "memory",
                line_of(c, c->other, line));
}
