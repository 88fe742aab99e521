#pragma once
/* child_io: what a child of the worker reads from its socket and writes to it.
 *
 * A job is a line with a small JSON object, the head, which the supervisor wrote, and
 * behind it the bytes that came attached to the request, which it did not look into.
 * Files that belong to a request are behind those ("file_bytes" of the head has their
 * sizes), or they are descriptors that the child was started with: then its fourth
 * argument names them, as "7,9:12" does, of which the last is the memory for arrays that
 * leave. */
#include "base/buf.h"
#include "base/json.h"

#include "gpu/spec/spec_npy.h"

#include <stdbool.h>

#define CHILD_MAX_ANSWER (16u << 20) /* bytes of an answer's text */

struct child_job {
    struct buf text; /* all of it */
    json_t *head;    /* NULL: the line was no object */
    char *attached;  /* in text */
    size_t len;      /* without files behind it */
    struct spec_file *files;
    size_t file_count;
    int arena; /* or -1 */
};
#define CHILD_NO_FILES "-"
/* Blocking, to the end of what the socket says. files: that argument. False at an error,
 * also when a file is not what it was. */
bool child_job_take(struct child_job *ret, int socket, const char *files);
/* The same for a text that was read already: it is moved away. */
void child_job_read(struct child_job *ret, struct buf *text);
void child_job_finish(struct child_job *job); /* but files that are mapped */
/* What is attached, parsed, with the members of more (borrowed) in it; NULL when it is no
 * object. Changes the text. */
json_t *child_job_request(struct child_job *job, json_t *more);

/* A validation's answer, behind its notes: the line {"answer": {"bytes", "on_device"}},
 * and then it. on_device: the supervisor is to read it, for there may be more to do.
 * False when it could not be written. */
bool child_answer(int socket, const json_t *answer, bool on_device);
