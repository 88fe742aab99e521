/* Any bytes as a .npy file, and what is copied out of it. */
#include "gpu/tensor/npy.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct npy npy;
    if (npy_read_head(&npy, data, size, size, NULL) < 0) {
        return 0;
    }
    size_t bytes = npy.count * npy.item_bytes;
    if (bytes != size - npy.offset || npy.rank > NPY_MAX_RANK) {
        abort();
    }
    unsigned char *elements = malloc(bytes + 1);
    elements[bytes] = 0x5a;
    npy_copy(&npy, data, elements);
    if (elements[bytes] != 0x5a) {
        abort();
    }
    free(elements);
    return 0;
}
