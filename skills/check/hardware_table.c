#include "skills/check/hardware_table.h"
#include "skills/check/hardware_claims.h"

#define KIB 1024.0
#define MIB (1024.0 * 1024)
#define GB 1e9
#define TERA 1e12
#define MHZ 1e6

#include "skills/hardware_claims_table.h"
#include "skills/hardware_tables.h"

const size_t claim_shape_count = ARRAY_LEN(claim_shapes) - 1;
const size_t hardware_table_count = ARRAY_LEN(hardware_table) - 1;
const size_t hardware_device_count = ARRAY_LEN(hardware_devices) - 1;
const size_t hardware_feature_count = ARRAY_LEN(hardware_features) - 1;

const struct hardware_quantity_row *hardware_quantity(enum hardware_quantity quantity) {
    const struct hardware_quantity_row *row = hardware_quantities;
    while (row->quantity != quantity) {
        row++;
    }
    return row;
}
