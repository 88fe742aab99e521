#include "gpu/runtime/threads.h"

#include "gpu/runtime/host_site.h"
#include "gpu/runtime/runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#define STACK_BYTES (128u << 10)
#define GAP_BYTES (64u << 10) /* above, where the thread's own stack may end */

struct thread {
    void *(*main)(void *);
    void *of;
    void *signal_stack;
    uintptr_t lowest;
    unsigned rounds; /* of its destructors */
};

static struct {
    pthread_key_t key;
    atomic_uint alive; /* the program's */
    atomic_bool first_left;
    struct thread first;
} threads = {.alive = 1};

static __thread struct thread *current;

uintptr_t thread_stack_lowest(void) {
    return current ? current->lowest : 0;
}

/* ---- one of them ---- */

static void signal_stack_make(struct thread *t) {
    t->signal_stack = mmap(NULL, STACK_BYTES + GAP_BYTES, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const stack_t own = {.ss_sp = t->signal_stack, .ss_size = STACK_BYTES};
    if (t->signal_stack != MAP_FAILED &&
        !mprotect(t->signal_stack, STACK_BYTES, PROT_READ | PROT_WRITE)) {
        (void)sigaltstack(&own, NULL);
    }
}

/* The program may have given it another one. */
static void signal_stack_drop(const struct thread *t) {
    const stack_t none = {.ss_flags = SS_DISABLE};
    stack_t now;
    if (t->signal_stack == MAP_FAILED) {
        return;
    }
    if (!sigaltstack(NULL, &now) && now.ss_sp == t->signal_stack) {
        (void)sigaltstack(&none, NULL);
    }
    (void)munmap(t->signal_stack, STACK_BYTES + GAP_BYTES);
}

static void stack_look(struct thread *t) {
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes, guard;
    if (!pthread_getattr_np(pthread_self(), &attributes)) {
        if (!pthread_attr_getstack(&attributes, &lowest, &bytes) &&
            !pthread_attr_getguardsize(&attributes, &guard)) {
            t->lowest = (uintptr_t)lowest + guard; /* which glibc counts in */
        }
        pthread_attr_destroy(&attributes);
    }
}

static void *thread_main(void *of) {
    struct thread *t = of;
    current = t;
    stack_look(t);
    signal_stack_make(t);
    (void)pthread_setspecific(threads.key, t);
    return t->main(t->of);
}

/* Behind the program's own destructors: in the last round. */
static void thread_end(void *of) {
    struct thread *t = of;
    if (++t->rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
        !pthread_setspecific(threads.key, t)) {
        return;
    }
    signal_stack_drop(t);
    current = NULL;
    if (t != &threads.first) {
        free(t);
    }
    if (atomic_fetch_sub(&threads.alive, 1) == 1 && threads.first_left) {
        exit(EXIT_SUCCESS); /* pthread_exit(3): as by exit(3) with zero */
    }
}

void threads_begin(void) {
    (void)pthread_key_create(&threads.key, thread_end);
    signal_stack_make(&threads.first);
}

bool threads_are_several(void) {
    return threads.alive > 1;
}

/* ---- what the program calls ---- */

EXPORT int pthread_create(pthread_t *ret, const pthread_attr_t *attributes,
                          void *(*main)(void *), void *of) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    }
    if (is_of_library(__builtin_return_address(0))) {
        return real(ret, attributes, main, of);
    }
    struct thread *t = xcalloc(1, sizeof *t);
    t->main = main;
    t->of = of;
    atomic_fetch_add(&threads.alive, 1);
    int error = real(ret, attributes, thread_main, t);
    if (error) {
        atomic_fetch_sub(&threads.alive, 1);
        free(t);
    }
    return error;
}

EXPORT void pthread_exit(void *value) {
    void (*real)(void *);
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_exit");
    if (gettid() == getpid()) {
        threads.first_left = true;
        (void)pthread_setspecific(threads.key, &threads.first);
    }
    real(value);
    abort();
}
