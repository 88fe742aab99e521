#pragma once
/* open_files: files that a job's worker gets as they are: their descriptors where it runs
 * here, else their bytes behind what is attached to the request.
 *
 * Several holders, all on one thread. */
#include <stddef.h>
#include <stdint.h>

struct buf;

#define OPEN_FILES_MAX 192
#define OPEN_FILES_MAX_SENT (40u << 20) /* bytes of all that go to a worker elsewhere */

struct open_files {
    size_t holders, count;
    int fds[OPEN_FILES_MAX];
    uint64_t sizes[OPEN_FILES_MAX];
    uint64_t bytes; /* of all */
};

struct open_files *open_files_new(void); /* one holder */
struct open_files *open_files_ref(struct open_files *files);
void open_files_unref(struct open_files *files); /* NULL is a no-op */
/* fd becomes theirs, also when there are too many: -E2BIG, which no check spec reaches.
 */
int open_files_add(struct open_files *files, int fd, uint64_t size);
/* All bytes, appended: -EIO when a file has become shorter, -EMSGSIZE. */
int open_files_read(const struct open_files *files, struct buf *out);
