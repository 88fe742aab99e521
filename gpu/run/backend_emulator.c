/* The CPU machine of gpu/ptx as a backend. */
#include "base/err.h"
#include "base/parts.h"
#include "gpu/ptx/alu/bind.h"
#include "gpu/ptx/machine/machine.h"
#include "gpu/run/backend_module.h"

struct block_of_memory {
    uint64_t address, bytes;
    char *host;
};

struct backend {
    struct ptx_module *module;
    struct machine *machine;
    struct block_of_memory *blocks;
    size_t count;
    char device[96];
};

static void emulator_close(struct backend *b) {
    if (!b) {
        return;
    }
    machine_free(b->machine);
    ptx_module_free(b->module);
    free(b->blocks);
    free(b);
}

static unsigned machine_checks(const struct backend_options *o) {
    return (o->checks & SPEC_CHECK_MEMORY ? MACHINE_CHECK_MEMORY : 0u) |
           (o->checks & SPEC_CHECK_INITIALIZED ? MACHINE_CHECK_INITIALIZED : 0u) |
           (o->checks & SPEC_CHECK_RACE ? MACHINE_CHECK_RACE : 0u) |
           (o->checks & SPEC_CHECK_BARRIER ? MACHINE_CHECK_BARRIER : 0u) |
           (o->counters ? MACHINE_COUNTERS : 0u);
}

static unsigned thread_count(unsigned wanted) {
    unsigned have = (unsigned)parts_cores();
    return wanted && wanted < have ? wanted : have;
}

static int emulator_open(struct backend **ret, const struct backend_options *options,
                         json_t **ret_unsupported, struct err *err) {
    struct backend *b = xcalloc(1, sizeof *b);
    const struct machine_config config = {
        .checks = machine_checks(options),
        .threads = thread_count(options->threads),
        .instructions = options->instructions,
        .memory = options->memory,
        .seed = options->seed,
        .ideal_sums = options->ideal_sums,
    };
    int r = ptx_module_read(&b->module, options->ptx, options->ptx_len, err);
    if (r == 0) {
        r = machine_new(&b->machine, b->module, options->entries, &config,
                        ret_unsupported, err);
    }
    if (r < 0) {
        emulator_close(b);
        return r;
    }
    snprintf(b->device, sizeof b->device, "CPU (%s, %u thread%s)", bind_extension(),
             config.threads, config.threads == 1 ? "" : "s");
    *ret = b;
    return 0;
}

static const char *emulator_device(const struct backend *b) {
    return b->device;
}

static void remember(struct backend *b, uint64_t address, uint64_t bytes, void *host) {
    b->blocks = xreallocarray(b->blocks, b->count + 1, sizeof *b->blocks);
    b->blocks[b->count++] = (struct block_of_memory){address, bytes, host};
}

static int emulator_alloc(struct backend *b, const char *name, uint64_t bytes,
                          unsigned flags, uint64_t *ret_address, struct err *err) {
    unsigned own = (flags & BACKEND_READ_ONLY ? MACHINE_READ_ONLY : 0u) |
                   (flags & BACKEND_UNINITIALIZED ? MACHINE_UNINITIALIZED : 0u) |
                   (flags & BACKEND_OUTPUT ? MACHINE_OUTPUT : 0u);
    void *host;
    int r = machine_alloc(b->machine, name, bytes, own, ret_address, &host, err);
    if (r == 0) {
        remember(b, *ret_address, bytes, host);
    }
    return r;
}

static int emulator_global(struct backend *b, const char *name, uint64_t *ret_address,
                           uint64_t *ret_bytes, struct err *err) {
    void *host;
    if (machine_global(b->machine, name, ret_address, ret_bytes, &host) < 0) {
        return err_set(err, -ENOENT, "the module has no variable '%s' that is used",
                       name);
    }
    remember(b, *ret_address, *ret_bytes, host);
    return 0;
}

/* The host's bytes of [address, address + len). */
static char *host_bytes(const struct backend *b, uint64_t address, uint64_t len,
                        struct err *err) {
    for (size_t i = 0; i < b->count; i++) {
        const struct block_of_memory *m = &b->blocks[i];
        if (address >= m->address && address - m->address <= m->bytes &&
            len <= m->bytes - (address - m->address)) {
            return m->host + (address - m->address);
        }
    }
    err_set(err, -EFAULT, "no device memory at this address");
    return NULL;
}

