#include "gpu/ptx/state/findings.h"

#include "base/find.h"
#include "base/text.h"
#include "gpu/ptx/state/run.h"

#define MAX_TEXT 2048 /* of a symbol: a template's is long */
#define MAX_KEPT 4096 /* different ones, before they are cut to the requested number */
#define MAX_CALLS 64  /* followed from one place */
/* Calls reported of a long chain: the innermost, and the outermost, which may be in the
 * user's own code. */
#define INNER_CALLS 3
#define OUTER_CALLS 2

enum level { LEVEL_ERROR, LEVEL_WARNING, LEVEL_INFO };

struct finding {
    uint32_t code, function, instruction, launch;
    uint64_t block;
    uint32_t thread;
    uint64_t count;
    uint8_t level;        /* enum level */
    const bool *harmless; /* until the launch ends */
    bool has_other, last;
    uint32_t block_id[3], thread_id[3];
    int64_t offset;
    uint64_t memory;
    char *buffer, *message; /* whole: people get them demangled */
    char *kernel;
    const struct ptx_module *module;
    struct finding_other other;
    uint32_t other_block[3], other_thread[3];
};

struct findings {
    unsigned max;
    uint64_t lost; /* occurrences of those that were not kept */
    struct finding *items;
    size_t count;
    uint32_t launch;
    const char *label;
    uint32_t block_dim[3];
    pthread_mutex_t lock;
};

static const char *const code_names[] = {
    [FINDING_OUT_OF_BOUNDS] = "out_of_bounds",
    [FINDING_MISALIGNED] = "misaligned",
    [FINDING_UNINITIALIZED] = "uninitialized",
    [FINDING_BARRIER_DIVERGENCE] = "barrier_divergence",
    [FINDING_INVALID_MASK] = "invalid_mask",
    [FINDING_DEADLOCK] = "deadlock",
    [FINDING_ASSERT] = "assert",
    [FINDING_TRAP] = "trap",
    [FINDING_INPUT_MODIFIED] = "input_modified",
    [FINDING_LAUNCH_ERROR] = "launch_error",
    [FINDING_STACK_OVERFLOW] = "stack_overflow",
    [FINDING_RACE] = "race",
    [FINDING_GLOBAL_RACE] = "global_race",
    [FINDING_INVALID_MBARRIER] = "invalid_mbarrier",
    [FINDING_INVALID_TENSOR_MAP] = "invalid_tensor_map",
    [FINDING_UNWAITED_COPY] = "unwaited_copy",
    [FINDING_MISSING_FENCE] = "missing_fence",
    [FINDING_EARLY_EXIT] = "early_exit",
    [FINDING_INVALID_METADATA] = "invalid_metadata",
    [FINDING_UNCONFIRMED_SUMS] = "unconfirmed_sums",
    [FINDING_UNFINISHED] = "unfinished",
};

