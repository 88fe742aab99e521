#include "gpu/reference/product.h"

#include "base/vectors.h"
#include "gpu/reference/parts.h"
#include "gpu/reference/product_tile.h"

/* What a core's caches hold of both factors. */
enum {
    DEPTH = 256,
    BLOCK_ROWS = 48 * TILE_ROWS,
    BLOCK_COLUMNS = PRODUCT_COLUMNS,
};

/* Of the factors, in the order in which they are read. */
struct product_room {
    double a[BLOCK_ROWS * DEPTH], b[BLOCK_COLUMNS * DEPTH];
    /* Of sums that are compensated: what they lost so far. */
    double lost[BLOCK_ROWS * BLOCK_COLUMNS];
};

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* `count` rows (or columns, with the strides exchanged) from `first` on, `width` of them
 * side by side, zeros behind the last; their elements [k, k + depth). */
static void pack(const struct matrix_view *m, int64_t count, int64_t k, int64_t depth,
                 int64_t width, double *ret) {
    for (int64_t i = 0; i < count; i += width) {
        int64_t have = smaller(width, count - i);
        const double *from = m->v + i * m->row_stride + k * m->column_stride;
        for (int64_t d = 0; d < depth; d++, from += m->column_stride) {
            if (m->row_stride == 1) {
                memcpy(ret, from, (size_t)have * sizeof *ret);
            }
            for (int64_t w = 0; m->row_stride != 1 && w < have; w++) {
                ret[w] = from[w * m->row_stride];
            }
            for (int64_t w = have; w < width; w++) {
                ret[w] = 0;
            }
            ret += width;
        }
    }
}

/* The same of a factor that makes its rows. */
static void pack_rows(const struct matrix_view *m, int64_t k, int64_t depth,
                      double *ret) {
    double row[BLOCK_COLUMNS + TILE_COLUMNS] = {0};
    for (int64_t d = 0; d < depth; d++) {
        m->row(m->data, k + d, row);
        for (int64_t i = 0; i < m->columns; i += TILE_COLUMNS) {
            memcpy(ret + i * depth + d * TILE_COLUMNS, row + i,
                   TILE_COLUMNS * sizeof *ret);
        }
    }
}

/* As product_tile, but each sum with what it lost beside it. */
VECTORS static void compensated_tile(const double *a, const double *b, int64_t depth,
                                     double *sums, double *lost) {
    enum { SIDES = TILE_COLUMNS / LANES };
    for (int64_t i = 0; i < TILE_ROWS; i++) {
        vec s[SIDES], c[SIDES];
        memcpy(s, sums + i * TILE_COLUMNS, sizeof s);
        memcpy(c, lost + i * TILE_COLUMNS, sizeof c);
        for (int64_t k = 0; k < depth; k++) {
            for (int64_t j = 0; j < SIDES; j++) {
                vec x = a[k * TILE_ROWS + i] * vec_load(b + k * TILE_COLUMNS + j * LANES);
                vec t = s[j] + x, back = t - s[j];
                c[j] += (s[j] - (t - back)) + (x - back);
                s[j] = t;
            }
        }
        memcpy(sums + i * TILE_COLUMNS, s, sizeof s);
        memcpy(lost + i * TILE_COLUMNS, c, sizeof c);
    }
}

/* A tile of `out` to or from one by itself. */
static void move_tile(double *tile, double *out, int64_t stride, int64_t rows,
                      int64_t columns, bool back) {
    for (int64_t i = 0; i < rows; i++) {
        double *inner = tile + i * TILE_COLUMNS, *outer = out + i * stride;
        memcpy(back ? outer : inner, back ? inner : outer,
               (size_t)columns * sizeof *tile);
    }
}

/* Adds DEPTH terms or less to each sum of a block. */
static void add_terms(const struct operator_call *c, struct product_room *room,
                      int64_t rows, int64_t columns, int64_t depth, double *out,
                      int64_t stride) {
    double *lost = room->lost;
    for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
        for (int64_t i = 0; i < rows; i += TILE_ROWS) {
            double tile[TILE_ROWS * TILE_COLUMNS] = {0}, *at = out + i * stride + j;
            const double *a = room->a + i * depth, *b = room->b + j * depth;
            int64_t m = smaller(TILE_ROWS, rows - i);
            int64_t n = smaller(TILE_COLUMNS, columns - j);
            move_tile(tile, at, stride, m, n, false);
            if (c->plain) {
                product_tile(a, b, depth, tile);
            } else {
                compensated_tile(a, b, depth, tile, lost);
                lost += TILE_ROWS * TILE_COLUMNS;
            }
            move_tile(tile, at, stride, m, n, true);
        }
    }
}

