#pragma once
/* trace_branch: finds the records of a conversation tree on the path to its last leaf. A
 * session that a person rewound has several branches in one file; only the last one shows
 * the final course. Records are identified by hashes of their ids. */
#include "base/mem.h"

#define BRANCH_MAX 400000u

struct branch_record {
    uint64_t id, parent; /* 0: none */
    uint32_t group;      /* records of one message have the same; 0: none */
    uint32_t call;       /* the call that it answers; 0: none */
    bool leaf;           /* may be the last record of the conversation */
    bool kept;
    bool open; /* all below it is kept */
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
/* The number of the new record (from 1), or 0 if its id already exists. */
uint32_t branch_add(struct branch *b, const struct branch_record *record);
void branch_finish(struct branch *b);
/* Keeps the events (their marks hold the numbers of their records) on the path, or all if
 * there is no path; finishes the branch. */
struct trace_build;
void branch_filter(struct branch *b, struct trace_build *build);
