/* Whether the words of a task stand near each other in a skill: of two that hold the same
 * words the one that says them together is meant.
 *
 * A word is paired with the PAIR_REACH after it in the task. A pair counts once, wherever
 * it stands, by its rarity among the rows that were weighed: "machine learning" stands in
 * hundreds of them and tells little. */
#include "skills/catalog/catalog_search.h"

#include <math.h>

#define PAIR_DISTANCE 8 /* words, with those between them that say nothing */
#define PAIRS_FULL 10.0 /* the rarity of some two rare pairs, which measures 1 */
#define BODY_FIELD (CATALOG_FIELDS - 1)
_Static_assert(PAIRS_MAX <= 64, "a pair is a bit");

/* Both ascend. */
static bool stand_near(const struct word_places *a, const struct word_places *b) {
    for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
        int distance = b->at[k] - a->at[i];
        if (abs(distance) <= PAIR_DISTANCE) {
            return true;
        }
        *(distance < 0 ? &k : &i) += 1;
    }
    return false;
}

static void see_pair(const struct word_places *a, const struct word_places *b,
                     size_t pair, struct ranked *m) {
    uint64_t bit = (uint64_t)1 << pair;
    for (int field = 0; field < CATALOG_FIELDS && !(m->headed_pairs & bit); field++) {
        if (stand_near(&a[field], &b[field])) {
            m->pairs |= bit;
            m->headed_pairs |= field < BODY_FIELD ? bit : 0;
        }
    }
}

void pairs_see(size_t count, const struct word_places (*places)[CATALOG_FIELDS],
               struct ranked *m) {
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < PAIR_REACH && i + k + 1 < count; k++) {
            see_pair(places[i], places[i + k + 1], i * PAIR_REACH + k, m);
        }
    }
}

void pairs_count(struct search *q, const struct ranked *m) {
    q->rows++;
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        q->pair_rows[i] += m->pairs >> i & 1;
    }
}

void pairs_measure(struct search *q) {
    struct ranking *k = q->ranking;
    for (size_t i = 0; i < k->count; i++) {
        struct ranked *m = &k->list[i];
        double sum = 0, n = q->rows;
        for (size_t p = 0; p < PAIRS_MAX; p++) {
            double d = fmin(q->pair_rows[p], n);
            double rarity = log(1 + (n - d + 0.5) / (d + 0.5));
            bool headed = m->headed_pairs >> p & 1;
            sum += m->pairs >> p & 1 ? rarity * (headed ? 1 : m->in_body) : 0;
        }
        m->together = sqrt(sum / PAIRS_FULL);
    }
}
