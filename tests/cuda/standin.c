#include "tests/cuda/standin.h"

#include "tests/cuda/conf.h"
#include "tests/cuda/context.h"
#include "tests/cuda/module.h"
#include "tests/cuda/tasks.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
    struct object *objects[OBJECT_KINDS];
    uint64_t calls[STANDIN_FUNCTIONS];
    bool initialised;
    bool inherited; /* this process was forked from one that used the driver */
} standin;

/* ---- the life of the library ---- */

static void on_fork(void) {
    standin.inherited = standin.inherited || standin.initialised;
    tasks_init();
}

__attribute__((constructor)) static void library_load(void) {
    tasks_init();
    conf_read();
    (void)pthread_atfork(NULL, NULL, on_fork);
}

__attribute__((destructor)) static void library_unload(void) {
    if (!standin.inherited) {
        tasks_shutdown();
        context_finish();
    }
}

/* ---- what conf says of a call ---- */

static _Noreturn void hang(void) {
    sigset_t all;
    sigfillset(&all);
    for (int sig = 1; sig < NSIG; sig++) {
        (void)signal(sig, SIG_IGN);
    }
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (;;) {
        (void)pause();
    }
}

static _Noreturn void crash(enum conf_crash how) {
    static const int signals[] = {
        [CRASH_SEGV] = SIGSEGV, [CRASH_ABORT] = SIGABRT, [CRASH_KILL] = SIGKILL};
    if (how != CRASH_EXIT) {
        (void)signal(signals[how], SIG_DFL);
        (void)raise(signals[how]);
    }
    _exit(0);
}

static int rule_follow(const struct conf_rule *r) {
    if (r->action == ACTION_HANG) {
        pthread_mutex_unlock(&tasks.lock);
        hang();
    }
    if (r->action == ACTION_CRASH) {
        crash((enum conf_crash)r->value);
    }
    if (context_is_sticky(r->value)) {
        tasks.error = r->value;
    }
    return r->value;
}

static int injected(enum standin_function function) {
    uint64_t nth = ++standin.calls[function];
    for (unsigned k = 0; k < conf.rule_count; k++) {
        const struct conf_rule *r = &conf.rules[k];
        if (r->function == function && (r->nth == 0 || r->nth == nth)) {
            return rule_follow(r);
        }
    }
    return CUDA_OK;
}

static int needed(enum standin_need need) {
    if (need == NEED_NOTHING) {
        return CUDA_OK;
    }
    if (!standin.initialised || standin.inherited) {
        return CUDA_NOT_INITIALIZED;
    }
    if (need == NEED_INIT) {
        return CUDA_OK;
    }
    if (!context_is_current()) {
        return STANDIN_INVALID_CONTEXT;
    }
    return tasks.error;
}

int standin_enter(enum standin_function function, enum standin_need need) {
    pthread_mutex_lock(&tasks.lock);
    int code = injected(function);
    code = code ? code : needed(need);
    if (code) {
        pthread_mutex_unlock(&tasks.lock);
    }
    return code;
}

void standin_leave_p(const int *entered) {
    (void)entered;
    pthread_mutex_unlock(&tasks.lock);
}

/* As a driver to come may want what no room allows today. */
static bool has_socket(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

int cuInit(unsigned flags) {
    ENTER(cuInit, NEED_NOTHING);
    if (conf.bad[0]) {
        (void)fprintf(stderr, "libcuda stand-in: not understood: %s\n", conf.bad);
        return CUDA_UNKNOWN;
    }
    if (flags) {
        return CUDA_INVALID_VALUE;
    }
    if (conf.devices <= 0) {
        return CUDA_NO_DEVICE;
    }
    if (conf.wants_socket && !has_socket()) {
        return 304; /* CUDA_ERROR_OPERATING_SYSTEM */
    }
    standin.initialised = true;
    return standin.inherited ? CUDA_NOT_INITIALIZED : CUDA_OK;
}

/* Not of the table: NVRTC opens the libcuda that it finds and asks for private tables,
 * without which it goes on. */
STANDIN_EXPORT int cuGetExportTable(const void **ret, const struct cuda_uuid *id);
int cuGetExportTable(const void **ret, const struct cuda_uuid *id) {
    (void)id;
    *ret = NULL;
    return CUDA_NOT_FOUND;
}

/* ---- handles ---- */

void object_add(struct object *o, enum object_kind kind) {
    o->kind = kind;
    o->next = standin.objects[kind];
    standin.objects[kind] = o;
}

void object_remove(struct object *o) {
    struct object **at = &standin.objects[o->kind];
    while (*at && *at != o) {
        at = &(*at)->next;
    }
    if (*at) {
        *at = o->next;
    }
}

void *object_find(const void *handle, enum object_kind kind) {
    struct object *o = standin.objects[kind];
    while (o && (const void *)o != handle) {
        o = o->next;
    }
    return o;
}

void *object_first(enum object_kind kind) {
    return standin.objects[kind];
}
