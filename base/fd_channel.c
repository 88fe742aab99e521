#include "base/fd_channel.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define SEALED_FROM ((size_t)256 << 10) /* fewer are copied, and cost no descriptor */
enum { MAX_WAITING = 4096 }; /* parcels that were not taken; the oldest is dropped */

/* --- sealed memory --- */

int bytes_seal(const char *bytes, size_t len) {
    int fd = memfd_create("upskilld", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int r = fd < 0 ? -errno : file_write_all(fd, bytes, len);
    if (r == 0 && fcntl(fd, F_ADD_SEALS,
                        F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0) {
        r = -errno;
    }
    if (r < 0) {
        fd_close_p(&fd);
    }
    return r < 0 ? r : fd;
}

struct sealed {
    struct shared_bytes shared; /* first */
    int fd;                     /* that shared.data maps; -1: it is malloc'ed */
};

struct shared_bytes *shared_bytes_new(struct buf *bytes) {
    struct sealed *s = xcalloc(1, sizeof *s);
    size_t len = bytes->len;
    int fd = len < SEALED_FROM ? -1 : bytes_seal(bytes->data, len);
    void *mapped = fd < 0 ? MAP_FAILED : mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, 0);
    bool is_mapped = mapped != MAP_FAILED;
    if (!is_mapped) {
        fd_close_p(&fd);
    }
    s->fd = is_mapped ? fd : -1;
    s->shared = (struct shared_bytes){
        .holders = 1, .data = is_mapped ? mapped : buf_detach(bytes), .len = len};
    buf_finish(bytes);
    return &s->shared;
}

int shared_bytes_fd(const struct shared_bytes *shared) {
    return ((const struct sealed *)(const void *)shared)->fd;
}

struct shared_bytes *shared_bytes_ref(struct shared_bytes *shared) {
    shared->holders++;
    return shared;
}

void shared_bytes_unref(struct shared_bytes *shared) {
    if (!shared || --shared->holders > 0) {
        return;
    }
    struct sealed *s = container_of(shared, struct sealed, shared);
    if (s->fd < 0) {
        free(shared->data);
    } else {
        munmap(shared->data, shared->len);
        close(s->fd);
    }
    free(s);
}

/* --- parcels --- */

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
