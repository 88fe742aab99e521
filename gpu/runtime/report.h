#pragma once
/* report: writes lines to the process that started the program (run_report.h), or to
 * standard error. */
#include "gpu/runtime/host_site.h"

void report_open(void); /* as the environment says; call it once */
/* Writes one line; takes ownership of the object. Any thread. */
void report_line(json_t *event);
/* {"event": name, "id"? (0: none), "host"? (NULL: none)}, new reference. */
json_t *report_event(const char *name, uint64_t id, const struct host_site *site);
/* Reports a finding of the library itself. */
void report_finding(const char *code, const struct host_site *site, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* A finding between two places of the host's code; reported once per pair. other: NULL, if
 * there is no second one: once per place. */
struct report_other {
    const struct host_site *site;
    const char *what;
    const struct report_other *more; /* a third place; or NULL */
};
void report_finding_between(const char *code, const struct host_site *site,
                            const struct report_other *other, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with severity "warning". */
void report_warning_between(const char *code, const struct host_site *site,
                            const struct report_other *other, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A kernel reads a __constant__ variable that the host has not set. Both by their symbols.
 */
void report_unset_constant(const char *symbol, const char *kernel,
                           const struct host_site *site);
bool report_has_reader(void); /* false: there is only standard error */
