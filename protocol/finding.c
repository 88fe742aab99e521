#include "protocol/finding.h"

#include "base/buf.h"
#include "base/find.h"
#include "base/lines.h"

const char *finding_severity_name(enum finding_severity severity) {
    static const char *const names[] = {"error", "warning", "info"};
    return names[severity];
}

struct finding_span finding_span_of(const struct lines *lines, size_t start, size_t end) {
    size_t first = lines_at(lines, start), last = lines_at(lines, end);
    return (struct finding_span){
        .line = (int)first + 1,
        .column = (int)(start - lines->starts[first]) + 1,
        .end_line = (int)last + 1,
        .end_column = (int)(end - lines->starts[last]) + 1,
    };
}

struct finding_span finding_span_in(const char *text, size_t len, size_t start,
                                    size_t end) {
    struct lines lines;
    lines_init(&lines, text, len);
    struct finding_span span = finding_span_of(&lines, start, end);
    lines_finish(&lines);
    return span;
}

static json_t *number(int value) {
    return value > 0 ? json_integer(value) : NULL;
}

/* The members of a place; none when it is unknown. New reference. */
static json_t *place(const char *file, const struct finding_span *span) {
    return !file || !span || span->line <= 0
               ? json_object()
               : json_pack("{s:o,s:o*,s:o*,s:o*,s:o*}", "file", json_clean_z(file),
                           "line", number(span->line), "column", number(span->column),
                           "end_line", number(span->end_line), "end_column",
                           number(span->end_column));
}

json_t *finding_new(const char *source, const char *code, enum finding_severity severity,
                    const char *message, const char *file,
                    const struct finding_span *span) {
    json_t *finding = json_pack(
        "{s:o,s:o,s:s,s:o}", "source", json_clean_z(source), "code", json_clean_z(code),
        "severity", finding_severity_name(severity), "message", json_clean_z(message));
    json_object_update_new(finding, place(file, span));
    return finding;
}

/* The array under key, made when it is not there; borrowed. */
static json_t *array_of(json_t *object, const char *key) {
    json_t *array = json_object_get(object, key);
    if (!array) {
        array = json_array();
        json_object_set_new(object, key, array);
    }
    return array;
}

void finding_add_related(json_t *finding, const char *message, const char *file, int line,
                         int column) {
    json_t *related = json_pack("{s:o}", "message", json_clean_z(message));
    json_object_update_new(
        related, place(file, &(struct finding_span){.line = line, .column = column}));
    json_array_append_new(array_of(finding, "related"), related);
}

static void add_edit(json_t *fix, const char *file, const struct finding_span *span,
                     const char *text) {
    json_t *edit = place(file, span);
    json_object_set_new(edit, "text", json_clean_z(text));
    json_array_append_new(array_of(fix, "edits"), edit);
}

bool finding_fix_is_new(const json_t *findings, const json_t *finding, const json_t *fix) {
    json_each(findings, i, earlier) {
        if (earlier == finding) {
            return true;
        }
        if (json_any(json_object_get(earlier, "fixes"), one, json_equal(one, fix))) {
            return false;
        }
    }
    return true;
}

void finding_add_fix(json_t *finding, const char *title, const char *file,
                     const struct finding_span *span, const char *text) {
    json_t *fix = json_pack("{s:o}", "title", json_clean_z(title));
    add_edit(fix, file, span, text);
    json_array_append_new(array_of(finding, "fixes"), fix);
}

void finding_add_edit(json_t *finding, const char *file, const struct finding_span *span,
                      const char *text) {
    json_t *fixes = json_object_get(finding, "fixes");
    size_t count = json_array_size(fixes);
    if (count) {
        add_edit(json_array_get(fixes, count - 1), file, span, text);
    }
}

/* --- tidying --- */

struct entry {
    json_t *finding; /* a reference while the array is rebuilt */
    size_t index;    /* before sorting: equal places keep their order */
    const char *file, *message;
    json_int_t line, column;
    int severity;
};

static int severity_rank(const json_t *finding) {
    const char *name = json_get_string(finding, "severity", "info");
    return strcmp(name, "error") == 0     ? FINDING_ERROR
           : strcmp(name, "warning") == 0 ? FINDING_WARNING
                                          : FINDING_INFO;
}

