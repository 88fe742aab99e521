#include "gpu/reference/gather.h"

void gather_start(struct gather *g, const struct operator_array *a, const bool *dims) {
    int64_t strides[OPERATOR_MAX_RANK], folded[OPERATOR_MAX_RANK],
        folded_strides[OPERATOR_MAX_RANK], index[OPERATOR_MAX_RANK] = {0};
    size_t rank = 0;
    *g = (struct gather){.lines = 1, .n = 1};
    shape_strides(a, strides);
    for (size_t i = 0; i < a->rank; i++) {
        if (dims[i]) {
            folded[rank] = a->shape[i];
            folded_strides[rank++] = strides[i];
            g->n *= a->shape[i];
        } else {
            g->kept[g->kept_rank] = a->shape[i];
            g->kept_strides[g->kept_rank++] = strides[i];
            g->lines *= a->shape[i];
        }
    }
    g->offsets = xcalloc(g->n ? (size_t)g->n : 1, sizeof *g->offsets);
    for (int64_t i = 0; i < g->n; i++) {
        g->offsets[i] = index_offset(index, folded_strides, rank);
        index_next(index, folded, rank);
    }
}

int64_t gather_base(const struct gather *g, int64_t line) {
    int64_t base = 0;
    for (size_t d = g->kept_rank; d-- > 0; line /= g->kept[d]) {
        base += line % g->kept[d] * g->kept_strides[d];
    }
    return base;
}

void gather_line(const struct gather *g, int64_t base, const double *v, double *ret) {
    for (int64_t i = 0; i < g->n; i++) {
        ret[i] = v[base + g->offsets[i]];
    }
}

void gather_finish(struct gather *g) {
    free(g->offsets);
    g->offsets = NULL;
}

int gather_output(struct operator_call *c, size_t output, const struct operator_array *a,
                  const bool *dims, bool keep) {
    int64_t shape[OPERATOR_MAX_RANK];
    size_t rank = 0;
    for (size_t i = 0; i < a->rank; i++) {
        if (!dims[i]) {
            shape[rank++] = a->shape[i];
        } else if (keep) {
            shape[rank++] = 1;
        }
    }
    return call_output(c, output, shape, rank);
}
