#pragma once
/* shared_layout: the placement of a program's shared variables.
 *
 * On a device they are adjacent, so that a write past the end of one changes the next and
 * only its effects show. Here SHARED_GAP unowned bytes separate them from each other and
 * from dynamic shared memory: addresses modulo SHARED_GAP, and therefore banks and
 * alignment, are the same as without gaps. A program has no gaps when it has only one
 * variable, more than SHARED_GAPS_MAX, or one with a larger alignment. Sizes that the
 * kernel and the user see (%total_smem_size, limits, messages) exclude the gaps. */
#include "base/mem.h"

struct program;
struct run;
struct processor;

/* 227 KB and all gaps stay below 256 KB, the range of wgmma's descriptors. */
#define SHARED_GAP 1024u
#define SHARED_GAPS_MAX 24u

struct shared_extent { /* bytes [low, high) of one owner; high 0: not looked up */
    uint64_t low, high;
};

/* Sets the program's shared_ members. reached: by variable. */
void shared_place(struct program *p, const bool *reached);

/* The variable, or dynamic shared memory, that contains all these bytes; without gaps the
 * whole window. False: there is none. */
bool shared_extent_find(const struct run *run, uint64_t offset, uint64_t bytes,
                        struct shared_extent *ret);
/* The same, with a cache of each access's last result. */
bool shared_is_inside(struct processor *processor, uint32_t access, uint64_t offset,
                      uint64_t bytes);

/* For messages, the name of the memory that ends before an offset: a variable's, or
 * "dynamic shared memory". NULL: none, or unknown. */
const char *shared_owner(const struct run *run, uint64_t offset,
                         struct shared_extent *ret);
/* The variable that contains an offset, or "dynamic shared memory", and the offset within
 * it. */
const char *shared_name(const struct run *run, uint64_t offset, uint64_t *ret_offset);
