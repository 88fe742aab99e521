#include "gpu/reference/window.h"

static int64_t product3(const int64_t *v) {
    return v[0] * v[1] * v[2];
}

int window_start(struct operator_call *c, size_t rank, struct window *ret) {
    const struct operator_array *a = &c->in[0];
    if (a->rank != rank + 1 && a->rank != rank + 2) {
        return call_want_rank(c, 0, rank + 2);
    }
    *ret = (struct window){.rank = rank,
                           .in = {1, 1, 1},
                           .out = {1, 1, 1},
                           .kernel = {1, 1, 1},
                           .stride = {1, 1, 1},
                           .dilation = {1, 1, 1}};
    for (size_t i = 0; i < rank; i++) {
        ret->in[i] = a->shape[a->rank - rank + i];
    }
    ret->inputs = product3(ret->in);
    return 0;
}

int window_attributes(struct operator_call *c, struct window *w, bool half,
                      bool dilated) {
    bool strided = call_attribute(c, "stride")->given;
    int r = strided ? call_check_list(c, "stride", w->rank, 1) : 0;
    r = r < 0 ? r : call_check_list(c, "padding", w->rank, 0);
    r = r < 0 || !dilated ? r : call_check_list(c, "dilation", w->rank, 1);
    for (size_t i = 0; r == 0 && i < w->rank; i++) {
        w->stride[i] = strided ? call_item(c, "stride", i) : w->kernel[i];
        w->padding[i] = call_item(c, "padding", i);
        w->dilation[i] = dilated ? call_item(c, "dilation", i) : 1;
        if (half && 2 * w->padding[i] > w->kernel[i]) {
            r = call_error(c, "padding", "%lld is more than half the kernel's %lld",
                           (long long)w->padding[i], (long long)w->kernel[i]);
        }
    }
    return r;
}

int window_extents(struct operator_call *c, struct window *w, bool ceil) {
    for (size_t i = 0; i < w->rank; i++) {
        int64_t reach = w->dilation[i] * (w->kernel[i] - 1) + 1;
        int64_t room = w->in[i] + 2 * w->padding[i] - reach;
        if (room < 0) {
            return err_set(
                c->err, -EINVAL,
                "%s: the kernel reaches over %lld elements, '%s' has %lld with "
                "its padding",
                c->at, (long long)reach, c->in[0].name,
                (long long)(w->in[i] + 2 * w->padding[i]));
        }
        w->out[i] = (room + (ceil ? w->stride[i] - 1 : 0)) / w->stride[i] + 1;
        if (ceil && (w->out[i] - 1) * w->stride[i] >= w->in[i] + w->padding[i]) {
            w->out[i]--;
        }
    }
    w->outputs = product3(w->out);
    w->taps = product3(w->kernel);
    return 0;
}

int window_output(struct operator_call *c, size_t output, const struct window *w,
                  int64_t channels) {
    struct operator_array a = c->in[0];
    size_t first = a.rank - w->rank;
    a.shape[first - 1] = channels ? channels : a.shape[first - 1];
    for (size_t i = 0; i < w->rank; i++) {
        a.shape[first + i] = w->out[i];
    }
    return call_output(c, output, a.shape, a.rank);
}

void window_place(const int64_t *extents, int64_t i, int64_t *ret) {
    ret[2] = i % extents[2];
    ret[1] = i / extents[2] % extents[1];
    ret[0] = i / extents[2] / extents[1];
}
