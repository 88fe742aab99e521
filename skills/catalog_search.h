#pragma once
/* One search in progress, for the two halves of ranking: what is asked for
 * (catalog_concepts.c) and what the documents say (catalog_rank.c). */
#include "skills/catalog_internal.h"

#include "skills/thesaurus.h"

#define NAMES_MAX 8 /* other names of one word that are asked for */
#define NAMES_LONG_MAX 4
#define PHRASES_MAX RANK_NAMES_MAX /* words asked for, of all concepts */

struct phrase { /* one word asked for */
    char word[48], stem[STEM_SIZE];
    size_t concept;
    double quality;
    bool own;          /* the task's own word */
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
    bool is_long; /* the task */
};

struct ranker {
    struct db *db;
    fts5_tokenizer tokenizer;
    Fts5Tokenizer *stemmer;
    struct thesaurus *thesaurus;
    struct search *search;
};

/* As the index does it. "" when the word is none there. data: struct ranker *. */
void search_stem(void *data, const char *word, char ret[static STEM_SIZE]);
/* The words of the task that say most, in the task's order, and their other names. */
void search_choose_concepts(struct ranker *r, struct search *q, const char *task);
