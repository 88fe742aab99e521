#include "clients/ctl/terminal.h"

#include "base/buf.h"
#include "base/text.h"

#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WRAP_MAX 100  /* longer lines are hard to read */
#define WRAP_LEAST 16 /* columns that a wrapped text needs, or it goes to the left */
#define INDENT_NARROW 4
#define INDENT_MOST 40 /* further right a text goes on near the left */
#define INDENT_LEFT 6
#define ENTRY_LEAST 30 /* columns that an entry's text needs beside its name */
#define ERROR_MAX 2047 /* bytes */

/* Control sequences mean something to it. */
static bool is_screen(int fd) {
    const char *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

static bool wants_color(int fd) {
    const char *no = getenv("NO_COLOR");
    return is_screen(fd) && !(no && *no);
}

void terminal_init(struct terminal *t) {
    struct winsize size = {0};
    setlocale(LC_CTYPE, "C.UTF-8");
    *t = (struct terminal){
        .tty = isatty(STDOUT_FILENO),
        .color = wants_color(STDOUT_FILENO),
        .err_tty = is_screen(STDERR_FILENO),
        .err_color = wants_color(STDERR_FILENO),
        .width = 100,
    };
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) {
        t->width = size.ws_col;
    }
}

static const char *escape(enum style style) {
    static const char *const escapes[] = {
        [STYLE_PLAIN] = "",         [STYLE_BOLD] = "\033[1m",
        [STYLE_RED] = "\033[1;31m", [STYLE_YELLOW] = "\033[33m",
        [STYLE_GREEN] = "\033[32m", [STYLE_BLUE] = "\033[36m",
        [STYLE_DIM] = "\033[2m",
    };
    return escapes[style];
}

const char *terminal_start(const struct terminal *t, enum style style) {
    return t->color ? escape(style) : "";
}

const char *terminal_end(const struct terminal *t) {
    return t->color ? "\033[0m" : "";
}

const char *terminal_err_start(const struct terminal *t, enum style style) {
    return t->err_color ? escape(style) : "";
}

const char *terminal_err_end(const struct terminal *t) {
    return t->err_color ? "\033[0m" : "";
}

void terminal_err_size(int *columns, int *rows) {
    struct winsize size = {0};
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0;
    *columns = known && size.ws_col ? size.ws_col : 80;
    *rows = known && size.ws_row ? size.ws_row : 24;
}

void terminal_put(const struct terminal *t, enum style style, const char *text) {
    autobuf clean = BUF_INIT(1u << 20);
    text_clean(&clean, text, strlen(text));
    printf("%s%s%s", terminal_start(t, style), clean.data, terminal_end(t));
}

void terminal_line(const struct terminal *t, enum style style, const char *text) {
    terminal_put(t, style, text);
    putchar('\n');
}

/* Words of a text from *column on, in so many columns. A leading blank stays. */
static void flow(FILE *to, const char *text, int room, int *column, int indent) {
    indent = room - indent < WRAP_LEAST ? INDENT_NARROW : indent;
    bool joined = *text != ' '; /* to what is there */
    for (const char *word = text + strspn(text, " \n"); *word;) {
        size_t len = strcspn(word, " \n");
        int width = (int)text_width(word, len);
        if (!joined && *column + 1 + width > room) {
            fprintf(to, "\n%*s", indent, "");
            *column = indent;
            joined = true;
        }
        fprintf(to, "%s%.*s", joined ? "" : " ", (int)len, word);
        *column += width + !joined;
        joined = false;
        word += len + strspn(word + len, " \n");
    }
}

static int wrap_room(int width) {
    return width < WRAP_MAX ? width : WRAP_MAX;
}

void terminal_put_wrapped(const struct terminal *t, enum style style, const char *text,
                          int column, int indent) {
    autobuf clean = BUF_INIT(1u << 20);
    text_clean(&clean, text, strlen(text));
    fputs(terminal_start(t, style), stdout);
    flow(stdout, clean.data ? clean.data : "", wrap_room(t->width), &column, indent);
    printf("%s\n", terminal_end(t));
}

