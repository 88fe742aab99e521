/* Findings on a terminal: place, message, the source's line with a caret, fixes. */
#include "base/buf.h"
#include "base/file.h"
#include "base/lines.h"
#include "base/mem.h"
#include "base/text.h"
#include "clients/ctl/render.h"
#include "protocol/finding.h"

#include <string.h>

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

/* A skill came from somebody else: a link in it may name a file of the user's. */
static int source_read(const char *file, const struct finding_sources *sources,
                       struct buf *ret) {
    struct root root;
    if (!sources || !sources->folder) {
        return file_read(file, ret, NULL);
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

static void put_file(const struct terminal *t, const char *file, const char *folder) {
    autofree char *path = folder ? path_join(folder, file) : xstrdup(file);
    autofree char *shown = folder ? path_normalize(path) : xstrdup(file);
    terminal_put(t, STYLE_BOLD, shown);
}

static void put_place(const struct terminal *t, const json_t *finding,
                      const struct finding_sources *sources) {
    const char *file = json_get_string(finding, "file", NULL);
    int line = (int)json_get_integer(finding, "line", 0);
    int column = (int)json_get_integer(finding, "column", 0);
    if (!file) {
        return;
    }
    put_file(t, file, sources ? sources->folder : NULL);
    fputs(terminal_start(t, STYLE_BOLD), stdout);
    if (line > 0) {
        printf(":%d", line);
    }
    if (line > 0 && column > 0) {
        printf(":%d", column);
    }
    printf(":%s ", terminal_end(t));
}

/* Messages of several lines are indented beneath their first. */
static void put_message(const struct terminal *t, const char *message) {
    for (const char *end; (end = strchr(message, '\n')); message = end + 1) {
        autofree char *line = xstrndup(message, (size_t)(end - message));
        terminal_put(t, STYLE_PLAIN, line);
        fputs("\n        ", stdout);
    }
    terminal_put(t, STYLE_PLAIN, message);
}

static void put_related(const struct terminal *t, const json_t *finding,
                        const struct finding_sources *sources) {
    json_each(json_object_get(finding, "related"), i, note) {
        fputs("  ", stdout);
        put_place(t, note, sources);
        terminal_put(t, STYLE_BLUE, "note: ");
        put_message(t, json_get_string(note, "message", ""));
        putchar('\n');
    }
}

static void put_fixes(const struct terminal *t, const json_t *finding) {
    json_each(json_object_get(finding, "fixes"), i, fix) {
        terminal_put(t, STYLE_GREEN, "  fix: ");
        put_message(t, json_get_string(fix, "title", ""));
        putchar('\n');
    }
}

static void put_code(const struct terminal *t, const json_t *finding) {
    const char *source = json_get_string(finding, "source", "");
    const char *code = json_get_string(finding, "code", "");
    terminal_putf(t, STYLE_DIM, " [%s%s%s]", source, *code ? " " : "", code);
}

static void put_extent(const char *word, const json_t *extent) {
    printf(" %s %lld,%lld,%lld", word, json_integer_value(json_array_get(extent, 0)),
           json_integer_value(json_array_get(extent, 1)),
           json_integer_value(json_array_get(extent, 2)));
}

/* Who did it first, and how often, of a finding of a run. */
static void put_who(const struct terminal *t, const json_t *finding) {
    const json_t *block = json_object_get(finding, "block");
    json_int_t count = json_get_integer(finding, "count", 1);
    const char *kernel = json_get_string(finding, "kernel", NULL);
    if (!block) {
        return;
    }
    fputs("  ", stdout);
    fputs(terminal_start(t, STYLE_DIM), stdout);
    printf("in");
    if (kernel) {
        putchar(' ');
        terminal_put(t, STYLE_DIM, kernel);
        fputs(terminal_start(t, STYLE_DIM), stdout);
    }
    put_extent("block", block);
    put_extent("thread", json_object_get(finding, "thread"));
    if (count > 1) {
        printf(", %lld times", count);
    }
    printf("%s\n", terminal_end(t));
}

static void put_finding(const struct terminal *t, const json_t *finding, struct quoted *q,
                        const struct finding_sources *sources) {
    const char *severity = json_get_string(finding, "severity", "error");
    const char *file = json_get_string(finding, "file", NULL);
    enum style style = severity_style(severity);
    put_place(t, finding, sources);
    terminal_put(t, style, severity);
    terminal_put(t, style, ": ");
    put_message(t, json_get_string(finding, "message", ""));
    put_code(t, finding);
    putchar('\n');
    int line = (int)json_get_integer(finding, "line", 0);
    bool one_line = json_get_integer(finding, "end_line", line) == line;
    if (file) {
        quoted_open(q, file, sources);
        quote(t, q, line, (int)json_get_integer(finding, "column", 0),
              one_line ? (int)json_get_integer(finding, "end_column", 0) : 0, style);
    }
    put_who(t, finding);
    put_related(t, finding, sources);
    put_fixes(t, finding);
}

bool render_severities(const json_t *findings) {
    autobuf words = BUF_INIT(256);
    bool any = findings_tell(findings, &words);
    if (any) {
        printf(", %s", words.data);
    }
    return any;
}

void render_findings(const struct terminal *t, const json_t *findings,
                     const struct finding_sources *sources) {
    struct quoted q = {.text = BUF_INIT(SOURCE_MAX)};
    json_each(findings, i, finding) {
        put_finding(t, finding, &q, sources);
    }
    quoted_finish(&q);
}
