#pragma once
/* thesaurus: synonyms and wider terms, so that a task finds a skill that shares no word
 * with it.
 *
 * A row of thesaurus.txt is words separated by blanks. Those before ">" are synonyms:
 * each leads to all others. Those after it are wider or neighbouring terms: the synonyms
 * lead to them, but not the reverse. "_" joins the words of a phrase ("single_sign_on"),
 * which leads to others but is never a target. Words are compared by stem. A word may
 * occur in several rows. The table holds general vocabulary only: do not add a row for
 * one skill. */
#include "skills/catalog/key_phrases.h"

#define STEM_SIZE 48
#define PHRASE_WORDS_MAX 5

/* Writes the stem of a word, or "" if it has none. */
typedef void word_stemmer(void *data, const char *word, char ret[static STEM_SIZE]);

struct other_name {
    char word[WORD_MAX + 1];
    double quality; /* 0…1: how close its meaning is to the original's */
    bool wider;     /* a wider term, not a synonym */
};

struct thesaurus;
struct thesaurus *thesaurus_new(word_stemmer *stem, void *data);
void thesaurus_free(struct thesaurus *t);

/* Other names for a stem, or for the stems of a phrase joined by "_", closest first.
 * Returns 0 if the table does not contain it. */
size_t thesaurus_names(const struct thesaurus *t, const char *key, struct other_name *ret,
                       size_t max);