void terminal_entry(const struct terminal *t, int column, const char *name,
                    const char *text) {
    bool narrow = wrap_room(t->width) - column < ENTRY_LEAST;
    int width = (int)strlen(name) + 2, start = narrow ? INDENT_NARROW : column;
    fputs("  ", stdout);
    terminal_put(t, STYLE_BOLD, name);
    if (*text && (narrow || width + 2 > column)) {
        putchar('\n');
        width = 0;
    }
    printf("%*s", *text ? start - width : 0, "");
    terminal_put_wrapped(t, STYLE_PLAIN, text, start, start);
}

/* As xasprintf. */
static char *formatted(const char *fmt, va_list args) {
    char *text = NULL;
    if (vasprintf(&text, fmt, args) < 0) {
        abort();
    }
    return text;
}

void terminal_putf(const struct terminal *t, enum style style, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    autofree char *text = formatted(fmt, args);
    va_end(args);
    terminal_put(t, style, text);
}

void terminal_flow(const struct terminal *t, enum style style, int *column, int indent,
                   const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    autofree char *text = formatted(fmt, args);
    va_end(args);
    autobuf clean = BUF_INIT(1u << 20);
    text_clean(&clean, text, strlen(text));
    fputs(terminal_start(t, style), stdout);
    flow(stdout, clean.data ? clean.data : "", t->tty ? wrap_room(t->width) : INT_MAX,
         column, indent);
    fputs(terminal_end(t), stdout);
}

void terminal_fact(const struct terminal *t, const struct facts *facts, const char *label,
                   enum style style, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    autofree char *text = formatted(fmt, args);
    va_end(args);
    terminal_putf(t, facts->style, "%*s%-*s", facts->indent, "",
                  facts->column - facts->indent, label);
    bool command = strncmp(text, "upskillctl ", strlen("upskillctl ")) == 0;
    if (command) {
        terminal_line(t, style, text);
    } else {
        terminal_put_wrapped(t, style, text, facts->column, facts->column);
    }
}

/* Where a style begins or ends in words. */
static const char marks[] = BOLD RED YELLOW GREEN BLUE DIM END;

/* The piece before the next mark or one of `more`, with newlines of values as `newline`:
 * what is wrapped has none. Cut off; returns what ended it. */
static char take_piece(char *text, const char *more, char newline, size_t *ret_len) {
    autofree char *ends = xasprintf("%s%s", marks, more);
    size_t len = strcspn(text, ends);
    char mark = text[len];
    text[len] = '\0';
    for (char *c = text; *c; c++) {
        *c = *c == '\v' ? newline : *c;
    }
    *ret_len = len;
    return mark;
}

static enum style style_of(char mark) {
    return mark == *END ? STYLE_PLAIN : (enum style)mark;
}

/* Behind a tab, at a column. */
static void put_behind_tab(const struct terminal *t, char *text, int column) {
    bool command = strstr(text, "upskillctl ") == text + (*text > 0 && *text < '\t');
    enum style style = STYLE_PLAIN;
    int at = column, indent = column > INDENT_MOST ? INDENT_LEFT : column;
    int room = t->tty || column ? wrap_room(t->width) : INT_MAX;
    bool blank = false; /* before the piece, where the one before ended in one */
    for (size_t len;; text += len + 1) {
        char mark = take_piece(text, "", ' ', &len);
        autofree char *piece = xasprintf("%s%s", blank ? " " : "", text);
        if (len && command) {
            terminal_put(t, style, text);
        } else if (len) {
            autobuf clean = BUF_INIT(1u << 20);
            text_clean(&clean, piece, strlen(piece));
            fputs(terminal_start(t, style), stdout);
            flow(stdout, clean.data, room, &at, indent);
            fputs(terminal_end(t), stdout);
            blank = text[len - 1] == ' ';
        }
        if (!mark) {
            putchar('\n');
            return;
        }
        style = style_of(mark);
    }
}

