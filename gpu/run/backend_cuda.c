/* A CUDA device as a backend: gpu/driver's memory, module and output, put together. */
#include "gpu/run/backend_cuda.h"

#include "base/err.h"
#include "gpu/driver/cuda_memory.h"
#include "gpu/driver/cuda_output.h"
#include "gpu/driver/cuda_view.h"
#include "gpu/run/backend_module.h"
#include "gpu/run/cuda_fault.h"
#include "gpu/run/cuda_timing.h"

#include <inttypes.h>

enum { MAX_PARAMS = 256 };

struct backend {
    struct cuda_context *context;
    struct cuda_module *module;
    struct cuda_memory *memory;
    struct cuda_views *images;
    struct ptx_module *parsed; /* where the driver cannot tell of parameters */
    unsigned checks;
    int code; /* CUDA's, of what failed last */
    json_t *findings;
    struct buf printed;
};

static struct cuda_context *used;
static bool bare;

void backend_cuda_make_bare(void) {
    bare = true;
}

void backend_cuda_use(struct cuda_context *c) {
    used = c;
}

/* Begins a call into the driver: what failed before is no longer of interest. */
static struct cuda_context *begin(struct backend *b) {
    b->code = 0;
    b->context->code = b->context->lost ? b->context->code : 0;
    return b->context;
}

static int ended(struct backend *b, int r) {
    b->code = r < 0 ? b->context->code : 0;
    return r;
}

/* --- beginning and end --- */

static void cuda_close(struct backend *b) {
    if (!b) {
        return;
    }
    cuda_views_free(b->images);
    cuda_memory_free(b->memory);
    cuda_module_free(b->module);
    ptx_module_free(b->parsed);
    json_decref(b->findings);
    buf_finish(&b->printed);
    free(b);
}

static int cuda_open(struct backend **ret, const struct backend_options *options,
                     json_t **, struct err *err) {
    if (!used) {
        return err_set(err, -ENODEV, "no CUDA device is in use");
    }
    struct backend *b = xcalloc(1, sizeof *b);
    *b = (struct backend){
        .context = used,
        .memory = cuda_memory_new(used, options->memory, options->seed),
        .images = cuda_views_new(used),
        .checks = options->checks,
        .findings = json_array(),
        .printed = BUF_INIT(2 * CUDA_OUTPUT_KEPT),
    };
    if (bare) {
        cuda_memory_make_bare(b->memory);
    }
    *ret = b;
    const struct cuda_image image = {
        .cubin = options->cubin,
        .cubin_len = options->cubin_len,
        .ptx = options->ptx,
        .ptx_len = options->ptx_len,
    };
    int r = ended(b, cuda_module_load(&b->module, begin(b), &image, err));
    if (r == 0 && !used->api->function_param) {
        r = ptx_module_read(&b->parsed, options->ptx, options->ptx_len, err);
    }
    return r;
}

static const char *cuda_device_name(const struct backend *b) {
    return b->context->device.name;
}

static json_t *cuda_facts(const struct backend *b) {
    json_t *facts = cuda_device_to_json(&b->context->device);
    char driver[16];
    cuda_version_text(b->context->driver_version, driver);
    json_object_set_new(facts, "driver", json_string(driver));
    if (b->module) {
        json_object_set_new(facts, "module", json_string(cuda_module_form(b->module)));
    }
    return facts;
}

static const char *cuda_trouble(const struct backend *b, const char **ret_hint) {
    const char *hint = cuda_code_hint(b->code);
    if (!b->code) {
        return NULL;
    }
    *ret_hint = *hint ? hint : NULL;
    return cuda_code_name(b->code);
}

/* --- memory --- */

static int cuda_alloc(struct backend *b, const char *name, uint64_t bytes, unsigned flags,
                      uint64_t *ret_address, struct err *err) {
    begin(b);
    return ended(b, cuda_memory_alloc(b->memory, name, bytes,
                                      (flags & BACKEND_UNINITIALIZED) != 0, ret_address,
                                      err));
}

static int cuda_global(struct backend *b, const char *name, uint64_t *ret_address,
                       uint64_t *ret_bytes, struct err *err) {
    size_t bytes = 0;
    begin(b);
    int r = ended(b, cuda_module_global(b->module, name, ret_address, &bytes, err));
    if (r == 0) {
        *ret_bytes = bytes;
        cuda_memory_add(b->memory, name, *ret_address, bytes);
    }
    return r;
}

