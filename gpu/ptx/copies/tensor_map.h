#pragma once
/* tensor_map: tensor maps as kernels use and change them: tensormap.replace,
 * tensormap.cp_fenceproxy, fence.proxy.tensormap.
 *
 * The names and numbers of a map's fields are the ISA's (PTX ISA 9.0,
 * "tensormap.replace"); its bytes are this machine's (tensor_blob.h). 128 bytes of zeros
 * are a map whose fields are not set yet. The engine reads a map in global memory that
 * this launch has changed through a separate proxy: using it before a thread of the block
 * has executed fence.proxy.tensormap::generic.acquire on it is a finding. */
#include "gpu/ptx/state/block.h"
#include "gpu/ptx/state/tensor_blob.h"

/* The map at a generic address, checked for an instruction of step->vector dimensions;
 * false after a finding. */
bool tensor_map_at(struct warp *w, const struct step *s, unsigned lane, uint64_t address,
                   struct tensor_blob *ret);
