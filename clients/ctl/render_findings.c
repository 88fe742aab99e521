/* Findings on a terminal: place, message, the source's line with a caret, fixes. */
#include "base/buf.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/text.h"
#include "clients/ctl/render.h"
#include "protocol/finding.h"

#include <limits.h>
#include <unistd.h>

#define SOURCE_MAX (4u << 20)

/* The file whose lines were quoted last: findings come sorted by file. */
struct quoted {
    char *name;
    struct buf text;
    struct lines lines;
    bool usable;
};

static void quoted_finish(struct quoted *q) {
    if (q->usable) {
        lines_finish(&q->lines);
    }
    buf_finish(&q->text);
    free(q->name);
    *q = (struct quoted){.text = BUF_INIT(SOURCE_MAX)};
}

/* By what upskillctl's daemon may read, too. */
static bool is_inside(const char *real, const char *const *roots) {
    autofree char *here = getcwd(NULL, 0);
    bool inside = here && path_is_beneath(real, here);
    for (; roots && *roots && !inside; roots++) {
        inside = path_is_beneath(real, *roots);
    }
    return inside;
}

/* What is checked may come from somebody else: a link in a skill, "#line" or ".file" may
 * name any file of the user's. */
static int source_read(const char *file, const struct finding_sources *sources,
                       struct buf *ret) {
    struct root root;
    char real[PATH_MAX];
    if (!sources || !sources->folder) {
        bool inside =
            realpath(file, real) && is_inside(real, sources ? sources->roots : NULL);
        return inside ? file_read(real, ret, NULL) : -EACCES;
    }
    int rc = root_open(&root, sources->folder, NULL);
    if (rc == 0) {
        rc = root_read(&root, file, ret, NULL);
        root_close(&root);
    }
    return rc;
}

static void quoted_open(struct quoted *q, const char *file,
                        const struct finding_sources *sources) {
    if (q->name && strcmp(q->name, file) == 0) {
        return;
    }
    quoted_finish(q);
    q->name = xstrdup(file);
    if (sources && sources->text && strcmp(sources->name, file) == 0) {
        q->usable = buf_adds(&q->text, sources->text) == 0;
    } else {
        q->usable = source_read(file, sources, &q->text) == 0;
    }
    if (q->usable) {
        lines_init(&q->lines, q->text.data, q->text.len);
    }
}

static enum style severity_style(const char *severity) {
    return strcmp(severity, "error") == 0     ? STYLE_RED
           : strcmp(severity, "warning") == 0 ? STYLE_YELLOW
                                              : STYLE_BLUE;
}

/* A tab counts one column on both lines: it becomes a space. */
static char *printable(const char *s, size_t len) {
    autobuf clean = BUF_INIT(SOURCE_MAX);
    text_clean(&clean, s, len);
    for (size_t i = 0; i < clean.len; i++) {
        if (clean.data[i] == '\t') {
            clean.data[i] = ' ';
        }
    }
    return buf_detach(&clean);
}

/* "  14 | text" and a caret line. Long lines are cut to a window around the caret. */
static void quote(const struct terminal *t, const struct quoted *q, int line, int column,
                  int end_column, enum style style) {
    if (!q->usable || line < 1 || (size_t)line > q->lines.count) {
        return;
    }
    size_t start = q->lines.starts[line - 1];
    size_t len = lines_end(&q->lines, q->text.data, (size_t)line - 1) - start;
    const char *text = q->text.data + start;
    size_t caret = column > 0 && (size_t)column - 1 < len ? (size_t)column - 1 : len;
    size_t from = column > 0 && caret > (size_t)t->width / 2 + 20
                      ? text_cut(text, len, caret - (size_t)t->width / 2)
                      : 0;
    size_t shown = text_cut(text + from, len - from,
                            (size_t)t->width > 40 ? (size_t)t->width - 10 : 30);
    autofree char *line_text = printable(text + from, shown);
    printf("%s%5d |%s%s%s%s\n", terminal_start(t, STYLE_DIM), line, terminal_end(t),
           from ? "…" : " ", line_text, from + shown < len ? "…" : "");
    if (column < 1 || caret < from || caret > from + shown) {
        return;
    }
    size_t end = end_column > column ? (size_t)end_column - 1 : caret + 1;
    end = end > from + shown ? from + shown : end;
    int pad = (int)text_width(text + from, caret - from);
    int width = end > caret ? (int)text_width(text + caret, end - caret) : 1;
    printf("%s      |%s %*s%s^", terminal_start(t, STYLE_DIM), terminal_end(t), pad, "",
           terminal_start(t, style));
    for (int i = 1; i < width; i++) {
        putchar('~');
    }
    printf("%s\n", terminal_end(t));
}

#define INDENT 4 /* of the lines that a message is wrapped into */

/* "k.cu:3:5: ", and the column behind it. */
static void put_place(const struct terminal *t, const json_t *finding,
                      const struct finding_sources *sources, int *column) {
    const char *file = json_get_string(finding, "file", NULL);
    const char *folder = sources ? sources->folder : NULL;
    int line = (int)json_get_integer(finding, "line", 0);
    int at = (int)json_get_integer(finding, "column", 0);
    if (!file) {
        return;
    }
    autofree char *shown =
        folder ? path_resolve(folder ? folder : "", file) : xstrdup(file);
    terminal_flow(t, STYLE_BOLD, column, INDENT, "%s", shown);
    if (line > 0) {
        terminal_flow(t, STYLE_BOLD, column, INDENT, ":%d", line);
    }
    if (line > 0 && at > 0) {
        terminal_flow(t, STYLE_BOLD, column, INDENT, ":%d", at);
    }
    terminal_flow(t, STYLE_BOLD, column, INDENT, ":");
}

