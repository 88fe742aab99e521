#include "base/fd_channel.h"

#include <sys/socket.h>
#include <unistd.h>

enum { MAX_WAITING = 4096 }; /* parcels that were not taken; the oldest is dropped */

struct fd_parcel {
    uint64_t key;
    size_t count;
    int *fds;
};

union control {
    struct cmsghdr header;
    char room[CMSG_SPACE(FD_PARCEL_MAX * sizeof(int))];
};

int fd_channel_pair(int ret_ends[static 2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_ends) ? -errno : 0;
}

int fd_parcel_send(int socket, uint64_t key, const int *fds, size_t count) {
    struct iovec part = {.iov_base = &key, .iov_len = sizeof key};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > FD_PARCEL_MAX) {
        return -EINVAL;
    }
    if (count) {
        message.msg_control = control.room;
        message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
        struct cmsghdr *c = CMSG_FIRSTHDR(&message);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(count * sizeof *fds);
        memcpy(CMSG_DATA(c), fds, count * sizeof *fds);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof key ? 0
                                                                                : -errno;
}

static void parcel_drop(struct fd_channel *c, size_t at) {
    memmove(&c->waiting[at], &c->waiting[at + 1], (--c->count - at) * sizeof *c->waiting);
}

static void parcel_close(struct fd_parcel *p) {
    for (size_t i = 0; i < p->count; i++) {
        close(p->fds[i]);
    }
    free(p->fds);
}

int fd_parcel_receive(int socket, bool wait, uint64_t *ret_key, int *ret_fds) {
    struct iovec part = {.iov_base = ret_key, .iov_len = sizeof *ret_key};
    union control control = {0};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.room,
                             .msg_controllen = sizeof control.room};
    ssize_t n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    if (n != sizeof *ret_key) {
        return n < 0 ? -errno : -EPIPE;
    }
    const struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) {
        return 0;
    }
    size_t bytes = c->cmsg_len - CMSG_LEN(0);
    memcpy(ret_fds, CMSG_DATA(c), bytes);
    return (int)(bytes / sizeof *ret_fds);
}

static void parcel_keep(struct fd_channel *c, uint64_t key, const int *fds,
                        size_t count) {
    struct fd_parcel own = {key, count, xcalloc(count ? count : 1, sizeof *fds)};
    memcpy(own.fds, fds, count * sizeof *fds);
    if (c->count == MAX_WAITING) {
        parcel_close(&c->waiting[0]);
        parcel_drop(c, 0);
    }
    c->waiting = xreallocarray(c->waiting, c->count + 1, sizeof *c->waiting);
    c->waiting[c->count++] = own;
}

static void parcels_read(struct fd_channel *c) {
    int fds[FD_PARCEL_MAX], n = 0;
    uint64_t key;
    while (c->socket >= 0 && (n >= 0 || n == -EINTR)) {
        n = fd_parcel_receive(c->socket, false, &key, fds);
        if (n >= 0) {
            parcel_keep(c, key, fds, (size_t)n);
        }
    }
}

size_t fd_channel_take(struct fd_channel *c, uint64_t key, int *ret_fds) {
    parcels_read(c);
    for (size_t i = 0; i < c->count; i++) {
        struct fd_parcel found = c->waiting[i];
        if (found.key == key) {
            memcpy(ret_fds, found.fds, found.count * sizeof *found.fds);
            free(found.fds);
            parcel_drop(c, i);
            return found.count;
        }
    }
    return 0;
}

void fd_channel_finish(struct fd_channel *c) {
    for (size_t i = 0; i < c->count; i++) {
        parcel_close(&c->waiting[i]);
    }
    free(c->waiting);
    fd_close_p(&c->socket);
    *c = (struct fd_channel){.socket = -1};
}