static struct entry entry_of(json_t *finding, size_t index) {
    return (struct entry){.finding = json_incref(finding),
                          .index = index,
                          .file = json_get_string(finding, "file", ""),
                          .message = json_get_string(finding, "message", ""),
                          .line = json_get_integer(finding, "line", 0),
                          .column = json_get_integer(finding, "column", 0),
                          .severity = severity_rank(finding)};
}

static int order(json_int_t a, json_int_t b) {
    return (a > b) - (a < b);
}

/* Remarks on the whole, such as "stopped at the limit of errors", come last. */
static bool is_closing_remark(const struct entry *e) {
    return !*e->file && e->severity != FINDING_ERROR;
}

static int compare_place(const struct entry *a, const struct entry *b) {
    int rc = (int)is_closing_remark(a) - (int)is_closing_remark(b);
    rc = rc ? rc : strcmp(a->file, b->file);
    rc = rc ? rc : order(a->line, b->line);
    rc = rc ? rc : order(a->column, b->column);
    return rc ? rc : order(a->severity, b->severity);
}

static int by_place(const void *pa, const void *pb) {
    const struct entry *a = pa, *b = pb;
    int rc = compare_place(a, b);
    return rc ? rc : order((json_int_t)a->index, (json_int_t)b->index);
}

/* Equal findings are adjacent in this order. */
static int by_message(const void *pa, const void *pb) {
    const struct entry *a = pa, *b = pb;
    int rc = compare_place(a, b);
    rc = rc ? rc : strcmp(a->message, b->message);
    return rc ? rc : order((json_int_t)a->index, (json_int_t)b->index);
}

static size_t drop_repeats(struct entry *entries, size_t count) {
    size_t kept = 0;
    qsort(entries, count, sizeof *entries, by_message);
    for (size_t i = 0; i < count; i++) {
        if (kept && json_equal(entries[kept - 1].finding, entries[i].finding)) {
            json_decref(entries[i].finding);
        } else {
            entries[kept++] = entries[i];
        }
    }
    return kept;
}

/* Of each severity as many as still fit, the worst first. */
static size_t keep_worst(struct entry *entries, size_t count, size_t max) {
    size_t left[3] = {0}, kept = 0;
    for (size_t i = 0; i < count; i++) {
        left[entries[i].severity]++;
    }
    for (int s = FINDING_ERROR; s <= FINDING_INFO; s++) {
        left[s] = left[s] < max ? left[s] : max;
        max -= left[s];
    }
    for (size_t i = 0; i < count; i++) {
        if (left[entries[i].severity]) {
            left[entries[i].severity]--;
            entries[kept++] = entries[i];
        } else {
            json_decref(entries[i].finding);
        }
    }
    return kept;
}

size_t findings_tidy(json_t *array, size_t max) {
    size_t count = json_array_size(array);
    autofree struct entry *entries = xcalloc(count, sizeof *entries);
    for (size_t i = 0; i < count; i++) {
        entries[i] = entry_of(json_array_get(array, i), i);
    }
    count = drop_repeats(entries, count);
    qsort(entries, count, sizeof *entries, by_place);
    size_t kept = keep_worst(entries, count, max);
    json_array_clear(array);
    for (size_t i = 0; i < kept; i++) {
        json_array_append_new(array, entries[i].finding);
    }
    return count - kept;
}

const json_t *findings_first_error(const json_t *array) {
    return json_find(array, finding, json_says(finding, "severity", "error"));
}

size_t findings_count(const json_t *array, enum finding_severity severity) {
    const char *name = finding_severity_name(severity);
    return json_total(size_t, array, finding, json_says(finding, "severity", name));
}

bool findings_tell(const json_t *array, struct buf *out) {
    static const char *const words[] = {[FINDING_ERROR] = "error",
                                        [FINDING_WARNING] = "warning",
                                        [FINDING_INFO] = "note"};
    bool any = false;
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        size_t count = findings_count(array, (enum finding_severity)k);
        if (count) {
            buf_addf(out, "%s%zu %s%s", any ? ", " : "", count, words[k],
                     count == 1 ? "" : "s");
            any = true;
        }
    }
    return any;
}
