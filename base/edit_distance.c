#include "base/edit_distance.h"

#include <string.h>

enum { MAX_NAME = 63 };

static unsigned smaller(unsigned a, unsigned b) {
    return a < b ? a : b;
}

/* Optimal string alignment over three rows. */
unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len,
                       unsigned limit) {
    unsigned rows[3][MAX_NAME + 2];
    size_t gap = a_len > b_len ? a_len - b_len : b_len - a_len;
    if (a_len > MAX_NAME || b_len > MAX_NAME || gap > limit) {
        return limit + 1;
    }
    for (size_t j = 0; j <= b_len; j++) {
        rows[0][j] = (unsigned)j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        unsigned *row = rows[i % 3], *above = rows[(i - 1) % 3],
                 *older = rows[(i + 1) % 3];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            unsigned change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = smaller(change, smaller(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = smaller(row[j], older[j - 2] + 1);
            }
        }
    }
    unsigned distance = rows[a_len % 3][b_len];
    return distance > limit ? limit + 1 : distance;
}

void nearest_name_try(struct nearest_name *n, const char *candidate) {
    size_t len = strlen(candidate);
    unsigned most = n->best ? n->distance : n->limit + 1;
    if (most == 0) {
        return; /* said as it is */
    }
    unsigned distance = edit_distance(n->said, strlen(n->said), candidate, len, most - 1);
    if (distance < most && distance < len) {
        n->best = candidate;
        n->distance = distance;
    }
}
