#pragma once
/* report: the findings of several answers, for other programs. sarif: SARIF 2.1.0, one
 * document; github: workflow commands, a line each; junit: a test suite with a test case
 * for each file. Findings are those of kernel/check, kernel/validate and skill/check, as
 * in protocol/finding.h. For skill/evaluate, each student's verdict is a finding, and in
 * junit each test is a case. */
#include "base/json.h"

enum report_format { REPORT_NONE, REPORT_SARIF, REPORT_GITHUB, REPORT_JUNIT };

/* NULL, or what is wrong with the name (which may be NULL), freed by the caller. "text"
 * and "json" are both REPORT_NONE. */
char *report_format_read(const char *name, enum report_format *ret);

/* All findings of an answer, including the compiler's. A new array. */
json_t *report_findings(const json_t *result);

struct report;
struct report *report_new(enum report_format format);
/* status: the exit status of this answer; error: the message if there is no answer. */
void report_add(struct report *r, const char *operation, const char *path,
                const json_t *result, const char *error, int status);
/* Prints it on standard output and frees it; NULL is fine. */
void report_end(struct report *r);
