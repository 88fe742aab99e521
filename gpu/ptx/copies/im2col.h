#pragma once
/* im2col: the pixels that a tensor copy in im2col mode takes, and their order.
 *
 * The tensor is a batch of images with the dimensions channels, width, height?, depth?,
 * images. Along width, height and depth the coordinates give the position of the filter's
 * first element. It moves through the map's bounding box, from the lower corner to the
 * upper one by the traversal strides, then to the next row, plane and image, until there
 * are `pixels`. The offsets shift every position to the wanted element of the filter.
 * Positions outside the tensor are filled. Source: PTX ISA 9.0, "im2col mode". */
#include "gpu/ptx/copies/tensor_copies.h"

struct im2col_walk {
    int64_t at[TENSOR_BLOB_RANK]; /* of the filter; [0] is not used */
};

struct im2col_walk im2col_begin(const struct tensor_copy *t);
void im2col_next(const struct tensor_copy *t, struct im2col_walk *walk);
/* Whether the pixel is in the tensor, and the bytes from the tensor's start to its
 * channel 0. */
bool im2col_pixel(const struct tensor_copy *t, const struct im2col_walk *walk,
                  uint64_t *ret_offset);
/* Whether coordinates and offsets fit the map, and the map fits a store; false after a
 * finding. */
bool im2col_check(struct warp *w, const struct step *s, unsigned lane,
                  const struct tensor_copy *t, bool store);
