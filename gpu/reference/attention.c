/* attention: scaled dot-product attention, rotary positions, gated activations. */
#include "gpu/reference/parts.h"
#include "gpu/reference/product.h"

/* --- scaled_dot_product_attention: query [.., Hq, L, E], key [.., H, S, E],
 * value [.., H, S, Ev], attn_mask that broadcasts to [.., Hq, L, S] --- */

struct attention {
    int64_t heads, repeat; /* of queries: groups of `repeat` share one key */
    int64_t l, s, e, ev;
    double scale;
    bool causal, boolean; /* the mask's kind */
    int64_t scores[OPERATOR_MAX_RANK], mask[OPERATOR_MAX_RANK];
    size_t rank;
};

static int key_heads(struct operator_call *c, struct attention *ret) {
    const struct operator_array *q = &c->in[0], *k = &c->in[1];
    ret->repeat = 1;
    if (!call_bool(c, "enable_gqa")) {
        return 0;
    }
    int64_t own = q->rank > 2 ? q->shape[q->rank - 3] : 1;
    int64_t shared = k->rank > 2 ? k->shape[k->rank - 3] : 1;
    if (!shared || !own || own % shared) {
        return call_error(c, "enable_gqa",
                          "%lld heads of '%s' are not a multiple of the %lld of '%s'",
                          (long long)own, q->name, (long long)shared, k->name);
    }
    ret->repeat = own / shared;
    return 0;
}

static int check_attention(struct operator_call *c, const struct attention *a) {
    const struct operator_array *q = &c->in[0];
    struct operator_array want = *q;
    size_t r = q->rank;
    if (r > 2) {
        want.shape[r - 3] /= a->repeat;
    }
    want.shape[r - 2] = a->s;
    int n = call_want_shape(c, 1, want.shape, r);
    want.shape[r - 1] = a->ev;
    return n < 0 ? n : call_want_shape(c, 2, want.shape, r);
}

static int plan_mask(struct operator_call *c, struct attention *ret) {
    const struct operator_array *m = &c->in[3];
    ret->rank = c->in[0].rank;
    memcpy(ret->scores, c->in[0].shape, sizeof ret->scores);
    ret->scores[ret->rank - 2] = ret->l;
    ret->scores[ret->rank - 1] = ret->s;
    int r = call_want_within(c, 3, ret->scores, ret->rank);
    if (r < 0) {
        return r;
    }
    ret->boolean = !tensor_type_float(m->type);
    if (m->name) {
        broadcast_strides(m, ret->scores, ret->rank, ret->mask);
    }
    return m->name && ret->causal
               ? call_error(c, "is_causal", "not together with attn_mask")
               : 0;
}

static int plan_attention(struct operator_call *c, struct attention *ret) {
    const struct operator_array *q = &c->in[0];
    size_t r = q->rank;
    if (r < 2 || c->in[1].rank != r || c->in[2].rank != r) {
        return call_want_rank(c, r < 2 ? 0 : c->in[1].rank != r ? 1 : 2, r < 2 ? 4 : r);
    }
    const struct operator_value *scale = call_attribute(c, "scale");
    *ret = (struct attention){
        .heads = shape_count(q, 0, r - 2),
        .l = q->shape[r - 2],
        .e = q->shape[r - 1],
        .s = c->in[1].shape[r - 2],
        .ev = c->in[2].shape[r - 1],
        .causal = call_bool(c, "is_causal"),
    };
    ret->scale = scale->given ? scale->number : 1 / sqrt((double)ret->e);
    int n = key_heads(c, ret);
    n = n < 0 ? n : check_attention(c, ret);
    return n < 0 ? n : plan_mask(c, ret);
}

static int infer_attention(struct operator_call *c) {
    struct attention a;
    int r = plan_attention(c, &a);
    if (r < 0) {
        return r;
    }
    struct operator_array out = c->in[0];
    out.shape[out.rank - 1] = a.ev;
    for (size_t i = 0; out.rank > 2 && a.repeat == 1 && i < 4; i++) {
        call_rows(c, i, out.rank, out.shape[0]);
    }
    double scores = (double)a.heads * (double)a.l * (double)a.s;
    call_cost(c, scores * (2 * (double)a.e + 2 * (double)a.ev + 5),
              scores * ((double)(a.e + a.ev) * product_steps(c) + 10));
    return call_output(c, 0, out.shape, out.rank);
}

/* The mask's term for the score of place (head, i, j), -inf where it hides it. */
static double mask_at(const struct operator_call *c, const struct attention *a,
                      int64_t head, int64_t i, int64_t j) {
    if (a->causal) {
        return j > i ? -INFINITY : 0;
    }
    if (!call_has(c, 3)) {
        return 0;
    }
    int64_t at = i * a->mask[a->rank - 2] + j * a->mask[a->rank - 1];
    for (size_t d = a->rank - 2; d-- > 0; head /= a->scores[d]) {
        at += head % a->scores[d] * a->mask[d];
    }
    double m = c->in[3].v[at];
    return !a->boolean ? m : m != 0 ? 0 : -INFINITY;
}

