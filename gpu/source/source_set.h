#pragma once
/* source_set: the files of one compilation, by their path inside the job.
 *
 * The daemon fills it with the client's source and its includes and sends it to the
 * worker as JSON; the compiler sees no other files of the user. Bounded by
 * SOURCE_SET_MAX_*. */
#include "base/json.h"

#define SOURCE_SET_MAX_FILES 1024
#define SOURCE_SET_MAX_BYTES (32u << 20) /* all of CUTLASS is 28 MiB */

struct source_file {
    char *path;    /* inside the job: relative, normalised, "r0/src/k.cu" */
    char *display; /* the name in findings: "src/k.cu" as the client would write it */
    char *text; /* for the compiler (host code blanked, #line removed); NUL-terminated */
    char
        *original; /* the unchanged text, of the same length, if different; NULL = text */
    size_t len;
};

struct source_set {
    struct source_file *files; /* files[0] is the translation unit */
    size_t count, bytes;
    size_t appended;     /* bytes of the unit, at its end */
    bool default_device; /* -default-device: functions without an execution space stay */
};

void source_set_finish(struct source_set *s);
/* Strings are copied. -E2BIG above a limit, -EEXIST if the path exists. */
int source_set_add(struct source_set *s, const char *path, const char *display,
                   const char *text, size_t len, struct err *err);
/* A header is compiled through a generated unit of this path, which includes it. */
#define SOURCE_SET_UNIT "unit.cu"
/* The file that is checked: files[0], or the header behind a generated one. */
size_t source_set_unit(const struct source_set *s);
/* Appends text to both texts of the unit, after the last line, so that no place moves. */
void source_set_append(struct source_set *s, const char *text);
/* Removes the appended text. */
void source_set_shorten(struct source_set *s);
/* Finds a file by its path inside the job; NULL if there is none. */
const struct source_file *source_set_find(const struct source_set *s, const char *path);

/* {"files": [{"path", "display", "text"}]}, the unit first; without `original`. */
json_t *source_set_to_json(const struct source_set *s);
int source_set_from_json(struct source_set *ret, const json_t *json, struct err *err);
