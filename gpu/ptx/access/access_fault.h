#pragma once
/* access_fault: messages for faulty accesses of a lane. */
#include "gpu/ptx/state/origins.h"
#include "gpu/ptx/state/warp.h"

struct access_fault {
    struct warp *warp;
    const struct step *step;
    unsigned lane;
    enum ptx_space space;
    uint64_t address;
    uint64_t bytes;
    bool writes;
    bool atomic;                       /* may write the value that is already there */
    bool follows;                      /* a load whose value is followed (undefined.h) */
    bool remote;                       /* may be another block's shared memory */
    const struct finding_other *other; /* or NULL */
    uint64_t memory;                   /* the allocation that it is told of, 0: of none */
};

void access_fault(const struct access_fault *f, enum finding_code code,
                  const char *buffer, int64_t offset, const char *text);
void access_fault_misaligned(const struct access_fault *f, unsigned align);
/* No allocation contains it, or none that permits this access. */
void access_fault_global(const struct access_fault *f);
/* No variable of shared memory contains it. */
void access_fault_shared(const struct access_fault *f);
/* It is outside a window of `size` bytes of local or parameter memory. */
void access_fault_window(const struct access_fault *f, uint64_t size);

/* A read of uninitialised bytes. b: the block whose shared memory it is. The buffer is
 * borrowed. */
struct origin access_origin(const struct access_fault *f, const struct block *b,
                            const char *buffer, uint64_t offset);
