#pragma once
/* fd_channel: a socket between two processes over which open descriptors go, in parcels.
 *
 * What a parcel is for is said elsewhere, by its key: whoever sends one then names the
 * key in a message of the processes' own protocol, and the receiver takes the parcel when
 * it reads that. Nothing here blocks, and all of it is for one thread. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FD_CHANNEL_INHERITED 3 /* its number in a program that is given one (child.h) */
#define FD_PARCEL_MAX 253      /* SCM_MAX_FD: descriptors of one parcel */

struct fd_parcel;
struct fd_channel {
    int socket; /* -1: none */
    struct fd_parcel *waiting;
    size_t count;
};

/* Both ends, which programs that are started do not inherit. 0 or -errno. */
int fd_channel_pair(int ret_ends[static 2]);
/* The descriptors stay the caller's. 0 or -errno: -EAGAIN while much waits to be read. */
int fd_parcel_send(int socket, uint64_t key, const int *fds, size_t count);
/* The next parcel, waited for or not: how many descriptors it has (FD_PARCEL_MAX at most;
 * they are the caller's), -EAGAIN, or another -errno: the other end is gone. */
int fd_parcel_receive(int socket, bool wait, uint64_t *ret_key, int *ret_fds);
/* The parcel of this key, among all that came: its descriptors (FD_PARCEL_MAX at most)
 * are the caller's, and how many they are is returned. 0: it has not come. */
size_t fd_channel_take(struct fd_channel *c, uint64_t key, int *ret_fds);
/* Closes the socket and what nobody took. */
void fd_channel_finish(struct fd_channel *c);
