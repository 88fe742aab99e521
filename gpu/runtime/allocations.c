/* allocations: cudaMalloc and its like, and what frees them. */
#include "gpu/runtime/allocations.h"

#include "gpu/runtime/advice.h"
#include "gpu/runtime/api.h"
#include "gpu/runtime/graph_memory.h"
#include "gpu/runtime/host_access.h"
#include "gpu/runtime/leaks.h"
#include "gpu/runtime/reuse.h"
#include "gpu/runtime/unseen.h"

#define PITCH 512u

/* ---- making ---- */

struct allocation_making {
    const char *name;
    uint64_t bytes;
    unsigned flags;
    struct allocation *again, *made; /* again: of an earlier round, or NULL */
};

static struct allocation *made(const struct allocation_making *m) {
    if (!m->again) {
        return device_memory_new(&runtime.device, m->name, m->bytes, m->flags);
    }
    bool renewed = unseen_renew(m->again) ||
                   memory_renew(&runtime.device.memory, m->again) == 0;
    return renewed ? m->again : NULL;
}

static int make_run(void *of) {
    struct allocation_making *m = of;
    m->made = made(m);
    if (!m->made && unseen_holds()) { /* its room */
        unseen_settle();
        m->made = made(m);
    }
    return 0;
}

/* While kernels run the table may only grow at its end: not where the host's own memory
 * stands behind. */
static bool needs_turn(void) {
    struct memory *m = &runtime.device.memory;
    pthread_mutex_lock(&m->lock);
    bool needs = m->count && m->table[m->count - 1]->address > m->next;
    pthread_mutex_unlock(&m->lock);
    return needs;
}

static cudart_error allocate(void **ret, const char *name, size_t bytes, unsigned flags) {
    NEED(ret);
    if (bytes == 0) {
        *ret = NULL;
        return CUDART_SUCCESS;
    }
    struct host_site site;
    host_site_take(&site);
    struct allocation_making m = {name, bytes, flags | DEVICE_ASKED, NULL, NULL};
    m.again = reuse_take(&site, bytes, m.flags);
    cudart_error code =
        m.again || unseen_holds() || needs_turn() ? queue_do(&runtime.device.queue, make_run, &m) : make_run(&m);
    struct allocation *a = m.made;
    if (code) {
        return code;
    }
    if (!a) {
        return explain(CUDART_OUT_OF_MEMORY,
                       "%zu bytes beside the %llu in use: the device has %llu", bytes,
                       (unsigned long long)runtime.device.memory.used,
                       (unsigned long long)runtime.device.memory.limit);
    }
    if (!m.again) {
        allocation_note(a, &site);
    }
    order_fence();
    *ret = (void *)(uintptr_t)a->address;
    return CUDART_SUCCESS;
}

static unsigned device_flags(void) {
    return runtime.device.settings.checks & MACHINE_CHECK_INITIALIZED
               ? MACHINE_UNINITIALIZED
               : 0;
}

cudart_error allocate_device(void **ret, size_t bytes) {
    return allocate(ret, "device memory", bytes, device_flags());
}

static int take_run(void *of) {
    graph_memory_take(of);
    return CUDART_SUCCESS;
}

cudart_error allocate_of_graph(struct allocation **ret, size_t bytes) {
    void *address = NULL;
    cudart_error code =
        bytes ? allocate(&address, "device memory", bytes, device_flags() | DEVICE_RETURNS)
              : explain(CUDART_INVALID_VALUE, "a node that allocates 0 bytes");
    *ret = code ? NULL : device_memory_at(&runtime.device, (uintptr_t)address, bytes);
    return code ? code : queue_do(&runtime.device.queue, take_run, *ret);
}

/* Which bytes kernels write is asked of memory that the host sees. */
#define MOST_FOLLOWED (UINT64_C(1) << 30)

static cudart_error allocate_mapped(void **ret, const char *name, size_t bytes,
                                    unsigned kind) {
    order_begin();
    return allocate(ret, name, bytes,
                    DEVICE_MAPPED | kind | (bytes <= MOST_FOLLOWED ? MACHINE_OUTPUT : 0));
}

static cudart_error allocate_pinned(void **ret, size_t bytes) {
    return allocate_mapped(ret, "pinned host memory", bytes, DEVICE_PINNED);
}

static cudart_error allocate_pitched(void **ret, size_t *ret_pitch, size_t width,
                                     size_t height, size_t depth) {
    NEED(ret_pitch);
    size_t pitch = (width + PITCH - 1) / PITCH * PITCH, rows = height * depth;
    if (pitch < width || (rows && pitch > SIZE_MAX / rows)) {
        return explain(CUDART_OUT_OF_MEMORY, "the size of the allocation overflows");
    }
    *ret_pitch = pitch;
    return allocate_device(ret, pitch * rows);
}

