#pragma once
/* streams: what the program's streams hold. All are served in the order of the calls. */
#include "gpu/device/queue.h"
#include "gpu/runtime/cuda_types.h"

#include <stdbool.h>

/* Puts op (taken over, also on failure) into a stream. */
cudart_error stream_put(struct stream *s, struct op *op);
/* The same, and waits until it is done. */
cudart_error stream_put_wait(struct stream *s, struct op *op);
bool stream_is_known(struct stream *s);
