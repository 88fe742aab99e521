#pragma once
/* tensor_maps: the changed tensor maps that a block's threads acquired last
 * (tensor_map.h). */
#include <stdint.h>

#define TENSOR_MAPS_ACQUIRED 64
struct tensor_maps {
    uint32_t count;
    struct {
        uint64_t address;
        uint32_t change;
    } items[TENSOR_MAPS_ACQUIRED];
};
