#pragma once
/* sample_statistics: statistics of measured times. Pure. Both sort the list in place. */
#include "base/json.h"

/* {"summary": "median 12.5 us, …", "median_us", "min_us", "p90_us", "std_us", "samples"}.
 * Quantiles are interpolated linearly between the two nearest ranks (type 7 of Hyndman
 * and Fan 1996, numpy's default); the deviation is the sample's (n - 1), 0 for one value.
 * Everything is 0 for an empty list. New reference. */
json_t *sample_statistics(double *us, size_t count);
double sample_median(double *list, size_t count);
