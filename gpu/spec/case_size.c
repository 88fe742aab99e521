/* An integer of a case: a number, or an expression over its sizes. */
#include "gpu/spec/spec_case.h"

int case_size_value(const struct spec_case *c, const json_t *value, int64_t *ret,
                    struct err *err) {
    if (json_is_string(value)) {
        return integer_expression(json_string_value(value), &c->size_list, ret, err);
    }
    *ret = json_integer_value(value);
    return 0;
}