static int cuda_write(struct backend *b, uint64_t address, const void *bytes,
                      uint64_t len, struct err *err) {
    begin(b);
    return ended(b, cuda_memory_write(b->memory, address, bytes, len, err));
}

static int cuda_read(struct backend *b, uint64_t address, void *bytes, uint64_t len,
                     struct err *err) {
    begin(b);
    return ended(b, cuda_memory_read(b->memory, address, bytes, len, err));
}

static uint64_t cuda_unwritten(struct backend *b, uint64_t address, uint64_t *ret_first) {
    begin(b);
    return cuda_memory_unwritten(b->memory, address, ret_first);
}

/* --- parameters --- */

static int cuda_params(struct backend *b, const char *entry, struct kernel_param *ret,
                       size_t max, size_t *ret_block_bytes) {
    size_t offsets[MAX_PARAMS], bytes[MAX_PARAMS], end = 0;
    if (b->parsed) {
        return module_params(b->parsed, entry, ret, max, ret_block_bytes);
    }
    begin(b);
    int count = ended(
        b, cuda_module_params(b->module, entry, offsets, bytes, ARRAY_LEN(offsets)));
    for (size_t i = 0; count > 0 && i < (size_t)count; i++) {
        end = offsets[i] + bytes[i] > end ? offsets[i] + bytes[i] : end;
        if (i < max) {
            ret[i] = (struct kernel_param){.offset = offsets[i], .bytes = bytes[i]};
        }
    }
    *ret_block_bytes = end;
    return count;
}

_Static_assert((int)TENSOR_BLOB_BF16 == (int)CUDA_TENSOR_BFLOAT16, "CUDA's numbers");

/* The driver's code. */
static int map_encode(const struct cuda_api *api, const struct tensor_map *map, void *at,
                      unsigned char *own) {
    int type = (int)module_map_type(map->type), interleave = (int)map->interleave,
        swizzle = (int)map->swizzle, promotion = (int)map->promotion,
        fill = (int)map->fill;
    const struct tensor_map_im2col *i = &map->im2col;
    if (tensor_map_is_im2col(map)) {
        return api->tensor_map_encode_im2col(own, type, map->rank, at, map->extents,
                                             map->strides + 1, i->lower, i->upper,
                                             i->channels, i->pixels, map->element_strides,
                                             interleave, swizzle, promotion, fill);
    }
    return api->tensor_map_encode(own, type, map->rank, at, map->extents,
                                  map->strides + 1, map->box, map->element_strides,
                                  interleave, swizzle, promotion, fill);
}

static int cuda_tensor_map(struct backend *b, const struct tensor_map *map,
                           uint64_t address, unsigned char ret[static TENSOR_MAP_BYTES],
                           struct err *err) {
    _Alignas(CUDA_TENSOR_MAP_ALIGN) unsigned char own[CUDA_TENSOR_MAP_BYTES];
    struct cuda_context *c = begin(b);
    void *at = (void *)(uintptr_t)address;
    if (tensor_map_is_im2col(map) ? !c->api->tensor_map_encode_im2col
                                  : !c->api->tensor_map_encode) {
        return err_set(err, -ENOTSUP, "the driver makes no such tensor maps");
    }
    int r = cuda_context_usable(c, err);
    r = r ? r
          : cuda_context_check(c, map_encode(c->api, map, at, own), "making a tensor map",
                               err);
    if (r == 0) {
        memcpy(ret, own, sizeof own);
    }
    return ended(b, r);
}

/* --- textures and surfaces --- */

/* Of the types that a texture may show (spec_texture_check). */
static const enum cuda_array_format image_formats[TENSOR_TYPES] = {
    [TENSOR_FLOAT32] = CUDA_ARRAY_FLOAT, [TENSOR_FLOAT16] = CUDA_ARRAY_HALF,
    [TENSOR_INT8] = CUDA_ARRAY_INT8,     [TENSOR_INT16] = CUDA_ARRAY_INT16,
    [TENSOR_INT32] = CUDA_ARRAY_INT32,   [TENSOR_UINT8] = CUDA_ARRAY_UINT8,
    [TENSOR_UINT16] = CUDA_ARRAY_UINT16, [TENSOR_UINT32] = CUDA_ARRAY_UINT32,
};

