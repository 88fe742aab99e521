#pragma once
/* One search in progress, for the two halves of ranking: what is asked for
 * (catalog_concepts.c) and what the documents say (catalog_rank.c). */
#include "skills/catalog_internal.h"

#define ALIASES_MAX 4
#define PHRASES_MAX (RANK_CONCEPTS_MAX * (1 + ALIASES_MAX))

struct phrase { /* one word asked for */
    char word[48], stem[48];
    size_t concept;
    double quality;
    int64_t documents; /* that hold it */
};

struct search {
    const struct snapshot *snapshot;
    const bool *allowed;
    struct ranking *ranking;
    struct phrase phrases[PHRASES_MAX];
    size_t phrase_count;
    uint8_t asked[PHRASES_MAX]; /* which phrases are in the query, in its order */
    size_t asked_count;
    unsigned positions[RANK_CONCEPTS_MAX]; /* of concepts in the task */
    size_t limit;
};

struct ranker {
    struct db *db;
    fts5_tokenizer tokenizer;
    Fts5Tokenizer *stemmer;
    struct search *search;
};

/* The words of the task that say most, in the task's order, and their other names. */
void search_choose_concepts(struct ranker *r, struct search *q, const char *task);
