#include "gpu/runtime/constants.h"

#include "base/find.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/runtime.h"

static struct {
    pthread_mutex_t lock;
    const struct allocation **unset;
    size_t count, room; /* count: atomic for a first look */
} constants = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_without_contents(const struct ptx_variable *v) {
    return v->space == PTX_CONST && v->used && !v->initialiser && v->function < 0 &&
           !v->relocation_count;
}

void constants_add(struct module *m) {
    list_each(k, v, m->ptx->variables, m->ptx->variable_count) {
        const struct allocation *a =
            is_without_contents(v) ? module_variable(m, v->name) : NULL;
        if (a) {
            pthread_mutex_lock(&constants.lock);
            list_room(constants.unset, constants.count, constants.room, 16);
            constants.unset[constants.count] = a;
            __atomic_store_n(&constants.count, constants.count + 1, __ATOMIC_RELEASE);
            pthread_mutex_unlock(&constants.lock);
        }
    }
}

/* The lock is held. */
static void drop(size_t at) {
    constants.unset[at] = constants.unset[constants.count - 1];
    __atomic_store_n(&constants.count, constants.count - 1, __ATOMIC_RELEASE);
}

static bool any(void) {
    return __atomic_load_n(&constants.count, __ATOMIC_ACQUIRE) != 0;
}

void constant_set(const struct allocation *a) {
    if (!any() || !a || a->kind != MEMORY_CONSTANT) {
        return;
    }
    pthread_mutex_lock(&constants.lock);
    for (size_t k = constants.count; k-- > 0;) {
        if (constants.unset[k] == a) {
            drop(k);
        }
    }
    pthread_mutex_unlock(&constants.lock);
}

void constants_after(const struct kernel *k, const struct host_site *site) {
    if (!any()) {
        return;
    }
    pthread_mutex_lock(&constants.lock);
    for (size_t n = constants.count; n-- > 0;) {
        const struct allocation *a = constants.unset[n];
        if (a->read_in == runtime.device.memory.launch) {
            report_unset_constant(a->name, k->entry->name, site);
            drop(n);
        }
    }
    pthread_mutex_unlock(&constants.lock);
}
