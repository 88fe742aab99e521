#include "base/shared_bytes.h"

#include "base/buf.h"
#include "base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SEALED_FROM ((size_t)256 << 10) /* fewer are copied, and cost no descriptor */

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
