#include "gpu/draft/draft_kernels.h"
#include "base/find.h"

#include "gpu/source/host_parameters.h"

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

/* "template <> … k<float>(…)": one of the template's own forms, named as they are. */
static bool is_specialised(const struct host_program *p, const struct declaration *k) {
    struct template_parameters of = {.bad = true};
    if (k->has_template) {
        template_parameters_read(&p->b.tokens, k, &of);
    }
    return !of.bad && !of.count;
}

bool draft_kernel_overloaded(const struct host_program *p,
                             const struct declaration *kernel) {
    const struct declaration *list[DRAFT_KERNELS_MAX];
    size_t count = draft_kernels(p, list, DRAFT_KERNELS_MAX);
    autofree char *name = host_qualified_name(&p->b.tokens, &p->b.declarations, kernel);
    for (size_t i = 0; i < count && !is_specialised(p, kernel); i++) {
        autofree char *other =
            host_qualified_name(&p->b.tokens, &p->b.declarations, list[i]);
        if (list[i] != kernel && !is_specialised(p, list[i]) && !strcmp(name, other)) {
            return true;
        }
    }
    return false;
}

bool draft_has_main(const struct host_program *p) {
    return list_any(d, p->b.declarations.list, p->b.declarations.count,
                    d->kind == DECLARATION_FUNCTION && d->body && d->name &&
                        code_token_is(&p->b.tokens, d->name, "main"));
}
