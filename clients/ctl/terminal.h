#pragma once
/* terminal: properties of standard output and error, and functions to write to them.
 * Colours only on a terminal (and not if NO_COLOR is set or TERM is "dumb"). All text
 * from a daemon's answer passes text_clean before it is printed. */
#include "base/json.h"
#include "base/words.h"

#include <stdio.h>

enum style {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_RED,
    STYLE_YELLOW,
    STYLE_GREEN,
    STYLE_BLUE,
    STYLE_DIM
};

struct terminal {
    bool tty;     /* standard output is a terminal: tables fit its width */
    bool color;   /* of standard output */
    bool err_tty; /* progress may be drawn on standard error */
    bool err_color;
    int width; /* columns of standard output; 100 if it is not a terminal */
};

void terminal_init(struct terminal *t);
/* The escape sequence that starts a style on standard output, and the one that ends all
 * styles; "" without colour. */
const char *terminal_start(const struct terminal *t, enum style style);
const char *terminal_end(const struct terminal *t);
void terminal_put(const struct terminal *t, enum style style, const char *text);
void terminal_line(const struct terminal *t, enum style style, const char *text);
void terminal_putf(const struct terminal *t, enum style style, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

const char *terminal_err_start(const struct terminal *t, enum style style);
const char *terminal_err_end(const struct terminal *t);
/* Standard error's, asked each time because windows are resized; 80 x 24 when it does not
 * say. */
void terminal_err_size(int *columns, int *rows);

/* A text wrapped at blanks to standard output's width (at most 100 columns), the first
 * line beginning at `column`, the others after `indent` blanks; ends the last line. */
void terminal_put_wrapped(const struct terminal *t, enum style style, const char *text,
                          int column, int indent);
/* Writes on from *column, wrapped only on a terminal: elsewhere a finding stays one line,
 * for grep. A text that begins with a blank may begin on a new line. */
void terminal_flow(const struct terminal *t, enum style style, int *column, int indent,
                   const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* "  NAME      what it is": the text at a column of its own, or beneath a name that is
 * too long for that or where the window is too narrow. */
void terminal_entry(const struct terminal *t, int column, const char *name,
                    const char *text);

/* Lines that begin with what they are about: "teacher   model a, 2 drafts". The text
 * begins at a column of its own, where the lines that it is wrapped into begin too; a
 * command of ours stays one line, to be copied. */
struct facts {
    enum style style; /* of the labels */
    int indent, column;
};
void terminal_fact(const struct terminal *t, const struct facts *facts, const char *label,
                   enum style style, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* A value in words (words.h). A style goes from its mark to END or the line's end. What
 * stands behind a tab is wrapped, and begins at `column` or, if that is too narrow, where
 * the tab is; a command of ours stays one line, to be copied. So does a line that begins
 * with a tab where there is no terminal, for grep. */
#define BOLD "\001"
#define RED "\002"
#define YELLOW "\003"
#define GREEN "\004"
#define BLUE "\005"
#define DIM "\006"
#define END "\016"
/* Its own parts (terminal_parts.c), of a member: {#bar} a share as a bar, {#score} with
 * the figure, {#measure} a percentage as a bar in a colour, as wide as there is room for,
 * {#rate} and {#lift} with their intervals, {#verdict} an object's verdict in its
 * colour, {#style} the colour alone, {#bytes} a size, {#minute} a time. */
extern const struct words_part terminal_parts[]; /* data: the terminal */
void terminal_words(const struct terminal *t, int column, const char *words,
                    const json_t *value);

/* One line on standard error that is drawn over; nothing when it is no terminal. */
void terminal_progress(const struct terminal *t, const char *text);
void terminal_progress_clear(const struct terminal *t);

/* A bar of `cells` cells, filled by `part` (0 to 1), in eighths; and its text alone, for
 * a table. */
void terminal_add_bar(struct buf *out, double part, int cells);
void terminal_bar(const struct terminal *t, double part, int cells, enum style style);
/* The number of cells for a bar beside that many columns of words. */
int terminal_bar_cells(const struct terminal *t, int words);

#define PLOT_CELLS 20
#define PLOT_LIFT_CELLS 31 /* odd, so that 0 has its own cell */

/* A bar of `cells` cells from 0 to 1: dark up to the interval's lower end, lighter up to
 * the rate (estimate or pass_rate), lightest up to the upper end. low and high may be
 * missing. */
void terminal_add_rate(struct buf *out, const json_t *rate, int cells);
/* An axis from -1 to +1 with a line at 0, the interval and the estimate on it. low and
 * high may be missing. */
void terminal_add_lift(struct buf *out, const json_t *lift);

/* "error: …" on standard error. */
void terminal_error(const struct terminal *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void terminal_hint(const struct terminal *t, const char *text);

/* The exit status, after all of standard output is written: 2 with an error where it
 * cannot be. A script takes an answer that is cut short for the whole one, unless it is
 * told. Who reads a pipe and leaves has what it wanted. */
int terminal_lost_output(const struct terminal *t, int status);
