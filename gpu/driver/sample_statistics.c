#include "gpu/driver/sample_statistics.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t count, double q) {
    double at = q * (double)(count - 1);
    size_t low = (size_t)at, high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (sorted[high] - sorted[low]) * (at - (double)low);
}

void sample_statistics(struct sample_statistics *ret, double *list, size_t count) {
    *ret = (struct sample_statistics){.count = count};
    if (!count) {
        return;
    }
    double sum = 0, squares = 0;
    qsort(list, count, sizeof *list, by_value);
    for (size_t i = 0; i < count; i++) {
        sum += list[i];
    }
    ret->mean = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        squares += (list[i] - ret->mean) * (list[i] - ret->mean);
    }
    ret->std = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
    ret->min = list[0];
    ret->median = quantile(list, count, 0.5);
    ret->p90 = quantile(list, count, 0.9);
}
