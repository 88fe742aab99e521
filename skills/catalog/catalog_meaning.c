#include "skills/catalog/catalog_meaning.h"

#include "base/buf.h"
#include "base/find.h"

#include <math.h>
#include <stdio.h>

#define UNIT 200.0         /* the length of a direction in bytes */
#define COMMON 1000.       /* words in so many texts weigh half in a sum */
#define FAR 0.35           /* words no nearer than this have nothing in common */
#define TASK_READ_MAX 8192 /* bytes */

/* --- sums --- */

static double sum_weight(const struct word_vector *v) {
    return (double)v->length / (1 + COMMON * exp(-(double)v->says));
}

static void add_vector(double *sum, const struct word_vector *v, double weight) {
    for (int i = 0; i < VECTOR_SIZE; i++) {
        sum[i] += weight * (double)v->unit * v->values[i];
    }
}

static void write_direction(const double *sum, int8_t *ret) {
    double square = total_of(double, i, 0, VECTOR_SIZE, sum[i] * sum[i]);
    for (int i = 0; i < VECTOR_SIZE; i++) {
        double x = square > 0 ? UNIT * sum[i] / sqrt(square) : 0;
        ret[i] = (int8_t)lrint(fmax(-127, fmin(127, x)));
    }
}

/* --- a skill's words --- */

struct writing {
    struct stemmer *stemmer;
    uint16_t places[MEANING_WORDS_MAX];
    size_t count;
};

static void keep_place(void *data, const char *word, size_t, enum word_kind kind) {
    struct writing *w = data;
    char stem[STEM_SIZE];
    if (kind == WORD_WHOLE || w->count == MEANING_WORDS_MAX || word_weight(word) <= 0) {
        return;
    }
    stemmer_stem(w->stemmer, word, stem);
    uint16_t place = word_vectors_find(stem);
    for (size_t i = 0; i < w->count && place != VECTOR_NONE; i++) {
        place = w->places[i] == place ? VECTOR_NONE : place;
    }
    if (place != VECTOR_NONE) {
        w->places[w->count++] = place;
    }
}

void meaning_write(struct stemmer *stemmer, const char *const *texts, size_t count,
                   size_t about, struct buf *out) {
    struct writing w = {.stemmer = stemmer};
    size_t summed = 0;
    double sum[VECTOR_SIZE] = {0};
    struct word_vector v;
    int8_t direction[VECTOR_SIZE];
    for (size_t i = 0; i < count; i++) {
        words_split(texts[i], strlen(texts[i]), keep_place, &w);
        summed = i < about || !summed ? w.count : summed;
    }
    for (size_t i = 0; i < summed; i++) {
        word_vectors_read(w.places[i], &v);
        add_vector(sum, &v, sum_weight(&v));
    }
    if (w.count) {
        write_direction(sum, direction);
        buf_add(out, (const char *)direction, sizeof direction);
    }
    for (size_t i = 0; i < w.count; i++) {
        buf_addc(out, (char)(w.places[i] & 255));
        buf_addc(out, (char)(w.places[i] >> 8));
    }
}

/* --- a task's words --- */

struct reading {
    struct stemmer *stemmer;
    struct task_meaning *task;
};

static struct task_word *least_word(struct task_meaning *t) {
    struct task_word *least = &t->words[0];
    for (size_t i = 1; i < t->count; i++) {
        least = t->words[i].weight < least->weight ? &t->words[i] : least;
    }
    return least;
}

static bool has_place(const struct task_meaning *t, uint16_t place) {
    return any_of(i, 0, t->count, t->words[i].place == place);
}

static void keep_word(void *data, const char *word, size_t, enum word_kind kind) {
    struct reading *r = data;
    struct task_meaning *t = r->task;
    char stem[STEM_SIZE];
    double weight = kind == WORD_WHOLE ? 0 : word_weight(word);
    if (weight <= 0) {
        return;
    }
    stemmer_stem(r->stemmer, word, stem);
    struct task_word w = {.place = word_vectors_find(stem)};
    if (w.place == VECTOR_NONE || has_place(t, w.place)) {
        return;
    }
    word_vectors_read(w.place, &w.vector);
    w.weight = weight * (double)w.vector.says;
    snprintf(w.word, sizeof w.word, "%s", word);
    struct task_word *to =
        t->count < MEANING_TASK_WORDS ? &t->words[t->count++] : least_word(t);
    if (to->weight < w.weight || !to->word[0]) {
        *to = w;
    }
}

void task_meaning_read(struct stemmer *stemmer, const char *task,
                       struct task_meaning *ret) {
    struct reading r = {stemmer, ret};
    double sum[VECTOR_SIZE] = {0};
    *ret = (struct task_meaning){0};
    words_split(task, strnlen(task, TASK_READ_MAX), keep_word, &r);
    for (size_t i = 0; i < ret->count; i++) {
        ret->weight += ret->words[i].weight;
        add_vector(sum, &ret->words[i].vector, sum_weight(&ret->words[i].vector));
    }
    write_direction(sum, ret->direction);
}

/* --- both --- */

double meaning_direction(const struct task_meaning *task, const uint8_t *bytes) {
    const int8_t *direction = (const int8_t *)bytes;
    int sum = 0;
    for (int i = 0; bytes && i < VECTOR_SIZE; i++) {
        sum += task->direction[i] * direction[i];
    }
    return sum / (UNIT * UNIT);
}

static double nearness_counts(float near) {
    return fmax(0, ((double)near - FAR) / (1 - FAR));
}

void meaning_compare(const struct task_meaning *task, const uint8_t *bytes, size_t size,
                     struct meaning *ret) {
    struct word_vector v;
    *ret = (struct meaning){.direction = meaning_direction(task, bytes)};
    for (size_t at = VECTOR_SIZE; bytes && at + 1 < size; at += 2) {
        uint16_t place = (uint16_t)(bytes[at] | bytes[at + 1] << 8);
        if (place >= word_vectors_count()) {
            continue;
        }
        word_vectors_read(place, &v);
        for (size_t i = 0; i < task->count; i++) {
            float near = word_vectors_nearness(&task->words[i].vector, &v);
            if (near > ret->near[i]) {
                ret->near[i] = near;
                ret->by[i] = place;
            }
        }
    }
    for (size_t i = 0; i < task->count; i++) {
        ret->spoken += task->words[i].weight * nearness_counts(ret->near[i]);
    }
    ret->spoken /= task->weight > 0 ? task->weight : 1;
}

struct meaning_spelling {
    struct stemmer *stemmer;
    uint16_t place;
    char *word;
};

static void compare_word(void *data, const char *word, size_t len, enum word_kind kind) {
    struct meaning_spelling *s = data;
    char stem[STEM_SIZE];
    if (s->word[0] || kind == WORD_WHOLE) {
        return;
    }
    stemmer_stem(s->stemmer, word, stem);
    if (word_vectors_find(stem) == s->place) {
        memcpy(s->word, word, len + 1);
    }
}

bool meaning_spelling(struct stemmer *stemmer, const char *const *texts, size_t count,
                      uint16_t place, char ret[static 48]) {
    struct meaning_spelling s = {stemmer, place, ret};
    ret[0] = '\0';
    for (size_t i = 0; i < count && !ret[0]; i++) {
        words_split(texts[i], strlen(texts[i]), compare_word, &s);
    }
    return ret[0] != '\0';
}
