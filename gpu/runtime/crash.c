#include "gpu/runtime/crash.h"

#include "gpu/runtime/heap_findings.h"
#include "gpu/runtime/host_access.h"
#include "gpu/runtime/leaks.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/runtime.h"
#include "gpu/runtime/threads.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PATIENCE_S 5 /* for words about a program whose memory may be in ruins */

static int action_set(int signal, const struct sigaction *set, struct sigaction *ret) {
    static int (*real)(int, const struct sigaction *, struct sigaction *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "sigaction");
    }
    return real(signal, set, ret);
}

static uintptr_t place_of(const ucontext_t *context) {
#if defined __x86_64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (uintptr_t)context->uc_mcontext.pc;
#endif
}

/* Frames from where it happened; addresses are as if they returned there. Inside the
 * library (it writes to what the program gave it) they begin behind the signal's own
 * frame. */
static struct host_site site_of(const ucontext_t *context) {
    struct host_site all, site = {0};
    host_site_take(&all);
    uintptr_t at = place_of(context);
    unsigned from = 0;
    while (from < all.count && (uintptr_t)all.frames[from] != at) {
        from++;
    }
    if (from == all.count) {
        from = 0;
    }
    site.frames[site.count++] = (void *)(at + 1);
    for (unsigned k = from + 1; k < all.count; k++) {
        site.frames[site.count++] = all.frames[k];
    }
    return site;
}

/* The stack's pointer is past the stack's end, or what is written is. The first thread's
 * stack grows: near the pointer, what is below it is nobody's. Past the other end of that
 * stack, the stack itself is below. */
static bool is_stack_full(const siginfo_t *info, const ucontext_t *context) {
    enum { NEAR = 1 << 16 };
#if defined __x86_64__
    uintptr_t top = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    uintptr_t top = (uintptr_t)context->uc_mcontext.sp;
#endif
    uintptr_t at = (uintptr_t)info->si_addr, lowest = thread_stack_lowest();
    unsigned char in_memory;
    if (lowest) {
        return top < lowest || (at < lowest && lowest < at + NEAR);
    }
    return at + NEAR >= top && at < top + NEAR &&
           mincore((void *)((at - NEAR) & ~4095ul), 1, &in_memory) != 0;
}

/* Not if it was sent, by raise and the like: si_addr is no address then. */
static bool is_fault(int signal, const siginfo_t *info) {
    return (signal == SIGSEGV || signal == SIGBUS) && info->si_code > 0;
}

/* What stands at an address that the host may not touch; false: nothing of the device. */
static bool describe(uint64_t address, char *ret, size_t room) {
    struct allocation *a, *after;
    memory_around(&runtime.device.memory, address, &a, &after);
    uint64_t offset = a ? address - a->address : 0;
    if (!a || offset >= a->bytes + MEMORY_GUARD || a->flags & DEVICE_REGISTERED) {
        return false;
    }
    const char *why = a->gone              ? "host code cannot dereference it"
                      : a->freed           ? "it has been freed"
                      : offset >= a->bytes ? "this is past its end"
                      : a->flags & DEVICE_MAPPED
                          ? "it may not be touched"
                          : "host code cannot dereference pointers to device memory: copy "
                            "it with cudaMemcpy";
    (void)snprintf(ret, room,
                   "Host code touches byte %llu of %s of %llu bytes (address 0x%llx): %s",
                   (unsigned long long)offset, a->name, (unsigned long long)a->bytes,
                   (unsigned long long)address, why);
    return true;
}

static const char *code_of_access(uint64_t address) {
    const struct allocation *a = memory_find(&runtime.device.memory, address);
    return a && a->freed ? "use_after_free" : "host_access";
}

/* address: of the fault. */
static void report_access(const char *code, const struct host_site *site,
                          uint64_t address, const char *words) {
    const struct allocation *a = memory_find(&runtime.device.memory, address);
    struct allocation_life life;
    report_finding_between(code, site, a ? allocation_others(a, &life) : NULL, "%s",
                           words);
}

/* The code of a finding that is not told yet; NULL: none. */
static const char *describe_crash(int signal, const siginfo_t *info,
                                  const ucontext_t *context, char *ret, size_t room) {
    uint64_t address = (uintptr_t)info->si_addr;
    bool fault = is_fault(signal, info);
    const struct host_free freeing = host_heap_freeing();
    if (freeing.function) {
        heap_findings_describe(&freeing, ret, room);
        return freeing.why || freeing.lent ? NULL : "invalid_free";
    }
    if (fault && describe(address, ret, room)) {
        return code_of_access(address);
    }
    if (fault && is_stack_full(info, context)) {
        (void)snprintf(ret, room,
                       "The host's stack is full: a recursion without end, or local "
                       "variables that are too large");
    } else if (fault) {
        (void)snprintf(ret, room, "Host code uses address 0x%llx%s (%s)",
                       (unsigned long long)address,
                       address < 65536 ? ", by a null pointer," : "", strsignal(signal));
    } else {
        (void)snprintf(ret, room, "The program was ended by signal %d (%s)", signal,
                       strsignal(signal));
    }
    return NULL;
}

