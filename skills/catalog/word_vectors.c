#include "skills/catalog/word_vectors.h"
#include "base/find.h"

#include <math.h>

/* The table as it lies in the repository; its checksum is here for the build, which
 * compiles this file anew when the table changes. */
#include "skills/word_vectors_sum.h"
_Static_assert(WORD_VECTORS_SUM != 0, "the table has no checksum");

__asm__(".section .rodata\n"
        ".balign 16\n"
        ".globl word_vectors_table\n"
        "word_vectors_table:\n"
        ".incbin \"" WORD_VECTORS_FILE "\"\n"
        ".previous\n");
extern const uint8_t word_vectors_table[];

#define HEAD 16u
#define BYTES (VECTOR_SIZE / 2)

static uint32_t read32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint16_t word_vectors_count(void) {
    return (uint16_t)read32(word_vectors_table + 8);
}

static uint32_t hash_of(const char *stem) {
    uint32_t h = 2166136261u;
    for (; *stem; stem++) {
        h = (h ^ (unsigned char)*stem) * 16777619u;
    }
    return h;
}

uint16_t word_vectors_find(const char *stem) {
    const uint8_t *hashes = word_vectors_table + HEAD;
    uint32_t wanted = hash_of(stem), low = 0, high = word_vectors_count();
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (read32(hashes + (size_t)4 * middle) < wanted) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool there = low < word_vectors_count() && read32(hashes + (size_t)4 * low) == wanted;
    return there && *stem ? (uint16_t)low : VECTOR_NONE;
}

static int product(const int8_t *a, const int8_t *b) {
    return total_of(int, i, 0, VECTOR_SIZE, a[i] * b[i]);
}

void word_vectors_read(uint16_t place, struct word_vector *ret) {
    size_t count = word_vectors_count();
    const uint8_t *lengths = word_vectors_table + HEAD + 4 * count;
    const uint8_t *row = lengths + 2 * count + (size_t)place * BYTES;
    for (int i = 0; i < BYTES; i++) {
        ret->values[2 * i] = (int8_t)((row[i] & 15) - 8);
        ret->values[2 * i + 1] = (int8_t)((row[i] >> 4) - 8);
    }
    int square = product(ret->values, ret->values);
    ret->unit = square ? 1 / sqrtf((float)square) : 0;
    ret->length = (float)lengths[place] / 64;
    ret->says = (float)lengths[count + place] / 24;
}

float word_vectors_nearness(const struct word_vector *a, const struct word_vector *b) {
    return (float)product(a->values, b->values) * a->unit * b->unit;
}
