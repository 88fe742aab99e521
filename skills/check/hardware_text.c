#include "skills/check/hardware_text.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/work.h"

#include <ctype.h>

#define MAX_STATEMENT 1000u /* a longer text is not a sentence */
#define MAX_HEADING 300u
#define MAX_CELLS 32
#define HEADING_LEVELS 7

/* --- units that a table's headers give for the numbers beneath --- */

struct header_unit {
    const char *unit; /* "kb"; borrowed from the label */
    size_t len;
    size_t name_len;  /* of the label without it: "shared memory" */
    const char *rest; /* the text after it in the brackets: "/sm", "per sm" */
    size_t rest_len;
};

/* The whole text is a unit that we know. */
static bool header_unit_is(const char *text, size_t len) {
    static const char *const units[] = {
        "kb",   "kib",   "mb",  "mib", "gb",     "gib",     "tb/s",     "gb/s",   "tbps",
        "gbps", "bytes", "mhz", "ghz", "tflops", "tflop/s", "tflops/s", "pflops", "tops",
    };
    return any_of(i, 0, ARRAY_LEN(units),
                  strlen(units[i]) == len && memcmp(units[i], text, len) == 0);
}

/* Only a number, so that its unit must be elsewhere. */
static bool header_unit_is_wanted(const char *cell, size_t len) {
    size_t digits = 0;
    for (size_t i = 0; i < len; i++) {
        digits += isdigit((unsigned char)cell[i]) != 0;
        if (!isdigit((unsigned char)cell[i]) && !strchr("., ", cell[i])) {
            return false;
        }
    }
    return digits > 0;
}

/* The longest unit that begins here and ends at a word's end. */
static size_t unit_length(const char *text, size_t len) {
    for (size_t n = len < 8 ? len : 8; n > 0; n--) {
        bool whole = n == len || !isalnum((unsigned char)text[n]);
        if (whole && header_unit_is(text, n)) {
            return n;
        }
    }
    return 0;
}

/* Where the unit may begin: after the last bracket, comma or "in". */
static bool unit_place(const char *label, size_t len, size_t *ret_name, size_t *ret_at) {
    for (size_t i = len; i > 0; i--) {
        char c = label[i - 1];
        bool in = i > 4 && memcmp(label + i - 4, " in ", 4) == 0;
        if (c == '(' || c == '[' || c == ',' || in) {
            *ret_name = in ? i - 4 : i - 1;
            *ret_at = i;
            return true;
        }
    }
    return false;
}

/* "shared memory (kb/sm)", "l2 [mb]", "l2, mb", "l2 in mb". */
static bool header_unit_find(const char *label, size_t len, struct header_unit *ret) {
    size_t name, at, end = len;
    if (!unit_place(label, len, &name, &at)) {
        return false;
    }
    while (at < end && label[at] == ' ') {
        at++;
    }
    while (end > at && strchr(")] ", label[end - 1])) {
        end--;
    }
    size_t n = unit_length(label + at, end - at);
    size_t rest = at + n + strspn(label + at + n, " ");
    bool fits = rest >= end || label[rest] == '/' ||
                (end - rest > 4 && memcmp(label + rest, "per ", 4) == 0);
    if (n == 0 || !fits) {
        return false;
    }
    *ret = (struct header_unit){.unit = label + at,
                                .len = n,
                                .name_len = name,
                                .rest = label + rest,
                                .rest_len = rest < end ? end - rest : 0};
    return true;
}

/* --- reading --- */

struct span {
    size_t at, end;
};
struct reader {
    char *text; /* the whole text in lower case, emphasis blanked */
    size_t len, at;
    statement_found *found;
    void *data;
    struct span headings[HEADING_LEVELS];
    struct buf heading; /* joined */
    struct span columns[MAX_CELLS];
    size_t column_count; /* of the table we are in */
    bool fenced;
    char fence;
};

