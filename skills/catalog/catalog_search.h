#pragma once
/* One search in progress, for the two halves of ranking: what is asked for
 * (catalog_concepts.c) and what the documents say (catalog_rank.c). */
#include "skills/catalog/catalog_internal.h"

#include "skills/catalog/catalog_meaning.h"
#include "skills/catalog/stemmer.h"
#include "skills/catalog/thesaurus.h"

#define NAMES_MAX 8 /* other names of one word that are asked for */
#define NAMES_LONG_MAX 4
#define PHRASES_MAX RANK_NAMES_MAX /* words asked for, of all concepts */

struct phrase { /* one word asked for */
    char word[48], stem[STEM_SIZE];
    size_t concept;
    double quality;
    bool own;          /* the task's own word */
    bool wider;        /* not a name of the concept, but of what it belongs to */
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
    struct ranked *one; /* the only document that is asked about, or NULL */
    const struct task_meaning *meaning;
    const double *outstanding; /* of search_outstanding */
    bool is_long;              /* the task */
};

struct ranker {
    struct db *db;
    struct stemmer *stemmer;
    struct thesaurus *thesaurus;
    struct search *search;
};

/* Adds to the ranking at most NEAR_KEPT documents that are near and were not found by
 * their words; where somebody else's measure is at hand, as many that it calls near. */
#define NEAR_KEPT 12
void search_add_near(struct search *q);
/* near: of catalog_find_near. Malloc'ed, per document: how far it stands out among all,
 * in their spread; NAN where nothing is told. NULL: of none. *ret_alone: how little that
 * says, 1 with nothing told. */
double *search_outstanding(const struct snapshot *s, const json_t *near,
                           double *ret_alone);
void search_compare(struct search *q); /* of all in the ranking: how near they are */
/* The words of the task that say most, in the task's order, and their other names. */
void search_choose_concepts(struct ranker *r, struct search *q, const char *task);