static void put_line(const struct terminal *t, int column, char *line) {
    enum style style = STYLE_PLAIN;
    int width = 0;
    for (size_t len;; line += len + 1) {
        char mark = take_piece(line, "\t", '\n', &len);
        if (len) {
            terminal_put(t, style, line);
        }
        width += (int)text_width(line, len);
        if (mark == '\t') {
            int pad = column > width ? column - width : 0;
            printf("%*s", pad, "");
            put_behind_tab(t, line + len + 1, width + pad);
            return;
        }
        if (!mark) {
            putchar('\n');
            return;
        }
        style = style_of(mark);
    }
}

/* Of a value, so that its lines can be told from those of the text. */
static void mark_newlines(struct buf *out, size_t from) {
    for (char *c = out->data + from; *c; c++) {
        *c = *c == '\n' ? '\v' : *c == '\t' ? ' ' : *c;
    }
}

void terminal_words(const struct terminal *t, int column, const char *words,
                    const json_t *value) {
    autobuf text = BUF_INIT(16u << 20);
    words_add_as(&text, &(struct words_manner){mark_newlines, terminal_parts, t}, words,
                 value);
    for (char *line = text.data, *end; *line; line = end + 1) {
        end = line + strcspn(line, "\n");
        bool last = !*end;
        *end = '\0';
        put_line(t, column, line);
        if (last) {
            return;
        }
    }
}

void terminal_progress(const struct terminal *t, const char *text) {
    if (!t->err_tty) {
        return;
    }
    autobuf clean = BUF_INIT(4096);
    text_clean(&clean, text, text_cut(text, strlen(text), 1000));
    size_t room = text_cut(clean.data, clean.len, (size_t)t->width - 1);
    fprintf(stderr, "\r\033[K%.*s", (int)room, clean.data);
    fflush(stderr);
}

void terminal_progress_clear(const struct terminal *t) {
    if (t->err_tty) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

void terminal_bar(const struct terminal *t, double part, int cells, enum style style) {
    autobuf bar = BUF_INIT(4096);
    terminal_add_bar(&bar, part, cells);
    size_t drawn = strcspn(bar.data, " ");
    printf("%s%.*s%s%s", terminal_start(t, style), (int)drawn, bar.data, terminal_end(t),
           bar.data + drawn);
}

static void put_message(const struct terminal *t, enum style style, const char *kind,
                        const char *text) {
    autobuf clean = BUF_INIT(1u << 16);
    int columns, rows, column = (int)strlen(kind) + 2;
    text_clean(&clean, text, strlen(text));
    terminal_err_size(&columns, &rows);
    fprintf(stderr, "%s%s:%s ", terminal_err_start(t, style), kind, terminal_err_end(t));
    if (t->err_tty) {
        flow(stderr, clean.data, wrap_room(columns), &column, column);
    } else {
        fputs(clean.data, stderr);
    }
    fputc('\n', stderr);
}

void terminal_error(const struct terminal *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    autofree char *text = formatted(fmt, args);
    va_end(args);
    text[text_cut(text, strlen(text), ERROR_MAX)] = '\0';
    autobuf line = BUF_INIT(2 * ERROR_MAX + 1); /* a name may hold a line's end */
    for (const char *at = text; *at; at++) {
        buf_add(&line, *at == '\n' ? "\\n" : at, *at == '\n' ? 2 : 1);
    }
    put_message(t, STYLE_RED, "error", line.data);
}

void terminal_hint(const struct terminal *t, const char *text) {
    put_message(t, STYLE_BLUE, "hint", text);
}

int terminal_lost_output(const struct terminal *t, int status) {
    struct pollfd reader = {.fd = STDOUT_FILENO};
    bool earlier = ferror(stdout);
    if (!fflush(stdout) && !earlier) {
        return status;
    }
    int why = errno;
    if (poll(&reader, 1, 0) > 0 && reader.revents & POLLERR) {
        return status;
    }
    terminal_error(t, "standard output: not everything could be written%s%s",
                   earlier ? "" : ": ", earlier ? "" : strerror(why));
    terminal_hint(t, "the output is incomplete: write it to a place with more space");
    return 2;
}