/* Same length, so that offsets stay. */
static char *make_plain(const char *text, size_t len) {
    char *plain = xmalloc(len + 1);
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        plain[i] =
            c == '*' || c == '`' || c == '~' ? ' ' : (char)tolower((unsigned char)c);
        if (i > 0 && (unsigned char)text[i - 1] == 0xC2 && (unsigned char)c == 0xA0) {
            plain[i - 1] = plain[i] = ' '; /* a no-break space */
        }
    }
    plain[len] = '\0';
    return plain;
}

static struct span trim(const struct reader *r, size_t at, size_t end) {
    while (at < end && isspace((unsigned char)r->text[at])) {
        at++;
    }
    while (end > at && isspace((unsigned char)r->text[end - 1])) {
        end--;
    }
    return (struct span){at, end};
}

static void tell(struct reader *r, size_t at, size_t end) {
    struct span s = trim(r, at, end);
    if (s.end > s.at && s.end - s.at <= MAX_STATEMENT) {
        r->found(r->data, &(struct statement){.text = r->text + s.at,
                                              .len = s.end - s.at,
                                              .offset = s.at,
                                              .about = "",
                                              .heading = r->heading.data,
                                              .heading_len = r->heading.len});
    }
}

static bool is_cut(const struct reader *r, size_t i, size_t end) {
    char c = r->text[i];
    if (c == ';') {
        return true;
    }
    return (c == '.' || c == '!' || c == '?') &&
           (i + 1 == end || isspace((unsigned char)r->text[i + 1]));
}

/* A paragraph's sentences. */
static void tell_sentences(struct reader *r, size_t at, size_t end) {
    for (size_t i = at; i < end && !work_is_stopped(); i++) {
        if (is_cut(r, i, end)) {
            tell(r, at, i + 1);
            at = i + 1;
        }
    }
    tell(r, at, end);
}

static size_t line_end(const struct reader *r, size_t at) {
    const char *nl = memchr(r->text + at, '\n', r->len - at);
    return nl ? (size_t)(nl - r->text) : r->len;
}

static size_t split_cells(const struct reader *r, size_t at, size_t end,
                          struct span cells[static MAX_CELLS]) {
    struct span row = trim(r, at, end);
    size_t count = 0, start = row.at + (r->text[row.at] == '|');
    for (size_t i = start; i < row.end && count < MAX_CELLS; i++) {
        if (r->text[i] == '|') {
            cells[count++] = trim(r, start, i);
            start = i + 1;
        }
    }
    if (start < row.end && count < MAX_CELLS) {
        cells[count++] = trim(r, start, row.end);
    }
    return count;
}

static bool is_rule(const struct reader *r, struct span row) {
    return all_of(i, row.at, row.end, strchr("|-: \t\r", r->text[i]));
}

static bool has_digit(const char *s, size_t len) {
    return any_of(i, 0, len, isdigit((unsigned char)s[i]));
}

/* "Compute capability" without its number is a label. */
static bool names_device(const char *s, size_t len) {
    static const char *const marks[] = {"100",    "200", "sm_", "capability",
                                        "hopper", "40",  "90"};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (memmem(s, len, marks[i], strlen(marks[i]))) {
            return has_digit(s, len) || strcmp(marks[i], "capability") != 0;
        }
    }
    return false;
}

/* The unit of a bare number: of the label, of the column, or of a column of units. */
static struct header_unit unit_for(const struct reader *r, struct span label,
                                   struct span about, const struct span *cells,
                                   size_t count) {
    struct header_unit unit = {0};
    for (size_t i = 1; i < count && i < r->column_count; i++) {
        struct span column = r->columns[i];
        bool units = column.end - column.at >= 4 && column.end - column.at <= 5 &&
                     memcmp(r->text + column.at, "unit", 4) == 0;
        if (units && header_unit_is(r->text + cells[i].at, cells[i].end - cells[i].at)) {
            unit = (struct header_unit){.unit = r->text + cells[i].at,
                                        .len = cells[i].end - cells[i].at,
                                        .name_len = label.end - label.at,
                                        .rest = ""};
            return unit;
        }
    }
    if (!header_unit_find(r->text + label.at, label.end - label.at, &unit) &&
        header_unit_find(r->text + about.at, about.end - about.at, &unit)) {
        unit.name_len = label.end - label.at;
        unit.rest_len = 0;
    }
    return unit;
}

