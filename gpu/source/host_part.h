#pragma once
/* host_part: parts of a source that are kept although they have no execution space, such
 * as a constexpr function or a type. The device may use them but need not. */
#include "base/mem.h"

struct source_set;

struct host_part { /* the range [from, to) of a file's text; empty: none */
    size_t from, to;
};

/* The parts of a source set; each file is read once. */
struct host_parts;
struct host_parts *host_parts_new(const struct source_set *s);
void host_parts_free(struct host_parts *p);
/* A text changed: files will be read again, macros will not. */
void host_parts_forget(struct host_parts *p);

/* The part around a byte of files[index] that can be left out: a declaration that
 * contains no execution space and is not a member on which a class's layout depends.
 * whole: also the whole of a header without execution spaces. */
struct host_part host_parts_at(struct host_parts *p, size_t index, size_t offset,
                               bool whole);
