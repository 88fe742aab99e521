#include "skills/check/hardware_claims.h"
#include "base/mem.h"
#include "skills/hardware_claims_table.h"

const size_t claim_shape_count = ARRAY_LEN(claim_shapes) - 1;
