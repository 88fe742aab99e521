#include "gpu/ptx/machine/machine.h"

#include "base/err.h"
#include "base/find.h"
#include "gpu/ptx/emit/emit.h"
#include "gpu/ptx/image/images.h"
#include "gpu/ptx/machine/block_run.h"
#include "gpu/ptx/machine/counters.h"
#include "gpu/ptx/machine/launch_check.h"
#include "gpu/ptx/machine/lower_program.h"
#include "gpu/ptx/machine/schedule.h"
#include "gpu/ptx/matrix/tensor_core.h"
#include "gpu/ptx/race/proxy.h"
#include "gpu/ptx/race/race.h"

#include <unistd.h>

#define DEFAULT_INSTRUCTIONS UINT64_C(2000000000)
#define DEFAULT_MEMORY (UINT64_C(1) << 30)
#define DEFAULT_PRINTF (64u << 10)

struct machine {
    struct machine_config config;
    json_t *tensor_sum; /* or NULL */
    const struct ptx_module *module;
    struct memory *memory;
    struct images *images;
    struct allocation **variables; /* by variable */
    struct program **programs;     /* by function; NULL = no entry that is asked for */
    struct program_counters *counters; /* likewise */
    struct findings *findings;
    struct race_run *race;
    struct { /* what those point to unless the machine is in a space */
        struct memory memory;
        struct images images;
    } own;
    struct buf printf_text;
    pthread_mutex_t printf_lock;
    uint64_t spent;         /* atomic */
    uint64_t native_runs;   /* atomic */
    uint64_t begun, blocks; /* atomic: of the latest launch */
    uint32_t launches;
    int stop; /* atomic */
};

/* ---- a module's variables ---- */

static void write_relocation(struct machine *m, uint8_t *host, uint64_t size,
                             const struct ptx_relocation *r) {
    uint64_t value = 0;
    if (r->is_function) {
        value = MEMORY_CODE + (uint64_t)(r->index + 1) * MEMORY_CODE_STRIDE;
    } else if (m->variables[r->index]) {
        value = m->variables[r->index]->address;
    } else if (m->module->variables[r->index].space == PTX_SHARED) {
        return; /* has no address before a launch */
    }
    value += (uint64_t)r->addend;
    value >>= r->shift;
    if (r->bytes <= 8 && r->at <= size && r->bytes <= size - r->at) {
        memcpy(host + r->at, &value, r->bytes);
    }
}

static bool is_reference(const struct ptx_variable *v) {
    return v->type == PTX_TEXREF || v->type == PTX_SAMPLERREF || v->type == PTX_SURFREF;
}

static int variables_place(struct machine *m, struct err *err) {
    const struct ptx_module *module = m->module;
    list_each(k, v, module->variables, module->variable_count) {
        bool constant = v->space == PTX_CONST;
        if (!v->used || (v->space != PTX_GLOBAL && !constant) || is_reference(v)) {
            continue;
        }
        int rc = memory_add(m->memory, v->name, v->size,
                            constant ? MEMORY_CONSTANT : MEMORY_VARIABLE, 0,
                            &m->variables[k], err);
        if (rc) {
            return rc;
        }
        if (v->initialiser) {
            memcpy(m->variables[k]->host, v->initialiser, v->size);
        }
    }
    list_each(k, v, module->variables, module->variable_count) {
        for (uint32_t r = 0; m->variables[k] && r < v->relocation_count; r++) {
            write_relocation(m, m->variables[k]->host, v->size, &v->relocations[r]);
        }
    }
    return 0;
}

/* ---- life ---- */

static bool entry_wanted(const char *name, const char *const *entries) {
    if (!entries) {
        return true;
    }
    for (; *entries; entries++) {
        if (strcmp(name, *entries) == 0) {
            return true;
        }
    }
    return false;
}

