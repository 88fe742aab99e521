#pragma once
/* report: what several answers found, for other programs.
 *
 * sarif: SARIF 2.1.0, one document; github: workflow commands, a line each; junit: a test
 * suite with a test case for each file. Findings are those of kernel/check,
 * kernel/validate and skill/check, in the shape of protocol/finding.h. Of skill/evaluate
 * each student's verdict is one, and for junit each test is a case. */
#include "base/json.h"

#include <stdbool.h>

enum report_format { REPORT_NONE, REPORT_SARIF, REPORT_GITHUB, REPORT_JUNIT };

/* False: there is no such format. "text" and "json" are not told apart here: both are
 * REPORT_NONE. */
bool report_format_read(const char *name, enum report_format *ret);

/* All findings of an answer, its compiler's among them. A new array. */
json_t *report_findings(const json_t *result);

struct report;
struct report *report_new(enum report_format format);
/* status: the exit status of this answer; error: the message where there is none. */
void report_add(struct report *r, const char *operation, const char *path,
                const json_t *result, const char *error, int status);
/* Print it on standard output and free it; NULL is fine. */
void report_end(struct report *r);
