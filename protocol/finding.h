#pragma once
/* finding: the common format of all reported problems.
 *
 * Compiler diagnostics, run-time findings and skill findings are the same JSON object.
 * Positions are 1-based, columns count UTF-8 bytes, ends are exclusive, and all refer to
 * the physical file. A finding without a place has no line.
 *
 *   {"source": "nvrtc", "code": "68", "severity": "error|warning|info", "message": "…",
 *    "file": "k.cu", "line": 12, "column": 5, "end_line": 12, "end_column": 9,
 *    "related": [{"message", "file", "line", "column"}],
 *    "fixes": [{"title", "edits": [{"file", "line", "column", "end_line", "end_column",
 *                                   "text"}]}]}
 *
 * All text is cleaned (text_clean) on the way in. */
#include "base/json.h"

enum finding_severity { FINDING_ERROR, FINDING_WARNING, FINDING_INFO };
const char *finding_severity_name(enum finding_severity severity);

struct finding_span { /* 0 = unknown */
    int line, column, end_line, end_column;
};
struct lines;
/* The span of the bytes [start, end) of a text. */
struct finding_span finding_span_of(const struct lines *lines, size_t start, size_t end);
/* The same without a line table, for a single use. */
struct finding_span finding_span_in(const char *text, size_t len, size_t start,
                                    size_t end);

/* A new reference. file NULL or span->line 0: no place. */
json_t *finding_new(const char *source, const char *code, enum finding_severity severity,
                    const char *message, const char *file,
                    const struct finding_span *span);
void finding_add_related(json_t *finding, const char *message, const char *file, int line,
                         int column);
/* Whether no finding before this one has the same fix, which need not be told again. */
bool finding_fix_is_new(const json_t *findings, const json_t *finding, const json_t *fix);
/* Adds a fix with one edit: replace span in file by text (an empty span inserts). */
void finding_add_fix(json_t *finding, const char *title, const char *file,
                     const struct finding_span *span, const char *text);
/* Add one more edit to the fix added last. */
void finding_add_edit(json_t *finding, const char *file, const struct finding_span *span,
                      const char *text);

/* Sort by file, line, column, severity; drop repeats; cut to `max`, keeping errors rather
 * than warnings. Findings without a place come first if they are errors, otherwise last.
 * Returns the number left out. */
size_t findings_tidy(json_t *array, size_t max);
/* The first error, borrowed; NULL: none. */
const json_t *findings_first_error(const json_t *array);
size_t findings_count(const json_t *array, enum finding_severity severity);
/* Appends "2 errors, 1 note"; false when there are none. */
bool findings_tell(const json_t *array, struct buf *out);