EXPORT cudart_error cudaMalloc(void **ret, size_t bytes) {
    RETURN(allocate_device(ret, bytes));
}
EXPORT cudart_error cudaMallocManaged(void **ret, size_t bytes, unsigned) {
    cudart_error code =
        bytes == 0 ? explain(CUDART_INVALID_VALUE, "0 bytes of managed memory")
                   : allocate_mapped(ret, "managed memory", bytes, DEVICE_MANAGED);
    if (!code) {
        advice_forget((uintptr_t)*ret, bytes);
    }
    RETURN(code);
}
EXPORT cudart_error cudaMallocHost(void **ret, size_t bytes) {
    RETURN(allocate_pinned(ret, bytes));
}
EXPORT cudart_error cudaHostAlloc(void **ret, size_t bytes, unsigned) {
    RETURN(allocate_pinned(ret, bytes));
}
EXPORT cudart_error cudaMallocPitch(void **ret, size_t *ret_pitch, size_t width,
                                    size_t height) {
    RETURN(allocate_pitched(ret, ret_pitch, width, height, 1));
}
EXPORT cudart_error cudaMalloc3D(struct cudart_pitched *ret,
                                 struct cudart_extent extent) {
    void *address = NULL;
    size_t pitch = 0;
    cudart_error code =
        allocate_pitched(&address, &pitch, extent.width, extent.height, extent.depth);
    if (!code) {
        *ret = (struct cudart_pitched){address, pitch, extent.width, extent.height};
    }
    RETURN(code);
}

/* ---- freeing ---- */

static cudart_error tell_wrong(const struct freeing *f, const struct allocation *a,
                               const char *what) {
    struct host_site site;
    struct allocation_life life;
    host_site_take(&site);
    report_finding_between("invalid_free", &site, a ? allocation_others(a, &life) : NULL,
                           "%s(0x%llx): %s", f->function, (unsigned long long)f->address,
                           what);
    return explain(CUDART_INVALID_VALUE, "%s", what);
}

const char *allocation_freer(const struct allocation *a) {
    return a->flags & DEVICE_REGISTERED ? "cudaHostUnregister releases it"
           : a->flags & DEVICE_PINNED   ? "cudaFreeHost frees it"
                                        : "cudaFree frees it";
}

static const char *whose(const struct memory *m, uint64_t address) {
    return m->bytes->is_hosts(address)
               ? "this pointer is not one that the runtime gave out, but one to the host's "
                 "own memory"
               : "this pointer is not one that the runtime gave out";
}

static cudart_error check_free(const struct freeing *f) {
    const struct allocation *a = memory_find(&runtime.device.memory, f->address);
    const unsigned pinned = DEVICE_PINNED | DEVICE_REGISTERED;
    if (!a || !(a->flags & DEVICE_ASKED)) {
        return tell_wrong(f, a, whose(&runtime.device.memory, f->address));
    }
    if (a->address != f->address) {
        return tell_wrong(f, a, "this pointer lies inside an allocation, not at its start");
    }
    if (a->flags & DEVICE_RETURNS ? !graph_memory_lives(a) : a->freed) {
        return tell_wrong(f, a, "this allocation has been freed before");
    }
    if (f->kinds ? !(a->flags & f->kinds) : (a->flags & pinned) != 0) {
        char what[320];
        (void)snprintf(what, sizeof what, "this is %s: %s", a->name, allocation_freer(a));
        return tell_wrong(f, a, what);
    }
    return CUDART_SUCCESS;
}

/* Streams that are not waited for may still use what is freed in one of them. */
static int free_run(void *of) {
    const struct freeing *f = of;
    struct allocation *a = memory_find(&runtime.device.memory, f->address);
    bool returns = a->flags & DEVICE_RETURNS;
    if (returns) {
        unseen_settle();
    } else if (unseen_free(a)) {
        return CUDART_SUCCESS;
    }
    if (device_memory_free(&runtime.device, f->address)) {
        return CUDART_INVALID_VALUE;
    }
    if (!returns && !device_is_mapped(&runtime.device, a) &&
        (f->waits || !order_is_on())) {
        reuse_freed(a);
    }
    return CUDART_SUCCESS;
}

