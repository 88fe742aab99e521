#pragma once
/* child_io: the format of a worker child's input and output on its socket.
 *
 * A job is a line with a small JSON object, the head, which the supervisor wrote,
 * followed by the bytes attached to the request, which the supervisor did not parse. The
 * files of a request follow ("file_bytes" of the head has their sizes), or they are
 * descriptors that the child inherits: then its fourth argument lists them, such as
 * "7,9:12", where the number after the colon is the shared memory for saved arrays. */
#include "base/buf.h"
#include "base/json.h"

#include "gpu/spec/spec_npy.h"

#include <stdbool.h>

#define CHILD_MAX_ANSWER (16u << 20) /* bytes of an answer's text */

struct child_job {
    struct buf text; /* all of it */
    json_t *head;    /* NULL: the line was not an object */
    char *attached;  /* in text */
    size_t len;      /* without files behind it */
    struct spec_file *files;
    size_t file_count;
    int arena; /* or -1 */
};
#define CHILD_NO_FILES "-"
/* Reads the job until the end of the socket's input; blocks. files: that argument. False
 * on an error, including a file that has changed. */
bool child_job_take(struct child_job *ret, int socket, const char *files);
/* The same for a text that was read already; takes over its contents. */
void child_job_read(struct child_job *ret, struct buf *text);
void child_job_finish(struct child_job *job); /* does not unmap files */
/* The parsed attachment with the members of more (borrowed) added; NULL if it is not an
 * object. Changes the text. */
json_t *child_job_request(struct child_job *job, json_t *more);

/* Writes a validation's answer after its notes: the line {"answer": {"bytes",
 * "on_device"}}, then the answer. on_device: the supervisor must read it, because another
 * run may follow. False if it could not be written. */
bool child_answer(int socket, const json_t *answer, bool on_device);
