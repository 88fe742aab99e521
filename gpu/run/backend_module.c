#include "gpu/run/backend_module.h"

int module_params(const struct ptx_module *module, const char *entry,
                  struct kernel_param *ret, size_t max, size_t *ret_block_bytes) {
    const struct ptx_function *f = ptx_find_entry(module, entry);
    if (!f) {
        return -ENOENT;
    }
    for (uint32_t i = 0; i < f->param_count && i < max; i++) {
        const struct ptx_variable *v = &module->variables[f->params[i]];
        ret[i] = (struct kernel_param){.offset = v->offset, .bytes = v->size};
    }
    *ret_block_bytes = f->param_bytes;
    return (int)f->param_count;
}

/* One byte of any meaning is U8, which is 0. */
enum tensor_blob_type module_map_type(enum tensor_type type) {
    static const enum tensor_blob_type types[TENSOR_TYPES] = {
        [TENSOR_UINT16] = TENSOR_BLOB_U16,  [TENSOR_INT16] = TENSOR_BLOB_U16,
        [TENSOR_UINT32] = TENSOR_BLOB_U32,  [TENSOR_INT32] = TENSOR_BLOB_S32,
        [TENSOR_UINT64] = TENSOR_BLOB_U64,  [TENSOR_INT64] = TENSOR_BLOB_S64,
        [TENSOR_FLOAT16] = TENSOR_BLOB_F16, [TENSOR_FLOAT32] = TENSOR_BLOB_F32,
        [TENSOR_FLOAT64] = TENSOR_BLOB_F64, [TENSOR_BFLOAT16] = TENSOR_BLOB_BF16,
    };
    return types[type];
}
