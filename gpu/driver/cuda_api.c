#include "gpu/driver/cuda_api.h"

#include "base/err.h"

#include <dlfcn.h>

struct symbol {
    const char *name;
    size_t offset; /* of the member of struct cuda_api */
    bool needed;
};
static const struct symbol symbols[] = {
#define CUDA_FUNCTION(member, symbol, needed, args)                                      \
    {#symbol, offsetof(struct cuda_api, member), needed},
#include "gpu/driver/cuda_functions.def"
#undef CUDA_FUNCTION
};

/* The functions of an opened library. */
static int symbols_find(struct cuda_api *ret, void *library, const char *path,
                        struct err *err) {
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function && symbols[i].needed) {
            return err_set(err, -ENOSYS, "%s lacks %s: the driver is older than CUDA 12",
                           path, symbols[i].name);
        }
        memcpy((char *)ret + symbols[i].offset, &function, sizeof function);
    }
    return 0;
}

int cuda_api_load(const struct cuda_api **ret, const char *path, struct err *err) {
    static struct cuda_api api;
    static bool loaded;
    const char *name = path ? path : "libcuda.so.1";
    if (!loaded) {
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            const char *why = dlerror();
            return err_set(err, -ENOENT,
                           "no CUDA driver: %.300s (libcuda.so.1 comes with NVIDIA's "
                           "driver)",
                           why ? why : name);
        }
        int r = symbols_find(&api, library, name, err);
        if (r < 0) {
            return r;
        }
        loaded = true;
    }
    *ret = &api;
    return 0;
}
