/* driver_modules: modules that the program loads, their kernels and variables, and
 * launches. */
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "gpu/runtime/driver_api.h"

#define MAX_IMAGE (64u << 20)

/* ---- modules ---- */

static cudart_error load(struct fatbin_part **ret, const void *image) {
    NEED(ret && image);
    return registered_load(image, ret);
}

EXPORT int cuModuleLoad(struct fatbin_part **ret, const char *path) {
    autobuf image = BUF_INIT(MAX_IMAGE);
    struct err err = {0};
    NEED(path);
    if (file_read(path, &image, &err) || buf_add(&image, "\0\0\0\0", 4)) {
        RETURN(explain(CUDART_FILE_NOT_FOUND, "%.200s", err.msg));
    }
    RETURN(load(ret, image.data));
}

EXPORT int cuModuleLoadData(struct fatbin_part **ret, const void *image) {
    RETURN(load(ret, image));
}

/* The options are a compiler's: what it would do better or say. */
EXPORT int cuModuleLoadDataEx(struct fatbin_part **ret, const void *image, unsigned,
                              int *, void **) {
    RETURN(load(ret, image));
}

EXPORT int cuModuleLoadFatBinary(struct fatbin_part **ret, const void *image) {
    RETURN(load(ret, image));
}

EXPORT int cuModuleUnload(struct fatbin_part *p) {
    NEED(p);
    __cudaUnregisterFatBinary((void **)p);
    RETURN(CUDART_SUCCESS);
}

EXPORT int cuModuleGetFunction(const void **ret, struct fatbin_part *p,
                               const char *name) {
    NEED(ret && p && name);
    RETURN(registered_in(p, name, ret));
}

EXPORT int cuModuleGetGlobal_v2(uint64_t *ret, size_t *ret_bytes, struct fatbin_part *p,
                                const char *name) {
    struct allocation *a = NULL;
    NEED(p && name);
    cudart_error code = registered_variable_in(p, name, &a);
    if (!code && ret) {
        *ret = a->address;
    }
    if (!code && ret_bytes) {
        *ret_bytes = a->bytes;
    }
    RETURN(code);
}

/* ---- linking ---- */

enum { INPUT_PTX = 1 }; /* CU_JIT_INPUT_PTX */

struct linking {
    struct buf text; /* of all parts, which registered_load reads as one */
};

EXPORT int cuLinkCreate_v2(unsigned, int *, void **, struct linking **ret) {
    NEED(ret);
    *ret = xcalloc(1, sizeof **ret);
    (*ret)->text = (struct buf)BUF_INIT(MAX_IMAGE);
    RETURN(CUDART_SUCCESS);
}

static cudart_error part_join(struct linking *l, int kind, const char *text,
                              size_t bytes) {
    if (kind != INPUT_PTX) {
        return explain(CUDART_NO_KERNEL_IMAGE,
                       "only PTX can be linked here: it is executed as it is");
    }
    return buf_add(&l->text, text, strnlen(text, bytes)) || buf_add(&l->text, "\n", 1)
               ? explain(CUDART_INVALID_PTX, "PTX of more than 64 MiB")
               : CUDART_SUCCESS;
}

EXPORT int cuLinkAddData_v2(struct linking *l, int kind, void *data, size_t bytes,
                            const char *, unsigned, int *, void **) {
    NEED(l && data);
    RETURN(part_join(l, kind, data, bytes));
}

EXPORT int cuLinkAddFile_v2(struct linking *l, int kind, const char *path, unsigned,
                            int *, void **) {
    autobuf image = BUF_INIT(MAX_IMAGE);
    struct err err = {0};
    NEED(l && path);
    RETURN(file_read(path, &image, &err)
               ? explain(CUDART_FILE_NOT_FOUND, "%.200s", err.msg)
               : part_join(l, kind, image.data, image.len));
}

/* The image lives with l, as NVIDIA's does; it is the joined PTX. */
EXPORT int cuLinkComplete(struct linking *l, void **ret, size_t *ret_bytes) {
    NEED(l && ret);
    if (buf_add(&l->text, "\0\0\0\0", 4)) {
        RETURN(explain(CUDART_INVALID_PTX, "PTX of more than 64 MiB"));
    }
    *ret = l->text.data;
    if (ret_bytes) {
        *ret_bytes = l->text.len;
    }
    RETURN(CUDART_SUCCESS);
}

EXPORT int cuLinkDestroy(struct linking *l) {
    NEED(l);
    buf_finish(&l->text);
    free(l);
    RETURN(CUDART_SUCCESS);
}

/* ---- kernels ---- */

/* The largest of the blocks with which most threads stand on a multiprocessor, and how
 * many of them fill the device. */
