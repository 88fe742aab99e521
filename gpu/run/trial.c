#include "gpu/run/trial.h"

#include "base/find.h"
#include "base/parts.h"
#include "base/random.h"
#include "gpu/spec/spec_tensor_map.h"
#include "gpu/spec/spec_texture.h"

#include <signal.h>

enum {
    MAX_PARAM_BLOCK = 32764, /* bytes of a kernel's parameters, PTX 8.1 */
    FILL_LEAST = 1 << 14,    /* elements that a thread makes, or more */
    TOO_MUCH_TO_FREE = 64 << 20,
};

uint64_t trial_seed(uint64_t seed, size_t spec_case, unsigned trial) {
    uint64_t nth = spec_case * SPEC_MAX_TRIALS + trial;
    uint64_t state = seed + RANDOM_STEP * nth;
    return nth ? random_next(&state) : seed;
}

json_t *trial_seed_to_json(uint64_t seed) {
    return json_sprintf("0x%016llx", (unsigned long long)seed);
}

static int problem_set(struct trial_problem *p, const char *stage, const char *code) {
    p->stage = stage;
    snprintf(p->code, sizeof p->code, "%s", code);
    return -1;
}

/* The same for what the backend refused: by CUDA's name where it has one. */
static int backend_problem(const struct trial *t, struct trial_problem *p,
                           const char *stage, const char *code) {
    const char *hint = NULL;
    const char *name =
        t->backend && t->class->trouble ? t->class->trouble(t->backend, &hint) : NULL;
    snprintf(p->hint, sizeof p->hint, "%s", hint ? hint : "");
    return problem_set(p, stage, name ? name : code);
}

/* --- entries --- */

static const json_t *entry_of(const struct trial_options *o, const char *kernel) {
    return json_object_get(o->entries.json, kernel ? kernel : "");
}

const char *trial_symbol(const struct trial_options *o,
                         const struct spec_launch *launch) {
    return json_get_string(entry_of(o, launch->kernel), "symbol", NULL);
}

static int open_backend(struct trial *t, const struct spec_launch *launches, size_t count,
                        const struct trial_options *o, struct trial_problem *problem) {
    const char *entries[SPEC_MAX_LAUNCHES + 1] = {0};
    for (size_t i = 0; i < count; i++) {
        const char *symbol = trial_symbol(o, &launches[i]);
        if (!symbol) {
            err_set(&problem->err, -EINVAL, "the module has no kernel '%s'",
                    launches[i].kernel ? launches[i].kernel : "");
            return problem_set(problem, "spec", "unknown_kernel");
        }
        entries[i] = symbol;
    }
    const struct backend_options options = {
        .ptx = o->ptx,
        .ptx_len = strlen(o->ptx),
        .cubin = o->cubin,
        .cubin_len = o->cubin_len,
        .entries = entries,
        .checks = o->checks,
        .counters = o->counters,
        .instructions = o->instructions,
        .memory = o->memory,
        .threads = o->threads,
        .seed = t->seed,
        .ideal_sums = o->ideal_sums,
    };
    int r = t->class->open(&t->backend, &options, &problem->unsupported, &problem->err);
    if (r < 0) {
        return backend_problem(t, problem, "compile",
                               r == -ENOTSUP ? "unsupported" : "module_unreadable");
    }
    return 0;
}

/* What a signal handler needs to stop a launch, or memory that is being placed. The
 * threads that could run the handler are joined before `running` is cleared. */
static struct trial *volatile running;
static volatile sig_atomic_t stopped;

/* --- memory --- */

static int place_buffer(struct trial *t, size_t i, struct err *err) {
    const struct spec_buffer *spec = &t->check->spec->buffers[i];
    const struct case_buffer *b = &t->check->buffers[i];
    uint64_t have = 0;
    if (spec->is_global) {
        int r = t->class->global(t->backend, spec->name, &t->addresses[i], &have, err);
        return r < 0 || b->bytes <= have
                   ? r
                   : err_set(err, -EINVAL, "globals.%s: the variable has %llu bytes",
                             spec->name, (unsigned long long)have);
    }
    unsigned flags = spec->output ? BACKEND_OUTPUT : BACKEND_READ_ONLY;
    flags |= spec->init ? 0 : BACKEND_UNINITIALIZED;
    return t->class->alloc(t->backend, spec->name, b->bytes, flags, &t->addresses[i],
                           err);
}