/* One cell: "label: cell", about the column's device or the row's. */
static void tell_cell(struct reader *r, const struct span *cells, size_t count,
                      size_t at) {
    struct span first = cells[0], cell = cells[at];
    struct span column = at < r->column_count ? r->columns[at] : (struct span){0, 0};
    bool by_row =
        names_device(r->text + first.at, first.end - first.at) && column.end > column.at;
    struct span label = by_row ? column : first, about = by_row ? first : column;
    struct header_unit unit = {.name_len = label.end - label.at, .rest = ""};
    if (header_unit_is_wanted(r->text + cell.at, cell.end - cell.at)) {
        struct header_unit found = unit_for(r, label, about, cells, count);
        unit = found.len ? found : unit;
    }
    autobuf text = BUF_INIT(MAX_STATEMENT);
    buf_add(&text, r->text + label.at, unit.name_len);
    buf_addf(&text, " %.*s : ", (int)unit.rest_len, unit.rest);
    size_t prefix = text.len;
    buf_add(&text, r->text + cell.at, cell.end - cell.at);
    size_t own = text.len;
    buf_addf(&text, "%s%.*s", unit.len ? " " : "", (int)unit.len,
             unit.len ? unit.unit : "");
    if (!text.full) {
        r->found(r->data, &(struct statement){.text = text.data,
                                              .len = text.len,
                                              .borrowed = text.len - own,
                                              .label = prefix,
                                              .offset = cell.at,
                                              .about = r->text + about.at,
                                              .about_len = about.end - about.at,
                                              .heading = r->heading.data,
                                              .heading_len = r->heading.len});
    }
}

/* Its rows tell what programs do with the hardware, not what the hardware has. */
static bool is_about_programs(const struct reader *r, struct span corner) {
    static const char *const words[] = {"kernel",         "launch",   "variant",
                                        "implementation", "workload", "benchmark"};
    return any_of(
        i, 0, ARRAY_LEN(words),
        memmem(r->text + corner.at, corner.end - corner.at, words[i], strlen(words[i])));
}

static void read_row(struct reader *r, size_t at, size_t end) {
    struct span cells[MAX_CELLS];
    if (is_rule(r, (struct span){at, end})) {
        return;
    }
    size_t count = split_cells(r, at, end, cells);
    if (r->column_count == 0) {
        memcpy(r->columns, cells, count * sizeof *cells);
        r->column_count = count;
        return;
    }
    for (size_t i = 1; i < count && !is_about_programs(r, r->columns[0]); i++) {
        tell_cell(r, cells, count, i);
    }
}

static void read_heading(struct reader *r, size_t at, size_t end) {
    size_t level = strspn(r->text + at, "#");
    level = level < HEADING_LEVELS ? level : HEADING_LEVELS - 1;
    r->headings[level] = trim(r, at + level, end);
    for (size_t deeper = level + 1; deeper < HEADING_LEVELS; deeper++) {
        r->headings[deeper] = (struct span){0, 0};
    }
    buf_reset(&r->heading);
    for (size_t i = 1; i < HEADING_LEVELS; i++) {
        struct span h = r->headings[i];
        if (h.end > h.at) {
            buf_add(&r->heading, r->text + h.at, h.end - h.at);
            buf_addc(&r->heading, '\n');
        }
    }
}

