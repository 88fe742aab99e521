/* Descriptors between processes: parcels by their key, in any order, and none left open.
 */
#include "base/fd_channel.h"
#include "base/mem.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_of(const char *text) {
    int fd = memfd_create("text", MFD_CLOEXEC);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    return fd;
}

static void expect_text(int fd, const char *text) {
    char got[16] = "";
    cr_expect_eq(pread(fd, got, sizeof got - 1, 0), (ssize_t)strlen(text));
    cr_expect_str_eq(got, text);
    cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

static int lowest_free(void) {
    int fd = dup(0);
    close(fd);
    return fd;
}

Test(fd_channel, parcels_come_by_their_key) {
    int before = lowest_free(), ends[2], fds[FD_PARCEL_MAX];
    cr_assert_eq(fd_channel_pair(ends), 0);
    struct fd_channel c = {.socket = ends[1]};
    int a = file_of("a"), b = file_of("b");
    cr_expect_eq(fd_channel_take(&c, 1, fds), 0, "nothing came");
    cr_assert_eq(fd_parcel_send(ends[0], 1, (const int[]){a, b}, 2), 0);
    cr_assert_eq(fd_parcel_send(ends[0], 2, &b, 1), 0);
    cr_assert_eq(fd_parcel_send(ends[0], 3, &a, 1), 0);
    close(a);
    close(b);
    cr_assert_eq(fd_channel_take(&c, 2, fds), 1);
    expect_text(fds[0], "b");
    cr_expect_eq(fd_channel_take(&c, 2, fds), 0, "once");
    cr_assert_eq(fd_channel_take(&c, 1, fds), 2);
    expect_text(fds[0], "a");
    expect_text(fds[1], "b");
    close(ends[0]);
    cr_expect_eq(fd_channel_take(&c, 9, fds), 0, "the other end is gone");
    fd_channel_finish(&c); /* with the third */
    cr_expect_eq(lowest_free(), before);
}

Test(fd_channel, a_parcel_has_a_limit_and_never_blocks) {
    int ends[2], fds[FD_PARCEL_MAX + 1], got[FD_PARCEL_MAX], n = 0;
    uint64_t key = 0;
    cr_assert_eq(fd_channel_pair(ends), 0);
    for (int i = 0; i <= FD_PARCEL_MAX; i++) {
        fds[i] = 0;
    }
    cr_expect_eq(fd_parcel_send(ends[0], 5, fds, 0), 0, "it may be empty");
    cr_expect_eq(fd_parcel_receive(ends[1], true, &key, got), 0);
    cr_expect_eq(key, 5);
    cr_expect_eq(fd_parcel_send(ends[0], 1, fds, FD_PARCEL_MAX + 1), -EINVAL);
    cr_expect_eq(fd_parcel_send(ends[0], 7, fds, FD_PARCEL_MAX), 0);
    cr_expect_eq(fd_parcel_receive(ends[1], true, &key, got), FD_PARCEL_MAX);
    cr_expect_eq(key, 7);
    cr_expect_eq(fd_parcel_receive(ends[1], false, &key, got), -EAGAIN);
    while (n == 0) {
        n = fd_parcel_send(ends[0], 1, fds, 1);
    }
    cr_expect(n == -EAGAIN || n == -ETOOMANYREFS, "%d", n);
    close(ends[0]);
    close(ends[1]);
    cr_expect_eq(fd_parcel_send(ends[0], 1, fds, 1), -EBADF);
}
