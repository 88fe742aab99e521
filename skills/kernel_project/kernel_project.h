#pragma once
/* kernel_project: a kernel-builder project folder while it is judged. */
#include "base/file.h"
#include "skills/kernel_project/build_toml_report.h"
#include "skills/kernel_project/kernel_source.h"

#include <stdbool.h>

enum project_file_kind { PROJECT_REGULAR, PROJECT_LINK, PROJECT_FOLDER, PROJECT_OTHER };

struct project_file {
    char *path; /* relative to the project */
    enum project_file_kind kind;
    bool listed; /* by a src of build.toml */
    bool meant;  /* by a src that names a file which is not there */
    bool loaded, readable;
    struct kernel_source source;
};

struct kernel_project {
    struct root root;
    json_t *findings;
    struct project_file *files; /* sorted by path */
    size_t count, cap, loaded_bytes;
    bool cut; /* more was there than is looked at */
    char *build_text;
    struct toml_document *build;     /* NULL: no build.toml, or no TOML */
    struct build_toml_report report; /* for findings in build.toml */
};

struct project_file *kernel_project_file(const struct kernel_project *p,
                                         const char *path);
/* The file as text, read at first need; NULL when it can't be read (or is too large). */
const struct kernel_source *kernel_project_source(struct kernel_project *p,
                                                  struct project_file *file);
/* path ends in one of the endings, given as ".cu .cuh ". */
bool kernel_project_ends(const char *path, const char *endings);
#define PROJECT_SOURCES ".cu .cpp .cc .cxx .c .hip .mm "
#define PROJECT_HEADERS ".h .hpp .cuh .hh .hxx "

/* span NULL: about the file as a whole, shown at its top. Borrowed. */
json_t *kernel_project_add(struct kernel_project *p, const char *path, const char *code,
                           enum finding_severity severity,
                           const struct finding_span *span, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));

/* The rules: of the operators' registration, and of what device code needs. */
void kernel_binding_check(struct kernel_project *p);
void kernel_device_check(struct kernel_project *p);
