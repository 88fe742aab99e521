/* Documents that a task finds by what they are about, not by its words. */
#include "base/find.h"
#include "skills/catalog/catalog_search.h"

#include <math.h>

#define FEW 10.        /* skills say half as surely as many what stands out */
#define NEAR_FIRST 128 /* nearest by direction, whose words are then compared */

struct near {
    uint32_t document;
    double how;
};

static void keep_near(struct near *list, size_t *count, size_t max, struct near n) {
    size_t at = *count;
    while (at > 0 && list[at - 1].how < n.how) {
        at--;
    }
    if (at < max) {
        *count += *count < max;
        memmove(list + at + 1, list + at, (*count - at - 1) * sizeof *list);
        list[at] = n;
    }
}

static bool is_listed(const struct ranking *k, uint32_t document) {
    return any_of(i, 0, k->count, k->list[i].document == document);
}

static void compare(const struct search *q, uint32_t document, struct meaning *ret) {
    const struct snapshot_document *d = &q->snapshot->documents[document];
    meaning_compare(q->meaning, d->meaning, d->meaning_size, ret);
}

/* Those of all documents that are nearest and not found by their words. */
static size_t find_near(const struct search *q, struct near *ret) {
    struct near first[NEAR_FIRST + 1];
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < q->snapshot->document_count; i++) {
        const uint8_t *bytes = q->snapshot->documents[i].meaning;
        double how = q->allowed[i] && bytes ? meaning_direction(q->meaning, bytes) : 0;
        if (how > 0 && (count < NEAR_FIRST || how > first[count - 1].how)) {
            keep_near(first, &count, NEAR_FIRST, (struct near){i, how});
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct meaning m;
        if (!is_listed(q->ranking, first[i].document)) {
            compare(q, first[i].document, &m);
            keep_near(ret, &kept, NEAR_KEPT,
                      (struct near){first[i].document, m.direction + m.spoken});
        }
    }
    return kept;
}

/* Those that another measure, NULL or one per document, puts first, that are more than
 * `above` and not found yet. */
static size_t find_first(const struct search *q, const double *measure, double above,
                         struct near *ret) {
    size_t kept = 0;
    for (uint32_t i = 0; measure && i < q->snapshot->document_count; i++) {
        bool counts = q->allowed[i] && measure[i] > above && /* false for NaN */
                      (kept < NEAR_KEPT || measure[i] > ret[kept - 1].how);
        if (counts && !is_listed(q->ranking, i)) {
            keep_near(ret, &kept, NEAR_KEPT, (struct near){i, measure[i]});
        }
    }
    return kept;
}

static void add_found(struct ranking *k, const struct near *near, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct ranked *m = &k->list[k->count++];
        *m = (struct ranked){.document = near[i].document};
        m->foreign = k->product_count ? 1 : 0;
    }
}

void search_add_near(struct search *q) {
    struct near near[NEAR_KEPT + 1];
    add_found(q->ranking, near, find_near(q, near));
    add_found(q->ranking, near, find_first(q, q->outstanding, -INFINITY, near));
    add_found(q->ranking, near, find_first(q, q->spelling, 0, near));
}

double *search_outstanding(const struct snapshot *s, const json_t *near,
                           double *ret_alone) {
    double sum = 0, most = -INFINITY, n = 0;
    double *told = xcalloc(s->document_count + 1, sizeof *told);
    for (size_t i = 0; i < s->document_count; i++) {
        const json_t *one = json_object_get(near, s->documents[i].digest);
        double x = one ? json_number_value(one) : 0;
        told[i] = one ? x : (double)NAN;
        sum += x;
        most = one ? fmax(most, x) : most;
        n += one != NULL;
    }
    double mean = n > 0 ? sum / n : 0;
    if (most - mean < 1e-6 || mean > 1 - 1e-6) { /* all are alike */
        free(take(told));
    }
    *ret_alone = told ? FEW / (n + FEW) : 1;
    for (size_t i = 0; told && i < s->document_count; i++) {
        told[i] = (told[i] - mean) / (1 - mean);
    }
    return told;
}

void search_compare(struct search *q) {
    struct ranking *k = q->ranking;
    for (size_t i = 0; i < k->count; i++) {
        compare(q, k->list[i].document, &k->list[i].meaning);
    }
}
