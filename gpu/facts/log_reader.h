#pragma once
/* log_reader: shared by the readers of the compiler's and ptxas's lines. */
#include "gpu/facts/compiler_log.h"
#include "gpu/facts/log_header.h"

struct log_reader {
    struct log_scope scope;
    struct compiler_log *ret;
    json_t *seen;         /* keys of the existing findings */
    size_t kept[3];       /* by finding_severity */
    size_t dropped;       /* over the limit before tidying */
    size_t stated_errors; /* by "N errors detected" */
    bool stopped_at_limit,
        ptxas_aborted; /* "Error limit reached", "Ptx assembly aborted" */
    char *entry;       /* ptxas -v: the function of the following figures */
};

/* Counts errors; keeps the finding unless an equal one exists. Takes the reference;
 * returns a borrowed one, or NULL if it was not kept. place may be NULL. */
json_t *log_reader_emit(struct log_reader *r, const char *source, const char *code,
                        enum log_kind kind, const char *message,
                        const struct log_place *place);

/* A line that starts with "ptxas". */
void ptxas_log_line(struct log_reader *r, struct slice line);
