/* Finds the files that a check spec names. */
#include "base/find.h"
#include "gpu/spec/kernel_spec.h"

size_t kernel_spec_buffer(const struct kernel_spec *spec, const char *name) {
    size_t at = first_of(i, 0, spec->buffer_count, !strcmp(spec->buffers[i].name, name));
    return at < spec->buffer_count ? at : SIZE_MAX;
}

const struct spec_array *kernel_spec_array(const struct kernel_spec *spec, size_t buffer,
                                           bool expected) {
    return list_find(a, spec->arrays, spec->array_count,
                     a->buffer == buffer && a->expected == expected);
}
