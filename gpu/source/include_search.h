#pragma once
/* include_search: where an include leads, while a closure is built. Private to
 * include_closure. */
#include "base/file.h"
#include "base/lines.h"
#include "gpu/source/include_closure.h"
#include "gpu/source/include_directives.h"

#define INCLUDE_HEADERS "h" /* the folder of the request's headers inside the job */

/* A computed include: its macro may be defined in a file that comes later. */
struct include_later {
    size_t file;
    struct file_reference reference; /* without a target */
};

struct include_builder {
    const struct include_options *options;
    struct include_closure *ret;
    struct root *roots; /* as many as ret->roots; opened when first read */
    bool *root_open;
    size_t root_count;
    unsigned *depth; /* of each file */
    size_t depth_cap;
    size_t lookups;
    struct lines lines; /* of the file followed now, once a finding needed them */
    bool has_lines;
    size_t followed; /* files whose references were looked at */
    struct include_later *later;
    size_t later_count, later_cap;
    char **assumed; /* absolute folders that nobody named, NULL-terminated; NULL: none */
    size_t assumed_count, guesses; /* guesses: files looked for in such */
    bool absolute_names; /* findings name included files by their absolute paths */
};

/* ---- include_files.c: folders and names ---- */

/* The roots that were given, and the unit's own folder unless it lies beneath one. */
void include_roots_init(struct include_builder *b, const char *unit_dir);
/* The index of the root that an absolute path lies beneath, or SIZE_MAX. */
size_t include_root_of(const struct include_builder *b, const char *path);
/* "r0/k.cu": malloc'ed. The path lies beneath a root, as for the next two. */
char *include_job_path(const struct include_builder *b, const char *path);
/* What findings call it on this machine; malloc'ed. */
char *include_display(const struct include_builder *b, const char *path);
int include_read(struct include_builder *b, const char *path, struct buf *out,
                 struct err *err);

/* The folder of a file: "" of a bare name. Malloc'ed. */
char *include_folder(const char *path);

/* ---- include_files.c: findings and files ---- */

/* A finding at a reference of a file of the set. */
void include_refuse(struct include_builder *b, size_t file,
                    const struct file_reference *at, const char *code, const char *fmt,
                    ...) __attribute__((format(printf, 5, 6)));
/* Likewise, of something that is no error. */
void include_note(struct include_builder *b, size_t file, const struct file_reference *at,
                  const char *code, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
int include_add_file(struct include_builder *b, const char *job_path, const char *display,
                     const char *text, size_t len, unsigned depth, struct err *err);

/* ---- include_search.c ---- */

enum include_lookup { INCLUDE_FOUND, INCLUDE_MISSING, INCLUDE_REFUSED };

struct include_search {
    struct include_builder *b;
    size_t file; /* that holds the reference */
    const struct file_reference *reference;
    bool escaped; /* a candidate lay outside every root */
};

/* What a name may mean, in the order of the compiler's; a file that is found is added to
 * the set. What is refused has its finding. */
enum include_lookup include_search_target(struct include_search *s, const char *target,
                                          enum include_form form);
/* A quoted name that is nowhere else, in the folders that projects have their headers in:
 * those above the file that includes it, and what is called include, inc, src or csrc
 * there. Where it is found, the folder is searched from then on, and a note says so. */
enum include_lookup include_search_usual(struct include_search *s, const char *target);
