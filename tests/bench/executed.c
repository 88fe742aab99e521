/* Preloaded into programs that are compiled with -finstrument-functions, to find out which
 * of their functions are executed: a byte for each address in the file EXECUTED/PROGRAM,
 * which all processes of a program share. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOST ((size_t)64 << 20)

/* Calls through a pointer, of all processes, in the file EXECUTED/calls. */
struct call {
    uint64_t ns, is_worker, process, function, caller;
};
struct calls {
    _Atomic uint64_t count;
    struct call list[];
};

static unsigned char *seen;
static struct calls *calls;
static uintptr_t base;

static int first_object(struct dl_phdr_info *info, size_t size, void *arg) {
    (void)size, (void)arg;
    base = info->dlpi_addr;
    return 1;
}

static void *map_shared(const char *name) {
    char path[PATH_MAX];
    const char *folder = getenv("EXECUTED");
    if (!folder || snprintf(path, sizeof(path), "%s/%s", folder, name) >= PATH_MAX)
        return NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *at = fd < 0 || ftruncate(fd, (off_t)MOST)
                   ? MAP_FAILED
                   : mmap(NULL, MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return at == MAP_FAILED ? NULL : at;
}

__attribute__((constructor)) static void begin(void) {
    dl_iterate_phdr(first_object, NULL);
    calls = map_shared("calls");
    seen = calls ? map_shared(program_invocation_short_name) : NULL;
}

/* Whether the instruction before `caller` names the function that it calls: another one
 * than was entered, after a call in tail position. */
static int is_direct(uintptr_t caller) {
    int32_t offset;
    memcpy(&offset, (const void *)(caller - sizeof(offset)), sizeof(offset));
    return *(const unsigned char *)(caller - sizeof(offset) - 1) == 0xe8 &&
           caller + (uintptr_t)(intptr_t)offset - base < MOST;
}

static void note_call(uintptr_t function, uintptr_t caller) {
    struct timespec now;
    uint64_t at = calls->count++;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (at < MOST / sizeof(struct call) - 1)
        calls->list[at] = (struct call){
            .ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec,
            .is_worker = strcmp(program_invocation_short_name, "upskilld") != 0,
            .process = (uint64_t)getpid(),
            .function = function - base,
            .caller = caller - base,
        };
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller) {
    uintptr_t at = (uintptr_t)function - base;
    if (seen && at < MOST)
        seen[at] = 1;
    if (seen && !is_direct((uintptr_t)caller))
        note_call((uintptr_t)function, (uintptr_t)caller);
}

void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function, (void)caller;
}
