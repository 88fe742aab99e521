#include "gpu/spec/expect_flat.h"

#include "base/find.h"
#include "gpu/reference/operator.h"

static bool has_rows(const struct kernel_spec *spec) {
    return any_of(i, 0, spec->buffer_count, json_array_size(spec->buffers[i].shape) > 1);
}

/* softmax's dim, which is -1 unless it is given; not sum's, which are all by default. */
static bool chooses_dim(const struct operator* op, const json_t *step) {
    for (size_t i = 0; op && i < OPERATOR_MAX_ATTRIBUTES && op->attributes[i].name; i++) {
        if (!strcmp(op->attributes[i].name, "dim")) {
            return op->attributes[i].kind == ATTRIBUTE_INTEGER &&
                   !json_object_get(step, "dim");
        }
    }
    return false;
}

static const char *choosing_name(const json_t *step) {
    const char *name = json_get_string(step, "op", "");
    return chooses_dim(operator_find(name), step) ? name : NULL;
}

const char *expect_flat_operator(const struct kernel_spec *spec) {
    if (spec->expect != EXPECT_OPERATOR || has_rows(spec)) {
        return NULL;
    }
    const char *name = choosing_name(spec->expect_operator);
    json_each(json_object_get(spec->expect_operator, "then"), i, step) {
        name = name ? name : choosing_name(step);
    }
    return name;
}