static void tell(int signal, const siginfo_t *info, const ucontext_t *context) {
    char words[512];
    struct host_site site = site_of(context);
    const char *code = describe_crash(signal, info, context, words, sizeof words);
    if (code) {
        report_access(code, &site, (uintptr_t)info->si_addr, words);
    }
    json_t *event = report_event("crash", 0, &site);
    json_object_set_new(event, "signal", json_integer(signal));
    if (is_fault(signal, info)) {
        json_object_set_new(event, "address",
                            json_integer((json_int_t)(uintptr_t)info->si_addr));
    }
    json_object_set_new(event, "message", json_clean_z(words));
    report_line(event);
}

static bool is_write(const ucontext_t *context) {
#if defined __x86_64__
    return context->uc_mcontext.gregs[REG_ERR] & 2;
#else
    (void)context;
    return false;
#endif
}

/* It was closed for the host, who goes on. */
static bool is_closed(int signal, const siginfo_t *info, const ucontext_t *context) {
    if (signal != SIGSEGV || info->si_code != SEGV_ACCERR) {
        return false;
    }
    const struct host_site site = site_of(context);
    return host_access_fault((uintptr_t)info->si_addr, is_write(context), &site);
}

/* ---- the program's own handlers ---- */

/* Ours stand in front of these: memory that is closed for the host is opened, and host
 * code that follows a pointer to device memory is told, whatever the program does then. */
static struct {
    int signal;
    struct sigaction theirs;
} handled[] = {{.signal = SIGSEGV}, {.signal = SIGBUS}};

static struct sigaction *handler_of(int signal) {
    for (size_t k = 0; k < ARRAY_LEN(handled); k++) {
        if (handled[k].signal == signal) {
            return &handled[k].theirs;
        }
    }
    return NULL;
}

static void tell_handled(const siginfo_t *info, const ucontext_t *context) {
    char words[512];
    if (info->si_code > 0 &&
        describe((uintptr_t)info->si_addr, words, sizeof words)) {
        const struct host_site site = site_of(context);
        report_access(code_of_access((uintptr_t)info->si_addr), &site,
                      (uintptr_t)info->si_addr, words);
    }
}

/* false: the program has no handler. */
static bool handle(int signal, siginfo_t *info, void *context) {
    struct sigaction *theirs = handler_of(signal);
    if (!theirs || theirs->sa_handler == SIG_DFL) {
        return false;
    }
    if (theirs->sa_handler == SIG_IGN) {
        return info->si_code <= 0; /* the system ignores no fault */
    }
    const struct sigaction now = *theirs;
    tell_handled(info, context);
    if (now.sa_flags & (int)SA_RESETHAND) {
        *theirs = (struct sigaction){.sa_handler = SIG_DFL};
    }
    if (now.sa_flags & SA_SIGINFO) {
        now.sa_sigaction(signal, info, context);
    } else {
        now.sa_handler(signal);
    }
    return true;
}

/* ---- ours ---- */

static void on_signal(int signal, siginfo_t *info, void *context) {
    int error = errno;
    if (is_closed(signal, info, context) || handle(signal, info, context)) {
        errno = error;
        return;
    }
    struct sigaction plain = {.sa_handler = SIG_DFL};
    (void)action_set(signal, &plain, NULL);
    (void)action_set(SIGALRM, &plain, NULL);
    (void)alarm(PATIENCE_S);
    host_heap_leave();
    tell(signal, info, context);
    outcome_end("signal", signal);
    (void)alarm(0);
    (void)raise(signal);
}

static int watch(int signal, const struct sigaction *like) {
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (like) {
        action.sa_mask = like->sa_mask;
        action.sa_flags |= like->sa_flags & (SA_NODEFER | SA_RESTART);
    }
    return action_set(signal, &action, NULL);
}

void crash_watch(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t k = 0; k < ARRAY_LEN(signals); k++) {
        (void)watch(signals[k], NULL);
    }
}

/* ---- what the program calls ---- */

EXPORT int sigaction(int signal, const struct sigaction *set, struct sigaction *ret) {
    struct sigaction *theirs = handler_of(signal);
    if (!theirs) {
        return action_set(signal, set, ret);
    }
    const struct sigaction before = *theirs;
    if (set) {
        *theirs = *set;
        (void)watch(signal, set);
    }
    if (ret) {
        *ret = before;
    }
    return 0;
}

/* As BSD's, which glibc's is. */
EXPORT sighandler_t signal(int signal, sighandler_t handler) {
    struct sigaction before, set = {.sa_handler = handler, .sa_flags = SA_RESTART};
    return sigaction(signal, &set, &before) ? SIG_ERR : before.sa_handler;
}
