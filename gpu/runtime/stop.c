#include "gpu/runtime/stop.h"

#include "gpu/ptx/state/origins.h"
#include "gpu/runtime/outcome.h"
#include "gpu/runtime/runtime.h"

#include <signal.h>

static struct machine *running; /* atomic */
static int due;                 /* atomic: the signal, 0: none */

static void die(int signal_number) {
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

/* Any thread. Without a launch all has been told. */
static void on_signal(int signal_number) {
    struct machine *m = __atomic_load_n(&running, __ATOMIC_SEQ_CST);
    if (m) {
        __atomic_store_n(&due, signal_number, __ATOMIC_SEQ_CST);
        machine_stop(m);
    } else {
        die(signal_number);
    }
}

void stop_watch(void) {
    (void)signal(SIGTERM, on_signal);
    (void)signal(SIGXCPU, on_signal);
}

void stop_running(struct machine *m) {
    __atomic_store_n(&running, m, __ATOMIC_SEQ_CST);
}

void stop_if_due(const struct host_site *launch) {
    int signal_number = __atomic_load_n(&due, __ATOMIC_SEQ_CST);
    if (signal_number) {
        origins_tell_unused(&runtime.device.memory, runtime.device.space.findings);
        outcome_stopped(launch);
        die(signal_number);
    }
}