static int cuda_image(struct backend *b, const struct texture *t, uint64_t address,
                      uint64_t *ret_handle, struct err *err) {
    bool integers = !tensor_type_float(t->type) && !t->reads_floats;
    struct cuda_view image = {
        .address = address,
        .format = image_formats[t->type],
        .element_bytes = (unsigned)tensor_type_bytes(t->type) * t->channels,
        .channels = t->channels,
        .rank = t->rank,
        .layers = t->layers,
        .cube = t->cube,
        .layered_cube = t->layered_cube,
        .surface = t->is_surface,
        .linear_memory = t->linear_memory,
        .modes = {.filter = t->filters,
                  .flags = (integers ? CUDA_TEXTURE_READ_AS_INTEGER : 0u) |
                           (t->normalized ? CUDA_TEXTURE_NORMALIZED_COORDINATES : 0u) |
                           (t->seamless ? CUDA_TEXTURE_SEAMLESS_CUBEMAP : 0u)},
    };
    for (unsigned d = 0; d < 3; d++) {
        image.extent[d] = t->extent[d];
        image.modes.address[d] = (int)t->mode[d];
    }
    begin(b);
    return ended(b, cuda_views_add(b->images, &image, ret_handle, err));
}

/* Copies the contents of surfaces to their buffers. */
static int surfaces_fetch(struct backend *b, struct err *err) {
    if (!cuda_views_has_surface(b->images)) {
        return 0;
    }
    int r = cuda_views_fetch(b->images, err);
    return r < 0 ? r : cuda_context_wait(b->context, "copying a surface back", err);
}

/* --- launches --- */

/* The kernel's output, and in said the driver's messages. */
static void output_take(struct backend *b, struct buf *said) {
    uint64_t lost = 0;
    cuda_output_take(&b->printed, &lost, said);
    if (lost) {
        (void)buf_addf(&b->printed, "\n… and %" PRIu64 " bytes more\n", lost);
    }
}

/* Only a launch that ended in an assert has said something of one. */
static bool assert_add(struct backend *b, const char *label, const struct buf *said) {
    bool found = b->code == CUDA_ASSERT &&
                 cuda_assert_read(said->data, said->len, b->findings) > 0;
    if (found) {
        size_t last = json_array_size(b->findings) - 1;
        json_object_set_new(json_array_get(b->findings, last), "kernel",
                            json_clean_z(label));
    }
    return found;
}

static enum backend_end fault(struct backend *b, const struct backend_launch *launch) {
    autobuf said = BUF_INIT(CUDA_OUTPUT_KEPT);
    ended(b, -EIO);
    output_take(b, &said);
    if (cuda_code_is_foreign(b->code)) {
        return BACKEND_REFUSED; /* err has the code already */
    }
    if (!assert_add(b, launch->label, &said)) { /* else the driver has said it better */
        cuda_fault_add(b->findings, b->code, launch->label);
    }
    return BACKEND_FAULT;
}

/* Of a kernel that still runs: nothing of it can be read any more. */
static enum backend_end still_running(struct backend *b,
                                      const struct backend_launch *launch) {
    cuda_finding_add(
        b->findings, "unfinished", FINDING_WARNING, launch->label,
        "was still running when time ran out: an endless loop, a barrier that some "
        "threads never reach, or too much work");
    return BACKEND_STOPPED;
}

static void shape_of(struct cuda_shape *ret, const struct backend_launch *launch) {
    *ret = (struct cuda_shape){
        .entry = launch->entry,
        .label = launch->label,
        .shared_bytes = launch->shape.shared_bytes,
        .cooperative = launch->cooperative,
    };
    memcpy(ret->grid, launch->shape.grid, sizeof ret->grid);
    memcpy(ret->block, launch->shape.block, sizeof ret->block);
    memcpy(ret->cluster, launch->shape.cluster, sizeof ret->cluster);
}

static int launch_prepare(struct backend *b, const struct backend_launch *launch,
                          struct cuda_prepared *ret, struct err *err) {
    struct cuda_shape shape;
    shape_of(&shape, launch);
    return cuda_module_prepare(b->module, &shape, (void *)(uintptr_t)launch->params,
                               launch->param_bytes, ret, err);
}

