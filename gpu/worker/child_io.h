#pragma once
/* child_io: how a child of the worker takes its job: the text on its socket, to the end.
 * Blocking; interrupted calls go on. The answer goes back with file_write_all. */
#include <stdbool.h>

struct buf;

/* False at an error or at out's limit. */
bool child_take(int socket, struct buf *out);
