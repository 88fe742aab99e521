#pragma once
/* sealed: bytes as memory that other processes can map and nobody can change.
 *
 * What has tens of megabytes is written once, on some thread. A process on this machine
 * gets it as a descriptor, one elsewhere, and who gets little, as bytes. */
#include <stddef.h>

struct shared_bytes; /* base/buf.h */

/* A descriptor, for the caller to close, or -errno. */
int bytes_seal(const char *bytes, size_t len);
/* The one that holds these; -1: they are few, or it could not be made. */
int shared_bytes_fd(const struct shared_bytes *shared);