static int program_add(struct machine *m, uint32_t function, json_t *unsupported,
                       struct err *err) {
    int rc = program_new(&m->programs[function], m->module, function, m->variables,
                         unsupported, err);
    if (rc) {
        return rc;
    }
    counters_init(&m->counters[function], m->programs[function]);
    if (m->config.checks & MACHINE_CHECK_INITIALIZED) {
        proxy_watch(m->programs[function]);
    }
    if (m->race) {
        race_watch(m->programs[function]);
    }
    return 0;
}

static bool is_entry(const struct ptx_function *f) {
    return f->is_entry && !f->is_declaration;
}

static int programs_lower(struct machine *m, const char *const *entries,
                          json_t *unsupported, struct err *err) {
    int result = 0;
    list_each(k, f, m->module->functions, m->module->function_count) {
        if (!is_entry(f) || !entry_wanted(f->name, entries)) {
            continue;
        }
        int rc = program_add(m, k, unsupported, err);
        if (rc && rc != -ENOTSUP) {
            return rc;
        }
        result = rc ? rc : result;
    }
    return result;
}

int machine_prepare(struct machine *m, const char *entry, json_t **ret_unsupported,
                    struct err *err) {
    for (uint32_t k = 0; k < m->module->function_count; k++) {
        if (!is_entry(&m->module->functions[k]) ||
            strcmp(m->module->functions[k].name, entry) != 0) {
            continue;
        }
        autojson *unsupported = json_array();
        int rc = m->programs[k] ? 0 : program_add(m, k, unsupported, err);
        if (rc == -ENOTSUP && ret_unsupported) {
            *ret_unsupported = json_incref(unsupported);
        }
        return rc;
    }
    return err_set(err, -ENOENT, "no kernel %s in the module", entry);
}

/* UPSKILLD_EMULATOR_CODE: off, or for tests `always`; on without it. */
static uint32_t emit_after_default(void) {
    const char *wanted = getenv("UPSKILLD_EMULATOR_CODE");
    return !wanted                         ? EMIT_AFTER
           : strcmp(wanted, "always") == 0 ? 1
           : strcmp(wanted, "off") == 0    ? EMIT_NEVER
                                           : EMIT_AFTER;
}

static void config_defaults(struct machine_config *c) {
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    c->threads = c->threads ? c->threads : cpus > 0 ? (unsigned)cpus : 1;
    c->instructions = c->instructions ? c->instructions : DEFAULT_INSTRUCTIONS;
    c->memory = c->memory ? c->memory : DEFAULT_MEMORY;
    c->emit_after = c->emit_after ? c->emit_after : emit_after_default();
    c->max_printf = c->max_printf ? c->max_printf : DEFAULT_PRINTF;
}

/* Bytes that make a bad number of every type: a NaN, a huge index. */
static uint8_t poison_byte(uint64_t seed) {
    static const uint8_t bytes[] = {0xa5, 0xff, 0x7f, 0xc3};
    return bytes[seed % sizeof bytes];
}

static int space_join(struct machine *m, const struct machine_space *space) {
    m->memory = space->memory;
    m->images = space->images;
    m->findings = space->findings;
    m->race = space->race;
    return 0;
}

static int space_make(struct machine *m, struct err *err) {
    m->memory = &m->own.memory;
    m->images = &m->own.images;
    m->findings = findings_new(m->config.max_findings);
    m->race = m->config.checks & MACHINE_CHECK_RACE ? race_run_new() : NULL;
    int rc = memory_init(m->memory, m->config.memory, poison_byte(m->config.seed), err);
    m->memory->stop = &m->stop;
    m->memory->race_free = race_shadow_free;
    return rc;
}

static void space_leave(struct machine *m) {
    for (uint32_t k = 0; k < m->module->variable_count; k++) {
        if (m->variables[k]) {
            (void)memory_release(m->memory, m->variables[k]->address);
        }
    }
}

static void space_finish(struct machine *m) {
    images_finish(m->images);
    memory_finish(m->memory);
    findings_free(m->findings);
    race_run_free(m->race);
}

