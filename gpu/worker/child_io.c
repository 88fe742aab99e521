#include "gpu/worker/child_io.h"

#include "base/buf.h"
#include "base/fd_channel.h"
#include "base/file.h"
#include "protocol/rpc/frame.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };
#define MAX_HEAD                                                                         \
    (FRAME_MAX_BODY + PIECE) /* a request's params, and a little around them */

static bool take_all(int socket, struct buf *out) {
    for (;;) {
        char *at = buf_reserve(out, PIECE);
        ssize_t n = at ? read(socket, at, PIECE) : -1;
        if (n < 0 && at && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return n == 0;
        }
        buf_commit(out, (size_t)n);
    }
}

/* Behind what is attached; none where they say more than came. */
static void files_behind(struct child_job *job, const json_t *sizes) {
    size_t all = 0;
    for (size_t i = job->file_count; i-- > 0;) {
        json_int_t size = json_integer_value(json_array_get(sizes, i));
        if (size < 0 || (uint64_t)size > job->len - all) {
            job->file_count = 0;
            return;
        }
        all += (size_t)size;
        job->files[i] = (struct spec_file){job->attached + job->len - all, (size_t)size};
    }
    job->len -= all;
}

/* NULL when it cannot be, or is empty. */
static void *map_whole(int fd, int protection, size_t *ret_len) {
    struct stat st;
    void *at = fstat(fd, &st) == 0 && st.st_size > 0
                   ? mmap(NULL, (size_t)st.st_size, protection, MAP_PRIVATE, fd, 0)
                   : MAP_FAILED;
    close(fd);
    *ret_len = at == MAP_FAILED ? 0 : (size_t)st.st_size;
    return at == MAP_FAILED ? NULL : at;
}

static bool files_map(struct child_job *job, const json_t *sizes, const int *fds) {
    bool whole = true;
    for (size_t i = 0; i < job->file_count; i++) {
        struct spec_file *file = &job->files[i];
        file->bytes = map_whole(fds[i], PROT_READ, &file->len);
        whole &= file->bytes &&
                 json_integer_value(json_array_get(sizes, i)) == (json_int_t)file->len;
    }
    return whole;
}

/* fds: of the files; as many as those are, or none. */
static bool files_take(struct child_job *job, const int *fds, size_t count) {
    const json_t *sizes = json_object_get(job->head, "file_bytes");
    if (!sizes) { /* of a run under a tool */
        sizes = json_object_get(json_object_get(job->head, "params"), "file_bytes");
    }
    job->file_count = json_array_size(sizes);
    job->files = xcalloc(job->file_count ? job->file_count : 1, sizeof *job->files);
    if (count) {
        return count == job->file_count && files_map(job, sizes, fds);
    }
    files_behind(job, sizes);
    return true;
}

bool child_job_read(struct child_job *ret, int fd) {
    size_t len;
    char *all = map_whole(fd, PROT_READ | PROT_WRITE, &len);
    char *newline = all ? memchr(all, '\n', len) : NULL;
    if (!newline) {
        return false;
    }
    *ret = (struct child_job){.head = json_parse(all, (size_t)(newline - all), NULL),
                              .attached = newline + 1,
                              .len = len - (size_t)(newline + 1 - all),
                              .arena = -1};
    return files_take(ret, NULL, 0);
}

bool child_job_take(struct child_job *ret, int socket) {
    autobuf line = BUF_INIT(MAX_HEAD);
    int fds[FD_PARCEL_MAX];
    uint64_t key = CHILD_PLAIN;
    int count = fd_parcel_receive(socket, true, &key, fds);
    bool whole = count >= 0 && take_all(socket, &line);
    *ret = (struct child_job){.arena = -1};
    if (!whole) {
        return false;
    }
    ret->head = json_parse(line.data, line.len, NULL);
    if (count && key == CHILD_ARENA) {
        ret->arena = fds[--count];
    }
    if (count) {
        ret->attached = map_whole(fds[0], PROT_READ | PROT_WRITE, &ret->len);
    }
    return !count || (ret->attached && files_take(ret, fds + 1, (size_t)count - 1));
}

void child_job_finish(struct child_job *job) {
    json_decref(job->head);
    free(job->files);
}

json_t *child_job_request(struct child_job *job, json_t *more) {
    json_t *request = json_parse(job->attached, job->len, NULL);
    if (json_object_update(request, more) < 0) {
        json_decref(request);
        return NULL;
    }
    return request;
}

bool child_answer(int socket, const json_t *answer, bool on_device) {
    autobuf text = BUF_INIT(CHILD_MAX_ANSWER), line = BUF_INIT(128);
    if (json_write(&text, answer) < 0) {
        return false;
    }
    buf_addf(&line, "{\"answer\":{\"bytes\":%zu,\"on_device\":%s}}\n", text.len,
             on_device ? "true" : "false");
    return file_write_all(socket, line.data, line.len) >= 0 &&
           file_write_all(socket, text.data, text.len) >= 0;
}
