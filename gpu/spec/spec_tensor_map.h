#pragma once
/* spec_tensor_map: an argument {"tensor_map": {"of": "x", "box": […], "swizzle"?: "none",
 * "shape"?, "strides"?, "element_strides"?, "interleave"?, "l2_promotion"?, "fill"?}}.
 *
 * In place of "box" an "im2col": {"lower": […], "upper": […], "channels": n, "pixels": n}
 * makes a map for im2col mode.
 *
 * Lists are in the order of the buffer's shape, the outermost dimension first. "shape"
 * (elements) stands for the buffer's own, "strides" (bytes, of all dimensions but the
 * last) for those of a packed tensor. */
#include "gpu/spec/spec_case.h"

struct spec_reader;

/* -EINVAL names the field. */
int spec_tensor_map_check(struct spec_reader *r, const json_t *map, const char *at);
/* Evaluates it with the case's sizes; the result satisfies every rule of
 * tensor_map_check, and lies within its buffer. */
int spec_tensor_map_resolve(const struct spec_case *c, const json_t *map,
                            struct tensor_map *ret, struct err *err);
