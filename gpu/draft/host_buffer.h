#pragma once
/* host_buffer: how host code uses the memory behind a kernel's pointer: the size of its
 * allocation, the data copied to it, and whether it is copied back. */
#include "gpu/host/host_program.h"

enum host_contents {
    CONTENTS_NONE, /* none found */
    CONTENTS_SET,  /* cudaMemset */
    CONTENTS_COPIED,
    CONTENTS_MANAGED, /* the host may write it at any time */
};

struct host_buffer {
    struct place bytes;       /* of its allocation; from == to: not found */
    struct place fill;        /* cudaMemset's value */
    struct place copied_back; /* the bytes that are copied from it; or empty */
    enum host_contents contents;
    bool launched_before; /* it is an argument of an earlier kernel */
};

/* place: the argument of the launch at token `launch` of the program. False: not a
 * pointer that can be followed (an offset, a member). */
bool host_buffer_read(struct host_program *p, const struct place *place, size_t launch,
                      struct host_buffer *ret);
