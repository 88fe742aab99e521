#include "skills/runs/run_plot.h"

#include "base/buf.h"
#include "skills/runs/html.h"

#include <math.h>

/* --- the lift --- */

#define LIFT_WIDTH 600
#define LIFT_LEFT 20
#define LIFT_Y 26

static double lift_x(double share) {
    double inside = fmin(fmax(share, -1), 1);
    return LIFT_LEFT + (inside + 1) / 2 * LIFT_WIDTH;
}

static void add_line(struct buf *out, const char *class, double x1, double y1, double x2,
                     double y2) {
    buf_addf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
             class, x1, y1, x2, y2);
}

static void lift_axis(struct buf *out) {
    add_line(out, "axis", lift_x(-1), 52, lift_x(1), 52);
    for (int points = -100; points <= 100; points += 25) {
        double x = lift_x(points / 100.0);
        add_line(out, points ? "tick" : "zero", x, points ? 49 : 4, x, 55);
        if (points % 50 == 0) {
            buf_addf(out,
                     "<text class=\"muted\" x=\"%.1f\" y=\"70\" text-anchor=\"middle\">"
                     "%s%d</text>",
                     x, points > 0 ? "+" : "", points);
        }
    }
}

void plot_lift(struct buf *out, const json_t *lift, const void *) {
    double estimate = json_get_number(lift, "estimate", NAN),
           low = json_get_number(lift, "low", NAN),
           high = json_get_number(lift, "high", NAN),
           smallest = json_get_number(lift, "smallest_detectable", NAN);
    const char *tone = json_get_string(lift, "tone", "even");
    buf_addf(out,
             "<svg class=\"plot lift\" viewBox=\"0 0 640 76\" role=\"img\" "
             "aria-label=\"lift %+.0f points",
             round(100 * estimate));
    if (!isnan(low) && !isnan(high)) {
        buf_addf(out, ", 95 %% interval %+.0f to %+.0f", round(100 * low),
                 round(100 * high));
    }
    buf_adds(out, "\">");
    if (smallest > 0 && smallest < 1) {
        buf_addf(out,
                 "<rect class=\"band\" x=\"%.1f\" y=\"4\" width=\"%.1f\" height=\"48\"/>",
                 lift_x(-smallest), lift_x(smallest) - lift_x(-smallest));
    }
    lift_axis(out);
    if (!isnan(low) && !isnan(high)) {
        buf_addf(out, "<g class=\"%s\">", tone);
        add_line(out, "interval", lift_x(low), LIFT_Y, lift_x(high), LIFT_Y);
        add_line(out, "cap", lift_x(low), LIFT_Y - 7, lift_x(low), LIFT_Y + 7);
        add_line(out, "cap", lift_x(high), LIFT_Y - 7, lift_x(high), LIFT_Y + 7);
        buf_adds(out, "</g>");
    }
    buf_addf(out, "<circle class=\"dot %s\" cx=\"%.1f\" cy=\"%d\" r=\"6\"/></svg>\n",
             tone, lift_x(estimate), LIFT_Y);
}

/* --- rates --- */

void plot_rate(struct buf *out, const json_t *of, const void *) {
    double rate = json_is_number(of)
                      ? json_number_value(of)
                      : json_get_number(of, "estimate",
                                        json_get_number(of, "pass_rate", NAN)),
           low = json_get_number(of, "low", NAN), high = json_get_number(of, "high", NAN),
           inside = fmin(fmax(rate, 0), 1);
    if (isnan(rate)) {
        return;
    }
    buf_addf(
        out,
        "<svg class=\"bar\" viewBox=\"0 0 304 20\" role=\"img\" aria-label=\"%.0f %%\">"
        "<rect class=\"track\" x=\"2\" y=\"4\" width=\"300\" height=\"12\" rx=\"2\"/>"
        "<rect class=\"fill %s\" x=\"2\" y=\"4\" width=\"%.1f\" height=\"12\" "
        "rx=\"2\"/>",
        100 * rate, json_get_string(of, "tone", "even"), 300 * inside);
    if (!isnan(low) && !isnan(high)) {
        double x1 = 2 + 300 * fmin(fmax(low, 0), 1),
               x2 = 2 + 300 * fmin(fmax(high, 0), 1);
        add_line(out, "whisker", x1, 10, x2, 10);
        add_line(out, "whisker", x1, 5, x1, 15);
        add_line(out, "whisker", x2, 5, x2, 15);
    }
    buf_adds(out, "</svg>");
}

/* --- pairs --- */

#define ROW 20
#define PAIR_LEFT 275
#define PAIR_WIDTH 330
#define LABEL_MAX 28
#define NOTE_MAX 16

static double pair_x(double rate) {
    return PAIR_LEFT + fmin(fmax(rate, 0), 1) * PAIR_WIDTH;
}

static void plot_pair(struct buf *out, const json_t *p, double y) {
    double before = json_get_number(p, "before", NAN),
           after = json_get_number(p, "after", NAN);
    const char *tone = after > before ? "good" : after < before ? "bad" : "even";
    buf_addf(out, "<text x=\"4\" y=\"%.1f\">", y + 4);
    html_text(out, json_get_string(p, "id", ""), LABEL_MAX);
    buf_addf(out, "</text><text class=\"muted\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
             PAIR_LEFT - 14, y + 4);
    html_text(out, json_get_string(p, "split", ""), NOTE_MAX);
    buf_adds(out, "</text>");
    add_line(out, "tick", pair_x(0), y, pair_x(1), y);
    if (isnan(before) || isnan(after)) {
        buf_addf(out, "<text class=\"muted\" x=\"%d\" y=\"%.1f\">no pair</text>",
                 PAIR_LEFT + 4, y + 4);
        return;
    }
    buf_addf(out, "<g class=\"%s\">", tone);
    add_line(out, "join", pair_x(before), y, pair_x(after), y);
    buf_addf(out,
             "<circle class=\"ring\" cx=\"%.1f\" cy=\"%.1f\" r=\"6\"/><circle "
             "class=\"dot %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/></g>",
             pair_x(before), y, tone, pair_x(after), y);
}

void plot_pairs(struct buf *out, const json_t *pairs, const void *) {
    size_t count = json_array_size(pairs);
    count = count < PLOT_PAIRS ? count : PLOT_PAIRS;
    double height = ROW * (double)count + 34;
    buf_addf(out,
             "<div class=\"scroll\"><svg class=\"plot pairs\" viewBox=\"0 0 640 %.0f\" "
             "role=\"img\" aria-label=\"pass rates of each test without and with the skill\">",
             height);
    for (int percent = 0; percent <= 100; percent += 25) {
        double x = pair_x(percent / 100.0);
        add_line(out, "grid", x, 4, x, height - 22);
        buf_addf(out,
                 "<text class=\"muted\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%d "
                 "%%</text>",
                 x, height - 6, percent);
    }
    for (size_t i = 0; i < count; i++) {
        plot_pair(out, json_array_get(pairs, i), ROW * (double)i + 14);
    }
    buf_adds(out, "</svg></div>\n");
}
