#include "gpu/ptx/state/run.h"

void *run_lines(size_t count, size_t size) {
    enum { LINES = 128 }; /* processors fetch them in pairs */
    size_t bytes = (count * size / LINES + 1) * LINES;
    void *p = aligned_alloc(LINES, bytes);
    if (!p) {
        abort();
    }
    return memset(p, 0, bytes);
}

struct buf *run_printf_lock(struct run *run) {
    pthread_mutex_lock(run->printed_lock);
    return run->printed;
}

void run_printf_unlock(struct run *run) {
    pthread_mutex_unlock(run->printed_lock);
}

void run_fault(struct run *run) {
    __atomic_store_n(&run->fault, 1, __ATOMIC_RELAXED);
    if (!run->check_memory) {
        __atomic_store_n(&run->quit, 1, __ATOMIC_RELAXED);
    }
}

bool run_charge(struct processor *processor) {
    struct run *run = processor->run;
    uint64_t spent = __atomic_add_fetch(run->spent, processor->spent, __ATOMIC_RELAXED);
    uint64_t left = run->budget > spent ? run->budget - spent : 0;
    processor->allowance = left < RUN_GATHERED ? left : RUN_GATHERED;
    processor->spent = 0;
    __atomic_add_fetch(run->begun, processor->begun, __ATOMIC_RELAXED);
    processor->begun = 0;
    if (spent > run->budget || __atomic_load_n(run->stop, __ATOMIC_RELAXED)) {
        __atomic_store_n(&run->quit, 1, __ATOMIC_RELAXED);
    }
    return !__atomic_load_n(&run->quit, __ATOMIC_RELAXED);
}

enum machine_end run_end(const struct run *run) {
    return __atomic_load_n(run->stop, __ATOMIC_RELAXED) ? MACHINE_STOPPED
                                                        : MACHINE_BUDGET;
}