/* What the sums lost is added at the end. */
static void add_lost(const double *lost, int64_t rows, int64_t columns, double *out,
                     int64_t stride) {
    for (int64_t j = 0; j < columns; j += TILE_COLUMNS) {
        for (int64_t i = 0; i < rows; i += TILE_ROWS) {
            for (int64_t t = 0; t < TILE_ROWS * TILE_COLUMNS; t++, lost++) {
                int64_t row = i + t / TILE_COLUMNS, column = j + t % TILE_COLUMNS;
                if (row < rows && column < columns) {
                    double *at = out + row * stride + column;
                    *at = sum_value((struct sum){*at, *lost});
                }
            }
        }
    }
}

static int block(const struct operator_call *c, struct product_room *room,
                 const struct matrix_view *a, const struct matrix_view *b, double *out,
                 int64_t stride) {
    const struct matrix_view turned = {b->v, b->columns, b->rows, b->column_stride,
                                       b->row_stride};
    for (int64_t i = 0; i < a->rows; i++) {
        memset(out + i * stride, 0, (size_t)b->columns * sizeof *out);
    }
    if (!c->plain) {
        memset(room->lost, 0, sizeof room->lost);
    }
    for (int64_t k = 0; k < a->columns; k += DEPTH) {
        int64_t depth = smaller(DEPTH, a->columns - k);
        if (c->budget->stopped && c->budget->stopped()) {
            return -ETIME;
        }
        pack(a, a->rows, k, depth, TILE_ROWS, room->a);
        if (b->row) {
            pack_rows(b, k, depth, room->b);
        } else {
            pack(&turned, b->columns, k, depth, TILE_COLUMNS, room->b);
        }
        add_terms(c, room, a->rows, b->columns, depth, out, stride);
    }
    if (!c->plain) {
        add_lost(room->lost, a->rows, b->columns, out, stride);
    }
    return 0;
}

/* Block `i` of the product's. */
static int block_at(const struct operator_call *c, struct product_room *room,
                    const struct product_pair *p, int64_t stride, int64_t i) {
    int64_t across = (p->b.columns + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS;
    int64_t row = i / across * BLOCK_ROWS, column = i % across * BLOCK_COLUMNS;
    struct matrix_view a = p->a, b = p->b;
    a.v += row * a.row_stride;
    a.rows = smaller(BLOCK_ROWS, a.rows - row);
    if (!b.row) { /* rows that are made lie nowhere, and fit into one block */
        b.v += column * b.column_stride;
    }
    b.columns = smaller(BLOCK_COLUMNS, b.columns - column);
    return block(c, room, &a, &b, p->out + row * stride + column, stride);
}

static int64_t block_count(const struct product_pair *p) {
    return (p->a.rows + BLOCK_ROWS - 1) / BLOCK_ROWS *
           ((p->b.columns + BLOCK_COLUMNS - 1) / BLOCK_COLUMNS);
}

struct product_room *product_room_new(void) {
    return xmalloc(sizeof(struct product_room));
}

int product(const struct operator_call *c, const struct matrix_view *a,
            const struct matrix_view *b, double *out, int64_t stride,
            struct product_room *room) {
    const struct product_pair p = {*a, *b, out};
    int r = 0;
    for (int64_t i = 0; r == 0 && i < block_count(&p); i++) {
        r = block_at(c, room, &p, stride, i);
    }
    return r;
}

struct all {
    product_pair_at *at;
    const void *data;
    int64_t blocks; /* of each */
};

static int some_blocks(const struct operator_call *c, const void *data, int64_t from,
                       int64_t to) {
    const struct all *all = data;
    autofree struct product_room *room = product_room_new();
    int r = 0;
    for (int64_t i = from; r == 0 && i < to; i++) {
        struct product_pair p = all->at(all->data, i / all->blocks);
        r = block_at(c, room, &p, p.b.columns, i % all->blocks);
    }
    return r;
}

int product_all(struct operator_call *c, int64_t count, product_pair_at *at,
                const void *data) {
    if (!count) {
        return 0;
    }
    struct product_pair first = at(data, 0);
    struct all all = {at, data, block_count(&first)};
    double terms = (double)first.a.columns * (double)smaller(first.a.rows, BLOCK_ROWS) *
                   (double)smaller(first.b.columns, BLOCK_COLUMNS);
    return call_parts(c, count * all.blocks, (int64_t)(1e5 / (terms + 1)) + 1,
                      some_blocks, &all);
}