static int emulator_write(struct backend *b, uint64_t address, const void *bytes,
                          uint64_t len, struct err *err) {
    char *to = host_bytes(b, address, len, err);
    if (to && len) {
        memcpy(to, bytes, len);
    }
    return to ? 0 : -EFAULT;
}

static int emulator_read(struct backend *b, uint64_t address, void *bytes, uint64_t len,
                         struct err *err) {
    const char *from = host_bytes(b, address, len, err);
    if (from && len) {
        memcpy(bytes, from, len);
    }
    return from ? 0 : -EFAULT;
}

static void *emulator_view(const struct backend *b, uint64_t address, uint64_t len) {
    return host_bytes(b, address, len, NULL);
}

static bool emulator_touched(const struct backend *b, uint64_t address) {
    return machine_is_touched(b->machine, address);
}

static uint64_t emulator_unwritten(struct backend *b, uint64_t address,
                                   uint64_t *ret_first) {
    return machine_unwritten(b->machine, address, ret_first);
}

static bool emulator_written(struct backend *b, uint64_t address, uint64_t bytes) {
    return machine_is_written(b->machine, address, bytes);
}

static int emulator_params(struct backend *b, const char *entry, struct kernel_param *ret,
                           size_t max, size_t *ret_block_bytes) {
    return module_params(b->module, entry, ret, max, ret_block_bytes);
}

/* Of the types that a texture may show (spec_texture_check). */
static const enum ptx_type image_types[TENSOR_TYPES] = {
    [TENSOR_FLOAT32] = PTX_F32, [TENSOR_FLOAT16] = PTX_F16, [TENSOR_INT8] = PTX_S8,
    [TENSOR_INT16] = PTX_S16,   [TENSOR_INT32] = PTX_S32,   [TENSOR_UINT8] = PTX_U8,
    [TENSOR_UINT16] = PTX_U16,  [TENSOR_UINT32] = PTX_U32,
};

/* The machine's images are views: there is nothing to copy. */
static int emulator_image(struct backend *b, const struct texture *t, uint64_t address,
                          uint64_t *ret_handle, struct err *err) {
    struct machine_image own = {
        .address = address,
        .type = image_types[t->type],
        .channels = t->channels,
        .rank = t->rank,
        .layers = t->layers,
        .cube = t->cube && !t->layered_cube,
        .cubes = t->layered_cube,
        .seamless = t->seamless,
        .surface = t->is_surface,
        .linear = t->linear_memory,
        .filters = t->filters,
        .normalized = t->normalized,
        .reads_floats = t->reads_floats,
    };
    for (unsigned d = 0; d < 3; d++) {
        own.extent[d] = t->extent[d];
        own.mode[d] = (enum machine_address_mode)t->mode[d];
    }
    return machine_image(b->machine, &own, ret_handle, err);
}

/* Refuses features that are not documented well enough to emulate. */
static int map_possible(const struct tensor_map *map, struct err *err) {
    unsigned row = tensor_map_inner(map) * (unsigned)tensor_type_bytes(map->type);
    if (tensor_map_is_im2col(map) && map->element_strides[map->rank - 1] != 1) {
        return err_set(err, -ENOTSUP,
                       "element_strides[0]: im2col with steps over images runs on a GPU "
                       "only");
    }
    if (map->interleave != INTERLEAVE_NONE) {
        return err_set(err, -ENOTSUP,
                       "interleave: interleaved tensors run on a GPU only");
    }
    if (map->swizzle != SWIZZLE_NONE && row != 16u << map->swizzle) {
        return err_set(err, -ENOTSUP,
                       "box: rows of %u bytes with a swizzle of %u run on a GPU only",
                       row, 16u << map->swizzle);
    }
    return 0;
}

static void set_im2col(struct tensor_blob *blob, const struct tensor_map *map) {
    const struct tensor_map_im2col *i = &map->im2col;
    if (!tensor_map_is_im2col(map)) {
        return;
    }
    blob->im2col = 1;
    blob->box[0] = (uint16_t)i->channels;
    blob->pixels = (uint16_t)i->pixels;
    for (unsigned d = 0; d < map->rank - 2; d++) {
        blob->lower[d] = (int16_t)i->lower[d];
        blob->upper[d] = (int16_t)i->upper[d];
    }
}

