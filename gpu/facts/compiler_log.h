#pragma once
/* compiler_log: parses NVRTC's and ptxas's messages into findings.
 *
 * The log is hostile text: file names in it may be false and lines may be anything. A
 * message is kept if its place is in the job's sources or in CUDA's headers; a quoted
 * source line is used only to compute the column and never passed on. Messages in CUDA's
 * headers are reported at the job's line that led there (instantiation or include stack),
 * with the header as related place. */
#include "gpu/source/source_set.h"

struct ptx_lines;

struct compiler_log {
    json_t *findings; /* array, tidied, at most COMPILER_LOG_MAX_FINDINGS */
    size_t omitted;   /* dropped, including those counted only in "N errors detected" */
    size_t errors;    /* all errors seen */
    json_t *usage;    /* {symbol: {"registers", "stack_bytes", "spill_store_bytes",
                         "spill_load_bytes", "static_shared_bytes", "barriers"}} from -v */
};
#define COMPILER_LOG_MAX_FINDINGS 100

/* cuda_dirs: absolute include folders of the toolkit, NULL-terminated. ptx (may be NULL)
 * maps ptxas's line numbers. Never fails. */
void compiler_log_read(struct compiler_log *ret, const char *log, size_t len,
                       const struct source_set *sources, const char *const *cuda_dirs,
                       const struct ptx_lines *ptx);
void compiler_log_finish(struct compiler_log *l);
