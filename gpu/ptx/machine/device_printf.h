#pragma once
/* device_printf: the output of a kernel's printf.
 *
 * C's conversions d i u x X o c s p f F e E g G a A, with flags, widths, precisions (up
 * to 512) and lengths; anything else is printed unchanged. Arguments are laid out as in
 * vprintf's buffer: integers in 4 or 8 bytes, floats as doubles. */
#include "base/mem.h"

#define DEVICE_STRING_MAX 1024 /* of a format and of a %s; the rest is cut */

struct printf_source {
    void *data;
    /* The next argument; 0 if there is none. */
    uint64_t (*value)(void *data, unsigned bytes);
    /* The text at an address; false: it cannot be read. */
    bool (*string)(void *data, uint64_t address, char *to, size_t room);
};
void device_printf(struct buf *out, const char *format, const struct printf_source *from);
