#include "clients/ctl/evaluation_plot.h"

#include "base/buf.h"

#include <math.h>

void evaluation_plot_rate(struct buf *out, double rate, double low, double high,
                          int cells) {
    int sure = (int)lround(cells * (isnan(low) ? rate : fmin(low, rate)));
    int mean = (int)lround(cells * rate);
    int most = (int)lround(cells * (isnan(high) ? rate : fmax(high, rate)));
    for (int i = 0; i < cells; i++) {
        buf_adds(out, i < sure ? "█" : i < mean ? "▓" : i < most ? "░" : "·");
    }
}

/* The cell of a value between -1 and +1. */
static int cell_of(double value) {
    double at = (fmin(fmax(value, -1), 1) + 1) / 2;
    return (int)lround(at * (PLOT_LIFT_CELLS - 1));
}

void evaluation_plot_lift(struct buf *out, double estimate, double low, double high) {
    int at = cell_of(estimate), from = isnan(low) ? at : cell_of(low),
        to = isnan(high) ? at : cell_of(high), zero = cell_of(0);
    for (int i = 0; i < PLOT_LIFT_CELLS; i++) {
        bool inside = i > from && i < to;
        buf_adds(out, i == at     ? "●"
                      : i == from ? "├"
                      : i == to   ? "┤"
                      : i == zero ? (inside ? "┼" : "│")
                      : inside    ? "─"
                                  : "·");
    }
}