/* A row of scores becomes weights; all hidden: zeros, as torch has it. */
static void weights_of(const struct operator_call *c, const struct attention *a,
                       int64_t head, int64_t i, double *ret) {
    double largest = -INFINITY;
    for (int64_t j = 0; j < a->s; j++) {
        ret[j] = ret[j] * a->scale + mask_at(c, a, head, i, j);
        largest = ret[j] > largest || isnan(ret[j]) ? ret[j] : largest;
    }
    struct sum total = {0};
    for (int64_t j = 0; j < a->s; j++) {
        ret[j] = largest == -INFINITY ? 0 : exp(ret[j] - largest);
        sum_add(&total, ret[j]);
    }
    for (int64_t j = 0; largest != -INFINITY && j < a->s; j++) {
        ret[j] /= sum_value(total);
    }
}

enum { MOST_ROWS = 256, SCORES = 1 << 18 };

/* Queries that are looked at together. */
static int64_t rows_of(const struct attention *a) {
    int64_t fit = a->s > SCORES / MOST_ROWS ? SCORES / a->s + 1 : MOST_ROWS;
    return fit < a->l ? fit : a->l;
}

/* Queries [first, first + rows) of a head. */
static int attend(const struct operator_call *c, const struct attention *a, int64_t head,
                  int64_t first, int64_t rows, double *weights,
                  struct product_room *room) {
    int64_t shared = head / a->repeat, at = head * a->l + first;
    const struct matrix_view queries = {c->in[0].v + at * a->e, rows, a->e, a->e, 1};
    const struct matrix_view keys = {c->in[1].v + shared * a->s * a->e, a->e, a->s, 1,
                                     a->e};
    const struct matrix_view values = {c->in[2].v + shared * a->s * a->ev, a->s, a->ev,
                                       a->ev, 1};
    const struct matrix_view all = {weights, rows, a->s, a->s, 1};
    int r = product(c, &queries, &keys, weights, a->s, room);
    for (int64_t i = 0; r == 0 && i < rows; i++) {
        weights_of(c, a, head, first + i, weights + i * a->s);
    }
    return r < 0 ? r : product(c, &all, &values, c->out[0].v + at * a->ev, a->ev, room);
}

static int attend_some(const struct operator_call *c, const void *data, int64_t from,
                       int64_t to) {
    const struct attention *a = data;
    int64_t rows = rows_of(a), groups = (a->l + rows - 1) / rows;
    autofree double *weights = xcalloc((size_t)(rows * a->s), sizeof *weights);
    autofree struct product_room *room = product_room_new();
    int r = 0;
    for (int64_t i = from; r == 0 && i < to; i++) {
        int64_t first = i % groups * rows;
        r = attend(c, a, i / groups, first, first + rows < a->l ? rows : a->l - first,
                   weights, room);
    }
    return r;
}

static int compute_attention(struct operator_call *c) {
    struct attention a;
    int r = plan_attention(c, &a);
    if (r < 0 || !c->out[0].count) {
        return r;
    }
    int64_t rows = rows_of(&a), terms = rows * (a.s + 1) * (a.e + a.ev);
    return call_parts(c, a.heads * ((a.l + rows - 1) / rows), 100000 / (terms + 1) + 1,
                      attend_some, &a);
}

/* --- rope: Su and others, "RoFormer", 2021. Pair j of the first rotary_dim elements is
 * turned by position * base^(-2j / rotary_dim), or by what cos and sin hold --- */

struct rope {
    int64_t width, turned; /* of the last dimension; how much of it is turned */
    size_t position_dim;
    bool half; /* pairs (j, j + turned / 2) instead of (2j, 2j + 1) */
};

static int plan_rope(struct operator_call *c, struct rope *ret) {
    const struct operator_array *a = &c->in[0];
    const struct operator_value *dim = call_attribute(c, "rotary_dim");
    if (a->rank < 2) {
        return call_want_rank(c, 0, 4);
    }
    ret->width = a->shape[a->rank - 1];
    ret->turned = dim->given ? dim->ints[0] : ret->width;
    ret->half = call_choice(c, "layout") == 0;
    if (ret->turned % 2 || ret->turned > ret->width) {
        return call_error(c, "rotary_dim", "%lld is odd or more than the %lld of '%s'",
                          (long long)ret->turned, (long long)ret->width, a->name);
    }
    int r = call_dim(c, "position_dim", a, &ret->position_dim);
    if (r == 0 && ret->position_dim == a->rank - 1) {
        r = call_error(c, "position_dim", "the last dimension is the one that is turned");
    }
    return r < 0 ? r : call_want_shape(c, 1, &a->shape[ret->position_dim], 1);
}

