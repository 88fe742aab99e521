#pragma once
/* spec_texture: arguments {"texture": {"of": "x", "channels"?: 1, "layered"?, "memory"?:
 * "array", "address"?: "clamp", "filter"?: "point", "normalized"?, "read"?: "element"}}
 * and {"surface": {"of", "channels"?, "layered"?}}: a handle of 8 bytes.
 *
 * With "cube": true and "seamless"? a texture is a cubemap of [cubes,] 6, y, x.
 * The buffer's shape gives the dimensions, the innermost (x) last: [layers,] [z,] [y,] x
 * [, channels]. "address" may be a list, one word per dimension in the same order. */
#include "gpu/spec/spec_case.h"
#include "gpu/spec/texture.h"

struct spec_reader;

/* -EINVAL names the field. */
int spec_texture_check(struct spec_reader *r, const struct spec_arg *arg, const char *at);
/* Evaluates it with the case's sizes; the result lies within its buffer and within the
 * limits of sm_90. */
int spec_texture_resolve(const struct spec_case *c, const struct spec_arg *arg,
                         struct texture *ret, struct err *err);
