#pragma once
/* evaluation_plot: rates and differences with their intervals, drawn in one line each. */
struct buf;

#define PLOT_CELLS 20
#define PLOT_LIFT_CELLS 31 /* odd, so that 0 has its own cell */

/* A bar of `cells` cells from 0 to 1: dark up to the interval's lower end, lighter up to
 * the rate, lightest up to the upper end. low and high may be NaN. */
void evaluation_plot_rate(struct buf *out, double rate, double low, double high,
                          int cells);
/* An axis from -1 to +1 with a line at 0, the interval and the estimate on it. low and
 * high may be NaN. */
void evaluation_plot_lift(struct buf *out, double estimate, double low, double high);
