#pragma once
/* child_io: the format of a worker child's input and output on its socket.
 *
 * A job is a parcel of descriptors (fd_channel.h), followed by a line with a small JSON
 * object, the head, which the supervisor wrote. The first descriptor is the attachment of
 * the request, which the supervisor did not parse. The files of the request follow,
 * unless their bytes follow the attachment in the same descriptor ("file_bytes" of the
 * head has their sizes). If the parcel's key is CHILD_ARENA, the last descriptor is the
 * shared memory for saved arrays. */

#include "gpu/spec/spec_npy.h"

#define CHILD_MAX_ANSWER (16u << 20) /* bytes of an answer's text */

enum child_parcel { CHILD_PLAIN, CHILD_ARENA };

struct child_job {
    json_t *head;   /* NULL: the line was no object */
    char *attached; /* mapped, for this process alone; NULL: nothing */
    size_t len;     /* without the files after it */
    struct spec_file *files;
    size_t file_count;
    int arena; /* or -1 */
};
/* Blocking, to the end of the socket's input. False on an error, also when a file has
 * changed. */
bool child_job_take(struct child_job *ret, int socket);
/* Reads a file that holds the head, a newline, the attachment and the files; closes fd.
 */
bool child_job_read(struct child_job *ret, int fd);
void child_job_finish(struct child_job *job); /* does not unmap */
/* The parsed attachment with the members of more (borrowed) added; NULL if it is not an
 * object. Changes the text. */
json_t *child_job_request(struct child_job *job, json_t *more);

/* Writes a validation's answer after its notes: the line {"answer": {"bytes",
 * "on_device"}}, then the answer. on_device: the supervisor must read it, because another
 * run may follow. False if it could not be written. */
bool child_answer(int socket, const json_t *answer, bool on_device);