int machine_new(struct machine **ret, const struct ptx_module *module,
                const char *const *entries, const struct machine_config *config,
                json_t **ret_unsupported, struct err *err) {
    struct machine *m = xcalloc(1, sizeof *m);
    m->config = *config;
    config_defaults(&m->config);
    m->module = module;
    pthread_mutex_init(&m->printf_lock, NULL);
    m->printf_text = BUF_INIT(m->config.max_printf);
    m->variables = xcalloc(module->variable_count + 1u, sizeof *m->variables);
    m->programs = xcalloc(module->function_count + 1u, sizeof *m->programs);
    m->counters = xcalloc(module->function_count + 1u, sizeof *m->counters);
    autojson *unsupported = json_array();
    int rc = config->space ? space_join(m, config->space) : space_make(m, err);
    rc = rc ? rc : variables_place(m, err);
    rc = rc ? rc : programs_lower(m, entries, unsupported, err);
    if (rc == -ENOTSUP && ret_unsupported) {
        *ret_unsupported = json_incref(unsupported);
    }
    if (rc) {
        machine_free(m);
        return rc;
    }
    *ret = m;
    return 0;
}

void machine_free(struct machine *m) {
    if (!m) {
        return;
    }
    for (uint32_t k = 0; k < m->module->function_count; k++) {
        counters_finish(&m->counters[k]);
        program_free(m->programs[k]);
    }
    if (m->memory == &m->own.memory) {
        space_finish(m);
    } else {
        space_leave(m);
    }
    json_decref(m->tensor_sum);
    buf_finish(&m->printf_text);
    pthread_mutex_destroy(&m->printf_lock);
    free(m->variables);
    free(m->programs);
    free(m->counters);
    free(m);
}

/* ---- memory ---- */

int machine_alloc(struct machine *m, const char *name, uint64_t bytes, unsigned flags,
                  uint64_t *ret_address, void **ret_host, struct err *err) {
    struct allocation *a;
    int rc = memory_add(m->memory, name, bytes, MEMORY_BUFFER, flags, &a, err);
    if (rc) {
        return rc;
    }
    *ret_address = a->address;
    *ret_host = a->host;
    return 0;
}

int machine_release(struct machine *m, uint64_t address) {
    return memory_release(m->memory, address);
}

int machine_image(struct machine *m, const struct machine_image *image,
                  uint64_t *ret_handle, struct err *err) {
    struct allocation *in = memory_find(m->memory, image->address);
    if (!in || in->freed || image->address % 4) {
        return err_set(err, -EINVAL, "there is no image at 0x%llx",
                       (unsigned long long)image->address);
    }
    struct image own;
    int rc = image_make(&own, in, image, err);
    if (rc == 0 && images_add(m->images, &own, ret_handle) < 0) {
        rc = err_set(err, -ENOMEM, "more than %u textures and surfaces", IMAGES_MAX);
    }
    return rc;
}

int machine_global(struct machine *m, const char *name, uint64_t *ret_address,
                   uint64_t *ret_bytes, void **ret_host) {
    for (uint32_t k = 0; k < m->module->variable_count; k++) {
        struct allocation *a = m->variables[k];
        const struct ptx_variable *v = &m->module->variables[k];
        if (a && v->function < 0 && strcmp(v->name, name) == 0) {
            *ret_address = a->address;
            *ret_bytes = a->bytes;
            *ret_host = a->host;
            return 0;
        }
    }
    return -ENOENT;
}

static bool is_written(const struct allocation *a, uint64_t offset) {
    return a->shadow[offset / 4] >> (4 + offset % 4) & 1;
}

bool machine_is_written(const struct machine *m, uint64_t address, uint64_t bytes) {
    const struct allocation *a = memory_find(m->memory, address);
    return !a || !a->shadow ||
           all_of(k, 0, bytes, is_written(a, address - a->address + k));
}

bool machine_is_touched(const struct machine *m, uint64_t address) {
    const struct allocation *a = memory_find(m->memory, address);
    return a && __atomic_load_n(&a->written_in, __ATOMIC_RELAXED) != 0;
}

