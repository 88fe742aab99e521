#include "clients/ctl/live_progress.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/text.h"
#include "clients/ctl/live_table.h"

#include <unistd.h>

#define FRAME_MAX (256u << 10)
#define QUIET_S 1.0       /* what takes less than this needs no progress */
#define TABLE_EVERY_S 5.0 /* without a screen: the first after QUIET_S */
#define MESSAGE_MAX 1000  /* bytes */
#define LINE_EVERY_S 10.0 /* the same, of what has no table */

struct live_progress {
    const struct terminal *terminal;
    bool in_place, stopping;
    json_t *partial, *figures;
    double elapsed, said_s; /* said_s: when the last plain line was written */
    struct buf frame, drawn;
    int *widths; /* of the lines that stand on the screen */
    size_t lines;
};

struct live_progress *live_progress_new(const struct terminal *terminal, bool in_place) {
    struct live_progress *p = xcalloc(1, sizeof *p);
    p->terminal = terminal;
    p->in_place = in_place && terminal->err_tty;
    p->frame = BUF_INIT(FRAME_MAX);
    p->drawn = BUF_INIT(FRAME_MAX);
    return p;
}

static void forget(struct live_progress *p) {
    json_decref(p->partial);
    json_decref(p->figures);
    p->partial = p->figures = NULL;
    p->stopping = false;
    p->said_s = 0;
}

void live_progress_free(struct live_progress *p) {
    if (p) {
        forget(p);
        buf_finish(&p->frame);
        buf_finish(&p->drawn);
        free(p->widths);
        free(p);
    }
}

const json_t *live_progress_partial(const struct live_progress *p) {
    return p->partial;
}

static bool has_table(const struct live_progress *p) {
    return json_array_size(json_object_get(p->partial, "students")) > 0;
}

static struct live_table table_of(const struct live_progress *p) {
    return (struct live_table){.terminal = p->terminal,
                               .partial = p->partial,
                               .figures = p->figures,
                               .elapsed_s = p->elapsed,
                               .stopping = p->stopping};
}

/* --- in place --- */

/* Rows that the drawn lines take now: terminals wrap them anew when the window narrows.
 */
static int rows_drawn(const struct live_progress *p, int columns) {
    return total_of(int, i, 0, p->lines,
                  p->widths[i] > columns ? (p->widths[i] + columns - 1) / columns : 1);
}

static void write_all(const struct buf *b) {
    for (size_t at = 0; at < b->len;) {
        ssize_t n = write(STDERR_FILENO, b->data + at, b->len - at);
        if (n <= 0) {
            return;
        }
        at += (size_t)n;
    }
}

/* To the first column of the first line drawn. */
static void go_back(const struct live_progress *p, struct buf *out) {
    int columns, rows;
    terminal_err_size(&columns, &rows);
    int up = rows_drawn(p, columns);
    up = up < rows ? up : rows - 1;
    buf_adds(out, "\r");
    if (up) {
        buf_addf(out, "\033[%dA", up);
    }
}

static void remember_lines(struct live_progress *p) {
    p->lines = 0;
    for (const char *at = p->frame.data; at && *at;) {
        size_t len = strcspn(at, "\n");
        p->widths = xreallocarray(p->widths, p->lines + 1, sizeof *p->widths);
        p->widths[p->lines++] = live_table_line_width(at, len);
        at += len + (at[len] == '\n');
    }
}

/* One write for the whole frame, each line's rest erased after it: nothing flickers. */
static void draw(struct live_progress *p) {
    int columns, rows;
    autobuf out = BUF_INIT(2 * FRAME_MAX);
    terminal_err_size(&columns, &rows);
    buf_reset(&p->frame);
    struct live_table table = table_of(p);
    table.columns = columns;
    table.rows = rows;
    live_table_frame(&table, &p->frame);
    if (p->lines && p->drawn.len == p->frame.len &&
        memcmp(p->drawn.data, p->frame.data, p->frame.len) == 0) {
        return;
    }
    go_back(p, &out);
    for (const char *at = p->frame.data; at && *at;) {
        size_t len = strcspn(at, "\n");
        buf_add(&out, at, len);
        buf_adds(&out, "\033[K\r\n");
        at += len + (at[len] == '\n');
    }
    buf_adds(&out, "\033[J");
    write_all(&out);
    remember_lines(p);
    buf_reset(&p->drawn);
    buf_add(&p->drawn, p->frame.data, p->frame.len);
}

static void clear(struct live_progress *p) {
    autobuf out = BUF_INIT(256);
    go_back(p, &out);
    buf_adds(&out, "\033[J");
    write_all(&out);
    p->lines = 0;
    buf_reset(&p->drawn);
}

/* --- one line --- */

static char *line_of(const struct live_progress *p) {
    const char *message = json_get_string(p->figures, "message", "working");
    double total = json_number_value(json_object_get(p->figures, "total"));
    double done = json_number_value(json_object_get(p->figures, "done"));
    return p->stopping ? xstrdup("stopping")
           : total > 0 ? xasprintf("%s (%.0f of %.0f, %.0f s)", message, done, total,
                                   p->elapsed)
                       : xasprintf("%s (%.0f s)", message, p->elapsed);
}

static void draw_line(const struct live_progress *p) {
    autofree char *text = line_of(p);
    terminal_progress(p->terminal, text);
}

/* --- no screen --- */

static void add_line(const struct live_progress *p, struct buf *out) {
    autofree char *text = line_of(p);
    text_clean(out, text, text_cut(text, strlen(text), MESSAGE_MAX));
}

static void say_line(struct live_progress *p) {
    autobuf line = BUF_INIT(FRAME_MAX);
    struct live_table table = table_of(p);
    if (has_table(p)) {
        live_table_line(&table, &line);
    } else {
        add_line(p, &line);
    }
    buf_add(&line, "\n", 1);
    write_all(&line);
    p->said_s = p->elapsed;
}

static bool is_line_due(const struct live_progress *p) {
    double silent = p->elapsed - p->said_s;
    return has_table(p) ? p->said_s == 0 || silent >= TABLE_EVERY_S
                        : silent >= LINE_EVERY_S;
}

/* --- what happens --- */

static void show(struct live_progress *p) {
    if (p->elapsed < QUIET_S) {
        return;
    }
    if (!p->in_place) {
        if (is_line_due(p)) {
            say_line(p);
        }
    } else if (has_table(p)) {
        draw(p);
    } else {
        draw_line(p);
    }
}

void live_progress_update(struct live_progress *p, const json_t *params,
                          double elapsed_s) {
    json_t *partial = json_object_get(params, "partial");
    json_t *figures = json_object_get(params, "progress");
    p->elapsed = elapsed_s;
    if (partial) {
        json_decref(p->partial);
        p->partial = json_incref(partial);
    }
    if (figures) {
        json_decref(p->figures);
        p->figures = json_incref(figures);
    }
    show(p);
}

void live_progress_stopping(struct live_progress *p) {
    p->stopping = true;
    show(p);
}

void live_progress_end(struct live_progress *p, bool keep) {
    if (keep && has_table(p)) {
        if (p->in_place) {
            draw(p);
            p->lines = 0;
        } else {
            say_line(p);
        }
    } else if (p->lines) {
        clear(p);
    } else if (p->in_place) {
        terminal_progress_clear(p->terminal);
    }
    buf_reset(&p->drawn);
    forget(p);
}
