#include "clients/ctl/live_table.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "clients/ctl/render.h"

#define LABEL_COLUMNS 11
#define SILENCE_S 30

enum figure {
    DONE,
    TOTAL,
    PASSED,
    FAILED,
    REFUSED,
    ERRORED,
    TOKENS,
    COST,
    LEFT,
    FIGURES
};

/* What a row of the table says, or the sum of several. */
struct count {
    const char *name;
    double of[FIGURES];
};

static struct count row_count(const json_t *row, const char *name) {
    static const char *const members[FIGURES] = {"done",   "total",   "passed",
                                                 "failed", "refused", "errored",
                                                 "tokens", "cost",    "eta_s"};
    struct count c = {.name = name};
    for (int i = 0; i < FIGURES; i++) {
        c.of[i] = number_of(row, members[i]);
    }
    return c;
}

/* Costs that are not known count as nothing; the time left is that of the slowest. */
static void count_add(struct count *sum, const struct count *c) {
    double cost = isnan(c->of[COST]) ? 0 : c->of[COST], left = c->of[LEFT];
    for (int i = 0; i < COST; i++) {
        sum->of[i] += c->of[i];
    }
    sum->of[COST] = isnan(sum->of[COST]) ? c->of[COST] : sum->of[COST] + cost;
    if (c->of[DONE] < c->of[TOTAL]) {
        sum->of[LEFT] = isnan(left) ? INFINITY : fmax(sum->of[LEFT], left);
    }
}

static const json_t *rows_of(const struct live_table *t) {
    return json_object_get(t->partial, "students");
}

static struct count count_all(const struct live_table *t, const char *student,
                              const char *arm) {
    struct count sum = {.of[COST] = NAN};
    json_each(rows_of(t), i, row) {
        if ((!student || json_says(row, "student", student)) &&
            (!arm || json_says(row, "arm", arm))) {
            struct count c = row_count(row, "");
            count_add(&sum, &c);
        }
    }
    return sum;
}

/* --- words --- */

