/* virtual_memory: device memory whose addresses and bytes the program joins itself.
 *
 * A reservation has one mapping in this process; memory that is mapped to a part of it is
 * mapped there, too. What lies side by side with the same access is one allocation of
 * the table, so a kernel or copy may cross the border of two mappings. The rest of a
 * reservation are allocations that nobody may use, and which say why. */
#include "gpu/runtime/driver_api.h"
#include "gpu/runtime/leaks.h"
#include "gpu/runtime/unseen.h"

#include <sys/mman.h>

#define GRANULARITY (UINT64_C(2) << 20) /* an H100's */

struct physical { /* of cuMemCreate; its address is the handle */
    struct physical *next;
    struct memory_properties properties;
    uint64_t bytes;
    uint8_t *host;
    uint8_t *shadow; /* of the bytes while they are not mapped; NULL: nothing is written */
    unsigned handles, mappings;
    bool is_double; /* it was mapped twice at a time: all bytes count as written */
};

enum permission { ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_WRITE = 3 }; /* CUmemAccess_flags */

struct piece { /* of a reservation: a mapping */
    uint64_t address, bytes;
    struct physical *of;
    enum permission access;
};

struct reservation {
    struct reservation *next;
    uint64_t address, bytes;
    uint8_t *host;
    uint8_t *shadow; /* NULL: nobody asks what is written */
    struct piece *pieces; /* by address */
    size_t count, room;
};

/* The queue's turn. */
static struct physical *physicals;
static struct reservation *reservations;

/* ---- what there is ---- */

static struct physical *physical_find(uint64_t handle) {
    struct physical *p = physicals;
    while (p && (uintptr_t)p != handle) {
        p = p->next;
    }
    return p && p->handles ? p : NULL;
}

static struct reservation *reservation_find(uint64_t address, uint64_t bytes) {
    struct reservation *r = reservations;
    while (r && (address < r->address || address - r->address >= r->bytes ||
                 bytes > r->bytes - (address - r->address))) {
        r = r->next;
    }
    return r;
}

/* Operations may be executed by another thread than that which is told why. */
struct wish { /* of a call */
    uint64_t address, bytes, align, handle, result;
    const struct memory_properties *properties;
    enum permission access;
    struct host_site site;
    const char *why;
};

static cudart_error ask(int (*run)(void *), struct wish *a) {
    cudart_error code = queue_do(&runtime.device.queue, run, a);
    return code && a->why ? explain(code, "%s", a->why) : code;
}

static int wrong(struct wish *a, const char *why) {
    a->why = why;
    return CUDART_INVALID_VALUE;
}

#define NO_HANDLE "the handle is not one of cuMemCreate, or it was released"
#define NOTHING_THERE "nothing is mapped at this address"
#define NOT_WHOLE "the range does not consist of whole mappings (cuMemMap)"

static cudart_error sizes_check(uint64_t address, uint64_t bytes) {
    return bytes && bytes % GRANULARITY == 0 && address % GRANULARITY == 0
               ? CUDART_SUCCESS
               : explain(CUDART_INVALID_VALUE,
                         "addresses and sizes are multiples of %llu bytes "
                         "(cuMemGetAllocationGranularity)",
                         (unsigned long long)GRANULARITY);
}

/* Pieces that make up the range without a rest: *ret_first and as many as are returned.
 * 0: it begins or ends inside of one, or a part of it is not mapped. */
static size_t pieces_of(const struct reservation *r, uint64_t address, uint64_t bytes,
                        size_t *ret_first) {
    size_t first = 0;
    uint64_t at = address;
    while (first < r->count && r->pieces[first].address < address) {
        first++;
    }
    size_t k = first;
    while (k < r->count && r->pieces[k].address == at && at < address + bytes) {
        at += r->pieces[k++].bytes;
    }
    *ret_first = first;
    return at == address + bytes ? k - first : 0;
}

/* ---- the table of allocations ---- */

struct stretch { /* what is one allocation */
    uint64_t address, bytes;
    bool mapped, is_double;
    enum permission access;
};

/* NULL: it may be used. */
static const char *gone_of(const struct stretch *r) {
    static const char no_access[] = "cuMemSetAccess has given no access to";
    static const char no_memory[] = "has no memory mapped to it (cuMemMap)";
    return r->access != ACCESS_NONE ? NULL : r->mapped ? no_access : no_memory;
}

