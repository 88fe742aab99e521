#pragma once
/* trace_branch: which records of a conversation tree lie on the way to its last leaf.
 *
 * Sessions that a person rewound hold several branches in one file; only the last one is
 * what happened in the end. Records are known by hashes of their ids. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BRANCH_MAX 400000u

struct branch_record {
    uint64_t id, parent; /* 0: none */
    uint32_t group;      /* records of one message belong together; 0: none */
    uint32_t call;       /* answers this call; 0: none */
    bool leaf;           /* may be the end of the conversation */
    bool kept;
};

struct branch {
    struct branch_record *records;
    size_t count, cap;
    uint32_t *slots; /* hash table: record + 1 */
    size_t slot_count;
    bool loose; /* answers have no parent: there is no tree */
    bool full;
};

uint64_t branch_hash(const char *id); /* 0 for NULL and "" */
/* The number of the new record (from 1), or 0 when its id was there already. */
uint32_t branch_add(struct branch *b, const struct branch_record *record);
void branch_finish(struct branch *b);
/* Of the events, which have the numbers of their records in their marks, those on the way
 * stay, and all where no way can be told; finishes the branch. */
struct trace_build;
void branch_filter(struct branch *b, struct trace_build *build);
