#pragma once
/* log_place: converts places in a compiler's log to places that a client knows. File
 * names in a log can be anything that a source makes the compiler print. They are only
 * used as keys: a file of the job, a file beneath CUDA's include folders, a header in
 * memory, or foreign. */
#include "gpu/facts/slice.h"
#include "gpu/source/source_set.h"
#include "protocol/finding.h"

struct kernel_index;
struct ptx_lines;

enum log_origin {
    LOG_NOWHERE,
    LOG_JOB,
    LOG_CUDA,
    LOG_BUILT_IN, /* a header in the compiler's memory: its own, and our shims */
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
    struct line_table *tables;    /* one per source, created when needed */
    struct kernel_index *kernels; /* created when needed */
    struct log_include *includes; /* by header, those searched for so far */
    size_t include_count;
};
void log_scope_init(struct log_scope *s, const struct source_set *sources,
                    const char *const *cuda_dirs, const struct ptx_lines *ptx);
void log_scope_finish(struct log_scope *s);

void log_place_resolve(struct log_scope *s, struct slice file, int line,
                       struct log_place *ret);
/* The last non-empty line of the translation unit. */
void log_place_end(struct log_scope *s, struct log_place *ret);
/* Where the kernel with that symbol is named, or nowhere. */
void log_place_kernel(struct log_scope *s, const char *symbol, struct log_place *ret);
/* The source of a PTX line: in the job if any of the places where it was inlined is.
 * *written is the place of the code itself if that is different, or nowhere. */
void log_place_ptx(struct log_scope *s, int ptx_line, struct log_place *ret,
                   struct log_place *written);
/* The line of the job that includes this file of CUDA's, or nowhere if that is not
 * clear. */
void log_place_include(struct log_scope *s, const struct log_place *header,
                       struct log_place *ret);

/* Sets the column to which a caret at byte `offset` of the quoted line points, if the
 * quotation is the source's own line. If the caret is past the line's end, it points at
 * `target` (may be empty), a word of that line. */
void log_place_point(struct log_scope *s, struct log_place *place, struct slice quoted,
                     size_t offset, struct slice target);

/* The client's name of the file; NULL if it cannot open it. Borrowed. */
const char *log_place_file(const struct log_place *place);
