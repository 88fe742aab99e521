#pragma once
/* shared_layout: where a program's shared variables lie.
 *
 * On a device they lie behind each other, so that a write past the end of one lands in
 * the next and only its effects show. Here SHARED_GAP bytes that nobody owns stand
 * between them, and between them and dynamic shared memory: addresses modulo SHARED_GAP,
 * and with them banks and alignment, are as without. A program has no gaps when it has
 * one variable only, more than SHARED_GAPS_MAX, or one that wants a larger alignment.
 * What is told to the kernel and its user (%total_smem_size, limits, messages) does not
 * count them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program;
struct run;
struct processor;

/* 227 KB and all gaps stay below 256 KB, where descriptors of wgmma end. */
#define SHARED_GAP 1024u
#define SHARED_GAPS_MAX 24u

struct shared_extent { /* bytes [low, high) that belong together; high 0: not looked up */
    uint64_t low, high;
};

/* Sets the program's shared_ members. reached: by variable. */
void shared_place(struct program *p, const bool *reached);

/* The variable, or dynamic shared memory, that has all these bytes; without gaps all of
 * the window. False: nobody has. */
bool shared_extent_find(const struct run *run, uint64_t offset, uint64_t bytes,
                        struct shared_extent *ret);
/* The same by a memory of each access's last one. */
bool shared_is_inside(struct processor *processor, uint32_t access, uint64_t offset,
                      uint64_t bytes);

/* For messages, the name of whose memory ends before an offset: a variable's, or "dynamic
 * shared memory". NULL: nobody's, or it cannot be told. */
const char *shared_owner(const struct run *run, uint64_t offset,
                         struct shared_extent *ret);
/* Which variable an offset belongs to, or "dynamic shared memory", and where in it. */
const char *shared_name(const struct run *run, uint64_t offset, uint64_t *ret_offset);
