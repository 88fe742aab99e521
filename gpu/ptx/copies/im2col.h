#pragma once
/* im2col: which pixels a tensor copy in im2col mode takes, and in what order.
 *
 * The tensor is a batch of images, dimensions counted as channels, width, height?,
 * depth?, images. Along width, height and depth the coordinates say where the filter's
 * first element stands; it goes through the map's bounding box, from its lower corner to
 * its upper one by the traversal strides, then to the next row, plane and image, until
 * `pixels` are there. The offsets move every place by as much: to the filter's element
 * that is wanted. Places outside of the tensor are filled. Source: PTX ISA 9.0, "im2col
 * mode". */
#include "gpu/ptx/copies/tensor_copies.h"
#include "gpu/ptx/state/block.h"

struct im2col_walk {
    int64_t at[TENSOR_BLOB_RANK]; /* of the filter; [0] is not used */
};

struct im2col_walk im2col_begin(const struct tensor_copy *t);
void im2col_next(const struct tensor_copy *t, struct im2col_walk *walk);
/* Whether the pixel is in the tensor, and the bytes from the tensor's start to its
 * channel 0. */
bool im2col_pixel(const struct tensor_copy *t, const struct im2col_walk *walk,
                  uint64_t *ret_offset);
/* false after a finding: coordinates and offsets fit the map, and the map a store. */
bool im2col_check(struct warp *w, const struct step *s, unsigned lane,
                  const struct tensor_copy *t, bool store);