static bool is_run(const struct allocation *a, const struct stretch *r) {
    return a && a->address == r->address && a->bytes == r->bytes &&
           a->gone == gone_of(r) && a->writable == (r->access == ACCESS_WRITE) &&
           r->is_double == ((a->flags & DEVICE_DOUBLE) != 0);
}

static struct allocation *allocation_of(const struct reservation *r,
                                        const struct stretch *run) {
    struct allocation *old = memory_find(&runtime.device.memory, run->address);
    if (is_run(old, run)) {
        return old;
    }
    bool usable = run->access != ACCESS_NONE;
    uint64_t at = run->address - r->address;
    struct allocation *a = xcalloc(1, sizeof *a);
    *a = (struct allocation){
        .address = run->address,
        .bytes = run->bytes,
        .host = usable ? r->host + at : NULL,
        .shadow = usable && r->shadow ? r->shadow + at / 4 : NULL,
        .flags = (r->shadow ? MACHINE_UNINITIALIZED : 0u) |
                 (run->is_double ? DEVICE_DOUBLE : 0u),
        .freed = !usable,
        .writable = run->access == ACCESS_WRITE,
        .gone = gone_of(run)};
    if (run->mapped || run->bytes == r->bytes) {
        (void)snprintf(a->name, sizeof a->name, "%s",
                       run->mapped ? "mapped memory" : "a reserved range of addresses");
    } else {
        (void)snprintf(a->name, sizeof a->name,
                       "the part of a reserved range that begins at its byte %llu",
                       (unsigned long long)at);
    }
    return a;
}

static void run_add(struct stretch *runs, uint32_t *count, struct stretch run) {
    struct stretch *last = *count ? &runs[*count - 1] : NULL;
    if (last && last->mapped == run.mapped && last->access == run.access &&
        last->is_double == run.is_double) {
        last->bytes += run.bytes;
    } else if (run.bytes) {
        runs[(*count)++] = run;
    }
}

static cudart_error allocations_renew(const struct reservation *r) {
    autofree struct stretch *runs = xmalloc((2 * r->count + 1) * sizeof *runs);
    uint32_t count = 0;
    uint64_t at = r->address;
    for (size_t k = 0; k < r->count; k++) {
        const struct piece *p = &r->pieces[k];
        run_add(runs, &count, (struct stretch){at, p->address - at, false, false, ACCESS_NONE});
        run_add(runs, &count, (struct stretch){p->address, p->bytes, true, p->of->is_double, p->access});
        at = p->address + p->bytes;
    }
    run_add(runs, &count, (struct stretch){at, r->address + r->bytes - at, false, false, ACCESS_NONE});
    autofree struct allocation **list = xmalloc(count * sizeof *list);
    for (uint32_t k = 0; k < count; k++) {
        list[k] = allocation_of(r, &runs[k]);
    }
    int rc = memory_replace(&runtime.device.memory, r->address, r->address + r->bytes,
                            list, count);
    return rc ? CUDART_OUT_OF_MEMORY : CUDART_SUCCESS;
}

/* ---- memory ---- */

static void physical_drop(struct physical *p) {
    if (p->handles || p->mappings) {
        return;
    }
    struct physical **at = &physicals;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    handle_forget(p);
    (void)munmap(p->host, p->bytes);
    pthread_mutex_lock(&runtime.device.memory.lock);
    runtime.device.memory.used -= p->bytes;
    pthread_mutex_unlock(&runtime.device.memory.lock);
    free(p->shadow);
    free(p);
}

static int create_run(void *of) {
    struct wish *a = of;
    struct memory *m = &runtime.device.memory;
    if (a->bytes > m->limit - m->used) {
        return CUDART_OUT_OF_MEMORY;
    }
    uint8_t *host = mmap(NULL, a->bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED) {
        return CUDART_OUT_OF_MEMORY;
    }
    struct physical *p = xcalloc(1, sizeof *p);
    *p = (struct physical){.next = physicals,
                           .properties = *a->properties,
                           .bytes = a->bytes,
                           .host = host,
                           .handles = 1};
    physicals = p;
    handle_note(p, p->bytes, &a->site);
    pthread_mutex_lock(&m->lock);
    m->used += p->bytes;
    pthread_mutex_unlock(&m->lock);
    a->result = (uintptr_t)p;
    return CUDART_SUCCESS;
}

