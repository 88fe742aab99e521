#include "skills/catalog/catalog_spelling.h"

#include "base/text.h"
#include "skills/catalog/catalog_internal.h"

#include <math.h>

#define GRAM 4u
#define GRAMS_MAX 1024u /* of one text */
#define OPENING 600u    /* bytes of a description; the rest is when not to use it */
#define TASK_READ 8192u
#define NAMED 2.0 /* what a gram of the name counts */

/* --- the grams of a text --- */

struct reading {
    uint8_t had[SPELLING_HASHES / 8];
    uint16_t grams[GRAMS_MAX];
    size_t count;
};

static void add_gram(struct reading *r, const char *at) {
    uint32_t bytes;
    memcpy(&bytes, at, GRAM);
    uint16_t hash = (uint16_t)(bytes * 2654435761u >> 16);
    uint8_t bit = (uint8_t)(1u << hash % 8);
    if (r->count < GRAMS_MAX && !(r->had[hash / 8] & bit)) {
        r->had[hash / 8] |= bit;
        r->grams[r->count++] = hash;
    }
}

/* With a blank before and behind, so that a word's ends are told from its middle. */
static void read_word(void *data, const char *word, size_t len, enum word_kind kind) {
    char padded[WORD_MAX + GRAM + 1] = " ";
    if (kind == WORD_WHOLE || word_weight(word) <= 0) {
        return;
    }
    memcpy(padded + 1, word, len);
    padded[len + 1] = ' ';
    size_t last = len + 2 > GRAM ? len + 2 - GRAM : 0;
    for (size_t i = 0; i <= last; i++) {
        add_gram(data, padded + i);
    }
}

/* --- a snapshot's --- */

/* As if as many other skills had none of it: among three skills nothing is common. */
#define OTHER_SKILLS 200

static double gram_weight(const struct snapshot *s, uint16_t gram) {
    double n = (double)s->document_count + OTHER_SKILLS, d = s->spelt[gram];
    double rarity = log(1 + (n - d + 0.5) / (d + 0.5));
    return rarity * rarity;
}

/* Its grams behind those of the others, of which there are `before`. */
static void load_one(struct snapshot *s, struct snapshot_document *d, size_t before) {
    autofree struct reading *r = xcalloc(1, sizeof *r);
    words_split(d->name, strlen(d->name), read_word, r);
    d->spelling.named = (uint16_t)r->count;
    words_split(d->description,
                text_cut(d->description, strlen(d->description), OPENING), read_word, r);
    d->spelling.count = (uint16_t)r->count;
    for (size_t i = 0; i < r->count; i++) {
        s->spelt[r->grams[i]]++;
    }
    d->spelling.at = before;
    s->grams = xreallocarray(s->grams, before + r->count + 1, sizeof *s->grams);
    memcpy(s->grams + before, r->grams, r->count * sizeof *r->grams);
}

void spelling_load(struct snapshot *s) {
    s->spelt = xcalloc(SPELLING_HASHES, sizeof *s->spelt);
    for (size_t i = 0, all = 0; i < s->document_count; i++) {
        load_one(s, &s->documents[i], all);
        all += s->documents[i].spelling.count;
    }
    for (size_t i = 0; i < s->document_count; i++) {
        struct spelling *own = &s->documents[i].spelling;
        double squares = 0;
        for (size_t k = 0; k < own->count; k++) {
            squares +=
                gram_weight(s, s->grams[own->at + k]) * (k < own->named ? NAMED : 1);
        }
        own->length = (float)sqrt(squares);
    }
}

/* --- comparing --- */

/* The weights of the task's grams by hash, malloc'ed; *length: of them all. */
static float *read_task(const struct snapshot *s, const char *task, double *length) {
    autofree struct reading *r = xcalloc(1, sizeof *r);
    float *weights = xcalloc(SPELLING_HASHES, sizeof *weights);
    double squares = 0;
    words_split(task, strnlen(task, TASK_READ), read_word, r);
    for (size_t i = 0; i < r->count; i++) {
        weights[r->grams[i]] = (float)gram_weight(s, r->grams[i]);
        squares += (double)weights[r->grams[i]];
    }
    *length = sqrt(squares);
    return weights;
}

static double sum_common(const uint16_t *grams, const struct spelling *own,
                         const float *weights) {
    float named = 0, described = 0;
    for (size_t i = 0; i < own->named; i++) {
        named += weights[grams[i]];
    }
    for (size_t i = own->named; i < own->count; i++) {
        described += weights[grams[i]];
    }
    return NAMED * (double)named + (double)described;
}

double *spelling_compare(const struct snapshot *s, const char *task) {
    double length;
    autofree float *weights = read_task(s, task, &length);
    double *alike = xcalloc(s->document_count + 1, sizeof *alike);
    for (size_t i = 0; length > 0 && i < s->document_count; i++) {
        const struct spelling *own = &s->documents[i].spelling;
        double both = length * (double)own->length;
        alike[i] = both > 0 ? fmin(1, sum_common(s->grams + own->at, own, weights) / both) : 0;
    }
    return alike;
}