static cudart_error occupancy_best(int *ret_grid, int *ret_block, const void *function,
                                   size_t (*shared_of)(int), size_t shared, int limit) {
    struct kernel *k;
    int processors = 0, most = 0;
    NEED(ret_grid && ret_block);
    cudart_error code = registered_kernel(function, &k);
    code = code ? code : cudaDeviceGetAttribute(&processors, 16, 0);
    int threads = code ? 0 : k->max_threads;
    threads = limit > 0 && limit < threads ? limit : threads;
    for (; !code && threads > 0; threads = (threads - 1) / 32 * 32) {
        int blocks = 0;
        size_t bytes = shared_of ? shared_of(threads) : shared;
        code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, threads,
                                                             bytes);
        if (!code && blocks * threads > most) {
            most = blocks * threads;
            *ret_block = threads;
            *ret_grid = blocks * processors;
        }
    }
    return code;
}

EXPORT int cuOccupancyMaxPotentialBlockSize(int *ret_grid, int *ret_block,
                                            const void *function,
                                            size_t (*shared_of)(int), size_t shared,
                                            int limit) {
    RETURN(occupancy_best(ret_grid, ret_block, function, shared_of, shared, limit));
}

/* In the order of CU_FUNC_ATTRIBUTE_…: threads, shared, constant and local bytes,
 * registers, versions. */
static cudart_error attribute_get(int *ret, int attribute, const void *function) {
    struct cudart_function_attributes a;
    NEED(ret);
    cudart_error code = cudaFuncGetAttributes(&a, function);
    if (code) {
        return code;
    }
    const int values[] = {a.max_threads,         (int)a.shared_bytes,
                          (int)a.constant_bytes, (int)a.local_bytes,
                          a.registers,           a.ptx_version,
                          a.binary_version,      0,
                          a.max_dynamic_shared};
    if (attribute < 0 || (size_t)attribute >= ARRAY_LEN(values)) {
        return explain(CUDART_INVALID_VALUE, "the attribute %d is not there", attribute);
    }
    *ret = values[attribute];
    return CUDART_SUCCESS;
}

EXPORT int cuFuncGetAttribute(int *ret, int attribute, const void *function) {
    RETURN(attribute_get(ret, attribute, function));
}

/* A library is a module, and a kernel of it a function. */
EXPORT int cuKernelGetFunction(const void **ret, const void *kernel) {
    NEED(ret && kernel);
    *ret = kernel;
    RETURN(CUDART_SUCCESS);
}

EXPORT int cuKernelSetAttribute(int attribute, int value, const void *kernel, int) {
    return cudaFuncSetAttribute(kernel, attribute, value);
}

/* ---- launches ---- */

enum { EXTRA_END, EXTRA_BUFFER, EXTRA_BYTES }; /* CU_LAUNCH_PARAM_… */

/* Pointers to each parameter in a buffer of all; to be freed. NULL: it is too short. */
static void **params_of(const struct kernel *k, void **extra) {
    uint8_t *buffer = NULL;
    size_t bytes = 0;
    for (unsigned n = 0; n < 4 && extra[n] != (void *)EXTRA_END; n += 2) {
        buffer = extra[n] == (void *)EXTRA_BUFFER ? extra[n + 1] : buffer;
        bytes = extra[n] == (void *)EXTRA_BYTES ? *(size_t *)extra[n + 1] : bytes;
    }
    void **params = xcalloc(k->entry->param_count + 1u, sizeof *params);
    for (uint32_t n = 0; n < k->entry->param_count; n++) {
        const struct ptx_variable *v = &k->module->ptx->variables[k->entry->params[n]];
        if (!buffer || v->offset + v->size > bytes) {
            free(params);
            return NULL;
        }
        params[n] = buffer + v->offset;
    }
    return params;
}

EXPORT int cuLaunchKernel(const void *function, unsigned grid_x, unsigned grid_y,
                          unsigned grid_z, unsigned block_x, unsigned block_y,
                          unsigned block_z, unsigned shared, struct stream *s,
                          void **params, void **extra) {
    struct kernel *k = NULL;
    cudart_error code = registered_kernel(function, &k);
    void **made = !code && !params && extra ? params_of(k, extra) : NULL;
    params = params ? params : made;
    if (!code && !params && k->entry->param_count) {
        code = explain(CUDART_INVALID_VALUE,
                       "the kernel has %u parameters: too few are given",
                       k->entry->param_count);
    }
    if (code) {
        RETURN(code);
    }
    code = cudaLaunchKernel(function, (struct dim3){grid_x, grid_y, grid_z},
                            (struct dim3){block_x, block_y, block_z}, params, shared, s);
    free(made);
    return code;
}

EXPORT int cuLaunchCooperativeKernel(const void *function, unsigned grid_x,
                                     unsigned grid_y, unsigned grid_z, unsigned block_x,
                                     unsigned block_y, unsigned block_z, unsigned shared,
                                     struct stream *s, void **params) {
    return cudaLaunchCooperativeKernel(function, (struct dim3){grid_x, grid_y, grid_z},
                                       (struct dim3){block_x, block_y, block_z}, params,
                                       shared, s);
}