struct filling {
    const struct trial *t;
    size_t buffer;
    const struct tensor_init *init;
    char *to, *also; /* also: NULL */
};

static int fill_some(void *data, int64_t from, int64_t to) {
    const struct filling *f = data;
    enum tensor_type type = f->t->check->spec->buffers[f->buffer].type;
    size_t at = (size_t)from * tensor_type_bytes(type);
    size_t bytes = (size_t)(to - from) * tensor_type_bytes(type);
    tensor_fill(type, f->to + at, (uint64_t)from, (uint64_t)(to - from), f->init,
                f->t->seed, (uint32_t)f->buffer);
    if (f->also) {
        memcpy(f->also + at, f->to + at, bytes);
    }
    return 0;
}

static int fill_struct(const struct trial *t, size_t i, char *to, char *also,
                       struct err *err) {
    int r = spec_case_struct(t->check, i, t->addresses, to, err);
    if (r == 0 && also) {
        memcpy(also, to, t->check->buffers[i].bytes);
    }
    return r;
}

/* Piece by piece: the time may be up before a large one is full. */
static int fill(struct trial *t, size_t i, char *to, char *also, struct err *err) {
    struct tensor_init init;
    autofree double *values = NULL;
    struct filling f = {t, i, &init, to, also};
    if (json_object_get(t->check->spec->buffers[i].init, "struct")) {
        return fill_struct(t, i, to, also, err);
    }
    int r = spec_case_init(t->check, i, &init, &values, err);
    if (r == 0 && parts_run((int64_t)t->check->buffers[i].count, FILL_LEAST, fill_some,
                            &f, trials_stopped) < 0) {
        r = err_set(err, -ETIME, "time ran out while inputs were made");
    }
    return r;
}

bool trial_reads_before(const struct kernel_spec *spec, size_t buffer) {
    return spec->buffers[buffer].init || spec->expect == EXPECT_EXPRESSION ||
           any_of(k, 0, spec->buffer_count, spec->buffers[k].judge);
}

static void keep_copy(struct trial *t, size_t i) {
    uint64_t bytes = t->check->buffers[i].bytes;
    t->before[i] = t->copied[i] ? t->before[i] : xmalloc(bytes ? bytes : 1);
    t->copied[i] = true;
    memory_advise_huge(t->before[i], bytes);
}

/* Into the backend's memory, and into the copy where one is kept. */
static int fill_both(struct trial *t, size_t i, struct err *err) {
    const struct case_buffer *b = &t->check->buffers[i];
    char *there =
        t->class->view ? t->class->view(t->backend, t->addresses[i], b->bytes) : NULL;
    if (!there ||
        (t->check->spec->buffers[i].output && trial_reads_before(t->check->spec, i))) {
        keep_copy(t, i);
    } else if (!t->copied[i]) {
        t->before[i] = t->check->spec->buffers[i].output ? NULL : there;
    }
    char *copy = t->copied[i] ? t->before[i] : NULL;
    int r = fill(t, i, copy ? copy : there, copy ? there : NULL, err);
    return r < 0 || there || !b->bytes
               ? r
               : t->class->write(t->backend, t->addresses[i], copy, b->bytes, err);
}

/* Makes inputs again that a kernel may have written. */
static int settle_inputs(struct trial *t, struct err *err) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < t->check->spec->buffer_count; i++) {
        if (t->before[i] && !t->copied[i] &&
            t->class->touched(t->backend, t->addresses[i])) {
            keep_copy(t, i);
            r = fill(t, i, t->before[i], NULL, err);
        }
    }
    return r;
}

/* Its first contents, kept for the comparison and for expressions; anew for a trial that
 * is made again. A variable that the spec says nothing of keeps what the module gave it.
 */
static int fill_buffer(struct trial *t, size_t i, struct err *err) {
    const struct spec_buffer *spec = &t->check->spec->buffers[i];
    const struct case_buffer *b = &t->check->buffers[i];
    if (spec->is_global && !spec->init) {
        if (t->before[i]) {
            return t->class->write(t->backend, t->addresses[i], t->before[i], b->bytes,
                                   err);
        }
        keep_copy(t, i);
        return t->class->read(t->backend, t->addresses[i], t->before[i], b->bytes, err);
    }
    return fill_both(t, i, err);
}

