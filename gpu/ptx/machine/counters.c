#include "gpu/ptx/machine/counters.h"

#include "base/find.h"

void counters_init(struct program_counters *c, const struct program *program) {
    *c = (struct program_counters){.program = program};
    c->blocks = xcalloc(program->block_count + 1u, sizeof *c->blocks);
    c->accesses = xcalloc(program->access_count + 1u, sizeof *c->accesses);
}

void counters_finish(struct program_counters *c) {
    free(c->blocks);
    free(c->accesses);
}

void counters_add(struct program_counters *c, const struct processor *processor) {
    for (uint32_t k = 0; k < c->program->block_count; k++) {
        c->blocks[k].runs += processor->blocks[k].runs;
        c->blocks[k].lanes += processor->blocks[k].lanes;
    }
    for (uint32_t k = 0; k < c->program->access_count; k++) {
        c->accesses[k].requests += processor->accesses[k].requests;
        c->accesses[k].cost += processor->accesses[k].cost;
        c->accesses[k].ideal += processor->accesses[k].ideal;
    }
    c->branches += processor->branch_count;
    c->divergent += processor->divergent_count;
}

/* ---- telling ---- */

struct totals {
    uint64_t instructions, lanes;
    uint64_t requests, sectors, sectors_ideal;
    uint64_t shared_requests, wavefronts, wavefronts_ideal;
    uint64_t branches, divergent;
};

static bool access_is_shared(const struct access *a) {
    return a->space == PTX_SHARED || a->space == PTX_SHARED_CLUSTER;
}

static void totals_access(struct totals *t, const struct access *a,
                          const struct access_count *n) {
    if (access_is_shared(a)) {
        t->shared_requests += n->requests;
        t->wavefronts += n->cost;
        t->wavefronts_ideal += n->ideal;
    } else {
        t->requests += n->requests;
        t->sectors += n->cost;
        t->sectors_ideal += n->ideal;
    }
}

static void totals_program(struct totals *t, const struct program_counters *c) {
    for (uint32_t k = 0; k < c->program->block_count; k++) {
        t->instructions += c->blocks[k].runs * c->program->blocks[k].count;
        t->lanes += c->blocks[k].lanes * c->program->blocks[k].count;
    }
    for (uint32_t k = 0; k < c->program->access_count; k++) {
        totals_access(t, &c->program->accesses[k], &c->accesses[k]);
    }
    t->branches += c->branches;
    t->divergent += c->divergent;
}

static void set_count(json_t *o, const char *key, uint64_t value) {
    json_object_set_new(o, key, json_integer((json_int_t)value));
}

static void set_ratio(json_t *o, const char *key, uint64_t a, uint64_t b) {
    if (b > 0) {
        json_object_set_new(o, key, json_double((double)a / (double)b));
    }
}

static void totals_write(const struct totals *t, json_t *o) {
    set_count(o, "instructions", t->instructions);
    set_count(o, "lane_instructions", t->lanes);
    if (t->instructions) {
        double percent = 100.0 * (double)t->lanes / (32.0 * (double)t->instructions);
        json_object_set_new(o, "active_lanes_percent", json_double(percent));
    }
    if (t->requests) {
        set_count(o, "global_requests", t->requests);
        set_count(o, "global_sectors", t->sectors);
        set_count(o, "global_sectors_ideal", t->sectors_ideal);
        set_ratio(o, "global_sectors_per_request", t->sectors, t->requests);
    }
    if (t->shared_requests) {
        set_count(o, "shared_requests", t->shared_requests);
        set_count(o, "shared_wavefronts", t->wavefronts);
        uint64_t conflicts =
            t->wavefronts > t->wavefronts_ideal ? t->wavefronts - t->wavefronts_ideal : 0;
        set_count(o, "shared_bank_conflicts", conflicts);
    }
}

static void totals_branches(const struct totals *t, json_t *o) {
    set_count(o, "branches", t->branches);
    set_count(o, "divergent_branches", t->divergent);
}

/* ---- by line ---- */

struct line {
    const char *file;
    uint32_t line;
    struct totals totals;
};
struct counted_lines {
    struct line *items;
    size_t count;
};

/* Lines are few and come in runs: the last one found is tried first. */
static struct line *lines_at(struct counted_lines *l, const char *file, uint32_t number) {
    for (size_t k = l->count; k-- > 0;) {
        if (l->items[k].line == number && strcmp(l->items[k].file, file) == 0) {
            return &l->items[k];
        }
    }
    if ((l->count & (l->count - 1)) == 0) {
        l->items = xreallocarray(l->items, l->count ? 2 * l->count : 1, sizeof *l->items);
    }
    l->items[l->count] = (struct line){.file = file, .line = number};
    return &l->items[l->count++];
}

static const struct ptx_place *place_of(const struct program *p, uint32_t code,
                                        uint32_t instruction) {
    const struct ptx_module *m = p->module;
    const struct ptx_function *f = &m->functions[code];
    return ptx_place_told(m, f->code[instruction].place);
}

static struct line *line_of(struct counted_lines *l, const struct program *p,
                            uint32_t code, uint32_t instruction) {
    const struct ptx_place *at = place_of(p, code, instruction);
    if (!at) {
        return NULL;
    }
    const char *file =
        at->file < p->module->file_count ? p->module->files[at->file] : NULL;
    return lines_at(l, file ? file : "", at->line);
}

static void lines_program(struct counted_lines *l, const struct program_counters *c) {
    const struct program *p = c->program;
    list_each(k, b, p->blocks, p->block_count) {
        for (uint32_t i = b->first; c->blocks[k].runs && i < b->first + b->count; i++) {
            struct line *line = line_of(l, p, b->code, i);
            if (line) {
                line->totals.instructions += c->blocks[k].runs;
                line->totals.lanes += c->blocks[k].lanes;
            }
        }
    }
    list_each(k, a, p->accesses, p->access_count) {
        struct line *line =
            c->accesses[k].requests ? line_of(l, p, a->code, a->instruction) : NULL;
        if (line) {
            totals_access(&line->totals, a, &c->accesses[k]);
        }
    }
}

static int compare_lines(const void *a, const void *b) {
    const struct line *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static json_t *lines_json(struct counted_lines *l) {
    json_t *list = json_array();
    if (l->count) {
        qsort(l->items, l->count, sizeof *l->items, compare_lines);
    }
    for (size_t k = 0; k < l->count; k++) {
        json_t *o = json_object();
        json_object_set_new(o, "file", json_clean_z(l->items[k].file));
        set_count(o, "line", l->items[k].line);
        totals_write(&l->items[k].totals, o);
        json_array_append_new(list, o);
    }
    return list;
}

json_t *counters_json(const struct program_counters *programs, size_t count) {
    struct totals all = {0};
    struct counted_lines lines = {0};
    json_t *kernels = json_array();
    list_each(k, c, programs, count) {
        if (!c->program || c->launches == 0) {
            continue;
        }
        struct totals one = {0};
        totals_program(&one, c);
        totals_program(&all, c);
        lines_program(&lines, c);
        json_t *o = json_object();
        const char *name = c->program->module->functions[c->program->entry].name;
        json_object_set_new(o, "kernel", json_clean_z(name));
        set_count(o, "launches", c->launches);
        totals_write(&one, o);
        totals_branches(&one, o);
        json_array_append_new(kernels, o);
    }
    json_t *root = json_object();
    totals_write(&all, root);
    totals_branches(&all, root);
    json_object_set_new(root, "by_line", lines_json(&lines));
    json_object_set_new(root, "by_kernel", kernels);
    free(lines.items);
    return root;
}
