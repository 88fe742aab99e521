#include "gpu/draft/draft_kernels.h"

#include "base/mem.h"

#include <string.h>

size_t draft_kernels(const struct host_program *p, const struct declaration **ret,
                     size_t max) {
    size_t count = 0;
    for (size_t i = 0; i < p->b.declarations.count && count < max; i++) {
        const struct declaration *k = &p->b.declarations.list[i];
        if (k->kind == DECLARATION_FUNCTION && k->has_global && k->name && k->body &&
            p->active[k->name]) {
            ret[count++] = k;
        }
    }
    return count;
}

bool draft_kernel_overloaded(const struct host_program *p,
                             const struct declaration *kernel) {
    const struct declaration *list[DRAFT_KERNELS_MAX];
    size_t count = draft_kernels(p, list, DRAFT_KERNELS_MAX);
    autofree char *name = host_qualified_name(&p->b.tokens, &p->b.declarations, kernel);
    for (size_t i = 0; i < count; i++) {
        autofree char *other =
            host_qualified_name(&p->b.tokens, &p->b.declarations, list[i]);
        if (list[i] != kernel && !strcmp(name, other)) {
            return true;
        }
    }
    return false;
}
