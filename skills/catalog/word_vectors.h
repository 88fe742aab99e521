#pragma once
/* word_vectors: which words are near in meaning.
 *
 * A table of words by stem, each with a vector of VECTOR_SIZE numbers and with how much
 * it says; words near in meaning point the same way. make-word-vectors.py made it and
 * tells from what; it is part of the program and costs nothing before it is asked.
 *
 * The file: "UPWV", version, words, numbers per word (u32, little-endian); the words'
 * hashes (FNV-1a of the stem, u32, ascending); per word its length in 1/64 and what it
 * says in 1/24 (u8); then the vectors, two numbers of 4 bits per byte, the first in the
 * low half, each plus 8. */
#include "base/mem.h"

#define VECTOR_SIZE 96
#define VECTOR_NONE UINT16_MAX

struct word_vector {
    int8_t values[VECTOR_SIZE]; /* -8…7 */
    float unit;                 /* 1 / the Euclidean length of values */
    float length;               /* of the original vector, relative to other words' */
    float says;                 /* information content, 0…10: rare words have more */
};

/* The place of a stem in the table, VECTOR_NONE if it is absent. */
uint16_t word_vectors_find(const char *stem);
/* place: from word_vectors_find, less than the number of words. */
void word_vectors_read(uint16_t place, struct word_vector *ret);
uint16_t word_vectors_count(void);
/* Cosine, -1…1. */
float word_vectors_nearness(const struct word_vector *a, const struct word_vector *b);