struct findings *findings_new(unsigned max) {
    struct findings *f = xcalloc(1, sizeof *f);
    f->max = max ? max : MAX_KEPT;
    f->label = "";
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

static void finding_finish(struct finding *x) {
    free(x->kernel);
    free(x->buffer);
    free(x->message);
}

void findings_free(struct findings *f) {
    if (!f) {
        return;
    }
    for (size_t k = 0; k < f->count; k++) {
        finding_finish(&f->items[k]);
    }
    free(f->items);
    pthread_mutex_destroy(&f->lock);
    free(f);
}

void findings_launch(struct findings *f, const char *label, const uint32_t block_dim[3]) {
    f->launch++;
    f->label = label;
    memcpy(f->block_dim, block_dim, sizeof f->block_dim);
}

/* ---- adding ---- */

static struct finding *finding_known(struct findings *f, const struct finding *as) {
    return list_find(x, f->items, f->count,
                     x->code == as->code && x->module == as->module &&
                         x->function == as->function &&
                         x->instruction == as->instruction && x->level == as->level &&
                         x->harmless == as->harmless);
}

void findings_settle(struct findings *f) {
    list_each(k, x, f->items, f->count) {
        if (x->harmless) {
            x->level = *x->harmless ? LEVEL_WARNING : x->level;
            x->harmless = NULL;
        }
    }
}

static bool comes_before(const struct finding *a, const struct finding *b) {
    if (a->launch != b->launch) {
        return a->launch < b->launch;
    }
    if (a->last != b->last) {
        return b->last;
    }
    if (a->block != b->block) {
        return a->block < b->block;
    }
    return a->thread < b->thread;
}

static void indices_of(uint64_t flat, const uint32_t dim[3], uint32_t to[3]) {
    to[0] = (uint32_t)(flat % dim[0]);
    to[1] = (uint32_t)(flat / dim[0] % dim[1]);
    to[2] = (uint32_t)(flat / dim[0] / dim[1]);
}

struct finding_thread finding_thread(const struct warp *w, const struct step *s,
                                     unsigned lane) {
    const struct run *run = w->processor->run;
    struct finding_thread t = {.module = run->program->module,
                               .kernel = run->findings->label,
                               .block = w->block->number,
                               .function = w->frame->code->index,
                               .instruction = s ? s->instruction : 0,
                               .launch = run->findings->launch,
                               .thread = w->index * WARP_LANES + lane};
    memcpy(t.block_id, w->block->id, sizeof t.block_id);
    memcpy(t.block_dim, run->findings->block_dim, sizeof t.block_dim);
    return t;
}

static struct finding finding_of(const struct finding_thread *t, enum finding_code code) {
    struct finding x = {.code = code,
                        .function = t->function,
                        .instruction = t->instruction,
                        .launch = t->launch,
                        .block = t->block,
                        .thread = t->thread,
                        .count = 1,
                        .level = LEVEL_ERROR,
                        .module = t->module};
    memcpy(x.block_id, t->block_id, sizeof x.block_id);
    indices_of(t->thread, t->block_dim, x.thread_id);
    return x;
}

/* Where x is to be kept, which then counts what was there before; NULL: it is counted,
 * and an earlier one is told, or there are too many. */
static struct finding *finding_slot(struct findings *f, struct finding *x) {
    struct finding *known = finding_known(f, x);
    if (!known && f->count == MAX_KEPT) {
        f->lost++;
        return NULL;
    }
    if (known && !comes_before(x, known)) {
        known->count++;
        return NULL;
    }
    if (known) {
        x->count += known->count;
        finding_finish(known);
        return known;
    }
    if ((f->count & (f->count - 1)) == 0) {
        f->items = xreallocarray(f->items, f->count ? 2 * f->count : 1, sizeof *f->items);
    }
    return &f->items[f->count++];
}

static char *buffer_copy(const char *buffer) {
    return buffer ? xstrndup(buffer, MAX_TEXT) : NULL;
}

static void other_describe(const struct finding_place *at, struct finding *x) {
    const struct run *run = at->warp->processor->run;
    x->has_other = at->other != NULL;
    if (at->other) {
        x->other = *at->other;
        indices_of(x->other.block, run->launch->grid, x->other_block);
        indices_of(x->other.thread, run->findings->block_dim, x->other_thread);
    }
}

void finding_add(const struct finding_place *at, enum finding_code code, const char *fmt,
                 ...) {
    struct findings *f = at->warp->processor->run->findings;
    pthread_mutex_lock(&f->lock);
    const struct finding_thread by = finding_thread(at->warp, at->step, at->lane);
    struct finding x = finding_of(&by, code);
    x.level = at->info ? LEVEL_INFO : at->warning ? LEVEL_WARNING : LEVEL_ERROR;
    x.last = at->last;
    x.harmless = x.level == LEVEL_ERROR ? at->harmless : NULL;
    struct finding *slot = finding_slot(f, &x);
    if (slot) {
        char text[MAX_TEXT + 256];
        text_format(text, fmt);
        other_describe(at, &x);
        x.offset = at->offset;
        x.memory = at->memory;
        x.buffer = buffer_copy(at->buffer);
        x.message = xstrdup(text);
        x.kernel = xstrdup(f->label);
        *slot = x;
    }
    pthread_mutex_unlock(&f->lock);
}

static void slot_fill(struct finding *slot, struct finding x,
                      const struct finding_thread *by, const char *buffer,
                      const char *message) {
    x.buffer = buffer_copy(buffer);
    x.message = xstrdup(message);
    x.kernel = xstrdup(by->kernel);
    *slot = x;
}

/* Most are only counted, often millions of times: then no text is made. */
void finding_add_of(struct findings *f, const struct finding_thread *by,
                    enum finding_code code, const char *buffer, int64_t offset,
                    const char *fmt, ...) {
    struct finding x = finding_of(by, code);
    x.offset = offset;
    pthread_mutex_lock(&f->lock);
    struct finding *slot = finding_slot(f, &x);
    if (slot) {
        char text[2304]; /* a template's names are long */
        text_format(text, fmt);
        slot_fill(slot, x, by, buffer, text);
    }
    pthread_mutex_unlock(&f->lock);
}

void finding_warn_of(struct findings *f, const struct finding_thread *by,
                     enum finding_code code, const char *buffer, int64_t offset,
                     const char *text) {
    struct finding x = finding_of(by, code);
    x.offset = offset;
    x.level = LEVEL_WARNING;
    pthread_mutex_lock(&f->lock);
    struct finding *slot = finding_slot(f, &x);
    if (slot) {
        slot_fill(slot, x, by, buffer, text);
    }
    pthread_mutex_unlock(&f->lock);
}

void findings_remark(struct findings *f, const struct ptx_module *m, uint32_t function,
                     uint32_t instruction, enum finding_code code, const char *message) {
    struct finding_thread by = {.module = m,
                                .kernel = f->label,
                                .function = function,
                                .instruction = instruction,
                                .launch = f->launch};
    memcpy(by.block_dim, f->block_dim, sizeof by.block_dim);
    struct finding x = finding_of(&by, code);
    x.level = LEVEL_INFO;
    pthread_mutex_lock(&f->lock);
    struct finding *slot = finding_slot(f, &x);
    if (slot) {
        slot_fill(slot, x, &by, NULL, message);
    }
    pthread_mutex_unlock(&f->lock);
}

/* ---- telling ---- */

static const char *const level_names[] = {"error", "warning", "info"};

static int compare_findings(const void *a, const void *b) {
    const struct finding *x = *(const struct finding *const *)a;
    const struct finding *y = *(const struct finding *const *)b;
    if (x->launch != y->launch || x->last != y->last || x->block != y->block ||
        x->thread != y->thread) {
        return comes_before(x, y) ? -1 : 1;
    }
    if (x->function != y->function) {
        return x->function < y->function ? -1 : 1;
    }
    if (x->instruction != y->instruction) {
        return x->instruction < y->instruction ? -1 : 1;
    }
    return x->code < y->code ? -1 : x->code > y->code;
}

static const struct ptx_place *place_of(const struct ptx_module *m, uint32_t function,
                                        uint32_t instruction) {
    const struct ptx_function *f = &m->functions[function];
    if (instruction >= f->code_count) {
        return NULL;
    }
    uint32_t place = f->code[instruction].place;
    /* Line 0 marks code that belongs to no line: the nearest one before it will do. */
    for (uint32_t k = instruction; k > 0 && (place == 0 || m->places[place].line == 0);) {
        place = f->code[--k].place;
    }
    return ptx_place_told(m, place);
}

static void add_place(json_t *item, const struct ptx_module *m,
                      const struct ptx_place *at) {
    if (!at) {
        return;
    }
    const char *file = at->file < m->file_count ? m->files[at->file] : NULL;
    json_object_set_new(item, "file", json_clean_z(file ? file : ""));
    json_object_set_new(item, "line", json_integer(at->line));
    if (at->column > 0) {
        json_object_set_new(item, "column", json_integer(at->column));
    }
}

static size_t calls_of(const struct ptx_module *m, const struct ptx_place *at,
                       const struct ptx_place *ret[static MAX_CALLS]) {
    size_t count = 0;
    while (at && count < MAX_CALLS) {
        const struct ptx_place *inner = at;
        at = ptx_place_caller(m, inner);
        if (at && (at->file != inner->file || at->line != inner->line)) {
            ret[count++] = at;
        }
    }
    return count;
}

/* The calls, from the innermost outwards, by which a kernel came to a line of a function
 * that was inlined: a helper's line alone does not say which of its uses is wrong. Of a
 * library's many the middle is left out. */
static void add_calls(json_t *related, const struct ptx_module *m,
                      const struct ptx_place *at) {
    const struct ptx_place *calls[MAX_CALLS];
    size_t count = calls_of(m, at, calls);
    for (size_t k = 0; k < count; k++) {
        if (k < INNER_CALLS || k + OUTER_CALLS >= count) {
            json_t *item = json_object();
            json_object_set_new(item, "message", json_string(FINDING_CALL));
            add_place(item, m, calls[k]);
            json_array_append_new(related, item);
        }
    }
}

json_t *finding_triple(const uint32_t v[3]) {
    return json_list(k, 0, 3, json_integer(v[k]));
}

static void add_other(json_t *related, const struct finding *x) {
    json_t *other = json_object();
    const uint32_t *block = x->other_block, *thread = x->other_thread;
    autofree char *message =
        xasprintf("%s, block %u,%u,%u thread %u,%u,%u", x->other.message, block[0],
                  block[1], block[2], thread[0], thread[1], thread[2]);
    json_object_set_new(other, "message", json_clean_z(message));
    add_place(other, x->module,
              place_of(x->module, x->other.function, x->other.instruction));
    json_object_set_new(other, "block", finding_triple(x->other_block));
    json_object_set_new(other, "thread", finding_triple(x->other_thread));
    json_array_append_new(related, other);
}

static void add_related(json_t *item, const struct finding *x,
                        const struct ptx_place *at) {
    autojson *related = json_array();
    add_calls(related, x->module, at);
    if (x->has_other) {
        add_other(related, x);
        at = place_of(x->module, x->other.function, x->other.instruction);
        add_calls(related, x->module, at);
    }
    if (json_array_size(related)) {
        json_object_set(item, "related", related);
    }
}

json_t *finding_place_json(const struct ptx_module *m, uint32_t function,
                           uint32_t instruction) {
    json_t *item = json_object(), *related = json_array();
    const struct ptx_place *at = place_of(m, function, instruction);
    add_place(item, m, at);
    add_calls(related, m, at);
    if (json_array_size(related)) {
        json_object_set(item, "related", related);
    }
    json_decref(related);
    return item;
}

/* A kernel of the toolkit's libraries, from which no line of the user's leads there,
 * knows what it loads and never uses (cub's merge sort). */
static enum level level_of(const struct finding *x, const struct ptx_place *at) {
    bool theirs = x->code == FINDING_UNINITIALIZED && at &&
                  ptx_place_is_toolkit(x->module, at) && !ptx_place_caller(x->module, at);
    return theirs ? LEVEL_INFO : (enum level)x->level;
}

static json_t *finding_json(const struct finding *x) {
    json_t *item = json_object();
    const struct ptx_place *at = place_of(x->module, x->function, x->instruction);
    json_object_set_new(item, "source", json_string("run"));
    json_object_set_new(item, "code", json_string(code_names[x->code]));
    json_object_set_new(item, "severity", json_string(level_names[level_of(x, at)]));
    json_object_set_new(item, "message", json_clean_z(x->message));
    add_place(item, x->module, at);
    json_object_set_new(item, "kernel", json_clean_z(x->kernel));
    json_object_set_new(item, "block", finding_triple(x->block_id));
    json_object_set_new(item, "thread", finding_triple(x->thread_id));
    if (x->buffer) {
        json_object_set_new(item, "buffer", json_clean_z(x->buffer));
        json_object_set_new(item, "offset", json_integer(x->offset));
    }
    json_object_set_new(item, "count", json_integer((json_int_t)x->count));
    add_related(item, x, at);
    return item;
}

size_t findings_kept(const struct findings *f) {
    return f->count;
}

uint64_t findings_told(const struct findings *f) {
    uint64_t told = f->lost;
    for (size_t k = 0; k < f->count; k++) {
        told += f->items[k].count;
    }
    return told;
}

uint64_t *findings_counts(const struct findings *f) {
    uint64_t *counts = f->count ? xcalloc(f->count, sizeof *counts) : NULL;
    for (size_t k = 0; k < f->count; k++) {
        counts[k] = f->items[k].count;
    }
    return counts;
}

void findings_count_again(struct findings *f, const uint64_t *counts, size_t count) {
    for (size_t k = 0; k < count; k++) {
        f->items[k].count += counts[k];
    }
}

uint32_t findings_launches(const struct findings *f) {
    return f->launch;
}

uint32_t findings_launch_of(const struct findings *f, size_t number) {
    return f->items[number].launch;
}

uint64_t findings_memory_of(const struct findings *f, size_t number) {
    return f->items[number].memory;
}

json_t *findings_get(const struct findings *f, size_t number) {
    return finding_json(&f->items[number]);
}

json_t *findings_json(const struct findings *f, uint64_t *ret_omitted) {
    const struct finding **order = xcalloc(f->count + 1, sizeof *order);
    for (size_t k = 0; k < f->count; k++) {
        order[k] = &f->items[k];
    }
    qsort(order, f->count, sizeof *order, compare_findings);
    size_t kept = f->count < f->max ? f->count : f->max;
    json_t *list = json_list(k, 0, kept, finding_json(order[k]));
    free(order);
    if (ret_omitted) {
        *ret_omitted = f->lost + (f->count - kept);
    }
    return list;
}
