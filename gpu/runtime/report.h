#pragma once
/* report: lines for whoever started the program (run_report.h), or for standard error. */
#include "base/json.h"
#include "gpu/runtime/host_site.h"

#include <stdbool.h>

void report_open(void); /* as the environment says; once */
/* Adds one line; takes the object. Any thread. */
void report_line(json_t *event);
/* {"event": name, "id"? (0: none), "host"? (NULL: none)}, new reference. */
json_t *report_event(const char *name, uint64_t id, const struct host_site *site);
/* A finding of the library itself. */
void report_finding(const char *code, const struct host_site *site, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* One between two places of the host's code; the same two once. */
struct report_other {
    const struct host_site *site;
    const char *what;
};
void report_finding_between(const char *code, const struct host_site *site,
                            const struct report_other *other, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
bool report_has_reader(void); /* else standard error is all there is */
