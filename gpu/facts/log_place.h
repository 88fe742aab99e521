#pragma once
/* log_place: the places a compiler's log names, as places a client knows.
 *
 * File names in a log are whatever a source made the compiler say. One is trusted only as
 * a key: it is a file of the job, a file beneath CUDA's include folders, a header in
 * memory, or foreign. */
#include "gpu/facts/slice.h"
#include "gpu/source/source_set.h"
#include "protocol/finding.h"

#include <stdbool.h>

struct kernel_index;
struct ptx_lines;

enum log_origin {
    LOG_NOWHERE,
    LOG_JOB,
    LOG_CUDA,
    LOG_BUILT_IN, /* a header the compiler holds in memory: its own, and our shims */
    LOG_FOREIGN,
};

#define LOG_PATH_MAX 1024
struct log_place {
    enum log_origin origin;
    const struct source_file *file; /* LOG_JOB */
    char path[LOG_PATH_MAX];        /* LOG_CUDA, LOG_BUILT_IN: normalised */
    int compiler_line;              /* as the compiler counts */
    struct finding_span span;       /* as a client counts */
};

struct log_scope {
    const struct source_set *sources;
    const char *const *cuda_dirs;
    const struct ptx_lines *ptx;
    struct line_table *tables;    /* one per source, made when first needed */
    struct kernel_index *kernels; /* likewise */
    struct log_include *includes; /* by header, those looked for so far */
    size_t include_count;
};
void log_scope_init(struct log_scope *s, const struct source_set *sources,
                    const char *const *cuda_dirs, const struct ptx_lines *ptx);
void log_scope_finish(struct log_scope *s);

void log_place_resolve(struct log_scope *s, struct slice file, int line,
                       struct log_place *ret);
/* The last line of the translation unit that holds anything. */
void log_place_end(struct log_scope *s, struct log_place *ret);
/* Where the kernel of that symbol is named, or nowhere. */
void log_place_kernel(struct log_scope *s, const char *symbol, struct log_place *ret);
/* The PTX line's source: in the job if any of the places it was inlined at is. *written
 * is where the code itself stands when that is somewhere else, or nowhere. */
void log_place_ptx(struct log_scope *s, int ptx_line, struct log_place *ret,
                   struct log_place *written);
/* The line of the job that includes this file of CUDA's, or nowhere when that is not
 * clear. */
void log_place_include(struct log_scope *s, const struct log_place *header,
                       struct log_place *ret);

/* The column a caret at byte `offset` of the quoted line points to, when the quotation is
 * the source's own line. `target` (may be empty) is a word of that line to point at
 * instead, when the caret is behind the line's end. */
void log_place_point(struct log_scope *s, struct log_place *place, struct slice quoted,
                     size_t offset, struct slice target);

/* What a client calls the file; NULL where there is none it could open. Borrowed. */
const char *log_place_file(const struct log_place *place);
