#pragma once
/* thesaurus: other names of the same thing, and what a thing belongs to, so that a task
 * finds a skill that shares no word with it.
 *
 * A row of thesaurus.txt is words separated by blanks. Those before ">" are names of one
 * thing: each leads to all others. Those behind it are wider or neighbouring: the names
 * lead to them, and not back. "_" joins the words of a phrase ("single_sign_on"), which
 * leads and is not led to. Words are compared by stem. A word may stand in several rows.
 *
 * General vocabulary only: a row is no place for the name of one skill. */
#include "skills/catalog/key_phrases.h"

#define STEM_SIZE 48
#define PHRASE_WORDS_MAX 5

/* Writes the stem of a word, "" where it has none. */
typedef void word_stemmer(void *data, const char *word, char ret[static STEM_SIZE]);

struct other_name {
    char word[WORD_MAX + 1];
    double quality; /* 0…1: how much of what was asked for it says */
    bool wider;     /* not a name of the thing, but of what it belongs to */
};

struct thesaurus;
struct thesaurus *thesaurus_new(word_stemmer *stem, void *data);
void thesaurus_free(struct thesaurus *t);

/* Other names for a stem, or for the stems of a phrase joined by "_", closest first; 0
 * when the table does not hold it. */
size_t thesaurus_names(const struct thesaurus *t, const char *key, struct other_name *ret,
                       size_t max);
