#include "gpu/reference/gather.h"

#include "gpu/reference/parts.h"

enum { BUNDLE = 16, APART = 8 }; /* lines taken together, and not all in one cache set */

/* Elements of the last dimensions that are all folded, or all kept. */
static int64_t last_of(const struct operator_array *a, const bool *dims, bool folded) {
    int64_t count = 1;
    for (size_t i = a->rank; i-- > 0 && (dims[i] == folded || a->shape[i] == 1);) {
        count *= a->shape[i];
    }
    return count;
}

void gather_start(struct gather *g, const struct operator_array *a, const bool *dims) {
    int64_t strides[OPERATOR_MAX_RANK], folded[OPERATOR_MAX_RANK],
        folded_strides[OPERATOR_MAX_RANK], index[OPERATOR_MAX_RANK] = {0};
    size_t rank = 0;
    *g = (struct gather){.lines = 1, .n = 1, .run = last_of(a, dims, true)};
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
    g->side = g->run == 1 ? last_of(a, dims, false) : 1;
    g->offsets = xcalloc(g->n ? (size_t)(g->n / g->run) : 1, sizeof *g->offsets);
    for (int64_t i = 0; i < g->n; i++) {
        if (i % g->run == 0) {
            g->offsets[i / g->run] = index_offset(index, folded_strides, rank);
        }
        index_next(index, folded, rank);
    }
}

static int64_t gather_base(const struct gather *g, int64_t line) {
    int64_t base = 0;
    for (size_t d = g->kept_rank; d-- > 0; line /= g->kept[d]) {
        base += line % g->kept[d] * g->kept_strides[d];
    }
    return base;
}

double *gather_room(const struct gather *g) {
    int64_t lines = g->run == g->n ? 0 : g->side < BUNDLE ? g->side : BUNDLE;
    return xmalloc((size_t)(lines * (g->n + APART) + 1) * sizeof(double));
}

struct gathered gather_lines(const struct gather *g, int64_t line, int64_t end,
                             const double *v, double *room) {
    struct gathered l = {v, gather_base(g, line), 1, g->n + APART};
    if (g->run == g->n) {
        l.v += l.base;
        return l;
    }
    int64_t left = g->side - line % g->side;
    l.v = room;
    l.count = left < end - line ? left : end - line;
    l.count = l.count < BUNDLE ? l.count : BUNDLE;
    for (int64_t i = 0; i < g->n; i += g->run) {
        const double *from = v + l.base + g->offsets[i / g->run];
        if (g->run > 1) {
            memcpy(room + i, from, (size_t)g->run * sizeof *v);
        }
        for (int64_t k = 0; g->run == 1 && k < l.count; k++) {
            room[k * l.stride + i] = from[k];
        }
    }
    return l;
}

static void gather_back(const struct gather *g, const struct gathered *l,
                        const double *room, double *out) {
    for (int64_t i = 0; g->run < g->n && i < g->n; i += g->run) {
        double *to = out + l->base + g->offsets[i / g->run];
        if (g->run > 1) {
            memcpy(to, room + i, (size_t)g->run * sizeof *to);
        }
        for (int64_t k = 0; g->run == 1 && k < l->count; k++) {
            to[k] = room[k * l->stride + i];
        }
    }
}

void gather_finish(struct gather *g) {
    free(g->offsets);
    g->offsets = NULL;
}

struct mapping {
    struct gather g;
    gather_line *line;
    const void *data;
    bool apart;
};

static int map_some(const struct operator_call *c, const void *data, int64_t from,
                    int64_t to) {
    const struct mapping *m = data;
    autofree double *room = gather_room(&m->g);
    autofree double *other = m->apart ? gather_room(&m->g) : NULL;
    double *made = other ? other : room;
    for (struct gathered l; from < to; from += l.count) {
        l = gather_lines(&m->g, from, to, c->in[0].v, room);
        double *ret = m->g.run == m->g.n ? c->out[0].v + l.base : made;
        for (int64_t k = 0; k < l.count; k++) {
            m->line(m->data, l.v + k * l.stride, m->g.n, ret + k * l.stride);
        }
        gather_back(&m->g, &l, made, c->out[0].v);
    }
    return 0;
}

int gather_map(struct operator_call *c, const struct operator_array *view,
               const bool *dims, bool apart, int64_t least, gather_line *line,
               const void *data) {
    struct mapping m = {.line = line, .data = data, .apart = apart};
    gather_start(&m.g, view, dims);
    int r = call_parts(c, m.g.lines, least / (m.g.n + 1), map_some, &m);
    gather_finish(&m.g);
    return r;
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