/* Waits for all that was asked before, as CUDA does. */
cudart_error release(struct freeing f) {
    if (f.address == 0) {
        cudart_error done = queue_wait_all(&runtime.device.queue);
        host_access_waited(NULL);
        return done;
    }
    if (f.waits) {
        (void)queue_wait_all(&runtime.device.queue);
        host_access_waited(NULL);
    }
    struct host_site site;
    host_site_take(&site);
    pthread_mutex_lock(&runtime.device.memory.lock);
    cudart_error code = check_free(&f);
    if (!code) {
        struct allocation *a = memory_find(&runtime.device.memory, f.address);
        allocation_note_free(a, &site);
        graph_memory_ends(a);
    }
    pthread_mutex_unlock(&runtime.device.memory.lock);
    return code ? code : queue_do(&runtime.device.queue, free_run, &f);
}

EXPORT cudart_error cudaFree(void *address) {
    RETURN(release((struct freeing){(uintptr_t)address, 0, __func__, true}));
}
EXPORT cudart_error cudaFreeHost(void *address) {
    RETURN(release((struct freeing){(uintptr_t)address, DEVICE_PINNED, __func__, true}));
}

/* Of what the program asked for nothing stays. */
static int reset_run(void *of) {
    struct memory *m = of;
    unseen_drop();
    for (uint32_t k = 0; k < m->count; k++) {
        if (!m->table[k]->freed && m->table[k]->flags & DEVICE_ASKED) {
            (void)memory_release(m, m->table[k]->address);
        }
    }
    return CUDART_SUCCESS;
}

EXPORT cudart_error cudaDeviceReset(void) {
    (void)queue_wait_all(&runtime.device.queue);
    host_access_waited(NULL);
    queue_forgive(&runtime.device.queue);
    RETURN(queue_do(&runtime.device.queue, reset_run, &runtime.device.memory));
}

/* ---- the host's own memory ---- */

struct registering {
    void *host;
    size_t bytes;
};

static int register_run(void *of) {
    const struct registering *r = of;
    struct allocation *a = device_memory_register(&runtime.device, r->host, r->bytes);
    if (a) {
        a->flags |= DEVICE_ASKED;
    }
    return a ? CUDART_SUCCESS : CUDART_ALREADY_REGISTERED;
}

EXPORT cudart_error cudaHostRegister(void *host, size_t bytes, unsigned) {
    struct registering r = {host, bytes};
    RETURN(host && bytes ? queue_do(&runtime.device.queue, register_run, &r)
                         : CUDART_INVALID_VALUE);
}
EXPORT cudart_error cudaHostUnregister(void *host) {
    RETURN(release((struct freeing){(uintptr_t)host, DEVICE_REGISTERED, __func__, true}));
}

/* ---- what an address is ---- */

static struct allocation *holder_of(const void *address) {
    pthread_mutex_lock(&runtime.device.memory.lock);
    struct allocation *a = memory_find(&runtime.device.memory, (uintptr_t)address);
    pthread_mutex_unlock(&runtime.device.memory.lock);
    return a && !a->freed ? a : NULL;
}

EXPORT cudart_error cudaHostGetDevicePointer(void **ret, void *host, unsigned) {
    const struct allocation *a = holder_of(host);
    if (a && a->flags & DEVICE_MAPPED) {
        *ret = host;
        RETURN(CUDART_SUCCESS);
    }
    RETURN(explain(CUDART_INVALID_VALUE,
                   "the pointer does not point to pinned or registered host memory"));
}

EXPORT cudart_error cudaHostGetFlags(unsigned *ret, void *host) {
    const struct allocation *a = holder_of(host);
    *ret = 2; /* mapped */
    RETURN(a && a->flags & DEVICE_MAPPED ? CUDART_SUCCESS : CUDART_INVALID_VALUE);
}

EXPORT cudart_error cudaPointerGetAttributes(struct cudart_pointer_attributes *ret,
                                             const void *address) {
    const struct allocation *a = holder_of(address);
    void *same = (void *)(uintptr_t)address;
    *ret = (struct cudart_pointer_attributes){.device = a ? 0 : -2, .host_pointer = same};
    if (a) {
        bool mapped = a->flags & DEVICE_MAPPED;
        ret->type = a->flags & DEVICE_MANAGED ? 3 : mapped ? 1 : 2;
        ret->device_pointer = same;
        ret->host_pointer = mapped ? same : NULL;
    }
    RETURN(CUDART_SUCCESS);
}

EXPORT cudart_error cudaMemGetInfo(size_t *ret_free, size_t *ret_total) {
    const struct memory *m = &runtime.device.memory;
    if (ret_total) {
        *ret_total = m->limit;
    }
    if (ret_free) {
        *ret_free = m->limit - m->used;
    }
    RETURN(CUDART_SUCCESS);
}
