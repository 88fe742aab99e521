/* Documents that a task finds by what they are about, not by its words. */
#include "skills/catalog/catalog_search.h"

#include <string.h>

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
    for (size_t i = 0; i < k->count; i++) {
        if (k->list[i].document == document) {
            return true;
        }
    }
    return false;
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

void search_add_near(struct search *q) {
    struct near near[NEAR_KEPT + 1];
    struct ranking *k = q->ranking;
    size_t count = find_near(q, near);
    for (size_t i = 0; i < count; i++) {
        struct ranked *m = &k->list[k->count++];
        *m = (struct ranked){.document = near[i].document};
        m->foreign = k->product_count ? 1 : 0;
    }
}

void search_compare(struct search *q) {
    struct ranking *k = q->ranking;
    for (size_t i = 0; i < k->count; i++) {
        compare(q, k->list[i].document, &k->list[i].meaning);
    }
}
