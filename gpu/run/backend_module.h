#pragma once
/* backend_module: reads a module's PTX and tensor maps for both backends. */
#include "gpu/ptx/read/module.h"
#include "gpu/ptx/state/tensor_blob.h"
#include "gpu/run/backend.h"

/* As backend_class.params. */
int module_params(const struct ptx_module *module, const char *entry,
                  struct kernel_param *ret, size_t max, size_t *ret_block_bytes);
/* The type's number in a CUtensorMap. */
enum tensor_blob_type module_map_type(enum tensor_type type);
