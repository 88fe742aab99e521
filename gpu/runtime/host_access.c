#include "gpu/runtime/host_access.h"

#include "base/find.h"
#include "gpu/facts/kernel_index.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/runtime.h"
#include "gpu/runtime/threads.h"

#include <sys/mman.h>
#include <time.h>

#define PAGE UINT64_C(4096)
#define GUARDS_MAX 128
#define RUNS_MAX 64 /* pieces of an allocation that are closed */

struct guard { /* an operation that the host has not waited for */
    struct allocation *in;
    uint64_t low, bytes; /* of a copy: offset; bytes 0: what kernels wrote */
    bool writes, over;
    struct moment moment;
    const char *what;
    struct host_site site;
};

static struct {
    pthread_mutex_t lock;
    struct guard items[GUARDS_MAX];
    unsigned count;
} guards = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t pages_of(const struct allocation *a) {
    return (a->bytes + PAGE - 1) & ~(PAGE - 1);
}

static void allow(const struct allocation *a, uint64_t low, uint64_t high, int how) {
    uint64_t from = low & ~(PAGE - 1), to = (high + PAGE - 1) & ~(PAGE - 1);
    if (from < to && to <= pages_of(a)) {
        (void)mprotect((void *)(uintptr_t)(a->address + from), to - from, how);
    }
}

static void open_all(const struct allocation *a) {
    allow(a, 0, a->bytes, PROT_READ | PROT_WRITE);
}

static bool is_closable(const struct allocation *a) {
    return !a->freed && device_host_is_apart(a);
}

/* ---- what kernels wrote: bits 4-7 of the shadow ---- */

static bool is_written(const struct allocation *a, uint64_t offset) {
    return a->shadow && offset < a->bytes &&
           a->shadow[offset / 4] >> (4 + offset % 4) & 1;
}

static void written_forget(struct allocation *a) {
    uint64_t words = (a->bytes + 3) / 4;
    for (uint64_t k = 0; k < words; k++) {
        a->shadow[k] &= 0x0f;
    }
}

static bool page_is_written(const struct allocation *a, uint64_t page) {
    const uint8_t *shadow = a->shadow + page * (PAGE / 4);
    uint64_t words = (a->bytes - page * PAGE + 3) / 4;
    uint8_t any = 0;
    for (uint64_t k = 0; k < PAGE / 4 && k < words; k++) {
        any |= shadow[k];
    }
    return any >> 4 != 0;
}

static void close_written(const struct allocation *a) {
    unsigned runs = 0;
    uint64_t count = pages_of(a) / PAGE;
    for (uint64_t page = 0; page < count && runs < RUNS_MAX; runs++) {
        while (page < count && !page_is_written(a, page)) {
            page++;
        }
        uint64_t first = page;
        while (page < count && page_is_written(a, page)) {
            page++;
        }
        allow(a, first * PAGE, page * PAGE, PROT_NONE);
    }
}

/* ---- guards; the lock is held ---- */

/* Of pinned memory only pages of which the copy has all: a system call may use the rest.
 */
static void close_copied(const struct guard *g) {
    const struct allocation *a = g->in;
    uint64_t low = (g->low + PAGE - 1) & ~(PAGE - 1), high = g->low + g->bytes;
    high = high == a->bytes ? high : high & ~(PAGE - 1);
    if (low < high) {
        allow(a, low, high, g->writes ? PROT_NONE : PROT_READ);
    }
}

static void close_again(struct allocation *a) {
    bool kernels = false;
    open_all(a);
    for (unsigned pass = 0; pass < 2; pass++) { /* what is read, then what is written */
        list_each(k, g, guards.items, guards.count) {
            if (g->in == a && g->bytes && g->writes == (pass == 1)) {
                close_copied(g);
            }
            kernels |= g->in == a && !g->bytes;
        }
    }
    if (kernels) {
        close_written(a);
    }
}

static void guards_drop(const struct allocation *a) {
    unsigned kept = 0;
    for (unsigned k = 0; k < guards.count; k++) {
        if (guards.items[k].in != a) {
            guards.items[kept++] = guards.items[k];
        }
    }
    guards.count = kept;
}

