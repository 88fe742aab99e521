#pragma once
/* What skills and tasks are about, for what their words do not have in common.
 *
 * A skill keeps the words of its name, its description and its first headings, and the
 * direction of the sum of those of name and description. A task's words are then compared
 * in two ways: all of them at once by direction, which is fast and finds candidates, and
 * each with the nearest word of the skill, which tells more. Exact spelling is the
 * index's matter. */
#include "skills/catalog/stemmer.h"
#include "skills/catalog/word_vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define MEANING_WORDS_MAX 80
#define MEANING_SIZE_MAX (VECTOR_SIZE + 2 * MEANING_WORDS_MAX)
#define MEANING_TASK_WORDS 24

/* As the index keeps it: the direction (VECTOR_SIZE numbers of a byte), then the words'
 * places in the table (u16, little-endian). Nothing when no word is known.
 * about: how many of the texts, the first ones, the direction is of; when no word of
 * theirs is known it is of all. */
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

struct meaning {                     /* of a skill, for one task */
    double direction;                /* cosine, -1…1 */
    double spoken;                   /* share of the task that a word is near to, 0…1 */
    float near[MEANING_TASK_WORDS];  /* per word of the task the nearest's cosine */
    uint16_t by[MEANING_TASK_WORDS]; /* and its place in the table */
};
/* bytes: of meaning_write, NULL for none. */
double meaning_direction(const struct task_meaning *task, const uint8_t *bytes);
/* The first word of the texts that stands at this place of the table; false: none. */
bool meaning_spelling(struct stemmer *stemmer, const char *const *texts, size_t count,
                      uint16_t place, char ret[static 48]);
void meaning_compare(const struct task_meaning *task, const uint8_t *bytes, size_t size,
                     struct meaning *ret);
