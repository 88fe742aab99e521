#include "gpu/spec/check_spec_schema.h"

#include "gpu/check_spec.schema.h"

const char *check_spec_schema(void) {
    return CHECK_SPEC_SCHEMA;
}
