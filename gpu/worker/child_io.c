#include "gpu/worker/child_io.h"

#include "base/file.h"
#include "protocol/rpc/frame.h"

#include <errno.h>
#include <string.h>
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

void child_job_read(struct child_job *ret, struct buf *text) {
    *ret = (struct child_job){.text = *text};
    *text = BUF_INIT(0);
    size_t line = strcspn(ret->text.data, "\n"), rest = line + 1;
    rest = rest < ret->text.len ? rest : ret->text.len;
    ret->attached = ret->text.data + rest;
    ret->len = ret->text.len - rest;
    ret->head = json_parse(ret->text.data, line, NULL);
}

bool child_job_take(struct child_job *ret, int socket) {
    autobuf text = BUF_INIT(MAX_JOB);
    bool whole = take_all(socket, &text);
    child_job_read(ret, &text);
    return whole;
}

void child_job_finish(struct child_job *job) {
    buf_finish(&job->text);
    json_decref(job->head);
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
