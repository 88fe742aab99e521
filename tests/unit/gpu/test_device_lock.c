/* One at a time on one GPU, whoever it is and however it ends. */
#include "gpu/driver/device_lock.h"

#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UUID "GPU-5d5d5d5d-0000-1111-2222-000000000001"

static char folder[] = "/tmp/device-lock-XXXXXX";

static void enter(void) {
    cr_assert(mkdtemp(folder));
}
static void leave(void) {
    autofree char *file = xasprintf("%s/gpu-%s.lock", folder, UUID);
    unlink(file);
    cr_assert_eq(rmdir(folder), 0);
}

static struct device_lock opened(void) {
    struct device_lock lock;
    struct err err = {0};
    int r = device_lock_open(&lock, folder, UUID, &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    return lock;
}

Test(device_lock, of_two_one_waits, .init = enter, .fini = leave) {
    struct device_lock a = opened(), b = opened();
    struct err err = {0};
    uint64_t waited = 77;
    cr_assert_eq(device_lock_wait(&a, 0, &waited, &err), 0);
    cr_expect(a.held);
    cr_expect_eq(device_lock_wait(&b, clock_ms() + 30, &waited, &err), -ETIMEDOUT);
    cr_expect(strstr(err.msg, b.path), "%s", err.msg);
    cr_expect(!b.held);
    device_lock_release(&a);
    cr_expect_eq(device_lock_wait(&b, 0, &waited, &err), 0);
    device_lock_close(&b); /* frees what is held */
    cr_expect_eq(device_lock_wait(&a, 0, &waited, &err), 0);
    device_lock_close(&a);
}

/* The holder tells when it holds, and is then killed while another waits. */
Test(device_lock, a_killed_holder_frees_it, .init = enter, .fini = leave) {
    int said[2];
    char byte;
    uint64_t waited = 0;
    struct err err = {0};
    cr_assert_eq(pipe(said), 0);
    pid_t holder = fork();
    if (!holder) {
        struct device_lock own = opened();
        if (device_lock_wait(&own, 0, &waited, NULL) == 0 &&
            write(said[1], "h", 1) == 1) {
            pause();
        }
        _exit(1);
    }
    cr_assert_eq(read(said[0], &byte, 1), 1);
    struct device_lock lock = opened();
    cr_assert_eq(device_lock_wait(&lock, clock_ms() + 60, &waited, &err), -ETIMEDOUT);
    pid_t killer = fork();
    if (!killer) {
        usleep(50000);
        kill(holder, SIGKILL);
        _exit(0);
    }
    cr_expect_eq(device_lock_wait(&lock, clock_ms() + 300000, &waited, &err), 0, "%s",
                 err.msg);
    waitpid(holder, NULL, 0);
    waitpid(killer, NULL, 0);
    device_lock_close(&lock);
    close(said[0]);
    close(said[1]);
}

/* Waits in turn: whoever holds it finds the count as it left it. */
Test(device_lock, many_take_turns, .init = enter, .fini = leave) {
    enum { PROCESSES = 4, TURNS = 5 };
    autofree char *path = xasprintf("%s/count", folder);
    int count = 0;
    FILE *f = fopen(path, "w");
    fprintf(f, "0");
    fclose(f);
    for (int i = 0; i < PROCESSES; i++) {
        if (fork() == 0) {
            struct device_lock lock = opened();
            uint64_t waited;
            for (int k = 0; k < TURNS; k++) {
                int n = 0;
                if (device_lock_wait(&lock, clock_ms() + 300000, &waited, NULL) < 0 ||
                    !(f = fopen(path, "r+")) || fscanf(f, "%d", &n) != 1) {
                    _exit(1);
                }
                usleep(1000);
                rewind(f);
                fprintf(f, "%d", n + 1);
                fclose(f);
                device_lock_release(&lock);
            }
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        cr_assert_gt(wait(&status), 0);
        cr_expect_eq(status, 0);
    }
    f = fopen(path, "r");
    cr_assert_eq(fscanf(f, "%d", &count), 1);
    fclose(f);
    unlink(path);
    cr_expect_eq(count, PROCESSES * TURNS);
}

Test(device_lock, only_in_a_folder_of_ones_own, .init = enter, .fini = leave) {
    struct device_lock lock;
    struct err err = {0};
    static const char *const bad[] = {"", "../x", "a/b", "GPU 1", "a.b"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        cr_expect_eq(device_lock_open(&lock, folder, bad[i], &err), -EINVAL);
        cr_expect_eq(lock.fd, -1);
    }
    cr_assert_eq(chmod(folder, 0777), 0);
    cr_expect_eq(device_lock_open(&lock, folder, UUID, &err), -EACCES);
    cr_assert_eq(chmod(folder, 0700), 0);
    autofree char *link = xasprintf("%s-link", folder);
    cr_assert_eq(symlink(folder, link), 0);
    cr_expect_lt(device_lock_open(&lock, link, UUID, &err), 0);
    unlink(link);
    cr_expect_lt(device_lock_open(&lock, "/nowhere/at/all", UUID, &err), 0);
    device_lock_close(&lock);
}

Test(device_lock, everybody_of_one_user_meets) {
    struct device_lock a, b;
    char place[64];
    struct stat st;
    struct err err = {0};
    int r = device_lock_open(&a, NULL, "GPU-of-a-test", &err);
    cr_assert_eq(r, 0, "%s", err.msg);
    cr_assert_eq(device_lock_open(&b, NULL, "GPU-of-a-test", &err), 0);
    cr_expect_str_eq(a.path, b.path);
    snprintf(place, sizeof place, "/tmp/upskilld-%u/", (unsigned)geteuid());
    cr_expect(!strncmp(a.path, place, strlen(place)) ||
              !strncmp(a.path, "/run/user/", 10));
    cr_assert_eq(fstat(a.fd, &st), 0);
    cr_expect_eq(st.st_mode & 0777, 0600);
    unlink(a.path);
    device_lock_close(&a);
    device_lock_close(&b);
}
