#pragma once
/* host_expansion: a source with the macros expanded that stand where declarations do.
 * Part of host_code.
 *
 * "DEFINE_KERNEL(k, int N) { … }" may be a template kernel, "REGISTER(float, 128);" a
 * host function that launches one: what it is only the macro's body tells. So beside the
 * source as written, whose places count, stands a copy with such uses expanded, each in
 * the lines of its use, for what is to be understood. Macros that expand to further such
 * uses are expanded too, EXPANSION_DEPTH_MAX deep; a copy ends to grow at
 * EXPANSION_BYTES. */
#include "gpu/source/host_blanker.h"
#include "gpu/source/host_macros.h"

#define EXPANSION_DEPTH_MAX 4
#define EXPANSION_BYTES (512u << 10) /* that it adds */
#define EXPANSION_USES_MAX 4096

struct expanded_use {
    size_t from, to; /* "NAME(…)" in the source */
    size_t at, end;  /* what it became, in the copy */
};

struct host_expansion {
    struct host_blanker b; /* of the copy, judged */
    char *text;            /* the copy; NULL: nothing to expand, b is empty */
    struct expanded_use *list;
    size_t count;
};

/* b: the source's, judged; known: macros of the other files, may be NULL; spaces: what
 * b's file was read with, may be NULL. True when something was expanded. */
bool host_expansion_read(struct host_expansion *ret, const struct host_blanker *b,
                         const struct host_macros *known,
                         const struct space_macros *spaces);
void host_expansion_finish(struct host_expansion *e);

/* An offset of the source, in the copy; and back, where a use's is its beginning. */
size_t host_expansion_place(const struct host_expansion *e, size_t offset);

/* Judges the uses in b by what they became: one that is nothing but host code goes. */
void host_expansion_judge(const struct host_expansion *e, struct host_blanker *b);
/* Launches that were collected from the copy, as if from b. */
void host_expansion_settle(const struct host_expansion *e, const struct host_blanker *b,
                           struct host_launches *launches);