static int place_buffers(struct trial *t, struct trial_problem *problem) {
    size_t count = t->check->spec->buffer_count;
    t->addresses = xcalloc(count ? count : 1, sizeof *t->addresses);
    t->before = xcalloc(count ? count : 1, sizeof *t->before);
    t->copied = xcalloc(count ? count : 1, sizeof *t->copied);
    run_notes_phase(t->notes, t->is_reference ? PHASE_REFERENCE_INPUTS : PHASE_INPUTS);
    for (size_t n = 0; n < 2 * count;
         n++) { /* all have an address before one is filled */
        running = t;
        int r = stopped     ? err_set(&problem->err, -ETIME, "time ran out")
                : n < count ? place_buffer(t, n, &problem->err)
                            : 0;
        running = NULL;
        r = r < 0 || n < count ? r : fill_buffer(t, n - count, &problem->err);
        if (r < 0) {
            return backend_problem(t, problem, "spec",
                                   r == -ENOMEM ? "device_memory" : "buffer");
        }
    }
    return 0;
}

static int place_pointer_array(struct trial *t, const struct spec_arg *arg, uint64_t *ret,
                               struct err *err) {
    uint64_t list[SPEC_MAX_BUFFERS];
    size_t count = json_array_size(arg->list);
    if (count > SPEC_MAX_BUFFERS) {
        return err_set(err, -EINVAL, "a pointer array holds at most %d buffers",
                       SPEC_MAX_BUFFERS);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(arg->list, i));
        list[i] = t->addresses[kernel_spec_buffer(t->check->spec, name)];
    }
    const char *name = *arg->name ? arg->name : "pointers";
    int r = t->class->alloc(t->backend, name, count * sizeof *list, BACKEND_READ_ONLY,
                            ret, err);
    return r < 0 ? r : t->class->write(t->backend, *ret, list, count * sizeof *list, err);
}

static int place_tensor_map(struct trial *t, const json_t *map,
                            unsigned char ret[static TENSOR_MAP_BYTES], struct err *err) {
    struct tensor_map own;
    size_t buffer = kernel_spec_buffer(t->check->spec, json_get_string(map, "of", ""));
    uint64_t address = t->addresses[buffer];
    int r = spec_tensor_map_resolve(t->check, map, &own, err);
    r = r < 0 ? r : tensor_map_check_address(&own, address, err);
    if (r == 0 && !t->class->tensor_map) {
        r = err_set(err, -ENOTSUP, "this backend has no tensor maps: a GPU does");
    }
    return r < 0 ? r : t->class->tensor_map(t->backend, &own, address, ret, err);
}

static int place_texture(struct trial *t, const struct spec_arg *arg, uint64_t *ret,
                         struct err *err) {
    struct texture own;
    size_t buffer =
        kernel_spec_buffer(t->check->spec, json_get_string(arg->json, "of", ""));
    int r = spec_texture_resolve(t->check, arg, &own, err);
    return r < 0 ? r : t->class->image(t->backend, &own, t->addresses[buffer], ret, err);
}

/* The data of argument i besides the buffers. */
static int place_arg(struct trial *t, const struct spec_launch *launch, size_t i,
                     uint64_t *ret, unsigned char map[static TENSOR_MAP_BYTES],
                     struct err *err) {
    const struct spec_arg *arg = &launch->args[i];
    const char *what = arg->kind == ARG_TEXTURE ? "texture" : "surface";
    int r = 0;
    if (arg->kind == ARG_POINTERS) {
        return place_pointer_array(t, arg, ret, err);
    }
    if (arg->kind == ARG_TENSOR_MAP) {
        what = "tensor_map";
        r = place_tensor_map(t, arg->json, map, err);
    } else if (arg->kind == ARG_TEXTURE || arg->kind == ARG_SURFACE) {
        r = place_texture(t, arg, ret, err);
    }
    if (r < 0) {
        err_wrap(err, "%sargs[%zu].%s", launch->at, i, what);
    }
    return r;
}

/* --- launches --- */

