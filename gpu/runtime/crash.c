#include "gpu/runtime/crash.h"

#include "gpu/runtime/host_access.h"
#include "gpu/runtime/leaks.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/report.h"
#include "gpu/runtime/runtime.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (128u << 10)
#define PATIENCE_S 5 /* for words about a program whose memory may be in ruins */

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

/* It writes near its stack's pointer, and what is below is nobody's: past the other end of
 * the stack, the stack itself is below. */
static bool is_stack_full(const siginfo_t *info, const ucontext_t *context) {
    enum { NEAR = 1 << 16 };
#if defined __x86_64__
    uintptr_t top = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined __aarch64__
    uintptr_t top = (uintptr_t)context->uc_mcontext.sp;
#endif
    uintptr_t at = (uintptr_t)info->si_addr;
    unsigned char in_memory;
    return at + NEAR >= top && at < top + NEAR &&
           mincore((void *)((at - NEAR) & ~4095ul), 1, &in_memory) != 0;
}

/* What stands at an address that the host may not touch; false: nothing of the device. */
static bool describe(uint64_t address, char *ret, size_t room) {
    struct allocation *a, *after;
    memory_around(&runtime.device.memory, address, &a, &after);
    uint64_t offset = a ? address - a->address : 0;
    if (!a || offset >= a->bytes + MEMORY_GUARD || a->flags & DEVICE_REGISTERED) {
        return false;
    }
    const char *why = a->freed             ? "it has been freed"
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

static void tell(int signal, const siginfo_t *info, const ucontext_t *context) {
    char words[512];
    struct host_site site = site_of(context);
    uint64_t address = (uintptr_t)info->si_addr;
    bool sent = info->si_code <= 0; /* by raise and the like: si_addr is no address */
    bool fault = (signal == SIGSEGV || signal == SIGBUS) && !sent;
    bool ours = fault && describe(address, words, sizeof words);
    if (ours) {
        const struct allocation *a = memory_find(&runtime.device.memory, address);
        report_finding(a && a->freed ? "use_after_free" : "host_access", &site, "%s",
                       words);
    } else if (fault && is_stack_full(info, context)) {
        (void)snprintf(words, sizeof words,
                       "The host's stack is full: a recursion without end, or local "
                       "variables that are too large");
    } else if (fault) {
        (void)snprintf(words, sizeof words, "Host code uses address 0x%llx%s (%s)",
                       (unsigned long long)address,
                       address < 65536 ? ", by a null pointer," : "", strsignal(signal));
    } else {
        (void)snprintf(words, sizeof words, "The program was ended by signal %d (%s)",
                       signal, strsignal(signal));
    }
    json_t *event = report_event("crash", 0, &site);
    json_object_set_new(event, "signal", json_integer(signal));
    if (fault) {
        json_object_set_new(event, "address", json_integer((json_int_t)address));
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

static void on_signal(int signal, siginfo_t *info, void *context) {
    int error = errno;
    if (is_closed(signal, info, context)) {
        errno = error;
        return;
    }
    struct sigaction plain = {.sa_handler = SIG_DFL};
    (void)sigaction(signal, &plain, NULL);
    (void)sigaction(SIGALRM, &plain, NULL);
    (void)alarm(PATIENCE_S);
    tell(signal, info, context);
    outcome_end("signal", signal);
    (void)alarm(0);
    (void)raise(signal);
}

void crash_watch(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    void *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack != MAP_FAILED) {
        const stack_t own = {.ss_sp = stack, .ss_size = STACK_BYTES};
        (void)sigaltstack(&own, NULL);
    }
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t k = 0; k < ARRAY_LEN(signals); k++) {
        (void)sigaction(signals[k], &action, NULL);
    }
}
