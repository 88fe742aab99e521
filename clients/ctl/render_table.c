/* Tables on a terminal: widths of columns, and what wraps where there is little room. */
#include "base/buf.h"
#include "base/find.h"
#include "base/strings.h"
#include "base/text.h"
#include "clients/ctl/render.h"

#define CELL_MAX 1000       /* bytes */
#define COLUMN_LEAST 8      /* a column of text is not made narrower */
#define BREAK_MARKS "/-.,;" /* behind which a path or a name can be broken */
#define PIECE_MOST 32       /* columns of an id; a longer piece is broken anywhere */
#define GAP 2               /* blanks between columns */
#define RECORD 2            /* blanks before what a record has besides its first cell */

struct table {
    char **titles;
    size_t columns, count;
    char **cells; /* row by row */
    enum style *styles;
};

struct table *table_new(const char *titles) {
    struct table *t = xcalloc(1, sizeof *t);
    struct strings list = {0};
    for (const char *at = titles; at; at = strchr(at, '\t')) {
        at += *at == '\t';
        strings_add(&list, xstrndup(at, strcspn(at, "\t")));
    }
    t->titles = list.list;
    t->columns = list.count;
    return t;
}

void table_cell(struct table *t, const char *text) {
    autobuf clean = BUF_INIT(4 * CELL_MAX);
    size_t len = strlen(text), cut = text_cut(text, len, CELL_MAX);
    text_clean(&clean, text, cut);
    buf_adds(&clean, cut < len ? "…" : "");
    t->cells = xreallocarray(t->cells, t->count + 1, sizeof *t->cells);
    t->styles = xreallocarray(t->styles, t->count + 1, sizeof *t->styles);
    t->styles[t->count] = STYLE_PLAIN;
    t->cells[t->count++] = buf_detach(&clean);
}

void table_style(struct table *t, enum style style) {
    t->styles[t->count - 1] = style;
}

void table_row(struct table *t, const char *words, const json_t *value) {
    autobuf text = BUF_INIT(1u << 20);
    words_add_as(&text, &(struct words_manner){words_one_line, terminal_parts, NULL},
                 words, value);
    for (char *cell = text.data, *end; cell; cell = end) {
        end = strchr(cell, '\t');
        end = end ? (*end = '\0', end + 1) : NULL;
        bool styled = *cell > 0 && *cell <= STYLE_DIM;
        table_cell(t, cell + styled);
        if (styled) {
            table_style(t, (enum style) * cell);
        }
    }
}

void table_cellf(struct table *t, const char *fmt, ...) {
    char text[256];
    text_format(text, fmt);
    table_cell(t, text);
}

/* An id or a date may begin with digits, too. */
static bool is_number(const char *s) {
    bool id = strchr(s, '_') != NULL;
    for (const char *c = s; *c && !id; c++) {
        id = isalpha((unsigned char)c[0]) && isdigit((unsigned char)c[1]);
    }
    return (isdigit((unsigned char)*s) && !id) || strcmp(s, "–") == 0;
}

/* How the columns stand. */
struct layout {
    int width; /* 0 = not shown: nothing is in it */
    int cells; /* the widest cell, without the title */
    int least; /* it can be made as narrow as this */
    bool right;
};

/* A column is right-aligned when all its cells look like numbers. */
static bool is_numeric(const struct table *t, size_t column) {
    for (size_t i = column; i < t->count; i += t->columns) {
        if (!is_number(t->cells[i])) {
            return false;
        }
    }
    return true;
}

static int width_of(const char *text) {
    return (int)text_width(text, strlen(text));
}

static int cells_width(const struct table *t, size_t column) {
    int width = 0;
    for (size_t i = column; i < t->count; i += t->columns) {
        int w = width_of(t->cells[i]);
        width = w > width ? w : width;
    }
    return width;
}

/* The widest piece between places where a text may be broken; a mark stays with what it
 * ends. */
static int longest_piece(const char *text, const char *marks) {
    int longest = 0;
    while (*text) {
        size_t len = strcspn(text, marks);
        len += text[len] && text[len] != ' ';
        int w = (int)text_width(text, len);
        longest = w > longest ? w : longest;
        text += len + strspn(text + len, " ");
    }
    return longest;
}

/* An id is not broken: somebody will copy it. Nor are numbers; their titles may be. */
static int least_width(const struct table *t, size_t column, int cells) {
    int least = cells < COLUMN_LEAST ? cells : COLUMN_LEAST;
    for (size_t i = column; i < t->count; i += t->columns) {
        int piece = longest_piece(t->cells[i], " " BREAK_MARKS);
        least = piece <= PIECE_MOST && piece > least ? piece : least;
    }
    return is_numeric(t, column) ? cells : least;
}

static struct layout layout_of(const struct table *t, size_t column) {
    const char *title = t->titles[column];
    int cells = cells_width(t, column), named = width_of(title);
    int least = least_width(t, column, cells), word = longest_piece(title, " ");
    return (struct layout){
        .width = !cells && t->count ? 0
                 : cells > named    ? cells
                                    : named,
        .cells = cells,
        .least = least > word ? least : word,
        .right = is_numeric(t, column),
    };
}

static int total_width(const struct layout *columns, size_t count) {
    int total = -GAP;
    for (size_t i = 0; i < count; i++) {
        total += columns[i].width ? columns[i].width + GAP : 0;
    }
    return total;
}

/* The column that gives way next, or NULL: of those whose title alone makes them wide,
 * else of all, the widest. */