static void add_clock(struct buf *out, double seconds) {
    unsigned long s = seconds > 0 ? (unsigned long)(seconds + 0.5) : 0;
    if (s >= 3600) {
        buf_addf(out, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
    } else {
        buf_addf(out, "%lu:%02lu", s / 60, s % 60);
    }
}

static void add_amount(struct buf *out, double amount) {
    if (amount >= 1e6) {
        buf_addf(out, "%.2fM", amount / 1e6);
    } else if (amount >= 1e4) {
        buf_addf(out, "%.1fk", amount / 1e3);
    } else {
        buf_addf(out, "%.0f", amount);
    }
}

/* Half a minute of silence: a slow model, or nobody who answers. */
static void add_silence(struct buf *out, const struct live_table *t,
                        const struct count *sum) {
    if (!(sum->of[DONE] > 0) && t->elapsed_s >= SILENCE_S) {
        buf_addf(out, ", no answer in %.0f s: does the endpoint hang?", t->elapsed_s);
    }
}

static void add_left(struct buf *out, const struct count *sum) {
    if (sum->of[DONE] < sum->of[TOTAL] && isfinite(sum->of[LEFT])) {
        buf_adds(out, ", about ");
        add_clock(out, sum->of[LEFT]);
        buf_adds(out, " left");
    }
}

int live_table_line_width(const char *line, size_t len) {
    autobuf plain = BUF_INIT(1u << 20);
    text_clean(&plain, line, len);
    return (int)text_width(plain.data, plain.len);
}

/* --- a line that never grows too wide --- */

struct line {
    struct buf *out;
    int used, columns;
    const struct terminal *terminal;
    bool full; /* something did not fit: nothing more comes */
};

static void piece(struct line *l, enum style style, const char *text) {
    int width = (int)text_width(text, strlen(text));
    if (l->full || l->used + width > l->columns) {
        l->full = true;
        return;
    }
    const char *start = terminal_err_start(l->terminal, style);
    buf_adds(l->out, start);
    buf_adds(l->out, text);
    buf_adds(l->out, *start ? terminal_err_end(l->terminal) : "");
    l->used += width;
}

__attribute__((format(printf, 3, 4))) static void piecef(struct line *l, enum style style,
                                                         const char *fmt, ...) {
    char text[256];
    text_format(text, fmt);
    piece(l, style, text);
}

/* A name from outside, cut to what is left. */
static void piece_name(struct line *l, enum style style, const char *name, int columns) {
    autobuf clean = BUF_INIT(4096);
    int room = l->columns - l->used < columns ? l->columns - l->used : columns;
    text_clean(&clean, name, text_cut(name, strlen(name), 1000));
    for (size_t i = 0; i < clean.len; i++) {
        clean.data[i] = strchr("\n\t", clean.data[i]) ? ' ' : clean.data[i];
    }
    size_t len = clean.len;
    while (len && (int)text_width(clean.data, len) > (room > 0 ? room : 0)) {
        len = text_cut(clean.data, len, len - 1);
    }
    autofree char *cut = xstrndup(clean.data, len);
    piece(l, style, cut);
}

static void pad_to(struct line *l, int column) {
    if (l->used < column) {
        piecef(l, STYLE_PLAIN, "%*s", column - l->used, "");
    }
}

static struct line line_start(const struct live_table *t, struct buf *out) {
    return (struct line){.out = out, .columns = t->columns - 1, .terminal = t->terminal};
}

static void line_end(struct line *l) {
    buf_add(l->out, "\n", 1);
}

/* --- the parts of a frame --- */

static void cells(struct line *l, enum style style, const char *cell, int count) {
    autobuf text = BUF_INIT(1024);
    for (int i = 0; i < count; i++) {
        buf_adds(&text, cell);
    }
    piece(l, style, text.data);
}

static int share(double part, double total, int width) {
    return total > 0 ? (int)lround(part / total * width) : 0;
}

/* Passed, failed, what counts as neither, and what is to come. */
static void bar(struct line *l, const struct count *c, int width) {
    int passed = share(c->of[PASSED], c->of[TOTAL], width);
    int graded = share(c->of[PASSED] + c->of[FAILED], c->of[TOTAL], width);
    int done = share(c->of[DONE], c->of[TOTAL], width);
    cells(l, STYLE_GREEN, "█", passed);
    cells(l, STYLE_PLAIN, "▒", graded - passed);
    cells(l, STYLE_YELLOW, "!", done - graded);
    cells(l, STYLE_DIM, "·", width - done);
}

static int bar_width(int columns) {
    return columns >= 90 ? 30 : columns >= 70 ? 20 : columns >= 40 ? 10 : 0;
}

static int digits(double value) {
    return snprintf(NULL, 0, "%.0f", value);
}

/* `sum` says which columns there are, and how wide. */
static void figures(struct line *l, const struct count *c, const struct count *sum) {
    int width = digits(sum->of[TOTAL]);
    piecef(l, STYLE_PLAIN, " %*.0f/%-*.0f", width, c->of[DONE], width, c->of[TOTAL]);
    piecef(l, STYLE_GREEN, " %*.0f passed", width, c->of[PASSED]);
    for (int i = 0; i < 2; i++) {
        enum figure f = i ? REFUSED : ERRORED;
        if (sum->of[f] > 0) {
            piecef(l, c->of[f] > 0 ? STYLE_YELLOW : STYLE_DIM, "  %*.0f %s",
                   digits(sum->of[f]), c->of[f], i ? "refused" : "errored");
        }
    }
    autobuf tokens = BUF_INIT(64);
    add_amount(&tokens, c->of[TOKENS]);
    piecef(l, STYLE_DIM, "  %7s tokens", tokens.data);
    if (sum->of[COST] > 0) {
        piecef(l, STYLE_DIM, "  cost %.4f", isnan(c->of[COST]) ? 0 : c->of[COST]);
    }
}

static void count_line(const struct live_table *t, struct buf *out, const struct count *c,
                       const struct count *sum, int label) {
    struct line l = line_start(t, out);
    piece(&l, STYLE_PLAIN, "  ");
    piece_name(&l, STYLE_PLAIN, c->name, label - 2);
    pad_to(&l, label + 1);
    bar(&l, c, bar_width(t->columns));
    figures(&l, c, sum);
    line_end(&l);
}

static void head_line(const struct live_table *t, struct buf *out,
                      const struct count *sum) {
    struct line l = line_start(t, out);
    autobuf text = BUF_INIT(256);
    double done = fmax(number_of(t->figures, "done"), sum->of[DONE]);
    buf_addf(&text, "%.0f of %.0f answers", isnan(done) ? sum->of[DONE] : done,
             sum->of[TOTAL]);
    piece(&l, STYLE_BOLD, text.data);
    buf_reset(&text);
    buf_adds(&text, ", ");
    add_clock(&text, t->elapsed_s);
    piece(&l, STYLE_PLAIN, text.data);
    if (t->stopping) {
        piece(&l, STYLE_YELLOW, ", stopping");
        line_end(&l);
        return;
    }
    buf_reset(&text);
    add_left(&text, sum);
    piece(&l, STYLE_PLAIN, text.data);
    buf_reset(&text);
    add_silence(&text, t, sum);
    piece(&l, STYLE_YELLOW, text.data);
    line_end(&l);
}

static void foot_line(const struct live_table *t, struct buf *out) {
    struct line l = line_start(t, out);
    piece(&l, STYLE_GREEN, "█");
    piece(&l, STYLE_DIM, " passed  ▒ failed  ");
    piece(&l, STYLE_DIM, "Ctrl-C stops; the answers so far are kept");
    line_end(&l);
}

/* --- the frame --- */

static bool is_first(const json_t *rows, size_t at, const char *key) {
    const char *name = json_get_string(json_array_get(rows, at), key, "");
    return !any_of(i, 0, at, json_says(json_array_get(rows, i), key, name));
}

static size_t count_students(const json_t *rows) {
    return total_of(size_t, i, 0, json_array_size(rows), is_first(rows, i, "student"));
}

static void name_line(const struct live_table *t, struct buf *out, const char *name) {
    struct line l = line_start(t, out);
    piece_name(&l, STYLE_BOLD, name, t->columns);
    line_end(&l);
}

static void arm_lines(const struct live_table *t, struct buf *out,
                      const struct count *sum) {
    const char *student = "";
    json_each(rows_of(t), i, row) {
        const char *name = json_get_string(row, "student", "");
        if (i == 0 || strcmp(name, student) != 0) {
            student = name;
            name_line(t, out, name);
        }
        struct count c = row_count(row, json_get_string(row, "arm", ""));
        count_line(t, out, &c, sum, LABEL_COLUMNS);
    }
}

static void student_lines(const struct live_table *t, struct buf *out,
                          const struct count *sum, size_t room) {
    const json_t *rows = rows_of(t);
    size_t shown = 0, students = count_students(rows);
    int label = t->columns >= 60 ? t->columns / 3 : LABEL_COLUMNS;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *name = json_get_string(json_array_get(rows, i), "student", "");
        if (!is_first(rows, i, "student")) {
            continue;
        }
        if (shown + 1 >= room && shown + 1 < students) {
            buf_addf(out, "  and %zu more\n", students - shown);
            return;
        }
        struct count c = count_all(t, name, NULL);
        c.name = name;
        count_line(t, out, &c, sum, label);
        shown++;
    }
}

