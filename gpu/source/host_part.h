#pragma once
/* host_part: what stays of a source although it has no execution space, such as a
 * constexpr function. The device may use it and need not. */
#include <stddef.h>

struct source_set;

struct host_part { /* of a file's text: [from, to); empty: none */
    size_t from, to;
};

/* The function or variable around a byte of files[index], when it can be left out: it has
 * no execution space and does not change the layout of a class. No template: its errors
 * may be those of an instantiation, which something asks for. */
struct host_part host_part_at(const struct source_set *s, size_t index, size_t offset);
