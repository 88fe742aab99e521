#pragma once
/* catalog_meaning: the meaning of skills and tasks, for texts without common words.
 *
 * A skill keeps the words of its name, its description and its first headings, and the
 * direction of the sum of the vectors of its name's and description's words. A task is
 * compared in two ways: its direction with the skill's, which is fast and finds
 * candidates, and each of its words with the nearest word of the skill, which is more
 * precise. The index handles exact spelling. */
#include "skills/catalog/stemmer.h"
#include "skills/catalog/word_vectors.h"

#define MEANING_WORDS_MAX 80
#define MEANING_SIZE_MAX (VECTOR_SIZE + 2 * MEANING_WORDS_MAX)
#define MEANING_TASK_WORDS 24

/* Writes what the index stores: the direction (VECTOR_SIZE numbers of one byte), then the
 * words' places in the table (u16, little-endian); nothing if no word is known. about:
 * the number of texts, from the first, that determine the direction; if they have no
 * known word, all texts do. */
void meaning_write(struct stemmer *stemmer, const char *const *texts, size_t count,
                   size_t about, struct buf *out);

struct task_word {
    char word[48];
    uint16_t place;
    double weight;
    struct word_vector vector;
};
struct task_meaning {
    struct task_word words[MEANING_TASK_WORDS]; /* those that say most */
    size_t count;
    double weight; /* of all */
    int8_t direction[VECTOR_SIZE];
};
void task_meaning_read(struct stemmer *stemmer, const char *task,
                       struct task_meaning *ret);

struct meaning {      /* of a skill, compared with one task */
    double direction; /* cosine, -1…1 */
    double spoken;    /* share of the task with a near word in the skill, 0…1 */
    /* per word of the task, the cosine of the skill's nearest word */
    float near[MEANING_TASK_WORDS];
    uint16_t by[MEANING_TASK_WORDS]; /* and that word's place in the table */
};
/* bytes: from meaning_write, or NULL. */
double meaning_direction(const struct task_meaning *task, const uint8_t *bytes);
/* The first word of the texts that has this place in the table; false: none. */
bool meaning_spelling(struct stemmer *stemmer, const char *const *texts, size_t count,
                      uint16_t place, char ret[static 48]);
void meaning_compare(const struct task_meaning *task, const uint8_t *bytes, size_t size,
                     struct meaning *ret);
