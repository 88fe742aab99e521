#include "gpu/worker/child_io.h"

#include "base/file.h"
#include "base/mem.h"
#include "protocol/rpc/frame.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 256 << 10 };
#define MAX_JOB                                                                          \
    (2 * (size_t)FRAME_MAX_BODY + PIECE) /* a request, and a little around it */

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

/* Behind the text; nothing where they say more than came. */
static void files_behind(struct child_job *job) {
    const json_t *sizes = json_object_get(job->head, "file_bytes");
    size_t all = 0;
    job->file_count = json_array_size(sizes);
    job->files = xcalloc(job->file_count ? job->file_count : 1, sizeof *job->files);
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

static bool file_map(struct spec_file *ret, int fd, json_int_t size) {
    struct stat st;
    bool whole = size > 0 && fstat(fd, &st) == 0 && st.st_size == size;
    void *at =
        whole ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    *ret = (struct spec_file){at, (size_t)size};
    return at != MAP_FAILED;
}

/* "7,9:12" */
static bool files_map(struct child_job *job, const char *text) {
    const json_t *sizes = json_object_get(job->head, "file_bytes");
    if (!sizes) { /* of a run under a tool */
        sizes = json_object_get(json_object_get(job->head, "params"), "file_bytes");
    }
    size_t count = json_array_size(sizes);
    job->files = xcalloc(count ? count : 1, sizeof *job->files);
    while (*text && *text != ':') {
        char *end;
        int fd = (int)strtol(text, &end, 10);
        size_t i = job->file_count++;
        if (i >= count ||
            !file_map(&job->files[i], fd, json_integer_value(json_array_get(sizes, i)))) {
            return false;
        }
        text = end + (*end == ',');
    }
    job->arena = *text ? atoi(text + 1) : -1;
    return true;
}

static void job_split(struct child_job *ret, struct buf *text) {
    *ret = (struct child_job){.text = *text, .arena = -1};
    *text = BUF_INIT(0);
    size_t line = strcspn(ret->text.data, "\n"), rest = line + 1;
    rest = rest < ret->text.len ? rest : ret->text.len;
    ret->attached = ret->text.data + rest;
    ret->len = ret->text.len - rest;
    ret->head = json_parse(ret->text.data, line, NULL);
}

void child_job_read(struct child_job *ret, struct buf *text) {
    job_split(ret, text);
    files_behind(ret);
}

bool child_job_take(struct child_job *ret, int socket, const char *files) {
    autobuf text = BUF_INIT(MAX_JOB);
    bool whole = take_all(socket, &text);
    job_split(ret, &text);
    if (strchr(files, ':') || isdigit((unsigned char)*files)) {
        return files_map(ret, files) && whole;
    }
    files_behind(ret);
    return whole;
}

void child_job_finish(struct child_job *job) {
    buf_finish(&job->text);
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
