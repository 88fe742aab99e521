#pragma once
/* host_buffer: what host code does with the memory behind a kernel's pointer: how much it
 * allocates, what it copies there, and whether it copies it back. */
#include "gpu/host/host_program.h"

enum host_contents {
    CONTENTS_NONE, /* nothing that was seen */
    CONTENTS_SET,  /* cudaMemset */
    CONTENTS_COPIED,
    CONTENTS_MANAGED, /* the host may write it at any time */
};

struct host_buffer {
    struct place bytes;   /* of its allocation; from == to: none was found */
    struct place pointer; /* the declaration of the variable, for its type; or empty */
    struct place fill;    /* cudaMemset's value */
    struct place copied_back; /* the bytes that are copied from it; or empty */
    enum host_contents contents;
    bool launched_before; /* an earlier kernel has it as an argument */
};

/* place: the argument of the launch at token `launch` of the program. False: it is no
 * pointer that can be followed (an offset, a member of what nobody declares). */
bool host_buffer_read(struct host_program *p, const struct place *place, size_t launch,
                      struct host_buffer *ret);