void trials_stop(void) {
    stopped = 1;
    struct trial *t = running;
    if (t) {
        t->class->stop(t->backend);
    }
}

bool trials_stopped(void) {
    return stopped;
}

/* A value that a launch takes from a buffer, after the launches before it. */
struct trial_contents {
    size_t launch;
    uint64_t address;
    struct kernel_param param;
};

static void note_contents(struct trial *t, const struct spec_launch *launch,
                          const struct kernel_param *params) {
    list_each(i, arg, launch->args, launch->arg_count) {
        if (arg->kind == ARG_CONTENTS) {
            t->contents =
                xreallocarray(t->contents, t->content_count + 1, sizeof *t->contents);
            t->contents[t->content_count++] = (struct trial_contents){
                t->launch_count, t->addresses[arg->buffer], params[i]};
        }
    }
}

static int take_contents(struct trial *t, size_t launch, struct err *err) {
    char *block = (char *)(uintptr_t)t->launches[launch].params;
    int r = 0;
    for (size_t i = 0; r == 0 && i < t->content_count; i++) {
        const struct trial_contents *c = &t->contents[i];
        if (c->launch == launch) {
            r = t->class->read(t->backend, c->address, block + c->param.offset,
                               c->param.bytes, err);
        }
    }
    return r;
}

/* A launch with its arguments packed: it can be carried out more than once. */
static int prepare_launch(struct trial *t, const struct spec_launch *launch,
                          const struct case_launch *shape, const struct trial_options *o,
                          struct backend_launch *ret, struct trial_problem *problem) {
    struct kernel_param params[SPEC_MAX_ARGS];
    const json_t *entry = entry_of(o, launch->kernel);
    const char *symbol = json_get_string(entry, "symbol", "");
    size_t block_bytes = 0;
    int count = t->class->params(t->backend, symbol, params, SPEC_MAX_ARGS, &block_bytes);
    if (count < 0 || count > SPEC_MAX_ARGS || block_bytes > MAX_PARAM_BLOCK) {
        err_set(&problem->err, -EINVAL, "the kernel '%s' cannot be launched", symbol);
        return count < 0 && count != -ENOENT
                   ? backend_problem(t, problem, "launch", "launch_refused")
                   : problem_set(problem, "spec", "unknown_kernel");
    }
    char *block = xcalloc(block_bytes ? block_bytes : 1, 1);
    uint64_t handles[SPEC_MAX_ARGS];
    unsigned char maps[SPEC_MAX_ARGS][TENSOR_MAP_BYTES];
    const struct case_places places = {t->addresses, handles,
                                       (const unsigned char(*)[TENSOR_MAP_BYTES])maps};
    *ret = (struct backend_launch){
        .entry = symbol,
        .label = json_get_string(entry, "name", symbol),
        .shape = *shape,
        .cooperative = launch->cooperative,
        .params = block,
        .param_bytes = block_bytes,
    };
    int r = 0;
    for (size_t i = 0; r == 0 && i < launch->arg_count; i++) {
        r = place_arg(t, launch, i, &handles[i], maps[i], &problem->err);
    }
    r = r < 0 ? r
              : spec_case_params(t->check, launch, params, (size_t)count, &places, block,
                                 &problem->err);
    if (r < 0) {
        return problem_set(problem, "spec", r == -ENOTSUP ? "unsupported" : "arguments");
    }
    note_contents(t, launch, params);
    return 0;
}

int trial_open(struct trial *ret, const struct backend_class *class,
               const struct spec_case *check, uint64_t seed,
               const struct trial_options *options, struct trial_problem *problem) {
    const struct kernel_spec *spec = check->spec;
    bool other = options->is_reference;
    const struct spec_launch *launches = other ? spec->reference : spec->launches;
    const struct case_launch *shapes = other ? check->reference : check->launches;
    size_t count = other ? spec->reference_count : spec->launch_count;
    *ret = (struct trial){.class = class,
                          .check = check,
                          .seed = seed,
                          .notes = options->notes,
                          .is_reference = options->is_reference};
    if (open_backend(ret, launches, count, options, problem) < 0 ||
        place_buffers(ret, problem) < 0) {
        return -1;
    }
    ret->launches = xcalloc(count, sizeof *ret->launches);
    for (; ret->launch_count < count; ret->launch_count++) {
        size_t i = ret->launch_count;
        if (prepare_launch(ret, &launches[i], &shapes[i], options, &ret->launches[i],
                           problem) < 0) {
            ret->launch_count++; /* its block is freed */
            return -1;
        }
    }
    return 0;
}

