/* Finds the files that a check spec names. */
#include "gpu/spec/kernel_spec.h"

#include <string.h>

size_t kernel_spec_buffer(const struct kernel_spec *spec, const char *name) {
    for (size_t i = 0; i < spec->buffer_count; i++) {
        if (!strcmp(spec->buffers[i].name, name)) {
            return i;
        }
    }
    return SIZE_MAX;
}

const struct spec_array *kernel_spec_array(const struct kernel_spec *spec, size_t buffer,
                                           bool expected) {
    for (size_t i = 0; i < spec->array_count; i++) {
        const struct spec_array *a = &spec->arrays[i];
        if (a->buffer == buffer && a->expected == expected) {
            return a;
        }
    }
    return NULL;
}
