#include "gpu/runtime/heap_findings.h"

#include "gpu/runtime/allocations.h"
#include "gpu/runtime/leaks.h"
#include "gpu/runtime/runtime.h"

static const char *what_of(const struct host_free *f, char *ret, size_t room) {
    const struct allocation *a =
        memory_find(&runtime.device.memory, (uintptr_t)f->address);
    if (a && !(a->flags & DEVICE_REGISTERED)) {
        (void)snprintf(ret, room, "this is %s, which malloc did not give: %s", a->name,
                       allocation_freer(a));
    } else if (f->most) {
        (void)snprintf(ret, room,
                       "host code has written past the end of this block, which malloc "
                       "gave for at most %zu bytes",
                       f->most);
    } else if (f->inside) {
        (void)snprintf(ret, room,
                       "this pointer does not lie at the start of malloc's block, but "
                       "%zu byte%s behind it",
                       f->inside, f->inside == 1 ? "" : "s");
    } else {
        return f->why    ? f->why
               : f->lent ? "glibc finds the host's heap damaged, not by this line: earlier code "
                           "wrote outside of a block, or to one that had been freed"
                         : "malloc did not give this pointer, or it has been freed before";
    }
    return ret;
}

void heap_findings_describe(const struct host_free *f, char *ret, size_t room) {
    char what[400];
    (void)snprintf(ret, room, "%s(0x%llx): %s", f->function,
                   (unsigned long long)(uintptr_t)f->address,
                   what_of(f, what, sizeof what));
}

/* Blocks past whose end a copy was told to write, the latest ones: their free says
 * nothing new. */
enum { SPOILT = 16 };
static _Atomic(const void *) spoilt[SPOILT];

static void spoilt_add(const void *block) {
    static atomic_uint next;
    spoilt[atomic_fetch_add(&next, 1) % SPOILT] = block;
}

static bool spoilt_take(const void *block) {
    unsigned k = 0;
    while (k < SPOILT && spoilt[k] != block) {
        k++;
    }
    if (k < SPOILT) {
        spoilt[k] = NULL;
    }
    return k < SPOILT;
}

static void tell(const struct host_free *f) {
    char words[512];
    struct host_site site;
    if (f->most && spoilt_take(f->address)) {
        return;
    }
    host_site_take(&site);
    heap_findings_describe(f, words, sizeof words);
    const struct allocation *a =
        memory_find(&runtime.device.memory, (uintptr_t)f->address);
    struct allocation_life life;
    report_finding_between(f->most ? "out_of_bounds" : "invalid_free", &site,
                           a ? allocation_others(a, &life) : NULL, "%s", words);
}

void heap_findings_watch(void) {
    host_heap_watch(tell);
}

void heap_findings_copy(const void *address, size_t bytes, bool writes) {
    const struct host_block b = host_heap_find(address);
    size_t at = (size_t)((const char *)address - (const char *)b.start);
    char has[40];
    struct host_site site;
    if (!b.start || (b.in_use && bytes <= b.bytes && at <= b.bytes - bytes)) {
        return;
    }
    if (writes && b.in_use) {
        spoilt_add(b.start);
    }
    host_site_take(&site);
    (void)snprintf(has, sizeof has, "only %zu bytes", b.bytes);
    report_finding_between(
        b.in_use ? "out_of_bounds" : "use_after_free", &site, NULL,
        "A copy %s bytes %zu to %zu of a block of the host's heap that has %s",
        writes ? "writes" : "reads", at, at + bytes - 1, b.in_use ? has : "been freed");
}