static int trial_launch(struct trial *t, struct trial_problem *problem) {
    t->end = BACKEND_DONE;
    run_notes_phase(t->notes, t->is_reference ? PHASE_REFERENCE : PHASE_KERNEL);
    run_notes_launch(t->notes, t->class, t->backend);
    /* Launches after a faulted kernel would run on its partial results. */
    for (size_t i = 0; i < t->launch_count && t->end == BACKEND_DONE; i++) {
        if (take_contents(t, i, &problem->err) < 0) {
            run_notes_launch(t->notes, NULL, NULL);
            return backend_problem(t, problem, "run", "buffer");
        }
        running = t;
        t->end = stopped ? BACKEND_STOPPED
                         : t->class->launch(t->backend, &t->launches[i], &problem->err);
        running = NULL;
    }
    run_notes_launch(t->notes, NULL, NULL);
    if (t->end == BACKEND_DONE && settle_inputs(t, &problem->err) < 0) {
        return backend_problem(t, problem, "run", "buffer");
    }
    return t->end == BACKEND_REFUSED
               ? backend_problem(t, problem, "launch", "launch_refused")
               : 0;
}

int trial_again(struct trial *t, uint64_t seed, struct trial_problem *problem) {
    t->seed = seed;
    for (size_t i = 0; i < t->check->spec->buffer_count; i++) {
        if (fill_buffer(t, i, &problem->err) < 0) {
            return backend_problem(t, problem, "run", "buffer");
        }
    }
    return trial_launch(t, problem);
}

int trial_run(struct trial *ret, const struct backend_class *class,
              const struct spec_case *check, uint64_t seed,
              const struct trial_options *options, struct trial_problem *problem) {
    int r = trial_open(ret, class, check, seed, options, problem);
    return r < 0 ? r : trial_launch(ret, problem);
}

const void *trial_view(const struct trial *t, size_t buffer, void **ret_owned,
                       struct err *err) {
    uint64_t bytes = t->check->buffers[buffer].bytes;
    const void *there =
        t->class->view ? t->class->view(t->backend, t->addresses[buffer], bytes) : NULL;
    *ret_owned = there ? NULL : trial_read(t, buffer, err);
    return there ? there : *ret_owned;
}

void *trial_read(const struct trial *t, size_t buffer, struct err *err) {
    uint64_t bytes = t->check->buffers[buffer].bytes;
    void *contents = xmalloc(bytes ? bytes : 1);
    if (t->class->read(t->backend, t->addresses[buffer], contents, bytes, err) < 0) {
        free(contents);
        return NULL;
    }
    return contents;
}

uint64_t trial_unwritten(const struct trial *t, size_t buffer, const bool *judged,
                         uint64_t *ret_first) {
    uint64_t size = tensor_type_bytes(t->check->spec->buffers[buffer].type), bytes = 0;
    *ret_first = 0;
    if (!judged) {
        return t->class->unwritten(t->backend, t->addresses[buffer], ret_first);
    }
    for (uint64_t i = t->check->buffers[buffer].count; t->class->written && i-- > 0;) {
        uint64_t at = t->addresses[buffer] + i * size;
        if (judged[i] && !t->class->written(t->backend, at, size)) {
            bytes += size;
            *ret_first = i * size;
        }
    }
    return bytes;
}

void trial_finish(struct trial *t) {
    if (stopped && t->check && t->check->bytes > TOO_MUCH_TO_FREE) {
        return; /* the process ends, and giving gigabytes back takes longer than it has */
    }
    if (t->backend) {
        t->class->close(t->backend);
    }
    for (size_t i = 0; t->before && i < t->check->spec->buffer_count; i++) {
        free(t->copied[i] ? t->before[i] : NULL);
    }
    for (size_t i = 0; i < t->launch_count; i++) {
        free((void *)(uintptr_t)t->launches[i].params);
    }
    free(t->launches);
    free(t->contents);
    free(t->before);
    free(t->copied);
    free(t->addresses);
    *t = (struct trial){0};
}
