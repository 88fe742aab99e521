/* What a terminal shows of a value in its own way: bars, plots, colours. */
#include "base/buf.h"
#include "base/find.h"
#include "clients/ctl/render.h"

enum { BAR_MIN = 8, BAR_MAX = 28, SCORE_CELLS = 10, BESIDE_MEASURE = 65, WIDE = 60 };

int terminal_bar_cells(const struct terminal *t, int words) {
    int room = t->width - words;
    return room < BAR_MIN ? BAR_MIN : room > BAR_MAX ? BAR_MAX : room;
}

void terminal_add_bar(struct buf *out, double part, int cells) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    part = part < 0 ? 0 : part > 1 ? 1 : part;
    int units = (int)(part * cells * 8 + 0.5), drawn = (units + 7) / 8;
    for (int i = 0; i < units / 8; i++) {
        buf_adds(out, "█");
    }
    buf_adds(out, eighths[units % 8]);
    for (int i = drawn; i < cells; i++) {
        buf_addc(out, ' ');
    }
}

void terminal_add_rate(struct buf *out, const json_t *of, int cells) {
    double rate = json_get_number(of, "estimate", number_of(of, "pass_rate")),
           low = number_of(of, "low"), high = number_of(of, "high");
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

void terminal_add_lift(struct buf *out, const json_t *lift) {
    double low = number_of(lift, "low"), high = number_of(lift, "high");
    int at = cell_of(number_of(lift, "estimate")), from = isnan(low) ? at : cell_of(low),
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

/* --- parts of words --- */

enum style verdict_style(const json_t *object) {
    static const struct colour {
        const char *verdict;
        enum style style;
    } colours[] = {{"pass", STYLE_GREEN}, {"helps", STYLE_GREEN}, {"fail", STYLE_RED},
                   {"hurts", STYLE_RED},  {"error", STYLE_RED},   {"timeout", STYLE_RED}};
    const struct colour *found = list_find(c, colours, ARRAY_LEN(colours),
                                           json_says(object, "verdict", c->verdict));
    return found ? found->style : STYLE_YELLOW;
}

static void add_bar(struct buf *out, const json_t *share, const void *) {
    terminal_add_bar(out, json_number_value(share), PLOT_CELLS);
}

static void add_score(struct buf *out, const json_t *share, const void *) {
    terminal_add_bar(out, json_number_value(share), SCORE_CELLS);
    buf_addf(out, " %.2f", json_number_value(share));
}

static void add_measure(struct buf *out, const json_t *value, const void *terminal) {
    double percent = json_number_value(value);
    buf_adds(out, percent >= 75 ? GREEN : percent >= 40 ? YELLOW : RED);
    terminal_add_bar(out, percent / 100, terminal_bar_cells(terminal, BESIDE_MEASURE));
    buf_addf(out, END " %.3g %%", percent);
}

/* With blanks behind it. */
static void add_rate(struct buf *out, const json_t *rate, const void *terminal) {
    const struct terminal *t = terminal;
    if (t->width >= WIDE) {
        buf_adds(out, BLUE);
        terminal_add_rate(out, rate, PLOT_CELLS);
        buf_adds(out, END "  ");
    }
}

static void add_lift(struct buf *out, const json_t *lift, const void *) {
    terminal_add_lift(out, lift);
}

static void add_verdict(struct buf *out, const json_t *of, const void *) {
    buf_addf(out, "%c%s" END, (char)verdict_style(of),
             json_get_string(of, "verdict", ""));
}

static void add_style(struct buf *out, const json_t *of, const void *) {
    buf_addc(out, (char)verdict_style(of));
}

static void add_bytes(struct buf *out, const json_t *value, const void *) {
    double bytes = json_number_value(value);
    if (bytes >= 10240) {
        buf_addf(out, "%.4g KiB", bytes / 1024);
    } else {
        buf_addf(out, "%.0f B", bytes);
    }
}

/* "01-02 03:04" of "2026-01-02T03:04:05.678Z": the newest thousand are no year old. */
static void add_minute(struct buf *out, const json_t *value, const void *) {
    const char *time = json_string_value(value);
    bool whole = time && strlen(time) > strlen("2026-01-02T03:04");
    buf_addf(out, "%.5s %.5s", whole ? time + 5 : "", whole ? time + 11 : "");
}

const struct words_part terminal_parts[] = {
    {"bar", add_bar},         {"score", add_score}, {"measure", add_measure},
    {"rate", add_rate},       {"lift", add_lift},   {"verdict", add_verdict},
    {"style", add_style},     {"bytes", add_bytes}, {"minute", add_minute},
    {0}};
