#include "gpu/spec/spec_schema.h"

#include "gpu/kernel_spec_schema.h"

const char *spec_schema(void) {
    return KERNEL_SPEC_SCHEMA;
}
