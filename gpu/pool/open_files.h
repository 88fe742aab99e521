#pragma once
/* open_files: open files for a job's worker. A local worker gets their descriptors, any
 * other gets their bytes after the request's attachment. Reference-counted, on one
 * thread. */
#include "base/mem.h"

#define OPEN_FILES_MAX 192
#define OPEN_FILES_MAX_SENT (40u << 20) /* bytes of all files for a worker elsewhere */
struct open_files {
    size_t holders, count;
    int fds[OPEN_FILES_MAX];
    uint64_t sizes[OPEN_FILES_MAX];
    uint64_t bytes; /* of all */
};
struct open_files *open_files_new(void); /* one reference */
struct open_files *open_files_ref(struct open_files *files);
void open_files_unref(struct open_files *files); /* NULL is a no-op */
/* Takes ownership of fd, also on -E2BIG (too many), which no check spec reaches. */
int open_files_add(struct open_files *files, int fd, uint64_t size);
/* Appends the bytes of all files: -EIO if a file has become shorter, -EMSGSIZE. */
int open_files_read(const struct open_files *files, struct buf *out);
