#pragma once
/* catalog_search: one search in progress, shared by the two halves of ranking: the
 * concepts to search for (catalog_concepts.c) and the comparison with documents
 * (catalog_rank.c). */
#include "skills/catalog/catalog_internal.h"

#define NAMES_MAX 8 /* other names of one word that are searched for */
#define NAMES_LONG_MAX 4
#define PHRASES_MAX RANK_NAMES_MAX /* words searched for, of all concepts */

struct phrase { /* one word searched for */
    char word[48], stem[STEM_SIZE];
    size_t concept;
    double quality;
    bool own;          /* the task's own word */
    bool wider;        /* not a name of the concept, but a wider term */
    int64_t documents; /* that contain it */
};

struct search {
    const struct snapshot *snapshot;
    const bool *allowed;
    struct ranking *ranking;
    struct phrase phrases[PHRASES_MAX];
    size_t phrase_count;
    uint8_t asked[PHRASES_MAX]; /* the phrases, the rarest first */
    size_t rare_count; /* so many of them must a row have one of, to be weighed */
    size_t asked_from; /* the number of asked[0] among the phrases of the query */
    unsigned rows, pair_rows[PAIRS_MAX]; /* rows weighed; those that hold each pair */
    unsigned positions[RANK_CONCEPTS_MAX]; /* of concepts in the task */
    size_t limit;
    struct ranked *one; /* the only document of interest, or NULL */
    const struct task_meaning *meaning;
    const double *outstanding; /* from search_outstanding */
    const double *spelling;    /* from spelling_compare */
    bool is_long;              /* whether the task is long */
};

/* Where one of the task's words stands in one field of a skill. */
#define PLACES_MAX 32
struct word_places {
    uint16_t count;
    int at[PLACES_MAX];
};

struct ranker {
    struct db *db;
    struct stemmer *stemmer;
    struct thesaurus *thesaurus;
    struct search *search;
};

/* Adds to the ranking at most NEAR_KEPT documents that are near in meaning and were not
 * found by their words; then as many that are near by the values from catalog_find_near,
 * if there are any, and as many that are spelt most alike. */
#define NEAR_KEPT 12
void search_add_near(struct search *q);
/* near: from catalog_find_near. Malloc'ed, one per document: how far it is on the way from
 * the mean of all, 0, to the task itself, 1; NAN where unknown. NULL: the values tell
 * nothing. *ret_alone: the weight of the words by themselves, 1 without values. */
double *search_outstanding(const struct snapshot *s, const json_t *near,
                           double *ret_alone);
/* measures how near each document of the ranking is */
void search_compare(struct search *q);
/* --- pairs of the task's words (catalog_pairs.c) --- */
/* Which of them stand together in a skill, for the task's first `count` words. */
void pairs_see(size_t count, const struct word_places (*places)[CATALOG_FIELDS],
               struct ranked *m);
void pairs_count(struct search *q, const struct ranked *m); /* once for a row weighed */
void pairs_measure(struct search *q); /* sets `together` of each in the ranking */
/* Chooses the words of the task that say most, in the task's order, and their other
 * names. */
void search_choose_concepts(struct ranker *r, struct search *q, const char *task);
