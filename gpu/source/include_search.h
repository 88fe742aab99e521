#pragma once
/* include_search: finds the file of an include while a closure is built. Private to
 * include_closure. */
#include "base/file.h"
#include "base/lines.h"
#include "gpu/source/include_closure.h"
#include "gpu/source/include_directives.h"

#define INCLUDE_HEADERS "h" /* the folder of the request's headers inside the job */

/* A computed include, whose macro may be defined in a later file. */
struct include_later {
    size_t file;
    struct file_reference reference; /* without a target */
};

struct include_builder {
    const struct include_options *options;
    struct include_closure *ret;
    struct root *roots; /* as many as ret->roots; opened at the first read */
    bool *root_open;
    size_t root_count;
    unsigned *depth; /* of each file */
    size_t depth_cap;
    size_t lookups;
    struct lines lines; /* of the current file, once a finding needed them */
    bool has_lines;
    size_t followed; /* the number of files whose references were examined */
    struct include_later *later;
    size_t later_count, later_cap;
    /* absolute folders that were found and not given, NULL-terminated; NULL: none */
    char **assumed;
    size_t assumed_count, guesses; /* guesses: files searched for in such folders */
    bool absolute_names; /* findings name included files by their absolute paths */
};

/* ---- include_files.c: folders and names ---- */

/* Adds the given roots, and the unit's own folder unless a root contains it. */
void include_roots_init(struct include_builder *b, const char *unit_dir);
/* The index of the root that contains an absolute path, or SIZE_MAX. */
size_t include_root_of(const struct include_builder *b, const char *path);
/* "r0/k.cu": malloc'ed. The path must be beneath a root, also for the next two
 * functions. */
char *include_job_path(const struct include_builder *b, const char *path);
/* Its name in findings on this machine; malloc'ed. */
char *include_display(const struct include_builder *b, const char *path);
int include_read(struct include_builder *b, const char *path, struct buf *out,
                 struct err *err);

/* ---- include_files.c: findings and files ---- */

/* Adds an error finding at a reference in a file of the set. */
void include_refuse(struct include_builder *b, size_t file,
                    const struct file_reference *at, const char *code, const char *fmt,
                    ...) __attribute__((format(printf, 5, 6)));
/* The same for a finding that is not an error. */
void include_note(struct include_builder *b, size_t file, const struct file_reference *at,
                  const char *code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
int include_add_file(struct include_builder *b, const char *job_path, const char *display,
                     const char *text, size_t len, unsigned depth, struct err *err);

/* ---- include_search.c ---- */

enum include_lookup { INCLUDE_FOUND, INCLUDE_MISSING, INCLUDE_REFUSED };

struct include_search {
    struct include_builder *b;
    size_t file; /* the file with the reference */
    const struct file_reference *reference;
    bool escaped; /* a candidate was outside every root */
};

/* Tries a name's candidates in the compiler's order; a file that is found is added to the
 * set. A refused one gets a finding. */
enum include_lookup include_search_target(struct include_search *s, const char *target,
                                          enum include_form form);
/* Searches for a quoted name, not found otherwise, in the folders where projects keep
 * headers: those above the including file, and include, inc, src or csrc in them. If it
 * is found, that folder is searched from then on, and a note says so. */
enum include_lookup include_search_usual(struct include_search *s, const char *target);