/* Bytes from an offset on of which all were written, as far as eight words tell. */
static uint64_t written_words(const struct allocation *a, uint64_t offset) {
    uint64_t bits, all = 0xf0f0f0f0f0f0f0f0u;
    if (offset % 4 || a->bytes - offset < 4 * sizeof bits) {
        return 0;
    }
    memcpy(&bits, a->shadow + offset / 4, sizeof bits);
    return (bits & all) == all ? 4 * sizeof bits : 0;
}

uint64_t machine_unwritten(const struct machine *m, uint64_t address,
                           uint64_t *ret_first) {
    const struct allocation *a = memory_find(m->memory, address);
    uint64_t count = 0;
    if (!a || !a->shadow) {
        return 0;
    }
    for (uint64_t k = 0, sure; k < a->bytes; k += sure ? sure : 1) {
        sure = written_words(a, k);
        if (!sure && !is_written(a, k)) {
            if (count++ == 0 && ret_first) {
                *ret_first = k;
            }
        }
    }
    return count;
}

/* ---- launches ---- */

/* The workspace of cooperative_groups' grid barrier: a word of zeros after a few
 * others. */
static int launch_workspace(struct machine *m, struct run *run, struct err *err) {
    if (!run->launch->cooperative) {
        return 0;
    }
    struct allocation *a;
    int rc = memory_add(m->memory, "grid workspace", 64, MEMORY_VARIABLE, 0, &a, err);
    if (rc == 0) {
        run->workspace = a->address;
    }
    return rc;
}

static void run_init(struct run *run, struct machine *m, const struct program *p,
                     const struct machine_launch *l) {
    const struct machine_config *c = &m->config;
    *run = (struct run){.program = p,
                        .memory = m->memory,
                        .images = m->images,
                        .findings = m->findings,
                        .space = c->space,
                        .printed = &m->printf_text,
                        .printed_lock = &m->printf_lock,
                        .spent = &m->spent,
                        .budget = c->instructions,
                        .stop = &m->stop,
                        .lanes_left = block_lanes_left,
                        .launch = l,
                        .param_bytes = l->param_bytes,
                        .check_initialized = (c->checks & MACHINE_CHECK_INITIALIZED) != 0,
                        .check_memory = (c->checks & MACHINE_CHECK_MEMORY) != 0,
                        .check_barrier = (c->checks & MACHINE_CHECK_BARRIER) != 0,
                        .count = (c->checks & MACHINE_COUNTERS) != 0,
                        .one_lane = c->one_lane,
                        .emit_after = c->emit_after,
                        .native_runs = &m->native_runs,
                        .ideal_sums = c->ideal_sums,
                        .race = m->race,
                        .processors = c->threads,
                        .number = ++m->launches,
                        .poison = m->memory->poison,
                        .seed = c->seed};
    run->blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    run->begun = &m->begun;
    __atomic_store_n(&m->begun, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&m->blocks, run->blocks, __ATOMIC_RELAXED);
    run->explicit_cluster =
        launch_cluster_shape(l, &m->module->functions[p->entry], run->cluster);
    run->cluster_blocks = run->cluster[0] * run->cluster[1] * run->cluster[2];
    run->threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    run->shared_bytes = p->shared_bytes + l->dynamic_shared;
    run->shared_window = (run->shared_bytes + 64 + 255) / 256 * 256;
    run->params = xcalloc(1, l->param_bytes + 64);
    if (l->param_bytes) {
        memcpy(run->params, l->params, l->param_bytes);
    }
    uint64_t warps = (run->threads + WARP_LANES - 1) / WARP_LANES;
    const struct code *entry = p->codes[p->entry];
    run->block_bytes = run->shared_window * 2 + sizeof(struct block) +
                       warps * (entry->arena_bytes + sizeof(struct warp) +
                                entry->local_bytes * 5 / 4 * WARP_LANES) +
                       proxy_bytes(run);
}

