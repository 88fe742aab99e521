#pragma once
/* catalog_spelling: how alike a task and a skill's name and description are spelt.
 *
 * Four neighbouring bytes of a word are a gram. A gram that few skills have says much;
 * the measure is the cosine of the grams of both texts, each weighed by its rarity. It
 * meets "Browse AI" in "browseai", a stem in another form, and a name that no other skill
 * has. Grams are kept as hashes of 16 bits. */
#include "base/mem.h"

struct snapshot;

#define SPELLING_HASHES 65536u

struct spelling {          /* of one skill */
    size_t at;             /* its grams in s->grams, each once, those of the name first */
    uint16_t count, named;
    float length; /* the Euclidean length of their weights */
};
/* Fills in s->documents[].spelling, s->grams and s->spelt, after all documents are there. */
void spelling_load(struct snapshot *s);
/* Malloc'ed, one per document: 0…1. */
double *spelling_compare(const struct snapshot *s, const char *task);
