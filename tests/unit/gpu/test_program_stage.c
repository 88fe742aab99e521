#include "gpu/worker/program_stage.h"

#include "base/buf.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* What the stage runs: this program, with the number of MiB. Shared memory that a process
 * lets go by MADV_DONTNEED stays until it is unmapped (madvise(2)). */
static int drop(size_t bytes) {
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (size_t at = 0; at < bytes; at += MIB) {
        memset(p + at, 1, MIB);
        (void)madvise(p + at, MIB, MADV_DONTNEED);
    }
    sleep(1); /* longer than between two looks */
    return p[bytes - 1] == 1 ? 0 : 1;
}

__attribute__((constructor)) static void stage_main(void) {
    const char *mib = getenv("STAGE_DROPS_MIB");
    if (mib) {
        _exit(drop((size_t)atoi(mib) * MIB));
    }
}

static struct program_end run(const char *drops, size_t limit) {
    char own[256] = "";
    (void)!readlink("/proc/self/exe", own, sizeof own - 1);
    struct buf out = BUF_INIT(4096), error = BUF_INIT(4096);
    const char *argv[] = {own, NULL}, *environment[] = {drops, NULL};
    const char *reads[] = {"/", NULL}, *starts[] = {"/", NULL};
    const struct confine_rules rules = {.read_paths = reads,
                                        .exec_paths = starts,
                                        .may_compute = true,
                                        .may_thread = true,
                                        .memory_bytes = (size_t)1 << 40};
    const struct program_stage stage = {.argv = argv,
                                        .environment = environment,
                                        .folder = "/",
                                        .rules = &rules,
                                        .out = &out,
                                        .error = &error,
                                        .wall_ms = 20000,
                                        .resident_bytes = limit};
    struct program_end end;
    program_stage_run(&stage, &end);
    buf_finish(&out);
    buf_finish(&error);
    return end;
}

/* The keeper's process, because it adopts and kills. */
Test(program_stage, shared_memory_that_is_dropped_counts) {
    struct program_end end = run("STAGE_DROPS_MIB=256", 64 * MIB);
    cr_assert(end.failure == 0 && end.over == LIMIT_MEMORY, "%d %d %x", end.failure,
              end.over, end.status);
    end = run("STAGE_DROPS_MIB=16", 64 * MIB);
    cr_assert(end.failure == 0 && end.over == LIMIT_NONE && end.status == 0, "%d %d %x",
              end.failure, end.over, end.status);
}