static struct layout *next_to_give(struct layout *columns, size_t count) {
    struct layout *best = NULL;
    list_each(i, c, columns, count) {
        bool titled = c->width > c->cells;
        if (c->width > c->least &&
            (!best || (titled && best->width <= best->cells) ||
             (titled == (best->width > best->cells) && c->width > best->width))) {
            best = c;
        }
    }
    return best;
}

/* What cannot be made to fit is shown as records. */
static void fit(struct layout *columns, size_t count, int room) {
    for (int over = total_width(columns, count) - room; over > 0; over--) {
        struct layout *column = next_to_give(columns, count);
        if (!column) {
            return;
        }
        column->width--;
    }
}

/* Bytes of text that fit into so many columns: up to a blank, or behind a mark where a
 * path or a name can be broken, or as many as there is room for. At least one character.
 */
static size_t line_length(const char *text, int room) {
    size_t len = strlen(text), at = 0, good = 0;
    int width = 0;
    while (at < len) {
        uint32_t cp;
        size_t n = text_decode(text + at, len - at, &cp);
        width += (int)text_width(text + at, n);
        if (text[at] == ' ') {
            good = at;
        }
        if (width > room) {
            return good ? good : at ? at : n;
        }
        at += n;
        if (at < len && strchr(BREAK_MARKS, text[at - 1])) {
            good = at;
        }
    }
    return len;
}

/* One line of a row: what fits of each cell's rest, which moves on. False when nothing is
 * left. */
static bool put_line(const struct terminal *terminal, const struct layout *columns,
                     size_t count, const char **rest, const enum style *styles) {
    int owed = 0; /* blanks before the next text */
    bool more = false;
    list_each(i, c, columns, count) {
        size_t len = line_length(rest[i], c->width);
        int pad = c->width - (int)text_width(rest[i], len);
        if (len) {
            printf("%*s%s%.*s%s", owed + (c->right ? pad : 0), "",
                   terminal_start(terminal, styles[i]), (int)len, rest[i],
                   styles[i] == STYLE_PLAIN ? "" : terminal_end(terminal));
            owed = 0;
        }
        owed +=
            (c->right || !len ? 0 : pad) + (len ? 0 : c->width) + (c->width ? GAP : 0);
        rest[i] += len + strspn(rest[i] + len, " ");
        more = more || *rest[i];
    }
    putchar('\n');
    return more;
}

static void put_row(const struct terminal *terminal, const struct layout *columns,
                    size_t count, const char *const *cells, const enum style *styles) {
    autofree const char **rest = xcalloc(count, sizeof *rest);
    memcpy(rest, cells, count * sizeof *rest);
    while (put_line(terminal, columns, count, rest, styles)) {}
}

static void put_titles(const struct terminal *terminal, const struct table *t,
                       const struct layout *columns) {
    autofree enum style *styles = xcalloc(t->columns, sizeof *styles);
    autofree const char **titles = xcalloc(t->columns, sizeof *titles);
    for (size_t i = 0; i < t->columns; i++) {
        styles[i] = STYLE_BOLD;
        titles[i] = columns[i].width ? t->titles[i] : "";
    }
    put_row(terminal, columns, t->columns, titles, styles);
}

/* --- records --- */

/* A row where its columns do not fit: the first cell, and beneath it "title cell" of the
 * others. A title stays with its cell. */
static void put_record(const struct terminal *terminal, const struct table *t,
                       const struct layout *columns, size_t row) {
    const int room = terminal->width;
    int column = 0;
    terminal_put_wrapped(terminal, STYLE_BOLD, t->cells[row], 0, RECORD);
    for (size_t i = 1; i < t->columns; i++) {
        const char *cell = t->cells[row + i], *title = t->titles[i];
        int width = width_of(title) + 1 + width_of(cell);
        if (!columns[i].width || !*cell) {
            continue;
        }
        if (!column || column + GAP + width > room) {
            printf("%s%*s", column ? "\n" : "", RECORD, "");
            column = RECORD;
        } else {
            printf("%*s", GAP, "");
            column += GAP;
        }
        terminal_flow(terminal, STYLE_DIM, &column, RECORD, "%s", title);
        terminal_flow(terminal, t->styles[row + i], &column, RECORD, " %s", cell);
    }
    fputs(column ? "\n" : "", stdout);
}

void table_free(struct table *t) {
    for (size_t i = 0; i < t->count; i++) {
        free(t->cells[i]);
    }
    free(t->cells);
    free(t->styles);
    strings_free(t->titles);
    free(t);
}

void table_print_and_free(const struct terminal *terminal, struct table *t) {
    autofree struct layout *columns = xcalloc(t->columns, sizeof *columns);
    for (size_t i = 0; i < t->columns; i++) {
        columns[i] = layout_of(t, i);
    }
    if (terminal->tty) {
        fit(columns, t->columns, terminal->width);
    }
    bool records =
        terminal->tty && total_width(columns, t->columns) > terminal->width && t->count;
    if (!records) {
        put_titles(terminal, t, columns);
    }
    for (size_t i = 0; i + t->columns <= t->count; i += t->columns) {
        if (records) {
            put_record(terminal, t, columns, i);
        } else {
            put_row(terminal, columns, t->columns, (const char *const *)t->cells + i,
                    t->styles + i);
        }
    }
    table_free(t);
}

bool table_print(const struct terminal *terminal, const char *titles, const char *row,
                 const json_t *list) {
    if (!json_array_size(list)) {
        return false;
    }
    struct table *t = table_new(titles);
    json_each(list, i, item) {
        table_row(t, row, item);
    }
    table_print_and_free(terminal, t);
    return true;
}
