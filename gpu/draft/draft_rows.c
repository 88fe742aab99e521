#include "gpu/draft/draft_rows.h"

#include "base/buf.h"
#include "base/find.h"
#include "gpu/draft/kernel_use.h"

enum { FACTORS_MAX = 8, PRODUCT_MAX = 1024 };

/* The name by which the kernel knows a size: its argument's, or the size's own. */
static const char *name_in_kernel(const json_t *args, const json_t *size) {
    json_each(args, i, arg) {
        const json_t *value = json_object_get(arg, "value");
        if (json_is_string(value) && json_equal(value, size)) {
            return json_get_string(arg, "name", "");
        }
    }
    return json_string_value(size);
}

static bool all_alike(const json_t *list) {
    return !json_any(list, one, !json_equal(one, json_array_get(list, 0)));
}

/* All but the row in one extent, then the row; SIZE_MAX: there is none. */
static json_t *rows_of_product(const json_t *sizes, size_t row) {
    autobuf product = BUF_INIT(PRODUCT_MAX);
    json_each(sizes, i, size) {
        if (i != row) {
            buf_addf(&product, "%s%s", product.len ? " * " : "", json_string_value(size));
        }
    }
    json_t *ret = json_pack("[s]", product.data);
    json_array_append(ret, json_array_get(sizes, row));
    return ret;
}

void draft_rows_show(const struct host_program *p, const struct declaration *kernel,
                     const json_t *args) {
    json_each(args, i, arg) {
        const json_t *shape = json_object_get(arg, "shape");
        const char *names[FACTORS_MAX];
        size_t count = json_array_size(shape);
        if (count < 2 || all_alike(shape)) {
            continue;
        }
        for (size_t k = 0; k < count && k < FACTORS_MAX; k++) {
            names[k] = name_in_kernel(args, json_array_get(shape, k));
        }
        const char *buffer = json_get_string(arg, "name", "");
        int row =
            count <= FACTORS_MAX ? kernel_row_of(p, kernel, buffer, names, count) : -1;
        json_object_set_new(arg, "shape",
                            rows_of_product(shape, row < 0 ? SIZE_MAX : (size_t)row));
    }
}