static int release_run(void *of) {
    struct wish *a = of;
    struct physical *p = physical_find(a->handle);
    if (!p) {
        return wrong(a, NO_HANDLE);
    }
    p->handles--;
    physical_drop(p);
    return CUDART_SUCCESS;
}

static int retain_run(void *of) {
    struct wish *a = of;
    const struct reservation *r = reservation_find(a->address, 1);
    for (size_t k = 0; r && k < r->count; k++) {
        if (a->address - r->pieces[k].address < r->pieces[k].bytes) {
            r->pieces[k].of->handles++;
            a->result = (uintptr_t)r->pieces[k].of;
            return CUDART_SUCCESS;
        }
    }
    return wrong(a, NOTHING_THERE);
}

/* ---- addresses ---- */

static int reserve_run(void *of) {
    struct wish *a = of;
    struct reservation *r = xcalloc(1, sizeof *r);
    uint64_t align = a->align > GRANULARITY ? a->align : GRANULARITY;
    r->bytes = a->bytes;
    r->address = memory_reserve(&runtime.device.memory, a->bytes, align);
    r->host = r->address ? mmap(NULL, a->bytes, PROT_NONE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                         : MAP_FAILED;
    if (r->host == MAP_FAILED) {
        free(r);
        a->why = "no addresses are left";
        return CUDART_OUT_OF_MEMORY;
    }
    if (runtime.device.settings.checks & MACHINE_CHECK_INITIALIZED) {
        r->shadow = mmap(NULL, a->bytes / 4, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        r->shadow = r->shadow == MAP_FAILED ? NULL : r->shadow;
    }
    r->next = reservations;
    reservations = r;
    a->result = r->address;
    return allocations_renew(r);
}

/* Its addresses are not given again; the allocation that stands for them says so. */
static int unreserve_run(void *of) {
    struct wish *a = of;
    struct reservation **at = &reservations, *r = reservation_find(a->address, a->bytes);
    if (!r || r->address != a->address || r->bytes != a->bytes) {
        return wrong(a, "cuMemAddressReserve has not given this range, or another size");
    }
    if (r->count) {
        return wrong(a, "memory is still mapped to this range");
    }
    while (*at != r) {
        at = &(*at)->next;
    }
    *at = r->next;
    memory_find(&runtime.device.memory, r->address)->gone =
        "was given back (cuMemAddressFree)";
    (void)munmap(r->host, r->bytes);
    if (r->shadow) {
        (void)munmap(r->shadow, r->bytes / 4);
    }
    free(r->pieces);
    free(r);
    return CUDART_SUCCESS;
}

/* ---- mappings ---- */

static uint8_t *shadow_of(const struct reservation *r, const struct piece *p) {
    return r->shadow + (p->address - r->address) / 4;
}

/* Through either of its addresses what the other one wrote is read, so nothing is known of
 * launches by their memory's versions (DEVICE_DOUBLE). */
static cudart_error physical_is_double(struct physical *of) {
    cudart_error code = CUDART_SUCCESS;
    of->is_double = true;
    for (const struct reservation *r = reservations; r && !code; r = r->next) {
        for (size_t k = 0; r->shadow && k < r->count; k++) {
            if (r->pieces[k].of == of) {
                memset(shadow_of(r, &r->pieces[k]), 0x0f, r->pieces[k].bytes / 4);
            }
        }
        code = allocations_renew(r);
    }
    return code;
}

static void shadow_begins(const struct reservation *r, const struct piece *p) {
    if (r->shadow && p->of->shadow) {
        memcpy(shadow_of(r, p), p->of->shadow, p->bytes / 4);
    } else if (r->shadow) {
        memset(shadow_of(r, p), 0, p->bytes / 4);
    }
}

static void shadow_ends(const struct reservation *r, const struct piece *p) {
    if (r->shadow) {
        p->of->shadow =
            p->of->shadow ? p->of->shadow : xcalloc(1, (size_t)p->of->bytes / 4);
        memcpy(p->of->shadow, shadow_of(r, p), p->bytes / 4);
    }
}

static bool is_taken(const struct reservation *r, uint64_t address, uint64_t bytes) {
    bool taken = false;
    for (size_t k = 0; k < r->count && !taken; k++) {
        const struct piece *p = &r->pieces[k];
        taken = p->address < address + bytes && address < p->address + p->bytes;
    }
    return taken;
}

static void piece_add(struct reservation *r, const struct piece *p) {
    list_room(r->pieces, r->count, r->room, 4);
    size_t at = r->count++;
    for (; at > 0 && r->pieces[at - 1].address > p->address; at--) {
        r->pieces[at] = r->pieces[at - 1];
    }
    r->pieces[at] = *p;
}

static int map_run(void *of) {
    struct wish *a = of;
    struct physical *p = physical_find(a->handle);
    struct reservation *r = reservation_find(a->address, a->bytes);
    if (!p) {
        return wrong(a, NO_HANDLE);
    }
    if (!r || a->bytes > p->bytes || is_taken(r, a->address, a->bytes)) {
        return wrong(a, !r ? "the range is not inside of one that cuMemAddressReserve gave"
                        : a->bytes > p->bytes
                            ? "the memory of this handle has fewer bytes"
                            : "memory is mapped there already");
    }
    if (mremap(p->host, 0, a->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               r->host + (a->address - r->address)) == MAP_FAILED) {
        return CUDART_OUT_OF_MEMORY;
    }
    const struct piece piece = {a->address, a->bytes, p, ACCESS_NONE};
    unseen_settle();
    piece_add(r, &piece);
    p->mappings++;
    shadow_begins(r, &piece);
    return p->mappings > 1 || p->is_double ? physical_is_double(p) : allocations_renew(r);
}

static void piece_end(const struct reservation *r, const struct piece *p) {
    shadow_ends(r, p);
    (void)mmap(r->host + (p->address - r->address), p->bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    p->of->mappings--;
    physical_drop(p->of);
}

static int unmap_run(void *of) {
    struct wish *a = of;
    struct reservation *r = reservation_find(a->address, a->bytes);
    size_t first, count = r ? pieces_of(r, a->address, a->bytes, &first) : 0;
    if (!count) {
        return wrong(a, NOT_WHOLE);
    }
    unseen_settle();
    for (size_t k = first; k < first + count; k++) {
        piece_end(r, &r->pieces[k]);
    }
    r->count -= count;
    memmove(&r->pieces[first], &r->pieces[first + count],
            (r->count - first) * sizeof *r->pieces);
    return allocations_renew(r);
}

static int access_run(void *of) {
    struct wish *a = of;
    struct reservation *r = reservation_find(a->address, a->bytes);
    size_t first, count = r ? pieces_of(r, a->address, a->bytes, &first) : 0;
    if (!count) {
        return wrong(a, NOT_WHOLE);
    }
    unseen_settle();
    for (size_t k = first; k < first + count; k++) {
        r->pieces[k].access = a->access;
    }
    return allocations_renew(r);
}

static int access_get_run(void *of) {
    struct wish *a = of;
    const struct allocation *at = memory_find(&runtime.device.memory, a->address);
    if (!reservation_find(a->address, 1) || !at) {
        return wrong(a, NOTHING_THERE);
    }
    a->result = at->freed ? ACCESS_NONE : at->writable ? ACCESS_WRITE : ACCESS_READ;
    return CUDART_SUCCESS;
}

/* ---- what the program calls ---- */

enum { TYPE_PINNED = 1, ON_DEVICE = 1 };

static cudart_error place_check(const struct memory_location *where) {
    return where->type == ON_DEVICE && where->id == 0
               ? CUDART_SUCCESS
               : explain(where->type == ON_DEVICE ? CUDART_INVALID_DEVICE
                                                  : CUDART_NOT_SUPPORTED,
                         "virtual memory is there for device 0 only");
}

static cudart_error properties_check(const struct memory_properties *p) {
    NEED(p);
    return p->type == TYPE_PINNED
               ? place_check(&p->where)
               : explain(CUDART_NOT_SUPPORTED, "memory of type %d", p->type);
}

static cudart_error between_processes(void) {
    return explain(CUDART_NOT_SUPPORTED,
                   "memory cannot be shared between processes, because there is one");
}

EXPORT int cuMemGetAllocationGranularity(size_t *ret, const struct memory_properties *p,
                                         int option) {
    (void)option; /* the recommended one is the same */
    NEED(ret);
    *ret = GRANULARITY;
    RETURN(properties_check(p));
}

EXPORT int cuMemAddressReserve(uint64_t *ret, size_t bytes, size_t align, uint64_t,
                               uint64_t flags) {
    struct wish a = {.bytes = bytes, .align = align};
    NEED(ret);
    cudart_error code = flags || (align & (align - 1)) ? CUDART_INVALID_VALUE
                                                       : sizes_check(0, bytes);
    code = code ? code : ask(reserve_run, &a);
    *ret = code ? 0 : a.result;
    RETURN(code);
}

EXPORT int cuMemAddressFree(uint64_t address, size_t bytes) {
    RETURN(ask(unreserve_run, &(struct wish){.address = address, .bytes = bytes}));
}

EXPORT int cuMemCreate(uint64_t *ret, size_t bytes, const struct memory_properties *p,
                       uint64_t flags) {
    struct wish a = {.bytes = bytes, .properties = p};
    NEED(ret);
    host_site_take(&a.site);
    cudart_error code = flags ? CUDART_INVALID_VALUE : properties_check(p);
    code = code ? code : sizes_check(0, bytes);
    code = code ? code : ask(create_run, &a);
    *ret = code ? 0 : a.result;
    RETURN(code);
}

EXPORT int cuMemRelease(uint64_t handle) {
    RETURN(ask(release_run, &(struct wish){.handle = handle}));
}

EXPORT int cuMemRetainAllocationHandle(uint64_t *ret, void *address) {
    struct wish a = {.address = (uintptr_t)address};
    NEED(ret);
    cudart_error code = ask(retain_run, &a);
    *ret = a.result;
    RETURN(code);
}

static int properties_run(void *of) {
    struct wish *a = of;
    const struct physical *p = physical_find(a->handle);
    a->properties = p ? &p->properties : NULL;
    return p ? CUDART_SUCCESS : wrong(a, NO_HANDLE);
}

EXPORT int cuMemGetAllocationPropertiesFromHandle(struct memory_properties *ret,
                                                  uint64_t handle) {
    struct wish a = {.handle = handle};
    NEED(ret);
    cudart_error code = ask(properties_run, &a);
    if (!code) {
        *ret = *a.properties;
    }
    RETURN(code);
}

EXPORT int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle,
                    uint64_t flags) {
    struct wish a = {.address = address, .bytes = bytes, .handle = handle};
    cudart_error code = flags    ? CUDART_INVALID_VALUE
                        : offset ? explain(CUDART_INVALID_VALUE, "the offset must be 0")
                                 : sizes_check(address, bytes);
    RETURN(code ? code : ask(map_run, &a));
}

EXPORT int cuMemUnmap(uint64_t address, size_t bytes) {
    RETURN(ask(unmap_run, &(struct wish){.address = address, .bytes = bytes}));
}

EXPORT int cuMemSetAccess(uint64_t address, size_t bytes, const struct memory_access *list,
                          size_t count) {
    struct wish a = {.address = address, .bytes = bytes};
    cudart_error code = list && count ? CUDART_SUCCESS : CUDART_INVALID_VALUE;
    for (size_t k = 0; k < count && !code; k++) {
        code = place_check(&list[k].where);
        a.access = (enum permission)list[k].flags;
    }
    bool known = a.access == ACCESS_NONE || a.access == ACCESS_READ ||
                 a.access == ACCESS_WRITE;
    code = code || known ? code : CUDART_INVALID_VALUE;
    RETURN(code ? code : ask(access_run, &a));
}

EXPORT int cuMemGetAccess(uint64_t *ret, const struct memory_location *where,
                          uint64_t address) {
    struct wish a = {.address = address};
    NEED(ret && where);
    cudart_error code = place_check(where);
    code = code ? code : ask(access_get_run, &a);
    *ret = a.result;
    RETURN(code);
}

EXPORT int cuMemExportToShareableHandle(void *, uint64_t, int, uint64_t) {
    RETURN(between_processes());
}

EXPORT int cuMemImportFromShareableHandle(uint64_t *, void *, int) {
    RETURN(between_processes());
}
