#pragma once
/* fd_channel: a socket between two processes that transports open descriptors, in
 * parcels.
 *
 * A key identifies a parcel. The sender names the key in a message of the processes' own
 * protocol, and the receiver takes the parcel when it reads that message. Nothing here
 * blocks, except fd_parcel_receive with `wait`. For one thread. */
#include "base/mem.h"

#define FD_CHANNEL_INHERITED 3 /* its number in a program that is given one (child.h) */
#define FD_PARCEL_MAX 253      /* SCM_MAX_FD: descriptors of one parcel */

struct fd_parcel;
struct fd_channel {
    int socket; /* -1: none */
    struct fd_parcel *waiting;
    size_t count;
};

/* Creates both ends with close-on-exec. 0 or -errno. */
int fd_channel_pair(int ret_ends[static 2]);
/* The caller keeps the descriptors. 0 or -errno: -EAGAIN while the socket is full. */
int fd_parcel_send(int socket, uint64_t key, const int *fds, size_t count);
/* Receives the next parcel: the number of its descriptors (at most FD_PARCEL_MAX; the
 * caller owns them), -EAGAIN, or another -errno: the other end is gone. */
int fd_parcel_receive(int socket, bool wait, uint64_t *ret_key, int *ret_fds);
/* Takes the received parcel with this key: the number of its descriptors (at most
 * FD_PARCEL_MAX; the caller owns them), or 0 if it has not arrived. */
size_t fd_channel_take(struct fd_channel *c, uint64_t key, int *ret_fds);
/* Closes the socket and the descriptors of parcels that were not taken. */
void fd_channel_finish(struct fd_channel *c);
