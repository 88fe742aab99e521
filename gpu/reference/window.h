#pragma once
/* window: the position of a pooling or convolution kernel in its input, in one to three
 * spatial dimensions (missing ones have the extent 1). */
#include "gpu/reference/operator_call.h"

struct window {
    size_t rank; /* 1 to 3: spatial dimensions */
    int64_t in[3], out[3], kernel[3], stride[3], padding[3], dilation[3];
    int64_t inputs, outputs, taps; /* products of in, out and kernel */
};

/* Reads input 0 as planes of spatial dimensions; it has rank + 1 or rank + 2
 * dimensions. */
int window_start(struct operator_call *c, size_t rank, struct window *ret);
/* Reads stride, padding and, if `dilated`, dilation from the attributes of those names
 * (padding may be at most half the kernel if `half`); a missing stride is the kernel's
 * extent. */
int window_attributes(struct operator_call *c, struct window *w, bool half, bool dilated);
/* The outputs' extents: rounded down, or with ceil by torch's rule that the last window
 * must start within the input or its left padding. */
int window_extents(struct operator_call *c, struct window *w, bool ceil);
/* The output: input 0's shape with other channels (0: the same number) and the window's
 * extents. */
int window_output(struct operator_call *c, size_t output, const struct window *w,
                  int64_t channels);
/* The i-th of count positions as up to three coordinates. */
void window_place(const int64_t *extents, int64_t i, int64_t *ret);
