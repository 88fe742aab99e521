#pragma once
/* run_plot: the pictures of a report, as SVG inside HTML. Colours and fonts come from the
 * page's style sheet (classes good, bad, even, muted, line, band). */
#include "base/mem.h"

/* The lift (-1 … 1) with its interval on an axis of points; low and high may be NaN. tone
 * is a class. A band around zero shows lifts that are too small to detect (NaN: none). */
void plot_lift(struct buf *out, double estimate, double low, double high, double smallest,
               const char *tone);
/* A rate as a bar with its interval (NaN: none). */
void plot_rate(struct buf *out, double rate, double low, double high, const char *tone);

struct plot_pair {
    const char *label, *note; /* note: for example the split; or "" */
    double before, after;     /* rates; NaN: unknown */
};
/* Per test: before as a ring, after as a disc, a line between them. */
void plot_pairs(struct buf *out, const struct plot_pair *pairs, size_t count);