/* A later launch of a stream stands for the earlier ones. */
static struct guard *guard_room(const struct guard *g) {
    list_each(k, old, guards.items, guards.count) {
        if (!g->bytes && !old->bytes && old->in == g->in &&
            old->moment.slot == g->moment.slot) {
            return old;
        }
    }
    return guards.count < GUARDS_MAX ? &guards.items[guards.count++] : NULL;
}

static void guard_add(const struct guard *g) {
    struct guard *to = guard_room(g);
    if (to) {
        *to = *g;
        close_again(g->in);
    }
}

void host_access_copy(const struct moment *m, struct allocation *a, uint64_t address,
                      uint64_t bytes, bool writes, const struct host_site *site) {
    if (!m || !is_closable(a)) {
        return;
    }
    pthread_mutex_lock(&guards.lock);
    guard_add(&(struct guard){.in = a,
                              .low = address - a->address,
                              .bytes = bytes,
                              .writes = writes,
                              .moment = *m,
                              .what = "a copy",
                              .site = *site});
    pthread_mutex_unlock(&guards.lock);
}

/* ---- kernels ---- */

static bool instruction_talks(const struct ptx_instruction *i) {
    bool stores = i->opcode == PTX_OP_ST && i->spaces[0] != PTX_SHARED &&
                  i->spaces[0] != PTX_LOCAL && ptx_has(i, PTX_M_VOLATILE);
    return stores || ptx_has(i, PTX_M_SYS);
}

static bool instruction_waits(const struct ptx_instruction *i) {
    bool strong = ptx_has(i, PTX_M_VOLATILE) || ptx_has(i, PTX_M_RELAXED) ||
                  ptx_has(i, PTX_M_ACQUIRE);
    return i->opcode == PTX_OP_ATOM || (i->opcode == PTX_OP_LD && strong);
}

/* What its module's code does with the host, looked at once. */
static unsigned manners_of(const struct kernel *k) {
    struct module *m = k->module;
    if (!m->manners) {
        m->manners = MODULE_KNOWN;
        list_each(n, f, m->ptx->functions, m->ptx->function_count) {
            for (uint32_t at = 0; at < f->code_count; at++) {
                m->manners |= instruction_talks(&f->code[at]) ? MODULE_TALKS : 0;
                m->manners |= instruction_waits(&f->code[at]) ? MODULE_WAITS : 0;
            }
        }
    }
    return m->manners;
}

static bool talks(const struct kernel *k) {
    return manners_of(k) & MODULE_TALKS;
}

bool host_access_waits(const struct kernel *k) {
    return manners_of(k) & MODULE_WAITS;
}

static void launch_wrote(const struct moment *m, const struct kernel *k,
                         struct allocation *a, const struct host_site *site) {
    bool full = guards.count == GUARDS_MAX;
    if (!m || full || talks(k) || order_host_knows(m)) {
        guards_drop(a);
        open_all(a);
        written_forget(a);
        return;
    }
    guard_add(&(struct guard){
        .in = a, .writes = true, .moment = *m, .what = k->entry->name, .site = *site});
}

void host_access_launch(const struct moment *m, const struct kernel *k,
                        const struct host_site *site) {
    const struct memory *memory = &runtime.device.memory;
    pthread_mutex_lock(&guards.lock);
    for (uint32_t n = 0; n < memory->count; n++) {
        struct allocation *a = memory->table[n];
        if (a->written_in == memory->launch && a->shadow && is_closable(a)) {
            launch_wrote(m, k, a, site);
        }
    }
    pthread_mutex_unlock(&guards.lock);
}

/* An operation that is over for the host takes what kernels wrote with it: whose bytes
 * are whose is not known. */
static bool lets_go(struct allocation *a) {
    bool any = false, kernels = false;
    list_each(k, g, guards.items, guards.count) {
        if (g->in == a && order_host_knows(&g->moment)) {
            any = true;
            kernels |= g->bytes == 0;
            g->over = true;
        }
    }
    unsigned kept = 0;
    list_each(k, g, guards.items, guards.count) {
        bool goes = g->in == a && (g->over || (kernels && g->bytes == 0));
        if (!goes) {
            guards.items[kept++] = *g;
        }
    }
    guards.count = kept;
    if (kernels && a->shadow) {
        written_forget(a);
    }
    return any;
}

