#pragma once
/* latest: the last launches, by their numbers in the device's memory (memory.launch), for
 * what is said later of memory that one of them wrote. The queue's turn. */
#include "gpu/device/module.h"
#include "gpu/runtime/host_site.h"

struct latest_launch {
    uint32_t number;  /* 0: none */
    char symbol[256]; /* the kernel's, perhaps cut: its module may be gone */
    struct launch_shape shape;
    struct host_site site;
};

/* It has just run. */
void latest_note(uint32_t number, const struct kernel *k, const struct launch_shape *shape,
                 const struct host_site *site);
/* NULL: too long ago, or no launch. Valid until the next one. */
const struct latest_launch *latest_find(uint32_t number);
