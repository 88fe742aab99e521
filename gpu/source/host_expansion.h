#pragma once
/* host_expansion: a copy of a source in which macros at the level of declarations are
 * expanded. Part of host_code.
 *
 * "DEFINE_KERNEL(k, int N) { … }" may be a template kernel, "REGISTER(float, 128);" a
 * host function that launches one: only the macro's body shows it. The source as written
 * determines places; the copy, with each use expanded on its own lines, is used to
 * understand it. Macros that expand to further such uses are expanded too, down to
 * EXPANSION_DEPTH_MAX; a copy stops growing at EXPANSION_BYTES. */
#include "gpu/source/host_blanker.h"
#include "gpu/source/host_macros.h"

#define EXPANSION_DEPTH_MAX 4
#define EXPANSION_BYTES (512u << 10) /* added by expansion */
#define EXPANSION_USES_MAX 4096

struct expanded_use {
    size_t from, to; /* "NAME(…)" in the source */
    size_t at, end;  /* its expansion, in the copy */
};

struct host_expansion {
    struct host_blanker b; /* of the copy, after judging */
    char *text;            /* the copy; NULL: nothing to expand, b is empty */
    struct expanded_use *list;
    size_t count;
};

/* b: the source's, after judging; known: macros of the other files, may be NULL; spaces:
 * those with which b's file was read, may be NULL. True if something was expanded. */
bool host_expansion_read(struct host_expansion *ret, const struct host_blanker *b,
                         const struct host_macros *known,
                         const struct space_macros *spaces);
void host_expansion_finish(struct host_expansion *e);

/* The offset in the copy of an offset in the source; inside a use, the beginning of its
 * expansion. */
size_t host_expansion_place(const struct host_expansion *e, size_t offset);

/* Judges the uses in b by their expansions: a use that expands only to host code is
 * blanked. */
void host_expansion_judge(const struct host_expansion *e, struct host_blanker *b);
/* Changes launches collected from the copy as if they came from b. */
void host_expansion_settle(const struct host_expansion *e, const struct host_blanker *b,
                           struct host_launches *launches);
