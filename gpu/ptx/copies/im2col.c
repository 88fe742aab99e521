#include "gpu/ptx/copies/im2col.h"
#include "base/find.h"

#include "gpu/ptx/access/access.h"

static unsigned spatial(const struct tensor_copy *t) {
    return t->map.rank - 2u;
}

/* The last place of a filter along dimension d + 1. */
static int64_t last_place(const struct tensor_copy *t, unsigned d) {
    return (int64_t)t->map.last[d + 1] + t->map.upper[d];
}

struct im2col_walk im2col_begin(const struct tensor_copy *t) {
    struct im2col_walk walk = {{0}};
    for (unsigned d = 1; d < t->map.rank; d++) {
        walk.at[d] = t->at[d];
    }
    return walk;
}

void im2col_next(const struct tensor_copy *t, struct im2col_walk *walk) {
    for (unsigned d = 0; d < spatial(t); d++) {
        walk->at[d + 1] += t->map.element_strides[d + 1];
        if (walk->at[d + 1] <= last_place(t, d)) {
            return;
        }
        walk->at[d + 1] = t->map.lower[d];
    }
    walk->at[t->map.rank - 1]++;
}

bool im2col_pixel(const struct tensor_copy *t, const struct im2col_walk *walk,
                  uint64_t *ret_offset) {
    *ret_offset = 0;
    for (unsigned d = 1; d < t->map.rank; d++) {
        int64_t at = walk->at[d] + (d <= spatial(t) ? t->offsets[d - 1] : 0);
        if (at < 0 || at > (int64_t)t->map.last[d]) {
            return false;
        }
        *ret_offset += (uint64_t)at * t->map.strides[d - 1];
    }
    return true;
}

/* ---- what may be asked for ---- */

static bool tell(struct warp *w, const struct step *s, unsigned lane,
                 enum finding_code code, const char *words, unsigned d, int64_t number,
                 int64_t low, int64_t high) {
    static const char *const names[] = {"width", "height", "depth", "images"};
    finding_add(&(struct finding_place){.warp = w, .step = s, .lane = lane}, code,
                "%s (%s): %lld, it must be %lld to %lld", words, names[d],
                (long long)number, (long long)low, (long long)high);
    run_fault(w->processor->run);
    return false;
}

static bool check_filter(struct warp *w, const struct step *s, unsigned lane,
                         const struct tensor_copy *t, unsigned d) {
    static const uint16_t most[] = {0xffff, 0xff, 0x1f}; /* by spatial dimensions */
    unsigned offset = t->offsets[d], limit = most[spatial(t) - 1];
    int64_t at = t->at[d + 1], low = t->map.lower[d], high = last_place(t, d);
    if (at < low || at > high) {
        return tell(w, s, lane, FINDING_OUT_OF_BOUNDS,
                    "The filter is outside of the tensor map's bounding box", d, at,
                    low, high);
    }
    return offset <= limit || tell(w, s, lane, FINDING_OUT_OF_BOUNDS,
                                   "An im2col offset beyond what the instruction takes",
                                   d, offset, 0, limit);
}

/* A store's bounding box stays within the images. */
static bool check_store(struct warp *w, const struct step *s, unsigned lane,
                        const struct tensor_copy *t, unsigned d) {
    int64_t last = t->map.last[d + 1];
    if (t->map.lower[d] < 0) {
        return tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
                    "A tensor map to store by begins outside of the images", d,
                    t->map.lower[d], 0, last);
    }
    return t->map.upper[d] <= 0 ||
           tell(w, s, lane, FINDING_INVALID_TENSOR_MAP,
                "A tensor map to store by ends outside of the images", d, t->map.upper[d],
                -last, 0);
}

bool im2col_check(struct warp *w, const struct step *s, unsigned lane,
                  const struct tensor_copy *t, bool store) {
    return !any_of(d, 0, spatial(t),
                   !check_filter(w, s, lane, t, d) ||
                       (store && !check_store(w, s, lane, t, d)));
}
