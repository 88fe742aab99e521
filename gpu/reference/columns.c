#include "gpu/reference/columns.h"

/* How many groups of columns there are; each is packed into k sides. */
static int64_t columns_groups(const struct columns *m) {
    return (m->n + SIDE - 1) / SIDE;
}

void columns_pack(const struct columns *m, int64_t j, side *ret) {
    for (int64_t k = 0; k < m->k; k++) {
        for (int64_t i = 0; i < SIDE; i++) {
            ret[k][i] =
                j + i < m->n ? m->v[k * m->row_stride + (j + i) * m->column_stride] : 0;
        }
    }
}

side *columns_pack_all(struct operator_call *c, const struct columns *m) {
    size_t count = (size_t)(columns_groups(m) * m->k);
    side *ret = xcalloc(count ? count : 1, sizeof *ret);
    for (int64_t g = 0; g < columns_groups(m); g++) {
        columns_pack(m, g * SIDE, ret + g * m->k);
        if (call_continue(c) < 0) {
            free(ret);
            return NULL;
        }
    }
    return ret;
}

void columns_multiply(const double *row, int64_t stride, const side *packed, int64_t k,
                      int64_t count, double *ret) {
    side s = {0}, c = {0};
    for (int64_t i = 0; i < k; i++) {
        side x = row[i * stride] * packed[i], t = s + x, back = t - s;
        c += (s - (t - back)) + (x - back);
        s = t;
    }
    for (int64_t i = 0; i < count && i < SIDE; i++) {
        ret[i] = sum_value((struct sum){s[i], c[i]});
    }
}
