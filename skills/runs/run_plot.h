#pragma once
/* run_plot: the pictures of a report, as SVG inside HTML. Colours and fonts come from the
 * page's style sheet (classes good, bad, even, muted, line, band). */
#include "base/json.h"

enum { PLOT_PAIRS = 300 }; /* so many are shown */

/* The lift {estimate, low, high} (-1 … 1) with its interval on an axis of points; tone is
 * a class. A band around zero shows lifts that are too small to detect (up to
 * smallest_detectable). A member that is no number is unknown. data: not used, here and
 * below (words.h). */
void plot_lift(struct buf *out, const json_t *lift, const void *data);
/* A rate as a bar with its interval: {estimate or pass_rate, low, high, tone}, or the
 * number alone; nothing where it is unknown. */
void plot_rate(struct buf *out, const json_t *rate, const void *data);
/* [{id, split, before, after}], per test: the rate before as a ring, after as a disc, a
 * line between them. split: a note, any short text. */
void plot_pairs(struct buf *out, const json_t *pairs, const void *data);