/* The stream is empty, so this does not wait: it makes the driver hand out what kernels
 * printed. */
static int output_flush(struct backend *b, struct err *err) {
    struct cuda_context *c = b->context;
    return cuda_context_check(c, c->api->context_synchronize(), "the kernel", err);
}

static enum backend_end
cuda_launch(struct backend *b, const struct backend_launch *launch, struct err *err) {
    struct cuda_context *c = begin(b);
    struct cuda_prepared prepared;
    if (c->stopped) {
        return BACKEND_STOPPED;
    }
    if (ended(b, launch_prepare(b, launch, &prepared, err)) < 0) {
        return c->lost ? fault(b, launch) : BACKEND_REFUSED;
    }
    int filled = cuda_views_fill(b->images, err);
    int code = filled ? CUDA_OK : cuda_prepared_launch(&prepared, c->stream);
    if (ended(b, filled ? filled : cuda_context_check(c, code, "the launch", err)) < 0) {
        return c->lost ? fault(b, launch) : BACKEND_REFUSED;
    }
    int r = cuda_context_wait(c, "the kernel", err);
    if (r == -ECANCELED) {
        return still_running(b, launch);
    }
    int flushed = output_flush(b, r ? NULL : err);
    if (r < 0 || flushed < 0) { /* the work is done when only the latter failed */
        ended(b, -EIO);
        return r == 0 && !c->lost ? BACKEND_REFUSED : fault(b, launch);
    }
    if (surfaces_fetch(b, err) < 0) {
        ended(b, -EIO);
        return c->lost ? fault(b, launch) : BACKEND_REFUSED;
    }
    autobuf said = BUF_INIT(CUDA_OUTPUT_KEPT);
    output_take(b, &said);
    if (b->checks & SPEC_CHECK_MEMORY) {
        r = cuda_memory_check(b->memory, launch->label, b->findings, err);
    }
    return r < 0 ? fault(b, launch) : BACKEND_DONE;
}

static void cuda_stop(struct backend *b) {
    b->context->stopped = 1;
}

/* --- time --- */

/* A timed kernel prints the same again and again. */
static void output_drop(void) {
    autobuf printed = BUF_INIT(CUDA_OUTPUT_KEPT);
    autobuf said = BUF_INIT(CUDA_OUTPUT_KEPT);
    uint64_t lost;
    cuda_output_take(&printed, &lost, &said);
}

static int cuda_time(struct backend *b, const struct backend_timing *what, json_t **ret,
                     struct err *err) {
    autofree struct cuda_prepared *list = xcalloc(what->count + 1, sizeof *list);
    size_t count = 0;
    struct cuda_context *c = begin(b);
    int r = cuda_context_usable(c, err);
    for (; r == 0 && count < what->count; count++) {
        r = ended(b, launch_prepare(b, &what->launches[count], &list[count], err));
    }
    r = r ? r : ended(b, cuda_views_fill(b->images, err));
    r = r ? r : cuda_context_wait(c, "filling a texture", err);
    r = r ? r : cuda_timing(c, what, list, count, ret, &b->code, err);
    r = r ? r : ended(b, surfaces_fetch(b, err));
    output_drop();
    return r;
}

/* --- reports --- */

static json_t *cuda_findings(const struct backend *b, uint64_t *ret_omitted) {
    *ret_omitted = 0;
    return json_incref(b->findings);
}

static const char *cuda_printed(const struct backend *b) {
    return b->printed.data;
}

static uint64_t cuda_spent(const struct backend *) {
    return 0; /* a device counts no instructions */
}

const struct backend_class backend_cuda = {
    .kind = "cuda",
    .checks = SPEC_CHECK_MEMORY,
    .open = cuda_open,
    .close = cuda_close,
    .device = cuda_device_name,
    .alloc = cuda_alloc,
    .global = cuda_global,
    .write = cuda_write,
    .read = cuda_read,
    .unwritten = cuda_unwritten,
    .params = cuda_params,
    .image = cuda_image,
    .tensor_map = cuda_tensor_map,
    .launch = cuda_launch,
    .time = cuda_time,
    .device_facts = cuda_facts,
    .stop = cuda_stop,
    .trouble = cuda_trouble,
    .findings = cuda_findings,
    .printed = cuda_printed,
    .spent = cuda_spent,
};