void live_table_frame(const struct live_table *t, struct buf *out) {
    struct count sum = count_all(t, NULL, NULL);
    const json_t *rows = rows_of(t);
    size_t lines = json_array_size(rows) + count_students(rows);
    size_t room = t->rows > 3 ? (size_t)t->rows - 2 : 1; /* a line below stays free */
    head_line(t, out, &sum);
    if (lines <= room) {
        arm_lines(t, out, &sum);
    } else {
        student_lines(t, out, &sum, room);
    }
    if (!t->stopping && lines + 1 <= room) {
        foot_line(t, out);
    }
}

/* --- one line --- */

void live_table_line(const struct live_table *t, struct buf *out) {
    struct count sum = count_all(t, NULL, NULL);
    const json_t *rows = rows_of(t);
    buf_addf(out, "%.0f of %.0f answers", sum.of[DONE], sum.of[TOTAL]);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *arm = json_get_string(json_array_get(rows, i), "arm", "");
        if (is_first(rows, i, "arm")) {
            struct count c = count_all(t, NULL, arm);
            autobuf name = BUF_INIT(256);
            text_clean(&name, arm, text_cut(arm, strlen(arm), 60));
            buf_addf(out, ", %s %.0f passed of %.0f", name.data, c.of[PASSED],
                     c.of[PASSED] + c.of[FAILED]);
        }
    }
    if (sum.of[ERRORED] > 0) {
        buf_addf(out, ", %.0f errored", sum.of[ERRORED]);
    }
    if (sum.of[REFUSED] > 0) {
        buf_addf(out, ", %.0f refused", sum.of[REFUSED]);
    }
    buf_adds(out, ", ");
    add_amount(out, sum.of[TOKENS]);
    buf_adds(out, " tokens");
    if (sum.of[COST] > 0) {
        buf_addf(out, ", cost %.4f", sum.of[COST]);
    }
    buf_adds(out, ", ");
    add_clock(out, t->elapsed_s);
    if (t->stopping) {
        buf_adds(out, ", stopping");
    } else {
        add_left(out, &sum);
        add_silence(out, t, &sum);
    }
}
