#pragma once
/* window: where a kernel of a pooling or convolution stands in its input, in one to three
 * spatial dimensions (those that an operator lacks have the extent 1). */
#include "gpu/reference/operator_call.h"

struct window {
    size_t rank; /* 1 to 3: spatial dimensions */
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    int64_t inputs, outputs, taps; /* products of in, out and kernel */
};

/* Input 0 as planes of spatial dimensions; rank + 1 or rank + 2 dimensions. */
int window_start(struct operator_call *c, size_t rank, struct window *ret);
/* stride, padding and, when `dilated`, dilation from the attributes of those names
 * (padding may be up to half the kernel when `half`); a stride that is not given is the
 * kernel's extent. */
int window_attributes(struct operator_call *c, struct window *w, bool half, bool dilated);
/* The outputs' extents: floor, or with ceil torch's rule that the last window must start
 * within the input or its left padding. */
int window_extents(struct operator_call *c, struct window *w, bool ceil);
/* The output: input 0 with other channels (0: as many) and the window's extents. */
int window_output(struct operator_call *c, size_t output, const struct window *w,
                  int64_t channels);
/* The i-th of count positions as up to three coordinates. */
void window_place(const int64_t *extents, int64_t i, int64_t *ret);
