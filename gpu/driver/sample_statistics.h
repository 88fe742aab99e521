#pragma once
/* sample_statistics: statistics of measured times. Pure. */
#include <stddef.h>

struct sample_statistics {
    double median, min, p90, mean;
    double std; /* of the sample (n - 1); 0 for one value */
    size_t count;
};

/* Sorts the list in place. Quantiles are interpolated linearly between the two nearest
 * ranks (type 7 of Hyndman and Fan 1996, numpy's default). All 0 for an empty list. */
void sample_statistics(struct sample_statistics *ret, double *list, size_t count);
