#include "gpu/pool/open_files.h"

#include "base/buf.h"

#include <unistd.h>

struct open_files *open_files_new(void) {
    struct open_files *files = xcalloc(1, sizeof *files);
    files->holders = 1;
    return files;
}

struct open_files *open_files_ref(struct open_files *files) {
    files->holders++;
    return files;
}

void open_files_unref(struct open_files *files) {
    if (!files || --files->holders > 0) {
        return;
    }
    for (size_t i = 0; i < files->count; i++) {
        close(files->fds[i]);
    }
    free(files);
}

int open_files_add(struct open_files *files, int fd, uint64_t size) {
    if (files->count == OPEN_FILES_MAX) {
        close(fd);
        return -E2BIG;
    }
    files->fds[files->count] = fd;
    files->sizes[files->count++] = size;
    files->bytes += size;
    return 0;
}

static int read_one(int fd, uint64_t size, struct buf *out) {
    char *to = buf_reserve(out, size);
    for (uint64_t at = 0; to && at < size;) {
        ssize_t n = pread(fd, to + at, size - at, (off_t)at);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return -EIO;
        }
        at += n > 0 ? (uint64_t)n : 0;
    }
    if (to) {
        buf_commit(out, size);
    }
    return to ? 0 : -EMSGSIZE;
}

int open_files_read(const struct open_files *files, struct buf *out) {
    int r = 0;
    for (size_t i = 0; r == 0 && i < files->count; i++) {
        r = files->sizes[i] ? read_one(files->fds[i], files->sizes[i], out) : 0;
    }
    return r;
}
