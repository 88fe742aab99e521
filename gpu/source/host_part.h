#pragma once
/* host_part: what stays of a source although it has no execution space, such as a
 * constexpr function or a type. The device may use it and need not. */
#include <stdbool.h>
#include <stddef.h>

struct source_set;

struct host_part { /* of a file's text: [from, to); empty: none */
    size_t from, to;
};

/* The parts of a source set; a file is read once, however many places are asked for. */
struct host_parts;
struct host_parts *host_parts_new(const struct source_set *s);
void host_parts_free(struct host_parts *p);
/* A text changed: files are read anew, macros are not. */
void host_parts_forget(struct host_parts *p);

/* What is around a byte of files[index] and can be left out: a declaration without an
 * execution space in it, which is no member that a class is laid out by. whole: all of a
 * header that has no execution space. */
struct host_part host_parts_at(struct host_parts *p, size_t index, size_t offset,
                               bool whole);