/* In code only comments are statements. */
static void read_code(struct reader *r, size_t at, size_t end) {
    for (size_t i = at; i < end; i++) {
        bool slashes = r->text[i] == '/' && i + 1 < end &&
                       (r->text[i + 1] == '/' || r->text[i + 1] == ' ');
        bool hash = r->text[i] == '#' && i + 1 < end && r->text[i + 1] == ' ';
        if (slashes || hash) {
            tell_sentences(r, i + (slashes ? 2 : 1), end);
            return;
        }
    }
}

/* Emphasis was blanked, so fences are looked for in the original. */
static bool is_fence(const char *line, size_t len, char *ret) {
    size_t i = 0;
    while (i < len && (line[i] == ' ' || line[i] == '\t' || line[i] == '>')) {
        i++;
    }
    if (len - i < 3 || (line[i] != '`' && line[i] != '~')) {
        return false;
    }
    *ret = line[i];
    return line[i + 1] == line[i] && line[i + 2] == line[i];
}

static bool starts_item(const struct reader *r, size_t at, size_t end,
                        const char *original) {
    struct span s = trim(r, at, end);
    size_t i = at;
    while (i < end && isspace((unsigned char)original[i])) {
        i++;
    }
    bool bullet = i + 1 < end && strchr("-*+", original[i]) && original[i + 1] == ' ';
    return bullet ||
           (s.end > s.at && isdigit((unsigned char)r->text[s.at]) &&
            memmem(r->text + s.at, s.end - s.at < 5 ? s.end - s.at : 5, ". ", 2));
}

enum line_kind { LINE_BLANK, LINE_HEADING, LINE_ROW, LINE_ITEM, LINE_PROSE };
static enum line_kind kind_of(const struct reader *r, size_t at, size_t end,
                              const char *original) {
    struct span s = trim(r, at, end);
    if (s.at == s.end) {
        return LINE_BLANK;
    }
    if (r->text[s.at] == '#') {
        return LINE_HEADING;
    }
    if (r->text[s.at] == '|') {
        return LINE_ROW;
    }
    return starts_item(r, at, end, original) ? LINE_ITEM : LINE_PROSE;
}

static void read_line(struct reader *r, size_t at, size_t end, const char *original,
                      size_t *paragraph) {
    enum line_kind kind = kind_of(r, at, end, original);
    if (kind != LINE_PROSE && *paragraph != SIZE_MAX) {
        tell_sentences(r, *paragraph, at);
        *paragraph = SIZE_MAX;
    }
    if (kind != LINE_ROW) {
        r->column_count = 0;
    }
    if (kind == LINE_HEADING) {
        read_heading(r, trim(r, at, end).at, end);
    } else if (kind == LINE_ROW) {
        read_row(r, at, end);
    } else if (kind != LINE_BLANK && *paragraph == SIZE_MAX) {
        *paragraph = at;
    }
}

void hardware_text_read(const char *text, size_t len, statement_found *found,
                        void *data) {
    autofree char *plain = make_plain(text, len);
    struct reader r = {.text = plain,
                       .len = len,
                       .found = found,
                       .data = data,
                       .heading = BUF_INIT(MAX_HEADING)};
    size_t paragraph = SIZE_MAX;
    for (size_t at = 0, end; at < len && !work_is_stopped(); at = end + 1) {
        end = line_end(&r, at);
        char mark = 0;
        if (is_fence(text + at, end - at, &mark) && (!r.fenced || mark == r.fence)) {
            if (paragraph != SIZE_MAX) {
                tell_sentences(&r, paragraph, at);
                paragraph = SIZE_MAX;
            }
            r.fenced = !r.fenced;
            r.fence = mark;
        } else if (r.fenced) {
            read_code(&r, at, end);
        } else {
            read_line(&r, at, end, text, &paragraph);
        }
    }
    if (paragraph != SIZE_MAX) {
        tell_sentences(&r, paragraph, len);
    }
    buf_finish(&r.heading);
}