/* "error: " and the message behind it; further lines of one are indented beneath its
 * first. */
static void put_message(const struct terminal *t, enum style style, const char *kind,
                        const char *message, int *column) {
    terminal_flow(t, style, column, INDENT, "%s%s:", *column ? " " : "", kind);
    for (const char *end; (end = strchr(message, '\n')); message = end + 1) {
        terminal_flow(t, STYLE_PLAIN, column, 2 * INDENT, " %.*s", (int)(end - message),
                      message);
        printf("\n%*s", 2 * INDENT - 1, "");
        *column = 2 * INDENT - 1;
    }
    terminal_flow(t, STYLE_PLAIN, column, INDENT, " %s", message);
}

static void put_related(const struct terminal *t, const json_t *finding,
                        const struct finding_sources *sources) {
    json_each(json_object_get(finding, "related"), i, note) {
        int column = 2;
        fputs("  ", stdout);
        put_place(t, note, sources, &column);
        put_message(t, STYLE_BLUE, "note", json_get_string(note, "message", ""), &column);
        putchar('\n');
    }
}

static void put_fixes(const struct terminal *t, const json_t *findings,
                      const json_t *finding) {
    json_each(json_object_get(finding, "fixes"), i, fix) {
        if (!finding_fix_is_new(findings, finding, fix)) {
            continue; /* once is enough */
        }
        int column = 1;
        putchar(' ');
        put_message(t, STYLE_GREEN, "fix", json_get_string(fix, "title", ""), &column);
        putchar('\n');
    }
}

/* Who did it first, and how often, of a finding of a run. */
static const char who_words[] =
    "[  \t" DIM "in[ {kernel}] block {block/,/:{.}} thread [{thread/,/:{.}}|0,0,0]"
    "[{?count>1}, {count} times]\n]";

static void put_finding(const struct terminal *t, const json_t *findings,
                        const json_t *finding, struct quoted *q,
                        const struct finding_sources *sources) {
    const char *severity = json_get_string(finding, "severity", "error");
    const char *file = json_get_string(finding, "file", NULL);
    const char *code = json_get_string(finding, "code", "");
    enum style style = severity_style(severity);
    int wide = 0;
    put_place(t, finding, sources, &wide);
    put_message(t, style, severity, json_get_string(finding, "message", ""), &wide);
    terminal_flow(t, STYLE_DIM, &wide, INDENT, " [%s%s%s]",
                  json_get_string(finding, "source", ""), *code ? " " : "", code);
    putchar('\n');
    int line = (int)json_get_integer(finding, "line", 0);
    bool one_line = json_get_integer(finding, "end_line", line) == line;
    if (file) {
        quoted_open(q, file, sources);
        quote(t, q, line, (int)json_get_integer(finding, "column", 0),
              one_line ? (int)json_get_integer(finding, "end_column", 0) : 0, style);
    }
    terminal_words(t, 0, who_words, finding);
    put_related(t, finding, sources);
    put_fixes(t, findings, finding);
}

void render_labelled(const struct terminal *t, enum style style, const char *label,
                     const char *text) {
    int column = 0;
    if (text) {
        terminal_flow(t, style, &column, 0, "%s:", label);
        terminal_flow(t, STYLE_PLAIN, &column, INDENT, " %s", text);
        putchar('\n');
    }
}

void render_verdict(const struct terminal *t, enum style style, const char *verdict,
                    const struct buf *rest) {
    int column = 0;
    size_t mark = rest->len ? strcspn(rest->data, " ") : 0; /* it stays at the verdict */
    terminal_flow(t, style, &column, 2, "%s%.*s", verdict, (int)mark,
                  mark ? rest->data : "");
    terminal_flow(t, STYLE_PLAIN, &column, 2, "%s", rest->len ? rest->data + mark : "");
    putchar('\n');
}

enum { MAX_CODES = 6 };

/* Once for all that a run found: the page of a code has an example and the fix. */
void render_explain(const struct terminal *t, const json_t *findings) {
    autojson *codes = json_array();
    json_each(findings, i, finding) {
        const char *code = json_get_string(finding, "code", "");
        bool counts = !json_says(finding, "severity", "info") &&
                      json_says(finding, "source", "run") && !json_has_text(codes, code);
        if (counts && json_array_size(codes) < MAX_CODES) {
            json_array_append_new(codes, json_string(code));
        }
    }
    terminal_words(t, 0,
                   "[\t" DIM "with an example and how to fix it: upskillctl explain "
                   "{./ /:{.~60}}\n]",
                   codes);
}

void render_findings(const struct terminal *t, const json_t *findings,
                     const struct finding_sources *sources) {
    struct quoted q = {.text = BUF_INIT(SOURCE_MAX)};
    json_each(findings, i, finding) {
        put_finding(t, findings, finding, &q, sources);
    }
    quoted_finish(&q);
}