/* Updates machine_tensor_sum's result for one more launch. */
static void note_tensor_sum(struct machine *m, const struct program *p,
                            const char *label) {
    struct tensor_sum sum;
    if (m->config.ideal_sums || !tensor_core_find(p, &sum) ||
        (m->tensor_sum && sum.fraction >= json_get_integer(m->tensor_sum, "bits", 0))) {
        return;
    }
    json_decref(m->tensor_sum);
    m->tensor_sum = finding_place_json(m->module, sum.function, sum.instruction);
    json_object_set_new(m->tensor_sum, "kernel", json_clean_z(label));
    json_object_set_new(m->tensor_sum, "bits", json_integer(sum.fraction));
}

static void tell_unconfirmed(const struct machine *m, const struct program *p) {
    const struct matrix *sum = tensor_core_unconfirmed(p);
    if (sum && !m->config.ideal_sums) {
        findings_remark(m->findings, m->module, sum->function, sum->instruction,
                        FINDING_UNCONFIRMED_SUMS,
                        "Unconfirmed sums: nobody has recorded how an H100 adds the "
                        "products of a sparse instruction. They are added as those of "
                        "the dense one, so an H100's last bits may be others");
    }
}

/* The limit of a launch. */
static uint64_t stack_raise(const struct machine_space *space, const struct program *p) {
    if (!space || !space->stack_bytes) {
        return 0;
    }
    if (*space->stack_bytes < p->stack_bytes) {
        *space->stack_bytes = p->stack_bytes;
    }
    return *space->stack_bytes;
}

enum machine_end machine_launch(struct machine *m, const struct machine_launch *launch,
                                struct err *err) {
    const struct program *p = NULL;
    struct program_counters *counters = NULL;
    for (uint32_t k = 0; k < m->module->function_count; k++) {
        if (m->programs[k] && strcmp(m->module->functions[k].name, launch->entry) == 0) {
            p = m->programs[k];
            counters = &m->counters[k];
        }
    }
    if (!p) {
        err_set(err, -ENOENT, "no kernel %s in the module", launch->entry);
        return MACHINE_REFUSED;
    }
    if (launch_check(launch, p, err)) {
        return MACHINE_REFUSED;
    }
    struct run run;
    run_init(&run, m, p, launch);
    run.stack_limit = stack_raise(m->config.space, p);
    if (launch_workspace(m, &run, err)) {
        free(run.params);
        return MACHINE_REFUSED;
    }
    findings_launch(m->findings, launch->label ? launch->label : launch->entry,
                    launch->block);
    counters->launches++;
    m->memory->launch++;
    note_tensor_sum(m, p, launch->label ? launch->label : launch->entry);
    tell_unconfirmed(m, p);
    if (run.race) {
        race_run_begin(run.race, &run);
    }
    enum machine_end end = schedule_run(&run, counters, err);
    stack_tell(&run);
    if (run.race) {
        race_run_end(run.race);
    }
    if (run.workspace) {
        machine_release(m, run.workspace);
    }
    memory_sweep(m->memory);
    free(run.params);
    return end;
}

void machine_stop(struct machine *m) {
    __atomic_store_n(&m->stop, 1, __ATOMIC_RELAXED);
}

/* ---- results ---- */

json_t *machine_findings(const struct machine *m, uint64_t *ret_omitted) {
    return findings_json(m->findings, ret_omitted);
}

json_t *machine_counters(const struct machine *m) {
    return counters_json(m->counters, m->module->function_count);
}

const char *machine_printf(const struct machine *m) {
    return m->printf_text.data;
}

json_t *machine_tensor_sum(const struct machine *m) {
    return json_incref(m->tensor_sum);
}

const char *machine_unchecked(const struct machine *m) {
    return race_run_limits(m->race);
}

uint64_t machine_native_runs(const struct machine *m) {
    return __atomic_load_n(&m->native_runs, __ATOMIC_RELAXED);
}

uint64_t machine_spent(const struct machine *m) {
    return __atomic_load_n(&m->spent, __ATOMIC_RELAXED);
}

uint64_t machine_progress(const struct machine *m, uint64_t *ret_blocks) {
    *ret_blocks = __atomic_load_n(&m->blocks, __ATOMIC_RELAXED);
    return __atomic_load_n(&m->begun, __ATOMIC_RELAXED);
}