static int infer_rope(struct operator_call *c) {
    struct rope p = {0};
    int r = plan_rope(c, &p);
    for (size_t i = 2; r == 0 && i < 4; i++) {
        r = call_has(c, i) ? call_want_rank(c, i, 2) : 0;
        if (r == 0 && call_has(c, i)) {
            int64_t shape[] = {c->in[i].shape[0], p.turned / 2};
            r = call_want_shape(c, i, shape, 2);
        }
    }
    if (r == 0 && call_has(c, 2) != call_has(c, 3)) {
        r = err_set(c->err, -EINVAL, "%s.inputs: give both cos and sin, or neither",
                    c->at);
    }
    return call_output_same(c, r, 3, 40);
}

static int angle_of(const struct operator_call *c, const struct rope *p, int64_t place,
                    int64_t pair, double *ret_cos, double *ret_sin) {
    int64_t row = place;
    double position =
        call_has(c, 1) ? c->in[1].v[place] : (double)(place + call_integer(c, "offset"));
    if (call_has(c, 2)) {
        int64_t rows =
            c->in[2].shape[0] < c->in[3].shape[0] ? c->in[2].shape[0] : c->in[3].shape[0];
        int r = call_index(c, call_has(c, 1) ? 1 : 0, position, 0, rows, &row);
        if (r == 0) {
            *ret_cos = c->in[2].v[row * (p->turned / 2) + pair];
            *ret_sin = c->in[3].v[row * (p->turned / 2) + pair];
        }
        return r;
    }
    double angle =
        position * pow(call_number(c, "base"), -2 * (double)pair / (double)p->turned);
    *ret_cos = cos(angle);
    *ret_sin = sin(angle);
    return 0;
}

static int compute_rope(struct operator_call *c) {
    struct rope p = {0};
    int r = plan_rope(c, &p);
    const struct operator_array *a = &c->in[0];
    int64_t inner = shape_count(a, p.position_dim + 1, a->rank);
    memcpy(c->out[0].v, a->v, (size_t)a->count * sizeof(double));
    for (int64_t at = 0; r == 0 && p.width && at < a->count; at += p.width) {
        int64_t place = at / inner % a->shape[p.position_dim];
        for (int64_t j = 0; r == 0 && j < p.turned / 2; j++) {
            double cosine = 0, sine = 0;
            int64_t first = at + (p.half ? j : 2 * j);
            int64_t second = first + (p.half ? p.turned / 2 : 1);
            r = angle_of(c, &p, place, j, &cosine, &sine);
            c->out[0].v[first] = a->v[first] * cosine - a->v[second] * sine;
            c->out[0].v[second] = a->v[second] * cosine + a->v[first] * sine;
        }
        r = r < 0 ? r : call_continue(c);
    }
    return r;
}

/* --- swiglu, geglu, reglu: Shazeer, "GLU Variants Improve Transformer", 2020 --- */

enum gate { GATE_SILU, GATE_GELU, GATE_RELU };

static int infer_gated(struct operator_call *c) {
    struct operator_array a = c->in[0];
    size_t dim;
    int r = call_dim(c, "dim", &a, &dim);
    call_cost(c, 5 * (double)a.count, 20 * (double)a.count);
    if (r < 0 || call_has(c, 1)) {
        r = r < 0 ? r : call_want_like(c, 1, 0);
        return r < 0 ? r : call_output_like(c, 0, &a);
    }
    if (!a.rank || a.shape[dim] % 2) {
        return call_error(c, "dim", "the extent there is odd and cannot be halved");
    }
    a.shape[dim] /= 2;
    return call_output_like(c, 0, &a);
}

static double gate_of(const struct operator_call *c, double x) {
    switch ((enum gate)c->op->u.number) {
    case GATE_SILU:
        return x / (1 + exp(-x));
    case GATE_GELU:
        return call_choice(c, "approximate") == 0
                   ? 0.5 * x * erfc(-x * M_SQRT1_2)
                   : 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    default:
        return x <= 0 ? 0 : x;
    }
}

static int compute_gated(struct operator_call *c) {
    size_t dim = 0;
    call_dim(c, "dim", &c->in[0], &dim);
    struct axis_lines l = axis_lines_of(&c->in[0], dim);
    int64_t half = l.n / 2 * l.inner;
    bool second = call_choice(c, "gate") == 1;
    for (int64_t i = 0; i < c->out[0].count; i++) {
        double gate, up;
        if (call_has(c, 1)) {
            gate = c->in[0].v[i];
            up = c->in[1].v[i];
        } else {
            const double *x = c->in[0].v + i / half * 2 * half + i % half;
            gate = x[second ? half : 0];
            up = x[second ? 0 : half];
        }
        c->out[0].v[i] = gate_of(c, gate) * up;
    }
    return call_continue(c);
}

#include "gpu/reference/operators_attention.h"