static int emulator_tensor_map(struct backend *, const struct tensor_map *map,
                               uint64_t address,
                               unsigned char ret[static TENSOR_MAP_BYTES],
                               struct err *err) {
    struct tensor_blob blob = {.address = address,
                               .type = (uint8_t)module_map_type(map->type),
                               .rank = (uint8_t)map->rank,
                               .swizzle = (uint8_t)map->swizzle,
                               .fill_nan = map->fill == FILL_NAN};
    int r = map_possible(map, err);
    for (unsigned d = 0; r == 0 && d < map->rank; d++) {
        blob.last[d] = (uint32_t)(map->extents[d] - 1);
        blob.box[d] = (uint16_t)map->box[d];
        blob.element_strides[d] = (uint8_t)map->element_strides[d];
        if (d) {
            blob.strides[d - 1] = map->strides[d];
        }
    }
    if (r == 0) {
        set_im2col(&blob, map);
    }
    tensor_blob_seal(&blob);
    memcpy(ret, &blob, sizeof blob);
    return r;
}

static enum backend_end
emulator_launch(struct backend *b, const struct backend_launch *launch, struct err *err) {
    static const enum backend_end ends[] = {
        [MACHINE_DONE] = BACKEND_DONE,         [MACHINE_FAULT] = BACKEND_FAULT,
        [MACHINE_DEADLOCK] = BACKEND_DEADLOCK, [MACHINE_BUDGET] = BACKEND_BUDGET,
        [MACHINE_REFUSED] = BACKEND_REFUSED,   [MACHINE_STOPPED] = BACKEND_STOPPED,
    };
    struct machine_launch own = {
        .entry = launch->entry,
        .label = launch->label,
        .dynamic_shared = launch->shape.shared_bytes,
        .cooperative = launch->cooperative,
        .params = launch->params,
        .param_bytes = launch->param_bytes,
    };
    memcpy(own.grid, launch->shape.grid, sizeof own.grid);
    memcpy(own.block, launch->shape.block, sizeof own.block);
    memcpy(own.cluster, launch->shape.cluster, sizeof own.cluster);
    return ends[machine_launch(b->machine, &own, err)];
}

static void emulator_stop(struct backend *b) {
    machine_stop(b->machine);
}

static json_t *emulator_findings(const struct backend *b, uint64_t *ret_omitted) {
    return machine_findings(b->machine, ret_omitted);
}

static json_t *emulator_counters(const struct backend *b) {
    return machine_counters(b->machine);
}

static const char *emulator_printed(const struct backend *b) {
    return machine_printf(b->machine);
}

static uint64_t emulator_spent(const struct backend *b) {
    return machine_spent(b->machine);
}

static uint64_t emulator_progress(const struct backend *b, uint64_t *ret_blocks) {
    return machine_progress(b->machine, ret_blocks);
}

static const char *emulator_unchecked(const struct backend *b) {
    return machine_unchecked(b->machine);
}

static json_t *emulator_tensor_sum(const struct backend *b) {
    return machine_tensor_sum(b->machine);
}

const struct backend_class backend_emulator = {
    .kind = "emulator",
    .checks =
        SPEC_CHECK_MEMORY | SPEC_CHECK_INITIALIZED | SPEC_CHECK_RACE | SPEC_CHECK_BARRIER,
    .open = emulator_open,
    .close = emulator_close,
    .device = emulator_device,
    .alloc = emulator_alloc,
    .global = emulator_global,
    .write = emulator_write,
    .read = emulator_read,
    .view = emulator_view,
    .touched = emulator_touched,
    .unwritten = emulator_unwritten,
    .written = emulator_written,
    .params = emulator_params,
    .image = emulator_image,
    .tensor_map = emulator_tensor_map,
    .launch = emulator_launch,
    .stop = emulator_stop,
    .findings = emulator_findings,
    .counters = emulator_counters,
    .printed = emulator_printed,
    .spent = emulator_spent,
    .unchecked = emulator_unchecked,
    .tensor_sum = emulator_tensor_sum,
    .progress = emulator_progress,
};
