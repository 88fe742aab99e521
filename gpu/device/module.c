#include "gpu/device/module.h"

#include "base/find.h"
#include "gpu/ptx/machine/entry_reach.h"

#define DEFAULT_SHARED (48 << 10)
#define MAX_PRINTED ((size_t)64 << 20)

/* ---- kernels ---- */

static int threads_of(const uint32_t v[3]) {
    return v[0] ? (int)(v[0] * (v[1] ? v[1] : 1) * (v[2] ? v[2] : 1)) : 1024;
}

static void kernels_find(struct module *m) {
    m->kernels = xcalloc(m->ptx->function_count + 1u, sizeof *m->kernels);
    list_each(n, f, m->ptx->functions, m->ptx->function_count) {
        struct kernel *k = &m->kernels[n];
        if (!f->is_entry || f->is_declaration) {
            continue;
        }
        k->module = m;
        k->entry = f;
        k->static_shared = entry_static_shared(m->ptx, n);
        k->max_threads = threads_of(f->reqntid[0] ? f->reqntid : f->maxntid);
        k->max_dynamic = k->static_shared < DEFAULT_SHARED
                             ? DEFAULT_SHARED - (int)k->static_shared
                             : 0;
    }
}

struct kernel *module_kernel(struct module *m, const char *name) {
    return list_find(one, m->kernels, m->ptx->function_count,
                     one->entry && strcmp(one->entry->name, name) == 0);
}

int kernel_prepare(struct kernel *k, json_t **ret_unsupported, struct err *err) {
    int rc = k->ready ? 0
                      : machine_prepare(k->module->machine, k->entry->name,
                                        ret_unsupported, err);
    k->ready = rc == 0;
    return rc;
}

void kernel_pack(const struct kernel *k, void *const *params, uint8_t *ret) {
    for (uint32_t n = 0; n < k->entry->param_count; n++) {
        const struct ptx_variable *v = &k->module->ptx->variables[k->entry->params[n]];
        memcpy(ret + v->offset, params[n], v->size);
    }
}

enum machine_end kernel_launch(struct kernel *k, const struct launch_shape *shape,
                               const void *params, struct err *err) {
    struct machine_launch launch = {.entry = k->entry->name,
                                    .dynamic_shared = shape->shared_bytes,
                                    .cooperative = shape->cooperative,
                                    .params = params,
                                    .param_bytes = k->entry->param_bytes};
    memcpy(launch.grid, shape->grid, sizeof launch.grid);
    memcpy(launch.block, shape->block, sizeof launch.block);
    memcpy(launch.cluster, shape->cluster, sizeof launch.cluster);
    return machine_launch(k->module->machine, &launch, err);
}

/* ---- variables ---- */

struct allocation *module_variable(struct module *m, const char *name) {
    uint64_t address, bytes;
    void *host;
    if (machine_global(m->machine, name, &address, &bytes, &host) == 0) {
        return memory_find(&m->device->memory, address);
    }
    return NULL;
}

/* ---- life ---- */

int module_new(struct module **ret, struct device *d, const char *text, size_t len,
               struct err *err) {
    static const char *const none[] = {NULL};
    struct ptx_module *ptx = NULL;
    int rc = ptx_module_read_whole(&ptx, text, len, err);
    if (rc) {
        return rc;
    }
    const struct machine_config config = {.space = &d->space,
                                          .checks = d->settings.checks,
                                          .threads = d->settings.threads,
                                          .instructions = d->settings.instructions,
                                          .max_printf = MAX_PRINTED};
    struct machine *machine = NULL;
    rc = machine_new(&machine, ptx, none, &config, NULL, err);
    if (rc) {
        ptx_module_free(ptx);
        return rc;
    }
    struct module *m = xcalloc(1, sizeof *m);
    *m = (struct module){.device = d, .ptx = ptx, .machine = machine};
    kernels_find(m);
    *ret = m;
    return 0;
}