#define REST_NS 10000000
#define RESTS 40 /* of the whole program */

/* What other threads ask for before this one's wait returns, they ask for without knowing
 * of it. So that chance seldom has the wait in front, the first ones return later. */
static void rest(void) {
    static atomic_uint rests;
    if (threads_are_several() && rests < RESTS &&
        !queue_is_inside(&runtime.device.queue)) {
        rests++;
        (void)nanosleep(&(struct timespec){.tv_nsec = REST_NS}, NULL);
    }
}

void host_access_waited(const struct order_clock *c) {
    if (!order_is_on()) {
        return;
    }
    rest();
    order_host_knows_of(c);
    pthread_mutex_lock(&guards.lock);
    for (unsigned k = 0; k < guards.count;) {
        struct allocation *a = guards.items[k].in;
        if (lets_go(a)) {
            close_again(a);
            k = 0;
        } else {
            k++;
        }
    }
    pthread_mutex_unlock(&guards.lock);
}

bool host_access_may(const struct kernel *k, const void *params) {
    const struct memory *m = &runtime.device.memory;
    bool may = any_of(n, 0, m->count,
                      !m->table[n]->freed && m->table[n]->flags & DEVICE_MANAGED);
    for (uint64_t at = 0; at + 8 <= k->entry->param_bytes && !may; at += 8) {
        uint64_t address;
        memcpy(&address, (const uint8_t *)params + at, sizeof address);
        const struct allocation *a = memory_find(m, address);
        may = a && !a->freed && a->flags & DEVICE_MAPPED;
    }
    return may;
}

/* ---- faults ---- */

static bool covers(const struct guard *g, uint64_t offset) {
    return g->bytes ? offset >= g->low && offset < g->low + g->bytes
                    : is_written(g->in, offset);
}

static void fault_tell(const struct guard *g, uint64_t offset, bool writes,
                       const struct host_site *site) {
    autofree char *what = kernel_name_new(g->what);
    struct report_other other = {&g->site, g->bytes ? "the copy" : "the launch"};
    report_finding_between(
        "missing_sync", site, &other,
        "Host code %s byte %llu of %s of %llu bytes, which %s %s, and the host has not "
        "waited for that: before this, call cudaDeviceSynchronize, or wait for its stream "
        "or an event",
        writes ? "writes" : "reads", (unsigned long long)offset, g->in->name,
        (unsigned long long)g->in->bytes, what, g->writes ? "writes" : "reads");
}

static struct allocation *guarded_at(uint64_t address) {
    for (unsigned k = 0; k < guards.count; k++) {
        struct allocation *a = guards.items[k].in;
        if (address - a->address < pages_of(a)) {
            return a;
        }
    }
    return NULL;
}

/* Whom the touch disagrees with; NULL: it is of a byte that nobody else uses. */
static const struct guard *guard_against(const struct allocation *a, uint64_t offset,
                                         bool writes) {
    return list_find(g, guards.items, guards.count,
                     g->in == a && (g->writes || writes) && covers(g, offset));
}

bool host_access_fault(uint64_t address, bool writes, const struct host_site *site) {
    if (!order_is_on()) {
        return false;
    }
    /* A host function of a stream comes behind what is in front of it there. */
    bool inside = queue_is_inside(&runtime.device.queue);
    pthread_mutex_lock(&guards.lock);
    struct allocation *a = guarded_at(address);
    uint64_t offset = a ? address - a->address : 0;
    const struct guard *g = a && !inside ? guard_against(a, offset, writes) : NULL;
    if (g) {
        fault_tell(g, offset, writes, site);
    }
    if (g || (a && inside)) {
        guards_drop(a);
        open_all(a);
        if (a->shadow) {
            written_forget(a);
        }
    } else if (a) {
        allow(a, offset, offset + 1, PROT_READ | PROT_WRITE);
    }
    pthread_mutex_unlock(&guards.lock);
    return a != NULL;
}
